//! Everything that data or settings can cause to go wrong, with its numbers, a stable code and the next step.
//!
//! The text of an error says what happened and where, then what to do. Broken invariants between our own functions are
//! panics, documented under `# Panics`; they are never an [`Error`].

use std::borrow::Cow;
use thiserror::Error as ThisError;

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong. The text of a variant is complete: it needs no further explanation by the caller.
#[derive(Clone, Debug, PartialEq, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// Features that are NaN or infinite.
    #[error(
        "{count} non-finite {} in {rows} {}; first at row {row}, column {column} ({value}). \
         Fix the data, or leave those rows out (--drop-nonfinite).",
        plural(*count, "value", "values"), plural(*rows, "row", "rows")
    )]
    NonFinite {
        /// Number of bad values.
        count: usize,
        /// Number of rows that hold one.
        rows: usize,
        /// Row of the first, from 0.
        row: usize,
        /// Column of the first, from 0.
        column: usize,
        /// The first bad value.
        value: f64,
    },
    /// A matrix that is empty or whose length does not fit its shape.
    #[error("{0}. Give a matrix of n rows and d columns, both at least 1.")]
    Shape(String),
    /// Fewer items than the graph needs.
    #[error("{} {}", too_few(*k, *n), fewer(*n))]
    TooFewItems {
        /// Neighbours asked for.
        k: usize,
        /// Items present.
        n: usize,
    },
    /// Rows of length zero under the cosine metric.
    #[error(
        "{count} {} zero length, so cosine is undefined (first: row {first}). \
         Use --zero-vectors isolate|drop or --metric euclidean.",
        plural(*count, "row has", "rows have")
    )]
    ZeroVectors {
        /// Number of such rows.
        count: usize,
        /// The first, from 0.
        first: usize,
    },
    /// A pool without any structure.
    #[error(
        "all {n} rows are identical; there is no structure to learn from. Check how the features were made."
    )]
    AllIdentical {
        /// Number of rows.
        n: usize,
    },
    /// Features so large or so small that squared distances leave the range of f64.
    #[error("column {column} reaches {value:e}; distances {}. Rescale or pass --standardize.",
        if value.abs() > 1.0 { "overflow" } else { "underflow" })]
    ExtremeScale {
        /// The column, from 0.
        column: usize,
        /// Its value of largest magnitude.
        value: f64,
    },
    /// A regularisation that is not a finite number at least 0.
    #[error("tau must be a finite number >= 0, got {0}. The paper uses 0.1.")]
    BadTau(f64),
    /// Any other setting outside its range.
    #[error("{name} must be {want}, got {got}. Change that setting.")]
    BadSetting {
        /// The setting, as on the command line.
        name: &'static str,
        /// What it may be.
        want: Cow<'static, str>,
        /// What it was.
        got: String,
    },
    /// Settings that contradict each other.
    #[error("{0}")]
    Incompatible(String),
    /// The solver stopped before it was accurate enough.
    #[error(
        "solver stopped after {iterations} iterations, residual {residual:.1e} (wanted {wanted:.1e}). \
         Labels are safe. Use a larger tau or fewer eigenpairs, or check the graph with `dial doctor`."
    )]
    NotConverged {
        /// Iterations done.
        iterations: usize,
        /// True residual, recomputed.
        residual: f64,
        /// Residual asked for.
        wanted: f64,
    },
    /// An acquisition gave a score that is not a number.
    #[error(
        "the score of item {0:?} is not a number. Fix the acquisition: every score must be a number."
    )]
    NanScore(String),
    /// There is nothing left to ask.
    #[error(
        "every item is labelled, skipped or excluded. Nothing is left to ask; see the predictions."
    )]
    NothingToAsk,
    /// A schema of fewer than two classes.
    #[error("at least 2 classes are needed, found {0}. Add a class first.")]
    TooFewClasses(usize),
    /// An item id that the pool does not have.
    #[error("no item has the id {0:?}. Use an id of the pool (row numbers, if it has no ids).")]
    UnknownItem(String),
    /// Two items with the same id.
    #[error("id {id:?} appears at rows {first} and {second}. Make ids unique.")]
    DuplicateId {
        /// The id.
        id: String,
        /// First row, from 0.
        first: usize,
        /// Second row, from 0.
        second: usize,
    },
    /// A class that the schema does not have (or that was merged away).
    #[error("class {0} is not in the schema. Add it first, or use one of its classes.")]
    UnknownClass(String),
    /// A label, event or schema change that contradicts the log.
    #[error("{0}")]
    Conflict(String),
    /// A label whose weights are not positive numbers summing to at most 1.
    #[error(
        "the label of item {item:?} {why}. Give each class once, with weights above 0 that sum to at most 1."
    )]
    BadLabel {
        /// The item.
        item: String,
        /// What is wrong.
        why: String,
    },
    /// A graph that is not a symmetric graph with positive weights.
    #[error("this graph is damaged or not symmetric: {0}. Build it again.")]
    BadGraph(String),
    /// More nodes than node ids can number.
    #[error("{0} items exceed this build's limit of 4294967295. Split the pool.")]
    TooManyItems(usize),
    /// The caller asked to stop.
    #[error("stopped on request. Nothing was changed.")]
    Cancelled,
}

