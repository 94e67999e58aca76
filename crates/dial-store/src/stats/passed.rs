//! The items that were passed over: skipped, or left out.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use dial::Change;

use crate::log::Log;
use crate::log::record::Record;

/// An item that was passed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Passed {
    /// The item.
    pub id: String,
    /// Whether it is left out: not asked, and its labels do not count. Else it is only not asked.
    pub excluded: bool,
    /// Who decided that.
    pub annotator: String,
    /// When: milliseconds since 1970.
    pub time: u64,
}

/// The items that are passed over, the latest first.
pub fn passed(log: &Log) -> Vec<Passed> {
    let mut by: HashMap<&str, &Record> = HashMap::new();
    for record in log.records() {
        let (item, exclusion) = match record.change() {
            Some(Change::Skip { item }) => (item.as_str(), false),
            Some(Change::Exclude { item }) => (item.as_str(), true),
            _ => continue,
        };
        let (skipped, excluded) = log.labels().marks_of(item);
        let stands = log.labels().is_live(record.group);
        // Of an item that was skipped and left out, the latter counts.
        if stands && (skipped || excluded) && exclusion == excluded {
            by.insert(item, record);
        }
    }
    let mut all: Vec<&Record> = by.into_values().collect();
    all.sort_by_key(|record| std::cmp::Reverse(record.seq));
    let row = |record: &Record| {
        let change = record.change()?;
        Some(Passed {
            id: change.item()?.into(),
            excluded: matches!(change, Change::Exclude { .. }),
            annotator: record.annotator.clone(),
            time: record.time,
        })
    };
    all.into_iter().filter_map(row).collect()
}
