//! ENVI scenes and class maps: the values beside a header, in any order, byte order and type.
//!
//! Either file may be named. The header of `x.img` is `x.hdr` or `x.img.hdr`; the data of `x.hdr` are `x`, or `x` with
//! one of the usual endings. Sizes are checked against the data file before it is read.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

use crate::arrays::array::{shape_in_words, too_large};
use crate::arrays::bytes::Number;
use crate::error::{Fault, Result, size_in_words};
use crate::open::sniff;
use crate::open::{plain_file, read_file};
use crate::pool::matrix::Buffer;
use crate::pool::{Draft, ReadOptions};
use crate::scenes::cube::Cube;
use crate::scenes::envi::header::{self, Header, Interleave};

/// Endings of data files; none is usual too.
pub(crate) const DATA_ENDINGS: [&str; 7] = ["img", "dat", "raw", "bsq", "bil", "bip", "bin"];

/// The highest class number that is kept: a header lists all the numbers below.
const MAX_CLASS_NUMBER: usize = 9999;

/// Pixels whose bands are gathered together.
const PIXELS_PER_BLOCK: usize = 32;

/// A header and its data.
struct Pair {
    header: String,
    data: String,
}

/// The header and the data of a scene.
pub(crate) fn files(place: &str) -> Option<Vec<PathBuf>> {
    pair(place)
        .ok()
        .map(|(pair, _)| vec![pair.header.into(), pair.data.into()])
}

/// Class names of a map, row by row, and its height and width. A pixel without a class has an empty name.
pub(crate) struct ClassNames {
    pub names: Vec<String>,
    pub height: usize,
    pub width: usize,
    pub notes: Vec<String>,
}

/// Whether a file is an ENVI header, or data with one beside.
pub(crate) fn is_envi(place: &str) -> bool {
    is_header(place) || header_beside(place).is_some()
}

/// Reads a scene.
pub(crate) fn read(place: &str, options: &ReadOptions) -> Result<Draft> {
    let (pair, header) = pair(place)?;
    if header.classification {
        let next = "Give it with --labels, beside the scene it belongs to.";
        return Err(Fault::format("an ENVI classification, not a scene", next).at(place));
    }
    let (values, mut notes) = values(&pair, &header)?;
    let Header {
        lines,
        samples,
        bands,
        wavelengths,
        unit,
        good,
        ignore,
        ..
    } = header;
    notes.insert(
        0,
        format!("the scene is {} with the header {}", pair.data, pair.header),
    );
    notes.extend(header.notes);
    let cube = Cube {
        values,
        height: lines,
        width: samples,
        bands,
        wavelengths,
        unit,
        good,
        ignore,
    };
    let mut draft = cube
        .into_draft(options)
        .map_err(|fault| fault.at(&pair.data))?;
    draft.notes.splice(0..0, notes);
    Ok(draft)
}

/// Reads a map of classes, or any whole numbers in one band.
pub(crate) fn labels(place: &str) -> Result<ClassNames> {
    let (pair, header) = pair(place)?;
    if header.bands != 1 {
        return Err(
            Fault::Labels(format!("{} bands; a map of classes has one.", header.bands)).at(place),
        );
    }
    let (values, mut notes) = values(&pair, &header)?;
    let name = |(pixel, value): (usize, f64)| -> Result<String> {
        if value != value.trunc() || value.abs() > 1e15 {
            let (row, column) = (pixel / header.samples, pixel % header.samples);
            let text =
                format!("the label of pixel r{row}c{column} is {value}, not a class number.");
            return Err(Fault::Labels(text).at(&pair.data));
        }
        Ok(class_name(value as i64, &header))
    };
    let values: Vec<f64> = match values {
        Buffer::F32(values) => values.into_iter().map(f64::from).collect(),
        Buffer::F64(values) => values,
    };
    let names = values
        .into_iter()
        .enumerate()
        .map(name)
        .collect::<Result<Vec<String>>>()?;
    if let Some(zero) = header
        .class_names
        .first()
        .filter(|zero| header.classification && !unclassified(zero))
    {
        notes.push(format!(
            "pixels of class 0 ({zero:?}) count as unlabelled, as ENVI has it"
        ));
    }
    notes.extend(header.notes);
    Ok(ClassNames {
        names,
        height: header.lines,
        width: header.samples,
        notes,
    })
}

