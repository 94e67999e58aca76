//! What a file is: by its first bytes, then by the ending of its name.
//!
//! Beginnings that are letters could be the first name of a table, so they count only where the rest of the file is no
//! text: every such format has control characters somewhere.

use crate::arrays::zip;
use crate::error::Fault;
use crate::open::formats::{DELIMITED, FORMATS, Format, formats};
use crate::open::packed;

/// Beginnings of other files and what they belong to.
const OTHER_FORMATS: &[(&[u8], &str)] = &[
    (b"\x89HDF\r\n\x1a\n", "HDF5 or MATLAB v7.3"),
    (b"\x89DIALG", "a graph of dial, for --graph"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"II*\0", "a TIFF picture"),
    (b"MM\0*", "a TIFF picture"),
    (b"RIFF", "a WebP picture, or sound"),
    (b"BM", "a BMP picture"),
    (b"%PDF", "a PDF"),
    (
        b"FEA1",
        "the first version of Feather; write it again with pandas.to_feather",
    ),
    (b"PARE", "encrypted Parquet"),
    (
        b"\xd0\xcf\x11\xe0",
        "an old Excel or Word file; save a table as CSV UTF-8",
    ),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ", "xz"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\x80\x02", "a Python pickle, which this tool never runs"),
    (b"\x80\x03", "a Python pickle, which this tool never runs"),
    (b"\x80\x04", "a Python pickle, which this tool never runs"),
    (b"\x80\x05", "a Python pickle, which this tool never runs"),
];

/// Endings of other files that are not text, and what such a file should be.
const OTHER_ENDINGS: &[(&[&str], &str)] = &[
    (
        &[".bsq", ".bil", ".bip", ".img"],
        "an ENVI scene with its header (.hdr) beside it",
    ),
    (&[".pkl", ".pickle", ".h5", ".hdf5"], KNOWN_FORMAT),
];

const KNOWN_FORMAT: &str = "in a format this tool reads";

/// The format of a file, or why it cannot be read; of a packed one, given what it unpacks to.
pub(crate) fn format(name: &str, bytes: &[u8]) -> Result<&'static Format, Fault> {
    if let Some(fault) = hdf5(bytes).or_else(|| without_arrays(bytes)) {
        return Err(fault);
    }
    let of = |text: bool| {
        FORMATS
            .into_iter()
            .filter(move |format| format.text == text)
    };
    if let Some(format) = of(false).find(|format| is(format, bytes)) {
        return Ok(format);
    }
    let name = packed::bare(name).to_lowercase();
    if let Some(format) = of(false).find(|format| format.ends(&name)) {
        // Cut so early that nothing but letters is left: its reader says so.
        return match format.begins(bytes) {
            true => Ok(format),
            false => Err(not_a(format.what, bytes)),
        };
    }
    let ends = |(endings, _): &&(&[&str], &str)| endings.iter().any(|end| name.ends_with(end));
    if let Some((_, what)) = OTHER_ENDINGS.iter().find(ends) {
        return Err(not_a(what, bytes));
    }
    match looks_like(bytes) {
        Some(_) => Err(document(bytes).unwrap_or_else(|| not_a(KNOWN_FORMAT, bytes))),
        None => {
            let known = |format: &&Format| {
                !format.is_delimited() && (format.ends(&name) || (format.signs)(bytes))
            };
            match of(true).find(known) {
                Some(format) => Ok(format),
                None => document(bytes).map_or(Ok(&DELIMITED), Err),
            }
        }
    }
}

/// Whether the content of a file is of a format.
fn is(format: &Format, bytes: &[u8]) -> bool {
    let begins = |(beginning, _): &(&[u8], &str)| {
        bytes.starts_with(beginning) && !may_be_text(beginning, bytes)
    };
    format.beginnings.iter().any(begins) || (format.signs)(bytes)
}

/// The fault of HDF5, which may stand behind a header of MATLAB.
fn hdf5(bytes: &[u8]) -> Option<Fault> {
    let begins = |at: usize| {
        bytes
            .get(at..)
            .is_some_and(|rest| rest.starts_with(b"\x89HDF\r\n\x1a\n"))
    };
    (begins(0) || begins(512)).then(|| {
        let next =
            "In MATLAB, save it again with: save('file.mat', 'X', '-v7'). From Python: numpy.save.";
        Fault::format(
            "this is HDF5 (MATLAB v7.3), which this tool does not read",
            next,
        )
    })
}

/// The fault of a ZIP that is whole and holds no arrays.
fn without_arrays(bytes: &[u8]) -> Option<Fault> {
    let members = zip::members(bytes).ok()?;
    match () {
        _ if members.iter().any(|member| member.name.ends_with(".npy")) => None,
        _ if members.iter().any(|member| member.name.starts_with("xl/")) => Some(Fault::format(
            "this is an Excel workbook, which this tool does not read",
            "Save it as CSV UTF-8.",
        )),
        _ => Some(Fault::format(
            "this is a ZIP without arrays",
            "Unpack it, or give an npz as numpy.savez writes it.",
        )),
    }
}

