//! ENVI headers: text of `key = value` lines after a first line `ENVI`, beside a file of bare values.
//!
//! A value in braces may run over several lines; a line that starts with `;` is a comment. Keys are compared in lower
//! case, whatever stands between their words. What places the scene on the earth is kept as text, to be written beside
//! what is computed from it; keys we do not know are skipped.

use std::collections::BTreeMap;

use crate::arrays::bytes::Number;
use crate::error::{Fault, plural};
use crate::open::sniff;
use crate::scenes::envi::class_names;

/// The first bytes of a header.
pub(crate) const ENVI_MAGIC: &[u8] = b"ENVI";

/// The longest header we read.
pub(crate) const MAX_HEADER_BYTES: usize = 1 << 20;

/// [`begins`] needs this many first bytes.
pub(crate) const SNIFFED_BYTES: u64 = 8;

/// Whether a file begins as a header does, perhaps after a byte order mark: `ENVI` stands alone on its line, unlike the
/// first name of a table.
pub(crate) fn begins(bytes: &[u8]) -> bool {
    bytes
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(bytes)
        .strip_prefix(ENVI_MAGIC)
        .is_some_and(|rest| rest.first().is_none_or(u8::is_ascii_whitespace))
}

/// Keys that place a scene on the earth.
const MAP_KEYS: [&str; 6] = [
    "map info",
    "projection info",
    "coordinate system string",
    "geo points",
    "pixel size",
    "rpc info",
];

/// Keys that must not contradict themselves.
const UNIQUE_KEYS: [&str; 7] = [
    "samples",
    "lines",
    "bands",
    "header offset",
    "data type",
    "interleave",
    "byte order",
];

/// The order of the values in the file, slowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interleave {
    /// Band, line, sample.
    Bsq,
    /// Line, band, sample.
    Bil,
    /// Line, sample, band.
    Bip,
}

/// What the header says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Header {
    pub lines: usize,
    pub samples: usize,
    pub bands: usize,
    /// Where the values start.
    pub offset: u64,
    pub number: Number,
    pub big: bool,
    pub interleave: Interleave,
    /// Whether values are numbers of classes.
    pub classification: bool,
    /// Names of the classes; the first is that of pixels without one.
    pub class_names: Vec<String>,
    /// Red, green and blue of each class, or none.
    pub colours: Vec<[u8; 3]>,
    /// The wavelength of each band, or none.
    pub wavelengths: Vec<f64>,
    pub unit: String,
    /// Which bands are good, where the header tells.
    pub good: Option<Vec<bool>>,
    /// The value of pixels that were not measured.
    pub ignore: Option<f64>,
    pub notes: Vec<String>,
    /// The lines that place the scene on the earth, as they stand.
    pub places: Vec<String>,
}

/// Values by key, with the line of each from 1.
struct Fields(BTreeMap<String, (String, usize)>);

/// Reads a header.
pub(crate) fn header(bytes: &[u8]) -> Result<Header, Fault> {
    if !begins(bytes) {
        return Err(sniff::not_a("an ENVI header", bytes));
    }
    if bytes.len() > MAX_HEADER_BYTES {
        return Err(Fault::damaged("an ENVI header longer than 1 MiB"));
    }
    let fields = fields(&String::from_utf8_lossy(bytes))?;
    if fields
        .word("file compression")
        .is_some_and(|value| value != "0")
    {
        return Err(Fault::format(
            "the ENVI data are compressed, which this tool does not read",
            "Save them plainly.",
        ));
    }
    let kind = fields.word("file type").unwrap_or_default();
    if kind.contains("spectral library") {
        let next = "Give a scene, or save the spectra as csv or npy.";
        return Err(Fault::format(
            "an ENVI spectral library, which this tool does not read",
            next,
        ));
    }
    let (lines, samples, bands) = (
        fields.size("lines")?,
        fields.size("samples")?,
        fields.size("bands")?,
    );
    let mut notes = Vec::new();
    let list = |key: &str| fields.list(key).unwrap_or_default();
    let wavelengths = fields.numbers("wavelength", bands, &mut notes)?;
    let good = fields.numbers("bbl", bands, &mut notes)?;
    Ok(Header {
        lines,
        samples,
        bands,
        offset: fields.whole("header offset")?.unwrap_or(0),
        number: fields.number()?,
        big: fields.big()?,
        interleave: fields.interleave(bands)?,
        classification: kind.contains("classification"),
        class_names: class_names::distinct(
            list("class names"),
            fields.whole("classes")?,
            &mut notes,
        ),
        colours: fields.colours(),
        wavelengths: wavelengths.unwrap_or_default(),
        unit: unit(&fields.word("wavelength units").unwrap_or_default()),
        good: good.map(|list| list.iter().map(|&value| value != 0.0).collect()),
        ignore: fields.ignore()?,
        notes,
        places: fields.places(),
    })
}

