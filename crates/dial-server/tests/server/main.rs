//! A real server on the loopback, asked by a client that may misbehave.

mod common;
mod handles;
mod hostile;
mod labelling;
mod model;
mod security;
mod together;
mod views;
