//! NumPy's npy files, versions 1 to 3: a magic, a header in Python syntax, then the bare values.
//!
//! The header is checked against the bytes that are there before anything is allocated. Objects, records, complex
//! numbers and dates are refused; nothing is ever unpickled.

use crate::arrays::array::{Array, ArrayData, count, shape_in_words, too_large};
use crate::arrays::bytes::{Bytes, Number};
use crate::arrays::npy_header::{self, Literal};
use crate::error::{Fault, size_in_words};
use crate::open::sniff;

pub(crate) const NPY_MAGIC: &[u8] = b"\x93NUMPY";

/// The longest header we read. NumPy itself distrusts more than 10,000 bytes.
pub(crate) const HEADER_LIMIT: usize = 65_536;

/// What one value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Number(Number),
    /// So many UTF-32 characters.
    Unicode(usize),
    /// So many bytes of text.
    Ascii(usize),
}

impl Kind {
    fn size(self) -> Option<usize> {
        match self {
            Kind::Number(number) => Some(number.size()),
            Kind::Unicode(characters) => characters.checked_mul(4),
            Kind::Ascii(bytes) => Some(bytes),
        }
    }

    fn name(self) -> String {
        match self {
            Kind::Number(number) => number.name().into(),
            Kind::Unicode(length) => format!("text of {length} characters"),
            Kind::Ascii(length) => format!("text of {length} bytes"),
        }
    }
}

/// What the header says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Header {
    pub kind: Kind,
    pub shape: Vec<usize>,
    pub big: bool,
    pub fortran: bool,
    /// Where the values start.
    pub offset: usize,
}

/// Reads a whole npy file.
pub(crate) fn read(bytes: &[u8]) -> Result<Array, Fault> {
    let header = header(bytes, bytes.len() as u64)?;
    let data = bytes.get(header.offset..).unwrap_or_default();
    let data = match header.kind {
        Kind::Number(number) => number.decode(data, header.big),
        Kind::Unicode(length) => {
            ArrayData::Text(texts(data, length * 4, |text| unicode(text, header.big))?)
        }
        Kind::Ascii(length) => ArrayData::Text(texts(data, length, ascii)?),
    };
    Ok(match header.fortran {
        true => Array::from_fortran(header.shape, data),
        false => Array {
            shape: header.shape,
            data,
        },
    })
}

/// Reads the header from the first bytes of a file of `total` bytes and checks that the values fill the rest.
pub(crate) fn header(bytes: &[u8], total: u64) -> Result<Header, Fault> {
    let mut from = Bytes::new(bytes, 0, false);
    if from.take(NPY_MAGIC.len()) != Some(NPY_MAGIC) {
        return Err(sniff::not_a("a NumPy file", bytes));
    }
    let text = header_text(&mut from)?;
    let fields =
        npy_header::parse(text).ok_or_else(|| Fault::damaged("the NumPy header cannot be read"))?;
    let field = |key: &str| {
        fields
            .get(key)
            .ok_or_else(|| Fault::damaged(format!("the NumPy header lacks '{key}'")))
    };
    let (kind, big) = kind(field("descr")?)?;
    let Literal::Bool(fortran) = *field("fortran_order")? else {
        return Err(Fault::damaged(
            "the NumPy header does not say whether the order is Fortran's",
        ));
    };
    let shape = shape(field("shape")?)?;
    let length = count(&shape)
        .zip(kind.size())
        .and_then(|(count, size)| count.checked_mul(size));
    let length = length.ok_or_else(|| too_large(&shape))?;
    let held = total.saturating_sub(from.at() as u64);
    if length as u64 != held {
        return Err(Fault::Size(format!(
            "header says {} {} ({}) but the file holds {} of data",
            shape_in_words(&shape),
            kind.name(),
            size_in_words(length as u64),
            size_in_words(held)
        )));
    }
    Ok(Header {
        kind,
        shape,
        big,
        fortran,
        offset: from.at(),
    })
}

