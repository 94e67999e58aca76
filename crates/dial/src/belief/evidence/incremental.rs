//! The classes kept by local solves: one estimate and one residual for all labels of a class together.
//!
//! ```text
//! exact evidence of class c   Σ_l w_l K(l, ·)  =  X_c + G R_c        (up to normalisers and shifts, see `local`)
//! a label (l, w) of class c   X_c += w x_l,  R_c += w r_l  (its column, pushed beforehand), then push R_c until |R_c| <= ρ
//! ```
//!
//! So the residual part of the error is ρ/τ = δ however many labels a class has, and a label costs what it touches.
//!
//! A class is a function of its terms in the order of their events, as in `dense`: incremental equals replay, bit for
//! bit. What a label overwrote is kept for the newest ones, so that taking one back puts the old numbers back; older ones
//! are taken back by summing the class again. Columns are a cache here too, and sparse.
//!
//! Unlike the sums of `dense`, X_c says nothing where no push arrived. [`Merged::belief`] adds G R_c, solved globally for
//! all classes at once: the evidence everywhere, for predictions.

use std::collections::VecDeque;
use std::sync::Arc;

use rayon::prelude::*;

use crate::belief::evidence::ledger::{ColumnCache, Ledger};
use crate::belief::field::{DirichletField, Term};
use crate::control::Control;
use crate::error::Result;
use crate::ids::{ClassId, NodeId};
use crate::linalg::cg::Stop;
use crate::linalg::local::{Bound, LocalSolver, SparseColumn};
use crate::linalg::push::Pusher;
use crate::propagation::Propagation;

/// The field and what it is made of.
pub(crate) struct Merged<'a> {
    propagation: Arc<dyn Propagation + 'a>,
    ledger: Ledger,
    sums: Vec<ClassSum>,
    /// δ: what the residual part of the error of a class may be.
    tolerance: f64,
    cache: ColumnCache<SparseColumn>,
    pusher: Pusher,
    /// Labels taken in so far, and places remembered for taking them back.
    count: u64,
    remembered: usize,
    /// Nodes whose evidence changed; `None`: any.
    changed: Option<Vec<NodeId>>,
}

/// What is kept of a class beside its estimate, which is a plane of the field.
struct ClassSum {
    /// R, by place.
    residual: Vec<f64>,
    /// The parts of the bound that labels bring along: everything but the residual.
    bound: Bound,
    /// The newest labels, to take them back.
    steps: VecDeque<Step>,
}

/// What a label overwrote: estimate and residual of the places it met.
struct Step {
    number: u64,
    bound: Bound,
    before: Vec<(u32, f64, f64)>,
}

/// Columns that are solved at a time, and the places that the cache holds (24 bytes each).
const COLUMNS_PER_SOLVE: usize = 16;
const MAX_CACHED_VALUES: usize = 2 << 20;

impl<'a> Merged<'a> {
    /// No classes yet. The propagation must have a local solver.
    pub(crate) fn new(
        propagation: Arc<dyn Propagation + 'a>,
        columns_kept: usize,
        prior_strength: f64,
    ) -> Merged<'a> {
        let n = propagation.n();
        let tolerance = propagation
            .local()
            .expect("a propagation with a local solver")
            .tolerance(prior_strength);
        Merged {
            propagation,
            ledger: Ledger::new(n, prior_strength),
            sums: Vec::new(),
            tolerance,
            cache: ColumnCache::new(columns_kept.min(4 * COLUMNS_PER_SOLVE)),
            pusher: Pusher::new(n),
            count: 0,
            remembered: 0,
            changed: None,
        }
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The nodes whose evidence changed since this was last asked; `None`: any may have.
    pub(crate) fn take_changed(&mut self) -> Option<Vec<NodeId>> {
        self.changed.replace(Vec::new())
    }

    /// The bound on the evidence of a class.
    pub(crate) fn bound(&self, plane: usize) -> Bound {
        let bound = self.sums[plane].bound;
        Bound {
            absolute: bound.absolute + self.tolerance,
            ..bound
        }
    }

    /// Brings the field to these classes and terms, or leaves it as it was.
    pub(crate) fn follow(
        &mut self,
        classes: &[ClassId],
        terms: &[Vec<Term>],
        control: &Control,
    ) -> Result<()> {
        let before = (self.ledger.classes.clone(), self.ledger.terms.clone());
        let went = self.go_to(classes, terms, control);
        if went.is_err() {
            self.go_to(&before.0, &before.1, &Control::new())
                .expect("what was reached before can be reached again");
        }
        went
    }

    fn go_to(&mut self, classes: &[ClassId], terms: &[Vec<Term>], control: &Control) -> Result<()> {
        if !classes.starts_with(&self.ledger.classes) {
            (0..self.sums.len()).for_each(|plane| self.forget(plane));
        }
        if classes != self.ledger.classes {
            self.changed = None;
            let empty = || ClassSum {
                residual: vec![0.0; self.propagation.n()],
                bound: Bound::default(),
                steps: VecDeque::new(),
            };
            self.sums.resize_with(classes.len(), empty);
            self.ledger.resize(classes);
        }
        for (plane, terms) in terms.iter().enumerate() {
            self.rewind(plane, self.ledger.common(plane, terms));
            for block in terms[self.ledger.terms[plane].len()..].chunks(COLUMNS_PER_SOLVE) {
                self.fetch(block, control)?;
                block.iter().for_each(|&term| self.add(plane, term));
            }
        }
        self.cache.trim();
        Ok(())
    }

