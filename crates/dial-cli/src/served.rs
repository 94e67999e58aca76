//! What a server says, in the shapes of the command: classes by their names, as without a server.

use dial::ClassId;
use serde_json::{Map, Value, json};

/// The names of classes.
pub struct Names(pub Vec<(ClassId, String)>);

impl Names {
    fn of(&self, class: &Value) -> String {
        let known = self
            .0
            .iter()
            .find(|(id, _)| class.as_u64() == Some(u64::from(id.0)));
        known.map_or_else(|| "?".into(), |(_, name)| name.clone())
    }

    /// What is believed about an item; null where nothing is.
    pub fn belief(&self, belief: &Value) -> Value {
        let Some(pairs) = belief["probabilities"].as_array() else {
            return Value::Null;
        };
        let pair = |pair: &Value| (self.of(&pair["class"]), pair["probability"].clone());
        let probabilities: Map<String, Value> = pairs.iter().map(pair).collect();
        json!({
            "class": self.of(&belief["class"]),
            "probabilities": probabilities,
            "variance": belief["variance"],
            "evidence": belief["evidence"],
            "reached": belief["reached"],
        })
    }

    /// A card as `dial ask` shows a question.
    pub fn question(&self, card: &Value) -> Value {
        json!({
            "id": card["id"],
            "node": card["row"],
            "score": card["score"],
            "why": card["why"],
            "belief": self.belief(&card["belief"]),
        })
    }

    /// A card as `dial predict` shows an item.
    pub fn item(&self, card: &Value) -> Value {
        let labels = card["labels"].as_array().cloned().unwrap_or_default();
        let label = |label: &Value| json!({ "annotator": label["annotator"], "label": self.label(&label["classes"]) });
        let labels: Vec<Value> = labels.iter().map(label).collect();
        json!({ "id": card["id"], "labels": labels, "belief": self.belief(&card["belief"]) })
    }

    /// `cat`, or `cat 0.6, dog 0.4`.
    fn label(&self, shares: &Value) -> String {
        let shares = shares.as_array().cloned().unwrap_or_default();
        let weight = |share: &Value| share["weight"].as_f64().unwrap_or(1.0);
        match shares.as_slice() {
            [one] if weight(one) == 1.0 => self.of(&one["class"]),
            many => {
                let word =
                    |share: &Value| format!("{} {}", self.of(&share["class"]), weight(share));
                many.iter().map(word).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_by_hand() {
        let names = Names(vec![(ClassId(0), "cat".into()), (ClassId(7), "dog".into())]);
        let belief = json!({
            "class": 7, "probabilities": [{ "class": 0, "probability": 0.25 }, { "class": 7, "probability": 0.75 }],
            "variance": 0.5, "evidence": 2.0, "reached": true, "version": 9,
        });
        let labels = json!([
            { "annotator": "ann", "classes": [{ "class": 7, "weight": 1.0 }] },
            { "annotator": "", "classes": [{ "class": 0, "weight": 0.6 }, { "class": 7, "weight": 0.4 }] },
        ]);
        let card = json!({ "id": "a", "row": 3, "score": 0.1, "why": "x", "belief": belief, "labels": labels });
        let believed = json!({
            "class": "dog", "probabilities": { "cat": 0.25, "dog": 0.75 }, "variance": 0.5, "evidence": 2.0,
            "reached": true,
        });
        let asked = json!({ "id": "a", "node": 3, "score": 0.1, "why": "x", "belief": believed });
        assert_eq!(names.question(&card), asked);
        let said = json!([{ "annotator": "ann", "label": "dog" }, { "annotator": "", "label": "cat 0.6, dog 0.4" }]);
        assert_eq!(
            names.item(&card),
            json!({ "id": "a", "labels": said, "belief": believed })
        );
        assert_eq!(names.question(&json!({ "id": "b" }))["belief"], Value::Null);
    }
}
