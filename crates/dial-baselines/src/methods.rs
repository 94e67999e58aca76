//! The methods of the paper (`table:acq_funcs`) and their later rivals by name, and the workbench that makes them for a pool.
//!
//! A method is written NAME or NAME@MODEL: `variance`, `margin@laplace` (the paper's Unc. (SM)), `vopt`, `land`. What
//! several of them need and what takes long (eigenpairs, start values, a ranking) is made once, when it is first needed,
//! and shared.

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex};

use crate::coverage::{KCentre, ProbCover};
use crate::distances::Distances;
use crate::herding::{MaxHerding, UncertaintyHerding};
use crate::kmeans::Clusterings;
use crate::land::{Land, LandOptions};
use crate::models::{Model, ModelName, ScoreOf, class_score_words, reads_class_scores};
use crate::rwll::ReweightedNorm;
use crate::typiclust::TypiClust;
use crate::variance_opt::FullOptimal;
use crate::variance_opt::{Criterion, ModelChange, Moments, SpectralOptimal};
use dial::acquisition::auto::Auto;
use dial::acquisition::{Acquisition, Score};
use dial::config::{AcquisitionKind, Config};
use dial::control::Control;
use dial::engine::{self, Engine};
use dial::error::{Error, Result};
use dial::features::{Features, Metric};
use dial::graph::Graph;
use dial::knn::Neighbours;
use dial::knn::points::Points;
use dial::linalg::eigen::Eigenpairs;
use dial::propagation::Propagation;

/// An acquisition by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Doubt times the root of coverage: the default of the command.
    Auto,
    /// A score of the class scores of a model.
    Score(Score, ModelName),
    /// Variance optimality from the lowest eigenpairs.
    VOpt,
    /// Σ-optimality from the lowest eigenpairs.
    SigmaOpt,
    /// Model change: spectral VOpt times the uncertainty of Laplace learning.
    McVOpt,
    /// Variance optimality, exact.
    VOptFull,
    /// Σ-optimality, exact.
    SigmaOptFull,
    /// Learning by active nonlinear diffusion.
    Land,
    /// The point farthest from the labels.
    KCentre,
    /// The most typical point of the largest cluster without a label.
    TypiClust,
    /// The ball with most points that are not covered yet.
    ProbCover,
    /// Coverage by kernels around the labels.
    MaxHerding,
    /// The same, weighted by the uncertainty of the Dirichlet mean.
    UncertaintyHerding,
    /// The norm of damped reweighted Laplace learning.
    ReweightedNorm,
}

/// The methods that are not scores of a model, and their words.
const METHOD_NAMES: [(Method, &str); 13] = [
    (Method::Auto, "auto"),
    (Method::VOpt, "vopt"),
    (Method::SigmaOpt, "sigma-opt"),
    (Method::McVOpt, "mcvopt"),
    (Method::VOptFull, "vopt-full"),
    (Method::SigmaOptFull, "sigma-opt-full"),
    (Method::Land, "land"),
    (Method::KCentre, "k-centre"),
    (Method::TypiClust, "typiclust"),
    (Method::ProbCover, "probcover"),
    (Method::MaxHerding, "max-herding"),
    (Method::UncertaintyHerding, "uncertainty-herding"),
    (Method::ReweightedNorm, "rwll-norm"),
];

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Method::Score(score, ModelName::Dirichlet) => write!(f, "{score}"),
            Method::Score(score, model) => write!(f, "{score}@{model}"),
            other => f.write_str(
                METHOD_NAMES
                    .iter()
                    .find(|(method, _)| method == other)
                    .expect("every method has a word")
                    .1,
            ),
        }
    }
}

impl From<AcquisitionKind> for Method {
    fn from(asking: AcquisitionKind) -> Method {
        match asking {
            AcquisitionKind::Auto => Method::Auto,
            AcquisitionKind::Score(score) => Method::Score(score, ModelName::Dirichlet),
        }
    }
}

