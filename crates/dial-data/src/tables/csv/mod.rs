//! Delimited text: dialect, header, records and the numbers in them.

pub(crate) mod dialect;
pub(crate) mod header;
pub(crate) mod sep_line;
pub(crate) mod number_format;
pub(crate) mod reader;
