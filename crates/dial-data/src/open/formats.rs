//! The formats of files, an entry each: how a file of the format is recognised, and how it is read.
//!
//! Each may be packed by gzip or zstd ([`crate::open::packed`]), which its reader never sees.
//!
//! A reader gives an array, arrays by name, or a sheet of columns. What pools, files of features, files of labels and
//! imports make of these three is written once for each ([`mod@crate::open`], [`crate::open::labels`], [`crate::tables::read_columns`]),
//! so that every format can be read for every use.

use std::borrow::Cow;

use crate::arrays::array::Array;
use crate::arrays::idx;
use crate::arrays::mat;
use crate::arrays::npy;
use crate::arrays::npz;
use crate::error::{Fault, Result};
use crate::open::labels::RowLabels;
use crate::open::wanted::Wanted;
use crate::pool::{Draft, ReadOptions};
use crate::scenes::mat_cube;
#[cfg(feature = "parquet")]
use crate::tables::arrow::{arrow, parquet};
use crate::tables::column_roles::Roles;
use crate::tables::frame::Sheet;
use crate::tables::json;
use crate::tables::table;

/// A format of files.
pub(crate) struct Format {
    /// As lists of formats name it.
    pub name: &'static str,
    /// What a file of it is, in messages.
    pub what: &'static str,
    /// How the names of its files end.
    pub endings: &'static [&'static str],
    /// How its files begin, and what that looks like in messages. Letters count only where the rest is not text.
    pub beginnings: &'static [(&'static [u8], &'static str)],
    /// What else its files are known by.
    pub signs: fn(&[u8]) -> bool,
    /// Whether it is text.
    pub text: bool,
    /// Whether its values may be packed already.
    pub packs: bool,
    /// How it is read.
    pub reader: Reader,
}

/// Reads columns, given the bytes and the place of a file.
type ReadSheet = fn(Cow<'_, [u8]>, &str, Wanted<'_>) -> Result<(Sheet, Roles), Fault>;

/// How a format is read.
#[derive(Clone, Copy)]
pub(crate) enum Reader {
    /// As one array; `pictures` says that three dimensions can be nothing else.
    Array {
        read: fn(&[u8]) -> Result<Array, Fault>,
        pictures: bool,
    },
    /// As arrays by name.
    Arrays(Arrays),
    /// As columns.
    Sheet(ReadSheet),
}

/// What is made of a file of arrays with names, given its bytes and its place.
#[derive(Clone, Copy)]
pub(crate) struct Arrays {
    pub pool: fn(&[u8], &str, &ReadOptions) -> Result<Draft>,
    pub labels: fn(&[u8], &str, &ReadOptions) -> Result<RowLabels>,
    pub list: for<'a> fn(&'a [u8], &'a str) -> Result<Vec<NamedArray<'a>>>,
}

/// An array that is read when it is wanted.
pub(crate) struct NamedArray<'a> {
    pub name: String,
    pub read: Box<dyn Fn() -> Result<Array> + 'a>,
}

/// All formats that are one file, in the order of lists; what is two (ENVI) or a folder is known by its path.
pub(crate) static FORMATS: [&Format; 8] = [
    &Format {
        name: "npy",
        what: "a NumPy file",
        endings: &[".npy"],
        beginnings: &[(npy::NPY_MAGIC, "a NumPy NPY")],
        signs: no_other,
        text: false,
        packs: false,
        reader: Reader::Array {
            read: npy::read,
            pictures: false,
        },
    },
    &Format {
        name: "npz",
        what: "an NPZ file",
        endings: &[".npz"],
        beginnings: &[
            (b"PK\x03\x04", "a ZIP/NPZ"),
            (b"PK\x05\x06", "an empty ZIP/NPZ"),
        ],
        signs: no_other,
        text: false,
        packs: true,
        reader: Reader::Arrays(Arrays {
            pool: npz::read,
            labels: npz::labels,
            list: npz::list,
        }),
    },
    &DELIMITED,
    &Format {
        name: "jsonl",
        what: "JSON",
        endings: &[".jsonl", ".ndjson", ".json"],
        beginnings: &[],
        signs: json::begins,
        text: true,
        packs: false,
        reader: Reader::Sheet(json::sheet),
    },
    &Format {
        name: "Parquet",
        what: "a Parquet file",
        endings: &[".parquet", ".pq"],
        beginnings: &[(b"PAR1", "Parquet")],
        signs: no_other,
        text: false,
        packs: true,
        reader: Reader::Sheet(parquet),
    },
    &Format {
        name: "Arrow",
        what: "an Arrow file",
        endings: &[".arrow", ".feather", ".ipc", ".arrows"],
        beginnings: &[(b"ARROW1", "Arrow")],
        signs: |bytes| matches!(bytes, [255, 255, 255, 255, _, _, _, 0, ..]),
        text: false,
        packs: true,
        reader: Reader::Sheet(arrow),
    },
    &Format {
        name: "IDX",
        what: "an IDX file",
        endings: &[".idx", "-ubyte", ".idx1", ".idx3"],
        beginnings: &[],
        signs: |bytes| matches!(bytes, [0, 0, 8 | 9 | 11..=14, 1..=8, ..]),
        text: false,
        packs: false,
        reader: Reader::Array {
            read: idx::read,
            pictures: true,
        },
    },
    &Format {
        name: "MATLAB v5/v7",
        what: "a MATLAB v5/v7 file",
        endings: &[".mat"],
        beginnings: &[(b"MATLAB 5.0", "MATLAB v5")],
        signs: |bytes| mat::is_big(bytes).is_some(),
        text: false,
        packs: true,
        reader: Reader::Arrays(Arrays {
            pool: mat_cube::read,
            labels: mat_cube::labels,
            list: mat_cube::list,
        }),
    },
];

