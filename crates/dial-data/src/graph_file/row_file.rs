//! Features that memory does not hold: rows of an npy file, read by position.
//!
//! Read and not mapped: if another program shortens a mapped file, the reader is killed without a message; here it is an
//! error with a place. Values are 32-bit floats afterwards (64-bit ones are rounded), and finite: what is not is
//! refused where it is met.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use dial::Control;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::arrays::bytes::Number;
use crate::arrays::npy::{self, HEADER_LIMIT, Kind};
use crate::error::{Error, Fault, Result};
use crate::open::plain_file;
use crate::pool::fingerprint::{Fingerprint, HASHED_BYTES};

/// Bytes of 64-bit values converted at once.
const CONVERTED_BYTES: usize = 1 << 20;

/// An npy file of n rows of `dim` 32-bit or 64-bit floats in C order, open for reading.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("a.npy");
/// use dial_data::RowFile;
/// use dial_data::write::{Saved, SavedData, write_npy};
/// write_npy(&path, &Saved::matrix(SavedData::F32(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), 2))?;
/// let rows = RowFile::open(&path)?;
/// let mut two = [0.0; 4];
/// rows.read(1..3, &mut two)?;
/// assert_eq!((rows.n, rows.dim, two), (3, 2, [3.0, 4.0, 5.0, 6.0]));
/// # Ok::<(), dial_data::Error>(())
/// ```
#[derive(Debug)]
pub struct RowFile {
    /// Number of rows.
    pub n: usize,
    /// Number of columns.
    pub dim: usize,
    place: String,
    file: File,
    wide: bool,
    big: bool,
    offset: u64,
}

impl RowFile {
    /// Opens a file and checks its header against its size.
    pub fn open(path: impl AsRef<Path>) -> Result<RowFile> {
        let place = path.as_ref().display().to_string();
        let here = |fault: Fault| fault.at(&place);
        let (file, length) = plain_file(path.as_ref()).map_err(here)?;
        let mut beginning = vec![0; (length as usize).min(HEADER_LIMIT + 16)];
        read_at(&file, &mut beginning, 0)
            .map_err(|error| here(Fault::io(&error, "cannot read this file")))?;
        let header = npy::header(&beginning, length).map_err(here)?;
        let wide = match header.kind {
            Kind::Number(Number::F32) => false,
            Kind::Number(Number::F64) => true,
            _ => {
                return Err(
                    Fault::Kind("values that are not floats of 32 or 64 bits".into()).at(place),
                );
            }
        };
        if header.fortran {
            let next = "Save it in C order (numpy.ascontiguousarray).";
            return Err(Fault::format("rows are not together (Fortran order)", next).at(place));
        }
        let (n, dim) = match header.shape.as_slice() {
            [n, rest @ ..] if !rest.is_empty() => (*n, rest.iter().product()),
            _ => (0, 0),
        };
        if n == 0 || dim == 0 {
            return Err(Fault::Shape("no rows or no columns".into()).at(place));
        }
        Ok(RowFile {
            n,
            dim,
            place,
            file,
            wide,
            big: header.big,
            offset: header.offset as u64,
        })
    }

    /// Whether the values are 64-bit floats.
    pub fn is_wide(&self) -> bool {
        self.wide
    }

    /// Reads rows, one after the other. May be called from several threads at once.
    ///
    /// # Errors
    /// Values that are not finite (counted among these rows), 64-bit values beyond 32 bits, a file that has changed.
    ///
    /// # Panics
    /// If there are no such rows, or `out` has not their length.
    pub fn read(&self, rows: Range<usize>, out: &mut [f32]) -> Result<()> {
        assert!(
            rows.start <= rows.end && rows.end <= self.n,
            "rows {rows:?} of {}",
            self.n
        );
        assert_eq!(
            out.len(),
            rows.len() * self.dim,
            "room for {} rows of {}",
            rows.len(),
            self.dim
        );
        let first = rows.start * self.dim;
        if self.wide {
            for (piece, start) in out
                .chunks_mut(CONVERTED_BYTES / 8)
                .zip((first..).step_by(CONVERTED_BYTES / 8))
            {
                self.read_wide(start, piece)?;
            }
        } else {
            self.bytes(first as u64 * 4, bytemuck::cast_slice_mut(out))?;
            if self.big != cfg!(target_endian = "big") {
                out.iter_mut()
                    .for_each(|value| *value = f32::from_bits(value.to_bits().swap_bytes()));
            }
        }
        self.check_finite(rows.start, out)
    }

