//! The pools of the paper's experiments: where their files are, who publishes them, and what stands in for them.
//!
//! Nothing is downloaded. Features come from a folder (`--data` or `DIAL_DATA`); where a file is missing the message
//! says which one, where its owners publish the data behind it, and the SHA-256 of the file our results were made with.
//! In a quick run generators stand in: drawn digits for the pictures, a drawn scene for the spectra.

use std::path::{Path, PathBuf};

use dial::simulate::Truth;
use dial::{ErrorKind, Metric, NodeId};
use dial_data::{ArrayData, Pool, ReadOptions};

use super::trouble::Trouble;

/// A pool of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dataset {
    /// Salinas-A, the labelled pixels.
    SalinasA,
    /// The Pavia sub-scene, the labelled pixels.
    Pavia,
    /// Ten thousand MNIST codes.
    MnistSmall,
    /// Ten thousand FashionMNIST codes.
    FashionMnistSmall,
    /// All 70,000 MNIST codes.
    Mnist,
    /// All 70,000 FashionMNIST codes.
    FashionMnist,
}

/// A file of a pool.
struct Source {
    file: &'static str,
    sha256: &'static str,
    published: &'static str,
}

const SPECTRA: &str = "the scenes are published at www.ehu.eus/ccwintco (Hyperspectral Remote Sensing Scenes)";
const DIGITS: &str =
    "the images are published at yann.lecun.com/exdb/mnist; X holds codes of a variational autoencoder";
const FASHION: &str =
    "the images are published at github.com/zalandoresearch/fashion-mnist; X holds codes of a variational autoencoder";

impl Dataset {
    /// The name in figures and tables, as the paper writes it.
    pub fn name(self) -> &'static str {
        match self {
            Dataset::SalinasA => "Salinas-A",
            Dataset::Pavia => "Pavia",
            Dataset::MnistSmall => "MNIST-SMALL",
            Dataset::FashionMnistSmall => "FASHIONMNIST-SMALL",
            Dataset::Mnist => "MNIST",
            Dataset::FashionMnist => "FASHIONMNIST",
        }
    }

    /// The name in file names.
    pub fn stem(self) -> &'static str {
        match self {
            Dataset::SalinasA => "salinas-a",
            Dataset::Pavia => "pavia",
            Dataset::MnistSmall => "mnist-small",
            Dataset::FashionMnistSmall => "fashionmnist-small",
            Dataset::Mnist => "mnist",
            Dataset::FashionMnist => "fashionmnist",
        }
    }

    /// Whether its items are spectra, compared by cosine and classified as they are.
    pub fn hyperspectral(self) -> bool {
        matches!(self, Dataset::SalinasA | Dataset::Pavia)
    }

    fn source(self) -> Source {
        let (file, sha256, published) = match self {
            Dataset::SalinasA => {
                ("features/salinassub.npz", "aa8699968c3cff3d88030e7906255a5be5ff0aa3e642158bc7f1530ae9327555", SPECTRA)
            }
            Dataset::Pavia => {
                ("features/paviasub.npz", "3a96dffb3e75975cf14a83fe8f4aa5e2e3a1e4eafd50818c2cff2e2e1019cf85", SPECTRA)
            }
            Dataset::MnistSmall => {
                ("features/mnistsmall.npz", "5e3d922f29c2caba06a50c221311c08fbf55ce56023be76b4afc31c786a08ec3", DIGITS)
            }
            Dataset::FashionMnistSmall => (
                "features/fashionmnistsmall.npz",
                "ffce87f820590c0f168c9c02b614f92d4c147fe6623da255b3eeef06c969bfaa",
                FASHION,
            ),
            Dataset::Mnist => {
                ("features/mnist.npz", "ce1ed611838ba567a89437edcd57b2cccb0c23a024f6b5701058b5e6043c30bc", DIGITS)
            }
            Dataset::FashionMnist => (
                "features/fashionmnist.npz",
                "9b8e61541263e637df4f84c77b3a6a8d8b59d4ffe8577b9700cd6663d44302ec",
                FASHION,
            ),
        };
        Source { file, sha256, published }
    }
}

/// Where pools come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// A folder of data.
    Folder(PathBuf),
    /// Nowhere was named: only generators can serve.
    Unknown,
    /// Generators, for a quick run.
    Generators,
}

/// A pool ready for an experiment.
pub struct Loaded {
    /// The name in figures and tables.
    pub name: String,
    /// The items.
    pub pool: Pool,
    /// The classes as they are in the file.
    pub labels: dial_data::Truth,
    /// How items are compared.
    pub metric: Metric,
    /// SHA-256 of the file, or the name of the generator.
    pub fingerprint: String,
    /// The authors' own LAND ranking, where there is one.
    pub ranking: Option<Vec<NodeId>>,
    /// Row and column of every pixel, where known.
    pub places: Option<(Vec<usize>, Vec<usize>)>,
}

