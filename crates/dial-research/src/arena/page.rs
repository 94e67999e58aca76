//! Pages of the arena in Markdown: `league.md` beside the results, and a page with hand-written prose.
//!
//! What is generated stands in a page between `<!-- arena:NAME -->` and `<!-- /arena:NAME -->` and is replaced when the
//! page is made again; everything else stays as it was written. A page that does not exist begins with all parts.

use std::path::{Path, PathBuf};

use dial_data::write::write_whole;

use super::contestants::{AUTO, REFERENCE};
use super::facts::{Facts, facts_table};
use super::figures::curves_stem;
use super::league::{LeagueRow, league};
use super::results::PoolResult;
use super::tables::{claims, columns, league_table, pool_table, silent};
use crate::error::LabError;
use crate::markdown::markdown_table;
use dial_plot::report::Table;
use dial_plot::words::Listed;

/// The parts in the order in which a new page has them.
const PAGE_PARTS: [(&str, &str); 7] = [
    ("played", "What was played"),
    ("claims", "What auto is to do"),
    ("league", "The league"),
    ("held-out", "Pools that nothing was tuned on"),
    ("pools", "Pool by pool"),
    ("overview", "At a glance"),
    ("curves", "Curves"),
];

/// How to read the league.
const HOW_TO_READ: &str = "rank: mean place by area over the pools. area: mean accuracy over all questions, in per cent, as are \
the accuracies after 10 to 100. ratio: mean over pools of the error area (1 − area) over that of the reference. worst gap: \
the smallest mean difference of areas to the best of a pool, in points, paired by seed, with its 95 % interval; behind: \
the number of pools on which that interval lies below −0.5 points. reach: the median over pools of the question at which \
the mean curve is where that of the reference ends; in half: on how many of the pools that can tell at most half of the \
questions suffice. clusters and balanced: share of clusters met and class-balanced accuracy, means over all questions. ECE \
and Brier: after 50 questions. ms: for asking and telling, matches sharing the cores.";

/// How many contestants have a column in the table of pools.
const MAX_CONTESTANT_COLUMNS: usize = 7;

/// Number of questions of results.
pub fn queries(results: &[PoolResult]) -> usize {
    let lengths = results
        .iter()
        .flat_map(|pool| &pool.entries)
        .map(|entry| entry.curve.mean.len());
    lengths.max().map_or(0, |length| length.saturating_sub(1))
}

/// Writes `league.md` into the folder of the results.
pub fn write_league(
    folder: &Path,
    tuned: &[PoolResult],
    aside: &[PoolResult],
) -> Result<PathBuf, LabError> {
    let file = folder.join("league.md");
    let text = filled(
        &template(),
        &Facts::read(&folder.join("results")),
        [tuned, aside],
        "",
    );
    write_whole(&file, |out| out.write_all(text.as_bytes()))?;
    Ok(file)
}

/// Makes or brings up to date the page of a folder of results.
///
/// # Errors
/// A page that cannot be read or written.
pub fn write_page(
    page: &Path,
    folder: &Path,
    tuned: &[PoolResult],
    aside: &[PoolResult],
) -> Result<(), LabError> {
    let before = match std::fs::read_to_string(page) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => template(),
        Err(error) => {
            let detail = format!(
                "{}: {error}. Nothing was changed. Choose another --page.",
                page.display()
            );
            return Err(LabError::storage(detail));
        }
    };
    let beside = page.parent().unwrap_or(Path::new(""));
    let link = folder
        .strip_prefix(beside)
        .unwrap_or(folder)
        .display()
        .to_string();
    let prefix = if link.is_empty() {
        link
    } else {
        format!("{link}/")
    };
    let text = filled(
        &before,
        &Facts::read(&folder.join("results")),
        [tuned, aside],
        &prefix,
    );
    write_whole(page, |out| out.write_all(text.as_bytes()))?;
    Ok(())
}

fn template() -> String {
    let part = |(name, title): &(&str, &str)| {
        format!("\n## {title}\n\n<!-- arena:{name} -->\n<!-- /arena:{name} -->\n")
    };
    format!(
        "# Accuracy per label\n{}",
        PAGE_PARTS.iter().map(part).collect::<String>()
    )
}

