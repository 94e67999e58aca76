//! The `dial` command: hands the arguments to the library and its answer to the shell.

use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let run = std::panic::catch_unwind(|| dial_cli::run(std::env::args_os()));
    ExitCode::from(run.unwrap_or_else(|_| {
        let text = "error[BUG]: dial broke a promise of its own (above). Please report it.";
        let _ = writeln!(std::io::stderr(), "{text}");
        70
    }))
}
