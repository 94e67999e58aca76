//! States that are kept up label by label, as a cache between questions.
//!
//! A state is a function of the list of labels applied to it, in order. Whoever asks with a list gets the state with the
//! longest list that begins it, and adds what is missing; without one the caller starts from nothing. Since applying a label is
//! deterministic, the bits depend on the list only, never on what was in the cache. Several sessions may share a cache:
//! each takes its state out while it works on it.

use std::sync::{Mutex, MutexGuard};

use dial::ids::NodeId;

/// States kept at most; beyond that the one that was used longest ago goes.
const MAX_STATES: usize = 16;

/// A few states with the labels applied to each, the latest used last.
#[derive(Debug)]
pub(crate) struct States<S>(Mutex<Vec<(Vec<NodeId>, S)>>);

impl<S> Default for States<S> {
    fn default() -> States<S> {
        States(Mutex::default())
    }
}

impl<S> States<S> {
    /// Takes out the state that has got furthest along `order`, and how many labels of it are applied.
    pub(crate) fn take(&self, order: &[NodeId]) -> Option<(usize, S)> {
        let mut kept = self.kept();
        let fitting = kept
            .iter()
            .enumerate()
            .filter(|(_, (applied, _))| order.starts_with(applied));
        let (place, _) = fitting.max_by_key(|(_, (applied, _))| applied.len())?;
        let (applied, state) = kept.remove(place);
        Some((applied.len(), state))
    }

    /// Keeps a state to which all of `order` is applied.
    pub(crate) fn put(&self, order: &[NodeId], state: S) {
        let mut kept = self.kept();
        if kept.len() == MAX_STATES {
            kept.remove(0);
        }
        kept.push((order.to_vec(), state));
    }

    fn kept(&self) -> MutexGuard<'_, Vec<(Vec<NodeId>, S)>> {
        self.0
            .lock()
            .expect("nothing panics while it holds the states")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(nodes: &[u32]) -> Vec<NodeId> {
        nodes.iter().copied().map(NodeId).collect()
    }

    #[test]
    fn the_longest_list_that_begins_the_order_is_taken_and_the_oldest_dropped() {
        let states = States::default();
        states.put(&order(&[1]), "one");
        states.put(&order(&[1, 2, 3]), "three");
        states.put(&order(&[1, 3]), "another");
        states.put(&order(&[1, 2, 3, 4, 5]), "too far");
        assert_eq!(states.take(&order(&[1, 2, 3, 4])), Some((3, "three")));
        assert_eq!(states.take(&order(&[1, 2, 3, 4])), Some((1, "one")));
        assert_eq!(states.take(&order(&[1, 2, 3, 4])), None);
        for label in 0..MAX_STATES as u32 {
            states.put(&order(&[7, label]), "filler");
        }
        assert_eq!(states.take(&order(&[1, 3])), None);
        assert_eq!(states.kept().len(), MAX_STATES);
    }
}
