//! The readers that are fuzzed, and how bytes reach each of them.

use std::fs;
use std::path::Path;

use dial::Control;
use dial_data::{Error, GraphFile, Kind, ReadOptions, RowFile, open};

use crate::corpus::build;

/// What is fuzzed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A format of files, by how their names end.
    Format(&'static [&'static str]),
    /// Something that is not one file of a format.
    Special(Special),
}

/// Readers beside those of the formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// A text per line.
    Texts,
    /// Headers of ENVI, beside data.
    Envi,
    /// Pictures in a folder.
    Pictures,
    /// A file of labels beside a pool.
    Labels,
    /// A file of features beside a pool.
    Features,
    /// Rows of an array that stays in its file.
    Rows,
    /// Files of text packed by gzip or zstd.
    Packed,
    /// Graphs of ours.
    Graph,
    /// Files that are known by what they hold, and every other file of the corpus.
    Other,
}

dial::words::words!(Special, "the target", {
    Texts => "texts",
    Envi => "envi",
    Pictures => "pictures",
    Labels => "labels",
    Features => "features",
    Rows => "rows",
    Packed => "packed",
    Graph => "graph",
    Other => "other",
});

impl Target {
    /// All of them: every format that is read, and the rest.
    pub fn all() -> Vec<Target> {
        let special = Special::ALL.iter().copied().map(Target::Special);
        dial_data::endings()
            .map(Target::Format)
            .chain(special)
            .collect()
    }

    /// Its word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Target::Format(endings) => endings[0].trim_start_matches('.'),
            Target::Special(special) => special.word(),
        }
    }
}

/// What is put around the bytes that are mutated, so that a checksum does not stop every mutation at the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrap {
    /// Nothing.
    Plain,
    /// An archive with the bytes as the array X.
    Zip,
    /// gzip.
    Gzip,
    /// A frame of zstd.
    Zstd,
    /// A MATLAB file with the bytes as a compressed element.
    Mat,
    /// The checksum of the header of a graph is made right.
    Graph,
    /// The checksums of the chunks of a PNG are made right.
    Png,
}

impl Wrap {
    /// The bytes of the file.
    pub fn around(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Wrap::Plain => bytes.to_vec(),
            Wrap::Zip => build::zip(&[build::stored("X.npy", bytes.to_vec())]),
            Wrap::Gzip => build::gzip(bytes),
            Wrap::Zstd => build::zstd(bytes),
            Wrap::Mat => build::mat(&[build::packed(bytes)]),
            Wrap::Graph => sealed(bytes),
            Wrap::Png => sealed_png(bytes),
        }
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = flate2::Crc::new();
    sum.update(bytes);
    sum.sum()
}

/// A graph file whose header has the right checksum (bytes 1020 to 1023).
fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if bytes.len() >= 1024 {
        let sum = checksum(&bytes[..1020]);
        bytes[1020..1024].copy_from_slice(&sum.to_le_bytes());
    }
    bytes
}

/// A PNG whose chunks (length, name, data, checksum of name and data) have the right checksums.
fn sealed_png(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let mut at = 8;
    while let Some(&[a, b, c, d]) = bytes.get(at..at + 4) {
        let end = at + 8 + u32::from_be_bytes([a, b, c, d]) as usize;
        if end + 4 > bytes.len() {
            break;
        }
        let sum = checksum(&bytes[at + 4..end]);
        bytes[end..end + 4].copy_from_slice(&sum.to_be_bytes());
        at = end + 4;
    }
    bytes
}

/// An input: a file and how it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The name of the file.
    pub name: String,
    /// What is mutated.
    pub bytes: Vec<u8>,
    /// What is put around it.
    pub wrap: Wrap,
    /// Which options it is read with, a bit each.
    pub options: u16,
}

impl Input {
    /// A plain file read without options.
    pub fn plain(name: &str, bytes: Vec<u8>) -> Input {
        Input {
            name: name.into(),
            bytes,
            wrap: Wrap::Plain,
            options: 0,
        }
    }

