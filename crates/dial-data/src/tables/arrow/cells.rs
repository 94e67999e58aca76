//! The cells of Arrow arrays: numbers as f64, words as strings, lists as rows of numbers.

use std::collections::BTreeMap;
use std::fmt::Display;

use arrow_array::cast::AsArray;
use arrow_array::temporal_conversions as time;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, GenericListArray, OffsetSizeTrait};
use arrow_schema::{DataType, TimeUnit};

use crate::error::{Fault, first_few};
use crate::pool::matrix::Buffer;
use crate::tables::frame::{Column, Numbers};

/// A column while batches come in.
pub(super) enum Filling {
    Numbers(Numbers),
    Words(Vec<String>),
    /// The length of each list, 0 where there is none, and the numbers.
    Lists {
        lengths: Vec<usize>,
        values: Buffer,
    },
    /// What is left out, and what it is.
    Other(String),
}

/// What an array of a type holds.
enum Holds {
    Numbers,
    Words,
    Lists { single: bool },
    Other(String),
}

fn holds(kind: &DataType) -> Holds {
    use DataType::*;
    match kind {
        Boolean | Null | Float16 | Float32 | Float64 => Holds::Numbers,
        Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 => Holds::Numbers,
        Decimal32(..) | Decimal64(..) | Decimal128(..) => Holds::Numbers,
        Utf8 | LargeUtf8 | Utf8View | Date32 | Date64 | Timestamp(..) => Holds::Words,
        Dictionary(_, value) => match holds(value) {
            Holds::Lists { .. } => Holds::Other("a dictionary of lists".into()),
            plain => plain,
        },
        List(item) | LargeList(item) | FixedSizeList(item, _) => match holds(item.data_type()) {
            Holds::Numbers if item.data_type() != &Null => Holds::Lists {
                single: is_single(item.data_type()),
            },
            _ => Holds::Other("lists that are not of numbers".into()),
        },
        Struct(fields) => {
            let bytes = |name: &str| fields.iter().any(|field| field.name() == name);
            let names = || fields.iter().map(|field| field.name());
            Holds::Other(match bytes("bytes") {
                true => {
                    "pictures or sound as bytes, which are not read: save the pictures as files"
                        .into()
                }
                false => match fields.len() {
                    0 => "empty records".to_string(),
                    count => format!("records of {}", first_few(names(), count, ", ")),
                },
            })
        }
        Map(..) | Union(..) => Holds::Other("nested values".into()),
        Binary | LargeBinary | BinaryView | FixedSizeBinary(_) => {
            Holds::Other("bytes, which are not read: save pictures as files".into())
        }
        _ => Holds::Other("a type that this tool does not read".into()),
    }
}

/// Whether each cell is a list of plain values.
fn is_list_of_cells(kind: &DataType) -> bool {
    use DataType::*;
    let item = match kind {
        List(item) | LargeList(item) | FixedSizeList(item, _) => item.data_type(),
        _ => return false,
    };
    matches!(holds(item), Holds::Numbers | Holds::Words)
}

/// Whether 32-bit floats hold every value.
fn is_single(kind: &DataType) -> bool {
    use DataType::*;
    matches!(
        kind,
        Float16 | Float32 | Boolean | Int8 | Int16 | UInt8 | UInt16
    )
}

impl Filling {
    /// For arrays of a type; ids, labels and the like stay as they are written.
    pub fn new(kind: &DataType, as_written: bool) -> Filling {
        match holds(kind) {
            Holds::Numbers if !as_written => Filling::Numbers(Numbers {
                single: matches!(kind, DataType::Float32),
                ..Numbers::default()
            }),
            Holds::Numbers | Holds::Words => Filling::Words(Vec::new()),
            _ if as_written && is_list_of_cells(kind) => Filling::Words(Vec::new()),
            Holds::Lists { single: true } => Filling::Lists {
                lengths: Vec::new(),
                values: Buffer::F32(Vec::new()),
            },
            Holds::Lists { single: false } => Filling::Lists {
                lengths: Vec::new(),
                values: Buffer::F64(Vec::new()),
            },
            Holds::Other(what) => Filling::Other(what),
        }
    }

    /// Appends an array. Words may take at most `room` more bytes.
    pub fn add(&mut self, array: &ArrayRef, room: &mut u64) -> Result<(), Fault> {
        match self {
            Filling::Numbers(out) => numbers(array, &mut |value| out.push(value)),
            Filling::Words(out) => {
                let before = out.len();
                words(array, out, *room)?;
                let taken: usize = out.iter().skip(before).map(String::len).sum();
                *room = room.checked_sub(taken as u64).ok_or_else(too_long)?;
                Ok(())
            }
            Filling::Lists { lengths, values } => lists(array, lengths, values),
            Filling::Other(_) => Ok(()),
        }
    }

