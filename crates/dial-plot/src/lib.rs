//! Charts, pictures and reports of trials.
//!
//! [`stats`] summarises trials, [`plot`] draws charts, maps and grids of them, [`picture`] shows items, and [`report`] lays
//! everything out as one self-contained web page. Drawings are display lists ([`chart::Canvas`]) that two back
//! ends turn into SVG or PNG; both draw text as outlines of one embedded font, so they look alike everywhere.
//!
//! ```
//! use dial_plot::{chart, plot::{LineChart, Series}, stats};
//!
//! let trials = vec![vec![0.5, 0.7, 0.8], vec![0.6, 0.8, 0.8]];
//! let series = Series::new("DiAL", vec![1.0, 2.0, 3.0], stats::band(&trials));
//! let chart = LineChart::new("Digits", ["", ""], vec![series]).in_percent();
//! let svg = chart::to_svg(&chart.canvas());
//! assert!(svg.starts_with("<svg"));
//! ```

pub mod chart;
pub mod colours;
mod escape;
pub mod picture;
pub mod plot;
pub mod report;
pub mod sheet;
pub mod stats;
pub mod ticks;
pub mod words;

pub use escape::escape;