/// The fault of a single picture, a PDF or a page of the web, none of which is a pool.
fn document(bytes: &[u8]) -> Option<Fault> {
    let what = looks_like(bytes);
    let page = bytes
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(bytes)
        .trim_ascii_start();
    let begins = |word: &[u8]| {
        page.get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    let next = match what {
        Some("a PNG picture" | "a JPEG picture") => {
            "Give the folder that holds the pictures, or a table that lists them."
        }
        Some(what) if what.contains("picture") => {
            "Save the pictures as .png or .jpg, and give their folder or a table that lists them."
        }
        Some("a PDF") => "Save the texts as .txt, .csv or .jsonl.",
        _ if begins(b"<!doctype html") || begins(b"<html") => {
            let what = "this is an HTML page, perhaps what a site shows instead of a download";
            return Some(Fault::format(
                what,
                "Download the file itself, or save the table of the page as CSV.",
            ));
        }
        _ => return None,
    };
    Some(Fault::format(
        format!("this looks like {}, not a pool", what.unwrap_or_default()),
        next,
    ))
}

/// What else a file certainly is.
fn looks_like(bytes: &[u8]) -> Option<&'static str> {
    let (beginning, what) = begins_like(bytes)?;
    (!may_be_text(beginning, bytes)).then_some(what)
}

/// The beginning of a file, and what begins so.
fn begins_like(bytes: &[u8]) -> Option<(&'static [u8], &'static str)> {
    let ours = FORMATS.iter().flat_map(|format| format.beginnings);
    ours.chain(OTHER_FORMATS)
        .chain(&packed::BEGINNINGS)
        .copied()
        .find(|(beginning, _)| bytes.starts_with(beginning))
}

/// Whether a beginning of letters could begin the text that a file is.
fn may_be_text(beginning: &[u8], bytes: &[u8]) -> bool {
    beginning.iter().all(|byte| (b' '..=b'~').contains(byte)) && is_text(bytes)
}

/// Whether nothing speaks against a text: no control characters but those that lines are made of.
fn is_text(bytes: &[u8]) -> bool {
    bytes
        .iter()
        .all(|&byte| !byte.is_ascii_control() || matches!(byte, b'\t'..=b'\r'))
}

/// The fault of a file that is not what was wanted.
pub(crate) fn not_a(wanted: &str, bytes: &[u8]) -> Fault {
    let next = match bytes.is_empty() {
        true => "Copy or save it again.".into(),
        false => format!("Give an {} file.", formats(&[])),
    };
    Fault::format(not_what(wanted, bytes), next)
}

/// `not a NumPy file (first bytes 50 4B 03 04: this looks like a ZIP/NPZ)`.
pub(crate) fn not_what(wanted: &str, bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return format!("not {wanted} (the file is empty)");
    }
    let first: Vec<String> = bytes
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02X}"))
        .collect();
    let guess = begins_like(bytes)
        .map(|(_, what)| format!(": this looks like {what}"))
        .unwrap_or_default();
    format!("not {wanted} (first bytes {}{guess})", first.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(name: &str, bytes: &[u8]) -> Result<&'static str, Fault> {
        super::format(name, bytes).map(|format| format.name)
    }

    #[test]
    fn content_comes_before_the_name() {
        assert_eq!(format("a.csv", b"\x93NUMPY\x01"), Ok("npy"));
        assert_eq!(format("a.npy", b"PK\x03\x04"), Ok("npz"));
        assert_eq!(format("a", b"\0\0\x08\x03\0"), Ok("IDX"));
        assert_eq!(format("a.dat", b"1,2\n"), Ok("csv, tsv"));
        assert_eq!(format("a.csv", b""), Ok("csv, tsv"));
        assert_eq!(format("a.json", b"[{}]"), Ok("jsonl"));
        assert_eq!(format("a.txt", b"{\"a\":1}\n{}"), Ok("jsonl"));
    }

    #[test]
    fn letters_at_the_beginning_are_no_proof() {
        for text in [
            "PAR1,b\n1,2\n",
            "PARE\n1\n",
            "ARROW1\tb\n1\t2\n",
            "BZh9;b\n",
            "GIF8 a\n",
            "MATLAB 5.0,x\n",
            "FEA1\n",
        ] {
            assert_eq!(format("a.csv", text.as_bytes()), Ok("csv, tsv"), "{text:?}");
            let binary = [text.as_bytes(), b"\0"].concat();
            assert_ne!(format("a.csv", &binary), Ok("csv, tsv"), "{text:?}");
        }
        assert_eq!(format("a.parquet", b"PAR1 cut off"), Ok("Parquet"));
    }

    #[test]
    fn documents_are_called_what_they_are() {
        let cases: [(&[u8], &str); 8] = [
            (
                b"\x89PNG\r\n\x1a\n",
                "a PNG picture, not a pool. Give the folder that holds",
            ),
            (
                b"\xff\xd8\xff\xe0",
                "a JPEG picture, not a pool. Give the folder that holds",
            ),
            (
                b"II*\0\x08",
                "a TIFF picture, not a pool. Save the pictures as .png",
            ),
            (b"RIFF\x10\0\0\0WEBP", "a WebP picture"),
            (b"BM\x10\0", "a BMP picture"),
            (b"%PDF-1.7\n\x00", "a PDF, not a pool"),
            (b"\n<!DOCTYPE HTML>\n<p>", "an HTML page"),
            (b"<html lang=en>", "an HTML page"),
        ];
        for (bytes, said) in cases {
            let text = format("a.csv", bytes).unwrap_err().to_string();
            assert!(
                text.starts_with("this ") && text.contains(said),
                "{said}: {text}"
            );
        }
        assert_eq!(format("a.csv", b"BM,RIFF\n1,2\n"), Ok("csv, tsv"));
    }

    #[test]
    fn the_wanted_message() {
        let text = not_a("a NumPy file", b"PK\x03\x04rest")
            .at("feats.npy")
            .to_string();
        let wanted =
            "feats.npy: not a NumPy file (first bytes 50 4B 03 04: this looks like a ZIP/NPZ).";
        assert!(text.starts_with(wanted), "{text}");
        assert!(
            not_a("a NumPy file", b"")
                .to_string()
                .contains("the file is empty")
        );
    }
}
