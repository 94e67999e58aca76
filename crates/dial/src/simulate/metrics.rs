//! How good a belief is beside its accuracy: balance over the classes, calibration, and the Brier score.
//!
//! ```text
//! balanced accuracy   mean over the classes c that occur of  right_c / n_c
//! calibration error   Σ_b n_b/n |right_b/n_b - Σ p/n_b|,  b one of 15 bins ((b-1)/15, b/15] of p = max_c p_c(x)
//! Brier score         1/n Σ_x Σ_c (p_c(x) - [c is the class of x])²      from 0 (certain and right) to 2
//! ```
//!
//! p is what the `Readout` of the field states, calibrated or not. The calibration error is that of the predicted class (Guo, Pleiss, Sun,
//! Weinberger 2017); a bin without items does not count.

use crate::belief::calibration::Accuracy;

/// Number of bins of the calibration error.
pub const BINS: usize = 15;

/// What a [`Tally`] comes to; all three are NaN if nothing was counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measures {
    /// The mean over the classes of the share that is classified right.
    pub balanced_accuracy: f64,
    /// How far stated probabilities are from the share that is right, on average.
    pub calibration_error: f64,
    /// The mean squared distance between probabilities and truth.
    pub brier: f64,
    /// The accuracy that was to be expected, where calibration is on.
    pub expected: Option<Accuracy>,
}

/// Counts items of known class one by one.
#[derive(Clone, Debug)]
pub struct Tally {
    /// Right and all, of every class.
    classes: Vec<(usize, usize)>,
    /// Right, all and the sum of stated probabilities, of every bin.
    bins: [(usize, usize, f64); BINS],
    squares: f64,
}

impl Tally {
    /// Nothing counted yet.
    pub fn new(n_classes: usize) -> Tally {
        Tally {
            classes: vec![(0, 0); n_classes],
            bins: [(0, 0, 0.0); BINS],
            squares: 0.0,
        }
    }

    /// Counts an item: its probabilities (of any scale), the class it was taken for, and its class.
    ///
    /// # Panics
    /// If there is no such class.
    pub fn add(&mut self, alpha: &[f64], taken_for: usize, class: usize) {
        let total = alpha.iter().fold(0.0, |sum, a| sum + a);
        let right = usize::from(taken_for == class);
        let stated = alpha[taken_for] / total;
        let of_class = &mut self.classes[class];
        *of_class = (of_class.0 + right, of_class.1 + 1);
        let bin = &mut self.bins[((stated * BINS as f64).ceil() as usize).clamp(1, BINS) - 1];
        *bin = (bin.0 + right, bin.1 + 1, bin.2 + stated);
        let square = |(c, a): (usize, &f64)| {
            let gap = a / total - f64::from(u8::from(c == class));
            gap * gap
        };
        self.squares += alpha
            .iter()
            .enumerate()
            .map(square)
            .fold(0.0, |sum, s| sum + s);
    }

    /// What was counted, in three numbers.
    pub fn measures(&self) -> Measures {
        let present: Vec<f64> = self
            .classes
            .iter()
            .filter(|c| c.1 > 0)
            .map(|&(right, all)| right as f64 / all as f64)
            .collect();
        let all: usize = self.classes.iter().map(|c| c.1).sum();
        let gaps = self
            .bins
            .iter()
            .map(|&(right, _, stated)| (right as f64 - stated).abs());
        Measures {
            balanced_accuracy: present.iter().sum::<f64>() / present.len() as f64,
            calibration_error: gaps.fold(0.0, |sum, gap| sum + gap) / all as f64,
            brier: self.squares / all as f64,
            expected: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_items_by_hand() {
        let mut tally = Tally::new(3);
        tally.add(&[3.0, 1.0, 0.0], 0, 0); // right, stated 3/4, squares 1/16 + 1/16
        tally.add(&[3.0, 1.0, 0.0], 0, 1); // wrong, stated 3/4, squares 9/16 + 9/16
        tally.add(&[0.0, 5.0, 0.0], 1, 1); // right, stated 1, squares 0
        tally.add(&[1.0, 0.0, 1.0], 0, 0); // right, stated 1/2, squares 1/4 + 1/4
        let Measures {
            balanced_accuracy,
            calibration_error,
            brier,
            ..
        } = tally.measures();
        // Classes 0 and 1 occur: 2/2 and 1/2.
        assert_eq!(balanced_accuracy, 0.75);
        // Bins: 3/4 holds 2 items, 1 right, stated 3/2: gap 1/2; 1/2 holds one right: gap 1/2; 1 holds one right: gap 0.
        assert_eq!(calibration_error, 1.0 / 4.0);
        assert_eq!(brier, (2.0 / 16.0 + 18.0 / 16.0 + 0.5) / 4.0);
    }

    #[test]
    fn bins_are_closed_above_and_nothing_is_no_number() {
        // 1/5 = 3/15 lies in the third bin with 0.15, and 0.21 in the next: gaps |0 - 0.35| and |0 - 0.21|.
        let mut tally = Tally::new(2);
        for (alpha, class) in [([0.2, 0.8], 1), ([0.15, 0.85], 1), ([0.21, 0.79], 1)] {
            tally.add(&alpha, 0, class);
        }
        assert!((tally.measures().calibration_error - 0.56 / 3.0).abs() < 1e-15);
        assert_eq!(tally.bins[2].1, 2);
        assert!(Tally::new(2).measures().brier.is_nan());
    }
}
