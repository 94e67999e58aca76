//! A power cut (fault S2): what was not synced is dropped, wholly or sector by sector. Nothing acknowledged is lost; with
//! a sync only now and then, which is the control, much is.

use std::path::Path;

use dial::seed::{Purpose, Random};
use dial_store::Journal;

use crate::common::count;
use crate::kill::Victim;
use crate::power::{CUTS, shim};

/// What came of many cuts.
struct Toll {
    acked: u64,
    lost: u64,
}

/// Cuts the power of one writer after the other.
fn cut_again_and_again(journal: Journal, cuts: u64, seed: u64, shim: &Path) -> Toll {
    let mut victim = Victim::new(seed, journal);
    let mut random = Random::new(seed, Purpose::User, 1);
    let mut toll = Toll { acked: 0, lost: 0 };
    for round in 0..cuts {
        victim.disk.settle();
        let watching = victim.disk.watching(shim);
        let watching: Vec<_> = watching
            .iter()
            .map(|(name, path)| (*name, path.as_path()))
            .collect();
        let life = victim.live(&mut random, &watching);
        // The project and its folder were there before: the names of its files and their bytes may be lost.
        victim
            .disk
            .cut(CUTS[round as usize % CUTS.len()], &mut random);
        let stored = victim.look(&life);
        toll.acked += life.acked - victim.stored;
        toll.lost += life.acked.saturating_sub(stored);
        victim.stored = stored;
    }
    println!(
        "{journal:?}: {cuts} power cuts, {} acknowledged, {} lost",
        toll.acked, toll.lost
    );
    toll
}

fn expect(journal: Journal, cuts: u64, seed: u64, may_lose: bool) {
    let Some(shim) = shim() else {
        println!("SKIPPED: power cuts need Linux and a C compiler (cc)");
        return;
    };
    let toll = cut_again_and_again(journal, cuts, seed, shim);
    assert_eq!(
        toll.lost > 0,
        may_lose,
        "{journal:?}: {} of {} lost",
        toll.lost,
        toll.acked
    );
}

#[test]
fn a_power_cut_loses_nothing_that_was_acknowledged() {
    expect(Journal::Wal, count("DIAL_CUTS", 16), 21, false);
}

#[test]
fn a_power_cut_loses_nothing_with_a_rollback_journal() {
    expect(
        Journal::Rollback,
        count("DIAL_CUTS", 16).div_ceil(2),
        22,
        false,
    );
}

/// If this loses nothing, the two tests above prove nothing.
#[test]
fn the_same_cuts_lose_labels_where_commits_are_not_synced() {
    expect(
        Journal::Unsafe,
        count("DIAL_CUTS", 16).div_ceil(2),
        23,
        true,
    );
}
