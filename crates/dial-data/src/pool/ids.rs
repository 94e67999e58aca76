//! Ids of items: present, distinct after Unicode normalisation (NFC), with a remark on those that only look alike.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

use crate::error::{Fault, MAX_LISTED, first_few};

/// Where an id stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A line of a text, from 1.
    Line(usize),
    /// A row of an array, from 0.
    Row(usize),
}

impl Place {
    fn number(self) -> usize {
        match self {
            Place::Line(number) | Place::Row(number) => number,
        }
    }

    pub fn in_words(self) -> String {
        match self {
            Place::Line(line) => format!("line {line}"),
            Place::Row(row) => format!("row {row}"),
        }
    }
}

/// An id as it is compared: trimmed, NFC.
pub(crate) fn normal(id: &str) -> String {
    id.trim().nfc().collect()
}

/// The ids in normal form and remarks on look-alikes, or the first fault.
pub(crate) fn checked(
    ids: Vec<String>,
    place: impl Fn(usize) -> Place,
) -> Result<(Vec<String>, Vec<String>), Fault> {
    let ids: Vec<String> = ids.iter().map(|id| normal(id)).collect();
    let mut seen = HashMap::with_capacity(ids.len());
    for (row, id) in ids.iter().enumerate() {
        if id.is_empty() {
            return Err(Fault::Ids(format!("{} has no id.", place(row).in_words())));
        }
        if let Some(first) = seen.insert(id.as_str(), row) {
            let (one, two) = (place(first), place(row).number());
            return Err(Fault::Ids(match one {
                Place::Line(one) => format!("id {id:?} appears on lines {one} and {two}."),
                Place::Row(one) => format!("id {id:?} appears at rows {one} and {two}."),
            }));
        }
    }
    let notes = look_alikes(&ids);
    Ok((ids, notes))
}

/// Ids that differ only by case or by compatible Unicode forms (full-width letters and the like).
fn look_alikes(ids: &[String]) -> Vec<String> {
    let mut seen: HashMap<String, &String> = HashMap::with_capacity(ids.len());
    let mut pairs = Vec::new();
    let mut total = 0;
    for id in ids {
        let folded: String = id.nfkc().flat_map(char::to_lowercase).collect();
        if let Some(other) = seen.insert(folded, id) {
            total += 1;
            if pairs.len() < MAX_LISTED {
                pairs.push(format!("{other:?} and {id:?}"));
            }
        }
    }
    match total {
        0 => Vec::new(),
        _ => vec![format!(
            "different ids look alike: {}",
            first_few(&pairs, total, ", ")
        )],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ids: &[&str]) -> Result<(Vec<String>, Vec<String>), Fault> {
        checked(ids.iter().map(|id| id.to_string()).collect(), |row| {
            Place::Line(row + 2)
        })
    }

    #[test]
    fn doubles_and_gaps_are_named() {
        assert_eq!(
            check(&["a17", "b", "a17"]),
            Err(Fault::Ids("id \"a17\" appears on lines 2 and 4.".into()))
        );
        assert!(matches!(
            check(&["caf\u{e9}", "cafe\u{301}"]),
            Err(Fault::Ids(_))
        ));
        assert_eq!(
            check(&["a", " "]),
            Err(Fault::Ids("line 3 has no id.".into()))
        );
    }

    #[test]
    fn look_alikes_are_distinct_but_noted() {
        let (ids, notes) = check(&["A1", "a1", "b"]).unwrap();
        assert_eq!(ids.len(), 3);
        assert_eq!(notes, ["different ids look alike: \"A1\" and \"a1\""]);
    }
}
