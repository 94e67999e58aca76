//! Why an item is worth asking, in words.

use dial::{ClassId, Prediction};

use crate::log::Log;

/// Below this evidence an item counts as unexplored.
const UNEXPLORED_EVIDENCE: f64 = 0.05;

/// From this probability on a class is probable, and not one of two.
const PROBABLE: f64 = 0.8;

/// Why an item is worth asking, given what is believed about it and the classes in the order of its probabilities.
pub fn why(log: &Log, prediction: &Prediction, classes: &[ClassId]) -> String {
    if !prediction.reached {
        return "No label reaches this item yet.".into();
    }
    if prediction.evidence < UNEXPLORED_EVIDENCE {
        return "Unexplored: the labels so far say little about this part of the pool.".into();
    }
    let mut order: Vec<usize> = (0..prediction.probabilities.len()).collect();
    order.sort_by(|&a, &b| prediction.probabilities[b].total_cmp(&prediction.probabilities[a]));
    let name = |place: usize| log.class_name(classes[place]);
    let percent = |place: usize| format!("{:.0} %", 100.0 * prediction.probabilities[place]);
    match order.as_slice() {
        [first, second, ..] if prediction.probabilities[*first] < PROBABLE => {
            format!(
                "Torn between {} ({}) and {} ({}).",
                name(*first),
                percent(*first),
                name(*second),
                percent(*second)
            )
        }
        [first, ..] => {
            format!(
                "Probably {} ({}), and the answer affects many similar items.",
                name(*first),
                percent(*first)
            )
        }
        [] => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::record::{Entry, Provenance, Record};
    use dial::Change;

    #[test]
    fn reasons_by_hand() {
        let mut log = Log::new("p");
        for (id, name) in ["a", "b", "c"].into_iter().enumerate() {
            let entry = Entry::Change(Change::AddClass {
                class: ClassId(id as u16),
                name: name.into(),
            });
            let seq = id as u64 + 1;
            let (key, annotator, provenance) = (None, String::new(), Provenance::default());
            log.append(Record {
                seq,
                key,
                time: 0,
                annotator,
                group: 0,
                entry,
                provenance,
            })
            .unwrap();
        }
        let classes = log.labels().classes();
        let said = |reached, evidence, probabilities: [f64; 3]| {
            let probabilities = probabilities.to_vec();
            let class = ClassId(0);
            why(
                &log,
                &Prediction {
                    class,
                    probabilities,
                    variance: 0.1,
                    evidence,
                    reached,
                    error: None,
                },
                &classes,
            )
        };
        assert!(said(false, 0.0, [0.4, 0.3, 0.3]).starts_with("No label reaches"));
        assert!(said(true, 0.04, [0.4, 0.3, 0.3]).starts_with("Unexplored"));
        assert_eq!(
            said(true, 0.05, [0.2, 0.5, 0.3]),
            "Torn between b (50 %) and c (30 %)."
        );
        assert!(said(true, 1.0, [0.05, 0.15, 0.8]).starts_with("Probably c (80 %)"));
    }
}
