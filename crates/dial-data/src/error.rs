//! What can go wrong with a file, a setting or a disk: the place and the fault, with a stable code.
//!
//! The text follows one shape: `place: what, where. What was kept. What to do.` The command puts `error[CODE]:` in
//! front. Parsers return a bare [`Fault`]; the caller that knows the file adds the place with [`Fault::at`].

use std::fmt;
use std::io;

use dial::error::ErrorKind;
use thiserror::Error as ThisError;

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// How many faulty rows, ids or labels a message lists before it only counts them.
pub(crate) const MAX_LISTED: usize = 20;

/// A fault and the file it is in.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// The file as the user named it, and the array in it if it holds several; empty if there is no file.
    pub place: String,
    /// What is wrong.
    pub fault: Fault,
}

/// What is wrong, in a complete sentence with the next step.
#[derive(Clone, Debug, PartialEq, ThisError)]
#[non_exhaustive]
pub enum Fault {
    /// Features that are NaN or infinite.
    #[error(
        "{count} non-finite {} in {rows} {}; first at {at} ({value}). \
         Fix the file or pass --drop-nonfinite to leave those rows out (they will be listed).",
        plural(*count, "value", "values"), plural(*rows, "row", "rows")
    )]
    NonFinite {
        /// Number of bad values.
        count: usize,
        /// Number of rows that hold one.
        rows: usize,
        /// Row or line, and column, of the first.
        at: String,
        /// The first bad value.
        value: f64,
    },
    /// A header that promises more or less than the file holds.
    #[error("{0}. The file is damaged or incomplete: copy or save it again.")]
    Size(String),
    /// A shape that is not a matrix.
    #[error("{0}. Give a matrix of n rows and d columns, both at least 1.")]
    Shape(String),
    /// Values that are not plain numbers.
    #[error("contains {0}. Save plain float32/float64.")]
    Kind(String),
    /// A file whose content is not what its format, or its use, asks for.
    #[error("{what}. {next}")]
    Format {
        /// What was found.
        what: String,
        /// What to do.
        next: String,
    },
    /// A file that is not there.
    #[error("no such file. Give the path of a file that exists.")]
    Missing,
    /// A pool that is not there.
    #[error(
        "no such file. Give the path of a file that exists, or builtin:NAME with NAME one of {}.",
        crate::generate::builtin::list()
    )]
    MissingPool,
    /// Rows of a table that cannot be read.
    #[error("{}", bad_rows(bad, *total))]
    Rows {
        /// The first of them: the first and the last line of neighbours, from 1 (0 if what follows names the row), and
        /// what is wrong there.
        bad: Vec<(usize, usize, String)>,
        /// How many there are in all.
        total: usize,
    },
    /// A column of a table that holds text where numbers are wanted.
    #[error("{}", words(name, *count, *total, first, *line, others))]
    Words {
        /// The name of the column.
        name: String,
        /// In how many rows it is text.
        count: usize,
        /// How many rows there are.
        total: usize,
        /// The first text.
        first: String,
        /// And its line, from 1; 0 if there are no lines.
        line: usize,
        /// More such columns.
        others: Vec<String>,
    },
    /// Ids that are missing or appear twice.
    #[error("{0} Give every row a distinct id.")]
    Ids(String),
    /// Features of a separate file that do not fit the items.
    #[error("{what}. {next}")]
    Unjoined {
        /// Whether they are joined by id, not by row.
        by_id: bool,
        /// What was found.
        what: String,
        /// What to do.
        next: &'static str,
    },
    /// Labels that do not fit the pool.
    #[error("{0} Correct the labels.")]
    Labels(String),
    /// A small file that unpacks to a huge one.
    #[error("{0}. If the file is valid, save it without compression.")]
    Bomb(String),
    /// A picture that is not decoded.
    #[error(
        "{0}. Save it smaller: at most 20,000 pixels on a side, 100 million in all and 256 MiB."
    )]
    TooLarge(String),
    /// Picture files that cannot be read.
    #[error(
        "{total} of {all} pictures cannot be read: {}. Repair or remove {}, or pass --skip-bad to \
         leave {} out.", first_few(bad, *total, "; "), plural(*total, "it", "them"), plural(*total, "it", "them")
    )]
    Pictures {
        /// The first of them: the file and what is wrong with it.
        bad: Vec<String>,
        /// How many there are in all.
        total: usize,
        /// And how many pictures.
        all: usize,
        /// Whether all that is wrong is that they are too large.
        too_large: bool,
    },
    /// Text files that cannot be read.
    #[error(
        "{total} of {all} texts cannot be read: {}. Save {} as UTF-8 or remove {}, or pass \
         --skip-bad to leave {} out.", first_few(bad, *total, "; "), plural(*total, "it", "them"),
        plural(*total, "it", "them"), plural(*total, "it", "them")
    )]
    Texts {
        /// The first of them: the file and what is wrong with it.
        bad: Vec<String>,
        /// How many there are in all.
        total: usize,
        /// And how many texts.
        all: usize,
    },
    /// A setting that the file contradicts.
    #[error("{0} Change that setting.")]
    Setting(String),
    /// A file of DiAL whose bytes have changed.
    #[error(
        "{0} is damaged: its checksum does not match. Nothing was changed. Make the file again, or copy it again."
    )]
    Damaged(String),
    /// A file of a newer version of DiAL.
    #[error(
        "was written by a newer dial (format version {found}; this one reads {known}). Nothing was changed. Use that \
         version, or make the file again."
    )]
    Newer {
        /// The version of the file.
        found: u32,
        /// The newest version we know.
        known: u32,
    },
    /// A graph of other features.
    #[error(
        "this graph was made from other features ({0}). Nothing was changed. Give the pool it was made from, with the \
         same options, or build the graph again."
    )]
    OtherFeatures(String),
    /// A check of the core.
    #[error(transparent)]
    Core(#[from] dial::Error),
    /// A disk without room.
    #[error(
        "no space left on the device ({0}). The file was not written. Free some space and try again."
    )]
    Full(String),
    /// More than the memory there is.
    #[error(
        "{0}. Use a machine with more memory, split the file, or save the features as npy, whose rows are read \
         in parts."
    )]
    Memory(String),
    /// Any other failure to read or write.
    #[error("{0}. Check the path and its permissions.")]
    Io(String),
}

