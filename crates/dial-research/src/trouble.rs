//! What may stop an experiment: an error of the core, of the data, or of the folder it writes to.

use std::fmt;

use dial::error::ErrorKind;

/// A failure with its stable code, as the command reports it.
#[derive(Clone, Debug, PartialEq)]
pub struct Trouble {
    /// The code of the documentation of errors.
    pub code: &'static str,
    /// What kind of failure it is, which decides the exit code.
    pub kind: ErrorKind,
    /// What happened, where, and what to do.
    pub detail: String,
}

impl Trouble {
    /// The folder holds something that contradicts what is asked.
    pub fn conflict(detail: String) -> Trouble {
        Trouble {
            code: "R1",
            kind: ErrorKind::Conflict,
            detail,
        }
    }

    /// What was named cannot be used.
    pub fn input(code: &'static str, detail: String) -> Trouble {
        let kind = ErrorKind::Input;
        Trouble { code, kind, detail }
    }

    /// The disk refuses.
    pub fn storage(detail: String) -> Trouble {
        Trouble {
            code: "S5",
            kind: ErrorKind::Storage,
            detail,
        }
    }
}

impl From<dial::Error> for Trouble {
    fn from(error: dial::Error) -> Trouble {
        Trouble {
            code: error.code(),
            kind: error.kind(),
            detail: error.to_string(),
        }
    }
}

impl From<dial_data::Error> for Trouble {
    fn from(error: dial_data::Error) -> Trouble {
        Trouble {
            code: error.code(),
            kind: error.kind(),
            detail: error.to_string(),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.detail)
    }
}

impl std::error::Error for Trouble {}
