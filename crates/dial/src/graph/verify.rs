//! What must hold for a compact graph whose arrays come from elsewhere, such as a file.
//!
//! ```text
//! starts ascend;  rows ascend, without loops;  0 < ŵ_ij = ŵ_ji < ∞;  d_i = Σ_j ŵ_ij, bit for bit
//! order and rank are inverse to each other;  components are what a walk finds
//! ```
//!
//! That no array leads outside another is checked when a graph is made of them ([`PackedGraph::from_parts`]); this is
//! the rest, and takes a look-up for every entry.

use rayon::prelude::*;

use crate::blocks::NODES_PER_CHUNK;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::graph::adjacency::{Adjacency, components};
use crate::graph::packed::{PackedGraph, is_edge, row_sum};

impl PackedGraph {
    /// Checks everything that the constructors from graphs and lists guarantee.
    ///
    /// # Errors
    /// The first place where something does not hold (I13); cancelled.
    pub fn verify(&self, control: &Control) -> Result<()> {
        let n = self.n();
        control.start("verifying the graph", n);
        (0..n.div_ceil(NODES_PER_CHUNK))
            .into_par_iter()
            .try_for_each(|chunk| {
                let places = chunk * NODES_PER_CHUNK..((chunk + 1) * NODES_PER_CHUNK).min(n);
                let bad = places
                    .clone()
                    .find_map(|place| self.fault_at(place).map(|what| (place, what)));
                match bad {
                    Some((place, what)) => Err(Error::BadGraph(format!("place {place}: {what}"))),
                    None => control.advance(places.len()),
                }
            })?;
        let parts = self.parts();
        let (component, sizes) = components(&parts.starts, &parts.neighbours);
        control.finish();
        let known = parts.component_sizes.iter().map(|&size| size as usize);
        match component[..] == parts.component[..] && known.eq(sizes) {
            true => Ok(()),
            false => Err(Error::BadGraph(
                "its components are not those of its edges".into(),
            )),
        }
    }

    fn fault_at(&self, place: usize) -> Option<&'static str> {
        let parts = self.parts();
        let rows = self.rows();
        let (neighbours, weights) = rows.row(place);
        if parts.rank[parts.order[place] as usize] as usize != place {
            return Some("order and rank do not fit");
        }
        if !neighbours.is_sorted_by(|a, b| a < b) {
            return Some("neighbours that are not in ascending order");
        }
        if !weights
            .iter()
            .all(|&weight| is_edge(weight) && weight.is_finite())
        {
            return Some("a weight that is not a positive number");
        }
        if neighbours.contains(&(place as u32)) {
            return Some("a loop");
        }
        if !rows.is_symmetric_at(place) {
            return Some("an edge whose other direction is missing or weighs something else");
        }
        let ends = [parts.starts[place], parts.starts[place + 1]];
        (row_sum(&parts.weights, &ends).to_bits() != parts.degrees[place].to_bits())
            .then_some("a degree that is not the sum of its row")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use crate::graph::packed::{Parts, Slab};

    fn path() -> PackedGraph {
        PackedGraph::new(
            &Graph::from_edges(5, &[(0, 1, 0.5), (1, 2, 0.25), (2, 3, 0.125)]).unwrap(),
        )
    }

    /// The path with one array changed.
    fn broken(change: impl Fn(&mut Parts)) -> Result<()> {
        let mut parts = path().parts().clone();
        change(&mut parts);
        PackedGraph::from_parts(parts)?.verify(&Control::new())
    }

    fn edit<T: Copy + Send + Sync + 'static>(slab: &mut Slab<T>, change: impl Fn(&mut [T])) {
        let mut values = slab.to_vec();
        change(&mut values);
        *slab = values.into();
    }

    #[test]
    fn what_we_make_is_sound_and_every_change_is_found() {
        assert_eq!(broken(|_| ()), Ok(()));
        let changes: [&dyn Fn(&mut Parts); 12] = [
            &|parts| edit(&mut parts.starts, |v| v.swap(1, 2)),
            &|parts| edit(&mut parts.starts, |v| v[1] = u64::MAX),
            &|parts| edit(&mut parts.starts, |v| v[0] = 1),
            &|parts| edit(&mut parts.neighbours, |v| v[0] = u32::MAX),
            &|parts| edit(&mut parts.neighbours, |v| v[0] = 5),
            &|parts| edit(&mut parts.weights, |v| v[0] *= 2.0),
            &|parts| edit(&mut parts.weights, |v| v.fill(f32::NAN)),
            &|parts| edit(&mut parts.degrees, |v| v[1] += 1e-9),
            &|parts| edit(&mut parts.order, |v| v.swap(0, 1)),
            &|parts| edit(&mut parts.rank, |v| v[0] = 7),
            &|parts| edit(&mut parts.component, |v| v[0] = 9),
            &|parts| edit(&mut parts.component_sizes, |v| v.reverse()),
        ];
        for (number, change) in changes.iter().enumerate() {
            assert!(
                matches!(broken(change), Err(Error::BadGraph(_))),
                "change {number}"
            );
        }
    }
}
