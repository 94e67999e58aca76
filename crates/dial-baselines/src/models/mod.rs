//! The classifiers Dirichlet Learning is compared with, as sources of class scores u_c(x).
//!
//! ```text
//! laplace      u = y at the labels, (L u)(x) = 0 elsewhere          Zhu, Ghahramani, Lafferty 2003
//! poisson      L u = Σ_l (y_l - ȳ) e_l,  Σ d_i u_i = 0              Calder, Cook, Thorpe, Slepčev 2020
//! reweighted   L w = Σ_l (e_l - 1/n), w >= 1e-5, then laplace with w_i w_j W_ij   Calder, Miller 2022
//! nearest      u_c = d_min / d_c, distances to the nearest label of any class and of class c
//! logistic     u = softmax(W x + b) on standardised features, see `logistic`
//! ```
//!
//! The class is the largest score, ties to the smaller class. y is the list of class weights of a label, scaled to sum
//! 1; the first three are solved in `laplacian`. Nothing is kept between calls: scores depend on the labels alone.
//! Cost of an update (`table:comp_comparison`): K - 1 sparse solves for laplace, K for poisson, K for reweighted; O(n d)
//! per label for nearest.

pub(crate) mod laplacian;

use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use dial::acquisition::{Acquisition, Score, Situation};
use dial::belief::field::Term;
use dial::classifiers::logistic::Logistic;
use dial::classifiers::{ClassScores, Classifier, Shares};
use dial::control::Control;
use dial::error::{Error, Result};
use dial::features::{Features, Metric};
use dial::graph::Graph;
use dial::knn::metric_space::{Space, ZeroVectors};
use dial::knn::points::Points;
use dial::words::words;
use laplacian::Solver;

/// A classifier by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelName {
    /// Dirichlet Learning: the field of a session.
    #[default]
    Dirichlet,
    /// Laplace learning.
    Laplace,
    /// Poisson learning.
    Poisson,
    /// Laplace learning on a graph reweighted towards the labels.
    Reweighted,
    /// The nearest labelled item.
    Nearest,
    /// LAND's own classifier.
    Land,
    /// Logistic regression on the features.
    Logistic,
}

words!(ModelName, "model", {
    Dirichlet => "dirichlet",
    Laplace => "laplace",
    Poisson => "poisson",
    Reweighted => "reweighted",
    Nearest => "nearest",
    Land => "land",
    Logistic => "logistic",
});

/// A function from labels to the class of every node, where it has one.
pub type Classes = dyn Fn(&[Vec<Term>]) -> Vec<Option<usize>> + Send + Sync;

/// A classifier ready to be given labels.
pub struct Model<'a> {
    name: ModelName,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Graph(Solver),
    Nearest(Space<'a>),
    Logistic(Logistic),
    Classes(usize, Arc<Classes>),
}

impl<'a> Model<'a> {
    /// Laplace learning.
    pub fn laplace(graph: Arc<Graph>) -> Model<'a> {
        Model {
            name: ModelName::Laplace,
            kind: Kind::Graph(Solver::new(graph)),
        }
    }

    /// Poisson learning.
    pub fn poisson(graph: Arc<Graph>) -> Model<'a> {
        Model {
            name: ModelName::Poisson,
            kind: Kind::Graph(Solver::new(graph)),
        }
    }

    /// Poisson-reweighted Laplace learning.
    pub fn reweighted(graph: Arc<Graph>) -> Model<'a> {
        Model {
            name: ModelName::Reweighted,
            kind: Kind::Graph(Solver::new(graph)),
        }
    }

    /// The nearest labelled item. Rows of length zero under cosine are as far from everything as can be.
    pub fn nearest(features: Features<'a>, metric: Metric) -> Result<Model<'a>> {
        let space = Space::new(features, metric, ZeroVectors::Isolate)?;
        Ok(Model {
            name: ModelName::Nearest,
            kind: Kind::Nearest(space),
        })
    }

    /// Logistic regression on standardised features, the "linear probe". Under cosine the rows are scaled to length 1
    /// first, and rows of length zero stand at the origin.
    pub fn logistic(features: Features<'a>, metric: Metric) -> Result<Model<'a>> {
        let points = Points::new(features, metric)?.standardised();
        Ok(Model {
            name: ModelName::Logistic,
            kind: Kind::Logistic(Logistic::new(points)),
        })
    }

    /// A classifier that gives classes, not scores: the class has 1, the others 0; without a class all have 1/K.
    pub fn from_classes(name: ModelName, n: usize, classes: Arc<Classes>) -> Model<'a> {
        Model {
            name,
            kind: Kind::Classes(n, classes),
        }
    }

    /// Which classifier this is.
    pub fn name(&self) -> ModelName {
        self.name
    }
}

