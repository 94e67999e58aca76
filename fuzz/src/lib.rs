//! Mutated files for every reader: a small fuzzer of our own that runs on the stable compiler.
//!
//! Seeds are the good and bad files of the tests of `dial-data`. A mutated file is written to a folder in memory where
//! there is one, and opened as a user would open it. What must hold for any bytes: no panic, an answer within a second,
//! and no more memory than 64 MiB plus 50 times the file. An input that gives a message (or a shape of pool) not seen
//! before becomes a seed: a poor man's coverage, but it needs no instrumented compiler. What fails is made smaller and
//! written out. The same seed gives the same inputs.

pub mod check;
mod columnar;
pub mod counting;
pub mod minimise;
pub mod mutate;
pub mod run;
pub mod seeds;
pub mod targets;

#[path = "../../crates/dial-data/tests/corpus/mod.rs"]
#[allow(missing_docs)]
mod corpus;