    fn read_wide(&self, start: usize, out: &mut [f32]) -> Result<()> {
        let mut bytes = vec![0; out.len() * 8];
        self.bytes(start as u64 * 8, &mut bytes)?;
        let (values, _) = bytes.as_chunks::<8>();
        for (position, (narrow, &value)) in out.iter_mut().zip(values).enumerate() {
            let value = if self.big {
                f64::from_be_bytes(value)
            } else {
                f64::from_le_bytes(value)
            };
            *narrow = value as f32;
            if value.is_finite() && !narrow.is_finite() {
                let column = (start + position) % self.dim;
                return Err(
                    Fault::Core(dial::Error::ExtremeScale { column, value }).at(&self.place)
                );
            }
        }
        Ok(())
    }

    fn check_finite(&self, first_row: usize, values: &[f32]) -> Result<()> {
        let mut bad = (0..values.len()).filter(|&position| !values[position].is_finite());
        let Some(first) = bad.next() else {
            return Ok(());
        };
        let mut rows = vec![first / self.dim];
        let mut count = 1;
        for position in bad {
            count += 1;
            rows.push(position / self.dim);
        }
        rows.dedup();
        let at = format!(
            "row {}, column {}",
            first_row + first / self.dim,
            first % self.dim
        );
        let fault = Fault::NonFinite {
            count,
            rows: rows.len(),
            at,
            value: f64::from(values[first]),
        };
        Err(fault.at(&self.place))
    }

    /// Bytes of the values, from a position among them.
    fn bytes(&self, position: u64, out: &mut [u8]) -> Result<()> {
        read_at(&self.file, out, self.offset + position).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                Fault::Size("the file became shorter while it was read".into()).at(&self.place)
            }
            _ => Fault::io(&error, "cannot read this file").at(&self.place),
        })
    }

    /// The fingerprint of the features: the same as that of the matrix in memory.
    pub fn fingerprint(&self, control: &Control) -> Result<Fingerprint> {
        let size = if self.wide { 8 } else { 4 };
        let total = self.n as u64 * self.dim as u64 * size;
        let blocks = total.div_ceil(HASHED_BYTES as u64);
        control.start("hashing features", blocks as usize);
        let hash = |block: u64| {
            let start = block * HASHED_BYTES as u64;
            let mut bytes = vec![0; (total - start).min(HASHED_BYTES as u64) as usize];
            self.bytes(start, &mut bytes)?;
            if self.big {
                bytes.chunks_mut(size as usize).for_each(<[u8]>::reverse);
            }
            control.advance(1)?;
            Ok(Sha256::digest(&bytes).into())
        };
        let hashes: Result<Vec<[u8; 32]>> = (0..blocks).into_par_iter().map(hash).collect();
        control.finish();
        Ok(Fingerprint::of_blocks(self.wide, self.n, self.dim, hashes?))
    }
}

/// A file of rows as the core reads it: it returns errors of the core, and keeps the underlying error for the caller.
///
/// The core knows no files. A block that cannot be read stops its search as if cancelled; [`RowReader::explain`] puts the
/// true fault in the place of that.
#[derive(Debug)]
pub struct RowReader<'a> {
    file: &'a RowFile,
    fault: Mutex<Option<Error>>,
}

impl<'a> RowReader<'a> {
    /// A reader of a file.
    pub fn new(file: &'a RowFile) -> RowReader<'a> {
        RowReader {
            file,
            fault: Mutex::new(None),
        }
    }

    /// As [`RowFile::read`].
    pub fn read(&self, rows: Range<usize>, out: &mut [f32]) -> dial::Result<()> {
        self.file.read(rows, out).map_err(|error| {
            self.fault
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get_or_insert(error);
            dial::Error::Cancelled
        })
    }

    /// The first fault of reading, or else the error of the core.
    pub fn explain(self, error: dial::Error) -> Error {
        self.fault
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .unwrap_or_else(|| Error::from(error))
    }
}

#[cfg(unix)]
fn read_at(file: &File, out: &mut [u8], position: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, position)
}

