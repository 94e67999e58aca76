//! Maps of a scene as ENVI files, `x.hdr` with its data `x.img`: the class of each pixel, or a value for each.
//!
//! A map of classes is an ENVI classification: 0 is Unclassified, class c is c + 1 or the number it is given, in one byte,
//! or two where numbers exceed 255. A map of values holds 32-bit floats; pixels without one are NaN. Of files the data are
//! written first, so that a header never stands beside less than it promises.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::write_whole;
use crate::error::{Fault, Result};

/// The class of every pixel, row by row from the upper left.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassMap<'a> {
    /// Rows of the scene.
    pub height: usize,
    /// Columns of the scene.
    pub width: usize,
    /// The class of each pixel, if it has one.
    pub classes: &'a [Option<u16>],
    /// Names of the classes.
    pub names: &'a [String],
    /// The number of each class, from 1 and each another; those that are not given are c + 1 for class c.
    pub numbers: &'a [u16],
    /// Red, green and blue of each class.
    pub colours: &'a [[u8; 3]],
    /// Lines of a header that place the scene on the earth ([`crate::georeference`]).
    pub places: &'a [String],
}

/// A value for every pixel, row by row from the upper left.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueMap<'a> {
    /// Rows of the scene.
    pub height: usize,
    /// Columns of the scene.
    pub width: usize,
    /// The values; NaN where there is none.
    pub values: &'a [f32],
    /// What the values are.
    pub name: &'a str,
    /// Lines of a header that place the scene on the earth ([`crate::georeference`]).
    pub places: &'a [String],
}

/// A map as it stands in its two files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnviMap {
    /// The header.
    pub header: String,
    /// The data.
    pub data: Vec<u8>,
}

impl EnviMap {
    /// Writes both files; `path` is that of the header. Gives the path of the data.
    ///
    /// # Errors
    /// What writing may fail with.
    pub fn write(&self, path: &Path) -> Result<PathBuf> {
        let data = path.with_extension("img");
        write_whole(&data, |out| out.write_all(&self.data))?;
        write_whole(path, |out| out.write_all(self.header.as_bytes()))?;
        Ok(data)
    }
}

/// A map of classes.
///
/// # Errors
/// More classes than the format takes.
///
/// # Panics
/// If there are not `height * width` classes, or a class has no name or the number of another.
pub fn envi_classes(map: &ClassMap<'_>) -> Result<EnviMap> {
    assert_eq!(
        Some(map.classes.len()),
        map.height.checked_mul(map.width),
        "a class for every pixel"
    );
    assert!(
        map.classes
            .iter()
            .flatten()
            .all(|&class| usize::from(class) < map.names.len()),
        "a name for every class"
    );
    if map.names.len() >= usize::from(u16::MAX) {
        let text = format!(
            "{} classes do not fit into an ENVI classification.",
            map.names.len()
        );
        return Err(Fault::Setting(text).at("a map of classes"));
    }
    let number = |class: u16| {
        map.numbers
            .get(usize::from(class))
            .copied()
            .unwrap_or(class + 1)
    };
    let by_number: BTreeMap<u16, usize> = (0..map.names.len())
        .map(|class| (number(class as u16), class))
        .collect();
    assert!(
        by_number.len() == map.names.len() && !by_number.contains_key(&0),
        "a different number for every class"
    );
    let last = by_number.keys().next_back().copied().unwrap_or(0);
    let narrow = last <= u16::from(u8::MAX);
    let values = map.classes.iter().map(|class| class.map_or(0, number));
    let bytes: Vec<u8> = match narrow {
        true => values.map(|value| value as u8).collect(),
        false => values.flat_map(u16::to_le_bytes).collect(),
    };
    let name = |at: u16| {
        by_number
            .get(&at)
            .map_or_else(|| at.to_string(), |&class| plain(&map.names[class]))
    };
    let names = std::iter::once("Unclassified".to_string()).chain((1..=last).map(name));
    let colour = |at: u16| {
        by_number
            .get(&at)
            .and_then(|&class| map.colours.get(class))
            .copied()
            .unwrap_or([128; 3])
    };
    let colours = std::iter::once([0; 3]).chain((1..=last).map(colour));
    let own = [
        "file type = ENVI Classification".to_string(),
        format!("data type = {}", if narrow { 1 } else { 12 }),
        format!("classes = {}", u32::from(last) + 1),
        format!(
            "class lookup = {{{}}}",
            listed(colours.map(|[r, g, b]| format!("{r}, {g}, {b}")))
        ),
        format!("class names = {{{}}}", listed(names)),
        "band names = {class}".to_string(),
    ];
    Ok(with_header(
        (map.height, map.width),
        &own,
        map.places,
        bytes,
    ))
}

/// A map of values.
///
/// # Panics
/// If there are not `height * width` values.
pub fn envi_values(map: &ValueMap<'_>) -> EnviMap {
    assert_eq!(
        Some(map.values.len()),
        map.height.checked_mul(map.width),
        "a value for every pixel"
    );
    let bytes: Vec<u8> = map
        .values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let own = [
        "file type = ENVI Standard".to_string(),
        "data type = 4".to_string(),
        "data ignore value = NaN".to_string(),
        format!("band names = {{{}}}", plain(map.name)),
    ];
    with_header((map.height, map.width), &own, map.places, bytes)
}

fn with_header(sides: (usize, usize), own: &[String], places: &[String], data: Vec<u8>) -> EnviMap {
    let (lines, samples) = sides;
    let common = [
        "ENVI".to_string(),
        "description = {written by dial}".to_string(),
        format!("samples = {samples}"),
        format!("lines = {lines}"),
        "bands = 1".to_string(),
        "header offset = 0".to_string(),
        "interleave = bsq".to_string(),
        "byte order = 0".to_string(),
    ];
    let header: String = common
        .iter()
        .chain(own)
        .chain(places)
        .map(|line| format!("{line}\n"))
        .collect();
    EnviMap { header, data }
}

/// A name without what ends a name, a list or a line in a header.
fn plain(name: &str) -> String {
    let kept = |c: char| {
        if matches!(c, ',' | ';' | '{' | '}') || c.is_control() {
            ' '
        } else {
            c
        }
    };
    let text: String = name.chars().map(kept).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A list with a part on each line: some readers take short lines only.
fn listed(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(",\n ")
}
