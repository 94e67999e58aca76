//! What a session believes: classes, probabilities and bounds, read from its field.

use std::borrow::Cow;
use std::sync::Arc;

use super::Session;
use crate::belief::calibration::{Accuracy, Calibration, Readout};
use crate::belief::field::{DirichletField, variance};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::ids::NodeId;
use crate::linalg::local::Solving;
use crate::session::question::Prediction;
use crate::session::view::View;

impl<'a> Session<'a> {
    /// What is believed about a node.
    ///
    /// # Panics
    /// If the pool has no such node, or fewer than two classes are known ([`Session::is_ready`]).
    pub fn prediction(&self, node: NodeId) -> Prediction {
        assert!(self.is_ready(), "fewer than two classes are known");
        let (field, readout) = (
            self.field(),
            self.readout.get_or_init(|| self.readout(self.field())),
        );
        let alpha = readout.alpha(field, node);
        Prediction {
            class: self.classes()[readout.class(field, node)],
            probabilities: readout.probabilities(field, node),
            variance: variance(&alpha),
            evidence: readout
                .evidence(field, node)
                .iter()
                .fold(0.0, |sum, evidence| sum + evidence),
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
        let field = self.belief(control)?.into_owned();
        let readout = self.readout(&field);
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
        match self.engine.config.calibration {
            Calibration::Off => Readout::uncalibrated(belief.n_classes()),
            Calibration::On => {
                Readout::calibrated(belief, self.terms(), self.engine.propagation.source_value())
            }
        }
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