impl Fault {
    /// The fault at a place.
    pub fn at(self, place: impl Into<String>) -> Error {
        Error {
            place: place.into(),
            fault: self,
        }
    }

    pub(crate) fn format(what: impl Into<String>, next: impl Into<String>) -> Fault {
        Fault::Format {
            what: what.into(),
            next: next.into(),
        }
    }

    /// A file that ends early or contradicts itself.
    pub(crate) fn damaged(what: impl Into<String>) -> Fault {
        Fault::format(
            what,
            "The file is damaged or incomplete: copy or save it again.",
        )
    }

    pub(crate) fn io(error: &io::Error, doing: &str) -> Fault {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Fault::Full(error.to_string())
            }
            io::ErrorKind::OutOfMemory => {
                Fault::Memory(format!("{doing}: it is larger than the memory there is"))
            }
            _ => Fault::Io(format!("{doing}: {error}")),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Fault::NonFinite { .. } => "I1",
            Fault::Size(_) => "I2",
            Fault::Shape(_) | Fault::Unjoined { by_id: false, .. } => "I3",
            Fault::Kind(_) => "I4",
            Fault::Format { .. }
            | Fault::Missing
            | Fault::MissingPool
            | Fault::Texts { .. }
            | Fault::Pictures {
                too_large: false, ..
            } => "I5",
            Fault::Rows { .. } | Fault::Words { .. } => "I6",
            Fault::Ids(_) | Fault::Unjoined { by_id: true, .. } => "I7",
            Fault::Labels(_) => "I12",
            Fault::Bomb(_)
            | Fault::TooLarge(_)
            | Fault::Pictures {
                too_large: true, ..
            } => "I14",
            Fault::Setting(_) => "U1",
            Fault::Core(error) => error.code(),
            Fault::Full(_) => "S3",
            Fault::Memory(_) => "N18",
            Fault::Io(_) => "S5",
            Fault::Damaged(_) => "S9",
            Fault::Newer { .. } => "S12",
            Fault::OtherFeatures(_) => "S14",
        }
    }
}

impl Error {
    /// The stable code, listed in `docs/errors.md`.
    pub fn code(&self) -> &'static str {
        self.fault.code()
    }

    /// The kind, which decides the exit code.
    pub fn kind(&self) -> ErrorKind {
        match &self.fault {
            Fault::Setting(_) => ErrorKind::Usage,
            Fault::Core(error) => error.kind(),
            Fault::Full(_) | Fault::Io(_) | Fault::Damaged(_) | Fault::Newer { .. } => {
                ErrorKind::Storage
            }
            Fault::OtherFeatures(_) => ErrorKind::Conflict,
            Fault::Memory(_) => ErrorKind::Resource,
            _ => ErrorKind::Input,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.as_str() {
            "" => write!(f, "{}", self.fault),
            place => f.write_str(&about(place, &self.fault.to_string())),
        }
    }
}

impl std::error::Error for Error {}

/// What is wrong with a place: a text that begins with a verb has the place as its subject, any other follows a colon.
pub fn about(place: &str, text: &str) -> String {
    const VERBS: [&str; 7] = ["is", "are", "was", "has", "holds", "contains", "says"];
    let first = text.split(' ').next().unwrap_or_default();
    let colon = if VERBS.contains(&first) { "" } else { ":" };
    format!("{place}{colon} {text}")
}

impl From<dial::Error> for Error {
    fn from(error: dial::Error) -> Error {
        Fault::Core(error).at("")
    }
}

pub(crate) fn plural(count: usize, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

/// A number of bytes as people read it.
pub(crate) fn size_in_words(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} {}", plural(bytes as usize, "byte", "bytes"));
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", units.get(unit).copied().unwrap_or("EiB"))
}

