//! The league and its parts as tables: for people, for machines, and pool by pool.

use dial_data::row;
use serde_json::{Map, Value, json};

use super::contestants::{AUTO, REFERENCE};
use super::league::{LeagueRow, batches, can_tell, gap, rank, ratio, reach};
use super::results::{AREA, Entry, INSIDE, MILESTONES, PoolResult};
use crate::output::Tidy;
use dial_plot::report::Table;
use dial_plot::stats::{Interval, interval, mean};
use dial_plot::words::Listed;

/// The league for people.
pub fn league_table(caption: &str, table: &[LeagueRow], queries: usize) -> Table {
    let milestones = || MILESTONES.iter().filter(|m| **m <= queries);
    let header = format!(
        " | rank | area | {}ratio | worst gap | behind | reach | in half | clusters | balanced | ECE | Brier | ms",
        milestones().map(|m| format!("at {m} | ")).joined("")
    );
    let most = table
        .iter()
        .map(|standing| standing.pools)
        .max()
        .unwrap_or(0);
    let row = |standing: &LeagueRow| {
        let name = match standing.pools {
            all if all == most => standing.name.clone(),
            some => format!("{} ({some} of {most} pools)", standing.name),
        };
        let mut row = vec![name, plain(standing.rank, 1), percent(standing.area)];
        let shown = milestones().zip(standing.at);
        row.extend(shown.map(|(_, accuracy)| percent(accuracy)));
        row.push(plain(standing.ratio, 2));
        row.push(standing.worst().map_or("-".into(), |worst| {
            let Gap { mean, half, pool } = Gap::of(worst);
            format!("{mean} ± {half} ({pool})")
        }));
        row.push(standing.behind().to_string());
        row.push(match standing.median_reach() {
            None => "-".into(),
            Some(question) if question.is_infinite() => "never".into(),
            Some(question) => plain(question, 0),
        });
        row.push(format!(
            "{}/{}",
            standing.within_half(queries),
            standing.reach.len()
        ));
        row.extend([
            percent(standing.clusters),
            percent(standing.balanced),
            percent(standing.calibration),
        ]);
        row.extend([plain(standing.brier, 3), plain(1e3 * standing.seconds, 1)]);
        row
    };
    Table::new(caption, &header, table.iter().map(row)).numbers(1..)
}

/// A gap in words.
struct Gap {
    mean: String,
    half: String,
    pool: String,
}

impl Gap {
    fn of(gap: &super::league::Gap) -> Gap {
        Gap {
            mean: plain(100.0 * gap.difference.mean, 1),
            half: plain(100.0 * gap.difference.half_width, 1),
            pool: gap.pool.clone(),
        }
    }
}

/// Areas in per cent, pool by pool, of the given contestants; the best of each pool is set bold.
pub fn pool_table(caption: &str, results: &[PoolResult], names: &[&str]) -> Table {
    let row = |pool: &PoolResult| {
        let areas = pool.entries.iter().map(|entry| entry.mean(AREA));
        let best = areas.fold(f64::NEG_INFINITY, f64::max);
        let cell = |name: &&str| match pool.entry(name) {
            None => "-".to_string(),
            Some(entry) => {
                let area = interval(entry.values(AREA));
                let text = format!("{:.1} ± {:.1}", 100.0 * area.mean, 100.0 * area.half_width);
                let bold = if area.mean == best { "**" } else { "" };
                format!("{bold}{text}{bold}")
            }
        };
        let mut row = vec![pool.name.clone()];
        row.extend(names.iter().map(cell));
        row
    };
    let header = format!("pool | {}", names.join(" | "));
    Table::new(caption, &header, results.iter().map(row)).numbers(1..)
}