    /// The options.
    fn read_options(&self) -> ReadOptions {
        let has = |bit: u16| self.options >> bit & 1 == 1;
        let named = |bit, name: &str| has(bit).then(|| name.to_string());
        ReadOptions {
            skip_bad: has(0),
            drop_nonfinite: has(1),
            skip_unknown: has(2),
            label_column: named(3, "label"),
            id_column: named(4, "id"),
            variable: named(5, "X"),
            standardize: has(6).then_some(true),
            components: has(7).then_some(2),
            text_column: named(8, "text"),
            describe: has(9),
            decimal_comma: has(10).then_some(true),
            delimiter: has(11).then_some(b';'),
            encoding: has(14).then(|| "gbk".parse().expect("a name of the web")),
            kind: match (has(12), has(13)) {
                (true, true) => Some(Kind::Scene),
                (true, false) => Some(Kind::Texts),
                _ => None,
            },
            ..ReadOptions::default()
        }
    }
}

/// Writes an input into a folder and reads it as the target does. What came of it, in words that leave out sizes.
pub fn attempt(target: Target, input: &Input, folder: &Path) -> Result<String, Error> {
    let path = folder.join(&input.name);
    fs::create_dir_all(path.parent().unwrap_or(folder)).expect("the folder can be written to");
    fs::write(&path, input.wrap.around(&input.bytes)).expect("the folder can be written to");
    let answer = read(target, input, folder, &path);
    fs::remove_file(&path).expect("the file is there");
    answer
}

fn read(target: Target, input: &Input, folder: &Path, path: &Path) -> Result<String, Error> {
    let control = Control::new();
    let mut options = input.read_options();
    let Target::Special(special) = target else {
        return pool(path, &options, &control);
    };
    let place = match special {
        Special::Rows => {
            let rows = RowFile::open(path)?;
            let mut out = vec![0.0; rows.dim.min(1 << 16)];
            if out.len() == rows.dim && rows.n > 0 {
                rows.read(rows.n - 1..rows.n, &mut out)?;
            }
            return Ok(format!("rows {}", rows.is_wide()));
        }
        Special::Graph => {
            let file = GraphFile::open(path)?;
            let graph = file.graph()?;
            file.verify(&control)?;
            return Ok(format!("graph {} {}", graph.n(), graph.entries()));
        }
        Special::Envi => {
            let values: Vec<u8> = (0..96u32).map(|i| (i * 37 % 251) as u8).collect();
            beside(folder, "scene.dat", &values);
            path.to_path_buf()
        }
        Special::Pictures => {
            options.skip_bad = false;
            folder.join(PICTURES)
        }
        Special::Texts => {
            options.kind = options.kind.or(Some(Kind::Texts));
            path.to_path_buf()
        }
        Special::Labels | Special::Features => {
            let pool = beside(folder, "pool.csv", b"id,a,b\na,1,2\nb,3,4\nc,5,7\n");
            match special {
                Special::Labels => options.labels_file = Some(path.into()),
                _ => options.features_file = Some(path.into()),
            }
            pool
        }
        Special::Packed | Special::Other => path.to_path_buf(),
    };
    pool(&place, &options, &control)
}

fn pool(path: &Path, options: &ReadOptions, control: &Control) -> Result<String, Error> {
    let pool = open(&path.display().to_string(), options, 0, control)?;
    let classes = pool.truth.map(|truth| truth.classes.len().min(3));
    let first = |note: &String| note.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let notes: Vec<String> = pool.notes.iter().take(4).map(first).collect();
    Ok(format!(
        "{} {classes:?} {} {}",
        pool.show.word(),
        pool.ids.is_some(),
        notes.join(" ")
    ))
}

/// The folder of pictures.
pub const PICTURES: &str = "pictures";

/// A file that is always there.
fn beside(folder: &Path, name: &str, bytes: &[u8]) -> std::path::PathBuf {
    let path = folder.join(name);
    if !path.exists() {
        fs::write(&path, bytes).expect("the folder can be written to");
    }
    path
}