    /// The length of most lists, if there are any that are not empty.
    pub fn width(&self) -> Option<usize> {
        let Filling::Lists { lengths, .. } = self else {
            return None;
        };
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        lengths
            .iter()
            .filter(|&&length| length > 0)
            .for_each(|&length| *counts.entry(length).or_default() += 1);
        counts
            .into_iter()
            .max_by_key(|&(_, count)| count)
            .map(|(width, _)| width)
    }

    /// How many lists, of so many that are not empty, are not as wide as most.
    pub fn uneven(&self, width: usize) -> (usize, usize) {
        let Filling::Lists { lengths, .. } = self else {
            return (0, 0);
        };
        let all = lengths.iter().filter(|&&length| length > 0).count();
        (
            all - lengths.iter().filter(|&&length| length == width).count(),
            all,
        )
    }

    /// Lists as words to read, `[1, 2]`.
    pub fn in_words(self) -> Filling {
        let Filling::Lists { lengths, values } = self else {
            return self;
        };
        let mut start = 0;
        let mut next = |&length: &usize| {
            let range = start..start + length;
            start += length;
            match &values {
                Buffer::F32(values) => format!("{:?}", values.get(range).unwrap_or_default()),
                Buffer::F64(values) => format!("{:?}", values.get(range).unwrap_or_default()),
            }
        };
        Filling::Words(lengths.iter().map(&mut next).collect())
    }

    /// What is wrong with a row of lists, if most lists are so wide.
    pub fn fault(&self, row: usize, width: usize) -> Option<String> {
        let Filling::Lists { lengths, .. } = self else {
            return None;
        };
        match lengths.get(row).copied().unwrap_or(0) {
            0 => Some("has no list".into()),
            length if length != width => Some(format!("is a list of {length}, expected {width}")),
            _ => None,
        }
    }

    /// The column with the rows that are kept, all of whose lists are so wide.
    pub fn finished(self, width: Option<usize>, keep: Option<&[usize]>) -> Column {
        let column = match self {
            Filling::Numbers(numbers) => Column::Numbers(numbers),
            Filling::Words(words) => Column::Words(words),
            Filling::Lists { lengths, values } => match width {
                Some(width) => {
                    return Column::Lists {
                        width,
                        values: of_width(values, &lengths, width, keep),
                    };
                }
                None => Column::Other("empty lists".into()),
            },
            Filling::Other(what) => Column::Other(what),
        };
        match keep {
            Some(keep) => column.select_rows(keep),
            None => column,
        }
    }
}

/// The numbers of the lists that are kept.
fn of_width(values: Buffer, lengths: &[usize], width: usize, keep: Option<&[usize]>) -> Buffer {
    let Some(keep) = keep else { return values };
    let mut starts = Vec::with_capacity(lengths.len());
    let mut start = 0;
    for length in lengths {
        starts.push(start);
        start += length;
    }
    let range = |row: &usize| starts.get(*row).map_or(0..0, |&start| start..start + width);
    match values {
        Buffer::F32(values) => Buffer::F32(
            keep.iter()
                .flat_map(|row| values[range(row)].to_vec())
                .collect(),
        ),
        Buffer::F64(values) => Buffer::F64(
            keep.iter()
                .flat_map(|row| values[range(row)].to_vec())
                .collect(),
        ),
    }
}

fn too_long() -> Fault {
    Fault::Bomb("the words are longer than a file of this size can hold".into())
}

/// The place in its dictionary of each cell.
fn keys(array: &ArrayRef) -> Vec<Option<usize>> {
    let dictionary = array.as_any_dictionary();
    if dictionary.values().is_empty() {
        return vec![None; array.len()];
    }
    let keys = dictionary.normalized_keys().into_iter().enumerate();
    keys.map(|(row, key)| Some(key).filter(|_| dictionary.keys().is_valid(row)))
        .collect()
}

fn each<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    out: &mut dyn FnMut(Option<f64>),
    value: impl Fn(T::Native) -> f64,
) {
    array
        .as_primitive::<T>()
        .iter()
        .for_each(|cell| out(cell.map(&value)));
}

