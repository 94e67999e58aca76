//! Columns of a propagation, solved for once and shared by all matches of a pool.
//!
//! The bits of a column depend on graph, τ and source alone, so a match that takes one from here asks what it would have
//! asked. So that its times are those of a match played alone, every column that is taken is charged with the time its
//! solve took: the clock of a match is its own time plus these charges.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use dial::propagation::Column;
use dial::{Control, NodeId, Propagation, Result};

/// The most bytes of columns that are kept for all propagations of a pool.
const MAX_COLUMN_BYTES: usize = 240 << 20;

/// The bytes that columns may still take.
pub struct Room(AtomicUsize);

impl Default for Room {
    fn default() -> Room {
        Room(AtomicUsize::new(MAX_COLUMN_BYTES))
    }
}

impl Room {
    /// Reserves bytes, if that many are free.
    fn take(&self, bytes: usize) -> bool {
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(bytes)
            })
            .is_ok()
    }
}

/// A propagation with columns that were solved for before.
pub struct Remembered<'a> {
    propagation: Arc<dyn Propagation + 'a>,
    /// The column of every node and the nanoseconds it took, where there was room.
    columns: Vec<OnceLock<(Column, u64)>>,
    room: Arc<Room>,
}

impl<'a> Remembered<'a> {
    /// Nothing remembered yet.
    pub fn new(propagation: Arc<dyn Propagation + 'a>, room: Arc<Room>) -> Remembered<'a> {
        Remembered {
            columns: (0..propagation.n()).map(|_| OnceLock::new()).collect(),
            propagation,
            room,
        }
    }

    /// The room it shares with others.
    pub fn room(&self) -> Arc<Room> {
        Arc::clone(&self.room)
    }

    fn solve(&self, source: NodeId, control: &Control) -> Result<(Column, u64)> {
        let start = Instant::now();
        let column = self.propagation.columns(&[source], control)?.remove(0);
        Ok((column, start.elapsed().as_nanos() as u64))
    }
}

/// The columns as one match sees them, with the time it owes.
pub struct Lent<'a> {
    from: Arc<Remembered<'a>>,
    owed: Arc<AtomicU64>,
}

impl<'a> Lent<'a> {
    /// For one match.
    pub fn new(from: Arc<Remembered<'a>>) -> Lent<'a> {
        Lent {
            from,
            owed: Arc::default(),
        }
    }

    /// What the solves took that this match did not do itself.
    pub fn owed(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.owed)
    }
}

impl Propagation for Lent<'_> {
    fn n(&self) -> usize {
        self.from.propagation.n()
    }

    fn columns(&self, sources: &[NodeId], control: &Control) -> Result<Vec<Column>> {
        let one = |source: &NodeId| {
            let place = &self.from.columns[source.index()];
            if let Some((column, nanoseconds)) = place.get() {
                self.owed.fetch_add(*nanoseconds, Ordering::Relaxed);
                return Ok(Arc::clone(column));
            }
            // Outside any lock: two matches may solve for the same column, and get the same bits.
            let (column, nanoseconds) = self.from.solve(*source, control)?;
            if self.from.room.take(8 * column.len()) {
                place.get_or_init(|| (Arc::clone(&column), nanoseconds));
            }
            Ok(column)
        };
        sources.iter().map(one).collect()
    }

    fn raw_columns(&self, sources: &[NodeId], control: &Control) -> Result<Vec<Column>> {
        self.from.propagation.raw_columns(sources, control)
    }

    fn spread(&self, values: &[f64], control: &Control) -> Result<Option<Vec<f64>>> {
        self.from.propagation.spread(values, control)
    }

    fn inverse_diagonal(&self, control: &Control) -> Result<Option<Vec<f64>>> {
        self.from.propagation.inverse_diagonal(control)
    }

    fn source_value(&self) -> f64 {
        self.from.propagation.source_value()
    }

    fn reaches(&self, source: NodeId, node: NodeId) -> bool {
        self.from.propagation.reaches(source, node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dial::{Config, Engine, Features};

    #[test]
    fn columns_have_the_same_bits_and_are_charged() {
        let x: Vec<f64> = (0..60).map(|i| f64::from(i * i % 17)).collect();
        let (features, control) = (Features::f64(&x, 60, 1).unwrap(), Control::new());
        let config = Config {
            k: 5,
            ..Config::paper()
        };
        let poisson = Engine::build(features, &config, &control)
            .unwrap()
            .propagation;
        let remembered = Arc::new(Remembered::new(Arc::clone(&poisson), Arc::default()));
        let sources = [3, 17, 3].map(NodeId);
        let plain = poisson.columns(&sources, &control).unwrap();
        let (first, second) = (Lent::new(Arc::clone(&remembered)), Lent::new(remembered));
        assert_eq!(first.columns(&sources[..2], &control).unwrap(), plain[..2]);
        assert_eq!(
            first.owed().load(Ordering::Relaxed),
            0,
            "it solved for both itself"
        );
        assert_eq!(second.columns(&sources, &control).unwrap(), plain);
        assert!(second.owed().load(Ordering::Relaxed) > 0);
        assert_eq!(second.n(), 60);
        let full = Arc::new(Room(AtomicUsize::new(8 * 60)));
        let small = Lent::new(Arc::new(Remembered::new(poisson, Arc::clone(&full))));
        assert_eq!(small.columns(&sources, &control).unwrap(), plain);
        assert_eq!(
            small
                .from
                .columns
                .iter()
                .filter(|place| place.get().is_some())
                .count(),
            1,
            "no room for two"
        );
    }
}
