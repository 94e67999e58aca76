//! Changes to an input: bits, bytes, lengths, numbers in text, pieces cut, repeated, moved or taken from another input.

use dial::seed::Random;

/// Words that mean something to a reader.
const WORDS: &[&str] = &[
    "'descr': ",
    "'fortran_order': True",
    "'shape': (",
    "(1,)",
    "(0, 2)",
    "'<f8'",
    "'>f4'",
    "'<U4'",
    "'|O'",
    "'<M8[ns]'",
    "{",
    "}",
    "()",
    "[",
    "]",
    "nan",
    "NaN",
    "inf",
    "-inf",
    "1e400",
    "-0",
    "1,5",
    "\"",
    "\"\"",
    "'",
    ",",
    ";",
    "\t",
    "\n",
    "\r\n",
    "\r",
    "\u{feff}",
    "id",
    "label",
    "text",
    "image",
    "y",
    "X",
    "labels",
    "PK\x03\x04",
    "PK\x01\x02",
    "PK\x05\x06",
    "PK\x06\x06",
    "PK\x06\x07",
    "MATLAB 5.0",
    "true",
    "null",
    "\\u0000",
    "\\ud800",
    "é",
    "日",
    "\0",
    "ENVI",
    "samples = ",
    "lines = ",
    "bands = ",
    "interleave = bsq",
    "data type = ",
    "byte order = 1",
    "header offset = ",
    "wavelength = {",
    "IHDR",
    "IDAT",
    "IEND",
    "PAR1",
    "ARROW1",
];
/// Texts of numbers at the ends of what there is.
const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "1",
    "65536",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "99999999999999999999999999",
    "1e308",
    "1e-400",
    "1e999",
    "0.1",
    "-9223372036854775808",
    "2147483648",
];
/// Integers at the ends of what there is.
const INTEGERS: &[u64] = &[
    0,
    1,
    2,
    7,
    8,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    1 << 40,
    u64::MAX >> 1,
    u64::MAX,
];
/// No input grows beyond so many bytes.
const MAX_MUTANT_BYTES: usize = 1 << 16;

/// An input with one to six changes, most often few.
pub fn mutated(bytes: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let most = 1 + random.below(6);
    for _ in 0..1 + random.below(most) {
        change(&mut bytes, other, random);
        bytes.truncate(MAX_MUTANT_BYTES);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    match random.below(12) {
        0 => at(bytes, random, |byte, random| *byte ^= 1 << random.below(8)),
        1 => at(bytes, random, |byte, random| {
            *byte = random.below(256) as u8
        }),
        2 => at(bytes, random, |byte, random| {
            *byte = byte.wrapping_add(random.below(33) as u8).wrapping_sub(16)
        }),
        3 => integer(bytes, random),
        4 => number(bytes, random),
        5 => insert(bytes, WORDS[random.below(WORDS.len())].as_bytes(), random),
        6 => overwrite(bytes, WORDS[random.below(WORDS.len())].as_bytes(), random),
        7 => bytes.truncate(random.below(bytes.len() + 1)),
        8 => drop(bytes.drain(piece(bytes.len(), random))),
        9 => {
            let copy = bytes[piece(bytes.len(), random)].to_vec();
            (0..1 + random.below(3)).for_each(|_| insert(bytes, &copy, random));
        }
        10 => insert(bytes, &other[piece(other.len(), random)], random),
        _ => overwrite(bytes, &other[piece(other.len(), random)], random),
    }
}

fn at(bytes: &mut [u8], random: &mut Random, change: impl Fn(&mut u8, &mut Random)) {
    if !bytes.is_empty() {
        change(&mut bytes[random.below(bytes.len())], random);
    }
}

/// A piece, most often a short one.
fn piece(length: usize, random: &mut Random) -> std::ops::Range<usize> {
    let start = random.below(length + 1);
    let most = [4, 16, 64, length][random.below(4)].min(length - start);
    start..start + random.below(most + 1)
}

fn insert(bytes: &mut Vec<u8>, piece: &[u8], random: &mut Random) {
    let place = random.below(bytes.len() + 1);
    bytes.splice(place..place, piece.iter().copied());
}

fn overwrite(bytes: &mut [u8], piece: &[u8], random: &mut Random) {
    let place = random.below(bytes.len() + 1);
    bytes[place..]
        .iter_mut()
        .zip(piece)
        .for_each(|(byte, new)| *byte = *new);
}

/// A length or count: an integer of 2, 4 or 8 bytes in either order, set to an extreme or moved a little.
fn integer(bytes: &mut [u8], random: &mut Random) {
    let width = [2, 4, 8][random.below(3)];
    let Some(last) = bytes.len().checked_sub(width) else {
        return;
    };
    let mut place = random.below(last + 1);
    if random.below(2) == 0 {
        place -= place % width;
    }
    let field = &mut bytes[place..place + width];
    let little = random.below(2) == 0;
    let old = match little {
        true => field
            .iter()
            .rev()
            .fold(0, |sum, &byte| sum << 8 | u64::from(byte)),
        false => field
            .iter()
            .fold(0, |sum, &byte| sum << 8 | u64::from(byte)),
    };
    let new = match random.below(3) {
        0 => old.wrapping_add(random.below(9) as u64).wrapping_sub(4),
        1 => old.wrapping_mul(2 + random.below(255) as u64),
        _ => INTEGERS[random.below(INTEGERS.len())],
    };
    for (i, byte) in field.iter_mut().enumerate() {
        *byte = (new >> (8 * if little { i } else { width - 1 - i })) as u8;
    }
}

/// A number in text, replaced by another.
fn number(bytes: &mut Vec<u8>, random: &mut Random) {
    let starts: Vec<usize> = (0..bytes.len())
        .filter(|&i| bytes[i].is_ascii_digit() && (i == 0 || !bytes[i - 1].is_ascii_digit()))
        .collect();
    if starts.is_empty() {
        return;
    }
    let start = starts[random.below(starts.len())];
    let end = (start..bytes.len())
        .find(|&i| !bytes[i].is_ascii_digit())
        .unwrap_or(bytes.len());
    bytes.splice(start..end, NUMBERS[random.below(NUMBERS.len())].bytes());
}