/// Splits the text into keys and values.
fn fields(text: &str) -> Result<Fields, Fault> {
    let mut found: BTreeMap<String, (String, usize)> = BTreeMap::new();
    let mut lines = (1..)
        .zip(text.lines())
        .skip(1)
        .filter(|(_, line)| !line.trim_start().starts_with(';'));
    while let Some((number, line)) = lines.next() {
        let Some((key, value)) = line.split_once('=') else {
            continue;
        };
        let key = key
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .to_lowercase();
        let mut value = value.trim().to_string();
        if value.starts_with('{') {
            let mut closed = value.contains('}');
            while !closed {
                let open = || {
                    Fault::damaged(format!(
                        "the braces of {key:?} (line {number}) are never closed"
                    ))
                };
                let (_, more) = lines.next().ok_or_else(open)?;
                closed = more.contains('}');
                value.push('\n');
                value.push_str(more.trim());
            }
        }
        if let Some((first, at)) = found.get(&key)
            && *first != value
            && UNIQUE_KEYS.contains(&key.as_str())
        {
            let text = format!(
                "{key} is {first:?} on line {at} and {value:?} on line {number} of the ENVI header"
            );
            return Err(Fault::damaged(text));
        }
        found.insert(key, (value, number));
    }
    Ok(Fields(found))
}

impl Fields {
    fn text(&self, key: &str) -> Option<(&str, usize)> {
        self.0.get(key).map(|(value, line)| (value.as_str(), *line))
    }

    /// A value in lower case.
    fn word(&self, key: &str) -> Option<String> {
        self.text(key)
            .map(|(value, _)| value.trim_matches(['{', '}', ' ']).to_lowercase())
    }

    /// A whole number, if the key is there.
    fn whole(&self, key: &str) -> Result<Option<u64>, Fault> {
        let Some((value, line)) = self.text(key) else {
            return Ok(None);
        };
        let wrong = || {
            Fault::damaged(format!(
                "line {line} of the ENVI header: {key} is {value:?}, not a whole number"
            ))
        };
        value.parse().map(Some).map_err(|_| wrong())
    }

    /// A number of samples, lines or bands.
    fn size(&self, key: &str) -> Result<usize, Fault> {
        let size = self
            .whole(key)?
            .ok_or_else(|| Fault::damaged(format!("the ENVI header lacks {key:?}")))?;
        match usize::try_from(size) {
            Ok(0) => Err(Fault::Shape(format!("the ENVI header says {key} = 0"))),
            Ok(size) => Ok(size),
            Err(_) => Err(Fault::Shape(format!(
                "the ENVI header says {key} = {size}, which overflows"
            ))),
        }
    }

    /// The parts of a list in braces.
    fn list(&self, key: &str) -> Option<Vec<String>> {
        let (value, _) = self.text(key)?;
        let inner = value
            .trim_start_matches('{')
            .split('}')
            .next()
            .unwrap_or_default();
        let parts: Vec<String> = inner
            .split(',')
            .map(|part| part.trim().to_string())
            .collect();
        // A comma may stand after the last part.
        let end = parts
            .iter()
            .rposition(|part| !part.is_empty())
            .map_or(0, |last| last + 1);
        Some(parts.into_iter().take(end).collect())
    }

    /// A list with a number for each band. One of another length is skipped with a note.
    fn numbers(
        &self,
        key: &str,
        bands: usize,
        notes: &mut Vec<String>,
    ) -> Result<Option<Vec<f64>>, Fault> {
        let (Some(parts), Some((_, line))) = (self.list(key), self.text(key)) else {
            return Ok(None);
        };
        let number = |part: &String| {
            let wrong = || {
                Fault::damaged(format!(
                    "{part:?} in the list {key:?} (line {line} of the ENVI header)"
                ))
            };
            part.parse::<f64>().map_err(|_| wrong())
        };
        let numbers = parts
            .iter()
            .map(number)
            .collect::<Result<Vec<f64>, Fault>>()?;
        if numbers.len() != bands {
            let (found, values) = (numbers.len(), plural(numbers.len(), "value", "values"));
            notes.push(format!(
                "the list {key:?} of the header was ignored: {found} {values} for {bands} bands"
            ));
            return Ok(None);
        }
        Ok(Some(numbers))
    }

