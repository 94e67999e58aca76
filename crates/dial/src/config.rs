//! Every choice that decides a question, with its default and the rules between choices.
//!
//! Defaults go with the acquisition: `auto` does best with symmetric weights, τ = 0.03 times the
//! mean degree and calibrated probabilities; every score has the paper's setting (self-tuning
//! weights, τ = 0.1, the mean of the Dirichlet distribution).
//!
//! A [`Config`] is complete. [`Choices`] are what a person typed: a missing choice gets
//! its default in [`Choices::config`], and nowhere else.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::acquisition::Score;
use crate::acquisition::auto::{self, TAU_PER_DEGREE};
use crate::belief::calibration::Calibration;
use crate::belief::prior::Prior;
use crate::error::{Error, Result, check_positive};
use crate::features::Metric;
use crate::graph::EdgeWeights;
use crate::knn::approximate::Search;
use crate::knn::metric_space::ZeroVectors;
use crate::policy::{Policy, Sharpness};
use crate::propagation::certified::Precision;
use crate::propagation::check_source_value;
use crate::propagation::tau::Tau;
use crate::words::word;

/// Neighbours of each item by default (the paper's).
pub const DEFAULT_K: usize = 20;

/// τ of Poisson propagation with every acquisition but `auto` (the paper's).
pub const PAPER_TAU: f64 = 0.1;

/// Time that heat spreads for by default.
pub const HEAT_TIME: f64 = 3.0;

/// What makes an item worth asking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AcquisitionKind {
    /// Doubt times the root of coverage: needs no tuning.
    #[default]
    Auto,
    /// A score of the belief at the item, such as the paper's Dirichlet variance.
    Score(Score),
}

impl fmt::Display for AcquisitionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AcquisitionKind::Auto => f.write_str("auto"),
            AcquisitionKind::Score(score) => score.fmt(f),
        }
    }
}

impl FromStr for AcquisitionKind {
    type Err = Error;

    fn from_str(word: &str) -> Result<AcquisitionKind> {
        match word {
            "auto" => Ok(AcquisitionKind::Auto),
            score => score.parse().map(AcquisitionKind::Score).map_err(|_| {
                let want = format!(
                    "one of auto, {} (others are for comparisons: dial simulate)",
                    Score::words()
                );
                Error::setting("acquisition", want, word)
            }),
        }
    }
}

/// How labels spread, with the parameter of the kind: `poisson` (its τ is [`Config::tau`]),
/// `heat:TIME`, `rbf:SIGMA`, `compact:RADIUS`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum PropagationKind {
    /// Poisson propagation on the graph: the paper's.
    #[default]
    Poisson,
    /// Heat on the graph.
    Heat {
        /// How long it spreads; by default 3.
        time: Option<f64>,
    },
    /// A Gaussian of the Euclidean distance between features.
    Rbf {
        /// Its width; by default the mean distance to the k-th neighbour.
        sigma: Option<f64>,
    },
    /// A radial function of the features that vanishes from a radius on.
    Compact {
        /// The radius; by default the mean distance to the k-th neighbour.
        radius: Option<f64>,
    },
}

impl PropagationKind {
    /// The same kind with another parameter.
    ///
    /// # Errors
    /// Poisson propagation, whose parameter is τ.
    pub fn with_parameter(self, value: f64) -> Result<PropagationKind> {
        match self {
            PropagationKind::Poisson => Err(Error::setting(
                "propagation",
                "poisson without a parameter: set tau instead",
                format!("poisson:{value}"),
            )),
            PropagationKind::Heat { .. } => Ok(PropagationKind::Heat { time: Some(value) }),
            PropagationKind::Rbf { .. } => Ok(PropagationKind::Rbf { sigma: Some(value) }),
            PropagationKind::Compact { .. } => Ok(PropagationKind::Compact {
                radius: Some(value),
            }),
        }
    }

