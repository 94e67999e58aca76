//! What can be typed about a pool, and what that means to its reader.

use std::path::{Path, PathBuf};

use clap::Args;
use dial::Choices;
use dial_data::{Embed, Encoding, Kind, ReadOptions, formats, pool_name};

use crate::cli::args::positive;
use crate::cli::values::{Delimiter, ZeroRows};

/// Where the items come from.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Pool")]
pub struct PoolArgs {
    /// A file, a folder of pictures or texts, or builtin:NAME
    #[arg(value_name = "POOL", help_heading = None::<&str>)]
    pub pool: String,
    #[command(flatten)]
    pub how: ReadArgs,
}

/// How the items are read.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Pool")]
pub struct ReadArgs {
    #[arg(
        long,
        value_name = "FILE",
        help = "File of features (embeddings) for the items of POOL",
        long_help = format!("File of features (embeddings) for the items of POOL, one row each or joined by id: {}", formats(&["ENVI"]))
    )]
    pub features: Option<PathBuf>,
    #[arg(
        long,
        value_name = "MODEL",
        conflicts_with = "features",
        help = "Model that makes the features of texts or pictures",
        long_help = "Model that makes the features of texts or pictures: an ONNX file or its folder, or for texts a folder of static word \
            vectors (tokenizer.json and model.safetensors, as model2vec saves them). Features of words stand beside the embeddings of \
            texts; MODEL+none leaves them out. Embeddings are kept in NAME.embeddings"
    )]
    pub embed: Option<Embed>,
    /// Where embeddings are kept, if not beside the pool's name in this folder.
    #[arg(skip)]
    pub embeddings: Option<PathBuf>,
    #[arg(
        long,
        value_name = "FILE",
        help = "File of labels: one per row, or ids and labels",
        long_help = format!("File of labels: one per row, or ids and labels ({})", formats(&["ENVI"]))
    )]
    pub labels: Option<PathBuf>,
    #[arg(
        long,
        value_name = "NAME",
        help = "Column or array that holds the labels",
        long_help = "Column of a table, or array of an npz or mat file, that holds the labels [default: label, labels, class, target or y]"
    )]
    pub label_column: Option<String>,
    /// Column of a table that holds the item ids [default: id]
    #[arg(long, value_name = "NAME")]
    pub id_column: Option<String>,
    /// Column of a table that holds texts, from which features are made [default: text or a similar name]
    #[arg(long, value_name = "NAME")]
    pub text_column: Option<String>,
    /// Column of a table that holds paths of picture files [default: image and its like]
    #[arg(long, value_name = "NAME")]
    pub image_column: Option<String>,
    /// Column of a table to leave out; may be repeated
    #[arg(long, value_name = "NAME")]
    pub drop_column: Vec<String>,
    /// Array of an npz or mat file that holds the features [default: X, or the only one]
    #[arg(long, value_name = "NAME")]
    pub variable: Option<String>,
    /// Kind of POOL, if it cannot be detected: table, texts, images or scene
    #[arg(long = "as", value_name = "KIND")]
    pub kind: Option<Kind>,
    /// Names of sub-folders are labels
    #[arg(long)]
    pub folder_labels: bool,
    /// Separator between the cells of a table: , ; | tab or space [default: guessed]
    #[arg(long, value_name = "CHAR")]
    pub delimiter: Option<Delimiter>,
    /// How the numbers of a table mark decimals: point or comma [default: guessed]
    #[arg(long, value_name = "MARK", value_parser = ["point", "comma"])]
    pub decimal: Option<String>,
    /// How files of text are encoded: shift_jis, gbk, big5, koi8-r or any other encoding of the WHATWG standard [default: utf-8, utf-16 if
    /// marked so, else latin1]
    #[arg(long, value_name = "NAME")]
    pub encoding: Option<Encoding>,
    /// Leave out rows that hold NaN or infinity
    #[arg(long)]
    pub drop_nonfinite: bool,
    /// Leave out rows and pictures that cannot be read
    #[arg(long)]
    pub skip_bad: bool,
    /// Describe grey pictures that come as arrays (IDX, npy) by edges and light instead of taking their pixels
    #[arg(long)]
    pub describe: bool,
    /// Labels whose id is not in the pool: error or skip
    #[arg(long, value_name = "WHAT", default_value = "error", value_parser = ["error", "skip"])]
    pub on_unknown: String,
    /// Scale every column to mean 0 and standard deviation 1: yes or no [default: tables of columns on different scales]
    #[arg(long, value_name = "YES", num_args = 0..=1, require_equals = true, default_missing_value = "yes", value_parser = ["yes", "no"])]
    pub standardize: Option<String>,
    /// Keep this many principal components of the features
    #[arg(long, value_name = "N", value_parser = positive)]
    pub pca: Option<usize>,
    /// Rows of length zero under cosine: error, isolate or drop [default: error]
    #[arg(long, value_name = "WHAT")]
    pub zero_vectors: Option<ZeroRows>,
    /// Items of this label stay in the graph but are neither asked nor scored
    #[arg(long, value_name = "L")]
    pub ignore_label: Vec<String>,
}

/// The folder of the embeddings of a pool or project called so.
pub fn embeddings_of(name: &Path) -> PathBuf {
    PathBuf::from(format!("{}.embeddings", name.display()))
}

impl PoolArgs {
    /// How the pool is to be read. Embeddings are kept beside where its project is.
    pub fn options(&self) -> ReadOptions {
        let mut options = self.how.options();
        if let Some(embed) = &mut options.embed {
            let usual = || embeddings_of(Path::new(&pool_name(&self.pool)));
            embed.kept = Some(self.how.embeddings.clone().unwrap_or_else(usual));
        }
        options
    }

    /// The files that are read beside the pool, each with what it holds.
    pub fn inputs<'a>(&'a self, graph: Option<&'a Path>) -> [(&'static str, Option<&'a Path>); 3] {
        [
            ("labels", self.how.labels.as_deref()),
            ("features", self.how.features.as_deref()),
            ("graph", graph),
        ]
    }
}

impl ReadArgs {
    /// What was typed about rows without length, as choices.
    pub fn choose(&self, choices: &mut Choices) {
        match self.zero_vectors {
            Some(ZeroRows::Core(choice)) => choices.zero_vectors = Some(choice),
            Some(ZeroRows::Drop) => choices.drop_zero_rows = true,
            None => {}
        }
    }

    /// How the pool is to be read.
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            id_column: self.id_column.clone(),
            label_column: self.label_column.clone(),
            text_column: self.text_column.clone(),
            image_column: self.image_column.clone(),
            drop_columns: self.drop_column.clone(),
            delimiter: self.delimiter.map(|Delimiter(byte)| byte),
            decimal_comma: self.decimal.as_deref().map(|mark| mark == "comma"),
            encoding: self.encoding,
            kind: self.kind,
            folder_labels: self.folder_labels,
            drop_nonfinite: self.drop_nonfinite,
            skip_bad: self.skip_bad,
            describe: self.describe,
            skip_unknown: self.on_unknown == "skip",
            standardize: self.standardize.as_deref().map(|word| word == "yes"),
            components: self.pca,
            features_file: self.features.clone(),
            without_features: false,
            embed: self.embed.clone(),
            labels_file: self.labels.clone(),
            variable: self.variable.clone(),
        }
    }
}
