//! Labels and beliefs out of a project and in again: exports, imports, backups.

mod backups;
mod exports;
mod imports;
mod recovery;

use std::path::Path;

use dial::{ClassId, Config, Control};
use dial_data::{Pool, ReadOptions};
use dial_store::{
    Decision, Export, Journal, PreparedPool, Project, Receipt, Recipe, Result, Share, Submission,
};

/// A time to go by.
pub const NOW: u64 = 1_700_000_000_000;

/// Sixty points with ids that files and spreadsheets find hard.
pub fn pool() -> Pool {
    let mut pool = dial_data::open(
        "builtin:moons:60",
        &ReadOptions::default(),
        0,
        &Control::new(),
    )
    .unwrap();
    let hard = [
        "=1+1",
        "a,b",
        "\"q\"",
        "'-x",
        "''@y",
        "-5",
        "{\"a\": 1}",
        "é ü",
        "NA",
        "two\nlines",
        "NaN",
        "[1]",
    ];
    let plain = (hard.len()..60).map(|row| format!("item {row}"));
    pool.ids = Some(hard.iter().map(|id| id.to_string()).chain(plain).collect());
    pool
}

/// A new project of that pool, and what its sessions work on.
pub fn made(folder: &Path, classes: &[&str]) -> (Project, PreparedPool) {
    let control = Control::new();
    let recipe = Recipe {
        config: Config {
            k: 8,
            ..Config::default()
        },
        ..Recipe::new("builtin:moons:60", ReadOptions::default())
    };
    let prepared = PreparedPool::of(pool(), &recipe, None, &control).unwrap();
    let mut first: Vec<Decision> = classes
        .iter()
        .map(|name| Decision::AddClass {
            name: name.to_string(),
        })
        .collect();
    first.push(Decision::from(
        prepared
            .engine
            .fix_prior(classes.len().max(2), &control)
            .unwrap(),
    ));
    let ids = prepared.pool.ids.clone();
    let project = Project::create(
        folder,
        Journal::Wal,
        &prepared.recipe,
        ids.as_deref(),
        first,
        NOW,
    )
    .unwrap();
    (project, prepared)
}

/// Sends decisions of somebody under a key.
pub fn send(
    project: &mut Project,
    key: &str,
    annotator: &str,
    decisions: Vec<Decision>,
) -> Result<Receipt> {
    let submission = Submission {
        key: key.into(),
        annotator: annotator.into(),
        decisions,
        replace: true,
        ..Submission::default()
    };
    project.submit_one(submission, NOW)
}

/// A label.
pub fn label(item: &str, classes: &[(u16, f64)]) -> Decision {
    let share = |&(class, weight): &(u16, f64)| Share {
        class: ClassId(class),
        weight,
    };
    Decision::Label {
        item: item.into(),
        classes: classes.iter().map(share).collect(),
        adjudicates: false,
    }
}

/// Everything that is known.
pub fn export(project: &Project, prepared: &PreparedPool) -> Export {
    let control = Control::new();
    let session = prepared
        .engine
        .resume(project.log().labels().events().to_vec(), &control)
        .unwrap();
    let view = session.view(&control).unwrap();
    Export::new(
        project.log(),
        prepared.pool.ids.as_deref().unwrap(),
        Some(&view),
    )
}