/// Delimited text: any text that is nothing else.
pub(crate) static DELIMITED: Format = Format {
    name: "csv, tsv",
    what: "delimited text",
    endings: &[".csv", ".tsv", ".txt"],
    beginnings: &[],
    signs: no_other,
    text: true,
    packs: false,
    reader: Reader::Sheet(table::sheet),
};

fn no_other(_: &[u8]) -> bool {
    false
}

impl Format {
    /// Whether the name of a file, in small letters, ends as this format's do.
    pub fn ends(&self, name: &str) -> bool {
        self.endings.iter().any(|ending| name.ends_with(ending))
    }

    /// Whether a file begins as this format's do, be it text or not.
    pub fn begins(&self, bytes: &[u8]) -> bool {
        self.beginnings
            .iter()
            .any(|(beginning, _)| bytes.starts_with(beginning))
    }

    /// Whether its columns have names.
    pub fn has_columns(&self) -> bool {
        matches!(self.reader, Reader::Sheet(_))
    }

    /// Whether its arrays have names.
    pub fn has_arrays(&self) -> bool {
        matches!(self.reader, Reader::Arrays(_))
    }

    /// Whether this build has its reader.
    fn is_readable(&self) -> bool {
        cfg!(feature = "parquet") || !matches!(self.name, "Parquet" | "Arrow")
    }

    /// Whether it is delimited text, which may be lines of text instead.
    pub fn is_delimited(&self) -> bool {
        std::ptr::eq(self, &DELIMITED)
    }
}

/// The formats of files that this build reads as a list, and what else can be read where it is wanted.
///
/// ```
/// let list = dial_data::formats(&["ENVI"]);
/// assert!(list.starts_with("npy, npz, csv, tsv, jsonl, ") && list.ends_with(" or ENVI"));
/// ```
pub fn formats(others: &[&'static str]) -> String {
    let readable = FORMATS.iter().filter(|format| format.is_readable());
    let names: Vec<&str> = readable.map(|format| format.name).collect();
    let names = [&names, others].concat();
    let (last, first) = names.split_last().expect("there are formats");
    format!("{} or {last}", first.join(", "))
}

/// How the names of files of each format end, in the order of lists.
pub fn endings() -> impl Iterator<Item = &'static [&'static str]> {
    FORMATS.iter().map(|format| format.endings)
}

#[cfg(not(feature = "parquet"))]
use without::{without as arrow, without as parquet};

/// The readers of a build without the feature.
#[cfg(not(feature = "parquet"))]
mod without {
    use super::*;

    pub fn without(_: Cow<'_, [u8]>, _: &str, _: Wanted<'_>) -> Result<(Sheet, Roles), Fault> {
        let next = "Build it with --features parquet (the Python package has it), or write the table as csv.";
        Err(Fault::format(
            "this dial was built without Parquet and Arrow",
            next,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_parquet_says_so() {
        let built = cfg!(feature = "parquet");
        let list = formats(&[]);
        assert_eq!(
            (list.contains("Parquet"), list.contains("Arrow")),
            (built, built)
        );
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.parquet");
        std::fs::write(&file, b"PAR1 cut off").unwrap();
        let options = ReadOptions::default();
        let opened = crate::open(
            &file.display().to_string(),
            &options,
            0,
            &dial::Control::new(),
        );
        let text = opened.unwrap_err().to_string();
        let expected = "this dial was built without Parquet and Arrow";
        assert_eq!(text.contains(expected), !built, "{text}");
        assert!(built || text.contains("--features parquet"), "{text}");
    }

    #[test]
    fn an_ending_and_a_beginning_belong_to_one_format() {
        for (at, one) in FORMATS.iter().enumerate() {
            for other in FORMATS.iter().skip(at + 1) {
                let ending = one.endings.iter().find(|ending| other.ends(ending));
                let begins = |(beginning, _): &&(&[u8], &str)| other.begins(beginning);
                let beginning = one.beginnings.iter().find(begins);
                assert!(
                    ending.is_none() && beginning.is_none(),
                    "{} and {}: {ending:?} {beginning:?}",
                    one.name,
                    other.name
                );
                assert_ne!(one.name, other.name);
            }
        }
    }
}