    /// The colours of classes; none if one of them is not a colour.
    fn colours(&self) -> Vec<[u8; 3]> {
        let parts = self.list("class lookup").unwrap_or_default();
        let values: Option<Vec<u8>> = parts.iter().map(|part| part.parse().ok()).collect();
        values
            .filter(|values| values.len() % 3 == 0)
            .map_or_else(Vec::new, |values| values.as_chunks().0.to_vec())
    }

    fn number(&self) -> Result<Number, Fault> {
        let code = self
            .whole("data type")?
            .ok_or_else(|| Fault::damaged("the ENVI header lacks \"data type\""))?;
        Ok(match code {
            1 => Number::U8,
            2 => Number::I16,
            3 => Number::I32,
            4 => Number::F32,
            5 => Number::F64,
            12 => Number::U16,
            13 => Number::U32,
            14 => Number::I64,
            15 => Number::U64,
            6 | 9 => {
                return Err(Fault::Kind(format!(
                    "complex numbers (ENVI data type {code})"
                )));
            }
            _ => {
                return Err(Fault::Kind(format!(
                    "values of the unknown ENVI data type {code}"
                )));
            }
        })
    }

    fn big(&self) -> Result<bool, Fault> {
        match self.whole("byte order")? {
            None | Some(0) => Ok(false),
            Some(1) => Ok(true),
            Some(other) => Err(Fault::damaged(format!(
                "the ENVI header says byte order = {other}, not 0 or 1"
            ))),
        }
    }

    fn interleave(&self, bands: usize) -> Result<Interleave, Fault> {
        match self.word("interleave").as_deref() {
            Some("bsq") => Ok(Interleave::Bsq),
            Some("bil") => Ok(Interleave::Bil),
            Some("bip") => Ok(Interleave::Bip),
            None if bands == 1 => Ok(Interleave::Bsq),
            None => Err(Fault::damaged("the ENVI header lacks \"interleave\"")),
            Some(other) => Err(Fault::damaged(format!(
                "the ENVI header says interleave = {other:?}, not bsq, bil or bip"
            ))),
        }
    }

    fn ignore(&self) -> Result<Option<f64>, Fault> {
        let Some((value, line)) = self.text("data ignore value") else {
            return Ok(None);
        };
        let wrong = || {
            format!("line {line} of the ENVI header: data ignore value is {value:?}, not a number")
        };
        value.parse().map(Some).map_err(|_| Fault::damaged(wrong()))
    }

    fn places(&self) -> Vec<String> {
        MAP_KEYS
            .iter()
            .filter_map(|&key| self.text(key).map(|(value, _)| format!("{key} = {value}")))
            .collect()
    }
}

