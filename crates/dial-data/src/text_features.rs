//! Features of texts without a model.

use dial::Control;

use crate::error::Fault;
use crate::pool::Described;

/// Describes each text by a row of numbers.
pub(crate) fn describe(_texts: &[String], control: &Control) -> Result<Described, Fault> {
    control.check()?;
    let none = crate::components::Sparse::default();
    crate::components::leading(&none, 1, control)?;
    Err(Fault::Setting("texts need --features as yet.".into()))
}
