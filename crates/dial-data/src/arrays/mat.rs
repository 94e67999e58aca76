//! MATLAB files of version 5 to 7: a header of 128 bytes, then elements, each packed or not.
//!
//! An element is a tag (type, bytes) and data padded to 8 bytes; up to 4 bytes fit into the tag itself. An array is an
//! element of elements: flags, dimensions, name, values. Values may be stored in a narrower type than the array's.
//! They run column by column. Text is read where ids are expected; cells, structures, sparse and complex arrays are passed
//! over.

use flate2::bufread::ZlibDecoder;

use crate::arrays::array::{Array, ArrayData, count, shape_in_words, too_large};
use crate::arrays::bytes::{Bytes, Number};
use crate::arrays::inflate;
use crate::error::{Fault, size_in_words};
use crate::open::sniff;

/// What an array of letters is called.
const TEXT_KIND: &str = "text";
const MATRIX_TYPE: u32 = 14;
const PACKED_TYPE: u32 = 15;
/// How much of a packed array is unpacked to learn its name and shape.
const NAME_AND_SHAPE_BYTES: u64 = 8192;

/// An array of the file, not yet read.
#[derive(Debug)]
pub(crate) struct Variable<'a> {
    pub name: String,
    pub shape: Vec<usize>,
    /// The type of its values, or in words what it is instead.
    pub class: Result<Number, &'static str>,
    data: &'a [u8],
    /// Packed data hold their own tag.
    packed: bool,
    big: bool,
}

/// Whether the numbers of a file are big-endian, if it is one of MATLAB.
pub(crate) fn is_big(bytes: &[u8]) -> Option<bool> {
    match bytes.get(124..128)? {
        [0, 1, b'I', b'M'] => Some(false),
        [1, 0, b'M', b'I'] => Some(true),
        _ => None,
    }
}

/// The arrays of a file.
pub(crate) fn variables(bytes: &[u8]) -> Result<Vec<Variable<'_>>, Fault> {
    let big = is_big(bytes).ok_or_else(|| sniff::not_a("a MATLAB v5/v7 file", bytes))?;
    let mut from = Bytes::new(bytes, 128, big);
    let mut variables = Vec::new();
    while from.left() > 0 {
        let (kind, data) = element(&mut from)?;
        match kind {
            MATRIX_TYPE | PACKED_TYPE => {
                variables.extend(variable(data, kind == PACKED_TYPE, big)?)
            }
            _ => {}
        }
        if kind != PACKED_TYPE {
            pad(&mut from, 128);
        }
    }
    Ok(variables)
}

impl Variable<'_> {
    /// `name (3 x 4)`, or `name (text)`.
    pub fn in_words(&self) -> String {
        match self.class {
            Ok(_) => format!("{} ({})", self.name, shape_in_words(&self.shape)),
            Err(what) => format!("{} ({what})", self.name),
        }
    }

    /// The array in C order.
    pub fn read(&self) -> Result<Array, Fault> {
        let class = self
            .class
            .map_err(|what| Fault::Kind(format!("{what} instead of numbers in {}", self.name)))?;
        self.values(class)
    }

    /// The rows of an n x m array of text, without the blanks that make them equally long.
    pub fn text_rows(&self) -> Result<Vec<String>, Fault> {
        let none = || Fault::Kind(format!("something else than text in {}", self.name));
        let &[rows, width] = self.shape.as_slice() else {
            return Err(none());
        };
        if self.class != Err(TEXT_KIND) || rows == 0 || width == 0 {
            return Err(none());
        }
        let codes: Vec<u16> = match self.values(Number::U16)?.data {
            ArrayData::I64(codes) => codes
                .iter()
                .filter_map(|&code| u16::try_from(code).ok())
                .collect(),
            ArrayData::U8(codes) => codes.into_iter().map(u16::from).collect(),
            _ => return Err(none()),
        };
        Ok(codes
            .chunks(width)
            .map(|row| String::from_utf16_lossy(row).trim().to_string())
            .collect())
    }

    fn values(&self, class: Number) -> Result<Array, Fault> {
        if !self.packed {
            return values(self.data, self.big, class);
        }
        let tag = inflate::beginning(ZlibDecoder::new(self.data), 8);
        let size = Bytes::new(&tag, 4, self.big).u32().unwrap_or(0);
        let whole = inflate::exactly(
            ZlibDecoder::new(self.data),
            self.data.len(),
            u64::from(size) + 8,
        )?;
        values(whole.get(8..).unwrap_or_default(), self.big, class)
    }
}

/// The next element: its type and data.
fn element<'a>(from: &mut Bytes<'a>) -> Result<(u32, &'a [u8]), Fault> {
    let cut = || Fault::damaged("the MATLAB file ends inside an element");
    let first = from.u32().ok_or_else(cut)?;
    if first >> 16 != 0 {
        let size = (first >> 16) as usize;
        let room = from.take(4).ok_or_else(cut)?;
        return Ok((
            first & 0xFFFF,
            room.get(..size)
                .ok_or_else(|| Fault::damaged("a short element is too long"))?,
        ));
    }
    let size = from.u32().ok_or_else(cut)? as usize;
    let held = from.left();
    let words = || {
        format!(
            "an element says {} but the file holds {}",
            size_in_words(size as u64),
            size_in_words(held as u64)
        )
    };
    from.take(size)
        .map(|data| (first, data))
        .ok_or_else(|| Fault::Size(words()))
}

/// Moves to the next multiple of 8 bytes; the end of the file may come first.
fn pad(from: &mut Bytes<'_>, start: usize) {
    let over = from.at().saturating_sub(start) % 8;
    if over != 0 {
        let gap = (8 - over).min(from.left());
        from.take(gap);
    }
}