/// The page with its generated parts filled in.
fn filled(page: &str, facts: &[Facts], [tuned, aside]: [&[PoolResult]; 2], prefix: &str) -> String {
    let (league_of, asked) = (league(tuned), queries(tuned));
    let mut text = page.to_string();
    for (name, _) in PAGE_PARTS {
        let part = match name {
            "played" => played(tuned, aside, asked),
            "claims" if league_of.iter().all(|standing| standing.name != AUTO) => {
                format!("`{AUTO}` has not played.\n")
            }
            "claims" => [("tuning pools", tuned), ("held-out pools", aside)]
                .into_iter()
                .filter_map(|(on, results)| {
                    claims(results, &league(results), AUTO, asked).map(|table| (on, table))
                })
                .map(|(on, table)| {
                    captioned(&Table {
                        caption: format!("{}, on the {on}.", table.caption),
                        ..table
                    })
                })
                .joined("\n"),
            "league" => format!(
                "{}\n{HOW_TO_READ}\n",
                league_part("All tuning pools.", &league_of, asked)
            ),
            "held-out" if aside.is_empty() => "Not played.\n".into(),
            "held-out" => league_part("The held-out pools.", &league(aside), queries(aside)),
            "pools" => {
                let known = if facts.is_empty() {
                    String::new()
                } else {
                    captioned(&facts_table(facts)) + "\n"
                };
                known + &pools_part(tuned, aside, &league_of)
            }
            "overview" => overviews(aside, prefix),
            _ => tuned
                .iter()
                .chain(aside)
                .map(|pool| curves(pool, prefix))
                .joined("\n"),
        };
        text = replaced(&text, name, &part);
    }
    text
}

/// The text with what stands between the marks of a part replaced; unchanged without the marks.
fn replaced(text: &str, name: &str, part: &str) -> String {
    let (open, close) = (
        format!("<!-- arena:{name} -->"),
        format!("<!-- /arena:{name} -->"),
    );
    let found = text
        .split_once(&open)
        .and_then(|(before, rest)| Some((before, rest.split_once(&close)?.1)));
    match found {
        Some((before, after)) => format!("{before}{open}\n{}\n{close}{after}", part.trim_end()),
        None => text.to_string(),
    }
}

fn played(tuned: &[PoolResult], aside: &[PoolResult], queries: usize) -> String {
    let runs = tuned
        .iter()
        .chain(aside)
        .flat_map(|pool| &pool.entries)
        .map(|entry| entry.runs.len());
    let (fewest, most) = (
        runs.clone().min().unwrap_or(0),
        runs.clone().max().unwrap_or(0),
    );
    let seeds = if fewest == most {
        format!("{most}")
    } else {
        format!("{fewest} to {most}")
    };
    let can = silent(tuned);
    let mut text = format!(
        "{} pools to tune on and {} held out, {} contestants, {seeds} seeds, one initial label of each class, {queries} \
         questions. The reference is `{REFERENCE}`.\n",
        tuned.len(),
        aside.len(),
        league(tuned).len(),
    );
    if !can.is_empty() {
        text += &format!(
            "\nPools that cannot tell how many questions are saved (wrong answers, or the reference hardly rises in the \
             second half): {}.\n",
            can.join(", ")
        );
    }
    text
}

fn league_part(caption: &str, table: &[LeagueRow], queries: usize) -> String {
    captioned(&league_table(caption, table, queries))
}

fn pools_part(tuned: &[PoolResult], aside: &[PoolResult], table: &[LeagueRow]) -> String {
    let all: Vec<PoolResult> = tuned.iter().chain(aside).cloned().collect();
    let caption = "Area in per cent with its 95 % interval; bold: the best of all contestants, also of those without a column.";
    captioned(&pool_table(
        caption,
        &all,
        &columns(table, MAX_CONTESTANT_COLUMNS),
    ))
}

fn overviews(aside: &[PoolResult], prefix: &str) -> String {
    let picture =
        |stem: &str| format!("![Ratios of error areas to the reference]({prefix}{stem}.svg)\n");
    let mut text = picture("overview");
    if !aside.is_empty() {
        text += &format!("\n{}", picture("overview-held-out"));
    }
    text
}

fn curves(pool: &PoolResult, prefix: &str) -> String {
    format!(
        "![Curves of {0}]({prefix}{1}.svg)\n",
        pool.name,
        curves_stem(&pool.name)
    )
}

fn captioned(table: &Table) -> String {
    format!("{}\n\n{}", table.caption, markdown_table(table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_stays_and_parts_are_replaced() {
        let page =
            "# Mine\n\nWords.\n<!-- arena:league -->\nold\n<!-- /arena:league -->\nMore words.\n";
        let once = replaced(page, "league", "new\n");
        assert_eq!(
            once,
            "# Mine\n\nWords.\n<!-- arena:league -->\nnew\n<!-- /arena:league -->\nMore words.\n"
        );
        assert_eq!(replaced(&once, "league", "new"), once);
        assert_eq!(replaced("no marks", "league", "new"), "no marks");
        assert!(
            PAGE_PARTS
                .iter()
                .all(|(name, _)| template().contains(&format!("<!-- arena:{name} -->")))
        );
    }
}
