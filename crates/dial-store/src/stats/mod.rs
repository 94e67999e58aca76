//! The project in numbers: progress, expected accuracy, reasons.

pub(crate) mod estimate;
pub(crate) mod reasons;
pub(crate) mod status;