/// The league for machines.
pub fn tidy(stem: &str, table: &[LeagueRow]) -> Tidy {
    let row = |standing: &LeagueRow| {
        let worst = standing.worst();
        let [at_10, at_25, at_50, at_100] = standing.at;
        row![
            standing.name.clone(),
            standing.pools,
            rounded(standing.rank),
            rounded(standing.area),
            rounded(at_10),
            rounded(at_25),
            rounded(at_50),
            rounded(at_100),
            rounded(standing.ratio),
            worst.map(|gap| gap.pool.clone()),
            worst.and_then(|gap| rounded(gap.difference.mean)),
            worst.and_then(|gap| rounded(gap.difference.half_width)),
            standing.behind(),
            standing.median_reach().and_then(rounded),
            rounded(standing.clusters),
            rounded(standing.balanced),
            rounded(standing.calibration),
            rounded(standing.brier),
            rounded(standing.seconds),
        ]
    };
    Tidy::new(
        stem,
        "contestant,pools,rank,area,at_10,at_25,at_50,at_100,ratio,worst_pool,worst_gap,worst_gap_half_width,\
         behind,median_reach,clusters,balanced,ece_50,brier_50,seconds",
        table.iter().map(row),
    )
}

/// A number to five places, if there is one.
fn rounded(value: f64) -> Option<f64> {
    value.is_finite().then(|| (value * 1e5).round() / 1e5)
}

/// Every contestant on every pool for machines, with its differences in area to the best there and to the reference.
pub fn differences(results: &[&PoolResult]) -> Tidy {
    let row = |pool: &PoolResult, entry: &Entry| {
        let best = gap(pool, entry);
        let to_best = best.as_ref().map(|gap| gap.difference);
        let reference = pool.entry(REFERENCE);
        let to_reference = reference.map(|reference| interval(entry.paired(reference, AREA)));
        let mean = |difference: Option<Interval>| difference.and_then(|d| rounded(d.mean));
        let half = |difference: Option<Interval>| difference.and_then(|d| rounded(d.half_width));
        row![
            pool.name.clone(),
            entry.name.clone(),
            entry.runs.len(),
            rounded(entry.mean(AREA)),
            rounded(rank(pool, entry)),
            rounded(ratio(pool, entry)),
            best.map(|gap| gap.best),
            mean(to_best),
            half(to_best),
            mean(to_reference),
            half(to_reference),
            reach(pool, entry),
        ]
    };
    let rows = results
        .iter()
        .flat_map(|pool| pool.entries.iter().map(move |entry| row(pool, entry)));
    Tidy::new(
        "differences",
        "pool,contestant,seeds,area,rank,ratio,best,to_best,to_best_half_width,to_reference,\
         to_reference_half_width,reach",
        rows,
    )
}

/// The league as JSON.
pub fn to_json(table: &[LeagueRow]) -> Value {
    let number = |value: f64| value.is_finite().then_some(value);
    let one = |standing: &LeagueRow| {
        let worst = standing.worst().map(|gap| {
            json!({ "pool": gap.pool, "best": gap.best, "mean": number(gap.difference.mean),
                    "half_width": number(gap.difference.half_width) })
        });
        let reach: Map<String, Value> = (standing.reach.iter())
            .map(|(pool, question)| (pool.clone(), json!(question)))
            .collect();
        let at: Map<String, Value> = (MILESTONES.iter().zip(standing.at))
            .map(|(m, value)| (m.to_string(), json!(number(value))))
            .collect();
        json!({
            "contestant": standing.name, "pools": standing.pools, "rank": number(standing.rank),
            "area": number(standing.area), "at": at, "ratio": number(standing.ratio), "worst_gap": worst,
            "behind": standing.behind(), "reach": reach, "clusters": number(standing.clusters),
            "balanced": number(standing.balanced), "ece_50": number(standing.calibration),
            "brier_50": number(standing.brier), "seconds": number(standing.seconds),
        })
    };
    table.iter().map(one).collect()
}

