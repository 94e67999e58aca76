//! Which settings the results of a contestant on a pool were played with: results of other settings do not count as played.

use std::collections::BTreeMap;
use std::path::Path;

use dial_data::write::{Cell, write_csv};

use super::results::read_table;
use crate::error::LabError;

const DIGESTS_FILE: &str = "digests.csv";
const DIGESTS_HEADER: [&str; 3] = ["pool", "contestant", "digest"];

/// A digest for every pool and contestant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Digests(BTreeMap<(String, String), String>);

impl Digests {
    /// Those of a folder of results; what cannot be read is unknown.
    pub fn read(folder: &Path) -> Digests {
        let rows = read_table(&folder.join(DIGESTS_FILE))
            .filter(|(header, _)| header.iter().eq(DIGESTS_HEADER.iter()));
        let one = |row: Vec<String>| {
            let [pool, contestant, digest] = row.try_into().ok()?;
            Some(((pool, contestant), digest))
        };
        Digests(rows.map_or_else(BTreeMap::new, |(_, rows)| {
            rows.into_iter().filter_map(one).collect()
        }))
    }

    /// Whether the results of a contestant on a pool are of these settings.
    pub fn same(&self, pool: &str, contestant: &str, digest: u32) -> bool {
        self.0
            .get(&(pool.to_string(), contestant.to_string()))
            .is_some_and(|known| *known == word(digest))
    }

    /// Notes the settings of a contestant on a pool.
    pub fn put(&mut self, pool: &str, contestant: &str, digest: u32) {
        self.0
            .insert((pool.to_string(), contestant.to_string()), word(digest));
    }

    /// Writes them into a folder of results.
    ///
    /// # Errors
    /// What the disk says.
    pub fn write(&self, folder: &Path) -> Result<(), LabError> {
        let row = |((pool, contestant), digest): (&(String, String), &String)| {
            [pool, contestant, digest]
                .map(|cell| Cell::Text(cell.clone()))
                .to_vec()
        };
        Ok(write_csv(
            &folder.join(DIGESTS_FILE),
            &DIGESTS_HEADER,
            self.0.iter().map(row),
        )?)
    }
}

/// The digest as it stands in names of folders.
pub fn word(digest: u32) -> String {
    format!("{digest:08x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_settings_are_not_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let mut digests = Digests::read(folder.path());
        assert!(!digests.same("moons", "auto", 7));
        digests.put("moons", "auto", 7);
        digests.put("moons", "margin", 8);
        digests.write(folder.path()).unwrap();
        let back = Digests::read(folder.path());
        assert_eq!(back, digests);
        assert!(
            back.same("moons", "auto", 7)
                && !back.same("moons", "auto", 8)
                && !back.same("scene", "auto", 7)
        );
    }
}
