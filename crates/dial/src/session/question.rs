//! What a session hands out: questions, what answers would bring, and what is believed about an item.

use crate::ids::{ClassId, NodeId};

/// An item worth asking.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Its node.
    pub node: NodeId,
    /// Its id.
    pub item: String,
    /// Its score.
    pub score: f64,
    /// In certified precision: how far the evidence for any class at it may be from the exact one, at most.
    pub error: Option<f64>,
}

/// What a hypothetical answer would bring ([`Session::lookahead`](crate::Session::lookahead)).
#[derive(Clone, Debug, PartialEq)]
pub struct Lookahead {
    /// The answer.
    pub class: ClassId,
    /// The next question; none, if nothing would be left to ask.
    pub next: Option<Question>,
    /// How many other nodes would have another most probable class than now.
    pub changed: usize,
}

/// The items to ask next.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// The questions, in order.
    pub questions: Vec<Question>,
    /// How many of the last ones neighbour earlier ones, for want of others.
    pub crowded: usize,
}

/// What is believed about an item.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The most probable class.
    pub class: ClassId,
    /// Probabilities, calibrated if calibration is on, in the order of [`classes`](crate::Session::classes).
    pub probabilities: Vec<f64>,
    /// Trace of the covariance of the Dirichlet distribution, class-balanced if calibration is on.
    pub variance: f64,
    /// Evidence, all classes together, without the prior.
    pub evidence: f64,
    /// Whether any label can say something about this item.
    pub reached: bool,
    /// In certified precision: how far the evidence for any class may be from the exact one, at most, before classes are
    /// balanced.
    pub error: Option<f64>,
}
