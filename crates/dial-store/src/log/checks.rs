//! What a submission must be like before it is looked at: names, keys, colours, and answers that come together.

use dial::Change;

use crate::decision::{Decision, Submission};
use crate::error::{Error, Result};
use crate::log::Log;
use crate::log::record::ClassStyle;
use crate::log::submit::{Judged, judge};

/// The longest key, name of an annotator, and name of a class, in characters.
const MAX_NAME_CHARS: usize = 200;

/// Looks at answers that come together before any of them is appended: taking back what was appended replays the log.
pub(crate) fn check_batch(
    log: &Log,
    submission: &Submission,
    exists: &dyn Fn(&str) -> bool,
) -> Result<()> {
    let changes: Vec<Change> = submission.decisions.iter().filter_map(plain).collect();
    if changes.len() < 2 || changes.len() < submission.decisions.len() {
        return Ok(());
    }
    for change in &changes {
        let judged = judge(log, submission, change, exists)?;
        if let (Judged::Conflict(_, labels), Change::Label { item, .. }) = (judged, change) {
            return Err(batch_error(item, &labels));
        }
        if let Change::Label { item, classes, .. } = change {
            log.labels().check_label(item, classes)?;
        }
    }
    Ok(())
}

/// A decision about one item, which needs nothing that comes with it.
fn plain(decision: &Decision) -> Option<Change> {
    decision.item().and_then(|_| decision.change())
}

/// An answer of a batch contradicts a stored one: nothing of the batch is stored, and the sender is told which answer it is.
pub(crate) fn batch_error(item: &str, labels: &[String; 2]) -> Error {
    Error::Batch {
        item: item.into(),
        first: labels[0].clone(),
        second: labels[1].clone(),
    }
}

pub(crate) fn checked_look(log: &Log, look: ClassStyle) -> Result<ClassStyle> {
    if look.class.index() >= log.labels().schema().len() {
        return Err(dial::Error::UnknownClass(look.class.0.to_string()).into());
    }
    let digits = look
        .colour
        .strip_prefix('#')
        .filter(|digits| digits.len() == 6 && digits.chars().all(|c| c.is_ascii_hexdigit()));
    if digits.is_none() {
        return Err(Error::Submission(format!(
            "{:?} is not a colour. Give one as #rrggbb.",
            look.colour
        )));
    }
    if look.key.chars().count() > 1
        || look
            .key
            .chars()
            .any(|c| c.is_control() || c.is_whitespace())
    {
        return Err(Error::Submission(format!(
            "{:?} is not a key. Give one character, or none.",
            look.key
        )));
    }
    Ok(look)
}

pub(crate) fn check_names(submission: &Submission) -> Result<()> {
    if submission.key.is_empty() {
        return Err(Error::Submission(
            "a submission needs a key. Send a new one for every submission.".into(),
        ));
    }
    if submission.decisions.is_empty() {
        return Err(Error::Submission(
            "a submission needs a decision. Send one.".into(),
        ));
    }
    check_text("the key", &submission.key)?;
    check_text("the name of the annotator", &submission.annotator)
}

pub(crate) fn check_name(what: &str, name: &str) -> Result<()> {
    if name.trim().is_empty() || name.trim() != name {
        return Err(Error::Submission(format!(
            "{what} {name:?} needs a name without blanks around it. Give one."
        )));
    }
    check_text(what, name)
}

pub(crate) fn check_text(what: &str, text: &str) -> Result<()> {
    if text.chars().count() > MAX_NAME_CHARS || text.chars().any(char::is_control) {
        return Err(Error::Submission(format!(
            "{what} must be at most {MAX_NAME_CHARS} characters, none of them a control character."
        )));
    }
    Ok(())
}