/// The array in an element; an element packed but not an array gives none.
fn variable(data: &[u8], packed: bool, big: bool) -> Result<Option<Variable<'_>>, Fault> {
    let unpacked = if packed {
        inflate::beginning(ZlibDecoder::new(data), NAME_AND_SHAPE_BYTES)
    } else {
        Vec::new()
    };
    let mut head = data;
    let mut whole = data.len();
    if packed {
        let mut from = Bytes::new(&unpacked, 0, big);
        let (kind, size) = from
            .u32()
            .zip(from.u32())
            .ok_or_else(|| Fault::damaged("a packed element is broken"))?;
        if kind != MATRIX_TYPE {
            return Ok(None);
        }
        inflate::plausible(data.len(), u64::from(size) + 8)?;
        head = unpacked.get(8..).unwrap_or_default();
        whole = size as usize;
    }
    let header = header(&mut Bytes::new(head, 0, big), whole)?;
    Ok(header.map(|(name, shape, class)| Variable {
        name,
        shape,
        class,
        data,
        packed,
        big,
    }))
}

type Header = (String, Vec<usize>, Result<Number, &'static str>);

fn header(from: &mut Bytes<'_>, whole: usize) -> Result<Option<Header>, Fault> {
    if from.left() == 0 && whole == 0 {
        return Ok(None); // MATLAB writes such an element for an empty array.
    }
    let (_, flags) = element(from)?;
    pad(from, 0);
    let flags = Bytes::new(flags, 0, from.big())
        .u32()
        .ok_or_else(|| Fault::damaged("an array has no flags"))?;
    let (_, sizes) = element(from)?;
    pad(from, 0);
    let shape = shape(sizes, from.big())?;
    let (_, name) = element(from)?;
    pad(from, 0);
    let class = match (flags & 0xFF, flags & 0x800 != 0) {
        (6..=15, true) => Err("complex numbers"),
        (code, _) => class(code),
    };
    Ok(Some((
        String::from_utf8_lossy(name).into_owned(),
        shape,
        class,
    )))
}

fn shape(bytes: &[u8], big: bool) -> Result<Vec<usize>, Fault> {
    let ArrayData::I64(sizes) = Number::I32.decode(bytes, big) else {
        return Ok(Vec::new());
    };
    if sizes.len() > 32 {
        return Err(Fault::Shape(format!("{} dimensions", sizes.len())));
    }
    let length = |&size: &i64| {
        usize::try_from(size).map_err(|_| Fault::Shape(format!("negative dimension {size}")))
    };
    sizes.iter().map(length).collect()
}

fn class(code: u32) -> Result<Number, &'static str> {
    match code {
        1 => Err("cells"),
        2 | 3 => Err("a structure"),
        4 => Err(TEXT_KIND),
        5 => Err("a sparse matrix"),
        6 => Ok(Number::F64),
        7 => Ok(Number::F32),
        8 => Ok(Number::I8),
        9 => Ok(Number::U8),
        10 => Ok(Number::I16),
        11 => Ok(Number::U16),
        12 => Ok(Number::I32),
        13 => Ok(Number::U32),
        14 => Ok(Number::I64),
        15 => Ok(Number::U64),
        _ => Err("something unknown"),
    }
}

/// How the values are stored.
fn stored(kind: u32) -> Option<Number> {
    Some(match kind {
        1 => Number::I8,
        2 => Number::U8,
        3 => Number::I16,
        4 => Number::U16,
        5 => Number::I32,
        6 => Number::U32,
        7 => Number::F32,
        9 => Number::F64,
        12 => Number::I64,
        13 => Number::U64,
        // UTF-8 and UTF-16.
        16 => Number::U8,
        17 => Number::U16,
        _ => return None,
    })
}

/// The values of an array, after its header, in C order and in the array's own type.
fn values(matrix: &[u8], big: bool, class: Number) -> Result<Array, Fault> {
    let mut from = Bytes::new(matrix, 0, big);
    let Some((_, shape, _)) = header(&mut from, 0)? else {
        return Err(Fault::Shape("no rows".into()));
    };
    let count = count(&shape).ok_or_else(|| too_large(&shape))?;
    if count == 0 {
        return Ok(Array {
            shape,
            data: ArrayData::U8(Vec::new()),
        });
    }
    let (kind, data) = element(&mut from)?;
    let number = stored(kind)
        .ok_or_else(|| Fault::damaged(format!("values of the unknown MATLAB type {kind}")))?;
    if count.checked_mul(number.size()) != Some(data.len()) {
        let held = size_in_words(data.len() as u64);
        let shape = shape_in_words(&shape);
        return Err(Fault::Size(format!(
            "header says {shape} {} but the array holds {held}",
            number.name()
        )));
    }
    Ok(Array::from_fortran(
        shape,
        as_class(number.decode(data, big), class),
    ))
}

/// Values in the array's own type, however narrow they are stored.
fn as_class(data: ArrayData, class: Number) -> ArrayData {
    match (data, class) {
        (ArrayData::U8(values), Number::F64) => {
            ArrayData::F64(values.into_iter().map(f64::from).collect())
        }
        (ArrayData::I64(values), Number::F64) => {
            ArrayData::F64(values.into_iter().map(|value| value as f64).collect())
        }
        (ArrayData::U8(values), Number::F32) => {
            ArrayData::F32(values.into_iter().map(f32::from).collect())
        }
        (ArrayData::I64(values), Number::F32) => {
            ArrayData::F32(values.into_iter().map(|value| value as f32).collect())
        }
        (ArrayData::U8(values), class) if class != Number::U8 => {
            ArrayData::I64(values.into_iter().map(i64::from).collect())
        }
        (data, _) => data,
    }
}
