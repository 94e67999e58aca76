//! The pools of the paper's experiments: where their files are, who publishes them, and what stands in for them.
//!
//! Nothing is downloaded. Features come from a folder (`--data` or `DIAL_DATA`); where a file is missing the message
//! says which one, where its owners publish the data behind it, and the SHA-256 of the file our results were made with.
//! In a quick run generators stand in: drawn digits for the pictures, a drawn scene for the spectra.

use std::path::{Path, PathBuf};

use dial::simulate::Truth;
use dial::{Metric, NodeId};
pub use dial_baselines::comparison::n_clusters;
use dial_data::{ArrayData, Pool, ReadOptions};

use crate::error::LabError;
use dial_plot::words::Listed;

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

const SPECTRA_SOURCE: &str =
    "the scenes are published at www.ehu.eus/ccwintco (Hyperspectral Remote Sensing Scenes)";
const DIGITS_SOURCE: &str = "the images are published at yann.lecun.com/exdb/mnist; X holds codes of a variational autoencoder trained on them";
const FASHION_SOURCE: &str = "the images are published at github.com/zalandoresearch/fashion-mnist; X holds codes of a variational autoencoder trained on them";

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

    /// How its items are compared.
    pub fn metric(self) -> Metric {
        match self.hyperspectral() {
            true => Metric::Cosine,
            false => Metric::Euclidean,
        }
    }

    /// Its file in the folder of data.
    pub fn file(self) -> &'static str {
        self.source().file
    }

    fn source(self) -> Source {
        let (file, sha256, published) = match self {
            Dataset::SalinasA => (
                "features/salinassub.npz",
                "aa8699968c3cff3d88030e7906255a5be5ff0aa3e642158bc7f1530ae9327555",
                SPECTRA_SOURCE,
            ),
            Dataset::Pavia => (
                "features/paviasub.npz",
                "3a96dffb3e75975cf14a83fe8f4aa5e2e3a1e4eafd50818c2cff2e2e1019cf85",
                SPECTRA_SOURCE,
            ),
            Dataset::MnistSmall => (
                "features/mnistsmall.npz",
                "5e3d922f29c2caba06a50c221311c08fbf55ce56023be76b4afc31c786a08ec3",
                DIGITS_SOURCE,
            ),
            Dataset::FashionMnistSmall => (
                "features/fashionmnistsmall.npz",
                "ffce87f820590c0f168c9c02b614f92d4c147fe6623da255b3eeef06c969bfaa",
                FASHION_SOURCE,
            ),
            Dataset::Mnist => (
                "features/mnist.npz",
                "ce1ed611838ba567a89437edcd57b2cccb0c23a024f6b5701058b5e6043c30bc",
                DIGITS_SOURCE,
            ),
            Dataset::FashionMnist => (
                "features/fashionmnist.npz",
                "9b8e61541263e637df4f84c77b3a6a8d8b59d4ffe8577b9700cd6663d44302ec",
                FASHION_SOURCE,
            ),
        };
        Source {
            file,
            sha256,
            published,
        }
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
    /// The authors' own LAND ranking, where there is one, and the SHA-256 of its file.
    pub ranking: Option<(Vec<NodeId>, String)>,
    /// Row and column of every pixel, where known.
    pub places: Option<(Vec<usize>, Vec<usize>)>,
}

impl Loaded {
    /// The known labels: as they are, or modulo a number with the labels as clusters.
    pub fn truth(&self, modulo: Option<u16>) -> Result<Truth, LabError> {
        Ok(match modulo {
            Some(m) => self.labels.modulo(m)?.for_simulation(),
            None => self.labels.for_simulation(),
        })
    }
}

/// Shown instead of a folder where none was given.
const NO_FOLDER: &str = "no folder of data was named";

/// Refuses if the file of one of the pools is missing, and names all of them.
pub fn check(datasets: &[Dataset], origin: &Origin) -> Result<(), LabError> {
    let folder = match origin {
        Origin::Generators => return Ok(()),
        Origin::Unknown => Path::new(NO_FOLDER),
        Origin::Folder(folder) => folder,
    };
    let missing: Vec<&Dataset> = datasets
        .iter()
        .filter(|set| !folder.join(set.source().file).is_file())
        .collect();
    match missing.as_slice() {
        [] => Ok(()),
        some => Err(absent(some, folder)),
    }
}

/// Opens a pool, or makes what stands in for it.
pub fn load(dataset: Dataset, origin: &Origin) -> Result<Loaded, LabError> {
    match origin {
        Origin::Generators => stand_in(dataset),
        Origin::Unknown => Err(absent(&[&dataset], Path::new(NO_FOLDER))),
        Origin::Folder(folder) => open(dataset, folder),
    }
}