/// The kinds of failure, each with one exit code of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The settings are invalid (exit code 2).
    Usage,
    /// The data are bad (3).
    Input,
    /// The computation failed (4).
    Numeric,
    /// A file could not be read or written (5).
    Storage,
    /// Something else holds or contradicts this (6).
    Conflict,
    /// Not enough memory or room (7).
    Resource,
    /// The user has no permission for this (8).
    Permission,
    /// Nothing is left to do (9).
    Finished,
    /// Others are at all that is left to do; later there may be more (10).
    Busy,
    /// The user asked to stop (130, as shells do for Ctrl-C).
    Cancelled,
}

impl ErrorKind {
    /// Every kind.
    pub const ALL: [ErrorKind; 10] = [
        ErrorKind::Usage,
        ErrorKind::Input,
        ErrorKind::Numeric,
        ErrorKind::Storage,
        ErrorKind::Conflict,
        ErrorKind::Resource,
        ErrorKind::Permission,
        ErrorKind::Finished,
        ErrorKind::Busy,
        ErrorKind::Cancelled,
    ];

    /// The exit code of the `dial` command.
    pub fn exit_code(self) -> u8 {
        match self {
            ErrorKind::Usage => 2,
            ErrorKind::Input => 3,
            ErrorKind::Numeric => 4,
            ErrorKind::Storage => 5,
            ErrorKind::Conflict => 6,
            ErrorKind::Resource => 7,
            ErrorKind::Permission => 8,
            ErrorKind::Finished => 9,
            ErrorKind::Busy => 10,
            ErrorKind::Cancelled => 130,
        }
    }
}

impl Error {
    /// The stable code, listed in `docs/errors.md`.
    pub fn code(&self) -> &'static str {
        match self {
            Error::NonFinite { .. } => "I1",
            Error::Shape(_) => "I3",
            Error::DuplicateId { .. } => "I7",
            Error::TooFewItems { .. } => "I8",
            Error::ZeroVectors { .. } => "I9",
            Error::AllIdentical { .. } => "I10",
            Error::ExtremeScale { .. } => "I11",
            Error::UnknownItem(_) | Error::UnknownClass(_) | Error::BadLabel { .. } => "I12",
            Error::BadGraph(_) => "I13",
            Error::NanScore(_) => "N6",
            Error::BadTau(_) => "N7",
            Error::NotConverged { .. } => "N10",
            Error::NothingToAsk => "N11",
            Error::TooFewClasses(_) => "N12",
            Error::TooManyItems(_) => "N18",
            Error::BadSetting { .. } | Error::Incompatible(_) => "U1",
            Error::Conflict(_) => "C5",
            Error::Cancelled => "C12",
        }
    }

    /// An invalid setting: its name as on the command line, what it may be, what it was.
    pub fn setting(
        name: &'static str,
        want: impl Into<Cow<'static, str>>,
        got: impl ToString,
    ) -> Error {
        let (want, got) = (want.into(), got.to_string());
        Error::BadSetting { name, want, got }
    }

    /// The kind, which decides the exit code.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::BadTau(_)
            | Error::BadSetting { .. }
            | Error::Incompatible(_)
            | Error::TooFewClasses(_) => ErrorKind::Usage,
            Error::NotConverged { .. } | Error::NanScore(_) => ErrorKind::Numeric,
            Error::NothingToAsk => ErrorKind::Finished,
            Error::Conflict(_) => ErrorKind::Conflict,
            Error::TooManyItems(_) => ErrorKind::Resource,
            Error::Cancelled => ErrorKind::Cancelled,
            _ => ErrorKind::Input,
        }
    }
}

fn plural(count: usize, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

fn too_few(k: usize, n: usize) -> String {
    match n {
        0 | 1 => format!("a graph needs at least 2 items, found {n}."),
        _ => format!(
            "k={k} needs at least {} items, found {n}.",
            k.saturating_add(1)
        ),
    }
}

fn fewer(n: usize) -> String {
    match n {
        0 | 1 => "Add items.".to_string(),
        _ => format!("Use --k {} or less.", n - 1),
    }
}

/// Refuses a setting that is not a finite number above 0.
pub fn check_positive(name: &'static str, value: f64) -> Result<()> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(Error::setting(name, "a finite number above 0", value))
}