/// What must hold of a contestant, and whether it does: a row for every claim.
pub fn claims(
    results: &[PoolResult],
    table: &[LeagueRow],
    name: &str,
    queries: usize,
) -> Option<Table> {
    let own = table.iter().find(|standing| standing.name == name)?;
    let rival =
        |standing: &&LeagueRow| standing.pools == own.pools && !standing.name.contains(":batch=");
    let rivals: Vec<&LeagueRow> = table
        .iter()
        .filter(rival)
        .filter(|standing| standing.name != name)
        .collect();
    let best = rivals.iter().map(|r| r.rank).fold(f64::INFINITY, f64::min);
    let level = || rivals.iter().filter(|r| r.rank == own.rank);
    let shared = match level().count() {
        0 => String::new(),
        _ => format!(", shared with {}", level().map(|r| &r.name).joined(", ")),
    };
    let verdict = |holds: bool| if holds { "yes" } else { "no" }.to_string();
    let worst = own.worst().map_or("-".into(), |gap| {
        let Gap { mean, half, pool } = Gap::of(gap);
        format!(
            "clearly below on {} of {} pools, clearly not on {}; worst {mean} ± {half} points on {pool}",
            own.behind(),
            own.pools,
            own.near()
        )
    });
    let late: Vec<String> = (own.reach.iter())
        .filter(|(_, question)| question.is_none_or(|q| 2 * q > queries))
        .map(|(pool, question)| {
            format!(
                "{pool} {}",
                question.map_or("never".into(), |q| q.to_string())
            )
        })
        .collect();
    let reached = format!("{} of {} pools", own.within_half(queries), own.reach.len());
    let (error, where_) = own
        .worst_calibration
        .clone()
        .unwrap_or((f64::NAN, "-".into()));
    let known = |there: bool, holds: bool| {
        if there {
            verdict(holds)
        } else {
            "cannot tell".into()
        }
    };
    let row = |claim: String, holds: String, measured: String| vec![claim, holds, measured];
    let after = queries.min(50);
    let mut rows = vec![
        row(
            "best mean rank of all".into(),
            known(table.len() > 1, own.rank <= best),
            plain(own.rank, 2) + &shared,
        ),
        row(
            format!("mean ratio of error areas to {REFERENCE} at most 0.70"),
            verdict(own.ratio <= 0.70),
            plain(own.ratio, 3),
        ),
        row(
            "on no pool clearly more than 0.5 points below the best".into(),
            verdict(own.behind() == 0),
            worst,
        ),
        row(
            format!(
                "at most {} questions for what the reference needs {queries} for",
                queries / 2
            ),
            known(!own.reach.is_empty(), late.is_empty()),
            match late.join(", ").as_str() {
                "" => reached,
                late => format!("{reached}; later on {late}"),
            },
        ),
        row(
            format!("expected calibration error below 5 % after {after} questions"),
            verdict(error < 0.05),
            format!(
                "mean {}, worst {} on {where_}",
                percent(own.calibration),
                percent(error)
            ),
        ),
    ];
    let runs = results
        .iter()
        .filter_map(|pool| pool.entry(name))
        .flat_map(|entry| entry.values(INSIDE));
    let inside: Vec<f64> = runs.filter(|inside| inside.is_finite()).collect();
    if !inside.is_empty() {
        let share = mean(&inside);
        rows.push(row(
            format!("expected accuracy within its interval in at least 90 % of runs, after {after} questions"),
            verdict(share >= 0.9),
            format!("{} % of {} runs", percent(share), inside.len()),
        ));
    }
    for (size, gap) in batches(results, name) {
        let Gap { mean, half, pool } = Gap::of(&gap);
        rows.push(row(
            format!("batches of {size} at most 1 point of area below one at a time"),
            verdict(gap.difference.mean >= -0.01),
            format!("worst {mean} ± {half} points on {pool}"),
        ));
    }
    let caption = format!("What {name} is to do");
    Some(Table::new(caption, "claim | holds | measured", rows))
}

/// The contestants worth a column: `auto`, the reference, then the best of the league.
pub fn columns(table: &[LeagueRow], most: usize) -> Vec<&str> {
    let named = [AUTO, REFERENCE]
        .into_iter()
        .filter(|name| table.iter().any(|standing| standing.name == *name));
    let others = table
        .iter()
        .map(|standing| standing.name.as_str())
        .filter(|name| ![AUTO, REFERENCE].contains(name));
    named.chain(others).take(most).collect()
}

