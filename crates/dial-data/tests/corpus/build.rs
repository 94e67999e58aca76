//! Builds files byte by byte from the descriptions of their formats, so that each lie can be told on purpose.

use std::io::Write;

use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use flate2::{Compression, Crc};

/// An npy file of version 1 with this header text.
pub fn npy_with(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

/// An npy file in C order.
pub fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    npy_with(
        &format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"),
        data,
    )
}

/// Numbers as little-endian f64.
pub fn f64s(values: &[f64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

/// Numbers as little-endian i64.
pub fn i64s(values: &[i64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

/// A good 3 x 2 matrix.
pub fn good_npy() -> Vec<u8> {
    npy("'<f8'", "(3, 2)", &f64s(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.5]))
}

/// Strings of one character each.
pub fn letters(text: &str) -> Vec<u8> {
    let codes: Vec<u8> = text
        .chars()
        .flat_map(|c| u32::from(c).to_le_bytes())
        .collect();
    npy("'<U1'", &format!("({},)", text.chars().count()), &codes)
}

/// A member of a ZIP archive and what the headers say about it.
#[derive(Clone)]
pub struct Part {
    pub name: &'static str,
    pub local_name: &'static str,
    pub flags: u16,
    pub method: u16,
    pub packed: Vec<u8>,
    pub crc: u32,
    pub packed_size: u32,
    pub size: u32,
    /// What the directory says of its place, if not the truth.
    pub offset: Option<u32>,
}

/// A truthful stored member.
pub fn stored(name: &'static str, data: Vec<u8>) -> Part {
    let mut crc = Crc::new();
    crc.update(&data);
    let size = data.len() as u32;
    let offset = None;
    Part {
        name,
        local_name: name,
        flags: 0,
        method: 0,
        crc: crc.sum(),
        packed_size: size,
        size,
        packed: data,
        offset,
    }
}

/// A truthful deflated member.
pub fn deflated(name: &'static str, data: Vec<u8>) -> Part {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&data).unwrap();
    let packed = encoder.finish().unwrap();
    Part {
        method: 8,
        packed_size: packed.len() as u32,
        packed,
        ..stored(name, data)
    }
}

/// An archive of the parts.
pub fn zip(parts: &[Part]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for part in parts {
        let offset = part.offset.unwrap_or(bytes.len() as u32);
        let mut common = Vec::new();
        for field in [part.flags, part.method, 0, 0x21] {
            common.extend(field.to_le_bytes());
        }
        for field in [part.crc, part.packed_size, part.size] {
            common.extend(field.to_le_bytes());
        }
        bytes.extend(b"PK\x03\x04\x14\x00");
        bytes.extend(&common);
        bytes.extend((part.local_name.len() as u16).to_le_bytes());
        bytes.extend([0, 0]);
        bytes.extend(part.local_name.as_bytes());
        bytes.extend(&part.packed);
        directory.extend(b"PK\x01\x02\x14\x00\x14\x00");
        directory.extend(&common);
        directory.extend((part.name.len() as u16).to_le_bytes());
        directory.extend([0; 12]);
        directory.extend(offset.to_le_bytes());
        directory.extend(part.name.as_bytes());
    }
    let start = bytes.len() as u32;
    bytes.extend(&directory);
    bytes.extend(end_record(
        parts.len() as u16,
        directory.len() as u32,
        start,
    ));
    bytes
}

/// The record that ends an archive.
pub fn end_record(count: u16, size: u32, start: u32) -> Vec<u8> {
    let mut bytes = b"PK\x05\x06\0\0\0\0".to_vec();
    bytes.extend(count.to_le_bytes());
    bytes.extend(count.to_le_bytes());
    bytes.extend(size.to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}

/// A good archive of features, labels and ids.
pub fn good_npz() -> Vec<u8> {
    let labels = npy("'<i8'", "(3,)", &i64s(&[0, 1, -1]));
    zip(&[
        stored("X.npy", good_npy()),
        deflated("labels.npy", labels),
        stored("ids.npy", letters("abc")),
    ])
}

/// An IDX file.
pub fn idx(code: u8, shape: &[u32], data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, code, shape.len() as u8];
    bytes.extend(shape.iter().flat_map(|length| length.to_be_bytes()));
    bytes.extend(data);
    bytes
}

/// The bytes gzipped.
pub fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// A zstd frame without compression and checksum: its length, and blocks of at most 128 KiB.
pub fn zstd(data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x28\xb5\x2f\xfd\xa0".to_vec();
    bytes.extend((data.len() as u32).to_le_bytes());
    let blocks = data.len().div_ceil(128 << 10).max(1);
    for block in 0..blocks {
        let held = &data[block * (128 << 10)..data.len().min((block + 1) * (128 << 10))];
        let header = (held.len() as u32) << 3 | u32::from(block + 1 == blocks);
        bytes.extend(&header.to_le_bytes()[..3]);
        bytes.extend(held);
    }
    bytes
}

/// A zstd frame of so many blocks of 128 KiB, each of one byte repeated.
pub fn zstd_bomb(byte: u8, blocks: usize) -> Vec<u8> {
    // A window of 128 KiB: exponent 7 in the upper five bits.
    let mut bytes = b"\x28\xb5\x2f\xfd\x00\x38".to_vec();
    for block in 0..blocks {
        let header = (128u32 << 10) << 3 | 1 << 1 | u32::from(block + 1 == blocks);
        bytes.extend(&header.to_le_bytes()[..3]);
        bytes.push(byte);
    }
    bytes
}

/// A number in the byte order of a MATLAB file.
fn word(big: bool, value: u32) -> [u8; 4] {
    if big {
        value.to_be_bytes()
    } else {
        value.to_le_bytes()
    }
}

/// The 128 bytes at the start of a MATLAB file.
pub fn mat_header(big: bool) -> Vec<u8> {
    let mut bytes = b"MATLAB 5.0 MAT-file, made by a test".to_vec();
    bytes.resize(124, b' ');
    bytes.extend(if big { b"\x01\x00MI" } else { b"\x00\x01IM" });
    bytes
}

/// An element with its padding.
pub fn element(big: bool, kind: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = [word(big, kind), word(big, data.len() as u32)].concat();
    bytes.extend(data);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

/// An array element: class and flags, shape, name, and the element of values.
pub fn mat_array(big: bool, class: u32, shape: &[i32], name: &str, values: &[u8]) -> Vec<u8> {
    let sizes: Vec<u8> = shape
        .iter()
        .flat_map(|&length| word(big, length as u32))
        .collect();
    let parts = [
        element(big, 6, &[word(big, class), word(big, 0)].concat()),
        element(big, 5, &sizes),
        element(big, 1, name.as_bytes()),
        values.to_vec(),
    ];
    element(big, 14, &parts.concat())
}

/// A file of one or more array elements.
pub fn mat(arrays: &[Vec<u8>]) -> Vec<u8> {
    [mat_header(false), arrays.concat()].concat()
}

/// A packed element.
pub fn packed(element: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(element).unwrap();
    let data = encoder.finish().unwrap();
    [
        word(false, 15).to_vec(),
        word(false, data.len() as u32).to_vec(),
        data,
    ]
    .concat()
}

/// A good 3 x 2 array of doubles: columns (1, 2, 3) and (4, 5, 6).
pub fn good_array(name: &str) -> Vec<u8> {
    mat_array(
        false,
        6,
        &[3, 2],
        name,
        &element(false, 9, &f64s(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
    )
}
