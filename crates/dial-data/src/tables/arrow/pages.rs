//! The table of contents and the pages of a Parquet file, walked before they are decoded: lengths against the file, packed
//! sizes against what they claim to unpack to, and packings that this tool knows.
//!
//! A column of a row group is a run of pages. Each begins with a header in Thrift's compact protocol, of which fields 2
//! and 3 are wanted: the unpacked and the packed size. Everything else in it is skipped. Maps and lists of truths
//! stand in no Parquet file, and the decoder counts through billions of them without a byte to show: they are refused.

use parquet::basic::Compression;
use parquet::file::metadata::ParquetMetaData;

use crate::arrays::inflate::within;
use crate::error::{Fault, size_in_words};

/// How deep the structs of a header may be nested.
const MAX_STRUCT_DEPTH: usize = 16;
/// The kind of a field that is a struct.
const STRUCT_FIELD: u8 = 12;

/// Checks the table of contents, which stands before its length and the last mark. What is not even there, the decoder
/// will say.
pub(super) fn check_contents(file: &[u8]) -> Result<(), Fault> {
    let contents = || {
        let (rest, length) = file.strip_suffix(b"PAR1")?.split_last_chunk::<4>()?;
        rest.get(
            rest.len()
                .checked_sub(usize::try_from(u32::from_le_bytes(*length)).ok()?)?..,
        )
    };
    let Some(bytes) = contents() else {
        return Ok(());
    };
    let broken = || Fault::damaged("the table of contents is broken");
    Compact { bytes, at: 0 }
        .pass(STRUCT_FIELD, 0)
        .ok_or_else(broken)
}

/// Checks every page of a file.
pub(super) fn check(metadata: &ParquetMetaData, bytes: &[u8]) -> Result<(), Fault> {
    for column in metadata
        .row_groups()
        .iter()
        .flat_map(|group| group.columns())
    {
        if column.compression() == Compression::LZO {
            let next = "Write it again: in pandas, to_parquet(path, compression=\"snappy\").";
            return Err(Fault::format(
                "compressed with LZO, which dial does not read",
                next,
            ));
        }
        let first = column
            .dictionary_page_offset()
            .filter(|&at| at > 0)
            .unwrap_or(i64::MAX)
            .min(column.data_page_offset());
        let place = usize::try_from(first)
            .ok()
            .zip(usize::try_from(column.compressed_size()).ok());
        let place = place.filter(|&(start, length)| {
            start
                .checked_add(length)
                .is_some_and(|end| end <= bytes.len())
        });
        let (start, length) = place.ok_or_else(|| beyond(bytes))?;
        pages(bytes.get(start..).unwrap_or_default(), length, bytes)?;
    }
    Ok(())
}

fn beyond(bytes: &[u8]) -> Fault {
    Fault::Size(format!(
        "a column reaches beyond the {} of the file",
        size_in_words(bytes.len() as u64)
    ))
}

/// The pages that begin within the first `length` bytes.
fn pages(column: &[u8], length: usize, file: &[u8]) -> Result<(), Fault> {
    let mut at = 0;
    while at < length {
        let mut header = Compact {
            bytes: column.get(at..).unwrap_or_default(),
            at: 0,
        };
        let sizes = header.sizes().ok_or_else(|| {
            Fault::damaged(format!("a page header is broken (byte {at} of a column)"))
        })?;
        let (Ok(unpacked), Ok(packed)) = (u64::try_from(sizes.0), usize::try_from(sizes.1)) else {
            return Err(Fault::Size("a page of negative size".into()));
        };
        at = at
            .checked_add(header.at)
            .and_then(|at| at.checked_add(packed))
            .ok_or_else(|| beyond(file))?;
        if at > column.len() {
            return Err(beyond(file));
        }
        within(packed, unpacked, super::MAX_EXPANSION)?;
    }
    Ok(())
}

