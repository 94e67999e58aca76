//! An array of any shape as the files hold it, and how it becomes features, labels or ids.
//!
//! Features: n x d, or n x h x w pictures as n rows of h w values. Integers become f32 where that is exact
//! (|v| <= 2^24), else f64.

use crate::error::Fault;
use crate::pool::matrix::{Buffer, Matrix};
use crate::pool::show::{Picture, Show};

/// The values of an array, in C order.
#[derive(Clone, Debug, PartialEq)]
pub enum ArrayData {
    /// 32-bit floats (and half floats, which they hold exactly).
    F32(Vec<f32>),
    /// 64-bit floats (and unsigned integers beyond i64).
    F64(Vec<f64>),
    /// All integers but u8.
    I64(Vec<i64>),
    /// Bytes and booleans.
    U8(Vec<u8>),
    /// Strings.
    Text(Vec<String>),
}

impl ArrayData {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            ArrayData::F32(values) => values.len(),
            ArrayData::F64(values) => values.len(),
            ArrayData::I64(values) => values.len(),
            ArrayData::U8(values) => values.len(),
            ArrayData::Text(values) => values.len(),
        }
    }

    /// The values as ids, if they are text or whole numbers.
    pub(crate) fn into_ids(self) -> Option<Vec<String>> {
        match self {
            ArrayData::Text(ids) => Some(ids),
            ArrayData::I64(ids) => Some(ids.iter().map(i64::to_string).collect()),
            ArrayData::U8(ids) => Some(ids.iter().map(u8::to_string).collect()),
            ArrayData::F64(ids) if ids.iter().all(|id| id.fract() == 0.0) => {
                Some(ids.iter().map(f64::to_string).collect())
            }
            ArrayData::F64(_) | ArrayData::F32(_) => None,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// An array of any number of dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The length of each dimension; empty for a single value.
    pub shape: Vec<usize>,
    /// The values, the last dimension running fastest.
    pub data: ArrayData,
}

impl Array {
    /// One dimension.
    pub(crate) fn vector(data: ArrayData) -> Array {
        Array {
            shape: vec![data.len()],
            data,
        }
    }

    /// The same values read as Fortran and MATLAB write them, the first dimension running fastest.
    pub(crate) fn from_fortran(shape: Vec<usize>, data: ArrayData) -> Array {
        let data = match data {
            ArrayData::F32(values) => ArrayData::F32(transposed(&values, &shape)),
            ArrayData::F64(values) => ArrayData::F64(transposed(&values, &shape)),
            ArrayData::I64(values) => ArrayData::I64(transposed(&values, &shape)),
            ArrayData::U8(values) => ArrayData::U8(transposed(&values, &shape)),
            ArrayData::Text(values) => ArrayData::Text(transposed(&values, &shape)),
        };
        Array { shape, data }
    }

    /// The array as features: n x d, or n x h x w pictures.
    pub(crate) fn into_features(self) -> Result<(Matrix, Show), Fault> {
        let (n, dim, sides) = match *self.shape.as_slice() {
            [n, d] => (n, d, None),
            [n, h, w] => (
                n,
                h.checked_mul(w).ok_or_else(|| too_large(&self.shape))?,
                Some((h, w)),
            ),
            _ => return Err(Fault::Shape(not_a_matrix(&self.shape))),
        };
        if n == 0 || dim == 0 {
            return Err(Fault::Shape(if n == 0 {
                "no rows".into()
            } else {
                "no columns".into()
            }));
        }
        let bytes = matches!(self.data, ArrayData::U8(_));
        let values = into_buffer(self.data)?;
        let show = sides.map_or(Show::Numbers(Vec::new()), |(height, width)| {
            let (lowest, highest) = if bytes {
                (0.0, 255.0)
            } else {
                extremes(&values)
            };
            Show::Picture(Picture {
                height,
                width,
                lowest,
                highest,
            })
        });
        Ok((Matrix { values, n, dim }, show))
    }

    /// The values as numbers.
    pub(crate) fn into_buffer(self) -> Result<Buffer, Fault> {
        into_buffer(self.data)
    }

    /// The array as one label per item, in words.
    pub(crate) fn into_labels(self) -> Result<Vec<String>, Fault> {
        match self.data {
            ArrayData::I64(values) => Ok(values.iter().map(i64::to_string).collect()),
            ArrayData::U8(values) => Ok(values.iter().map(u8::to_string).collect()),
            ArrayData::Text(values) => Ok(values),
            ArrayData::F32(values) => values
                .iter()
                .enumerate()
                .map(|(row, &v)| whole(row, f64::from(v)))
                .collect(),
            ArrayData::F64(values) => values
                .iter()
                .enumerate()
                .map(|(row, &v)| whole(row, v))
                .collect(),
        }
    }
}

/// `3 x 4`, or `a single value`.
pub(crate) fn shape_in_words(shape: &[usize]) -> String {
    match shape {
        [] => "a single value".into(),
        [one] => one.to_string(),
        many => many
            .iter()
            .map(usize::to_string)
            .collect::<Vec<_>>()
            .join(" x "),
    }
}

/// The number of values of a shape, or `None` if it exceeds what memory can address.
pub(crate) fn count(shape: &[usize]) -> Option<usize> {
    shape
        .iter()
        .try_fold(1usize, |product, &length| product.checked_mul(length))
}

pub(crate) fn too_large(shape: &[usize]) -> Fault {
    Fault::Shape(format!("shape {} overflows", shape_in_words(shape)))
}

fn not_a_matrix(shape: &[usize]) -> String {
    match shape {
        [] => "0-D: a single value, not a matrix".into(),
        [n] => format!("1-D: {n} values, not a matrix"),
        [.., 3 | 4] if shape.len() == 4 => format!(
            "4-D: {}, not a matrix. These look like colour pictures: save each as a PNG file and give the folder (in \
             Python, PIL.Image.fromarray(x[i]).save(f\"pictures/{{i:06}}.png\"))",
            shape_in_words(shape)
        ),
        _ => format!("{}-D: {}, not a matrix", shape.len(), shape_in_words(shape)),
    }
}

fn whole(row: usize, value: f64) -> Result<String, Fault> {
    if value.is_nan() {
        return Ok(String::new());
    }
    if value != value.trunc() || value.abs() > 9_007_199_254_740_992.0 {
        return Err(Fault::Labels(format!(
            "the label of row {row} is {value}, not a class number."
        )));
    }
    Ok((value as i64).to_string())
}

fn into_buffer(data: ArrayData) -> Result<Buffer, Fault> {
    const MAX_EXACT_F32: u64 = 1 << 24;
    Ok(match data {
        ArrayData::F32(values) => Buffer::F32(values),
        ArrayData::F64(values) => Buffer::F64(values),
        ArrayData::U8(values) => Buffer::F32(values.into_iter().map(f32::from).collect()),
        ArrayData::I64(values)
            if values
                .iter()
                .all(|value| value.unsigned_abs() <= MAX_EXACT_F32) =>
        {
            Buffer::F32(values.into_iter().map(|value| value as f32).collect())
        }
        ArrayData::I64(values) => {
            Buffer::F64(values.into_iter().map(|value| value as f64).collect())
        }
        ArrayData::Text(_) => return Err(Fault::Kind("text instead of numbers".into())),
    })
}

fn extremes(values: &Buffer) -> (f64, f64) {
    let widen = |range: (f64, f64), value: f64| {
        if value.is_finite() {
            (range.0.min(value), range.1.max(value))
        } else {
            range
        }
    };
    let nothing = (f64::INFINITY, f64::NEG_INFINITY);
    let (lowest, highest) = match values {
        Buffer::F32(values) => values
            .iter()
            .map(|&value| f64::from(value))
            .fold(nothing, widen),
        Buffer::F64(values) => values.iter().copied().fold(nothing, widen),
    };
    if lowest <= highest {
        (lowest, highest)
    } else {
        (0.0, 1.0)
    }
}

/// Column-major to row-major: walks the C order of the positions and picks each value from its Fortran place.
fn transposed<T: Clone>(values: &[T], shape: &[usize]) -> Vec<T> {
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = 1usize;
    for &length in shape {
        strides.push(stride);
        stride = stride.saturating_mul(length);
    }
    let mut out = Vec::with_capacity(values.len());
    let (mut index, mut place) = (vec![0usize; shape.len()], 0usize);
    for _ in 0..values.len() {
        out.extend(values.get(place).cloned());
        for ((i, &length), &stride) in index.iter_mut().zip(shape).zip(&strides).rev() {
            *i += 1;
            place += stride;
            if *i < length {
                break;
            }
            place -= *i * stride;
            *i = 0;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fortran_order_by_hand() {
        // Columns (1,2), (3,4), (5,6) make the rows (1,3,5), (2,4,6).
        let array = Array::from_fortran(vec![2, 3], ArrayData::I64(vec![1, 2, 3, 4, 5, 6]));
        assert_eq!(array.data, ArrayData::I64(vec![1, 3, 5, 2, 4, 6]));
        // Entry (i,j,k) of a 2 x 2 x 2 cube, numbered i + 2j + 4k, listed with k running fastest.
        let cube = Array::from_fortran(vec![2, 2, 2], ArrayData::U8((0..8).collect()));
        assert_eq!(cube.data, ArrayData::U8(vec![0, 4, 2, 6, 1, 5, 3, 7]));
    }

    #[test]
    fn integers_take_the_narrowest_exact_floats() {
        let narrow = Array {
            shape: vec![1, 2],
            data: ArrayData::I64(vec![-(1 << 24), 1 << 24]),
        };
        assert_eq!(
            narrow.into_features().unwrap().0.values,
            Buffer::F32(vec![-16_777_216.0, 16_777_216.0])
        );
        let wide = Array {
            shape: vec![1, 2],
            data: ArrayData::I64(vec![(1 << 24) + 1, 0]),
        };
        assert_eq!(
            wide.into_features().unwrap().0.values,
            Buffer::F64(vec![16_777_217.0, 0.0])
        );
    }

    #[test]
    fn pictures_know_their_range() {
        let bytes = Array {
            shape: vec![1, 1, 2],
            data: ArrayData::U8(vec![3, 4]),
        };
        let picture = Picture {
            height: 1,
            width: 2,
            lowest: 0.0,
            highest: 255.0,
        };
        assert_eq!(bytes.into_features().unwrap().1, Show::Picture(picture));
        let floats = Array {
            shape: vec![1, 2, 1],
            data: ArrayData::F32(vec![-0.5, 2.0]),
        };
        let picture = Picture {
            height: 2,
            width: 1,
            lowest: -0.5,
            highest: 2.0,
        };
        assert_eq!(floats.into_features().unwrap().1, Show::Picture(picture));
    }

    #[test]
    fn colour_pictures_are_told_the_way() {
        let error = |shape: Vec<usize>| {
            let data = ArrayData::U8(vec![0; shape.iter().product()]);
            Array { shape, data }
                .into_features()
                .unwrap_err()
                .to_string()
        };
        let text = error(vec![2, 4, 4, 3]);
        assert!(
            text.starts_with(
                "4-D: 2 x 4 x 4 x 3, not a matrix. These look like colour pictures: save"
            ),
            "{text}"
        );
        assert!(error(vec![2, 4, 4, 4]).contains("give the folder"));
        assert!(error(vec![2, 4, 4, 5]).starts_with("4-D: 2 x 4 x 4 x 5, not a matrix. Give"));
    }

    #[test]
    fn labels_in_words() {
        let floats = Array {
            shape: vec![3],
            data: ArrayData::F64(vec![2.0, -1.0, f64::NAN]),
        };
        assert_eq!(floats.into_labels().unwrap(), ["2", "-1", ""]);
        let half = Array {
            shape: vec![1],
            data: ArrayData::F32(vec![0.5]),
        };
        assert!(
            matches!(half.into_labels(), Err(Fault::Labels(text)) if text.contains("row 0 is 0.5"))
        );
    }
}