fn numbers(array: &ArrayRef, out: &mut dyn FnMut(Option<f64>)) -> Result<(), Fault> {
    use DataType::*;
    if let Some(dictionary) = array.as_any_dictionary_opt() {
        let mut values = Vec::with_capacity(dictionary.values().len());
        numbers(dictionary.values(), &mut |value| values.push(value))?;
        keys(array)
            .into_iter()
            .for_each(|key| out(key.and_then(|key| values.get(key).copied().flatten())));
        return Ok(());
    }
    let power = |scale: &i8| libm::pow(10.0, f64::from(*scale));
    match array.data_type() {
        Null => (0..array.len()).for_each(|_| out(None)),
        Boolean => array
            .as_boolean()
            .iter()
            .for_each(|cell| out(cell.map(|truth| f64::from(u8::from(truth))))),
        Int8 => each::<Int8Type>(array, out, f64::from),
        Int16 => each::<Int16Type>(array, out, f64::from),
        Int32 => each::<Int32Type>(array, out, f64::from),
        Int64 => each::<Int64Type>(array, out, |value| value as f64),
        UInt8 => each::<UInt8Type>(array, out, f64::from),
        UInt16 => each::<UInt16Type>(array, out, f64::from),
        UInt32 => each::<UInt32Type>(array, out, f64::from),
        UInt64 => each::<UInt64Type>(array, out, |value| value as f64),
        Float16 => each::<Float16Type>(array, out, |value| value.to_f64()),
        Float32 => each::<Float32Type>(array, out, f64::from),
        Float64 => each::<Float64Type>(array, out, |value| value),
        Decimal32(_, scale) => {
            each::<Decimal32Type>(array, out, |value| f64::from(value) / power(scale))
        }
        Decimal64(_, scale) => {
            each::<Decimal64Type>(array, out, |value| value as f64 / power(scale))
        }
        Decimal128(_, scale) => {
            each::<Decimal128Type>(array, out, |value| value as f64 / power(scale))
        }
        other => return Err(Fault::Kind(format!("{other}, which is not a number"))),
    }
    Ok(())
}

/// Whole numbers as they are, other values as people write them; nothing where there is none or NaN.
fn words(array: &ArrayRef, out: &mut Vec<String>, mut room: u64) -> Result<(), Fault> {
    use DataType::*;
    if let Some(dictionary) = array.as_any_dictionary_opt() {
        let mut values = Vec::with_capacity(dictionary.values().len());
        words(dictionary.values(), &mut values, room)?;
        for key in keys(array) {
            let word = key
                .and_then(|key| values.get(key))
                .cloned()
                .unwrap_or_default();
            room = room.checked_sub(word.len() as u64).ok_or_else(too_long)?;
            out.push(word);
        }
        return Ok(());
    }
    let text = |cell: Option<&str>| cell.unwrap_or_default().trim().to_string();
    match array.data_type() {
        Utf8 => out.extend(array.as_string::<i32>().iter().map(text)),
        LargeUtf8 => out.extend(array.as_string::<i64>().iter().map(text)),
        Utf8View => out.extend(array.as_string_view().iter().map(text)),
        Int64 => out.extend(array.as_primitive::<Int64Type>().iter().map(shown)),
        UInt64 => out.extend(array.as_primitive::<UInt64Type>().iter().map(shown)),
        Boolean => out.extend(array.as_boolean().iter().map(shown)),
        List(_) => of_lists(
            (0..array.len()).map(|row| list_at(array, row, array.as_list::<i32>())),
            out,
            room,
        )?,
        LargeList(_) => of_lists(
            (0..array.len()).map(|row| list_at(array, row, array.as_list::<i64>())),
            out,
            room,
        )?,
        FixedSizeList(..) => {
            let list = array.as_fixed_size_list();
            of_lists(
                (0..array.len()).map(|row| array.is_valid(row).then(|| list.value(row))),
                out,
                room,
            )?;
        }
        Float32 => out.extend(
            array
                .as_primitive::<Float32Type>()
                .iter()
                .map(|cell| shown(cell.filter(|x| !x.is_nan()))),
        ),
        Date32 => {
            let date = |days: i32| time::date32_to_datetime(days).map(|moment| moment.date());
            out.extend(
                array
                    .as_primitive::<Date32Type>()
                    .iter()
                    .map(|cell| shown(cell.and_then(date))),
            );
        }
        Date64 => moments::<Date64Type, _>(array, out, time::date64_to_datetime),
        Timestamp(TimeUnit::Second, _) => {
            moments::<TimestampSecondType, _>(array, out, time::timestamp_s_to_datetime)
        }
        Timestamp(TimeUnit::Millisecond, _) => {
            moments::<TimestampMillisecondType, _>(array, out, time::timestamp_ms_to_datetime);
        }
        Timestamp(TimeUnit::Microsecond, _) => {
            moments::<TimestampMicrosecondType, _>(array, out, time::timestamp_us_to_datetime);
        }
        Timestamp(TimeUnit::Nanosecond, _) => {
            moments::<TimestampNanosecondType, _>(array, out, time::timestamp_ns_to_datetime);
        }
        _ => numbers(array, &mut |value| {
            out.push(shown(value.filter(|x| !x.is_nan())))
        })?,
    }
    Ok(())
}