/// The pools that cannot tell how many questions are saved.
pub fn silent(results: &[PoolResult]) -> Vec<&str> {
    results
        .iter()
        .filter(|pool| !can_tell(pool))
        .map(|pool| pool.name.as_str())
        .collect()
}

/// The ratios of error areas on every pool, for figures: one row per contestant.
pub fn ratios(results: &[PoolResult], names: &[&str]) -> Vec<Vec<f64>> {
    let of = |name: &&str| {
        results
            .iter()
            .map(|pool| pool.entry(name).map_or(f64::NAN, |e| ratio(pool, e)))
            .collect()
    };
    names.iter().map(of).collect()
}

fn percent(value: f64) -> String {
    plain(100.0 * value, 1)
}

/// A number with the given number of decimals, or a dash.
fn plain(value: f64, places: usize) -> String {
    if value.is_finite() {
        format!("{value:.places$}").replace('-', "−")
    } else {
        "-".into()
    }
}

#[cfg(test)]
mod tests {
    use dial_data::write::Cell;

    use super::super::results::{MEASURES, Run};
    use super::*;
    use dial_plot::stats::Band;

    fn entry(name: &str, areas: [f64; 3]) -> Entry {
        let run = |(seed, area)| {
            let mut values = [f64::NAN; MEASURES.len()];
            values[AREA] = area;
            Run { seed, values }
        };
        let curve = Band::exact(vec![0.0, areas[0] / 2.0, areas[0]]);
        Entry {
            name: name.into(),
            runs: areas.into_iter().enumerate().map(run).collect(),
            curve,
        }
    }

    #[test]
    fn differences_by_hand() {
        let pool = PoolResult {
            name: "p".into(),
            entries: vec![
                entry(REFERENCE, [0.5, 0.6, 0.7]),
                entry("a", [0.6, 0.7, 0.8]),
            ],
        };
        let tidy = differences(&[&pool]);
        // a is 0.1 ahead under every seed, so that the interval has no width; the reference is as far behind.
        let text = |row: &[Cell]| {
            row.iter()
                .map(|cell| format!("{cell:?}"))
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(
            text(&tidy.rows[0]),
            r#"Text("p") Text("dirichlet-proportional") Integer(3) Number(0.6) Number(2.0) Number(1.0) Text("a") Number(-0.1) Number(0.0) Number(0.0) Number(0.0) Integer(2)"#
        );
        assert_eq!(
            text(&tidy.rows[1]),
            r#"Text("p") Text("a") Integer(3) Number(0.7) Number(1.0) Number(0.75) Text("a") Number(0.0) Number(0.0) Number(0.1) Number(0.0) Integer(2)"#
        );
    }

    #[test]
    fn claims_say_what_was_measured() {
        let pool = PoolResult {
            name: "p".into(),
            entries: vec![
                entry(REFERENCE, [0.5, 0.6, 0.7]),
                entry(AUTO, [0.8, 0.85, 0.9]),
                entry("auto:batch=5", [0.7; 3]),
            ],
        };
        let results = [pool];
        let table = claims(&results, &super::super::league::league(&results), AUTO, 2).unwrap();
        // Ratio 0.15/0.4; the reference ends at 0.5, auto has 0.4 after one question and 0.8 after two; batches lose 0.15.
        let holds: Vec<&str> = table.rows.iter().map(|row| row[1].as_str()).collect();
        assert_eq!(
            holds,
            ["yes", "yes", "yes", "no", "no", "no"],
            "no calibration was measured"
        );
        assert_eq!(
            (table.rows[1][2].as_str(), table.rows[3][2].as_str()),
            ("0.375", "0 of 1 pools; later on p 2")
        );
        assert!(table.rows[5][2].starts_with("worst −15.0"));
        assert!(
            claims(
                &results,
                &super::super::league::league(&results),
                "nobody",
                2
            )
            .is_none()
        );
    }
}