impl Method {
    /// The words of all methods, separated by commas: `auto`, the scores, the others.
    pub fn words() -> String {
        let [(_, auto), others @ ..] = &METHOD_NAMES;
        let others: Vec<&str> = others.iter().map(|(_, name)| *name).collect();
        format!("{auto}, {}, {}", Score::words(), others.join(", "))
    }

    /// The acquisition whose defaults go with this method: its own, or the paper's.
    pub fn asking(self) -> AcquisitionKind {
        match self {
            Method::Auto => AcquisitionKind::Auto,
            Method::Score(score, ModelName::Dirichlet) => AcquisitionKind::Score(score),
            _ => AcquisitionKind::Score(Score::Variance),
        }
    }
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(word: &str) -> Result<Method> {
        if let Some((method, _)) = METHOD_NAMES.iter().find(|(_, name)| *name == word) {
            return Ok(*method);
        }
        let (name, model) = word
            .split_once('@')
            .unwrap_or((word, ModelName::Dirichlet.word()));
        let score: Score = name.parse().map_err(|_| {
            let want = format!(
                "one of {}; scores may name a model, as in margin@laplace",
                Method::words()
            );
            Error::setting("acquisition", want, word)
        })?;
        let model: ModelName = model.parse()?;
        if model != ModelName::Dirichlet && !reads_class_scores(score) {
            let want = format!("a model for {} only", class_score_words());
            return Err(Error::setting("acquisition", want, word));
        }
        Ok(Method::Score(score, model))
    }
}

/// Eigenpairs of the graph for VOpt, Σ-Opt, MCVOpt and LAND, unless the caller chooses otherwise (the paper's).
pub const EIGENPAIRS: usize = 50;

/// Makes the methods and models for one pool.
pub struct Workbench<'a> {
    engine: Engine<'a>,
    features: Features<'a>,
    metric: Metric,
    neighbours: Option<Arc<Neighbours>>,
    graph: Made<Graph>,
    eigenpairs: usize,
    pairs: Made<Eigenpairs>,
    moments: Made<Moments>,
    land: Made<Land>,
    points: Made<Points>,
    distances: Made<Distances>,
    clusterings: Made<Clusterings>,
    models: MadeFor<ModelName, Model<'a>>,
}

/// Something that is made once.
type Made<T> = Mutex<Option<Arc<T>>>;

/// What is there, or what `make` makes. Made outside the lock: it may take long and wait for other threads, which may
/// then make the same thing twice.
fn made<T>(slot: &Made<T>, make: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
    if let Some(found) = &*slot.lock().expect("no holder panics") {
        return Ok(Arc::clone(found));
    }
    let fresh = Arc::new(make()?);
    Ok(Arc::clone(
        slot.lock().expect("no holder panics").get_or_insert(fresh),
    ))
}

/// Something that is made once for each key.
type MadeFor<K, T> = Mutex<Vec<(K, Arc<T>)>>;

/// What is there for a key, or what `make` makes, outside the lock as in [`made`].
fn made_for<K: PartialEq, T>(
    slot: &MadeFor<K, T>,
    key: K,
    make: impl FnOnce() -> Result<T>,
) -> Result<Arc<T>> {
    let lock = || slot.lock().expect("no holder panics");
    if let Some((_, found)) = lock().iter().find(|(known, _)| *known == key) {
        return Ok(Arc::clone(found));
    }
    let fresh = Arc::new(make()?);
    lock().push((key, Arc::clone(&fresh)));
    Ok(fresh)
}

