//! Who takes part in the arena: methods of asking with all their settings.
//!
//! A contestant has a name of the list below, or is written as its settings, `METHOD[:KEY=VALUE]...`, such as
//! `variance:prior=0.0001:tau=0.1xdegree` or `auto:batch=5` (the settings of the listed one, but five at once), and is then
//! called by what was written. All are judged in Dirichlet Learning with their own τ and prior; those that come with a
//! classifier are judged in that one as well. A plus means on the ground of `auto`: its graph, τ, prior and calibration, so that
//! only the question differs. A method the library does not know yet is listed and waits.

use std::str::FromStr;

use dial::acquisition::Score;
use dial::belief::calibration::Calibration;
use dial::belief::prior::Prior;
use dial::config::AcquisitionKind;
use dial::{Choices, Config};
use dial_baselines::methods::Method;
use dial_baselines::models::ModelName;
use serde_json::{Value, json};

/// The contestant that all ratios refer to: the paper's best single setting.
pub const REFERENCE: &str = "dirichlet-proportional";

/// The contestant whose claims are checked.
pub const AUTO: &str = "auto";

/// A way of asking with its settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Contestant {
    /// The name in tables and file names.
    pub name: String,
    /// What is asked, as `--acquisition` takes it.
    pub method: String,
    /// Everything else that decides its questions, but for what a pool brings along.
    pub config: Config,
    /// The classifier it comes with, as `--model` takes it.
    pub judge: Option<String>,
    /// Questions asked at once; that of the arena where absent.
    pub batch: Option<usize>,
    /// Whether it has a second opinion from the features.
    pub features: bool,
}

/// The name, the method and what deviates from the maximum policy, prior 1, τ = 0.1 and no judge.
const ALL_CONTESTANTS: [&str; 26] = [
    "dirichlet-proportional=variance:policy=proportional:prior=calibrated",
    "dirichlet-max=variance",
    "dirichlet-max-calibrated=variance:prior=calibrated",
    "margin=margin:prior=calibrated",
    "entropy=entropy:prior=calibrated",
    "margin@laplace=margin@laplace:judge=laplace",
    "vopt=vopt",
    "sigma-opt=sigma-opt",
    "mcvopt=mcvopt",
    "vopt-full=vopt-full",
    "sigma-opt-full=sigma-opt-full",
    "land=land:judge=land",
    "random=random",
    "k-centre=k-centre",
    "typiclust=typiclust",
    "probcover=probcover",
    "max-herding=max-herding",
    "uncertainty-herding=uncertainty-herding",
    "margin@logistic=margin@logistic:judge=logistic",
    "entropy@logistic=entropy@logistic:judge=logistic",
    "rwll-norm=rwll-norm:judge=reweighted",
    "variance+=variance:prior=0.0001:tau=0.03xdegree:weights=symmetric:calibration=on",
    "margin+=margin:prior=0.0001:tau=0.03xdegree:weights=symmetric:calibration=on",
    "uncertainty-herding+=uncertainty-herding:prior=0.0001:tau=0.03xdegree:weights=symmetric:calibration=on",
    "random+=random:prior=0.0001:tau=0.03xdegree:weights=symmetric:calibration=on",
    "auto=auto:prior=auto:tau=0.03xdegree:weights=symmetric:calibration=on",
];

/// Everybody, in the order of the tables; some may not be [`Contestant::ready`].
pub fn everybody() -> Vec<Contestant> {
    let one = |line: &&str| {
        let (name, settings) = line.split_once('=').expect("a name and settings");
        Contestant {
            name: name.into(),
            ..read(settings).expect("the list is well formed")
        }
    };
    ALL_CONTESTANTS.iter().map(one).collect()
}

impl Contestant {
    /// The method, if the library has it.
    pub fn method(&self) -> Option<Method> {
        self.method.parse().ok()
    }

    /// The classifier it comes with, if there is one and the library has it.
    pub fn judge(&self) -> Option<ModelName> {
        self.judge.as_ref()?.parse().ok()
    }

    /// Whether the library has its method.
    pub fn ready(&self) -> bool {
        self.method().is_some()
    }

    /// Whether a match takes several times as long as one of Dirichlet variance: solves for every class, or many.
    pub fn slow(&self) -> bool {
        let graph_model = |word: &str| {
            ["laplace", "poisson", "reweighted"]
                .iter()
                .any(|model| word.ends_with(model))
        };
        let named =
            ["mcvopt", "vopt-full", "sigma-opt-full", "rwll-norm"].contains(&self.method.as_str());
        named || graph_model(&self.method) || self.judge.as_deref().is_some_and(graph_model)
    }

    /// The version of the method since which it plays as it does now: a change of one method is no change of the others.
    /// No contestant has version 4: it rounds edge weights to f32, which changes no method. Results before it were made with
    /// weights in f64 and hold up to ties.
    pub fn since(&self) -> u32 {
        if self.method() == Some(Method::Auto) {
            3
        } else {
            2
        }
    }

    /// The name in file names.
    pub fn stem(&self) -> String {
        self.name.replace([':', '='], "_")
    }

    /// The settings, to be stored with its cells. Digests of published results are of these names and words.
    pub fn settings(&self, batch: usize) -> Value {
        let reading = match self.config.calibration {
            Calibration::Off => "plain",
            Calibration::On => "even",
        };
        let mut settings = json!({
            "method": self.method,
            "policy": self.config.policy.to_string(),
            "prior": self.config.prior.to_string(),
            "tau": self.config.tau.to_string(),
            "kernel": self.config.weights_word(),
            "reading": reading,
            "judge": self.judge().map(|model| model.to_string()),
            "batch": self.batch.unwrap_or(batch),
        });
        // Results of contestants without it keep their names.
        if self.features {
            settings["features"] = true.into();
        }
        settings
    }
}