fn list_at<O: OffsetSizeTrait>(
    array: &ArrayRef,
    row: usize,
    list: &GenericListArray<O>,
) -> Option<ArrayRef> {
    array.is_valid(row).then(|| list.value(row))
}

/// A list of one as what it holds, a longer one as JSON writes it.
fn of_lists(
    lists: impl Iterator<Item = Option<ArrayRef>>,
    out: &mut Vec<String>,
    mut room: u64,
) -> Result<(), Fault> {
    for list in lists {
        let mut cells = Vec::new();
        list.map_or(Ok(()), |list| words(&list, &mut cells, room))?;
        let word = match cells.len() {
            0 => String::new(),
            1 => cells.swap_remove(0),
            _ => serde_json::Value::from(cells).to_string(),
        };
        room = room.checked_sub(word.len() as u64).ok_or_else(too_long)?;
        out.push(word);
    }
    Ok(())
}

fn shown<T: Display>(cell: Option<T>) -> String {
    cell.map(|value| value.to_string()).unwrap_or_default()
}

fn moments<T: ArrowPrimitiveType<Native = i64>, D: Display>(
    array: &ArrayRef,
    out: &mut Vec<String>,
    moment: impl Fn(i64) -> Option<D>,
) {
    out.extend(
        array
            .as_primitive::<T>()
            .iter()
            .map(|cell| shown(cell.and_then(&moment))),
    );
}

fn lists(array: &ArrayRef, lengths: &mut Vec<usize>, out: &mut Buffer) -> Result<(), Fault> {
    let (values, ends): (ArrayRef, Vec<(usize, usize)>) = match array.data_type() {
        DataType::FixedSizeList(..) => {
            let list = array.as_fixed_size_list();
            let each = usize::try_from(list.value_length()).unwrap_or(0);
            (
                list.values().clone(),
                (0..list.len())
                    .map(|row| (row * each, (row + 1) * each))
                    .collect(),
            )
        }
        DataType::List(_) => (
            array.as_list::<i32>().values().clone(),
            ends(array.as_list::<i32>().value_offsets()),
        ),
        DataType::LargeList(_) => (
            array.as_list::<i64>().values().clone(),
            ends(array.as_list::<i64>().value_offsets()),
        ),
        other => return Err(Fault::Kind(format!("{other}, which is not a list"))),
    };
    let mut flat = Vec::with_capacity(values.len());
    numbers(&values, &mut |value| flat.push(value.unwrap_or(f64::NAN)))?;
    for (row, (from, to)) in ends.into_iter().enumerate() {
        let list = flat
            .get(from..to)
            .filter(|_| array.is_valid(row))
            .unwrap_or_default();
        lengths.push(list.len());
        match out {
            Buffer::F32(values) => values.extend(list.iter().map(|&value| value as f32)),
            Buffer::F64(values) => values.extend(list),
        }
    }
    Ok(())
}

fn ends<T: Copy + TryInto<usize>>(offsets: &[T]) -> Vec<(usize, usize)> {
    let place = |offset: T| offset.try_into().unwrap_or(usize::MAX);
    offsets
        .windows(2)
        .map(|pair| (place(pair[0]), place(pair[1])))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::ListArray;
    use arrow_schema::Field;

    use super::*;

    #[test]
    fn lists_as_words() {
        let rows = [
            Some(vec![Some(3)]),
            None,
            Some(vec![Some(1), Some(2)]),
            Some(Vec::new()),
        ];
        let array: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(rows));
        let mut filling = Filling::new(array.data_type(), true);
        filling.add(&array, &mut 1000).unwrap();
        let Filling::Words(words) = filling else {
            panic!("words")
        };
        assert_eq!(words, ["3", "", "[\"1\",\"2\"]", ""]);
        let mut filling = Filling::new(array.data_type(), false);
        filling.add(&array, &mut 1000).unwrap();
        assert_eq!((filling.width(), filling.uneven(1)), (Some(2), (1, 2)));
        let Filling::Words(words) = filling.in_words() else {
            panic!("words")
        };
        assert_eq!(words, ["[3.0]", "[]", "[1.0, 2.0]", "[]"]);
    }

    #[test]
    fn nested_columns_are_called_what_they_hold() {
        let fields = |names: [&str; 2]| {
            names
                .map(|name| Field::new(name, DataType::Binary, true))
                .to_vec()
        };
        let what = |names| match Filling::new(&DataType::Struct(fields(names).into()), false) {
            Filling::Other(what) => what,
            _ => String::new(),
        };
        assert_eq!(
            what(["bytes", "path"]),
            "pictures or sound as bytes, which are not read: save the pictures as files"
        );
        assert_eq!(what(["a", "b"]), "records of a, b");
    }
}