    /// The parameter, where it has one.
    fn parameter(self) -> Option<f64> {
        match self {
            PropagationKind::Poisson => None,
            PropagationKind::Heat { time: parameter }
            | PropagationKind::Rbf { sigma: parameter }
            | PropagationKind::Compact { radius: parameter } => parameter,
        }
    }

    /// Whether it reads the features instead of the graph.
    pub fn is_radial(self) -> bool {
        matches!(
            self,
            PropagationKind::Rbf { .. } | PropagationKind::Compact { .. }
        )
    }

    fn is_poisson(&self) -> bool {
        *self == PropagationKind::Poisson
    }
}

impl fmt::Display for PropagationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PropagationKind::Poisson => f.write_str("poisson"),
            PropagationKind::Heat { time: None } => f.write_str("heat"),
            PropagationKind::Heat { time: Some(time) } => write!(f, "heat:{time}"),
            PropagationKind::Rbf { sigma: None } => f.write_str("rbf"),
            PropagationKind::Rbf { sigma: Some(sigma) } => write!(f, "rbf:{sigma}"),
            PropagationKind::Compact { radius: None } => f.write_str("compact"),
            PropagationKind::Compact {
                radius: Some(radius),
            } => write!(f, "compact:{radius}"),
        }
    }
}

impl FromStr for PropagationKind {
    type Err = Error;

    fn from_str(word: &str) -> Result<PropagationKind> {
        let wrong = || {
            Error::setting(
                "propagation",
                "poisson, heat, rbf or compact; the last three may have a parameter, as in heat:3",
                word,
            )
        };
        let (kind, parameter) = match word.split_once(':') {
            Some((kind, number)) => (kind, Some(number.parse().map_err(|_| wrong())?)),
            None => (word, None),
        };
        let kind = match kind {
            "poisson" => PropagationKind::Poisson,
            "heat" => PropagationKind::Heat { time: None },
            "rbf" => PropagationKind::Rbf { sigma: None },
            "compact" => PropagationKind::Compact { radius: None },
            _ => return Err(wrong()),
        };
        parameter.map_or(Ok(kind), |value| kind.with_parameter(value))
    }
}

/// Every choice that decides a question. Its JSON is part of the log of a project, whose records are
/// chained by their bytes: names stay as they were first written, and a field that is added must have
/// a default, and be left out while it has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// How zero rows are treated under cosine.
    pub zero_vectors: ZeroVectors,
    /// Rows without length are left out of the pool, under cosine, before the graph is built.
    #[serde(default)]
    pub drop_zero_rows: bool,
    /// Neighbours of each item; on a graph that was given, of items that are not in it.
    pub k: usize,
    /// How distances are measured.
    pub metric: Metric,
    /// How distances become edge weights; none on a graph that was given, if nobody said how it was
    /// made.
    #[serde(rename = "kernel", with = "weights_or_given")]
    pub weights: Option<EdgeWeights>,
    /// How neighbours are found.
    pub search: Search,
    /// How labels spread.
    #[serde(
        default,
        with = "word",
        skip_serializing_if = "PropagationKind::is_poisson"
    )]
    pub propagation: PropagationKind,
    /// τ of Poisson propagation.
    #[serde(with = "word")]
    pub tau: Tau,
    /// T, the value of a column at its source: how many observations a label counts for.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub source_value: f64,
    /// How exactly columns are solved for.
    pub precision: Precision,
    /// δ of certified solves; by default half the prior, at most 0.001.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// What makes an item worth asking.
    #[serde(with = "word")]
    pub acquisition: AcquisitionKind,
    /// How an item is chosen from the scores.
    pub policy: Policy,
    /// λ of the proportional policy.
    #[serde(with = "word")]
    pub sharpness: Sharpness,
    /// α₀, or how to find it.
    #[serde(with = "word")]
    pub prior: Prior,
    /// How classes and probabilities are read from the field.
    #[serde(rename = "belief")]
    pub calibration: Calibration,
    /// K̂; by default max(20, 2K).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_clusters: Option<usize>,
    /// The seed of everything random.
    pub seed: u64,
}

/// The word for the weights of a graph that was given.
pub const GIVEN: &str = "given";

