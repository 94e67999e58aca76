//! The arena: many pools, many methods, many seeds, and a league table of accuracy per label.
//!
//! ```text
//! pools x contestants x seeds -> matches (cells on disk) -> results (CSV per pool) -> league table, figures, page
//! ```
//!
//! [`pools`] says on what is played and [`contestants`] by whom; [`mod@matches`] plays and keeps cells, so that a killed run
//! goes on where it stopped; [`results`] boils them down to small files, which are enough to add seeds later, as long as
//! the settings are the same (`digests`); [`league`] compares.

pub mod contestants;
mod digests;
pub mod facts;
pub mod figures;
mod generated;
pub mod league;
pub mod matches;
mod overview;
pub mod page;
pub mod pools;
mod remembered;
pub mod results;
pub mod tables;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dial::Control;
use serde_json::json;

use crate::cells::{Cells, create};
use crate::error::LabError;
use contestants::Contestant;
use digests::Digests;
use facts::Facts;
use matches::Book;
use pools::ArenaPool;
use results::PoolResult;

/// What to play.
#[derive(Clone, Debug, PartialEq)]
pub struct ArenaOptions {
    /// On what.
    pub pools: Vec<ArenaPool>,
    /// By whom.
    pub contestants: Vec<Contestant>,
    /// Number of seeds, from 0.
    pub seeds: usize,
    /// Number of seeds of contestants that take long.
    pub slow_seeds: usize,
    /// Number of questions.
    pub queries: usize,
    /// Questions asked at once, where a contestant does not say so itself.
    pub batch: usize,
    /// Small versions of the generated pools.
    pub quick: bool,
    /// The folder of data.
    pub data: Option<PathBuf>,
    /// Where everything is written.
    pub folder: PathBuf,
    /// Whether matches that are there are played again.
    pub fresh: bool,
}

impl ArenaOptions {
    /// Where results are written.
    pub fn results(&self) -> PathBuf {
        self.folder.join("results")
    }
}

/// Refuses what cannot be done before anything is: pools whose files are missing, results of another kind.
pub fn check(settings: &ArenaOptions) -> Result<(), LabError> {
    let absent = |pool: &&ArenaPool| match &settings.data {
        Some(data) => pool.file(data).is_some_and(|file| !file.is_file()),
        None => !pool.source.generated(),
    };
    let missing: Vec<String> = settings
        .pools
        .iter()
        .filter(absent)
        .map(|pool| pool.name.to_string())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let detail = format!(
        "no data for {}. Nothing was done. Name the folder that holds `features`, `images` and `uci` with --data DIR or \
         DIAL_DATA, or choose others with --pools.",
        missing.join(", ")
    );
    Err(LabError::input("I5", detail))
}

/// A pool with the cells of everybody, what is known of earlier days, and the matches that are missing: a contestant's place
/// and a seed.
struct Schedule<'s> {
    pool: &'s ArenaPool,
    books: Vec<Book>,
    missing: Vec<(usize, usize)>,
    earlier: PoolResult,
    /// For each contestant, whether its earlier results are of the same settings.
    counts: Vec<bool>,
}

impl Schedule<'_> {
    /// Earlier results with what was played now, or is still there as a cell: a cell counts more than a row of results.
    fn result(&self, settings: &ArenaOptions) -> PoolResult {
        let mut replaced = Vec::new();
        let mut added = Vec::new();
        for ((one, book), counts) in settings
            .contestants
            .iter()
            .zip(&self.books)
            .zip(&self.counts)
        {
            let mut matches = book.all();
            let runs = self
                .earlier
                .entry(&one.name)
                .map_or(&[][..], |entry| &entry.runs);
            if !counts
                || runs
                    .iter()
                    .all(|run| matches.iter().any(|(seed, _)| *seed == run.seed))
            {
                replaced.push(one.name.as_str());
            } else {
                matches.retain(|(seed, _)| runs.iter().all(|run| run.seed != *seed));
            }
            added.push((one.name.clone(), one.judge().is_some(), matches));
        }
        let entries = results::entries(&added, &self.earlier.targets(settings.queries));
        let added = PoolResult {
            name: self.pool.name.to_string(),
            entries,
        };
        self.earlier
            .clone()
            .and(added, &|name| replaced.contains(&name))
    }
}