impl FromStr for Contestant {
    type Err = String;

    /// A name of the list, or settings.
    fn from_str(word: &str) -> Result<Contestant, String> {
        let listed = everybody();
        let found = match listed.iter().find(|contestant| contestant.name == word) {
            Some(found) => found.clone(),
            None => read(word)?,
        };
        if found.ready() && found.judge.is_some() == found.judge().is_some() {
            return Ok(found);
        }
        let names: Vec<&str> = listed
            .iter()
            .filter(|one| one.ready())
            .map(|one| one.name.as_str())
            .collect();
        Err(format!(
            "use some of {}, or METHOD:prior=P:tau=T:weights=NAME:calibration=NAME:features=on:policy=NAME:judge=MODEL:batch=N",
            names.join(", ")
        ))
    }
}

/// Reads settings as they are written, on top of those of the list if that has the name; the method need not exist.
fn read(word: &str) -> Result<Contestant, String> {
    if let Some(bad) = word
        .chars()
        .find(|c| !(c.is_ascii_alphanumeric() || "-.@:=".contains(*c)))
    {
        return Err(format!("{word:?}: no {bad:?} in the name of a contestant"));
    }
    let listed = word.split_once(':').and_then(|(first, own)| {
        let mut lines = ALL_CONTESTANTS
            .iter()
            .filter_map(|line| line.split_once('='));
        let (_, settings) = lines.find(|(name, _)| *name == first)?;
        Some(format!("{settings}:{own}"))
    });
    let settings = listed.unwrap_or_else(|| word.to_string());
    let mut parts = settings.split(':');
    let method = parts.next().unwrap_or_default();
    // The ground of every method is the paper's; who asks on it, the match decides.
    let mut choices = Choices {
        acquisition: Some(AcquisitionKind::Score(Score::Variance)),
        prior: Some(Prior::Constant(1.0)),
        ..Choices::default()
    };
    let (mut judge, mut batch, mut features) = (None, None, false);
    for part in parts {
        let wrong = |why: String| format!("{word:?}: {part:?}: {why}");
        match part.split_once('=') {
            Some((name @ ("policy" | "prior" | "tau" | "weights" | "calibration"), value)) => {
                choices
                    .set(name, value)
                    .map_err(|error| wrong(error.to_string()))?
            }
            Some(("judge", value)) => judge = Some(value.to_string()),
            Some(("batch", value)) => {
                let count = value.parse().ok().filter(|n| *n > 0);
                batch =
                    Some(count.ok_or_else(|| wrong("use a whole number of at least 1".into()))?);
            }
            Some(("features", "on")) => features = true,
            _ => {
                return Err(wrong(
                    "use policy=, prior=, tau=, weights=, calibration=, features=on, judge= or batch="
                        .into(),
                ));
            }
        }
    }
    let config = choices
        .config(usize::MAX)
        .map_err(|error| format!("{word:?}: {error}"))?;
    Ok(Contestant {
        name: word.to_string(),
        method: method.to_string(),
        config,
        judge,
        batch,
        features,
    })
}

#[cfg(test)]
mod tests {
    use dial::Policy;
    use dial::belief::calibration::Calibration;
    use dial::graph::EdgeWeights;
    use dial::propagation::tau::Tau;

    use super::*;

    #[test]
    fn the_list_has_the_reference_and_names_that_differ() {
        let everybody = everybody();
        let reference = everybody.iter().find(|one| one.name == REFERENCE).unwrap();
        assert_eq!(
            (reference.config.policy, reference.config.prior),
            (Policy::Proportional, Prior::Calibrated)
        );
        assert!(reference.ready() && everybody.iter().any(|one| one.name == AUTO));
        for one in &everybody {
            assert_eq!(
                everybody
                    .iter()
                    .filter(|other| other.name == one.name)
                    .count(),
                1,
                "{}",
                one.name
            );
        }
    }

    #[test]
    fn nobody_is_newer_than_the_method() {
        for one in everybody() {
            assert!(one.since() <= dial::METHOD_VERSION, "{}", one.name);
        }
        let since = |word: &str| word.parse::<Contestant>().unwrap().since();
        assert_eq!(since("auto:batch=5"), since("auto"));
    }

    #[test]
    fn settings_are_read_or_refused() {
        let one: Contestant = "variance:prior=0.0001:tau=0.1xdegree:batch=5"
            .parse()
            .unwrap();
        assert_eq!(
            (one.config.prior, one.config.tau, one.batch),
            (Prior::Constant(1e-4), Tau::TimesDegree(0.1), Some(5))
        );
        let batched: Contestant = "auto:batch=5".parse().unwrap();
        assert_eq!(
            (
                batched.batch,
                batched.config.weights,
                batched.config.calibration
            ),
            (Some(5), Some(EdgeWeights::Symmetric), Calibration::On)
        );
        assert_eq!(one.name, "variance:prior=0.0001:tau=0.1xdegree:batch=5");
        assert_eq!(
            (one.settings(1)["batch"].as_u64(), one.stem().contains(':')),
            (Some(5), false)
        );
        for bad in [
            "nobody",
            "variance:prior=0",
            "variance:colour=red",
            "margin:batch=0",
            "a,b",
            "variance:tau",
        ] {
            assert!(bad.parse::<Contestant>().is_err(), "{bad}");
        }
        let laplace: Contestant = "margin@laplace".parse().unwrap();
        assert_eq!(
            (laplace.judge(), laplace.slow(), one.slow()),
            (Some(ModelName::Laplace), true, false)
        );
    }
}
