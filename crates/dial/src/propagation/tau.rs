//! τ of Poisson propagation as it is written: a number, or a multiple of the mean degree (`0.1xdegree`), which carries a
//! setting from one pool to another.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// τ as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tau {
    /// A number.
    Number(f64),
    /// A number times the mean degree.
    TimesDegree(f64),
}

impl Tau {
    /// The number, for a graph of this mean degree.
    pub fn value(self, mean_degree: f64) -> f64 {
        match self {
            Tau::Number(tau) => tau,
            Tau::TimesDegree(factor) => factor * mean_degree,
        }
    }
}

impl Tau {
    /// Whether it is 0 on every graph.
    pub fn is_zero(self) -> bool {
        matches!(self, Tau::Number(tau) | Tau::TimesDegree(tau) if tau == 0.0)
    }
}

impl fmt::Display for Tau {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tau::Number(tau) => tau.fmt(f),
            Tau::TimesDegree(factor) => write!(f, "{factor}xdegree"),
        }
    }
}

impl FromStr for Tau {
    type Err = Error;

    fn from_str(word: &str) -> Result<Tau> {
        let number = |text: &str| {
            text.parse::<f64>().map_err(|_| {
                Error::setting("tau", "a number, or a number followed by xdegree", word)
            })
        };
        match word.strip_suffix("xdegree") {
            Some(factor) => number(factor).map(Tau::TimesDegree),
            None => number(word).map(Tau::Number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back() {
        for (word, value) in [("0.1", 0.1), ("0.5xdegree", 2.0), ("1e-3", 1e-3)] {
            let tau: Tau = word.parse().unwrap();
            assert_eq!(tau.value(4.0), value);
            assert_eq!(tau.to_string().parse::<Tau>().unwrap(), tau);
        }
        assert!("xdegree".parse::<Tau>().is_err() && "much".parse::<Tau>().is_err());
    }
}