#[cfg(windows)]
fn read_at(file: &File, mut out: &mut [u8], mut position: u64) -> io::Result<()> {
    while !out.is_empty() {
        let read = std::os::windows::fs::FileExt::seek_read(file, out, position)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        out = &mut out[read..];
        position += read as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open;
    use crate::pool::ReadOptions;
    use crate::pool::matrix::Buffer;
    use crate::write::{Saved, SavedData, write_npy};

    /// A file and the pool that the other reader makes of it.
    fn both(data: SavedData<'_>, dim: usize) -> (RowFile, crate::Pool, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        write_npy(&path, &Saved::matrix(data, dim)).unwrap();
        let pool = open(
            &path.display().to_string(),
            &ReadOptions::default(),
            0,
            &dial::Control::new(),
        )
        .unwrap();
        (RowFile::open(&path).unwrap(), pool, folder)
    }

    #[test]
    fn any_rows_are_those_of_the_whole_matrix() {
        let wide: Vec<f64> = (0..CONVERTED_BYTES / 8 + 999)
            .map(|i| i as f64 * 0.1)
            .collect();
        let narrow: Vec<f32> = wide.iter().map(|&v| v as f32).collect();
        for data in [
            SavedData::F32(&narrow[..wide.len() / 3 * 3]),
            SavedData::F64(&wide[..wide.len() / 3 * 3]),
        ] {
            let (rows, pool, _folder) = both(data, 3);
            assert_eq!((rows.n, rows.dim), (pool.matrix.n, pool.matrix.dim));
            for range in [0..rows.n, 0..0, 5..6, rows.n - 2..rows.n] {
                let mut out = vec![0.0; range.len() * 3];
                rows.read(range.clone(), &mut out).unwrap();
                assert!(out == narrow[range.start * 3..range.end * 3], "{range:?}");
            }
            assert_eq!(
                rows.fingerprint(&Control::new()).unwrap(),
                Fingerprint::of(&pool.matrix)
            );
            assert_eq!(matches!(pool.matrix.values, Buffer::F64(_)), rows.wide);
        }
    }

    #[test]
    fn the_other_byte_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("big.npy");
        let values = [1.5f32, -2.0, 3.25, 4.0];
        let mut bytes = npy::header_bytes(">f4", &[2, 2]);
        bytes.extend(values.iter().flat_map(|v| v.to_be_bytes()));
        std::fs::write(&path, bytes).unwrap();
        let rows = RowFile::open(&path).unwrap();
        let mut out = [0.0; 4];
        rows.read(0..2, &mut out).unwrap();
        assert_eq!(out, values);
        let pool = open(
            &path.display().to_string(),
            &ReadOptions::default(),
            0,
            &dial::Control::new(),
        )
        .unwrap();
        assert_eq!(
            rows.fingerprint(&Control::new()).unwrap(),
            Fingerprint::of(&pool.matrix)
        );
    }

    #[test]
    fn faults_have_places() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        let code = |rows: Range<usize>| {
            let file = RowFile::open(&path)?;
            file.read(rows.clone(), &mut vec![0.0; rows.len() * file.dim])
        };
        write_npy(
            &path,
            &Saved::matrix(
                SavedData::F32(&[1.0, 2.0, 3.0, f32::NAN, f32::INFINITY, 0.0]),
                2,
            ),
        )
        .unwrap();
        assert!(code(0..1).is_ok());
        let file = RowFile::open(&path).unwrap();
        let reader = RowReader::new(&file);
        assert_eq!(
            reader.read(0..3, &mut [0.0; 6]),
            Err(dial::Error::Cancelled)
        );
        assert_eq!(reader.explain(dial::Error::Cancelled).code(), "I1");
        assert_eq!(
            RowReader::new(&file).explain(dial::Error::Cancelled).code(),
            "C12"
        );
        let text = code(1..3).unwrap_err().to_string();
        assert!(
            text.contains("2 non-finite values in 2 rows; first at row 1, column 1 (NaN)"),
            "{text}"
        );
        write_npy(&path, &Saved::matrix(SavedData::F64(&[1.0, 1e300]), 2)).unwrap();
        assert_eq!(code(0..1).unwrap_err().code(), "I11");
        write_npy(&path, &Saved::matrix(SavedData::I32(&[1, 2]), 2)).unwrap();
        assert_eq!(code(0..1).unwrap_err().code(), "I4");
        write_npy(&path, &Saved::vector(SavedData::F32(&[1.0, 2.0]))).unwrap();
        assert_eq!(code(0..1).unwrap_err().code(), "I3");
        write_npy(&path, &Saved::matrix(SavedData::F32(&[1.0, 2.0]), 2)).unwrap();
        let file = RowFile::open(&path).unwrap();
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(130)
            .unwrap();
        assert_eq!(file.read(0..1, &mut [0.0; 2]).unwrap_err().code(), "I2");
        assert_eq!(code(0..1).unwrap_err().code(), "I2");
        assert_eq!(
            RowFile::open(folder.path().join("none.npy"))
                .unwrap_err()
                .code(),
            "I5"
        );
        assert_eq!(RowFile::open(folder.path()).unwrap_err().code(), "S5");
    }
}