/// The lines of the header of a pool that place it on the earth, to be written beside maps of it; none if the pool has no
/// ENVI header.
pub fn georeference(pool: &str) -> Vec<String> {
    header_of(pool)
        .map(|header| header.places)
        .unwrap_or_default()
}

/// A class with its number and colour in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedClass {
    /// Its name.
    pub name: String,
    /// Its number, from 1; 0 is that of pixels without a class.
    pub number: u16,
    /// Red, green and blue, if the file tells.
    pub colour: Option<[u8; 3]>,
}

/// The numbers that classes have in an ENVI file of labels: those of the classes named, in their order, then what other
/// classes the header names. `None` if the file is not of that kind, or does not tell a number from 1 for each.
pub fn class_numbers(labels: &str, names: &[String]) -> Option<Vec<NumberedClass>> {
    let header = header_of(labels).filter(|header| header.bands == 1)?;
    let listed = if header.classification {
        header.class_names.as_slice()
    } else {
        &[]
    };
    let named = |name: &str| {
        listed
            .iter()
            .skip(1)
            .position(|other| other.trim().nfc().eq(name.chars()))
            .map(|at| at + 1)
    };
    let number = |name: &String| {
        named(name)
            .or_else(|| name.parse().ok())
            .filter(|at| (1..=MAX_CLASS_NUMBER).contains(at))
    };
    let numbers: Vec<usize> = names.iter().map(number).collect::<Option<_>>()?;
    let used: BTreeSet<usize> = numbers.iter().copied().collect();
    if used.len() < numbers.len() {
        return None;
    }
    let class = |name: &String, at: usize| NumberedClass {
        name: name.clone(),
        number: at as u16,
        colour: header.colours.get(at).copied(),
    };
    let others = (0..=MAX_CLASS_NUMBER)
        .zip(listed)
        .skip(1)
        .filter(|(at, _)| !used.contains(at));
    let own = names
        .iter()
        .zip(&numbers)
        .map(|(name, &at)| class(name, at));
    Some(
        own.chain(others.map(|(at, name)| class(name, at)))
            .collect(),
    )
}

/// What the header of a pool or of labels says, if it has one.
fn header_of(place: &str) -> Option<Header> {
    let path = Some(header_path(place)).filter(|path| starts_right(path))?;
    header::header(&read_header(&path).ok()?).ok()
}

fn class_name(value: i64, header: &Header) -> String {
    if !header.classification {
        return value.to_string();
    }
    let named = usize::try_from(value)
        .ok()
        .and_then(|value| header.class_names.get(value));
    match named {
        _ if value == 0 => String::new(),
        Some(name) if !name.is_empty() => name.clone(),
        _ => value.to_string(),
    }
}

fn unclassified(name: &str) -> bool {
    let name = name.to_lowercase();
    name.is_empty()
        || [
            "unclassified",
            "unlabel",
            "background",
            "no data",
            "nodata",
            "masked",
        ]
        .iter()
        .any(|w| name.contains(w))
}

fn ends_in_hdr(place: &str) -> bool {
    ending(place).is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("hdr"))
}

/// A name without its ending, and the ending.
fn ending(place: &str) -> Option<(&str, &str)> {
    let file = place.rfind(['/', '\\']).map_or(0, |slash| slash + 1);
    let (stem, ending) = place.rsplit_once('.')?;
    (stem.len() > file).then_some((stem, ending))
}

fn starts_right(path: &str) -> bool {
    let mut first = Vec::new();
    plain_file(Path::new(path)).is_ok_and(|(file, length)| {
        let mut beginning = file.take(length.min(header::SNIFFED_BYTES));
        beginning.read_to_end(&mut first).is_ok()
    }) && header::begins(&first)
}

/// The header of a data file.
fn header_beside(data: &str) -> Option<String> {
    let usual = ending(data).filter(|(_, ending)| {
        DATA_ENDINGS
            .iter()
            .any(|known| ending.eq_ignore_ascii_case(known))
    });
    let names = [Some(data), usual.map(|(stem, _)| stem)];
    let paths = names
        .into_iter()
        .flatten()
        .flat_map(|name| ["hdr", "HDR", "Hdr"].map(|ending| format!("{name}.{ending}")));
    paths.into_iter().find(|path| starts_right(path))
}

