//! The figures of the arena: learning curves of every pool, and one picture of all ratios.
//!
//! A figure of curves shows `auto` and the reference, the best on that pool, and random questions; a contestant that
//! asks in batches is left out, or `auto` would hide its rivals. A contestant looks the same in all figures, where that does not make
//! two of one figure look alike.

use super::contestants::{AUTO, REFERENCE, everybody};
use super::league::league;
use super::overview::overview;
use super::results::{AREA, Entry, OWN_CLASSIFIER_SUFFIX, PoolResult};
use super::tables::ratios;
use crate::output::Drawn;
use dial_plot::chart::{Canvas, Colour, MarkerKind};
use dial_plot::colours::{BLUE, CLASSES, GREEN, GREY, ORANGE, PURPLE, RED};
use dial_plot::plot::{LineChart, LineStyle, Series};
use dial_plot::stats::Band;

/// How many of the best a figure of curves shows beside `auto`, the reference and random questions.
const CURVES_OF_BEST: usize = 4;

/// All figures of the results.
pub fn all(tuned: &[PoolResult], aside: &[PoolResult]) -> Vec<Drawn> {
    let mut figures = Vec::new();
    for (stem, title, results) in [
        (
            "overview",
            "Error area relative to the paper's best single setting",
            tuned,
        ),
        (
            "overview-held-out",
            "The same on pools that nothing was tuned on",
            aside,
        ),
    ] {
        if !results.is_empty() {
            let table = league(results);
            let names: Vec<&str> = table
                .iter()
                .map(|standing| standing.name.as_str())
                .collect();
            let pools: Vec<&str> = results.iter().map(|pool| pool.name.as_str()).collect();
            let means: Vec<f64> = table.iter().map(|standing| standing.ratio).collect();
            let canvas = overview(title, &names, &pools, &ratios(results, &names), &means);
            let caption = format!("{title}: below 1 (green) fewer errors, above 1 (orange) more.");
            figures.push(Drawn::new(stem, caption, canvas));
        }
    }
    for pool in tuned.iter().chain(aside) {
        figures.push(Drawn::new(
            curves_stem(&pool.name),
            format!("Accuracy on the unlabelled items of {}.", pool.name),
            curves(pool),
        ));
    }
    figures
}

/// The name of the figure of a pool's curves.
pub fn curves_stem(pool: &str) -> String {
    format!("curves-{pool}")
}

/// Mean accuracies with their 95 % intervals; two seeds say nothing about the spread.
fn curves(pool: &PoolResult) -> Canvas {
    let shown = shown(pool);
    let names: Vec<&str> = shown.iter().map(|entry| entry.name.as_str()).collect();
    let series = |(entry, look): (&&Entry, LineStyle)| {
        let x = (0..entry.curve.mean.len()).map(|query| query as f64);
        let few = entry.runs.len() < 3;
        let band = if few {
            Band::exact(entry.curve.mean.clone())
        } else {
            entry.curve.clone()
        };
        Series::new(entry.name.clone(), x, band).with_look(look)
    };
    LineChart::new(
        pool.name.clone(),
        ["questions asked", "accuracy"],
        shown.iter().zip(looks(&names)).map(series).collect(),
    )
    .y_range(heights(&shown))
    .in_percent()
    .canvas()
}

/// From the lowest mean to the highest, to the next five points: bands may leave the figure.
fn heights(shown: &[&Entry]) -> (f64, f64) {
    let means = || {
        shown
            .iter()
            .flat_map(|entry| entry.curve.mean.iter().copied())
            .filter(|mean| mean.is_finite())
    };
    let low = (20.0 * means().fold(1.0, f64::min)).floor() / 20.0;
    let high = (20.0 * means().fold(0.0, f64::max)).ceil() / 20.0;
    (low.min(0.95), high.max(low + 0.05).min(1.0))
}

/// The contestants of a figure, the most important first.
fn shown(pool: &PoolResult) -> Vec<&Entry> {
    let always = |entry: &&Entry| [AUTO, REFERENCE, "random"].contains(&entry.name.as_str());
    let named = |name: &str| pool.entry(name);
    let rival = |entry: &&Entry| {
        !always(entry)
            && !entry.name.ends_with(OWN_CLASSIFIER_SUFFIX)
            && !entry.name.contains(":batch=")
    };
    let mut best: Vec<&Entry> = pool.entries.iter().filter(rival).collect();
    best.sort_by(|a, b| b.mean(AREA).total_cmp(&a.mean(AREA)));
    best.truncate(CURVES_OF_BEST);
    named(AUTO)
        .into_iter()
        .chain(best)
        .chain(named(REFERENCE))
        .chain(named("random"))
        .collect()
}

const COLOURS: [Colour; 5] = [BLUE, GREEN, PURPLE, ORANGE, CLASSES[6]];
const MARKS: [MarkerKind; 5] = [
    MarkerKind::Circle,
    MarkerKind::Square,
    MarkerKind::Up,
    MarkerKind::Diamond,
    MarkerKind::Down,
];

/// The styles of contestants: each has its mark and its colour, or the next colour that is free in the figure.
fn looks(names: &[&str]) -> Vec<LineStyle> {
    let everybody: Vec<String> = everybody()
        .into_iter()
        .map(|contestant| contestant.name)
        .collect();
    let mut taken: Vec<Colour> = Vec::new();
    let mut look = |name: &&str| match *name {
        AUTO => RED.line().wide(3.0),
        REFERENCE => Colour::INK.dashed().wide(2.4),
        "random" => GREY.dotted(),
        name => {
            let place = everybody.iter().position(|known| known == name);
            let number = place.unwrap_or_else(|| name.bytes().map(usize::from).sum());
            let own = |i: usize| COLOURS[(number + i) % COLOURS.len()];
            let colour = (0..COLOURS.len())
                .map(own)
                .find(|colour| !taken.contains(colour))
                .unwrap_or(own(0));
            taken.push(colour);
            colour.marked(MARKS[(number / COLOURS.len() + number) % MARKS.len()])
        }
    };
    names.iter().map(&mut look).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_a_figure_have_different_colours() {
        let colours: Vec<Colour> = looks(&["vopt", "vopt-full", "dirichlet-max", "margin", "land"])
            .into_iter()
            .map(|look| look.colour)
            .collect();
        for (i, colour) in colours.iter().enumerate() {
            assert!(!colours[..i].contains(colour), "{colours:?}");
        }
    }
}
