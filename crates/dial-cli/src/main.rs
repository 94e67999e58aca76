//! The `dial` command: hands the arguments to the library and its answer to the shell.

use std::process::ExitCode;

fn main() -> ExitCode {
    let run = std::panic::catch_unwind(|| dial_cli::run(std::env::args_os()));
    ExitCode::from(run.unwrap_or_else(|_| {
        eprintln!("error[BUG]: dial broke a promise of its own (above). Nothing was written. Please report it.");
        70
    }))
}