/// Units as they are written beside an axis.
fn unit(word: &str) -> String {
    match word {
        "nanometers" | "nanometres" | "nanometer" | "nanometre" | "nm" => "nm".into(),
        "micrometers" | "micrometres" | "micrometer" | "micrometre" | "microns" | "um" | "µm"
        | "μm" => "µm".into(),
        "unknown" | "index" => String::new(),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN_HEADER: &str = "samples = 3\nlines = 2\nbands=2\ndata type = 4\ninterleave = BIL\n";

    fn read(text: &str) -> Result<Header, Fault> {
        header(format!("ENVI\n{text}").as_bytes())
    }

    #[test]
    fn everything_we_know_of() {
        let text = "; a comment\ndescription = {two\nlines}\n SAMPLES =3\nlines = 2\r\nbands = 2\nheader  offset = 7\n\
             data type = 12\ninterleave = bip\nbyte order = 1\nfile type = ENVI Standard\nwavelength units = Micrometers\n\
             wavelength = {\n 0.4,\n; between\n 2.5,\n}\nbbl = {1, 0}\ndata ignore value = -9999\n\
             map info = {UTM, 1, 1,\n 5, 6}\nsomething else\n";
        let header = read(text).unwrap();
        assert_eq!(
            (header.lines, header.samples, header.bands, header.offset),
            (2, 3, 2, 7)
        );
        assert_eq!(
            (header.number, header.big, header.interleave),
            (Number::U16, true, Interleave::Bip)
        );
        assert_eq!(
            (header.wavelengths, header.unit.as_str()),
            (vec![0.4, 2.5], "µm")
        );
        assert_eq!(
            (header.good, header.ignore),
            (Some(vec![true, false]), Some(-9999.0))
        );
        assert_eq!(header.places, ["map info = {UTM, 1, 1,\n5, 6}"]);
        assert!(!header.classification && header.notes.is_empty());
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        let header = read(PLAIN_HEADER).unwrap();
        assert_eq!(
            (header.offset, header.big, header.interleave),
            (0, false, Interleave::Bil)
        );
        assert_eq!(
            (header.good, header.ignore, header.unit.as_str()),
            (None, None, "")
        );
        let classes = read(&format!(
            "{PLAIN_HEADER}file type = ENVI Classification\nclass names = {{Unclassified, a b}}\n"
        ));
        let classes = classes.unwrap();
        assert!(classes.classification);
        assert_eq!(
            (classes.class_names, classes.colours),
            (vec!["Unclassified".into(), "a b".to_string()], vec![])
        );
        let lookup = |list: &str| {
            read(&format!("{PLAIN_HEADER}class lookup = {{{list}}}\n"))
                .unwrap()
                .colours
        };
        assert_eq!(lookup("0, 0, 0,\n255, 1, 2"), [[0, 0, 0], [255, 1, 2]]);
        assert!(lookup("0, 0, 256").is_empty() && lookup("0, 0").is_empty());
        let short = read(&format!("{PLAIN_HEADER}wavelength = {{1}}\n")).unwrap();
        assert!(short.wavelengths.is_empty());
        assert!(
            short.notes[0].contains("1 value for 2 bands"),
            "{:?}",
            short.notes
        );
    }

    #[test]
    fn headers_are_short_and_read_once() {
        // If every line read the description again, this would take a minute.
        let text = format!(
            "description = {{\n{}}}\n{PLAIN_HEADER}",
            "x\n".repeat(500_000)
        );
        assert_eq!(read(&text).unwrap().bands, 2);
        let error = read(&format!("{text}; {}\n", "x".repeat(50_000)))
            .unwrap_err()
            .to_string();
        assert!(error.contains("longer than 1 MiB"), "{error}");
    }

    #[test]
    fn the_mark_stands_alone() {
        for bytes in ["ENVI\n", "ENVI\r\n", "ENVI ", "ENVI", "\u{feff}ENVI\n"] {
            assert!(begins(bytes.as_bytes()), "{bytes:?}");
        }
        for bytes in ["ENVIRONMENT,a\n", "ENVI,a\n", "ENV", ""] {
            assert!(!begins(bytes.as_bytes()), "{bytes:?}");
        }
    }

    #[test]
    fn faults_name_key_and_line() {
        let cases = [
            ("bands = 1", "I5", "lacks \"lines\""),
            (
                "lines = 1\nsamples = x",
                "I5",
                "line 3 of the ENVI header: samples is \"x\"",
            ),
            (
                "lines = 1\nlines = 2",
                "I5",
                "lines is \"1\" on line 2 and \"2\" on line 3",
            ),
            ("lines = 0", "I3", "lines = 0"),
            ("lines = 99999999999999999999", "I5", "not a whole number"),
            (
                "description = {never\nclosed",
                "I5",
                "\"description\" (line 2) are never closed",
            ),
            ("file compression = 1", "I5", "compressed"),
            (
                "file type = ENVI Spectral Library",
                "I5",
                "spectral library",
            ),
        ];
        for (text, code, words) in cases {
            let error = read(text).unwrap_err().at("x");
            assert_eq!(error.code(), code, "{text}");
            assert!(error.to_string().contains(words), "{error}");
        }
        let typed = |text: &str| {
            read(&format!("lines = 1\nsamples = 1\nbands = 2\n{text}\n"))
                .unwrap_err()
                .at("x")
        };
        for (text, code, words) in [
            (
                "interleave = bil\ndata type = 6",
                "I4",
                "complex numbers (ENVI data type 6)",
            ),
            (
                "interleave = bil\ndata type = 9",
                "I4",
                "complex numbers (ENVI data type 9)",
            ),
            (
                "interleave = bil\ndata type = 7",
                "I4",
                "unknown ENVI data type 7",
            ),
            ("interleave = bil", "I5", "lacks \"data type\""),
            (
                "interleave = tile\ndata type = 4",
                "I5",
                "interleave = \"tile\"",
            ),
            ("data type = 4", "I5", "lacks \"interleave\""),
            (
                "interleave = bil\ndata type = 4\nbyte order = 2",
                "I5",
                "byte order = 2",
            ),
            (
                "interleave = bil\ndata type = 4\nwavelength = {1, x}",
                "I5",
                "\"x\" in the list \"wavelength\" (line 7",
            ),
            (
                "interleave = bil\ndata type = 4\ndata ignore value = none",
                "I5",
                "line 7",
            ),
        ] {
            assert_eq!(typed(text).code(), code, "{text}");
            assert!(typed(text).to_string().contains(words), "{}", typed(text));
        }
        assert_eq!(header(b"BYTEORDER I\n").unwrap_err().at("x").code(), "I5");
    }
}
