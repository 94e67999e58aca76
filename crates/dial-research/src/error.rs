//! What may stop an experiment: an error of the core, of the data, or of the folder it writes to.

use std::fmt;

use dial::error::ErrorKind;

/// A failure with its stable code, as the command reports it.
#[derive(Clone, Debug, PartialEq)]
pub struct LabError {
    /// The code of the documentation of errors.
    pub code: &'static str,
    /// What kind of failure it is, which decides the exit code.
    pub kind: ErrorKind,
    /// What happened, where, and what to do.
    pub detail: String,
}

impl LabError {
    /// The folder holds something that contradicts what is asked.
    pub fn conflict(detail: String) -> LabError {
        LabError {
            code: "R1",
            kind: ErrorKind::Conflict,
            detail,
        }
    }

    /// What was named cannot be used.
    pub fn input(code: &'static str, detail: String) -> LabError {
        let kind = ErrorKind::Input;
        LabError { code, kind, detail }
    }

    /// The disk refuses.
    pub fn storage(detail: String) -> LabError {
        LabError {
            code: "S5",
            kind: ErrorKind::Storage,
            detail,
        }
    }
}

impl From<dial::Error> for LabError {
    fn from(error: dial::Error) -> LabError {
        LabError {
            code: error.code(),
            kind: error.kind(),
            detail: error.to_string(),
        }
    }
}

impl From<dial_data::Error> for LabError {
    fn from(error: dial_data::Error) -> LabError {
        LabError {
            code: error.code(),
            kind: error.kind(),
            detail: error.to_string(),
        }
    }
}

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.detail)
    }
}

impl std::error::Error for LabError {}
