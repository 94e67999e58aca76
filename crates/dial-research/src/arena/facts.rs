//! What the pools are: sizes, classes and clusters, kept beside the results so that a page needs no data.

use std::path::Path;

use dial_data::write::{Cell, write_csv};

use super::pools::{self, ArenaPool, Ready};
use super::results::read_table;
use crate::error::LabError;
use dial_plot::report::Table;

/// What is kept of a pool.
const FACTS_HEADER: [&str; 8] = [
    "pool",
    "items",
    "dimensions",
    "classes",
    "rarest_class",
    "clusters",
    "metric",
    "wrong_answers",
];

/// A pool in a few words, in the order of the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts(Vec<String>);

impl Facts {
    /// The facts of a pool.
    pub fn of(pool: &ArenaPool, ready: &Ready) -> Facts {
        let (items, classes) = (ready.truth.classes.len(), ready.truth.names.len());
        let size = |class: usize| {
            ready
                .truth
                .classes
                .iter()
                .flatten()
                .filter(|of| of.index() == class)
                .count()
        };
        let rarest = (0..classes).map(size).min().unwrap_or(0);
        let numbers = [
            items,
            ready.pool.matrix.dim,
            classes,
            rarest,
            ready.clusters,
        ]
        .map(|number| number.to_string());
        let noise = format!("{} %", 100.0 * pool.noise);
        Facts(
            [
                vec![pool.name.to_string()],
                numbers.to_vec(),
                vec![ready.metric.to_string(), noise],
            ]
            .concat(),
        )
    }

    /// The facts in a folder of results.
    pub fn read(folder: &Path) -> Vec<Facts> {
        let found = read_table(&folder.join("pools.csv"))
            .filter(|(header, _)| header.iter().eq(FACTS_HEADER.iter()));
        found
            .map(|(_, rows)| rows.into_iter().map(Facts).collect())
            .unwrap_or_default()
    }

    /// Adds facts to those in a folder, in the order of the list of pools.
    pub fn add(fresh: Vec<Facts>, folder: &Path) -> Result<(), LabError> {
        if fresh.is_empty() {
            return Ok(());
        }
        let mut all = Facts::read(folder);
        all.retain(|known| fresh.iter().all(|facts| facts.0[0] != known.0[0]));
        all.extend(fresh);
        let names: Vec<&str> = pools::all().iter().map(|pool| pool.name).collect();
        all.sort_by_key(|facts| names.iter().position(|name| *name == facts.0[0]));
        let rows = all
            .into_iter()
            .map(|facts| facts.0.into_iter().map(Cell::Text).collect());
        Ok(write_csv(&folder.join("pools.csv"), &FACTS_HEADER, rows)?)
    }
}

/// The pools for people.
pub fn facts_table(facts: &[Facts]) -> Table {
    let header = FACTS_HEADER.join(" | ").replace('_', " ");
    let table = Table::new(
        "The pools.",
        &header,
        facts.iter().map(|facts| facts.0.clone()),
    );
    Table {
        numeric: (0..FACTS_HEADER.len())
            .map(|column| ![0, 6].contains(&column))
            .collect(),
        ..table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_added_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let of = |name: &str| {
            let pool = pools::all()
                .into_iter()
                .find(|pool| pool.name == name)
                .unwrap();
            Facts::of(&pool, &pool.open(None, true).unwrap())
        };
        Facts::add(vec![of("moons")], folder.path()).unwrap();
        Facts::add(vec![of("digits"), of("moons")], folder.path()).unwrap();
        assert_eq!(Facts::read(folder.path()), [of("digits"), of("moons")]);
        assert_eq!(
            of("moons").0,
            ["moons", "300", "2", "3", "100", "12", "euclidean", "0 %"]
        );
        assert_eq!(facts_table(&[of("moons")]).header[4], "rarest class");
    }
}
