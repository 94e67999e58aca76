//! Maps of a scene as ENVI files, `x.hdr` with its data `x.img`: the class of each pixel, or a value for each.
//!
//! A map of classes is an ENVI classification: 0 is Unclassified, class c is c + 1, in one byte, or two where there are
//! more than 255 classes. A map of values holds 32-bit floats; pixels without one are NaN. The data are written first, so
//! that a header never stands beside less than it promises.

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

/// Writes a map of classes; `path` is that of the header. Gives the path of the data.
///
/// # Panics
/// If there are not `height * width` classes, or a class has no name.
pub fn write_envi_classes(path: &Path, map: &ClassMap<'_>) -> Result<PathBuf> {
    assert_eq!(Some(map.classes.len()), map.height.checked_mul(map.width), "a class for every pixel");
    assert!(map.classes.iter().flatten().all(|&class| usize::from(class) < map.names.len()), "a name for every class");
    if map.names.len() >= usize::from(u16::MAX) {
        let text = format!("{} classes do not fit into an ENVI classification.", map.names.len());
        return Err(Fault::Setting(text).at(path.display().to_string()));
    }
    let number = |class: &Option<u16>| class.map_or(0, |class| class + 1);
    let narrow = map.names.len() <= usize::from(u8::MAX);
    let bytes: Vec<u8> = match narrow {
        true => map.classes.iter().map(|class| number(class) as u8).collect(),
        false => map.classes.iter().flat_map(|class| number(class).to_le_bytes()).collect(),
    };
    let names = std::iter::once("Unclassified".to_string()).chain(map.names.iter().map(|name| plain(name)));
    let colour = |class: usize| map.colours.get(class).copied().unwrap_or([128; 3]);
    let colours = std::iter::once([0; 3]).chain((0..map.names.len()).map(colour));
    let own = [
        "file type = ENVI Classification".to_string(),
        format!("data type = {}", if narrow { 1 } else { 12 }),
        format!("classes = {}", map.names.len() + 1),
        format!("class lookup = {{{}}}", listed(colours.map(|[r, g, b]| format!("{r}, {g}, {b}")))),
        format!("class names = {{{}}}", listed(names)),
        "band names = {class}".to_string(),
    ];
    write(path, (map.height, map.width), &own, map.places, &bytes)
}

/// Writes a map of values; `path` is that of the header. Gives the path of the data.
///
/// # Panics
/// If there are not `height * width` values.
pub fn write_envi_values(path: &Path, map: &ValueMap<'_>) -> Result<PathBuf> {
    assert_eq!(Some(map.values.len()), map.height.checked_mul(map.width), "a value for every pixel");
    let bytes: Vec<u8> = map.values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let own = [
        "file type = ENVI Standard".to_string(),
        "data type = 4".to_string(),
        "data ignore value = NaN".to_string(),
        format!("band names = {{{}}}", plain(map.name)),
    ];
    write(path, (map.height, map.width), &own, map.places, &bytes)
}

fn write(path: &Path, sides: (usize, usize), own: &[String], places: &[String], bytes: &[u8]) -> Result<PathBuf> {
    let data = path.with_extension("img");
    write_whole(&data, |out| out.write_all(bytes))?;
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
    let text: String = common.iter().chain(own).chain(places).map(|line| format!("{line}\n")).collect();
    write_whole(path, |out| out.write_all(text.as_bytes()))?;
    Ok(data)
}

/// A name without what ends a name, a list or a line in a header.
fn plain(name: &str) -> String {
    let kept = |c: char| if matches!(c, ',' | ';' | '{' | '}') || c.is_control() { ' ' } else { c };
    let text: String = name.chars().map(kept).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A list with a part on each line: some readers take short lines only.
fn listed(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(",\n ")
}
