//! The figures of the arena: learning curves of every pool, and one picture of all ratios.
//!
//! A figure of curves shows `auto` and the reference, those who do best on that pool, and random questions. A contestant
//! looks the same in all figures.

use super::contestants::{AUTO, REFERENCE, everybody};
use super::league::league;
use super::overview::overview;
use super::results::{AREA, Entry, OWN, PoolResult};
use super::tables::ratios;
use crate::chart::{Canvas, Colour, MarkerKind};
use crate::colours::{BLUE, CLASSES, GREEN, GREY, ORANGE, PURPLE, RED};
use crate::plot::{LineChart, Look, Series};
use crate::written::Drawn;

/// How many of the best a figure of curves shows beside `auto`, the reference and random questions.
const BEST: usize = 4;

/// All figures of the results.
pub fn all(tuned: &[PoolResult], aside: &[PoolResult]) -> Vec<Drawn> {
    let mut figures = Vec::new();
    for (stem, title, results) in [
        ("overview", "Error area relative to the paper's best single setting", tuned),
        ("overview-kept-aside", "The same on pools nobody tuned on", aside),
    ] {
        if !results.is_empty() {
            let table = league(results);
            let names: Vec<&str> = table.iter().map(|standing| standing.name.as_str()).collect();
            let pools: Vec<&str> = results.iter().map(|pool| pool.name.as_str()).collect();
            let means: Vec<f64> = table.iter().map(|standing| standing.ratio).collect();
            let canvas = overview(title, &names, &pools, &ratios(results, &names), &means);
            let caption = format!("{title}: below 1 (green) fewer errors, above 1 (orange) more.");
            figures.push(Drawn { stem: stem.into(), caption, canvas });
        }
    }
    for pool in tuned.iter().chain(aside) {
        figures.push(Drawn {
            stem: curves_stem(&pool.name),
            caption: format!("Accuracy on the unlabelled items of {}.", pool.name),
            canvas: curves(pool),
        });
    }
    figures
}

/// The name of the figure of a pool's curves.
pub fn curves_stem(pool: &str) -> String {
    format!("curves-{pool}")
}

/// Mean accuracies with their 95 % intervals.
fn curves(pool: &PoolResult) -> Canvas {
    let series = |entry: &&Entry| {
        let x = (0..entry.curve.mean.len()).map(|query| query as f64).collect();
        Series::new(entry.name.clone(), x, entry.curve.clone()).with_look(look(&entry.name))
    };
    LineChart {
        title: pool.name.clone(),
        x_label: "questions asked".into(),
        y_label: "accuracy".into(),
        percent: true,
        series: shown(pool).iter().map(series).collect(),
        ..LineChart::default()
    }
    .canvas()
}

/// The contestants of a figure, the most important first.
fn shown(pool: &PoolResult) -> Vec<&Entry> {
    let always = |entry: &&Entry| [AUTO, REFERENCE, "random"].contains(&entry.name.as_str());
    let named = |name: &str| pool.entry(name);
    let mut best: Vec<&Entry> = pool.entries.iter().filter(|e| !always(e) && !e.name.ends_with(OWN)).collect();
    best.sort_by(|a, b| b.mean(AREA).total_cmp(&a.mean(AREA)));
    best.truncate(BEST);
    named(AUTO).into_iter().chain(best).chain(named(REFERENCE)).chain(named("random")).collect()
}

/// The look of a contestant, the same everywhere.
fn look(name: &str) -> Look {
    const COLOURS: [Colour; 5] = [BLUE, GREEN, PURPLE, ORANGE, CLASSES[6]];
    const MARKS: [MarkerKind; 5] =
        [MarkerKind::Circle, MarkerKind::Square, MarkerKind::Up, MarkerKind::Diamond, MarkerKind::Down];
    match name {
        AUTO => Look { width: 3.0, ..Look::line(RED) },
        REFERENCE => Look { width: 2.4, ..Look::dashed(Colour::INK) },
        "random" => Look::dotted(GREY),
        _ => {
            let names: Vec<String> = everybody().into_iter().map(|contestant| contestant.name).collect();
            let place = names.iter().position(|known| known == name);
            let number = place.unwrap_or_else(|| name.bytes().map(usize::from).sum());
            Look::marked(COLOURS[number % COLOURS.len()], MARKS[(number / COLOURS.len() + number) % MARKS.len()])
        }
    }
}
