//! Answers of a project as the command prints them: classes by their names.

use dial_server::http::wire::{Belief, Estimates, ItemView, Share, Status, Suspect};
use dial_store::Verdict;
use serde_json::{Map, Value, json};

/// The names of classes.
pub struct Names(Vec<(u16, String)>);

impl Names {
    /// Those of a project.
    pub fn of(status: &Status) -> Names {
        Names(
            status
                .classes
                .iter()
                .map(|class| (class.id, class.name.clone()))
                .collect(),
        )
    }

    /// The classes and their names, in the order of their ids.
    pub fn all(&self) -> &[(u16, String)] {
        &self.0
    }

    fn name(&self, class: u16) -> &str {
        let known = self.0.iter().find(|(id, _)| *id == class);
        known.map_or("?", |(_, name)| name)
    }

    /// The prediction for an item; null where there is none.
    fn belief(&self, belief: Option<&Belief>) -> Value {
        let Some(belief) = belief else {
            return Value::Null;
        };
        let pairs = belief.probabilities.iter();
        let probabilities: Map<String, Value> = pairs
            .map(|pair| (self.name(pair.class).into(), json!(pair.probability)))
            .collect();
        json!({
            "class": self.name(belief.class),
            "probabilities": probabilities,
            "variance": belief.variance,
            "evidence": belief.evidence,
            "reached": belief.reached,
        })
    }

    /// An item as `dial ask` shows a question.
    pub fn question(&self, view: &ItemView) -> Value {
        json!({
            "id": view.id,
            "node": view.row,
            "score": view.score,
            "why": view.why,
            "belief": self.belief(view.belief.as_ref()),
        })
    }

    /// An item as `dial predict` shows an item.
    pub fn item(&self, view: &ItemView) -> Value {
        let labels = view.labels.iter();
        let labels: Vec<Value> = labels
            .map(|label| json!({ "annotator": label.annotator, "label": self.label(&label.classes) }))
            .collect();
        json!({ "id": view.id, "labels": labels, "belief": self.belief(view.belief.as_ref()) })
    }

    /// A label that the others contradict, in words.
    pub fn suspect(&self, one: &Suspect) -> String {
        let (label, expected) = (self.name(one.label), self.name(one.expected));
        format!(
            "{} is labelled {label}; the other labels suggest {expected}",
            one.id
        )
    }

    /// The same as JSON.
    pub fn suspect_json(&self, one: &Suspect) -> Value {
        json!({
            "id": one.id,
            "label": self.name(one.label),
            "expected": self.name(one.expected),
            "probability": one.probability,
        })
    }

    /// `cat`, or `cat 0.6, dog 0.4`.
    fn label(&self, shares: &[Share]) -> String {
        match shares {
            [Share { class, weight: 1.0 }] => self.name(class.0).to_string(),
            many => {
                let word = |share: &Share| format!("{} {}", self.name(share.class.0), share.weight);
                many.iter().map(word).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

/// Estimates in words.
pub fn in_words(estimates: &Estimates) -> String {
    let reasons = &estimates.advice.reasons;
    if reasons.is_empty() {
        return String::new();
    }
    let verdict = match estimates.advice.verdict {
        Verdict::Stop => "Enough",
        Verdict::Soon => "Nearly enough",
        Verdict::GoOn => "Go on",
        Verdict::Begin => "Begin",
    };
    format!("{verdict}. {}", reasons.join(" "))
}