impl Classifier for Model<'_> {
    fn scores(&self, labels: &[Vec<Term>], control: &Control) -> Result<ClassScores> {
        let given = Shares::new(labels);
        let planes = match (&self.kind, self.name) {
            (Kind::Nearest(space), _) => nearest(space, labels),
            (Kind::Logistic(logistic), _) => logistic.scores(&given),
            (Kind::Classes(n, classes), _) => one_hot(*n, labels.len(), &classes(labels)),
            (Kind::Graph(solver), ModelName::Poisson) => solver.poisson(&given, control)?,
            (Kind::Graph(solver), ModelName::Reweighted) => {
                let weights = solver.reweighting(&given, control)?;
                solver.harmonic(&given, &weights, control)?
            }
            (Kind::Graph(solver), _) => solver.harmonic(&given, &vec![1.0; solver.n()], control)?,
        };
        Ok(ClassScores { planes })
    }
}

fn nearest(space: &Space<'_>, labels: &[Vec<Term>]) -> Vec<Vec<f64>> {
    let (n, k) = (space.features.n(), labels.len());
    let mut planes = vec![vec![0.0; n]; k];
    for (plane, terms) in planes.iter_mut().zip(labels) {
        let distance = |i: usize| {
            let squares = terms
                .iter()
                .map(|(l, _)| space.squared_distance(i, l.index()));
            squares.fold(f64::INFINITY, f64::min).sqrt()
        };
        plane
            .par_iter_mut()
            .enumerate()
            .for_each(|(i, d)| *d = distance(i));
    }
    for i in 0..n {
        let least = planes
            .iter()
            .map(|plane| plane[i])
            .fold(f64::INFINITY, f64::min);
        for plane in &mut planes {
            plane[i] = match plane[i] {
                _ if least == f64::INFINITY => 1.0 / k as f64,
                0.0 => 1.0,
                distance => least / distance,
            };
        }
    }
    planes
}

fn one_hot(n: usize, k: usize, classes: &[Option<usize>]) -> Vec<Vec<f64>> {
    let mut planes = vec![vec![0.0; n]; k];
    for (i, class) in classes.iter().enumerate() {
        match class {
            Some(class) => planes[*class][i] = 1.0,
            None => planes
                .iter_mut()
                .for_each(|plane| plane[i] = 1.0 / k as f64),
        }
    }
    planes
}

/// Whether a score can be read from the class scores of any classifier.
pub fn reads_class_scores(score: Score) -> bool {
    score.of_classes(&[1.0, 0.0]).is_some()
}

/// The words of the scores that can, separated by commas.
pub fn class_score_words() -> String {
    let scores = Score::ALL
        .iter()
        .filter(|score| reads_class_scores(**score));
    scores
        .map(|score| score.word())
        .collect::<Vec<_>>()
        .join(", ")
}

/// A score read from the class scores of a classifier: `margin@laplace` is the paper's Unc. (SM). Cost: that of the
/// classifier for every question, then O(K) per node; nothing is kept between questions.
pub struct ScoreOf<'a> {
    score: Score,
    model: Arc<Model<'a>>,
}

impl<'a> ScoreOf<'a> {
    /// A score of a model's class scores.
    ///
    /// # Errors
    /// Variance and random, which class scores do not have.
    pub fn new(score: Score, model: Arc<Model<'a>>) -> Result<ScoreOf<'a>> {
        if !reads_class_scores(score) {
            let want = format!("one of {} of a model", class_score_words());
            return Err(Error::setting(
                "acquisition",
                want,
                format!("{score}@{}", model.name()),
            ));
        }
        Ok(ScoreOf { score, model })
    }
}

impl Acquisition for ScoreOf<'_> {
    fn scores(&self, now: &Situation<'_>, out: &mut [f64]) -> Result<()> {
        if now.labelled.is_empty() {
            out.fill(0.0);
            return Ok(());
        }
        let scores = self.model.scores(now.labels, &now.control())?;
        scores.map(out, |scores| {
            self.score
                .of_classes(scores)
                .expect("checked when it was made")
        });
        Ok(())
    }
}