/// Plays what is missing and writes the results of every pool.
///
/// # Errors
/// A folder that holds results of other settings (R1), data that cannot be read, a method that fails, cancelled.
pub fn play(settings: &ArenaOptions, control: &Control) -> Result<(), LabError> {
    check(settings)?;
    let kind = json!({
        "queries": settings.queries,
        "batch": settings.batch,
        "quick": settings.quick,
    });
    Cells::open(settings.results(), &kind)?;
    let schedules = schedules(settings)?;
    let matches: usize = schedules
        .iter()
        .map(|schedule| schedule.missing.len())
        .sum();
    control.start(&format!("{matches} matches"), matches * settings.queries);
    let mut digests = Digests::read(&settings.results());
    for schedule in &schedules {
        let Schedule {
            pool,
            books,
            missing,
            ..
        } = schedule;
        if !missing.is_empty() {
            let ready = pool.open(settings.data.as_deref(), settings.quick)?;
            Facts::add(vec![Facts::of(pool, &ready)], &settings.results())?;
            matches::play(settings, pool, &ready, books, missing, control)?;
        }
        schedule.result(settings).write(&settings.results())?;
        for (one, book) in settings.contestants.iter().zip(books) {
            digests.put(pool.name, &one.name, book.digest);
        }
        digests.write(&settings.results())?;
    }
    control.finish();
    Ok(())
}

fn schedules(settings: &ArenaOptions) -> Result<Vec<Schedule<'_>>, LabError> {
    let digests = Digests::read(&settings.results());
    let mut fingerprints: BTreeMap<PathBuf, String> = BTreeMap::new();
    let mut schedules = Vec::new();
    for pool in &settings.pools {
        let fingerprint = match settings.data.as_ref().and_then(|data| pool.file(data)) {
            None => "generated".to_string(),
            Some(file) => match fingerprints.get(&file) {
                Some(known) => known.clone(),
                None => {
                    let fresh = dial_data::fingerprint(&file)?;
                    fingerprints.insert(file, fresh.clone());
                    fresh
                }
            },
        };
        let book = |contestant| Book::open(settings, pool, &fingerprint, contestant);
        let books: Vec<Book> = settings
            .contestants
            .iter()
            .map(book)
            .collect::<Result<_, _>>()?;
        let plays = |place: usize, seed: usize| {
            seed < if settings.contestants[place].slow() {
                settings.slow_seeds
            } else {
                settings.seeds
            }
        };
        let pairs =
            (0..settings.seeds).flat_map(|seed| (0..books.len()).map(move |place| (place, seed)));
        let pairs = pairs.filter(|&(place, seed)| plays(place, seed));
        let earlier = earlier(settings, pool)?;
        let same = |(one, book): (&Contestant, &Book)| {
            !settings.fresh && digests.same(pool.name, &one.name, book.digest)
        };
        let counts: Vec<bool> = settings.contestants.iter().zip(&books).map(same).collect();
        let known = |place: usize, seed: usize| {
            counts[place]
                && earlier
                    .entry(&settings.contestants[place].name)
                    .is_some_and(|entry| entry.has(seed))
        };
        let there =
            |place: usize, seed: usize| books[place].get(seed).is_some() || known(place, seed);
        let missing = pairs
            .filter(|&(place, seed)| settings.fresh || !there(place, seed))
            .collect();
        schedules.push(Schedule {
            pool,
            books,
            missing,
            earlier,
            counts,
        });
    }
    Ok(schedules)
}

/// What the results say about a pool.
fn earlier(settings: &ArenaOptions, pool: &ArenaPool) -> Result<PoolResult, LabError> {
    let file = settings.results().join(format!("{}.csv", pool.name));
    match PoolResult::read(&settings.results(), pool.name) {
        None if file.is_file() => Err(LabError::conflict(format!(
            "{} cannot be read, perhaps it is of another version. Nothing was changed. Remove it and name all contestants \
             again: their matches are kept.",
            file.display()
        ))),
        found => Ok(found.unwrap_or(PoolResult {
            name: pool.name.to_string(),
            entries: Vec::new(),
        })),
    }
}

/// The results of all pools in a folder, in the order of the list: those tuned on, and those held out.
pub fn read(folder: &Path) -> [Vec<PoolResult>; 2] {
    let of = |held_out: bool| {
        let wanted = pools::all()
            .into_iter()
            .filter(|pool| pool.held_out == held_out);
        wanted
            .filter_map(|pool| PoolResult::read(folder, pool.name))
            .collect()
    };
    [of(false), of(true)]
}

/// Makes the league tables and figures of a folder from its results; returns the files.
pub fn publish(folder: &Path) -> Result<Vec<PathBuf>, LabError> {
    create(folder)?;
    let [tuned, aside] = read(&folder.join("results"));
    let mut files = Vec::new();
    for (stem, results) in [("league", &tuned), ("league-held-out", &aside)] {
        if !results.is_empty() {
            files.push(tables::tidy(stem, &league::league(results)).write(folder)?);
        }
    }
    let both: Vec<&PoolResult> = tuned.iter().chain(&aside).collect();
    files.push(tables::differences(&both).write(folder)?);
    for drawn in figures::all(&tuned, &aside) {
        files.extend(drawn.write(folder)?);
    }
    files.push(page::write_league(folder, &tuned, &aside)?);
    Ok(files)
}
