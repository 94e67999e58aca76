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
    /// What else is known about it.
    #[serde(default, skip_serializing_if = "Remark::is_empty")]
    pub remark: Remark,
}

/// What a record says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// A change of the labels, the schema or the settings: what the core replays.
    Change(Change),
    /// How a class looks on the page.
    Look(Look),
    /// What the pool is and how it is asked.
    Recipe(Box<Recipe>),
    /// An answer that could not be taken as it was, kept until somebody decides.
    Parked {
        /// The answer.
        change: Change,
        /// The code of the error it was answered with.
        code: String,
        /// Names as they were: the label that stood, the label that came.
        said: [String; 2],
    },
    /// What was said before was said again: stored so that its key is known.
    Known {
        /// The place of the record that said it first; 0 if there is none to name.
        of: u64,
        /// What was said.
        change: Change,
    },
    /// A parked answer was dealt with.
    Settled {
        /// Its place in the log.
        parked: u64,
    },
}

/// How a class looks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// The class.
    pub class: ClassId,
    /// Its colour, as `#rrggbb`.
    pub colour: String,
    /// The key that labels with it, one character.
    pub key: String,
}

/// What else is known about a record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Remark {
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
}

impl Remark {
    fn is_empty(&self) -> bool {
        *self == Remark::default()
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
            entry: Entry::Change(Change::Label {
                item: "a/b \"c\"".into(),
                classes: vec![(ClassId(1), 0.1)],
            }),
            remark: Remark {
                predicted: Some(ClassId(0)),
                ..Remark::default()
            },
        }
    }

    #[test]
    fn a_record_reads_back_from_its_body() {
        let body = record().body();
        assert_eq!(serde_json::from_str::<Record>(&body).unwrap(), record());
        let plain = Record {
            key: None,
            remark: Remark::default(),
            ..record()
        };
        assert!(!plain.body().contains("remark") && !plain.body().contains("key"));
        assert_eq!(
            serde_json::from_str::<Record>(&plain.body()).unwrap(),
            plain
        );
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
