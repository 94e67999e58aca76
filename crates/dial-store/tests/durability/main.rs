//! That a label which was acknowledged is never lost, changed or stored twice, whatever dies.
//!
//! The tests start this very program again as a child that works on a project, and then kill it, cut its power, fill its disk
//! or break its files. How often is small by default and set by the environment: `DIAL_KILLS`, `DIAL_CUTS`, `DIAL_FAULTS`,
//! `DIAL_FLIPS`; `./test --long` asks for more.

#[allow(dead_code)]
#[path = "../common/mod.rs"]
mod common;

mod child;
mod cuts;
mod damage;
mod every_call;
mod faults;
mod flips;
mod full;
mod image;
mod kill;
mod migration;
mod places;
mod power;
mod private;
mod readonly;
mod replacing;
mod second;
mod single;
mod struck;
mod verbs;