/// The first [`MAX_LISTED`] texts, then how many more there are.
pub(crate) fn first_few<T: ToString>(
    texts: impl IntoIterator<Item = T>,
    total: usize,
    separator: &str,
) -> String {
    let texts = texts.into_iter().take(MAX_LISTED);
    let mut texts: Vec<String> = texts.map(|text| text.to_string()).collect();
    let left = total.saturating_sub(texts.len());
    if left > 0 {
        texts.push(format!("and {left} more"));
    }
    texts.join(separator)
}

/// The same of names in quotes.
pub(crate) fn first_quoted<T: fmt::Debug>(names: &[T], separator: &str) -> String {
    let quoted = names.iter().map(|name| format!("{name:?}"));
    first_few(quoted, names.len(), separator)
}

/// Bad rows with their lines, then how many more there are; `one` puts lines and what is wrong together.
pub(crate) fn listed_rows(
    bad: &[(usize, usize, String)],
    total: usize,
    separator: &str,
    one: impl Fn(&str, &str) -> String,
) -> String {
    let text = |(first, last, why): &(usize, usize, String)| match (first, last) {
        (0, _) => why.clone(),
        (first, last) if first == last => one(&format!("line {first}"), why),
        (first, last) => one(&format!("lines {first} to {last}"), why),
    };
    let texts: Vec<String> = bad.iter().take(MAX_LISTED).map(text).collect();
    let listed: usize = bad
        .iter()
        .take(MAX_LISTED)
        .map(|(first, last, _)| 1 + last.saturating_sub(*first))
        .sum();
    let total = texts.len() + total.saturating_sub(listed);
    first_few(texts, total, separator)
}

fn bad_rows(bad: &[(usize, usize, String)], total: usize) -> String {
    format!(
        "{total} bad {}: {}. Fix the file, name the columns that hold ids or labels \
         (--id-column, --label-column) or are to be left out (--drop-column), or pass --skip-bad to leave the bad rows out.",
        plural(total, "row", "rows"),
        listed_rows(bad, total, "; ", |lines, why| format!("{lines}: {why}"))
    )
}

fn words(
    name: &str,
    count: usize,
    total: usize,
    first: &str,
    line: usize,
    others: &[String],
) -> String {
    let plain = |name: &str| {
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || "_-.".contains(c))
    };
    let typed = if plain(name) {
        name.to_string()
    } else {
        format!("{name:?}")
    };
    let more = match others {
        [] => String::new(),
        _ => format!(
            " So {} {}.",
            plural(others.len(), "is", "are"),
            first_quoted(others, ", ")
        ),
    };
    let place = if line == 0 {
        String::new()
    } else {
        format!(", line {line}")
    };
    format!(
        "column {name:?} is text in {count} of {total} {} (first: {first:?}{place}).{more} No column can be a feature. \
         Use --text-column {typed} if these are texts to label, or give features with --features.",
        plural(total, "row", "rows")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_in_words() {
        // 65536 * 65536 * 8 bytes = 2^35 = 32 GiB.
        assert_eq!(size_in_words(65536 * 65536 * 8), "32.0 GiB");
        assert_eq!(size_in_words(1), "1 byte");
        assert_eq!(size_in_words(1023), "1023 bytes");
        assert_eq!(size_in_words(1536), "1.5 KiB");
        assert_eq!(size_in_words(u64::MAX), "16.0 EiB");
    }

    #[test]
    fn twenty_rows_are_listed_then_counted() {
        let bad: Vec<_> = (1..=20)
            .map(|line| (line, line, "short".to_string()))
            .collect();
        let text = Fault::Rows { bad, total: 33 }.at("a.csv").to_string();
        assert!(
            text.starts_with("a.csv: 33 bad rows: line 1: short; line 2: short"),
            "{text}"
        );
        assert!(
            text.contains("line 20: short; and 13 more. Fix the file"),
            "{text}"
        );
        let text = Fault::Rows {
            bad: vec![(2, 61, "long".into())],
            total: 60,
        }
        .to_string();
        assert!(
            text.starts_with("60 bad rows: lines 2 to 61: long. Fix the file"),
            "{text}"
        );
    }

    #[test]
    fn a_place_is_the_subject_of_a_verb() {
        let at = |fault: Fault| fault.at("a.npy").to_string();
        assert!(at(Fault::Kind("text".into())).starts_with("a.npy contains text."));
        assert!(at(Fault::Io("is a folder".into())).starts_with("a.npy is a folder."));
        assert!(at(Fault::Missing).starts_with("a.npy: no such file."));
    }

    #[test]
    fn kinds_follow_codes() {
        let error = Error::from(dial::Error::BadTau(-1.0));
        assert_eq!((error.code(), error.kind()), ("N7", ErrorKind::Usage));
        let full = Fault::io(&io::ErrorKind::StorageFull.into(), "writing").at("x");
        assert_eq!((full.code(), full.kind()), ("S3", ErrorKind::Storage));
        let large = Fault::io(&io::ErrorKind::OutOfMemory.into(), "reading").at("x");
        assert_eq!((large.code(), large.kind().exit_code()), ("N18", 7));
        let other = Fault::io(&io::ErrorKind::PermissionDenied.into(), "writing").at("x");
        assert_eq!((other.code(), other.kind().exit_code()), ("S5", 5));
    }
}
