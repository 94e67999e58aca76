//! An item as others see it: what to show, what is believed, what it was called, what is near.

use dial::{ClassId, NodeId, Prediction, Session};
use dial_data::Show;
use dial_store::{Log, PreparedPool};

use crate::http::wire::{Belief, Effect, ItemView, LabelOf, Near, Probability, Share, Shown};
use crate::model_worker::ModelSnapshot;

/// Labelled items that are shown beside an item.
const NEAREST: usize = 5;

/// The longest text that goes with an item to label; the whole text is shown by its own page.
const MAX_TEXT_OF_ITEM: usize = 100_000;

/// The longest text that goes with an item of a list.
pub const MAX_TEXT_IN_LIST: usize = 400;

/// What is believed about an item, by whoever believes it.
pub struct Seen<'a> {
    /// The prediction; none before there are two classes.
    pub prediction: Option<Prediction>,
    /// The classes of its probabilities.
    pub classes: &'a [ClassId],
    /// All labelled nodes.
    pub labelled: &'a [NodeId],
    /// The place in the log that the belief was made from.
    pub version: u64,
    /// How telling a label would be, where it was asked for.
    pub score: Option<f64>,
}

impl<'a> Seen<'a> {
    /// By the last snapshot of the model.
    pub fn by(snapshot: &'a ModelSnapshot, node: NodeId) -> Seen<'a> {
        let view = snapshot.view.as_deref();
        Seen {
            prediction: view.map(|view| view.prediction(node)),
            classes: view.map_or(&[], |view| view.classes()),
            labelled: view.map_or(&[], |view| view.labelled()),
            version: snapshot.version,
            score: score(snapshot, node),
        }
    }

    /// The same by the session itself: without what is believed about all the other items.
    pub fn of_session(
        session: &'a Session<'_>,
        snapshot: &ModelSnapshot,
        node: NodeId,
    ) -> Seen<'a> {
        Seen {
            prediction: session.is_ready().then(|| session.prediction(node)),
            classes: session.classes(),
            labelled: session.labelled(),
            version: snapshot.version,
            score: score(snapshot, node),
        }
    }
}

/// How telling a label of an item would be, if it is one of the questions.
pub fn score(snapshot: &ModelSnapshot, node: NodeId) -> Option<f64> {
    let mut questions = snapshot.questions.iter();
    let asked = questions.find(|question| question.node == node);
    asked.map(|asked| asked.score)
}

/// The view of an item that was drawn at random.
pub fn at_random(view: ItemView) -> ItemView {
    ItemView {
        audit: true,
        why: Some("Drawn at random, to measure the accuracy.".into()),
        ..view
    }
}

/// The view of an item.
pub fn view(prepared: &PreparedPool, log: &Log, seen: Seen<'_>, node: NodeId) -> ItemView {
    let pool = &prepared.pool;
    let id = prepared.engine.items.id(node);
    let beside = pool.beside.as_ref().map_or(Vec::new(), |table| {
        let cells = table.row(node.index()).iter().cloned();
        table
            .names
            .iter()
            .cloned()
            .zip(cells)
            .map(|(name, cell)| [name, cell])
            .collect()
    });
    let Seen {
        prediction,
        classes,
        labelled,
        version,
        score,
    } = seen;
    ItemView {
        row: node.0,
        show: shown(prepared, node, &id, MAX_TEXT_OF_ITEM),
        beside,
        why: prediction
            .as_ref()
            .map(|prediction| dial_store::why(log, prediction, classes)),
        nearest: prediction
            .as_ref()
            .map_or(Vec::new(), |_| nearest(prepared, log, labelled, node)),
        belief: prediction.map(|prediction| belief(&prediction, classes, version)),
        score,
        audit: false,
        leased_until: None,
        labels: labels(log, &id),
        changes: Vec::new(),
        id,
    }
}

/// What each answer for an item would change, by class.
pub fn changes(snapshot: &ModelSnapshot, id: &str) -> Vec<Effect> {
    let of = snapshot.changed.iter().filter(|((item, _), _)| item == id);
    let mut changes: Vec<Effect> = of
        .map(|((_, class), &items)| Effect {
            class: class.0,
            items,
        })
        .collect();
    changes.sort_by_key(|effect| effect.class);
    changes
}

/// The live labels of an item.
pub fn labels(log: &Log, item: &str) -> Vec<LabelOf> {
    let of = |(annotator, classes): (&str, Vec<(ClassId, f64)>)| LabelOf {
        annotator: annotator.into(),
        classes: Share::of(&classes),
    };
    log.labels_of(item).map(of).collect()
}

/// What is believed about an item, for the wire.
pub fn belief(prediction: &Prediction, classes: &[ClassId], version: u64) -> Belief {
    let pairs = classes.iter().zip(&prediction.probabilities);
    Belief {
        class: prediction.class.0,
        probabilities: pairs
            .map(|(class, &probability)| Probability {
                class: class.0,
                probability,
            })
            .collect(),
        variance: prediction.variance,
        evidence: prediction.evidence,
        reached: prediction.reached,
        version,
    }
}

/// How an item is shown, texts cut to so many characters.
pub fn shown(prepared: &PreparedPool, node: NodeId, id: &str, longest: usize) -> Shown {
    let pool = &prepared.pool;
    let numbers = || {
        let value = |column: usize| pool.shown().get(node.index(), column);
        (0..pool.shown().dim)
            .map(value)
            .map(|value| value.is_finite().then_some(value))
            .collect::<Vec<Option<f64>>>()
    };
    match &pool.show {
        Show::Texts(texts) => {
            let text = &texts[node.index()];
            let end = text
                .char_indices()
                .nth(longest)
                .map_or(text.len(), |(end, _)| end);
            Shown::Text {
                text: text[..end].into(),
            }
        }
        Show::Picture(_) | Show::Images(_) => Shown::Picture {
            url: format!("/api/v1/media?id={}", encoded(id)),
        },
        Show::Numbers(names) => Shown::Numbers {
            names: names.clone(),
            values: numbers(),
        },
        Show::Scene(scene) => {
            let (row, column) = scene.position(node.index());
            let (wavelengths, unit) = (scene.wavelengths.clone(), scene.unit.clone());
            Shown::Spectrum {
                values: numbers(),
                wavelengths,
                unit,
                row,
                column,
            }
        }
    }
}

/// The labelled items nearest to an item, by the features.
fn nearest(prepared: &PreparedPool, log: &Log, labelled: &[NodeId], node: NodeId) -> Vec<Near> {
    let Ok(features) = prepared.pool.matrix.features() else {
        return Vec::new();
    };
    let mut near: Vec<(f64, NodeId)> = labelled
        .iter()
        .filter(|&&other| other != node)
        .map(|&other| {
            (
                features.squared_distance(node.index(), other.index()),
                other,
            )
        })
        .collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let of = |(distance, other): &(f64, NodeId)| {
        let id = prepared.engine.items.id(*other);
        let (_, classes) = log.labels_of(&id).next()?;
        let class = dial_store::heaviest(&classes)?.0;
        let show = shown(prepared, *other, &id, MAX_TEXT_IN_LIST);
        Some(Near {
            id,
            class,
            distance: distance.sqrt(),
            show,
        })
    };
    near.iter().take(NEAREST).filter_map(of).collect()
}

/// An id as part of a query.
fn encoded(id: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    id.bytes()
        .map(|byte| {
            if plain(byte) {
                (byte as char).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}
