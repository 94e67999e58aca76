//! What ends a command early: one text shape, one JSON shape, one table of exit codes.
//!
//! Text: `error[CODE]: what, where. What was kept. What to do.` JSON (RFC 9457): `type`, `title`, `detail`, and our
//! members `code` and `exit_code`.

use std::borrow::Cow;

use clap::error::ErrorKind as ClapKind;
use dial::ErrorKind;
use serde_json::json;

use crate::output::say;

/// A failure with its stable code.
#[derive(Debug)]
pub struct Failure {
    code: Cow<'static, str>,
    kind: ErrorKind,
    detail: String,
}

impl Failure {
    /// Data that cannot serve the purpose.
    pub fn input(code: &'static str, detail: String) -> Failure {
        Failure { code: code.into(), kind: ErrorKind::Input, detail }
    }

    /// A combination of settings that makes no sense.
    pub fn settings(detail: String) -> Failure {
        Failure { code: "U1".into(), kind: ErrorKind::Usage, detail }
    }

    /// Something the machine does not have.
    pub fn resource(detail: String) -> Failure {
        Failure { code: "N18".into(), kind: ErrorKind::Resource, detail }
    }

    /// A file or folder that cannot be written.
    pub fn storage(detail: String) -> Failure {
        Failure { code: "S5".into(), kind: ErrorKind::Storage, detail }
    }

    /// What a running server answered.
    pub fn of_server(code: &str, kind: ErrorKind, detail: String) -> Failure {
        Failure { code: Cow::Owned(code.to_string()), kind, detail }
    }

    /// Something that is not allowed.
    pub fn permission(detail: String) -> Failure {
        Failure { code: "X3".into(), kind: ErrorKind::Permission, detail }
    }

    /// Puts the name of the pool before an error of the core, which does not know it.
    pub fn in_pool(pool: &str, error: dial::Error) -> Failure {
        let detail = match error.kind() {
            ErrorKind::Input => format!("{pool}: {error}"),
            _ => error.to_string(),
        };
        Failure { code: error.code().into(), kind: error.kind(), detail }
    }

    /// Prints the failure to stderr and returns the exit code.
    pub fn print(&self, json: bool) -> u8 {
        let exit_code = self.kind.exit_code();
        let problem = json!({
            "type": format!("urn:dial:error:{}", self.code),
            "title": title(self.kind),
            "detail": self.detail,
            "code": self.code,
            "exit_code": exit_code,
        });
        say(&if json { problem.to_string() } else { format!("error[{}]: {}", self.code, self.detail) });
        exit_code
    }
}

impl From<dial::Error> for Failure {
    fn from(error: dial::Error) -> Failure {
        Failure { code: error.code().into(), kind: error.kind(), detail: error.to_string() }
    }
}

impl From<dial_data::Error> for Failure {
    fn from(error: dial_data::Error) -> Failure {
        Failure { code: error.code().into(), kind: error.kind(), detail: error.to_string() }
    }
}

impl From<dial_store::Error> for Failure {
    fn from(error: dial_store::Error) -> Failure {
        Failure { code: error.code().into(), kind: error.kind(), detail: error.to_string() }
    }
}

impl From<dial_lab::Trouble> for Failure {
    fn from(trouble: dial_lab::Trouble) -> Failure {
        Failure { code: trouble.code.into(), kind: trouble.kind, detail: trouble.detail }
    }
}

/// Reports what clap made of the arguments: help and version on stdout, anything else as a usage error.
pub fn usage(error: &clap::Error, json: bool) -> u8 {
    if matches!(error.kind(), ClapKind::DisplayHelp | ClapKind::DisplayVersion) {
        // A closed pipe is no reason to fail.
        let _ = error.print();
        return 0;
    }
    if error.kind() == ClapKind::DisplayHelpOnMissingArgumentOrSubcommand && !json {
        let _ = error.print();
        return 2;
    }
    let text = error.to_string();
    let detail = text.trim_start_matches("error: ").trim_end().to_string();
    Failure { code: "U0".into(), kind: ErrorKind::Usage, detail }.print(json)
}

fn title(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Usage => "The command makes no sense as typed",
        ErrorKind::Input => "The data are not usable",
        ErrorKind::Numeric => "The numbers did not work out",
        ErrorKind::Storage => "A file could not be read or written",
        ErrorKind::Conflict => "Something contradicts this",
        ErrorKind::Resource => "The machine is too small",
        ErrorKind::Permission => "This is not allowed",
        ErrorKind::Cancelled => "Stopped on request",
    }
}