/// Edge weights by their word, or [`GIVEN`].
mod weights_or_given {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::{EdgeWeights, GIVEN};

    pub(super) fn serialize<S: Serializer>(
        weights: &Option<EdgeWeights>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(weights.map_or(GIVEN, EdgeWeights::word))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<EdgeWeights>, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            GIVEN => Ok(None),
            word => word.parse().map(Some).map_err(serde::de::Error::custom),
        }
    }
}

fn one() -> f64 {
    1.0
}

fn is_one(value: &f64) -> bool {
    *value == 1.0
}

impl Default for Config {
    /// The setting that needs no tuning: `auto` and what goes with it.
    fn default() -> Config {
        Config::suited(AcquisitionKind::Auto)
    }
}

impl Config {
    /// The paper's setting: Dirichlet variance, maximum policy.
    pub fn paper() -> Config {
        Config::suited(AcquisitionKind::Score(Score::Variance))
    }

    /// The defaults that go with an acquisition.
    fn suited(acquisition: AcquisitionKind) -> Config {
        let (weights, tau, calibration) = match acquisition {
            AcquisitionKind::Auto => (
                EdgeWeights::Symmetric,
                Tau::TimesDegree(TAU_PER_DEGREE),
                Calibration::On,
            ),
            AcquisitionKind::Score(_) => (
                EdgeWeights::SelfTuning,
                Tau::Number(PAPER_TAU),
                Calibration::Off,
            ),
        };
        Config {
            zero_vectors: ZeroVectors::default(),
            drop_zero_rows: false,
            k: DEFAULT_K,
            metric: Metric::default(),
            weights: Some(weights),
            search: Search::default(),
            propagation: PropagationKind::Poisson,
            tau,
            source_value: 1.0,
            precision: Precision::default(),
            tolerance: None,
            acquisition,
            policy: Policy::default(),
            sharpness: Sharpness::default(),
            prior: Prior::default(),
            calibration,
            expected_clusters: None,
            seed: 0,
        }
    }

    /// The word for the edge weights, or [`GIVEN`].
    pub fn weights_word(&self) -> &'static str {
        self.weights.map_or(GIVEN, EdgeWeights::word)
    }

    /// Refuses choices that contradict each other.
    ///
    /// # Errors
    /// The choice to change, and what it may be beside the others.
    pub fn check(&self) -> Result<()> {
        let refuse = |name, want, got: &dyn fmt::Display| Err(Error::setting(name, want, got));
        let (Tau::Number(tau) | Tau::TimesDegree(tau)) = self.tau;
        if !(tau.is_finite() && tau >= 0.0) {
            return Err(Error::BadTau(tau));
        }
        check_source_value(self.source_value)?;
        if let Some(parameter) = self.propagation.parameter() {
            let radial = self.propagation.is_radial();
            check_positive(if radial { "sigma" } else { "heat-time" }, parameter)?;
        }
        let poisson = self.propagation.is_poisson();
        let certified = self.precision == Precision::Certified;
        match self {
            _ if certified && !poisson => Err(Error::Incompatible(format!(
                "--precision certified needs Poisson propagation, got {}. Choose --propagation poisson or --precision \
                 faithful.",
                self.propagation
            ))),
            _ if certified && self.tau.is_zero() => Err(Error::Incompatible(
                "--precision certified needs a tau above 0: at 0 it has no bound. Choose a larger --tau or --precision \
                 faithful."
                    .into(),
            )),
            Config {
                tolerance: Some(_), ..
            } if !certified => Err(Error::Incompatible(
                "--tolerance applies only in certified precision. Add --precision certified, or leave --tolerance out."
                    .into(),
            )),
            Config {
                tolerance: Some(tolerance),
                ..
            } if !(*tolerance > 0.0 && *tolerance <= 1.0) => {
                let want = "above 0 and at most 1: a label counts 1 at its own item";
                refuse("tolerance", want, tolerance)
            }
            Config {
                acquisition: AcquisitionKind::Auto,
                ..
            } if !poisson || self.tau.is_zero() => {
                Err(Error::Incompatible(auto::NEEDS.into()))
            }
            _ => check_expected_clusters(self.expected_clusters),
        }
    }
}

