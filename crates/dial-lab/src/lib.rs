//! The DiAL laboratory: what turns the numbers of an experiment into something to look at.
//!
//! [`stats`] summarises trials, [`plot`] draws charts, maps and grids of them, [`picture`] shows items, and [`report`] lays
//! everything out as one self-contained web page. Drawings are display lists ([`chart::Canvas`]) that two back
//! ends turn into SVG or PNG; both draw text as outlines of one embedded font, so they look alike everywhere.
//!
//! ```
//! use dial_lab::{chart, plot::{LineChart, Series}, stats};
//!
//! let trials = vec![vec![0.5, 0.7, 0.8], vec![0.6, 0.8, 0.8]];
//! let series = Series::new("DiAL", vec![1.0, 2.0, 3.0], stats::band(&trials));
//! let chart = LineChart::new("Digits", ["", ""], vec![series]).in_percent();
//! let svg = chart::to_svg(&chart.canvas());
//! assert!(svg.starts_with("<svg"));
//! ```

pub mod arena;
pub mod cells;
pub mod chart;
pub mod colours;
mod escape;
pub mod markdown;
pub mod picture;
pub mod plot;
pub mod report;
pub mod reproduce;
pub mod sheet;
pub mod stats;
pub mod study;
pub mod theory;
pub mod ticks;
mod words;
mod trouble;
mod written;

pub use escape::escape;
pub use trouble::Trouble;
pub use written::{Drawn, Tidy};
