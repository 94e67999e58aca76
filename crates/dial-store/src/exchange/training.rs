//! How to train a classifier on the CSV of an export: Python with pandas and scikit-learn that runs as it is.
//!
//! ```text
//! texts            words of the column of texts
//! tables           the columns that the pool has its features from: numbers, and words of few values
//! anything else    the features of the pool, which `dial.read` gives
//! ```

use std::collections::BTreeSet;
use std::path::Path;

use dial_data::write::{Cell, CellKind};
use dial_data::{OriginalColumn, Pool, ReadOptions, Show};

use crate::exchange::export::Export;
use crate::exchange::export_file::{Format, ORIGINAL};
use crate::project::prepared_pool::PreparedPool;

/// Columns up to which each is named.
const NAMED: usize = 12;
/// Different words of a column that makes a feature of each, at most.
const MOST_VALUES: usize = 50;
/// Columns that hold labels where none is named ([`ReadOptions::label_column`]).
const LABELS: [&str; 5] = ["label", "labels", "class", "target", "y"];
/// Comments that say what the file must be.
const WITH_COLUMNS: &str = "# the CSV, with the columns of the pool";

impl Export {
    /// Python that trains on the CSV of a project of this name. The columns of the pool must be here ([`Export::with_pool`]).
    pub fn training_example(&self, name: &str, prepared: &PreparedPool, folder: &Path) -> String {
        let file = quoted(&Format::Csv.file_of(name));
        let reading = prepared.recipe.reading_now(folder);
        let columns = self.original_names();
        match &prepared.pool.show {
            Show::Texts(texts) => match text_column(&columns, texts) {
                Some(column) => on_texts(&file, column),
                None => on_features(&file, prepared, folder),
            },
            Show::Numbers(_) => match feature_columns(&columns, &prepared.pool, &reading) {
                chosen if chosen.is_empty() => on_features(&file, prepared, folder),
                chosen => on_columns(&file, &columns, &chosen),
            },
            Show::Picture(_) | Show::Images(_) | Show::Scene(_) => {
                on_features(&file, prepared, folder)
            }
        }
    }
}

/// A text as Python writes it.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}

/// The column that the texts are from: the same texts, else the longest.
fn text_column<'a>(
    columns: &'a [(String, &OriginalColumn)],
    texts: &[String],
) -> Option<&'a String> {
    let words = |column: &OriginalColumn| -> Vec<String> {
        let word = |item| match column.cell(item) {
            Cell::Text(text) => text,
            _ => String::new(),
        };
        (0..texts.len()).map(word).collect()
    };
    let same = columns.iter().find(|(_, column)| words(column) == texts);
    let length = |column: &OriginalColumn| words(column).iter().map(String::len).sum::<usize>();
    let wordy = columns
        .iter()
        .filter(|(_, column)| column.kind() == CellKind::Text);
    let longest = || wordy.max_by_key(|(_, column)| length(column));
    same.or_else(longest).map(|(name, _)| name)
}

/// The places of the columns that the features are from: its numbers and categories, without ids and labels.
fn feature_columns(
    columns: &[(String, &OriginalColumn)],
    pool: &Pool,
    reading: &ReadOptions,
) -> Vec<usize> {
    let shown = match &pool.show {
        Show::Numbers(names) => names.as_slice(),
        _ => &[],
    };
    let is_label = |column: &OriginalColumn| match &reading.label_column {
        Some(label) => column.name == *label,
        None => pool.truth.is_some() && LABELS.contains(&column.name.to_lowercase().as_str()),
    };
    let aside = |column: &OriginalColumn| {
        is_label(column)
            || reading.id_column.as_ref() == Some(&column.name)
            || reading.drop_columns.contains(&column.name)
    };
    let few = |column: &OriginalColumn| {
        let words = (0..pool.matrix.n).filter_map(|item| match column.cell(item) {
            Cell::Text(word) => Some(word),
            _ => None,
        });
        let (mut all, mut different) = (0, BTreeSet::new());
        for word in words {
            all += 1;
            different.insert(word);
            if different.len() > MOST_VALUES {
                return false;
            }
        }
        different.len() > 1 && 2 * different.len() <= all
    };
    let chosen = |(at, (name, column)): (usize, &(String, &OriginalColumn))| {
        let taken = match column.kind() {
            CellKind::Text => few(column),
            _ => shown.is_empty() || shown.contains(&column.name),
        };
        // A label of the pool has the name of one of ours before it.
        let label = name.strip_prefix(ORIGINAL) == Some("label");
        (taken && !label && !aside(column)).then_some(at)
    };
    columns.iter().enumerate().filter_map(chosen).collect()
}

