//! The `dial` command from outside: what is typed, what is printed, what is written, how it ends.
//!
//! Every test runs the real binary in a folder of its own. Expected numbers are worked out here or by hand.

#[path = "../../../dial-data/tests/corpus/mod.rs"]
mod corpus;
mod another_user;
mod arena;
mod bad_columns;
mod bad_day;
mod bad_files;
mod bench;
mod codes;
mod copies;
mod demo;
mod doctor;
mod exchange;
mod faults;
mod graph;
mod hostile;
mod maps;
mod mending;
mod methods;
mod outputs;
mod pool_options;
mod pools;
mod projects;
mod propagate;
mod questions;
mod reproduce;
mod run;
mod same;
mod saved;
mod serving;
mod simulate;
mod talk;
mod theory;
