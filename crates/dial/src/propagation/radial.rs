//! Radial kernels of the features, as propagations without a graph.
//!
//! ```text
//! RBF        exp(-|x - x'|² / (2σ²))             with 2σ², as in the paper's text (its caption has σ²)
//! compact    (1 - r/R)₊⁴ (4 r/R + 1)             Wendland's, zero from r = R on
//! ```

use std::sync::Arc;

use rayon::prelude::*;

use crate::blocks::NODES_PER_CHUNK;
use crate::control::Control;
use crate::error::{Result, check_positive};
use crate::features::{Features, OwnedFeatures};
use crate::ids::NodeId;
use crate::propagation::{Column, Propagation, check_source_value};

/// The shape of a radial kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// exp(-r² / (2σ²)).
    Rbf {
        /// σ.
        sigma: f64,
    },
    /// (1 - r/R)₊⁴ (4 r/R + 1), zero from R on.
    Compact {
        /// R.
        radius: f64,
    },
}

/// A radial kernel of the Euclidean distance between features; needs no graph.
///
/// It keeps a copy of the features, so that sessions outlive the rows they were made from.
#[derive(Clone, Debug)]
pub struct Radial {
    features: Arc<OwnedFeatures>,
    shape: Shape,
    source_value: f64,
}

impl Radial {
    /// A radial kernel on the given features.
    ///
    /// # Errors
    /// A width that is not a finite number above 0.
    pub fn new(features: Features<'_>, shape: Shape) -> Result<Radial> {
        let (Shape::Rbf { sigma: width } | Shape::Compact { radius: width }) = shape;
        check_positive("sigma", width)?;
        Ok(Radial {
            features: Arc::new(features.to_owned()),
            shape,
            source_value: 1.0,
        })
    }

    /// Counts every label as T observations.
    ///
    /// # Errors
    /// A T that is not between 1e-100 and 1e100.
    pub fn with_source_value(mut self, source_value: f64) -> Result<Radial> {
        check_source_value(source_value)?;
        self.source_value = source_value;
        Ok(self)
    }

    fn value(&self, source: NodeId, node: usize) -> f64 {
        let squared = self.features.view().squared_distance(source.index(), node);
        let shape = match self.shape {
            Shape::Rbf { sigma } => libm::exp(-squared / (2.0 * sigma * sigma)),
            Shape::Compact { radius } => {
                let r = squared.sqrt() / radius;
                let squared_gap = (1.0 - r) * (1.0 - r);
                if r < 1.0 {
                    squared_gap * squared_gap * (4.0 * r + 1.0)
                } else {
                    0.0
                }
            }
        };
        self.source_value * shape
    }
}

impl Propagation for Radial {
    fn n(&self) -> usize {
        self.features.view().n()
    }

    fn columns(&self, sources: &[NodeId], control: &Control) -> Result<Vec<Column>> {
        let column = |&source: &NodeId| {
            control.check()?;
            let mut values = vec![0.0; self.n()];
            values
                .par_chunks_mut(NODES_PER_CHUNK)
                .enumerate()
                .for_each(|(chunk, values)| {
                    for (node, value) in (chunk * NODES_PER_CHUNK..).zip(values) {
                        *value = self.value(source, node);
                    }
                });
            Ok(Arc::new(values))
        };
        sources.iter().map(column).collect()
    }

    fn source_value(&self) -> f64 {
        self.source_value
    }

    fn reaches(&self, source: NodeId, node: NodeId) -> bool {
        self.value(source, node.index()) > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radial_kernels_by_hand() {
        let x = [0.0, 1.0, 2.0, 4.0];
        let features = Features::f64(&x, 4, 1).unwrap();
        let rbf = Radial::new(features, Shape::Rbf { sigma: 1.0 }).unwrap();
        let compact = Radial::new(features, Shape::Compact { radius: 2.0 }).unwrap();
        let close = |got: &[f64], want: &[f64]| {
            assert!(
                got.iter().zip(want).all(|(g, w)| (g - w).abs() < 1e-15),
                "{got:?}"
            )
        };
        let of = |radial: &dyn Propagation| {
            radial.columns(&[NodeId(0)], &Control::new()).unwrap()[0].to_vec()
        };
        close(
            &of(&rbf),
            &[1.0, libm::exp(-0.5), libm::exp(-2.0), libm::exp(-8.0)],
        );
        // r/R = 1/2: (1/2)^4 · 3 = 3/16.
        close(&of(&compact), &[1.0, 0.1875, 0.0, 0.0]);
        assert!(compact.reaches(NodeId(0), NodeId(1)) && !compact.reaches(NodeId(0), NodeId(2)));
    }
}
