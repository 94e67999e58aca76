//! A real server on the loopback, asked by a client that may misbehave.

mod common;
mod handles;
mod hostile;
mod labelling;
mod load;
mod model;
mod security;
mod sign_in;
mod together;
mod views;
