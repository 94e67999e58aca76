//! Acquisition functions: how much each node's label would tell (`sec:query-point-selection`). Larger = ask sooner.
//!
//! ```text
//! variance          (β² - Σ α_c²) / (β² (β + 1))      eq:dirichlet-variance-af: little or conflicting evidence
//! margin            -(p₁ - p₂), the two largest        conflicting evidence only
//! margin-range      -(max p - min p)                   the paper's multi-class margin; equals margin for two classes
//! entropy           -Σ p_c ln p_c
//! least-confidence  1 - max p
//! norm              -|p|₂
//! random            uniform numbers
//! ```
//!
//! with p the Dirichlet mean. An acquisition sees the field, not the mean alone. Cost: each of these is O(K) per node and
//! question and keeps nothing between questions (`table:comp_comparison`).

pub mod auto;

use serde::{Deserialize, Serialize};

use crate::belief::calibration::Readout;
use crate::belief::field::{DirichletField, Term, variance};
use crate::control::Control;
use crate::error::Result;
use crate::ids::NodeId;
use crate::seed::{Purpose, Random};
use crate::words::words;

/// What an acquisition may look at.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The belief about every node.
    pub field: &'a DirichletField,
    /// The nodes with a label that counts, ascending.
    pub labelled: &'a [NodeId],
    /// The same nodes in the order of their labels in the log: what is kept up label by label follows this order, so
    /// that it has the bits of a replay.
    pub order: &'a [NodeId],
    /// The labels of every class, in the order of the planes of the field.
    pub labels: &'a [Vec<Term>],
    /// The seed of the session.
    pub seed: u64,
    /// Number of nodes labelled so far.
    pub round: u64,
    /// How classes and probabilities are read from the field, for acquisitions that want it, where the features have a say.
    pub readout: Option<&'a Readout>,
    /// Stops what takes long; see [`Situation::control`].
    pub control: Option<&'a Control>,
}

impl<'a> Situation<'a> {
    /// A field before any question.
    pub fn at_start(field: &'a DirichletField, seed: u64) -> Situation<'a> {
        Situation {
            field,
            labelled: &[],
            order: &[],
            labels: &[],
            seed,
            round: 0,
            readout: None,
            control: None,
        }
    }

    /// What solves must obey.
    pub fn control(&self) -> Control {
        self.control.cloned().unwrap_or_default()
    }
}

/// Scores every node by how much its label would tell. Implemented by the built-in [`Score`]s and by [`OfAlpha`], any
/// function of the α of a node; `examples/own_acquisition.rs` implements it from scratch.
pub trait Acquisition: Send + Sync {
    /// Writes the score of every node; larger means ask sooner. Must not depend on anything but the situation.
    fn scores(&self, now: &Situation<'_>, out: &mut [f64]) -> Result<()>;

    /// Whether it looks at the probabilities that are stated ([`Situation::readout`]), which costs a fit to the labels.
    fn wants_readout(&self) -> bool {
        false
    }

    /// The prior strength that suits it, where none is asked for.
    fn prior(&self) -> Option<f64> {
        None
    }

    /// Whether a batch is chosen one by one, each question as if those before it were answered ([`Acquisition::assume_answer`]);
    /// else from one set of scores, no two of it neighbours.
    fn assumes_answers(&self) -> bool {
        false
    }

    /// Turns a field, that of the situation or what became of it here, into what it may be after a hypothetical answer for
    /// this node.
    fn assume_answer(
        &self,
        _now: &Situation<'_>,
        _field: &mut DirichletField,
        _node: NodeId,
    ) -> Result<()> {
        Ok(())
    }

    /// The score of a node from its α alone, for acquisitions that look at nothing else: the same bits as
    /// [`Acquisition::scores`] gives. Lets a session score again only the nodes that a label has changed.
    fn score_at(&self, _alpha: &[f64]) -> Option<f64> {
        None
    }
}

/// The acquisitions that read the belief alone, by name.
///
/// Cost of each (`table:comp_comparison`): nothing initially, O(K) per unlabelled point, no auxiliary update; the
/// classifier update is that of the field, one sparse solve per label. `random` costs O(1) per point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Score {
    /// Dirichlet variance, the paper's.
    #[default]
    Variance,
    /// Smallest margin between the two most probable classes.
    Margin,
    /// Smallest range between the most and the least probable class.
    MarginRange,
    /// Largest entropy of the mean.
    Entropy,
    /// Smallest probability of the most probable class.
    LeastConfidence,
    /// Smallest Euclidean norm of the mean.
    Norm,
    /// No preference.
    Random,
}

words!(Score, "acquisition", {
    Variance => "variance",
    Margin => "margin",
    MarginRange => "margin-range",
    Entropy => "entropy",
    LeastConfidence => "least-confidence",
    Norm => "norm",
    Random => "random",
});

impl Acquisition for Score {
    fn scores(&self, now: &Situation<'_>, out: &mut [f64]) -> Result<()> {
        match self {
            // The same bits, class by class.
            Score::Variance => now.field.variances(out),
            Score::Random => {
                let mut random = Random::new(now.seed, Purpose::Scores, now.round);
                out.iter_mut().for_each(|score| *score = random.uniform());
            }
            _ => now.field.map(out, |alpha| {
                self.score_at(alpha).expect("a function of alpha")
            }),
        }
        Ok(())
    }

