//! Failures of the other crates as Python exceptions: `dial._errors.make` knows the classes.

use dial::error::ErrorKind;
use dial_server::http::wire::Problem;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// Something that went wrong, as the command would say it.
#[derive(Debug)]
pub struct Failure {
    code: String,
    kind: ErrorKind,
    text: String,
}

impl Failure {
    /// Settings that make no sense.
    pub fn usage(text: impl Into<String>) -> Failure {
        Failure {
            code: "U1".into(),
            kind: ErrorKind::Usage,
            text: text.into(),
        }
    }

    /// An answer that contradicts another one.
    pub fn conflict(text: String) -> Failure {
        Failure {
            code: "C3".into(),
            kind: ErrorKind::Conflict,
            text,
        }
    }

    /// A fault of ours.
    pub fn panic(text: &str) -> Failure {
        let text =
            format!("this is a bug in DiAL, please report it: {text}. What was saved is safe.");
        Failure {
            code: "BUG".into(),
            kind: ErrorKind::Numeric,
            text,
        }
    }

    /// As an exception.
    pub fn raise(self, py: Python<'_>) -> PyErr {
        let word = match self.kind {
            ErrorKind::Usage => "usage",
            ErrorKind::Input => "input",
            ErrorKind::Numeric => "numeric",
            ErrorKind::Storage => "storage",
            ErrorKind::Conflict | ErrorKind::Finished | ErrorKind::Busy => "conflict",
            ErrorKind::Resource => "resource",
            ErrorKind::Permission => "permission",
            ErrorKind::Cancelled => return PyKeyboardInterrupt::new_err(self.text),
        };
        let made = py
            .import("dial._errors")
            .and_then(|errors| errors.getattr("make"))
            .and_then(|make| make.call1((self.code, word, self.text)));
        made.map_or_else(|error| error, PyErr::from_value)
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Failure {
        let kind = ErrorKind::ALL
            .into_iter()
            .find(|kind| kind.exit_code() == problem.exit);
        Failure {
            code: problem.code.into_string(),
            kind: kind.unwrap_or(ErrorKind::Storage),
            text: problem.detail,
        }
    }
}

impl From<dial_store::Error> for Failure {
    fn from(error: dial_store::Error) -> Failure {
        Failure {
            code: error.code().into(),
            kind: error.kind(),
            text: error.to_string(),
        }
    }
}

impl From<dial::Error> for Failure {
    fn from(error: dial::Error) -> Failure {
        dial_store::Error::from(error).into()
    }
}

impl From<dial_data::Error> for Failure {
    fn from(error: dial_data::Error) -> Failure {
        dial_store::Error::from(error).into()
    }
}