fn is_header(place: &str) -> bool {
    starts_right(place) || ends_in_hdr(place)
}

/// The header, whichever file is named.
fn header_path(place: &str) -> String {
    Some(place)
        .filter(|place| !is_header(place))
        .and_then(header_beside)
        .unwrap_or_else(|| place.to_string())
}

/// Both files, and what the header says.
fn pair(place: &str) -> Result<(Pair, Header)> {
    let path = header_path(place);
    let bytes = read_header(&path)?;
    let header = header::header(&bytes).map_err(|fault| fault.at(&path))?;
    let data = match is_header(place) {
        true => data_beside(place, &header).map_err(|fault| fault.at(place))?,
        false => place.to_string(),
    };
    Ok((Pair { header: path, data }, header))
}

/// The bytes of a header, which are few.
fn read_header(path: &str) -> Result<Vec<u8>> {
    let long =
        std::fs::metadata(path).is_ok_and(|kind| kind.len() > header::MAX_HEADER_BYTES as u64);
    if long {
        return Err(Fault::damaged("an ENVI header longer than 1 MiB").at(path));
    }
    let bytes = read_file(path)?;
    match header::begins(&bytes) {
        true => Ok(bytes),
        false => Err(sniff::not_a("an ENVI header", &bytes).at(path)),
    }
}

/// The data of a header: of several files that could be, the only one that is large enough.
fn data_beside(header: &str, said: &Header) -> Result<String, Fault> {
    let stem = ending(header)
        .filter(|_| ends_in_hdr(header))
        .map_or(header, |(stem, _)| stem);
    let endings = DATA_ENDINGS
        .iter()
        .flat_map(|ending| spellings(ending).map(|ending| format!(".{ending}")));
    let names = std::iter::once(String::new())
        .chain(endings)
        .map(|ending| format!("{stem}{ending}"));
    let length = |path: &String| {
        std::fs::metadata(path)
            .ok()
            .filter(std::fs::Metadata::is_file)
            .map(|m| m.len())
    };
    let found: Vec<(String, u64)> = names
        .filter(|name| name != header)
        .filter_map(|name| length(&name).map(|length| (name, length)))
        .collect();
    let needed = needed(said)?;
    let enough: Vec<&(String, u64)> = found
        .iter()
        .filter(|(_, length)| *length >= needed)
        .collect();
    match (found.as_slice(), enough.as_slice()) {
        ([], _) => {
            let next = format!(
                "Put them beside the header, as {stem} or {stem}.img, or name the data file."
            );
            Err(Fault::format(
                "the data file of this ENVI header is missing",
                next,
            ))
        }
        ([(only, _)], _) | (_, [(only, _)]) => Ok(only.clone()),
        _ => {
            let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
            Err(Fault::Setting(format!(
                "several files could be the data: {}. Name the data file.",
                names.join(", ")
            )))
        }
    }
}

/// An ending in small letters, in capitals, and with one capital.
fn spellings(ending: &str) -> [String; 3] {
    let (first, rest) = ending.split_at(1);
    [
        ending.to_string(),
        ending.to_uppercase(),
        format!("{}{rest}", first.to_uppercase()),
    ]
}

/// The bytes that header and values take.
fn needed(header: &Header) -> Result<u64, Fault> {
    let shape = [header.lines, header.samples, header.bands];
    let sizes = shape.into_iter().chain([header.number.size()]);
    let bytes = sizes
        .map(|size| size as u64)
        .try_fold(1u64, u64::checked_mul)
        .ok_or_else(|| too_large(&shape))?;
    let all = bytes
        .checked_add(header.offset)
        .filter(|&all| usize::try_from(all).is_ok());
    all.ok_or_else(|| {
        Fault::Size(format!(
            "the ENVI header says header offset = {}, beyond any file",
            header.offset
        ))
    })
}