/// Refuses a K̂ of 0.
pub(crate) fn check_expected_clusters(count: Option<usize>) -> Result<()> {
    match count {
        Some(0) => Err(Error::setting("expected-clusters", "at least 1", 0)),
        _ => Ok(()),
    }
}

/// What a person chose; `None` stands for the default.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)] // As in [`Config`].
pub struct Choices {
    pub zero_vectors: Option<ZeroVectors>,
    pub drop_zero_rows: bool,
    pub k: Option<usize>,
    pub metric: Option<Metric>,
    pub weights: Option<EdgeWeights>,
    pub search: Option<Search>,
    pub propagation: Option<PropagationKind>,
    /// The time of heat, typed on its own.
    pub heat_time: Option<f64>,
    /// The width of rbf or the radius of compact, typed on its own.
    pub sigma: Option<f64>,
    pub tau: Option<Tau>,
    pub source_value: Option<f64>,
    pub precision: Option<Precision>,
    pub tolerance: Option<f64>,
    pub acquisition: Option<AcquisitionKind>,
    pub policy: Option<Policy>,
    pub sharpness: Option<Sharpness>,
    pub prior: Option<Prior>,
    pub calibration: Option<Calibration>,
    pub expected_clusters: Option<usize>,
    pub seed: Option<u64>,
    /// The graph is given: what nobody chose about how it was made is unknown.
    pub given_graph: bool,
}

impl Choices {
    /// The names of the choices that [`Choices::set`] knows.
    pub const NAMES: [&str; 17] = [
        "zero_vectors",
        "k",
        "metric",
        "weights",
        "search",
        "propagation",
        "tau",
        "source_value",
        "precision",
        "tolerance",
        "acquisition",
        "policy",
        "sharpness",
        "prior",
        "calibration",
        "expected_clusters",
        "seed",
    ];

    /// Sets a choice by its name and its word, as in `tau` and `0.1xdegree`.
    ///
    /// # Errors
    /// An unknown name, or a word that is no value of the choice.
    pub fn set(&mut self, name: &str, word: &str) -> Result<()> {
        match name {
            "zero_vectors" => self.zero_vectors = Some(word.parse()?),
            "k" => self.k = Some(number("k", word)?),
            "metric" => self.metric = Some(word.parse()?),
            "weights" => self.weights = Some(word.parse()?),
            "search" => self.search = Some(word.parse()?),
            "propagation" => self.propagation = Some(word.parse()?),
            "tau" => self.tau = Some(word.parse()?),
            "source_value" => self.source_value = Some(number("source_value", word)?),
            "precision" => self.precision = Some(word.parse()?),
            "tolerance" => self.tolerance = Some(number("tolerance", word)?),
            "acquisition" => self.acquisition = Some(word.parse()?),
            "policy" => self.policy = Some(word.parse()?),
            "sharpness" => self.sharpness = Some(word.parse()?),
            "prior" => self.prior = Some(word.parse()?),
            "calibration" => self.calibration = Some(word.parse()?),
            "expected_clusters" => {
                self.expected_clusters = Some(number("expected_clusters", word)?);
            }
            "seed" => self.seed = Some(number("seed", word)?),
            _ => {
                let want = "a setting such as k, metric, weights, tau or acquisition";
                return Err(Error::setting("the name", want, name));
            }
        }
        Ok(())
    }

    /// The number of neighbours in a pool of n rows: by default 20, or all other rows if there are fewer.
    pub fn neighbours(&self, rows: usize) -> usize {
        self.k
            .unwrap_or_else(|| DEFAULT_K.min(rows.saturating_sub(1)).max(1))
    }