/// What reads the rows. Words that pandas takes for nothing may be classes and texts.
fn rows(file: &str, words: &[&str], comment: &str) -> String {
    let words: Vec<String> = ["id", "label", "predicted"]
        .iter()
        .chain(words)
        .map(|name| format!("{}: str", quoted(name)))
        .collect();
    let words = words.join(", ");
    let comment = match comment {
        "" => String::new(),
        comment => format!("{comment}\n"),
    };
    format!(
        "{comment}rows = pd.read_csv({file}, dtype={{{words}}}, keep_default_na=False, na_values=[\"\"])\n\
         rows = rows[rows[\"mark\"] != \"gone\"]\n\
         train = rows.dropna(subset=[\"label\"])\n"
    )
}

const FIT: &str = "train[\"label\"], sample_weight=train[\"weight\"])";

fn on_texts(file: &str, column: &str) -> String {
    format!(
        "import pandas as pd\n\
         from sklearn.feature_extraction.text import TfidfVectorizer\n\
         from sklearn.linear_model import LogisticRegression\n\n\
         {}texts = rows[{}].fillna(\"\")\n\
         words = TfidfVectorizer().fit(texts)\n\
         model = LogisticRegression(max_iter=1000)\n\
         model.fit(words.transform(texts[train.index]), {FIT}\n",
        rows(file, &[column], WITH_COLUMNS),
        quoted(column),
    )
}

fn on_columns(file: &str, columns: &[(String, &OriginalColumn)], chosen: &[usize]) -> String {
    let names: Vec<String> = chosen.iter().map(|&at| quoted(&columns[at].0)).collect();
    let (first, last) = (chosen[0], chosen[chosen.len() - 1]);
    let together = last - first + 1 == chosen.len();
    let features = match names.len() > NAMED && together {
        true => format!("rows.loc[:, {}:{}]", names[0], names[names.len() - 1]),
        false => format!("rows[[{}]]", names.join(", ")),
    };
    let wordy = |at: &usize| columns[*at].1.kind() == CellKind::Text;
    let categories: Vec<&str> = chosen
        .iter()
        .filter(|at| wordy(at))
        .map(|&at| columns[at].0.as_str())
        .collect();
    let features = match categories.is_empty() {
        true => features,
        false => format!("pd.get_dummies({features})"),
    };
    format!(
        "import pandas as pd\n\
         from sklearn.ensemble import RandomForestClassifier\n\n\
         {}features = {features}\n\
         model = RandomForestClassifier()\n\
         model.fit(features.loc[train.index], {FIT}\n",
        rows(file, &categories, WITH_COLUMNS),
    )
}

/// On what the pool itself is read as, by id: an export has no features of pictures.
fn on_features(file: &str, prepared: &PreparedPool, folder: &Path) -> String {
    let place = quoted(&prepared.recipe.pool_now(folder));
    let how = options(&prepared.recipe.reading_now(folder));
    format!(
        "import dial\n\
         import pandas as pd\n\
         from sklearn.linear_model import LogisticRegression\n\n\
         {}pool = dial.read({place}{how})  # the features that the questions are chosen by\n\
         names = pool.ids if pool.ids is not None else [str(row) for row in range(len(pool.X))]\n\
         features = pd.DataFrame(pool.X, index=names)\n\
         model = LogisticRegression(max_iter=1000)\n\
         model.fit(features.loc[train[\"id\"]], {FIT}\n",
        rows(file, &[], ""),
    )
}

/// Options as `dial.read` takes them.
fn options(reading: &ReadOptions) -> String {
    let kind = reading
        .kind
        .and_then(|kind| serde_json::to_value(kind).ok());
    let kind = kind.and_then(|kind| kind.as_str().map(String::from));
    let path =
        |file: &Option<std::path::PathBuf>| file.as_ref().map(|file| file.display().to_string());
    let words = [
        ("id_column", reading.id_column.clone()),
        ("label_column", reading.label_column.clone()),
        ("text_column", reading.text_column.clone()),
        ("image_column", reading.image_column.clone()),
        ("kind", kind),
        ("labels", path(&reading.labels_file)),
        ("features", path(&reading.features_file)),
        ("variable", reading.variable.clone()),
    ];
    let words = words
        .into_iter()
        .filter_map(|(name, word)| Some((name, quoted(&word?))));
    let flags = [
        ("folder_labels", reading.folder_labels),
        ("drop_nonfinite", reading.drop_nonfinite),
        ("skip_bad", reading.skip_bad),
    ];
    let flags = flags.into_iter().filter(|(_, on)| *on);
    let standardize = reading
        .standardize
        .map(|on| if on { "True" } else { "False" });
    let rest = [
        ("standardize", standardize.map(String::from)),
        (
            "components",
            reading.components.map(|count| count.to_string()),
        ),
    ];
    let rest = rest
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    words
        .chain(flags.map(|(name, _)| (name, "True".to_string())))
        .chain(rest)
        .map(|(name, value)| format!(", {name}={value}"))
        .collect()
}
