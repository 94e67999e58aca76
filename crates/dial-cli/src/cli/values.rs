//! The words and numbers that options take.

use std::str::FromStr;

/// What to do with zero rows: what the core can do with them, or leave them out before it sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZeroRows {
    /// Handled by the core.
    Core(dial::knn::metric_space::ZeroVectors),
    /// Left out of the pool.
    Drop,
}

impl FromStr for ZeroRows {
    type Err = String;

    fn from_str(word: &str) -> Result<ZeroRows, String> {
        match word {
            "drop" => Ok(ZeroRows::Drop),
            _ => word
                .parse()
                .map(ZeroRows::Core)
                .map_err(|_| "use error, isolate or drop".to_string()),
        }
    }
}

/// What stands between the cells of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delimiter(pub u8);

impl FromStr for Delimiter {
    type Err = String;

    fn from_str(word: &str) -> Result<Delimiter, String> {
        match word {
            "," | "comma" => Ok(Delimiter(b',')),
            ";" | "semicolon" => Ok(Delimiter(b';')),
            "\t" | "\\t" | "tab" => Ok(Delimiter(b'\t')),
            " " | "space" => Ok(Delimiter(b' ')),
            "|" | "bar" => Ok(Delimiter(b'|')),
            _ => Err("use , ; | tab or space".into()),
        }
    }
}

/// A number of bytes as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

impl FromStr for Size {
    type Err = String;

    fn from_str(word: &str) -> Result<Size, String> {
        let letters = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let unit: f64 = match letters
            .to_ascii_uppercase()
            .trim_end_matches("IB")
            .trim_end_matches('B')
        {
            "" => 1.0,
            "K" => 1024.0,
            "M" => 1024.0 * 1024.0,
            "G" => 1024.0 * 1024.0 * 1024.0,
            "T" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
            _ => f64::NAN,
        };
        let bytes = word[..word.len() - letters.len()]
            .parse::<f64>()
            .map(|number| number * unit);
        let wrong = || "use a number of bytes, or with K, M, G or T, as in 16G".to_string();
        bytes
            .ok()
            .filter(|bytes| *bytes >= 1.0 && bytes.is_finite())
            .map(|bytes| Size(bytes as u64))
            .ok_or_else(wrong)
    }
}

/// The initial labels as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InitialName {
    /// One random item of each class.
    OnePerClass,
    /// No label.
    None,
    /// The items of these ids.
    Items(Vec<String>),
}

impl FromStr for InitialName {
    type Err = String;

    fn from_str(word: &str) -> Result<InitialName, String> {
        match word {
            "one-per-class" => Ok(InitialName::OnePerClass),
            "none" => Ok(InitialName::None),
            "" => Err("use one-per-class, none, or item ids like 3,17,42".into()),
            ids => Ok(InitialName::Items(
                ids.split(',').map(|id| id.trim().to_string()).collect(),
            )),
        }
    }
}
