//! Reading numbers from bytes without ever reading past the end.

use crate::arrays::array::ArrayData;

/// A place in a run of bytes; every read moves on, or gives `None` at the end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes<'a> {
    all: &'a [u8],
    at: usize,
    big: bool,
}

impl<'a> Bytes<'a> {
    /// Starts at a position; `big` for big-endian numbers.
    pub fn new(all: &'a [u8], at: usize, big: bool) -> Bytes<'a> {
        Bytes { all, at, big }
    }

    pub fn at(&self) -> usize {
        self.at
    }

    pub fn big(&self) -> bool {
        self.big
    }

    pub fn left(&self) -> usize {
        self.all.len().saturating_sub(self.at)
    }

    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(count)?;
        let taken = self.all.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let mut bytes: [u8; N] = self.take(N)?.try_into().ok()?;
        if self.big {
            bytes.reverse();
        }
        Some(bytes)
    }

    pub fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
}

/// The number types of the file formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
}

impl Number {
    pub fn size(self) -> usize {
        match self {
            Number::I8 | Number::U8 => 1,
            Number::I16 | Number::U16 | Number::F16 => 2,
            Number::I32 | Number::U32 | Number::F32 => 4,
            Number::I64 | Number::U64 | Number::F64 => 8,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Number::I8 => "i8",
            Number::U8 => "u8",
            Number::I16 => "i16",
            Number::U16 => "u16",
            Number::I32 => "i32",
            Number::U32 => "u32",
            Number::I64 => "i64",
            Number::U64 => "u64",
            Number::F16 => "f16",
            Number::F32 => "f32",
            Number::F64 => "f64",
        }
    }

    /// The whole numbers in the bytes; a rest that makes no number is left out.
    pub fn decode(self, bytes: &[u8], big: bool) -> ArrayData {
        match self {
            Number::U8 => ArrayData::U8(bytes.to_vec()),
            Number::I8 => ArrayData::I64(numbers(bytes, big, |b| i8::from_le_bytes(b).into())),
            Number::I16 => ArrayData::I64(numbers(bytes, big, |b| i16::from_le_bytes(b).into())),
            Number::U16 => ArrayData::I64(numbers(bytes, big, |b| u16::from_le_bytes(b).into())),
            Number::I32 => ArrayData::I64(numbers(bytes, big, |b| i32::from_le_bytes(b).into())),
            Number::U32 => ArrayData::I64(numbers(bytes, big, |b| u32::from_le_bytes(b).into())),
            Number::I64 => ArrayData::I64(numbers(bytes, big, i64::from_le_bytes)),
            Number::U64 => unsigned(numbers(bytes, big, u64::from_le_bytes)),
            Number::F16 => ArrayData::F32(numbers(bytes, big, |b| half(u16::from_le_bytes(b)))),
            Number::F32 => ArrayData::F32(numbers(bytes, big, f32::from_le_bytes)),
            Number::F64 => ArrayData::F64(numbers(bytes, big, f64::from_le_bytes)),
        }
    }
}

fn numbers<const N: usize, T>(bytes: &[u8], big: bool, number: impl Fn([u8; N]) -> T) -> Vec<T> {
    let (chunks, _) = bytes.as_chunks::<N>();
    let swap = |mut chunk: [u8; N]| {
        if big {
            chunk.reverse();
        }
        chunk
    };
    chunks.iter().map(|&chunk| number(swap(chunk))).collect()
}

/// Unsigned 64-bit numbers as i64 where all fit, else rounded to f64.
fn unsigned(values: Vec<u64>) -> ArrayData {
    let exact: Result<Vec<i64>, _> = values.iter().map(|&value| i64::try_from(value)).collect();
    exact.map_or_else(
        |_| ArrayData::F64(values.iter().map(|&value| value as f64).collect()),
        ArrayData::I64,
    )
}

/// IEEE half precision to single: sign 1 bit, exponent 5 bits (bias 15), fraction 10 bits. Exact.
fn half(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let fraction = f32::from(bits & 0x3FF);
    match (bits >> 10) & 0x1F {
        0 => sign * fraction * (1.0 / 16_777_216.0), // fraction * 2^-24
        31 if fraction == 0.0 => sign * f32::INFINITY,
        31 => f32::NAN,
        exponent => {
            sign * f32::from_bits((u32::from(exponent) + 112) << 23) * (1.0 + fraction / 1024.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_by_hand() {
        // The table of the IEEE 754 binary16 format.
        let cases = [
            (0x3C00, 1.0),
            (0xC000, -2.0),
            (0x7BFF, 65504.0),
            (0x0400, 6.103_515_6e-5),
            (0x0001, 5.960_464_5e-8),
            (0x03FF, 6.097_555e-5),
            (0x3555, 0.333_251_95),
            (0xFC00, f32::NEG_INFINITY),
        ];
        for (bits, value) in cases {
            assert_eq!(half(bits), value, "{bits:#x}");
        }
        assert!(half(0x7E00).is_nan());
    }

    #[test]
    fn both_byte_orders() {
        assert_eq!(
            Number::I16.decode(&[0xFF, 0xFE], true),
            ArrayData::I64(vec![-2])
        );
        assert_eq!(
            Number::I16.decode(&[0xFE, 0xFF], false),
            ArrayData::I64(vec![-2])
        );
        assert_eq!(
            Number::F32.decode(&[0x3F, 0x80, 0, 0, 9], true),
            ArrayData::F32(vec![1.0])
        );
        assert_eq!(
            Number::U64.decode(&[0xFF; 8], false),
            ArrayData::F64(vec![18_446_744_073_709_551_615.0])
        );
    }

    #[test]
    fn nothing_is_read_past_the_end() {
        let mut bytes = Bytes::new(&[1, 2, 3], 0, true);
        assert_eq!(bytes.u16(), Some(0x0102));
        assert_eq!(bytes.u32(), None);
        assert_eq!((bytes.at(), bytes.left()), (2, 1));
        assert_eq!(bytes.take(usize::MAX), None);
        assert_eq!(bytes.u8(), Some(3));
    }
}
