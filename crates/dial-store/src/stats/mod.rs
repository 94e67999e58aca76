//! The project in numbers: progress, expected accuracy, reasons.

pub(crate) mod counts;
pub(crate) mod estimate;
pub(crate) mod passed;
pub(crate) mod reasons;
pub(crate) mod status;
