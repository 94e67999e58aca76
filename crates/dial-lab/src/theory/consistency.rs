//! To be written.

pub mod slopes;

use dial::Control;

use super::{Outcome, Settings, Trouble};

/// Runs the part.
///
/// # Errors
/// Cancelled.
pub fn run(_settings: &Settings, _control: &Control) -> Result<Outcome, Trouble> {
    Ok(Outcome::default())
}