/// A walk over Thrift's compact protocol.
struct Compact<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Compact<'_> {
    /// Fields 2 and 3 of the struct that begins here, which is skipped.
    fn sizes(&mut self) -> Option<(i64, i64)> {
        let (mut field, mut unpacked, mut packed) = (0, None, None);
        while let Some((number, kind)) = self.field(field)? {
            field = number;
            match (field, kind) {
                (2, 4..=6) => unpacked = Some(self.zigzag()?),
                (3, 4..=6) => packed = Some(self.zigzag()?),
                _ => self.pass(kind, 0)?,
            }
        }
        unpacked.zip(packed)
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied();
        self.at += 1;
        byte
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn zigzag(&mut self) -> Option<i64> {
        self.varint()
            .map(|value| (value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Number and kind of the next field; nothing after the last.
    fn field(&mut self, before: i64) -> Option<Option<(i64, u8)>> {
        let byte = self.byte()?;
        Some(match (byte >> 4, byte & 15) {
            (_, 0) => None,
            (0, kind) => Some((self.zigzag()?, kind)),
            (step, kind) => Some((before.checked_add(i64::from(step))?, kind)),
        })
    }

    fn skip(&mut self, length: u64) -> Option<()> {
        self.at = self
            .at
            .checked_add(usize::try_from(length).ok()?)
            .filter(|&at| at <= self.bytes.len())?;
        Some(())
    }

    fn pass(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth > MAX_STRUCT_DEPTH {
            return None;
        }
        match kind {
            1 | 2 => Some(()),
            3 => self.skip(1),
            4..=6 => self.varint().map(drop),
            7 => self.skip(8),
            8 => self.varint().and_then(|length| self.skip(length)),
            9 | 10 => self.pass_list(depth),
            STRUCT_FIELD => {
                while let Some((_, kind)) = self.field(0)? {
                    self.pass(kind, depth + 1)?;
                }
                Some(())
            }
            _ => None,
        }
    }

    fn pass_list(&mut self, depth: usize) -> Option<()> {
        let byte = self.byte()?;
        let count = if byte >> 4 == 15 {
            self.varint()?
        } else {
            u64::from(byte >> 4)
        };
        match byte & 15 {
            1 | 2 if count > 0 => None,
            kind => (0..count.min(self.bytes.len() as u64 + 1))
                .try_for_each(|_| self.pass(kind, depth + 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(bytes: &[u8]) -> Option<((i64, i64), usize)> {
        let mut header = Compact { bytes, at: 0 };
        header.sizes().map(|sizes| (sizes, header.at))
    }

    #[test]
    fn headers_by_hand() {
        // 1: i32 0; 2: i32 300 (zigzag 600 = D8 04); 3: i32 7 (0E); 5: struct { 1: i32 2; 2: binary "ab" }; stop.
        let header = [
            0x15, 0x00, 0x15, 0xd8, 0x04, 0x15, 0x0e, 0x2c, 0x15, 0x04, 0x18, 2, b'a', b'b', 0, 0,
            99,
        ];
        assert_eq!(sizes(&header), Some(((300, 7), 16)));
        for end in 0..16 {
            assert_eq!(sizes(&header[..end]), None, "cut at {end}");
        }
        // A truth, an empty list of truths, a long form of a field's number (20 is zigzag 40), a double.
        let mut odd = vec![0x11, 0x15, 2, 0x15, 4, 0x19, 0x01, 0x07, 40];
        odd.extend([0; 8]);
        odd.push(0);
        assert_eq!(sizes(&odd), Some(((1, 2), odd.len())));
        assert_eq!(sizes(&[0x1c; 64]), None, "too deep");
        assert_eq!(sizes(&[0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x0f]), None);
    }

    #[test]
    fn what_is_counted_without_bytes_is_refused() {
        let file = |contents: &[u8]| {
            let length = (contents.len() as u32).to_le_bytes();
            [b"PAR1", contents, &length, b"PAR1"].concat()
        };
        // Field 1: i32 1; stop.
        assert_eq!(check_contents(&file(&[0x15, 2, 0])), Ok(()));
        // Field 1: a map of 2³¹ - 1 truths to truths, or a list of as many.
        for contents in [
            &[0x1b, 0xff, 0xff, 0xff, 0xff, 7, 0x21, 0][..],
            &[0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 7, 0],
        ] {
            let text = check_contents(&file(contents)).unwrap_err().to_string();
            assert!(
                text.starts_with("the table of contents is broken"),
                "{text}"
            );
        }
        assert_eq!(
            (check_contents(b"PAR1"), check_contents(b"\xff\0\0\0PAR1")),
            (Ok(()), Ok(()))
        );
    }

    #[test]
    fn pages_must_lie_in_the_file() {
        let page = |unpacked: u8, packed: u8| vec![0x15, 0, 0x15, unpacked, 0x15, packed, 0, 1, 2];
        // zigzag: 4 is 2, 3 is -2.
        assert_eq!(pages(&page(4, 4), 9, &[]), Ok(()));
        assert!(matches!(pages(&page(4, 6), 9, &[]), Err(Fault::Size(_))));
        assert!(matches!(pages(&page(3, 4), 9, &[]), Err(Fault::Size(_))));
        assert!(matches!(pages(&[7, 7], 2, &[]), Err(Fault::Format { .. })));
        let mut bomb = vec![
            0x15, 0, 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x15, 4, 0, 1, 2,
        ];
        assert!(matches!(pages(&bomb, bomb.len(), &[]), Err(Fault::Size(_))));
        bomb.truncate(3);
        assert!(pages(&bomb, 3, &[]).is_err());
    }
}
