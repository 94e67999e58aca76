//! npy and npz files that NumPy and SciPy open. Archives are stored, with a fixed date, so that equal arrays give equal
//! bytes; ZIP64 sizes are used only where the short ones do not do.

use std::io::{self, Write};
use std::path::Path;

use flate2::Crc;

use super::write_whole;
use crate::arrays::npy::header_bytes;
use crate::error::{Fault, Result};

/// The values of an array to be written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SavedData<'a> {
    /// 32-bit floats.
    F32(&'a [f32]),
    /// 64-bit floats.
    F64(&'a [f64]),
    /// Signed integers, 32 bits.
    I32(&'a [i32]),
    /// Signed integers, 64 bits.
    I64(&'a [i64]),
    /// Unsigned integers, 32 bits.
    U32(&'a [u32]),
    /// Truths.
    Truth(&'a [bool]),
    /// Unicode strings.
    Text(&'a [String]),
    /// One byte string.
    Word(&'a str),
}

/// An array to be written, in C order.
#[derive(Clone, Debug, PartialEq)]
pub struct Saved<'a> {
    /// The length of each dimension; empty for a single value.
    pub shape: Vec<usize>,
    /// The values, as many as the shape says.
    pub data: SavedData<'a>,
}

impl<'a> Saved<'a> {
    /// A one-dimensional array.
    pub fn vector(data: SavedData<'a>) -> Saved<'a> {
        Saved {
            shape: vec![data.len()],
            data,
        }
    }

    /// A matrix of rows of `columns` values.
    pub fn matrix(data: SavedData<'a>, columns: usize) -> Saved<'a> {
        Saved {
            shape: vec![data.len() / columns.max(1), columns],
            data,
        }
    }

    /// The whole npy file.
    fn bytes(&self) -> Vec<u8> {
        let count: usize = self.shape.iter().product();
        assert_eq!(
            count,
            self.data.len(),
            "{} values do not fill the shape {:?}",
            self.data.len(),
            self.shape
        );
        let (descr, values) = self.data.encoded();
        let mut bytes = header_bytes(&descr, &self.shape);
        bytes.extend(values);
        bytes
    }
}

impl SavedData<'_> {
    fn len(&self) -> usize {
        match self {
            SavedData::F32(values) => values.len(),
            SavedData::F64(values) => values.len(),
            SavedData::I32(values) => values.len(),
            SavedData::I64(values) => values.len(),
            SavedData::U32(values) => values.len(),
            SavedData::Truth(values) => values.len(),
            SavedData::Text(values) => values.len(),
            SavedData::Word(_) => 1,
        }
    }

    fn encoded(&self) -> (String, Vec<u8>) {
        match self {
            SavedData::F32(values) => ("<f4".into(), little(values, f32::to_le_bytes)),
            SavedData::F64(values) => ("<f8".into(), little(values, f64::to_le_bytes)),
            SavedData::I32(values) => ("<i4".into(), little(values, i32::to_le_bytes)),
            SavedData::I64(values) => ("<i8".into(), little(values, i64::to_le_bytes)),
            SavedData::U32(values) => ("<u4".into(), little(values, u32::to_le_bytes)),
            SavedData::Truth(values) => (
                "|b1".into(),
                values.iter().map(|&truth| u8::from(truth)).collect(),
            ),
            SavedData::Text(values) => unicode(values),
            SavedData::Word(word) => (format!("|S{}", word.len().max(1)), padded(word.as_bytes())),
        }
    }
}

fn little<T: Copy, const N: usize>(values: &[T], bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|&value| bytes(value)).collect()
}

fn padded(bytes: &[u8]) -> Vec<u8> {
    if bytes.is_empty() {
        vec![0]
    } else {
        bytes.to_vec()
    }
}

fn unicode(values: &[String]) -> (String, Vec<u8>) {
    let longest = values
        .iter()
        .map(|text| text.chars().count())
        .max()
        .unwrap_or(0)
        .max(1);
    let codes = |text: &String| -> Vec<u8> {
        let characters = text
            .chars()
            .map(u32::from)
            .chain(std::iter::repeat(0))
            .take(longest);
        characters.flat_map(u32::to_le_bytes).collect()
    };
    (
        format!("<U{longest}"),
        values.iter().flat_map(codes).collect(),
    )
}

/// Writes one array.
///
/// # Panics
/// If the values do not fill the shape.
pub fn write_npy(path: &Path, array: &Saved<'_>) -> Result<()> {
    let bytes = array.bytes();
    write_whole(path, |out| out.write_all(&bytes))
}

/// Writes several arrays by name.
///
/// # Panics
/// If the values of an array do not fill its shape, or there are more than 65,534 arrays.
pub fn write_npz(path: &Path, arrays: &[(&str, Saved<'_>)]) -> Result<()> {
    write_whole(path, |out| npz_to(out, arrays))
}

/// The same to any stream.
///
/// # Panics
/// As [`write_npz`].
pub fn npz_to(out: &mut dyn Write, arrays: &[(&str, Saved<'_>)]) -> io::Result<()> {
    assert!(
        arrays.len() < 65_535,
        "{} arrays in one archive",
        arrays.len()
    );
    let files = arrays
        .iter()
        .map(|(name, array)| (format!("{name}.npy"), array.bytes()));
    zip_to(out, files)
}

/// Writes a sparse matrix in the form that `scipy.sparse.load_npz` opens: row i has the columns
/// `indices[indptr[i]..indptr[i + 1]]` and the values at the same places.
///
/// # Panics
/// If `indptr` is empty or the lengths contradict each other.
pub fn write_csr(
    path: &Path,
    columns: usize,
    indptr: &[usize],
    indices: &[u32],
    data: &[f64],
) -> Result<()> {
    let last = indptr
        .last()
        .copied()
        .expect("indptr has one entry more than rows");
    assert!(
        last == data.len() && last == indices.len(),
        "indptr ends at {last}, not at {}",
        data.len()
    );
    let too_large =
        || Fault::Core(dial::Error::TooManyItems(columns.max(last))).at(path.display().to_string());
    let shape: Option<Vec<i64>> = [indptr.len() - 1, columns]
        .iter()
        .map(|&n| i64::try_from(n).ok())
        .collect();
    let shape = shape.ok_or_else(too_large)?;
    let narrow: Result<Vec<i32>, _> = indices.iter().map(|&j| i32::try_from(j)).collect();
    let pointers: Result<Vec<i32>, _> = indptr.iter().map(|&p| i32::try_from(p)).collect();
    let rest = |indices, indptr| {
        [
            ("indices", Saved::vector(indices)),
            ("indptr", Saved::vector(indptr)),
            (
                "format",
                Saved {
                    shape: vec![],
                    data: SavedData::Word("csr"),
                },
            ),
            ("shape", Saved::vector(SavedData::I64(&shape))),
            ("data", Saved::vector(SavedData::F64(data))),
        ]
    };
    match (narrow, pointers) {
        (Ok(indices), Ok(indptr)) => write_npz(
            path,
            &rest(SavedData::I32(&indices), SavedData::I32(&indptr)),
        ),
        _ => {
            let indices: Vec<i64> = indices.iter().map(|&j| i64::from(j)).collect();
            let indptr: Vec<i64> = indptr.iter().map(|&p| p as i64).collect();
            write_npz(
                path,
                &rest(SavedData::I64(&indices), SavedData::I64(&indptr)),
            )
        }
    }
}

/// What the directory repeats about a member.
struct Member {
    name: String,
    crc: u32,
    size: u64,
    offset: u64,
}

/// Writes files as one archive, stored and with a fixed date.
///
/// # Errors
/// What writing may fail with.
pub fn zip_to(
    out: &mut dyn Write,
    files: impl IntoIterator<Item = (String, Vec<u8>)>,
) -> io::Result<()> {
    let mut at = 0u64;
    let mut members = Vec::new();
    for (name, data) in files {
        let mut crc = Crc::new();
        crc.update(&data);
        let member = Member {
            name,
            crc: crc.sum(),
            size: data.len() as u64,
            offset: at,
        };
        let header = local_header(&member);
        out.write_all(&header)?;
        out.write_all(&data)?;
        at += (header.len() + data.len()) as u64;
        members.push(member);
    }
    let directory: Vec<u8> = members.iter().flat_map(directory_entry).collect();
    out.write_all(&directory)?;
    out.write_all(&end_of_archive(
        members.len() as u16,
        directory.len() as u64,
        at,
    ))
}

/// Sizes and offsets beyond 32 bits stand in the extra field; the short one is then full.
fn short(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// The common fields: flags (names are UTF-8), stored, 1 January 1980, checksum, both sizes, length of the name.
fn common(member: &Member) -> Vec<u8> {
    let mut bytes = Vec::new();
    for field in [0x0800u16, 0, 0, 0x0021] {
        bytes.extend(field.to_le_bytes());
    }
    for field in [member.crc, short(member.size), short(member.size)] {
        bytes.extend(field.to_le_bytes());
    }
    bytes.extend((member.name.len() as u16).to_le_bytes());
    bytes
}

/// The ZIP64 extra field with the values that do not fit.
fn extra(values: &[u64]) -> Vec<u8> {
    let long: Vec<u8> = values
        .iter()
        .filter(|&&v| short(v) == u32::MAX)
        .flat_map(|v| v.to_le_bytes())
        .collect();
    match long.len() {
        0 => Vec::new(),
        length => [
            &1u16.to_le_bytes()[..],
            &(length as u16).to_le_bytes(),
            &long,
        ]
        .concat(),
    }
}

fn local_header(member: &Member) -> Vec<u8> {
    let extra = extra(&[member.size, member.size]);
    let length = (extra.len() as u16).to_le_bytes();
    [
        b"PK\x03\x04\x2d\x00",
        common(member).as_slice(),
        &length,
        member.name.as_bytes(),
        &extra,
    ]
    .concat()
}

fn directory_entry(member: &Member) -> Vec<u8> {
    let extra = extra(&[member.size, member.size, member.offset]);
    let mut bytes = [b"PK\x01\x02\x2d\x00\x2d\x00", common(member).as_slice()].concat();
    bytes.extend((extra.len() as u16).to_le_bytes());
    bytes.extend([0; 10]); // No comment, disk 0, no attributes.
    bytes.extend(short(member.offset).to_le_bytes());
    bytes.extend(member.name.as_bytes());
    bytes.extend(extra);
    bytes
}

fn end_of_archive(count: u16, size: u64, start: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if short(size) == u32::MAX || short(start) == u32::MAX {
        bytes.extend(b"PK\x06\x06");
        bytes.extend(44u64.to_le_bytes());
        bytes.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        for field in [u64::from(count), u64::from(count), size, start] {
            bytes.extend(field.to_le_bytes());
        }
        bytes.extend(b"PK\x06\x07\0\0\0\0");
        bytes.extend((start + size).to_le_bytes());
        bytes.extend(1u32.to_le_bytes());
    }
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend(count.to_le_bytes());
    bytes.extend(count.to_le_bytes());
    bytes.extend(short(size).to_le_bytes());
    bytes.extend(short(start).to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}
