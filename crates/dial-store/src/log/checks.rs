//! What a submission must be like before it is looked at: names, keys, colours, and answers that come together.

use dial::Change;

use crate::decision::{Decision, Submission};
use crate::error::{Error, Result};
use crate::log::Log;
use crate::log::record::Look;
use crate::log::submit::{Judged, judge};

/// The longest key, name of an annotator, and name of a class, in characters.
const LONGEST: usize = 200;

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
        if let (Judged::Park(_, said), Change::Label { item, .. }) = (judged, change) {
            return Err(batch_error(item, &said));
        }
        if let Change::Label { item, classes } = change {
            log.labels().check_label(item, classes)?;
        }
    }
    Ok(())
}

/// A decision about one item, which needs nothing that comes with it.
fn plain(decision: &Decision) -> Option<Change> {
    let about_an_item = matches!(
        decision,
        Decision::Label { .. } | Decision::Skip { .. } | Decision::Exclude { .. }
    );
    decision.change().filter(|_| about_an_item)
}

/// Many answers at once are nobody's single answer: the sender has them all and is told which cannot be taken.
pub(crate) fn batch_error(item: &str, said: &[String; 2]) -> Error {
    Error::Batch {
        item: item.into(),
        first: said[0].clone(),
        second: said[1].clone(),
    }
}

pub(crate) fn checked_look(log: &Log, look: Look) -> Result<Look> {
    if look.class.index() >= log.labels().schema().len() {
        return Err(dial::Error::UnknownClass(look.class.0.to_string()).into());
    }
    let digits = look
        .colour
        .strip_prefix('#')
        .filter(|digits| digits.len() == 6 && digits.chars().all(|c| c.is_ascii_hexdigit()));
    if digits.is_none() {
        return Err(Error::Submission(format!(
            "{:?} is no colour. Give one as #rrggbb.",
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
            "{:?} is no key. Give one character, or none.",
            look.key
        )));
    }
    Ok(look)
}

pub(crate) fn check_names(submission: &Submission) -> Result<()> {
    if submission.key.is_empty() {
        return Err(Error::Submission(
            "a submission needs a key of its own. Send one.".into(),
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

fn check_text(what: &str, text: &str) -> Result<()> {
    if text.chars().count() > LONGEST || text.chars().any(char::is_control) {
        return Err(Error::Submission(format!(
            "{what} must be at most {LONGEST} characters, none of them a control character."
        )));
    }
    Ok(())
}