/// The values with the bands of each pixel together, and what is worth saying.
fn values(pair: &Pair, header: &Header) -> Result<(Buffer, Vec<String>)> {
    let needed = needed(header).map_err(|fault| fault.at(&pair.header))?;
    let held = std::fs::metadata(&pair.data).map_or(0, |kind| kind.len());
    if held < needed {
        let shape = shape_in_words(&[header.lines, header.samples, header.bands]);
        let text = format!(
            "the header {} says {shape} {} from byte {} on, so {}, but the file holds {}",
            pair.header,
            header.number.name(),
            header.offset,
            size_in_words(needed),
            size_in_words(held)
        );
        return Err(Fault::Size(text).at(&pair.data));
    }
    let bytes = read_file(&pair.data)?;
    let short = || Fault::Size("the file became shorter while it was read".into()).at(&pair.data);
    let values = bytes
        .get(header.offset as usize..needed as usize)
        .ok_or_else(short)?;
    let mut notes = Vec::new();
    if held > needed {
        let rest = size_in_words(held - needed);
        notes.push(format!(
            "{rest} after the last value were ignored: check the sizes in the header"
        ));
    }
    Ok((decode(values, header), notes))
}

/// Integers of 32 bits and more become f32 where that is exact.
fn decode(bytes: &[u8], header: &Header) -> Buffer {
    match header.number {
        Number::I8 => Buffer::F32(gather(bytes, header, |b| i8::from_le_bytes(b).into())),
        Number::U8 => Buffer::F32(gather(bytes, header, |b| u8::from_le_bytes(b).into())),
        Number::I16 => Buffer::F32(gather(bytes, header, |b| i16::from_le_bytes(b).into())),
        Number::U16 | Number::F16 => {
            Buffer::F32(gather(bytes, header, |b| u16::from_le_bytes(b).into()))
        }
        Number::F32 => Buffer::F32(gather(bytes, header, f32::from_le_bytes)),
        Number::I32 => narrowed(gather(bytes, header, |b| i32::from_le_bytes(b).into())),
        Number::U32 => narrowed(gather(bytes, header, |b| u32::from_le_bytes(b).into())),
        Number::I64 => narrowed(gather(bytes, header, |b| i64::from_le_bytes(b) as f64)),
        Number::U64 => narrowed(gather(bytes, header, |b| u64::from_le_bytes(b) as f64)),
        Number::F64 => Buffer::F64(gather(bytes, header, f64::from_le_bytes)),
    }
}

fn narrowed(values: Vec<f64>) -> Buffer {
    const MAX_EXACT_F32: f64 = 16_777_216.0;
    match values.iter().all(|value| value.abs() <= MAX_EXACT_F32) {
        true => Buffer::F32(values.into_iter().map(|value| value as f32).collect()),
        false => Buffer::F64(values),
    }
}

/// All values by line, sample and band; where in the file each lies follows from the interleave.
fn gather<const N: usize, T: Clone + Default>(
    bytes: &[u8],
    header: &Header,
    number: impl Fn([u8; N]) -> T,
) -> Vec<T> {
    let (values, _) = bytes.as_chunks::<N>();
    let (lines, samples, bands) = (header.lines, header.samples, header.bands);
    // The steps in the file to the next line, sample and band.
    let (line, sample, band) = match header.interleave {
        Interleave::Bsq => (samples, 1, lines * samples),
        Interleave::Bil => (bands * samples, 1, samples),
        Interleave::Bip => (samples * bands, bands, 1),
    };
    let mut out = vec![T::default(); lines * samples * bands];
    // A few pixels at a time, band after band: neighbours in the file are read together, and what is written is near.
    for (l, pixels) in out.chunks_mut((samples * bands).max(1)).enumerate() {
        for (block, pixels) in pixels
            .chunks_mut(PIXELS_PER_BLOCK * bands.max(1))
            .enumerate()
        {
            for b in 0..bands {
                let first = l * line + block * PIXELS_PER_BLOCK * sample + b * band;
                let from = values
                    .get(first..)
                    .unwrap_or_default()
                    .iter()
                    .step_by(sample);
                let to = pixels.iter_mut().skip(b).step_by(bands);
                to.zip(from)
                    .for_each(|(to, &chunk)| *to = number(swapped(chunk, header.big)));
            }
        }
    }
    out
}

fn swapped<const N: usize>(mut bytes: [u8; N], big: bool) -> [u8; N] {
    if big {
        bytes.reverse();
    }
    bytes
}
