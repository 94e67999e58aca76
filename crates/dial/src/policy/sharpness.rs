//! λ of the proportional policy: a number, a schedule, or automatic (see `policy`).

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// λ of the proportional policy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Sharpness {
    /// 1/θ from the scores of each question.
    #[default]
    Auto,
    /// A number from 0 (uniform) to infinity (maximum).
    Constant(f64),
    /// λ₀ t^P at question t = 1, 2, ...
    Schedule {
        /// λ₀.
        start: f64,
        /// P.
        power: f64,
    },
}

impl fmt::Display for Sharpness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sharpness::Auto => f.write_str("auto"),
            Sharpness::Constant(lambda) => lambda.fmt(f),
            Sharpness::Schedule { start, power } => write!(f, "schedule:{start},{power}"),
        }
    }
}

impl FromStr for Sharpness {
    type Err = Error;

    fn from_str(word: &str) -> Result<Sharpness> {
        let number = |word: &str| word.trim().parse::<f64>().ok().filter(|x| *x >= 0.0);
        let parsed = match word.strip_prefix("schedule:") {
            None if word == "auto" => Some(Sharpness::Auto),
            None => number(word).map(Sharpness::Constant),
            Some(rest) => rest.split_once(',').and_then(|(start, power)| {
                let power = power
                    .trim()
                    .parse::<f64>()
                    .ok()
                    .filter(|power| power.is_finite())?;
                Some(Sharpness::Schedule {
                    start: number(start)?,
                    power,
                })
            }),
        };
        parsed.ok_or_else(|| {
            Error::setting(
                "lambda",
                "auto, a number >= 0 (inf is allowed) or schedule:L0,P",
                word,
            )
        })
    }
}
