//! The `dial` command: hands the arguments to the library and its answer to the shell.

use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(dial_cli::say_panic));
    let run = std::panic::catch_unwind(|| dial_cli::run(std::env::args_os()));
    ExitCode::from(run.unwrap_or_else(|_| {
        let text =
            "error[BUG]: an internal error, which is a bug in DiAL (see above). Please report it with the command and its output.";
        let _ = writeln!(std::io::stderr(), "{text}");
        70
    }))
}