fn header_text<'a>(from: &mut Bytes<'a>) -> Result<&'a str, Fault> {
    let cut = || Fault::damaged("the file ends inside the NumPy header");
    let (major, minor) = from.u8().zip(from.u8()).ok_or_else(cut)?;
    let length = match (major, minor) {
        (1, 0) => from.u16().map(usize::from),
        (2 | 3, 0) => from.u32().map(|length| length as usize),
        _ => {
            return Err(Fault::format(
                format!("NumPy format {major}.{minor} is unknown"),
                "Save it as format 1.0.",
            ));
        }
    };
    let length = length.ok_or_else(cut)?;
    if length > HEADER_LIMIT {
        return Err(Fault::damaged(format!(
            "the NumPy header claims {length} bytes, at most {HEADER_LIMIT} are read"
        )));
    }
    let text = from.take(length).ok_or_else(cut)?;
    std::str::from_utf8(text).map_err(|_| Fault::damaged("the NumPy header is not text"))
}

fn kind(descr: &Literal) -> Result<(Kind, bool), Fault> {
    let Literal::Text(text) = descr else {
        return Err(Fault::Kind("records (a structured dtype)".into()));
    };
    let big = text.starts_with('>');
    let bare = text.trim_start_matches(['<', '>', '|', '=']);
    let number = match bare {
        "f2" => Number::F16,
        "f4" => Number::F32,
        "f8" => Number::F64,
        "i1" => Number::I8,
        "i2" => Number::I16,
        "i4" => Number::I32,
        "i8" => Number::I64,
        "u1" | "b1" | "?" => Number::U8,
        "u2" => Number::U16,
        "u4" => Number::U32,
        "u8" => Number::U64,
        _ => return Ok((text_kind(bare)?, big)),
    };
    Ok((Kind::Number(number), big))
}

fn text_kind(bare: &str) -> Result<Kind, Fault> {
    let mut letters = bare.chars();
    let letter = letters.next();
    let length = letters
        .as_str()
        .parse::<usize>()
        .ok()
        .filter(|&length| length > 0);
    let refused = match letter {
        Some('O') => "Python objects; this tool never runs pickles".to_string(),
        Some('c') => "complex numbers".into(),
        Some('M' | 'm') => "dates or times".into(),
        Some('V') => "raw records (a void dtype)".into(),
        Some('U') if length.is_some() => return Ok(Kind::Unicode(length.unwrap_or(1))),
        Some('S' | 'a') if length.is_some() => return Ok(Kind::Ascii(length.unwrap_or(1))),
        _ => format!("values of the unknown type {bare:?}"),
    };
    Err(Fault::Kind(refused))
}

fn shape(shape: &Literal) -> Result<Vec<usize>, Fault> {
    let Literal::List(items) = shape else {
        return Err(Fault::damaged(
            "the shape in the NumPy header is not a tuple",
        ));
    };
    if items.len() > 32 {
        return Err(Fault::Shape(format!("{} dimensions", items.len())));
    }
    items.iter().map(length).collect()
}

fn length(item: &Literal) -> Result<usize, Fault> {
    match *item {
        Literal::Integer(Some(length)) if length < 0 => {
            Err(Fault::Shape(format!("negative dimension {length}")))
        }
        Literal::Integer(Some(length)) => usize::try_from(length)
            .map_err(|_| Fault::Shape(format!("dimension {length} overflows"))),
        Literal::Integer(None) => Err(Fault::Shape("a dimension overflows".into())),
        _ => Err(Fault::damaged(
            "the shape in the NumPy header is not made of integers",
        )),
    }
}

fn texts(
    data: &[u8],
    size: usize,
    text: impl Fn(&[u8]) -> Option<String>,
) -> Result<Vec<String>, Fault> {
    let bad = |row: usize| Fault::damaged(format!("the text of entry {row} is not valid"));
    data.chunks_exact(size.max(1))
        .enumerate()
        .map(|(row, bytes)| text(bytes).ok_or_else(|| bad(row)))
        .collect()
}

