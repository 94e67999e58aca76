//! Round tick marks: multiples of 1, 2 or 5 times a power of ten, each the nearest double to its decimal form; on
//! logarithmic axes powers of ten, with their doubles and fivefolds where there are few.

/// Tick marks of an axis, and what to write beside them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ticks {
    /// Where the marks are, in increasing order.
    pub values: Vec<f64>,
    /// What they say, all with the same number of decimals.
    pub labels: Vec<String>,
}

/// A round step, `mantissa` times ten to the `exponent`.
#[derive(Clone, Copy)]
struct Step {
    mantissa: i64,
    exponent: i32,
}

impl Step {
    /// The smallest round step that cuts `span` into at most `most` pieces.
    fn choose(span: f64, most: usize, whole: bool) -> Self {
        let pieces = most.max(1) as f64;
        let guess = (span / pieces).log10().floor() as i32 - 1;
        let first = if whole { guess.max(0) } else { guess };
        let candidates = (first..first + 4)
            .flat_map(|exponent| [1, 2, 5].map(|mantissa| Self { mantissa, exponent }));
        let mut steps = candidates.filter(|step| span / step.times(1) <= pieces * (1.0 + 1e-9));
        steps.next().unwrap_or(Self {
            mantissa: 1,
            exponent: first + 4,
        })
    }

    /// The `count`-th multiple, exactly rounded.
    fn times(self, count: i64) -> f64 {
        format!("{}e{}", count.saturating_mul(self.mantissa), self.exponent)
            .parse()
            .unwrap_or(f64::NAN)
    }

    /// How many steps fit below `value`, with a little tolerance, rounded in the given direction.
    fn count(self, value: f64, round: fn(f64) -> f64, tolerance: f64) -> i64 {
        round(value / self.times(1) + tolerance) as i64
    }
}

/// Round ticks inside `[low, high]`, cutting it into at most `most` pieces; `whole` allows whole numbers only.
///
/// There is none where the range is reversed or not finite, or where no whole number lies inside it; a range of
/// one point has that point.
pub fn ticks(low: f64, high: f64, most: usize, whole: bool) -> Ticks {
    if !low.is_finite() || !high.is_finite() || low > high {
        return Ticks::default();
    }
    if high - low <= 1e-12 * low.abs().max(high.abs()) {
        return Ticks {
            values: vec![low],
            labels: vec![format!("{low}")],
        };
    }
    let step = Step::choose(high - low, most, whole);
    let (first, last) = (
        step.count(low, f64::ceil, -1e-9),
        step.count(high, f64::floor, 1e-9),
    );
    let values: Vec<f64> = (first..=last)
        .map(|k| step.times(k).clamp(low, high))
        .collect();
    let labels = (first..=last)
        .map(|k| label(step, k, low.abs().max(high.abs())))
        .collect();
    Ticks { values, labels }
}

/// The range widened to the next round tick on either side, so that an axis begins and ends with one.
pub fn round_out(low: f64, high: f64, most: usize) -> (f64, f64) {
    if !low.is_finite() || !high.is_finite() || high - low <= 1e-12 * low.abs().max(high.abs()) {
        return (low, high);
    }
    let step = Step::choose(high - low, most, false);
    (
        step.times(step.count(low, f64::floor, 1e-9)),
        step.times(step.count(high, f64::ceil, -1e-9)),
    )
}

/// Ticks of a logarithmic axis in `[low, high]`, and the places of small ticks between them.
///
/// Labelled are powers of ten, every second or third where there are more than `most`; with their doubles and
/// fivefolds where there are fewer than three. There is none where the range is not positive and finite.
pub fn log_ticks(low: f64, high: f64, most: usize) -> (Ticks, Vec<f64>) {
    if !(low > 0.0 && high.is_finite() && low < high) {
        return (Ticks::default(), Vec::new());
    }
    let within = |value: f64| value >= low * (1.0 - 1e-9) && value <= high * (1.0 + 1e-9);
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let places = |mantissas: &'static [i64], stride: i32| {
        let exponents = (first..=last).filter(move |exponent| exponent % stride == 0);
        let steps = exponents.flat_map(|exponent| {
            mantissas.iter().map(move |m| Step {
                mantissa: *m,
                exponent,
            })
        });
        steps
            .filter(|step| within(step.times(1)))
            .collect::<Vec<Step>>()
    };
    let decades = places(&[1], 1).len();
    let stride = decades.div_ceil(most.max(1)).max(1) as i32;
    let labelled = if decades < 3 {
        places(&[1, 2, 5], 1)
    } else {
        places(&[1], stride)
    };
    let small = if stride == 1 {
        places(&[2, 3, 4, 5, 6, 7, 8, 9], 1)
    } else {
        places(&[1], 1)
    };
    let values: Vec<f64> = labelled
        .iter()
        .map(|step| step.times(1).clamp(low, high))
        .collect();
    let minor = small
        .iter()
        .map(|step| step.times(1))
        .filter(|v| !values.contains(v))
        .collect();
    (
        Ticks {
            values,
            labels: labelled.iter().map(|step| log_label(*step)).collect(),
        },
        minor,
    )
}

/// The positive range widened to the next 1, 2 or 5 times a power of ten on either side.
pub fn round_out_log(low: f64, high: f64) -> (f64, f64) {
    let steps = |value: f64| {
        let exponent = value.log10().floor() as i32;
        (exponent - 1..=exponent + 1)
            .flat_map(|exponent| [1, 2, 5].map(|mantissa| Step { mantissa, exponent }.times(1)))
    };
    let below = steps(low).rfind(|v| *v <= low * (1.0 + 1e-9));
    let above = steps(high).find(|v| *v >= high * (1.0 - 1e-9));
    (below.unwrap_or(low), above.unwrap_or(high))
}

/// A label of a logarithmic axis: plain from 0.0001 to millions, as 1e-5 beyond (the font has no raised minus).
fn log_label(step: Step) -> String {
    if (-4..=6).contains(&step.exponent) {
        let places = (-step.exponent).max(0) as usize;
        return group(&format!("{:.places$}", step.times(1)));
    }
    minus(&format!("{}e{}", step.mantissa, step.exponent))
}

/// The text beside the `count`-th multiple of `step`, on an axis whose values reach `largest`.
fn label(step: Step, count: i64, largest: f64) -> String {
    let value = step.times(count);
    if largest >= 1e7 || step.exponent < -6 {
        return if count == 0 {
            "0".to_owned()
        } else {
            minus(&format!("{value:e}"))
        };
    }
    let places = (-step.exponent).max(0) as usize;
    minus(&group(&format!("{value:.places$}")))
}

/// A digit or minus sign as an exponent.
/// Puts a comma before every third digit of the whole part.
fn group(number: &str) -> String {
    let (whole, rest) = number.split_at(number.find('.').unwrap_or(number.len()));
    let (sign, digits) = whole.split_at(usize::from(whole.starts_with('-')));
    let mut out = sign.to_owned();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

/// Sets a proper minus sign.
fn minus(number: &str) -> String {
    number.replace('-', "\u{2212}")
}