    /// Puts a class back to its first `count` terms, or to fewer if that is how far the memory reaches.
    fn rewind(&mut self, plane: usize, count: usize) {
        if self.ledger.terms[plane].len() - count > self.sums[plane].steps.len() {
            self.forget(plane);
        }
        while self.ledger.terms[plane].len() > count {
            let step = self.sums[plane]
                .steps
                .pop_back()
                .expect("as many steps as terms to take back");
            self.ledger.terms[plane].pop();
            self.remembered -= step.before.len();
            self.sums[plane].bound = step.bound;
            for (place, estimate, residual) in step.before {
                self.sums[plane].residual[place as usize] = residual;
                let node = self.local().graph().node(place as usize);
                self.ledger.field.set_at(plane, node, estimate);
                self.changed.iter_mut().for_each(|nodes| nodes.push(node));
            }
        }
    }

    /// Puts a class back to nothing.
    fn forget(&mut self, plane: usize) {
        if self.ledger.terms[plane].is_empty() {
            return;
        }
        let sum = &mut self.sums[plane];
        self.remembered -= sum
            .steps
            .iter()
            .map(|step| step.before.len())
            .sum::<usize>();
        (sum.bound, sum.steps) = (Bound::default(), VecDeque::new());
        sum.residual = vec![0.0; self.propagation.n()];
        self.ledger.terms[plane].clear();
        self.ledger.field.clear(plane);
        self.changed = None;
    }

    /// Adds one label, whose column is known.
    fn add(&mut self, plane: usize, (node, weight): Term) {
        let column = self.cache.column(node);
        let local = self
            .propagation
            .local()
            .expect("a propagation with a local solver");
        let rho = self.tolerance * local.tau();
        let ClassSum {
            residual,
            bound,
            steps,
        } = &mut self.sums[plane];
        for (&place, &(x, r)) in column.places.iter().zip(&column.values) {
            self.pusher
                .add(residual, place, (weight * x, weight * r), rho);
        }
        self.pusher.run(&local.global().operator(), rho, residual);
        let mut before = Vec::with_capacity(self.pusher.met().len());
        let old_bound = *bound;
        let visited = self.pusher.drain(|place, step, residual| {
            let node = local.graph().node(place as usize);
            let estimate = self.ledger.field.plane(plane)[node.index()];
            before.push((place, estimate, residual));
            if step != 0.0 {
                self.ledger.field.set_at(plane, node, estimate + step);
                self.changed.iter_mut().for_each(|nodes| nodes.push(node));
            }
        });
        bound.absolute += weight * column.bound.absolute + local.rounding(visited);
        bound.relative = bound.relative.max(column.bound.relative);
        self.remembered += before.len();
        steps.push_back(Step {
            number: self.count,
            bound: old_bound,
            before,
        });
        self.count += 1;
        self.ledger.terms[plane].push((node, weight));
        self.trim_steps();
    }

    /// Drops the oldest memories beyond the number to keep.
    fn trim_steps(&mut self) {
        while self.remembered > MAX_CACHED_VALUES {
            let oldest =
                |sum: &&mut ClassSum| sum.steps.front().map_or(u64::MAX, |step| step.number);
            let sum = self
                .sums
                .iter_mut()
                .min_by_key(oldest)
                .expect("the cache keeps a column that is in use");
            self.remembered -= sum.steps.pop_front().map_or(0, |step| step.before.len());
        }
    }

    fn local(&self) -> &LocalSolver {
        self.propagation
            .local()
            .expect("a propagation with a local solver")
    }

    /// Makes the column of a node, ahead of its label.
    pub(crate) fn prepare(&mut self, node: NodeId, control: &Control) -> Result<()> {
        self.fetch(&[(node, 1.0)], control)?;
        self.cache.trim();
        Ok(())
    }

    /// Makes the columns of these terms that are not there.
    fn fetch(&mut self, terms: &[Term], control: &Control) -> Result<()> {
        let local = self
            .propagation
            .local()
            .expect("a propagation with a local solver");
        let rho = self.tolerance * local.tau();
        let make = |&node: &NodeId| local.sparse_column(node, rho, control);
        self.cache.fetch(terms, |missing| match missing {
            [only] => Ok(vec![make(only)?]),
            many => many.par_iter().map(make).collect(),
        })
    }

    /// The evidence everywhere: X_c + G R_c for every class, solved to a residual of 1e-9.
    pub(crate) fn belief(&self, control: &Control) -> Result<DirichletField> {
        let mut field = self.ledger.field.clone();
        let local = self.local();
        let planes: Vec<usize> = (0..self.sums.len())
            .filter(|&plane| !self.ledger.terms[plane].is_empty())
            .collect();
        let b = |side: usize, place: usize| self.sums[planes[side]].residual[place];
        let order = &*local.graph().parts().order;
        let (global, stop) = (local.global(), Stop::default());
        global.solve(planes.len(), b, stop, control, |side, _, rest| {
            let plane = planes[side];
            for (&node, rest) in order.iter().zip(rest) {
                let evidence = self.ledger.field.plane(plane)[node as usize] + rest;
                // The exact evidence is not negative.
                field.set_at(plane, NodeId(node), evidence.max(0.0));
            }
        })?;
        Ok(field)
    }
}
