//! What a session believes: classes, probabilities and bounds, read from its field.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::Session;
use crate::belief::calibration::{Accuracy, Calibration, Readout};
use crate::belief::field::DirichletField;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::ids::NodeId;
use crate::linalg::local::Solving;
use crate::opinion::{Labelled, SecondOpinion, fitted};
use crate::session::question::Prediction;
use crate::session::view::View;

/// As many second opinions are kept: those of a few answers that are looked ahead at, and that of now.
const OPINIONS_KEPT: usize = 12;

impl<'a> Session<'a> {
    /// What is believed about a node.
    ///
    /// # Panics
    /// If the pool has no such node, or fewer than two classes are known ([`Session::is_ready`]).
    pub fn prediction(&self, node: NodeId) -> Prediction {
        assert!(self.is_ready(), "fewer than two classes are known");
        let (field, readout) = (self.field(), self.current_readout());
        let heard = readout.heard(field, node);
        Prediction {
            class: self.classes()[readout.class_of(&heard)],
            probabilities: readout.probabilities(field, node),
            variance: readout.variance(field, node),
            evidence: heard.evidence(),
            reached: self
                .labelled
                .iter()
                .any(|&source| self.engine.propagation.reaches(source, node)),
            error: self.error(node),
        }
    }

    /// A copy of the belief of this moment.
    ///
    /// # Errors
    /// Fewer than two classes (N12), or what a solve may fail with.
    pub fn view(&self, control: &Control) -> Result<View<'a>> {
        if !self.is_ready() {
            return Err(Error::TooFewClasses(self.classes().len()));
        }
        let belief = self.belief(control)?;
        let readout = self.readout(&belief);
        let field = belief.into_owned();
        let open = (0..)
            .map(NodeId)
            .zip(&self.open)
            .filter(|(_, open)| **open)
            .map(|(node, _)| node)
            .collect();
        Ok(View {
            propagation: Arc::clone(&self.engine.propagation),
            classes: self.classes().to_vec(),
            field,
            terms: self.terms().to_vec(),
            readout,
            labelled: self.labelled.clone(),
            open,
        })
    }

    /// Reads a belief about all nodes ([`Session::belief`]) as the configuration says.
    pub fn readout(&self, belief: &DirichletField) -> Readout {
        if std::ptr::eq(belief, self.field()) {
            return self.current_readout().clone();
        }
        self.make_readout(belief)
    }

    /// Reads the field of the moment.
    pub(super) fn current_readout(&self) -> &Readout {
        self.readout.get_or_init(|| self.make_readout(self.field()))
    }

    fn make_readout(&self, belief: &DirichletField) -> Readout {
        match self.engine.config.calibration {
            Calibration::Off => Readout::uncalibrated(belief.n_classes()),
            Calibration::On => Readout::calibrated(
                belief,
                self.terms(),
                self.engine.propagation.source_value(),
                self.opinion(),
            ),
        }
    }

    /// What the features say, where the engine has them and there is a label.
    fn opinion(&self) -> Option<Arc<SecondOpinion>> {
        let components = self.engine.components.as_ref()?;
        let n_classes = self.terms().len();
        let mut labels = self.labels_in_order();
        labels.truncate(fitted(labels.len()));
        let key = (n_classes, labels);
        let mut kept = self.opinions.lock().expect("no holder panics");
        if let Some((_, opinion)) = kept.iter().find(|(other, _)| *other == key) {
            return Some(Arc::clone(opinion));
        }
        let opinion = Arc::new(SecondOpinion::fit(components, &key.1, n_classes)?);
        if kept.len() == OPINIONS_KEPT {
            kept.remove(0);
        }
        kept.push((key, Arc::clone(&opinion)));
        Some(opinion)
    }

    /// The labelled nodes in the order of the log, with the shares of the classes. A label that counts nothing is left out.
    fn labels_in_order(&self) -> Vec<Labelled> {
        let place: HashMap<NodeId, usize> = self.order.iter().copied().zip(0..).collect();
        let blank = |&node: &NodeId| (node, Vec::new());
        let mut labels: Vec<Labelled> = self.order.iter().map(blank).collect();
        for (class, terms) in self.terms().iter().enumerate() {
            for (node, weight) in terms {
                let shares = &mut labels[place[node]].1;
                match shares.last_mut().filter(|(last, _)| *last == class) {
                    Some((_, share)) => *share += weight,
                    None => shares.push((class, *weight)),
                }
            }
        }
        labels.retain_mut(|(_, shares)| {
            let total = shares.iter().fold(0.0, |sum, (_, share)| sum + share);
            shares.iter_mut().for_each(|(_, share)| *share /= total);
            total > 0.0
        });
        labels
    }

    /// The accuracy to expect on the items that may still be asked, with its interval; `None` if calibration is off, and while
    /// there are too few labels or classes to tell ([`Readout::accuracy`]).
    ///
    /// # Errors
    /// What a solve may fail with.
    pub fn accuracy(&self, control: &Control) -> Result<Option<Accuracy>> {
        if !self.is_ready() {
            return Ok(None);
        }
        let belief = self.belief(control)?;
        let open: Vec<NodeId> = (0..)
            .map(NodeId)
            .zip(&self.open)
            .filter(|(_, open)| **open)
            .map(|(node, _)| node)
            .collect();
        Ok(self.readout(&belief).accuracy(&belief, &open))
    }

    /// How solves are done, in certified precision.
    pub fn solving(&self) -> Option<Solving> {
        Some(
            self.engine
                .propagation
                .local()?
                .solving(self.field().prior_strength()),
        )
    }

    /// In certified precision: the proven bound on the evidence for any class at a node.
    pub(super) fn error(&self, node: NodeId) -> Option<f64> {
        let bounds = (0..self.field().n_classes()).map(|plane| {
            Some(
                self.evidence
                    .bound(plane)?
                    .at(self.field().plane(plane)[node.index()]),
            )
        });
        bounds
            .collect::<Option<Vec<f64>>>()
            .map(|errors| errors.into_iter().fold(0.0, f64::max))
    }

    /// The belief about every node, also about those that no local solve arrived at: in certified precision the rest of
    /// all classes is solved for once, in faithful precision this is [`Session::field`]. For predictions, not for asking.
    ///
    /// # Errors
    /// What a solve may fail with.
    pub fn belief(&self, control: &Control) -> Result<Cow<'_, DirichletField>> {
        self.evidence.belief(control)
    }
}
