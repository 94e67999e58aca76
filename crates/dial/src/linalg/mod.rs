//! Solvers of (L + τ I) g = e_l, and the spectrum of L.
//!
//! ```text
//! cg             global, any LinearOperator   conjugate gradients over all of a graph, to a true residual
//! gauss_seidel   global, L + τ I only         sweeps by colours as preconditioner: half the iterations and a third of the
//!                                             bytes of cg, once the matrix is coloured
//! push           local, L + τ I only          starts at the right-hand side, touches what matters, and leaves a residual
//!                                             whose cost `local` bounds
//! ```
//!
//! Faithful precision solves by `gauss_seidel`; certified precision pushes where `local` says that this is cheaper, and
//! solves by `cg` where it is not. Both global solvers are a `GlobalSolver`, and `inverse` asks no more of either.

pub mod cg;
pub(crate) mod gauss_seidel;
pub(crate) mod coloring;
pub(crate) mod push;
pub(crate) mod inverse;
pub mod local;
pub(crate) mod inverse_diagonal;
pub mod eigen;