fn unicode(bytes: &[u8], big: bool) -> Option<String> {
    let mut from = Bytes::new(bytes, 0, big);
    let characters: Option<String> = std::iter::from_fn(|| from.u32())
        .map(char::from_u32)
        .collect();
    Some(characters?.trim_end_matches('\0').to_string())
}

fn ascii(bytes: &[u8]) -> Option<String> {
    Some(
        std::str::from_utf8(bytes)
            .ok()?
            .trim_end_matches('\0')
            .to_string(),
    )
}

/// The header that [`crate::write`] puts before values: version 1.0, padded so that they start at a multiple of 64.
pub(crate) fn header_bytes(descr: &str, shape: &[usize]) -> Vec<u8> {
    let sizes: String = shape.iter().map(|length| format!("{length}, ")).collect();
    let sizes = if shape.len() == 1 {
        sizes.trim_end()
    } else {
        sizes.trim_end_matches(", ")
    };
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}), }}");
    let padded = (NPY_MAGIC.len() + 4 + text.len() + 1).next_multiple_of(64) - NPY_MAGIC.len() - 4;
    let mut bytes = [NPY_MAGIC, &[1, 0]].concat();
    bytes.extend((padded as u16).to_le_bytes());
    bytes.extend(text.bytes());
    bytes.resize(NPY_MAGIC.len() + 4 + padded - 1, b' ');
    bytes.push(b'\n');
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A version 1 file as the format's description says it: header text in, no padding.
    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn header_of(descr: &str, fortran: &str, shape: &str) -> String {
        format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}")
    }

    #[test]
    fn orders_and_types_by_hand() {
        let fortran = file(
            &header_of("'>i2'", "True", "(2, 2)"),
            &[0, 1, 0, 2, 0, 3, 255, 255],
        );
        assert_eq!(
            read(&fortran).unwrap(),
            Array {
                shape: vec![2, 2],
                data: ArrayData::I64(vec![1, 3, 2, -1])
            }
        );
        let half = file(&header_of("'<f2'", "False", "(1,)"), &[0, 0x3C]);
        assert_eq!(read(&half).unwrap().data, ArrayData::F32(vec![1.0]));
        let text = file(
            &header_of("'<U2'", "False", "(2,)"),
            b"a\0\0\0b\0\0\0c\0\0\0\0\0\0\0",
        );
        assert_eq!(
            read(&text).unwrap().data,
            ArrayData::Text(vec!["ab".into(), "c".into()])
        );
        let bytes = file(&header_of("'|S3'", "False", "()"), b"csr");
        assert_eq!(
            read(&bytes).unwrap(),
            Array {
                shape: vec![],
                data: ArrayData::Text(vec!["csr".into()])
            }
        );
    }

    #[test]
    fn versions_two_and_three_have_longer_lengths() {
        let text = header_of("'|b1'", "False", "(2,)");
        for version in [2, 3] {
            let mut bytes = vec![0x93, b'N', b'U', b'M', b'P', b'Y', version, 0];
            bytes.extend((text.len() as u32).to_le_bytes());
            bytes.extend(text.as_bytes());
            bytes.extend([1, 0]);
            assert_eq!(read(&bytes).unwrap().data, ArrayData::U8(vec![1, 0]));
        }
    }

    #[test]
    fn our_headers_are_aligned_and_spelt_like_numpys() {
        // numpy.save(f, numpy.zeros((3, 4))) starts so: 10 bytes, 117 of text and spaces, a newline: 128 in all.
        let bytes = header_bytes("<f8", &[3, 4]);
        assert_eq!(bytes.len(), 128);
        assert!(
            bytes[10..]
                .starts_with(b"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }  ")
        );
        assert_eq!((bytes[8], bytes[9], bytes[127]), (118, 0, b'\n'));
        for (shape, text) in [
            (&[] as &[usize], "'shape': (), "),
            (&[7], "'shape': (7,), "),
            (&[1, 2], "'shape': (1, 2), "),
        ] {
            assert!(String::from_utf8_lossy(&header_bytes("<f4", shape)).contains(text));
        }
    }
}