/// Small drawn pools with the same structure: pictures of ten kinds, or spectra of six.
fn stand_in(dataset: Dataset) -> Result<Loaded, LabError> {
    let name = match dataset {
        Dataset::SalinasA => "builtin:scene:576",
        Dataset::Pavia => "builtin:scene:400",
        Dataset::MnistSmall => "builtin:digits:500",
        Dataset::FashionMnistSmall => "builtin:digits:400",
        Dataset::Mnist => "builtin:digits:800",
        Dataset::FashionMnist => "builtin:digits:700",
    };
    let seed = dataset as u64;
    let mut pool = dial_data::open(name, &ReadOptions::default(), seed, &dial::Control::new())?;
    let known = |pool: &Pool| pool.truth.clone().expect("generators know their labels");
    let side = (pool.matrix.n as f64).sqrt() as usize;
    let mut places = None;
    if dataset.hyperspectral() {
        let keep: Vec<usize> = (0..pool.matrix.n)
            .filter(|&row| known(&pool).labels[row].is_some())
            .collect();
        places = Some((
            keep.iter().map(|row| row / side).collect(),
            keep.iter().map(|row| row % side).collect(),
        ));
        pool.select_rows(&keep);
        pool.ids = None;
    }
    let labels = known(&pool);
    let fingerprint = format!("{name} of seed {seed}");
    let title = format!("{} (stand-in)", dataset.name());
    Ok(Loaded {
        name: title,
        pool,
        labels,
        metric: dataset.metric(),
        fingerprint,
        ranking: None,
        places,
    })
}

fn open(dataset: Dataset, folder: &Path) -> Result<Loaded, LabError> {
    let source = dataset.source();
    let path = folder.join(source.file);
    check(&[dataset], &Origin::Folder(folder.to_path_buf()))?;
    let fingerprint = dial_data::fingerprint(&path)?;
    let mut pool = dial_data::open(
        &path.to_string_lossy(),
        &ReadOptions::default(),
        0,
        &dial::Control::new(),
    )?;
    if fingerprint != source.sha256 {
        pool.notes.push(format!(
            "{}: not the file our published results were made with",
            source.file
        ));
    }
    let labels = pool.truth.clone().ok_or_else(|| {
        LabError::input(
            "I12",
            format!(
                "{} has no array `labels`, and an experiment needs them. Add it.",
                path.display()
            ),
        )
    })?;
    let ranking = if dataset.hyperspectral() {
        ranking(&path, source.file, &mut pool)?
    } else {
        None
    };
    let places = integers(&path, "row")?
        .zip(integers(&path, "col")?)
        .filter(|places| a_scene(places, pool.matrix.n));
    Ok(Loaded {
        name: dataset.name().to_string(),
        pool,
        labels,
        metric: dataset.metric(),
        fingerprint,
        ranking,
        places,
    })
}

/// The authors' ranking beside a pool: each node at most once.
fn ranking(
    path: &Path,
    file: &str,
    pool: &mut Pool,
) -> Result<Option<(Vec<NodeId>, String)>, LabError> {
    let path = path.with_file_name(ranking_name(file));
    let Some(nodes) = integers(&path, "queries")? else {
        let name = ranking_name(file);
        pool.notes.push(format!(
            "without {name} (array `queries`) the authors' LAND ranking is left out"
        ));
        return Ok(None);
    };
    let mut seen = vec![false; pool.matrix.n];
    let new = |node: &usize| {
        seen.get_mut(*node)
            .is_some_and(|seen| !std::mem::replace(seen, true))
    };
    if !nodes.iter().all(new) {
        let detail = format!(
            "{}: `queries` must name each row of the pool at most once.",
            path.display()
        );
        return Err(LabError::input("I12", detail));
    }
    let fingerprint = dial_data::fingerprint(&path)?;
    Ok(Some((
        nodes.into_iter().map(|node| NodeId(node as u32)).collect(),
        fingerprint,
    )))
}

/// Whether rows and columns are those of a picture that can be drawn.
fn a_scene((rows, columns): &(Vec<usize>, Vec<usize>), n: usize) -> bool {
    let side = |places: &[usize]| {
        places
            .iter()
            .max()
            .map_or(0, |largest| largest.saturating_add(1))
    };
    rows.len() == n && columns.len() == n && side(rows).saturating_mul(side(columns)) <= 100_000_000
}

fn ranking_name(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    format!("{}_land.npz", name.trim_end_matches(".npz"))
}

/// An array of whole numbers of an archive, if there is such a file and such an array.
fn integers(path: &Path, name: &str) -> Result<Option<Vec<usize>>, LabError> {
    if !path.is_file() {
        return Ok(None);
    }
    let arrays = dial_data::read_npz(path)?;
    let found = arrays
        .into_iter()
        .find(|(array, _)| array == name)
        .map(|(_, array)| array.data);
    Ok(match found {
        Some(ArrayData::I64(values)) => values
            .into_iter()
            .map(|value| usize::try_from(value).ok())
            .collect(),
        _ => None,
    })
}

fn absent(missing: &[&Dataset], folder: &Path) -> LabError {
    let one = |set: &&Dataset| {
        let Source {
            file,
            sha256,
            published,
        } = set.source();
        format!("{file} for {} (SHA-256 {sha256}; {published})", set.name())
    };
    LabError::input(
        "I5",
        format!(
            "{}: missing {}. Nothing was downloaded, nothing was done. Name the folder that holds `features` with --data \
             DIR or DIAL_DATA, or try --quick, which needs no data.",
            folder.display(),
            missing.iter().map(one).joined("; ")
        ),
    )
}
