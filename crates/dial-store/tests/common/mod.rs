//! A project made by hand, and an endless stream of labels for it.

use std::path::Path;

use dial::seed::{Purpose, Random, hash};
use dial::{Change, ClassId};
use dial_store::{Decision, Journal, Project, Recipe, Record, Submission};

/// How many items the pool has.
pub const ITEMS: usize = 1_000_000;

/// A recipe of a pool that nobody reads.
pub fn recipe(items: usize, overlap: usize) -> Recipe {
    let text = r#"{
        "pool": "/nowhere/pool.npy", "reading": {}, "features": "0123", "items": 0, "zero_vectors": "error", "k": 10,
        "metric": "euclidean", "kernel": "self-tuning", "search": "auto", "tau": "0.1", "precision": "faithful",
        "acquisition": "variance", "policy": "max", "sharpness": "auto", "prior": "auto", "belief": "plain", "seed": 7,
        "overlap": 1, "audit": 0.0, "method_version": 1}"#;
    Recipe {
        items,
        overlap,
        ..serde_json::from_str(text).unwrap()
    }
}

/// What a project begins with: classes `a`, `b` and so on, and settings.
pub fn first(classes: usize) -> Vec<Decision> {
    let name = |class: usize| char::from(b'a' + class as u8).to_string();
    let mut first: Vec<Decision> = (0..classes)
        .map(|class| Decision::AddClass { name: name(class) })
        .collect();
    first.push(Decision::Settings {
        prior_strength: 1.0,
        expected_clusters: 5,
    });
    first
}

/// A new project with four classes.
pub fn new_project(folder: &Path, journal: Journal) -> Project {
    Project::create(folder, journal, &recipe(ITEMS, 1), None, first(4), 1_000).unwrap()
}

/// One decision under a key.
pub fn submission(key: &str, annotator: &str, decision: Decision) -> Submission {
    Submission {
        key: key.into(),
        annotator: annotator.into(),
        decisions: vec![decision],
        ..Submission::default()
    }
}

/// A plain label.
pub fn label(key: &str, annotator: &str, item: &str, class: u16) -> Submission {
    submission(key, annotator, Decision::label(item, ClassId(class)))
}

/// The n-th label of the stream of a seed: every item is labelled once, some by two classes. The keys are scattered, so
/// that every commit touches many pages.
pub fn streamed(seed: u64, n: u64) -> Submission {
    let mut random = Random::new(seed, Purpose::User, n);
    let (class, other) = (random.below(4) as u16, random.below(3) as u16);
    let share = 0.5 + random.uniform() / 4.0;
    let classes = match random.below(4) {
        0 => vec![
            (ClassId(class), share),
            (ClassId((class + 1 + other) % 4), 1.0 - share),
        ],
        _ => vec![(ClassId(class), 1.0)],
    };
    let annotator = ["ann", "bob", "Ægir 日本"][random.below(3)];
    let key = format!("{:016x}", hash(seed, n));
    submission(
        &key,
        annotator,
        Decision::from(Change::label(n.to_string(), classes)),
    )
}

/// How many labels of the stream a log holds; it must hold them in their order, each once and as it was, and nothing else.
pub fn stream_length(seed: u64, records: &[Record]) -> u64 {
    let begun = records
        .iter()
        .take_while(|record| record.seq == 1 || record.key.is_none())
        .count();
    assert_eq!(begun, first(4).len() + 1, "what the project began with");
    for (place, record) in records.iter().enumerate() {
        assert_eq!(record.seq, place as u64 + 1);
    }
    for (n, record) in (0..).zip(&records[begun..]) {
        let sent = streamed(seed, n);
        let change = sent.decisions[0].change();
        assert!(change.is_some() && sent.decisions.len() == 1);
        assert_eq!(record.change(), change.as_ref(), "label {n}");
        assert_eq!(
            (record.key.as_deref(), record.annotator.as_str()),
            (Some(sent.key.as_str()), sent.annotator.as_str())
        );
    }
    (records.len() - begun) as u64
}

/// A count from the environment, or a small one.
pub fn count(name: &str, small: u64) -> u64 {
    std::env::var(name).map_or(small, |count| count.parse().expect("a number"))
}
