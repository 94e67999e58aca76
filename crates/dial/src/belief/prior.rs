//! The prior strength α₀: how much evidence makes a node known (`subsec:lambda-choice`).
//!
//! Calibrated, as in the paper: draw 5 K̂ random sources, take of each column of K the 100 (K̂ - 1)/K̂ percentile (linear
//! interpolation), and of these the maximum, not below 1e-6. K̂ is an overestimate of the number of clusters, so the
//! percentile is the value of K at the rim of a cluster. The authors' code does the same with g before it is normalised
//! to T at the source; that variant is called raw here.

use std::fmt;
use std::str::FromStr;

use crate::belief::field::SAFE_RANGE;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::ids::NodeId;
use crate::propagation::{Column, Propagation};
use crate::seed::{Purpose, Random};

/// How the prior strength is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Prior {
    /// What the acquisition wants; else 1 with the maximum policy and calibrated with the proportional one.
    #[default]
    Auto,
    /// As in the paper, from the columns of K.
    Calibrated,
    /// As in the authors' code, from the columns before normalisation.
    CalibratedRaw,
    /// A number from 1e-100 to 1e100.
    Constant(f64),
}

impl fmt::Display for Prior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Prior::Auto => f.write_str("auto"),
            Prior::Calibrated => f.write_str("calibrated"),
            Prior::CalibratedRaw => f.write_str("calibrated-raw"),
            Prior::Constant(strength) => strength.fmt(f),
        }
    }
}

impl FromStr for Prior {
    type Err = Error;

    fn from_str(word: &str) -> Result<Prior> {
        match word {
            "auto" => Ok(Prior::Auto),
            "calibrated" => Ok(Prior::Calibrated),
            "calibrated-raw" => Ok(Prior::CalibratedRaw),
            number => match number.parse::<f64>() {
                Ok(strength) if SAFE_RANGE.contains(&strength) => Ok(Prior::Constant(strength)),
                _ => Err(Error::setting(
                    "prior",
                    "auto, calibrated, calibrated-raw or a number from 1e-100 to 1e100",
                    word,
                )),
            },
        }
    }
}

/// K̂ where none is given: max(20, 2K).
pub fn default_expected_clusters(n_classes: usize) -> usize {
    n_classes.saturating_mul(2).max(20)
}

/// The sources of a calibration: 5 K̂ distinct random nodes, or all if there are fewer.
pub fn sources(n: usize, expected_clusters: usize, seed: u64) -> Vec<NodeId> {
    let count = expected_clusters.saturating_mul(5).min(n);
    let drawn = Random::new(seed, Purpose::Prior, 0).distinct(count, n);
    drawn.into_iter().map(|node| NodeId(node as u32)).collect()
}

/// Calibrates the prior strength from columns of K (the paper).
pub fn calibrated(
    propagation: &dyn Propagation,
    expected_clusters: usize,
    seed: u64,
    control: &Control,
) -> Result<f64> {
    let columns = |sources: &[NodeId]| propagation.columns(sources, control);
    in_blocks(
        &sources(propagation.n(), expected_clusters, seed),
        expected_clusters,
        columns,
        control,
    )
}

/// Calibrates the prior strength from columns before normalisation (the authors' code).
pub fn calibrated_raw(
    propagation: &dyn Propagation,
    expected_clusters: usize,
    seed: u64,
    control: &Control,
) -> Result<f64> {
    let columns = |sources: &[NodeId]| propagation.raw_columns(sources, control);
    in_blocks(
        &sources(propagation.n(), expected_clusters, seed),
        expected_clusters,
        columns,
        control,
    )
}

/// The maximum over all sources, a few columns in memory at a time.
fn in_blocks(
    sources: &[NodeId],
    expected_clusters: usize,
    columns: impl Fn(&[NodeId]) -> Result<Vec<Column>>,
    control: &Control,
) -> Result<f64> {
    control.start("calibrating the prior", sources.len());
    let mut strength = 0.0f64;
    for block in sources.chunks(16) {
        strength = strength.max(from_columns(&columns(block)?, expected_clusters));
        control.advance(block.len())?;
    }
    control.finish();
    Ok(strength)
}

/// The maximum over columns of their 100 (K̂ - 1)/K̂ percentile, not below 1e-6.
pub fn from_columns(columns: &[Column], expected_clusters: usize) -> f64 {
    let share = 1.0 - 1.0 / expected_clusters as f64;
    columns
        .iter()
        .map(|column| percentile(&mut column.to_vec(), share))
        .fold(1e-6, f64::max)
}

/// The value below which a share of the values lies, with linear interpolation; reorders the values.
///
/// # Panics
/// If there are no values.
pub(crate) fn percentile(values: &mut [f64], share: f64) -> f64 {
    let position = share * (values.len() - 1) as f64;
    let below = position.floor() as usize;
    let (_, &mut low, above) = values.select_nth_unstable_by(below, f64::total_cmp);
    let high = above.iter().copied().fold(f64::INFINITY, f64::min);
    if high.is_finite() {
        low + (position - below as f64) * (high - low)
    } else {
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn percentiles_by_hand() {
        assert_eq!(percentile(&mut [4.0, 1.0, 3.0, 2.0], 0.5), 2.5);
        assert_eq!(percentile(&mut [4.0, 1.0, 3.0, 2.0], 1.0), 4.0);
        assert_eq!(percentile(&mut [4.0, 1.0, 3.0, 2.0], 0.0), 1.0);
        assert_eq!(percentile(&mut [7.0], 0.95), 7.0);
    }

    #[test]
    fn the_largest_percentile_counts_and_has_a_floor() {
        let columns: Vec<Column> =
            vec![Arc::new(vec![0.0, 0.0, 1.0]), Arc::new(vec![0.0, 0.5, 1.0])];
        assert_eq!(from_columns(&columns, 2), 0.5);
        assert_eq!(from_columns(&columns[..1], 2), 1e-6);
    }

    #[test]
    fn words_and_numbers() {
        assert_eq!("0.5".parse::<Prior>().unwrap(), Prior::Constant(0.5));
        assert_eq!(
            "calibrated-raw".parse::<Prior>().unwrap().to_string(),
            "calibrated-raw"
        );
        for bad in ["0", "-1", "inf", "nan", "1e300", "much", ""] {
            assert!(bad.parse::<Prior>().is_err(), "{bad}");
        }
    }
}
