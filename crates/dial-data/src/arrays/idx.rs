//! The IDX files of MNIST: two zero bytes, a type, the number of dimensions, big-endian lengths, values.

use crate::arrays::array::{Array, count, shape_in_words, too_large};
use crate::arrays::bytes::{Bytes, Number};
use crate::error::{Fault, size_in_words};
use crate::open::sniff;

/// Reads a whole IDX file.
pub(crate) fn read(bytes: &[u8]) -> Result<Array, Fault> {
    let (number, shape, offset) = header(bytes)?;
    let length = values_length(number, &shape)?;
    let held = bytes.len().saturating_sub(offset);
    if length != held {
        return Err(size_fault(
            number,
            &shape,
            length,
            &format!("{} of data", size_in_words(held as u64)),
        ));
    }
    let data = bytes.get(offset..).unwrap_or_default();
    Ok(Array {
        shape,
        data: number.decode(data, true),
    })
}

fn header(bytes: &[u8]) -> Result<(Number, Vec<usize>, usize), Fault> {
    let mut from = Bytes::new(bytes, 0, true);
    let (Some([0, 0]), Some(code), Some(dimensions)) = (from.take(2), from.u8(), from.u8()) else {
        return Err(sniff::not_a("an IDX file", bytes));
    };
    let number = match code {
        0x08 => Number::U8,
        0x09 => Number::I8,
        0x0B => Number::I16,
        0x0C => Number::I32,
        0x0D => Number::F32,
        0x0E => Number::F64,
        _ => {
            return Err(Fault::Kind(format!(
                "values of the unknown IDX type {code:#04x}"
            )));
        }
    };
    if dimensions == 0 || dimensions > 8 {
        return Err(Fault::Shape(format!("{dimensions} dimensions")));
    }
    let shape: Option<Vec<usize>> = (0..dimensions)
        .map(|_| from.u32().map(|length| length as usize))
        .collect();
    let shape = shape.ok_or_else(|| Fault::damaged("the file ends inside the IDX header"))?;
    Ok((number, shape, from.at()))
}

fn values_length(number: Number, shape: &[usize]) -> Result<usize, Fault> {
    count(shape)
        .and_then(|count| count.checked_mul(number.size()))
        .ok_or_else(|| too_large(shape))
}

fn size_fault(number: Number, shape: &[usize], length: usize, held: &str) -> Fault {
    Fault::Size(format!(
        "header says {} {} ({}) but the file holds {held}",
        shape_in_words(shape),
        number.name(),
        size_in_words(length as u64)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrays::array::ArrayData;

    #[test]
    fn every_type_by_hand() {
        let file = |code: u8, data: &[u8]| [&[0, 0, code, 1, 0, 0, 0, 1], data].concat();
        let cases: [(u8, &[u8], ArrayData); 6] = [
            (8, &[255], ArrayData::U8(vec![255])),
            (9, &[255], ArrayData::I64(vec![-1])),
            (11, &[255, 254], ArrayData::I64(vec![-2])),
            (12, &[0, 0, 1, 0], ArrayData::I64(vec![256])),
            (13, &[0xC0, 0, 0, 0], ArrayData::F32(vec![-2.0])),
            (
                14,
                &[0x3F, 0xF8, 0, 0, 0, 0, 0, 0],
                ArrayData::F64(vec![1.5]),
            ),
        ];
        for (code, data, wanted) in cases {
            assert_eq!(
                read(&file(code, data)),
                Ok(Array {
                    shape: vec![1],
                    data: wanted
                })
            );
        }
        assert!(matches!(read(&file(10, &[0])), Err(Fault::Kind(_))));
    }
}
