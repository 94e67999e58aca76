//! Failures that end a command: one text shape, one JSON shape, one table of exit codes.
//!
//! Text: `error[CODE]: what, where. What was kept. What to do.` JSON (RFC 9457): `type`, `title`, `detail`, and our
//! members `code` and `exit_code`, and `conflict` where an answer was stored as a conflict.

use std::borrow::Cow;
use std::ffi::OsString;

use clap::error::ErrorKind as ClapKind;
use dial::error::ErrorKind;
use serde_json::json;

use crate::ui::terminal::{of_bearable_length, say};

/// A failure with its stable code.
#[derive(Debug)]
pub struct Failure {
    code: Cow<'static, str>,
    kind: ErrorKind,
    detail: String,
    /// Whether the detail speaks of data without naming their file.
    nameless: bool,
    /// The place in the log of an answer that was stored as a conflict.
    conflict: Option<u64>,
}

impl Failure {
    fn new(code: impl Into<Cow<'static, str>>, kind: ErrorKind, detail: String) -> Failure {
        Failure {
            code: code.into(),
            kind,
            detail,
            nameless: false,
            conflict: None,
        }
    }

    /// Data that cannot serve the purpose.
    pub fn input(code: &'static str, detail: String) -> Failure {
        Failure::new(code, ErrorKind::Input, detail)
    }

    /// Data of the pool that cannot serve the purpose; see [`Failure::about`].
    pub fn pool(code: &'static str, detail: String) -> Failure {
        Failure {
            nameless: true,
            ..Failure::input(code, detail)
        }
    }

    /// An invalid combination of settings.
    pub fn settings(detail: String) -> Failure {
        Failure::new("U1", ErrorKind::Usage, detail)
    }

    /// Too few classes to tell apart.
    pub fn too_few_classes(detail: String) -> Failure {
        Failure::new("N12", ErrorKind::Usage, detail)
    }

    /// A resource that the machine lacks.
    pub fn resource(detail: String) -> Failure {
        Failure {
            nameless: true,
            ..Failure::new("N18", ErrorKind::Resource, detail)
        }
    }

    /// A file or folder that cannot be written.
    pub fn storage(detail: String) -> Failure {
        Failure::new("S5", ErrorKind::Storage, detail)
    }

    /// A project that another process has.
    pub fn held(detail: String) -> Failure {
        Failure::new("S7", ErrorKind::Conflict, detail)
    }

    /// Whether another process has the project.
    pub fn is_held(&self) -> bool {
        self.code == "S7"
    }

    /// A file that is not what it should be.
    pub fn damaged(detail: String) -> Failure {
        Failure::new("S9", ErrorKind::Storage, detail)
    }

    /// The same about an answer that is stored as a conflict at this place in the log.
    pub fn with_conflict(self, conflict: Option<u64>) -> Failure {
        Failure { conflict, ..self }
    }

    /// The place where an answer is stored as a conflict.
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

    /// Names the pool that was typed where the failure is about data and names no file: neither the core nor a count of
    /// memory knows where they come from.
    pub fn about(self, pool: &str) -> Failure {
        match self.nameless && matches!(self.kind, ErrorKind::Input | ErrorKind::Resource) {
            true => Failure {
                detail: format!("{pool}: {}", self.detail),
                nameless: false,
                ..self
            },
            false => self,
        }
    }

    /// Prints the failure to stderr and returns the exit code.
    pub fn print(&self, json: bool) -> u8 {
        let exit_code = self.kind.exit_code();
        let detail = of_bearable_length(self.detail.clone());
        let mut problem = json!({
            "type": format!("urn:dial:error:{}", self.code),
            "title": title(self.kind),
            "detail": detail,
            "code": self.code,
            "exit_code": exit_code,
        });
        if let Some(conflict) = self.conflict {
            problem["conflict"] = json!(conflict);
        }
        say(&if json {
            problem.to_string()
        } else {
            format!("error[{}]: {detail}", self.code)
        });
        exit_code
    }
}

impl From<dial::Error> for Failure {
    fn from(error: dial::Error) -> Failure {
        Failure {
            nameless: true,
            ..Failure::new(error.code(), error.kind(), error.to_string())
        }
    }
}

impl From<dial_data::Error> for Failure {
    fn from(error: dial_data::Error) -> Failure {
        Failure {
            nameless: error.place.is_empty(),
            ..Failure::new(error.code(), error.kind(), error.to_string())
        }
    }
}

impl From<dial_store::Error> for Failure {
    fn from(error: dial_store::Error) -> Failure {
        use dial_store::Error::{ClassGone, Contradiction, Core, Data};
        let conflict = match &error {
            Contradiction { conflict, .. } | ClassGone { conflict, .. } => Some(*conflict),
            _ => None,
        };
        let nameless = match &error {
            Core(_) => true,
            Data(error) => error.place.is_empty(),
            _ => false,
        };
        Failure {
            nameless,
            conflict,
            ..Failure::new(error.code(), error.kind(), typed(error.to_string()))
        }
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

/// A message of a project, with its advice in terms of the command.
fn typed(detail: String) -> String {
    let words = [
        ("with replace.", "with --replace."),
        ("Reload the list.", "Check with dial status."),
        ("\"\" called item", "an earlier answer called item"),
    ];
    words
        .iter()
        .fold(detail, |text, (from, to)| text.replace(from, to))
}

#[cfg(feature = "research")]
impl From<dial_research::LabError> for Failure {
    fn from(trouble: dial_research::LabError) -> Failure {
        Failure::new(trouble.code, trouble.kind, trouble.detail)
    }
}

/// Reports an error of clap: help and version on stdout, everything else as a usage error.
pub fn usage(mut error: clap::Error, arguments: &[OsString], json: bool) -> u8 {
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
    crate::cli::renamed::hint(&mut error, arguments);
    let text = error.to_string();
    let detail = text.trim_start_matches("error: ").trim_end().to_string();
    Failure::new("U0", ErrorKind::Usage, detail).print(json)
}

fn title(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Usage => "The command is invalid",
        ErrorKind::Input => "The data are not usable",
        ErrorKind::Numeric => "The computation failed",
        ErrorKind::Storage => "A file could not be read or written",
        ErrorKind::Conflict => "This conflicts with the project",
        ErrorKind::Resource => "Not enough memory or disk space",
        ErrorKind::Permission => "This is not allowed",
        ErrorKind::Finished => "Nothing is left to do",
        ErrorKind::Busy => "Others are at all that is left",
        ErrorKind::Cancelled => "Stopped on request",
    }
}
