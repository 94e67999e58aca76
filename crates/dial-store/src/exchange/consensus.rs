//! What the answers to an item come to: the one class that a model can be trained on, and how far people agree on it.
//!
//! ```text
//! v_k = Σ_a w_a x_ak / Σ_a w_a     share of class k: x_ak what annotator a gave it, w_a what annotator a counts
//! label = argmax v                 empty where two classes have the largest share
//! weight = v_label                 1 for a sure answer of everybody, 0.5 for one that was unsure
//! agreement = max v / Σ v          1 where all name the same class and no other
//! ```
//!
//! These are the weights that the model adds to its evidence ([`dial::labels::Labels::contributions`]). Where an answer
//! adjudicates, it alone counts.

use crate::exchange::export::{Answer, Source};

/// Shares that differ by less are equal.
const TIE: f64 = 1e-9;

/// What the answers to an item come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Consensus<'a> {
    /// The class with the largest share and that share; none where there is a tie.
    pub label: Option<(&'a str, f64)>,
    /// Which part of all that was given went to the first class.
    pub agreement: f64,
    /// Where the label comes from.
    pub source: Source,
    /// The share of each class that was named, in the order in which they were.
    pub shares: Vec<(&'a str, f64)>,
    /// The answers that count.
    pub counted: Vec<&'a Answer>,
}

/// What answers come to, if there are any.
pub fn consensus(answers: &[Answer]) -> Option<Consensus<'_>> {
    let adjudicating = answers.iter().filter(|answer| answer.adjudicates);
    // The latest decides; answers of a file without an order stand as they come.
    let decisive = adjudicating.reduce(|a, b| if b.order < a.order { a } else { b });
    let counted: Vec<&Answer> = match decisive {
        Some(one) => vec![one],
        None => answers.iter().collect(),
    };
    let source = match counted.as_slice() {
        [] => return None,
        [one] => one.source,
        _ => Source::Several,
    };
    let all: f64 = counted.iter().map(|answer| answer.trust).sum();
    let mut shares: Vec<(&str, f64)> = Vec::new();
    for answer in &counted {
        for (class, weight) in &answer.classes {
            let share = answer.trust / all * weight;
            match shares.iter_mut().find(|(name, _)| name == class) {
                Some((_, sum)) => *sum += share,
                None => shares.push((class, share)),
            }
        }
    }
    let (largest, sum) = shares
        .iter()
        .fold((0.0_f64, 0.0), |(largest, sum), (_, share)| {
            (largest.max(*share), sum + share)
        });
    let mut first = shares.iter().filter(|(_, share)| largest - share < TIE);
    let label = match (first.next(), first.next()) {
        (Some(&one), None) => Some(one),
        _ => None,
    };
    Some(Consensus {
        label,
        agreement: if sum > 0.0 { largest / sum } else { 0.0 },
        source,
        shares,
        counted,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(who: &str, classes: &[(&str, f64)]) -> Answer {
        let classes = classes
            .iter()
            .map(|(name, weight)| (name.to_string(), *weight));
        Answer {
            annotator: who.into(),
            classes: classes.collect(),
            ..Answer::default()
        }
    }

    fn label(answers: &[Answer]) -> (Option<&str>, f64, f64) {
        let found = consensus(answers).unwrap();
        let weight = found.label.map_or(0.0, |(_, weight)| weight);
        (found.label.map(|(name, _)| name), weight, found.agreement)
    }

    #[test]
    fn answers_by_hand() {
        let (ann, bob, eve) = (
            answer("ann", &[("cat", 1.0)]),
            answer("bob", &[("dog", 1.0)]),
            answer("eve", &[("dog", 0.5)]),
        );
        assert_eq!(consensus(&[]), None);
        assert_eq!(label(std::slice::from_ref(&ann)), (Some("cat"), 1.0, 1.0));
        assert_eq!(
            label(std::slice::from_ref(&eve)),
            (Some("dog"), 0.5, 1.0),
            "unsure"
        );
        assert_eq!(
            label(&[ann.clone(), bob.clone()]),
            (None, 0.0, 0.5),
            "a tie"
        );
        // Shares 1/2 and 1/4 of 3/4: an unsure answer does not outweigh a sure one.
        assert_eq!(
            label(&[ann.clone(), eve.clone()]),
            (Some("cat"), 0.5, 2.0 / 3.0)
        );
        assert_eq!(
            label(&[ann.clone(), bob.clone(), eve.clone()]).0,
            Some("dog"),
            "1/3 against 1/2"
        );
        let soft = answer("ann", &[("cat", 0.3), ("dog", 0.3), ("fox", 0.4)]);
        assert_eq!(label(std::slice::from_ref(&soft)), (Some("fox"), 0.4, 0.4));
    }

    #[test]
    fn annotators_count_as_they_are_trusted_and_an_adjudication_alone() {
        let (ann, mut bob) = (
            answer("ann", &[("cat", 1.0)]),
            answer("bob", &[("dog", 1.0)]),
        );
        bob.trust = 3.0;
        assert_eq!(
            label(&[ann.clone(), bob.clone()]),
            (Some("dog"), 0.75, 0.75)
        );
        let mut first = answer("eve", &[("cat", 0.9)]);
        (first.adjudicates, first.order) = (true, Some(7));
        assert_eq!(
            label(&[ann.clone(), bob.clone(), first.clone()]),
            (Some("cat"), 0.9, 1.0)
        );
        let mut later = answer("kim", &[("fox", 1.0)]);
        (later.adjudicates, later.order) = (true, Some(9));
        for answers in [
            [later.clone(), first.clone(), bob.clone()],
            [first, bob, later],
        ] {
            assert_eq!(
                label(&answers),
                (Some("fox"), 1.0, 1.0),
                "the latest decides"
            );
            assert_eq!(consensus(&answers).unwrap().counted.len(), 1);
        }
    }
}
