//! What ends a command early: one text shape, one JSON shape, one table of exit codes.
//!
//! Text: `error[CODE]: what, where. What was kept. What to do.` JSON (RFC 9457): `type`, `title`, `detail`, and our
//! members `code` and `exit_code`, and `conflict` where an answer was kept aside.

use std::borrow::Cow;

use clap::error::ErrorKind as ClapKind;
use dial::error::ErrorKind;
use serde_json::json;

use crate::ui::output::say;

/// A failure with its stable code.
#[derive(Debug)]
pub struct Failure {
    code: Cow<'static, str>,
    kind: ErrorKind,
    detail: String,
    /// The place in the log where an answer that could not be taken is kept aside.
    conflict: Option<u64>,
}

impl Failure {
    fn new(code: impl Into<Cow<'static, str>>, kind: ErrorKind, detail: String) -> Failure {
        Failure {
            code: code.into(),
            kind,
            detail,
            conflict: None,
        }
    }

    /// Data that cannot serve the purpose.
    pub fn input(code: &'static str, detail: String) -> Failure {
        Failure::new(code, ErrorKind::Input, detail)
    }

    /// A combination of settings that makes no sense.
    pub fn settings(detail: String) -> Failure {
        Failure::new("U1", ErrorKind::Usage, detail)
    }

    /// Something the machine does not have.
    pub fn resource(detail: String) -> Failure {
        Failure::new("N18", ErrorKind::Resource, detail)
    }

    /// A file or folder that cannot be written.
    pub fn storage(detail: String) -> Failure {
        Failure::new("S5", ErrorKind::Storage, detail)
    }

    /// A project that another process has.
    pub fn held(detail: String) -> Failure {
        Failure::new("S7", ErrorKind::Conflict, detail)
    }

    /// A file that is not what it should be.
    pub fn damaged(detail: String) -> Failure {
        Failure::new("S9", ErrorKind::Storage, detail)
    }

    /// The same about an answer that is kept aside at this place in the log.
    pub fn with_conflict(self, conflict: Option<u64>) -> Failure {
        Failure { conflict, ..self }
    }

    /// The place where an answer is kept aside.
    pub fn conflict(&self) -> Option<u64> {
        self.conflict
    }

    /// The stable code.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// The same with one more sentence.
    pub fn and(mut self, more: &str) -> Failure {
        self.detail = format!("{} {more}", self.detail);
        self
    }

    /// Something that is not allowed.
    pub fn permission(detail: String) -> Failure {
        Failure::new("X3", ErrorKind::Permission, detail)
    }

    /// Puts the name of the pool before an error of the core, which does not know it.
    pub fn in_pool(pool: &str, error: dial::Error) -> Failure {
        let detail = match error.kind() {
            ErrorKind::Input => format!("{pool}: {error}"),
            _ => error.to_string(),
        };
        Failure::new(error.code(), error.kind(), detail)
    }

    /// Prints the failure to stderr and returns the exit code.
    pub fn print(&self, json: bool) -> u8 {
        let exit_code = self.kind.exit_code();
        let mut problem = json!({
            "type": format!("urn:dial:error:{}", self.code),
            "title": title(self.kind),
            "detail": self.detail,
            "code": self.code,
            "exit_code": exit_code,
        });
        if let Some(conflict) = self.conflict {
            problem["conflict"] = json!(conflict);
        }
        say(&if json {
            problem.to_string()
        } else {
            format!("error[{}]: {}", self.code, self.detail)
        });
        exit_code
    }
}

impl From<dial::Error> for Failure {
    fn from(error: dial::Error) -> Failure {
        Failure::new(error.code(), error.kind(), error.to_string())
    }
}

impl From<dial_data::Error> for Failure {
    fn from(error: dial_data::Error) -> Failure {
        Failure::new(error.code(), error.kind(), error.to_string())
    }
}

impl From<dial_store::Error> for Failure {
    fn from(error: dial_store::Error) -> Failure {
        use dial_store::Error::{ClassGone, Contradiction};
        let conflict = match &error {
            Contradiction { parked, .. } | ClassGone { parked, .. } => Some(*parked),
            _ => None,
        };
        Failure::new(error.code(), error.kind(), typed(error.to_string())).with_conflict(conflict)
    }
}

impl From<dial_server::http::wire::Problem> for Failure {
    fn from(problem: dial_server::http::wire::Problem) -> Failure {
        let kind = ErrorKind::ALL
            .into_iter()
            .find(|kind| kind.exit_code() == problem.exit);
        let failure = Failure::new(
            problem.code.into_string(),
            kind.unwrap_or(ErrorKind::Storage),
            typed(problem.detail),
        );
        failure.with_conflict(problem.conflict)
    }
}

/// What a project says, in words that can be typed here.
fn typed(detail: String) -> String {
    let words = [
        ("with replace.", "with --replace."),
        ("Reload the list.", "Look with dial status."),
        ("\"\" called item", "an earlier answer called item"),
    ];
    words
        .iter()
        .fold(detail, |text, (from, to)| text.replace(from, to))
}

#[cfg(feature = "research")]
impl From<dial_research::Trouble> for Failure {
    fn from(trouble: dial_research::Trouble) -> Failure {
        Failure::new(trouble.code, trouble.kind, trouble.detail)
    }
}

/// Reports what clap made of the arguments: help and version on stdout, anything else as a usage error.
pub fn usage(error: &clap::Error, json: bool) -> u8 {
    if matches!(
        error.kind(),
        ClapKind::DisplayHelp | ClapKind::DisplayVersion
    ) {
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
    Failure::new("U0", ErrorKind::Usage, detail).print(json)
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