impl Loaded {
    /// The known labels: as they are, or modulo a number with the labels as clusters.
    pub fn truth(&self, modulo: Option<u16>) -> Result<Truth, Trouble> {
        Ok(match modulo {
            Some(m) => self.labels.modulo(m)?.for_simulation(),
            None => self.labels.for_simulation(),
        })
    }
}

/// Opens a pool, or makes what stands in for it.
pub fn load(dataset: Dataset, origin: &Origin) -> Result<Loaded, Trouble> {
    match origin {
        Origin::Generators => stand_in(dataset),
        Origin::Unknown => Err(missing(dataset, Path::new("the folder of --data (or DIAL_DATA)"))),
        Origin::Folder(folder) => open(dataset, folder),
    }
}

/// Small drawn pools with the same structure: pictures of ten kinds, or spectra of six.
fn stand_in(dataset: Dataset) -> Result<Loaded, Trouble> {
    let name = match dataset {
        Dataset::SalinasA => "builtin:scene:576",
        Dataset::Pavia => "builtin:scene:400",
        Dataset::MnistSmall => "builtin:digits:500",
        Dataset::FashionMnistSmall => "builtin:digits:400",
        Dataset::Mnist => "builtin:digits:800",
        Dataset::FashionMnist => "builtin:digits:700",
    };
    let seed = dataset as u64;
    let mut pool = dial_data::open(name, &ReadOptions::default(), seed)?;
    let known = |pool: &Pool| pool.truth.clone().expect("generators know their labels");
    let side = (pool.matrix.n as f64).sqrt() as usize;
    let mut places = None;
    if dataset.hyperspectral() {
        let keep: Vec<usize> = (0..pool.matrix.n).filter(|&row| known(&pool).labels[row].is_some()).collect();
        places = Some((keep.iter().map(|row| row / side).collect(), keep.iter().map(|row| row % side).collect()));
        pool.select_rows(&keep);
        pool.ids = None;
    }
    let labels = known(&pool);
    let metric = if dataset.hyperspectral() { Metric::Cosine } else { Metric::Euclidean };
    let fingerprint = format!("{name} of seed {seed}");
    let title = format!("{} (stand-in)", dataset.name());
    Ok(Loaded { name: title, pool, labels, metric, fingerprint, ranking: None, places })
}

fn open(dataset: Dataset, folder: &Path) -> Result<Loaded, Trouble> {
    let source = dataset.source();
    let path = folder.join(source.file);
    if !path.is_file() {
        return Err(missing(dataset, &path));
    }
    let fingerprint = dial_data::fingerprint(&path)?;
    let mut pool = dial_data::open(&path.to_string_lossy(), &ReadOptions::default(), 0)?;
    if fingerprint != source.sha256 {
        pool.notes.push(format!("{}: not the file our published results were made with", source.file));
    }
    let labels = pool.truth.clone().ok_or_else(|| missing(dataset, &path))?;
    let metric = if dataset.hyperspectral() { Metric::Cosine } else { Metric::Euclidean };
    let name = dataset.name().to_string();
    let ranking = integers(&path.with_file_name(ranking_name(source.file)), "queries")?;
    let ranking = ranking.map(|nodes| nodes.into_iter().map(|node| NodeId(node as u32)).collect());
    let places = integers(&path, "row")?.zip(integers(&path, "col")?);
    Ok(Loaded { name, pool, labels, metric, fingerprint, ranking, places })
}

fn ranking_name(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    format!("{}_land.npz", name.trim_end_matches(".npz"))
}

/// An array of whole numbers of an archive, if there is such a file and such an array.
fn integers(path: &Path, name: &str) -> Result<Option<Vec<usize>>, Trouble> {
    if !path.is_file() {
        return Ok(None);
    }
    let arrays = dial_data::read_npz(path)?;
    let found = arrays.into_iter().find(|(array, _)| array == name).map(|(_, array)| array.data);
    Ok(match found {
        Some(ArrayData::I64(values)) => values.into_iter().map(|value| usize::try_from(value).ok()).collect(),
        _ => None,
    })
}

fn missing(dataset: Dataset, place: &Path) -> Trouble {
    let Source { file, sha256, published } = dataset.source();
    Trouble {
        code: "I5",
        kind: ErrorKind::Input,
        detail: format!(
            "{}: no {file} for {} (SHA-256 {sha256}; {published}). Nothing was downloaded. Put the file there, name \
             its folder with --data DIR or DIAL_DATA, or try --quick, which needs no data.",
            place.display(),
            dataset.name()
        ),
    }
}