    /// The checked configuration for a pool of n rows.
    ///
    /// # Errors
    /// As [`Config::check`].
    pub fn config(&self, rows: usize) -> Result<Config> {
        let base = Config::suited(self.asking());
        let config = Config {
            zero_vectors: self.zero_vectors.unwrap_or(base.zero_vectors),
            drop_zero_rows: self.drop_zero_rows,
            k: self.neighbours(rows),
            metric: self.metric.unwrap_or(base.metric),
            weights: self.weights.or(base.weights.filter(|_| !self.given_graph)),
            search: self.search.unwrap_or(base.search),
            propagation: self.propagation_kind()?,
            tau: self.tau.unwrap_or(base.tau),
            source_value: self.source_value.unwrap_or(base.source_value),
            precision: self.precision.unwrap_or(base.precision),
            tolerance: self.tolerance,
            acquisition: base.acquisition,
            policy: self.policy.unwrap_or(base.policy),
            sharpness: self.sharpness.unwrap_or(base.sharpness),
            prior: self.prior.unwrap_or(base.prior),
            calibration: self.calibration.unwrap_or(base.calibration),
            expected_clusters: self.expected_clusters,
            seed: self.seed.unwrap_or(base.seed),
        };
        config.check()?;
        Ok(config)
    }

    /// How labels spread, with the parameter that was typed beside the kind.
    ///
    /// # Errors
    /// A parameter of another kind, or one that was typed twice.
    fn propagation_kind(&self) -> Result<PropagationKind> {
        let kind = self.propagation.unwrap_or_default();
        let heat = matches!(kind, PropagationKind::Heat { .. });
        let refuse = |text: String| Err(Error::Incompatible(text));
        let (name, value) = match (self.heat_time, self.sigma) {
            (None, None) => return Ok(kind),
            (Some(_), _) if !heat => {
                return refuse(
                    "--heat-time only applies to heat propagation. Add --propagation heat, or leave --heat-time out."
                        .into(),
                );
            }
            (_, Some(_)) if !kind.is_radial() => {
                return refuse(
                    "--sigma only applies to rbf and compact propagation. Add --propagation rbf or compact, or leave \
                     --sigma out."
                        .into(),
                );
            }
            (Some(time), _) => ("--heat-time", time),
            (None, Some(sigma)) => ("--sigma", sigma),
        };
        match kind.parameter() {
            None => kind.with_parameter(value),
            Some(_) => refuse(format!(
                "--propagation {kind} and {name} {value} both set the parameter. Leave one of them out."
            )),
        }
    }

    /// The acquisition that was chosen, or `auto` where it is possible. In certified precision people
    /// want speed, and `auto` takes a global solve a question.
    fn asking(&self) -> AcquisitionKind {
        let faithful = self.precision.unwrap_or_default() == Precision::Faithful;
        let poisson = self.propagation.unwrap_or_default().is_poisson();
        let auto = faithful && poisson && !self.tau.is_some_and(Tau::is_zero);
        let default = if auto {
            AcquisitionKind::Auto
        } else {
            AcquisitionKind::Score(Score::Variance)
        };
        self.acquisition.unwrap_or(default)
    }
}