    fn score_at(&self, alpha: &[f64]) -> Option<f64> {
        match self {
            Score::Variance => Some(variance(alpha)),
            Score::Margin => Some(-gap(alpha) / total(alpha)),
            Score::MarginRange => Some((least(alpha) - most(alpha)) / total(alpha)),
            Score::Entropy => Some(entropy(alpha)),
            Score::LeastConfidence => Some(1.0 - most(alpha) / total(alpha)),
            Score::Norm => Some(-norm(alpha) / total(alpha)),
            Score::Random => None,
        }
    }
}

/// Any function of the α of a node, as an acquisition. Cost: that of the function per unlabelled point, and nothing else
/// but the field's own solve per label.
///
/// ```
/// use std::sync::Arc;
/// use dial::acquisition::OfAlpha;
/// use dial::{Config, Control, Engine, Features};
///
/// let x: Vec<f64> = (0..40).map(f64::from).collect();
/// let engine = Engine::build(Features::f64(&x, 40, 1)?, &Config::paper(), &Control::new())?;
/// // Ask where there is least evidence, of any class.
/// let engine = engine.asking_by(Arc::new(OfAlpha(|alpha: &[f64]| -alpha.iter().sum::<f64>())));
/// # Ok::<(), dial::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OfAlpha<F>(pub F);

impl<F: Fn(&[f64]) -> f64 + Send + Sync> Acquisition for OfAlpha<F> {
    fn scores(&self, now: &Situation<'_>, out: &mut [f64]) -> Result<()> {
        now.field.map(out, &self.0);
        Ok(())
    }

    fn score_at(&self, alpha: &[f64]) -> Option<f64> {
        Some(self.0(alpha))
    }
}

fn total(alpha: &[f64]) -> f64 {
    alpha.iter().fold(0.0, |sum, a| sum + a)
}

fn most(alpha: &[f64]) -> f64 {
    alpha.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn least(alpha: &[f64]) -> f64 {
    alpha.iter().copied().fold(f64::INFINITY, f64::min)
}

impl Score {
    /// The score of class scores of any scale and sign, as classifiers other than Dirichlet Learning give them: margin,
    /// range and norm as they are, entropy and least confidence of their positive parts, divided by the sum. `None` for
    /// variance and random, which class scores do not have.
    pub fn of_classes(self, scores: &[f64]) -> Option<f64> {
        let shares = || {
            let positive: Vec<f64> = scores.iter().map(|s| s.max(0.0)).collect();
            if total(&positive) > 0.0 {
                positive
            } else {
                vec![1.0; scores.len()]
            }
        };
        match self {
            Score::Variance | Score::Random => None,
            Score::Margin => Some(-gap(scores)),
            Score::MarginRange => Some(least(scores) - most(scores)),
            Score::Entropy => Some(entropy(&shares())),
            Score::LeastConfidence => Some(1.0 - most(&shares()) / total(&shares())),
            Score::Norm => Some(-norm(scores)),
        }
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |sum, a| sum + a * a).sqrt()
}

/// The difference of the two largest values.
fn gap(alpha: &[f64]) -> f64 {
    let (mut first, mut second) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for &a in alpha {
        if a > first {
            (first, second) = (a, first);
        } else if a > second {
            second = a;
        }
    }
    first - second
}

fn entropy(alpha: &[f64]) -> f64 {
    let total = total(alpha);
    // 0 ln 0 = 0.
    -alpha.iter().map(|a| a / total).fold(
        0.0,
        |sum, p| if p > 0.0 { sum + p * libm::log(p) } else { sum },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(score: Score, field: &DirichletField) -> Vec<f64> {
        let mut out = vec![f64::NAN; field.n()];
        score
            .scores(&Situation::at_start(field, 1), &mut out)
            .unwrap();
        out
    }

    /// Node 0: alpha (4, 2, 2), so p = (1/2, 1/4, 1/4). Node 1: the prior (2, 2, 2).
    fn field() -> DirichletField {
        let mut field = DirichletField::new(2, 3, 2.0);
        field.add(0, 1.0, &[2.0, 0.0]);
        field
    }

    #[test]
    fn scores_by_hand() {
        let at_node_0 = |score| scores(score, &field())[0];
        assert_eq!(at_node_0(Score::Variance), (64.0 - 24.0) / (64.0 * 9.0));
        assert_eq!(at_node_0(Score::Margin), -0.25);
        assert_eq!(at_node_0(Score::MarginRange), -0.25);
        assert!((at_node_0(Score::Entropy) - 1.5 * std::f64::consts::LN_2).abs() < 1e-15);
        assert_eq!(at_node_0(Score::LeastConfidence), 0.5);
        assert!((at_node_0(Score::Norm) + 0.375f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn every_score_prefers_the_node_without_evidence() {
        for &score in Score::ALL.iter().filter(|&&score| score != Score::Random) {
            let [known, unknown] = scores(score, &field())[..] else {
                panic!("two nodes")
            };
            assert!(unknown > known, "{score}");
        }
    }

    #[test]
    fn a_function_of_alpha_is_an_acquisition() {
        let (field, mut out) = (field(), [0.0; 2]);
        let now = Situation::at_start(&field, 1);
        OfAlpha(|alpha: &[f64]| alpha[0] - alpha[1])
            .scores(&now, &mut out)
            .unwrap();
        assert_eq!(out, [2.0, 0.0]);
    }

    #[test]
    fn random_scores_repeat_for_a_round_and_differ_between_rounds() {
        let field = field();
        let draw = |round| {
            let mut out = vec![0.0; 2];
            Score::Random
                .scores(
                    &Situation {
                        round,
                        ..Situation::at_start(&field, 1)
                    },
                    &mut out,
                )
                .unwrap();
            out
        };
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
    }

    #[test]
    fn words_read_back() {
        for &score in Score::ALL {
            assert_eq!(score.word().parse::<Score>().unwrap(), score);
        }
        assert!("maximum".parse::<Score>().is_err());
    }
}
