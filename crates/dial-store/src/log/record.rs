//! A record of the log: one event with who, when and under which key, chained to the one before.
//!
//! ```text
//! chain_0 = SHA-256("dial project" ‖ project id)
//! chain_n = SHA-256(chain_{n-1} ‖ body_n)          body: the record as JSON, the very bytes that are stored
//! ```
//!
//! A changed byte, a missing, doubled or exchanged record breaks the chain from there on; its end is stored beside the
//! log, so that a log cut short is noticed too.

use dial::{Change, ClassId};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::recipe::Recipe;

/// The end of a chain.
pub type Chain = [u8; 32];

/// One event of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its place, from 1 on.
    pub seq: u64,
    /// The key of the submission, on its first record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// When it was stored: milliseconds since 1970, by the clock of whoever stored it.
    pub time: u64,
    /// Who did it.
    pub annotator: String,
    /// Records that are undone together share a group.
    pub group: u64,
    /// What was done.
    pub entry: Entry,
    /// Where it comes from and what was known when it was stored.
    #[serde(
        rename = "remark",
        default,
        skip_serializing_if = "Provenance::is_empty"
    )]
    pub provenance: Provenance,
}

/// What a record says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// A change of the labels, the schema or the settings: what the core replays.
    Change(Change),
    /// How a class looks on the page.
    ClassStyle(ClassStyle),
    /// What the pool is and how it is asked.
    Recipe(Box<Recipe>),
    /// An answer stored beside the label it contradicts, until an annotator decides. Stored as `parked`, its name in the
    /// first versions.
    #[serde(rename = "parked")]
    Conflict {
        /// The answer.
        change: Change,
        /// The code of the error it was answered with.
        code: String,
        /// In the names of classes as they were: the existing label and the new one.
        #[serde(rename = "said")]
        labels: [String; 2],
    },
    /// A decision that changed nothing, stored so that its key is known.
    Known {
        /// The place of the record that made the same decision first; 0 if there is none to name.
        of: u64,
        /// The decision.
        change: Change,
    },
    /// A conflict was resolved. Stored as `settled`.
    #[serde(rename = "settled")]
    Resolved {
        /// The place of the conflict in the log.
        #[serde(rename = "parked")]
        conflict: u64,
    },
}

/// How a class looks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassStyle {
    /// The class.
    pub class: ClassId,
    /// Its colour, as `#rrggbb`.
    pub colour: String,
    /// The key that labels with it, one character.
    pub key: String,
}

/// Where a record comes from and what was known when it was stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// The item had all the answers it needs when this one came, or somebody else had it by then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
    /// The item was drawn at random, to measure accuracy.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub audit: bool,
    /// The class that was believed before the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted: Option<ClassId>,
    /// The place in the log that this belief was made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Where an imported label comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What was sent, as a hash: on the first record of a submission of several decisions, some of which may leave no record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

impl Provenance {
    fn is_empty(&self) -> bool {
        *self == Provenance::default()
    }
}

impl Record {
    /// The bytes that are stored and chained.
    pub fn body(&self) -> String {
        serde_json::to_string(self).expect("a record is plain data")
    }
}

/// Where the chain of a project begins.
pub fn first_link(project: &str) -> Chain {
    Sha256::new()
        .chain_update("dial project")
        .chain_update(project)
        .finalize()
        .into()
}

/// The next link of a chain.
pub fn next_link(before: &Chain, body: &str) -> Chain {
    Sha256::new()
        .chain_update(before)
        .chain_update(body)
        .finalize()
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record {
            seq: 3,
            key: Some("k".into()),
            time: 1_700_000_000_000,
            annotator: "ann".into(),
            group: 2,
            entry: Entry::Change(Change::label("a/b \"c\"", vec![(ClassId(1), 0.1)])),
            provenance: Provenance {
                predicted: Some(ClassId(0)),
                ..Provenance::default()
            },
        }
    }

    #[test]
    fn a_record_reads_back_from_its_body() {
        let body = record().body();
        assert_eq!(serde_json::from_str::<Record>(&body).unwrap(), record());
        let plain = Record {
            key: None,
            provenance: Provenance::default(),
            ..record()
        };
        assert!(!plain.body().contains("remark") && !plain.body().contains("key"));
        assert_eq!(
            serde_json::from_str::<Record>(&plain.body()).unwrap(),
            plain
        );
    }

    #[test]
    fn names_in_the_log_are_those_of_the_first_versions() {
        let body = |entry| {
            let entry = Record { entry, ..record() };
            entry.body()
        };
        let conflict = body(Entry::Conflict {
            change: Change::label("a", vec![(ClassId(1), 1.0)]),
            code: "C3".into(),
            labels: ["x".into(), "y".into()],
        });
        let stored = r#""code":"C3","said":["x","y"]}},"remark":{"predicted":0}}"#;
        assert!(conflict.ends_with(stored), "{conflict}");
        assert!(
            conflict.contains(r#""entry":{"parked":{"change":{"#),
            "{conflict}"
        );
        let resolved = body(Entry::Resolved { conflict: 7 });
        let stored = r#""entry":{"settled":{"parked":7}},"#;
        assert!(resolved.contains(stored), "{resolved}");
    }

    #[test]
    fn any_changed_byte_changes_the_chain() {
        let (start, body) = (first_link("p"), record().body());
        let link = next_link(&start, &body);
        assert_ne!(link, next_link(&first_link("q"), &body));
        for at in 0..body.len() {
            let mut bytes = body.clone().into_bytes();
            bytes[at] ^= 1;
            if let Ok(other) = String::from_utf8(bytes) {
                assert_ne!(link, next_link(&start, &other));
            }
        }
    }
}