impl<'a> Workbench<'a> {
    /// A workbench for the pool of an engine. Spectral methods use `eigenpairs` eigenpairs, or as many as
    /// there are nodes. Without neighbours (a graph from a file) it cannot make LAND.
    pub fn new(
        engine: &Engine<'a>,
        features: Features<'a>,
        neighbours: Option<Arc<Neighbours>>,
        eigenpairs: usize,
    ) -> Workbench<'a> {
        Workbench {
            engine: engine.clone(),
            features,
            metric: engine.config.metric,
            neighbours,
            eigenpairs: eigenpairs.clamp(1, engine.propagation.n().max(1)),
            graph: Mutex::default(),
            pairs: Mutex::default(),
            moments: Mutex::default(),
            land: Mutex::default(),
            points: Mutex::default(),
            distances: Mutex::default(),
            clusterings: Mutex::default(),
            models: Mutex::default(),
        }
    }

    /// The engine of a pool and the workbench beside it.
    ///
    /// # Errors
    /// What building the engine may fail with.
    pub fn build(
        features: Features<'a>,
        config: &Config,
        eigenpairs: usize,
        control: &Control,
    ) -> Result<Workbench<'a>> {
        let found = engine::search(features, config, control)?;
        let engine = Engine::of(features, &found, config, control)?;
        let neighbours = Some(Arc::new(found.neighbours));
        Ok(Workbench::new(&engine, features, neighbours, eigenpairs))
    }

    /// The engine.
    pub fn engine(&self) -> &Engine<'a> {
        &self.engine
    }

    /// The engine, asking by a method.
    ///
    /// # Errors
    /// What making the method may fail with.
    pub fn asking_by(&self, method: Method, control: &Control) -> Result<Engine<'a>> {
        let acquisition = self.acquisition(method, &self.engine.propagation, control)?;
        Ok(self.engine.clone().asking_by(acquisition))
    }

    /// The graph by node ids and in f64.
    ///
    /// # Errors
    /// An engine without a graph.
    pub fn graph(&self) -> Result<Arc<Graph>> {
        made(&self.graph, || {
            let graph = self.engine.graph.as_ref().map(|graph| graph.to_graph());
            graph.ok_or_else(|| Error::BadGraph("there is none to compare methods on".into()))
        })
    }

    /// The lowest eigenpairs of the normalised Laplacian.
    pub fn pairs(&self, control: &Control) -> Result<Arc<Eigenpairs>> {
        made(&self.pairs, || {
            Eigenpairs::normalized(&*self.graph()?, self.eigenpairs, control)
        })
    }

    /// Start values of full VOpt and Σ-Opt.
    pub fn moments(&self, control: &Control) -> Result<Arc<Moments>> {
        made(&self.moments, || {
            FullOptimal::start(&*self.graph()?, control)
        })
    }

    /// The LAND ranking and classifier.
    pub fn land(&self, control: &Control) -> Result<Arc<Land>> {
        let Some(neighbours) = &self.neighbours else {
            let want = "another one with a graph from a file: this one reads distances";
            return Err(Error::setting("acquisition or model", want, "land"));
        };
        let pairs = self.pairs(control)?;
        made(&self.land, || {
            Land::new(
                neighbours,
                &*self.graph()?,
                &pairs,
                LandOptions::default(),
                control,
            )
        })
    }

    /// The rows as points of the metric.
    pub fn points(&self) -> Result<Arc<Points>> {
        made(&self.points, || Points::new(self.features, self.metric))
    }

    /// The distances of all pairs of points.
    ///
    /// # Errors
    /// A pool that is too large for that.
    pub fn distances(&self, control: &Control) -> Result<Arc<Distances>> {
        let points = self.points()?;
        made(&self.distances, || Distances::new(&points, control))
    }

    /// Partitions of the pool by k-means.
    ///
    /// # Errors
    /// A pool that is too large for all pairs.
    pub fn clusterings(&self, control: &Control) -> Result<Arc<Clusterings>> {
        let distances = self.distances(control)?;
        made(&self.clusterings, || Ok(Clusterings::new(distances)))
    }

    /// A classifier other than Dirichlet Learning.
    ///
    /// # Errors
    /// Dirichlet Learning, which is the field of a session and not a separate model; or the errors of making the model.
    pub fn model(&self, name: ModelName, control: &Control) -> Result<Arc<Model<'a>>> {
        made_for(&self.models, name, || {
            let graph = self.graph()?;
            Ok(match name {
                ModelName::Dirichlet => {
                    let want = "one of laplace, poisson, reweighted, nearest, land, logistic here";
                    return Err(Error::setting("model", want, name));
                }
                ModelName::Laplace => Model::laplace(graph),
                ModelName::Poisson => Model::poisson(graph),
                ModelName::Reweighted => Model::reweighted(graph),
                ModelName::Nearest => Model::nearest(self.features, self.metric)?,
                ModelName::Logistic => Model::logistic(self.features, self.metric)?,
                ModelName::Land => {
                    let land = self.land(control)?;
                    let classes = Arc::new(move |labels: &_| land.classes(labels));
                    Model::from_classes(ModelName::Land, graph.n(), classes)
                }
            })
        })
    }

    /// A method as an acquisition, for labels that this propagation spreads.
    pub fn acquisition(
        &self,
        method: Method,
        propagation: &Arc<dyn Propagation + 'a>,
        control: &Control,
    ) -> Result<Arc<dyn Acquisition + 'a>> {
        let spectral = |criterion| Ok(SpectralOptimal::new(self.pairs(control)?, criterion));
        let full = |criterion| {
            let (graph, moments) = (self.graph()?, self.moments(control)?);
            Ok(FullOptimal::new(&graph, moments, criterion))
        };
        let acquisition: Arc<dyn Acquisition + 'a> = match method {
            Method::Auto
                if self.engine.config.acquisition == AcquisitionKind::Auto
                    && Arc::ptr_eq(propagation, &self.engine.propagation) =>
            {
                Arc::clone(&self.engine.acquisition)
            }
            Method::Auto => Arc::new(Auto::new(Arc::clone(propagation), control)?),
            Method::Score(score, ModelName::Dirichlet) => Arc::new(score),
            Method::Score(score, model) => {
                Arc::new(ScoreOf::new(score, self.model(model, control)?)?)
            }
            Method::VOpt => Arc::new(spectral(Criterion::Vopt)?),
            Method::SigmaOpt => Arc::new(spectral(Criterion::SigmaOpt)?),
            Method::McVOpt => {
                let margin = ScoreOf::new(Score::Margin, Arc::new(Model::laplace(self.graph()?)))?;
                Arc::new(ModelChange::new(self.pairs(control)?, Arc::new(margin)))
            }
            Method::VOptFull => Arc::new(full(Criterion::Vopt)?),
            Method::SigmaOptFull => Arc::new(full(Criterion::SigmaOpt)?),
            Method::Land => self.land(control)?,
            Method::KCentre => Arc::new(KCentre::new(self.points()?)),
            Method::TypiClust => Arc::new(TypiClust::new(self.clusterings(control)?)),
            Method::ProbCover => Arc::new(ProbCover::new(self.clusterings(control)?)),
            Method::MaxHerding => Arc::new(MaxHerding::new(self.distances(control)?)),
            Method::UncertaintyHerding => {
                Arc::new(UncertaintyHerding::new(self.distances(control)?))
            }
            Method::ReweightedNorm => Arc::new(ReweightedNorm::new(self.graph()?)),
        };
        Ok(acquisition)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back() {
        let words = [
            "variance",
            "margin",
            "margin@laplace",
            "norm@reweighted",
            "entropy@logistic",
        ];
        for word in words.into_iter().chain(METHOD_NAMES.map(|(_, word)| word)) {
            assert_eq!(word.parse::<Method>().unwrap().to_string(), word);
        }
        // The refusal names all there is.
        let refusal = "nobody".parse::<Method>().unwrap_err().to_string();
        assert!(
            METHOD_NAMES.iter().all(|(_, word)| refusal.contains(word)),
            "{refusal}"
        );
        assert_eq!(
            "margin@dirichlet".parse::<Method>().unwrap().to_string(),
            "margin"
        );
        for word in [
            "vopt@laplace",
            "k-centre@laplace",
            "variance@laplace",
            "margin@nobody",
            "",
            "@",
        ] {
            assert!(word.parse::<Method>().is_err(), "{word}");
        }
    }
}
