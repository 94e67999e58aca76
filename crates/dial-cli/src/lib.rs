//! The `dial` command as a library: arguments -> plan -> run -> print -> exit code.
//!
//! `args` is what was typed, `prepare` what it means (a pool, its graph, its propagation), and each verb has a module that runs
//! it and says what came out. Mathematics lives in `dial`, formats in `dial-data`, charts in `dial-plot`.

// A group of arguments is documented by its own struct, not by the field that flattens it.
#![allow(missing_docs)]

pub mod cli;
mod ui;
mod plan;
mod verbs;

use std::ffi::OsString;

use clap::FromArgMatches;
#[cfg(feature = "research")]
use cli::args::Lab;
use cli::args::{Cli, Verb};
use ui::failure::Failure;
use ui::output::Output;

/// Says where a panic was and why: its message may quote data.
pub fn say_panic(panic: &std::panic::PanicHookInfo<'_>) {
    ui::terminal::say(&panic.to_string());
}

/// Runs the command with the given arguments (the first is its own name) and returns its exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let json = arguments.iter().any(|argument| argument == "--json");
    let matches = cli::help::command().try_get_matches_from(&arguments);
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return ui::failure::usage(error, &arguments, json),
    };
    let output = Output {
        json: cli.json,
        quiet: cli.quiet,
    };
    let run_verb = || dispatch(&cli.verb, cli.threads, &output);
    let ended = with_threads(cli.threads, || {
        run_verb().map_err(|failure| match cli.verb.pool() {
            Some(pool) => failure.about(pool),
            None => failure,
        })
    });
    match ended {
        Ok(()) => match &cli.verb {
            Verb::Demo(demo) if verbs::demo::wants_page(&output) => {
                run(["dial", "label", &demo.pool].map(OsString::from))
            }
            _ => 0,
        },
        Err(failure) => failure.print(json),
    }
}

fn dispatch(verb: &Verb, threads: Option<usize>, output: &Output) -> Result<(), Failure> {
    match verb {
        Verb::Demo(args) => verbs::demo::run(args, output),
        Verb::Simulate(args) => verbs::simulate::run(args, output),
        Verb::Embed(args) => verbs::embed::run(args, output),
        Verb::Generate(args) => verbs::generate::run(args, output),
        Verb::Graph(args) => verbs::graph::run(args, output),
        Verb::Doctor(args) => verbs::doctor::run(args, output),
        Verb::Propagate(args) => verbs::propagate::run(args, output),
        Verb::Label(args) => verbs::serve::label(args, threads, output),
        Verb::Serve(args) => verbs::serve::serve(args, threads, output),
        Verb::New(args) => verbs::new::run(args, output),
        Verb::Ask(args) => verbs::ask::run(args, output),
        Verb::Tell(args) => verbs::tell::run(args, output),
        Verb::Undo(args) => verbs::decide::undo(args, verbs::decide::Way::Undo, output),
        Verb::Redo(args) => verbs::decide::undo(args, verbs::decide::Way::Redo, output),
        Verb::Skip(args) => verbs::decide::pass(args, verbs::decide::Passing::Skip, output),
        Verb::Exclude(args) => verbs::decide::pass(args, verbs::decide::Passing::Exclude, output),
        Verb::Class(args) => verbs::decide::class(args, output),
        Verb::Weight(args) => verbs::decide::weight(args, output),
        Verb::Status(args) => verbs::status::run(args, output),
        Verb::Log(args) => verbs::log::run(args, output),
        Verb::Reopen(args) => verbs::reopen::run(args, output),
        Verb::Resolve(args) => verbs::resolve::run(args, output),
        Verb::Pool(args) => verbs::pool::run(args, output),
        Verb::Sessions(args) => verbs::sessions::run(args, output),
        Verb::Predict(args) => verbs::predict::run(args, output),
        Verb::Export(args) => verbs::exchange::run_export(args, output),
        Verb::Import(args) => verbs::exchange::run_import(args, output),
        Verb::Backup(args) => verbs::exchange::run_backup(args, output),
        Verb::Restore(args) => verbs::exchange::run_restore(args, output),
        Verb::Recover(args) => verbs::recover::run(args, output),
        #[cfg(feature = "research")]
        Verb::Lab(lab) => match lab {
            Lab::Reproduce(args) => verbs::reproduce::run(args, output),
            Lab::Theory(args) => verbs::theory::run(args, output),
            Lab::Arena(args) => verbs::arena::run(args, output),
            Lab::Bench(args) => verbs::bench::run(args, output),
        },
        Verb::Completions(args) => cli::help::completions(args),
        Verb::Man(args) => cli::help::man(args, output),
    }
}

/// Runs `work` in a pool of `threads` threads (by default all cores). Results do not depend on the number.
fn with_threads(
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
