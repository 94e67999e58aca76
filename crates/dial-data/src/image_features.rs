//! Features of pictures without a model.

use dial::Control;

use crate::error::{Fault, Result};
use crate::pool::{Described, ReadOptions};
use crate::show::Images;

/// Describes each picture by a row of numbers.
pub(crate) fn describe(images: &Images, _options: &ReadOptions, control: &Control) -> Result<Described> {
    control.check()?;
    Err(Fault::Setting("pictures need --features as yet.".into()).at(images.folder.display().to_string()))
}
