//! The `dial` command as a library: arguments -> plan -> run -> print -> exit code.
//!
//! `args` is what was typed, `prepare` what it means (a pool, its graph, a kernel), and each verb has a module that runs
//! it and says what came out. Mathematics lives in `dial`, formats in `dial-data`, pictures in `dial-lab`.

// A group of arguments is documented by its own struct, not by the field that flattens it.
#![allow(missing_docs)]

#[cfg(feature = "research")]
mod arena;
pub mod args;
mod ask;
mod asking_args;
#[cfg(feature = "research")]
mod bench;
mod decide;
mod demo;
mod doctor;
mod exchange;
mod failure;
mod generate;
mod graph;
mod help;
mod history;
mod items;
mod maps;
mod memory;
mod names;
mod new;
mod outcomes;
mod output;
mod outputs;
mod pool_args;
mod pool_place;
mod predict;
mod prepare;
mod project;
mod propagate;
#[cfg(feature = "research")]
mod reproduce;
mod saved;
mod serve;
mod settle;
mod simulate;
mod status;
mod summary;
mod tell;
#[cfg(feature = "research")]
mod theory;
mod words;

use std::ffi::OsString;

#[cfg(feature = "research")]
use args::Lab;
use args::{Cli, Verb};
use clap::FromArgMatches;
use failure::Failure;
use output::Output;

/// Runs the command with the given arguments (the first is its own name) and returns its exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let json = arguments.iter().any(|argument| argument == "--json");
    let matches = help::command().try_get_matches_from(&arguments);
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return failure::usage(&error, json),
    };
    let output = Output {
        json: cli.json,
        quiet: cli.quiet,
    };
    match in_pool(cli.threads, || dispatch(&cli.verb, cli.threads, &output)) {
        Ok(()) => match &cli.verb {
            Verb::Demo(demo) if demo::wants_page(&output) => {
                run(["dial", "label", &demo.pool].map(OsString::from))
            }
            _ => 0,
        },
        Err(failure) => failure.print(json),
    }
}

fn dispatch(verb: &Verb, threads: Option<usize>, output: &Output) -> Result<(), Failure> {
    match verb {
        Verb::Demo(args) => demo::run(args, output),
        Verb::Simulate(args) => simulate::run(args, output),
        Verb::Generate(args) => generate::run(args, output),
        Verb::Graph(args) => graph::run(args, output),
        Verb::Doctor(args) => doctor::run(args, output),
        Verb::Propagate(args) => propagate::run(args, output),
        Verb::Label(args) => serve::label(args, threads, output),
        Verb::Serve(args) => serve::serve(args, threads, output),
        Verb::New(args) => new::run(args, output),
        Verb::Ask(args) => ask::run(args, output),
        Verb::Tell(args) => tell::run(args, output),
        Verb::Undo(args) => decide::undo(args, decide::Way::Undo, output),
        Verb::Redo(args) => decide::undo(args, decide::Way::Redo, output),
        Verb::Skip(args) => decide::pass(args, decide::Passing::Skip, output),
        Verb::Exclude(args) => decide::pass(args, decide::Passing::Exclude, output),
        Verb::Class(args) => decide::class(args, output),
        Verb::Weight(args) => decide::weight(args, output),
        Verb::Status(args) => status::run(args, output),
        Verb::Log(args) => history::run(args, output),
        Verb::Settle(args) => settle::run(args, output),
        Verb::Pool(args) => pool_place::run(args, output),
        Verb::Predict(args) => predict::run(args, output),
        Verb::Export(args) => exchange::run_export(args, output),
        Verb::Import(args) => exchange::run_import(args, output),
        Verb::Backup(args) => exchange::run_backup(args, output),
        Verb::Restore(args) => exchange::run_restore(args, output),
        #[cfg(feature = "research")]
        Verb::Lab(lab) => match lab {
            Lab::Reproduce(args) => reproduce::run(args, output),
            Lab::Theory(args) => theory::run(args, output),
            Lab::Arena(args) => arena::run(args, output),
            Lab::Bench(args) => bench::run(args, output),
        },
        Verb::Completions(args) => help::completions(args),
        Verb::Man(args) => help::man(args, output),
    }
}

/// Runs with so many threads (all cores, if none are given). Results do not depend on the number.
fn in_pool(
    threads: Option<usize>,
    work: impl FnOnce() -> Result<(), Failure> + Send,
) -> Result<(), Failure> {
    match rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .build()
    {
        Ok(pool) => pool.install(work),
        Err(error) => Err(Failure::resource(format!(
            "cannot start the threads: {error}. Use a smaller --threads."
        ))),
    }
}