fn number<T: FromStr>(name: &'static str, word: &str) -> Result<T> {
    let want = "a number in the range of this setting";
    word.parse().map_err(|_| Error::setting(name, want, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_go_with_the_acquisition() {
        let of = |pairs: &[(&str, &str)]| {
            let mut choices = Choices::default();
            for (name, word) in pairs {
                choices.set(name, word).unwrap();
            }
            choices.config(500)
        };
        assert_eq!(of(&[]).unwrap(), Config::default());
        assert_eq!(of(&[("acquisition", "variance")]).unwrap(), Config::paper());
        let certified = of(&[("precision", "certified")]).unwrap();
        assert_eq!(
            certified,
            Config {
                precision: Precision::Certified,
                ..Config::paper()
            }
        );
        assert_eq!(
            of(&[("propagation", "heat")]).unwrap().acquisition,
            Config::paper().acquisition
        );
        assert_eq!(
            of(&[("tau", "0")]).unwrap().acquisition,
            Config::paper().acquisition
        );
        assert_eq!(of(&[("k", "7")]).unwrap().k, 7);
        assert_eq!(Choices::default().config(8).unwrap().k, 7);
        for refused in [
            &[("precision", "certified"), ("propagation", "heat")][..],
            &[("precision", "certified"), ("tau", "0xdegree")],
            &[("tolerance", "0.1")],
            &[("precision", "certified"), ("tolerance", "2")],
            &[("acquisition", "auto"), ("propagation", "rbf")],
            &[("acquisition", "auto"), ("tau", "0")],
            &[("expected_clusters", "0")],
            &[("source_value", "0")],
            &[("propagation", "heat:0")],
            &[("propagation", "rbf:-1")],
        ] {
            assert_eq!(of(refused).unwrap_err().code(), "U1", "{refused:?}");
        }
        assert_eq!(of(&[("tau", "-1")]).unwrap_err().code(), "N7");
        for (word, heat_time, sigma, kind) in [
            ("heat", Some(5.0), None, Some("heat:5")),
            ("heat:3", None, None, Some("heat:3")),
            ("rbf", None, Some(2.0), Some("rbf:2")),
            ("compact", None, Some(2.0), Some("compact:2")),
            ("heat:3", Some(5.0), None, None),
            ("rbf:3", None, Some(3.0), None),
            ("heat", Some(5.0), Some(1.0), None),
            ("rbf", Some(5.0), None, None),
            ("poisson", None, Some(1.0), None),
        ] {
            let choices = Choices {
                propagation: Some(word.parse().unwrap()),
                heat_time,
                sigma,
                ..Choices::default()
            };
            let config = choices.config(500);
            match kind {
                Some(kind) => assert_eq!(config.unwrap().propagation.to_string(), kind),
                None => assert_eq!(config.unwrap_err().code(), "U1", "{word}"),
            }
        }
        for name in Choices::NAMES {
            let refused = Choices::default()
                .set(name, "\u{0}")
                .unwrap_err()
                .to_string();
            assert!(!refused.starts_with("the name"), "{name}");
        }
        for (name, word) in [("colour", "red"), ("k", "many"), ("acquisition", "vopt")] {
            assert!(Choices::default().set(name, word).is_err(), "{name}");
        }
    }

    #[test]
    fn words_read_back() {
        for word in [
            "poisson",
            "heat",
            "heat:3",
            "heat:0.5",
            "rbf",
            "rbf:2",
            "compact",
            "compact:0.25",
        ] {
            assert_eq!(word.parse::<PropagationKind>().unwrap().to_string(), word);
        }
        assert_eq!(
            "heat".parse::<PropagationKind>().unwrap(),
            PropagationKind::Heat { time: None }
        );
        for word in ["", "heat:", "heat:x", "poisson:1", "warmth"] {
            assert!(word.parse::<PropagationKind>().is_err(), "{word}");
        }
        for word in ["auto", "variance", "random"] {
            assert_eq!(word.parse::<AcquisitionKind>().unwrap().to_string(), word);
        }
    }

    #[test]
    fn what_is_written_reads_back_and_defaults_of_later_versions_are_left_out() {
        let text = serde_json::to_string(&Config::default()).unwrap();
        for later in [
            "propagation",
            "source_value",
            "tolerance",
            "expected_clusters",
        ] {
            assert!(!text.contains(later), "{later}");
        }
        let other = Config {
            propagation: PropagationKind::Heat { time: Some(2.5) },
            source_value: 2.0,
            expected_clusters: Some(30),
            ..Config::paper()
        };
        let given = Choices {
            given_graph: true,
            ..Choices::default()
        };
        let given = given.config(60).unwrap();
        assert_eq!(given.weights, None);
        let text = serde_json::to_string(&given).unwrap();
        assert!(text.contains(r#""kernel":"given""#), "{text}");
        for config in [Config::default(), Config::paper(), other, given] {
            let text = serde_json::to_string(&config).unwrap();
            assert_eq!(serde_json::from_str::<Config>(&text).unwrap(), config);
        }
    }
}
