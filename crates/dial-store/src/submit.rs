//! What becomes of a submission: checked against the log, numbered, chained.
//!
//! The same key again gets the same answer; another content under it is refused (fault W2). An answer that cannot be
//! taken as it is, because it contradicts one of the same person (C3) or names a class that is no more (C6), is human work
//! all the same: it is kept aside in the log, and the sender is told.

use dial::{Change, ClassId};

use crate::checks::{batch_error, check_batch, check_name, check_names, checked_look};
use crate::decision::{Decision, Receipt, Submission};
use crate::error::{Error, Result};
use crate::log::Log;
use crate::record::{Entry, Look, Record, Remark};

/// Checks a submission and appends its records to the log, which is as before if it is refused. The records are those after
/// the version the log had; a parked answer is stored and refused at once.
pub(crate) fn submit(
    log: &mut Log,
    submission: &Submission,
    exists: &dyn Fn(&str) -> bool,
    now: u64,
) -> Result<Receipt> {
    let group = log.new_group();
    submit_in(log, submission, exists, now, group)
}

/// The same in a group that other submissions share.
pub(crate) fn submit_in(
    log: &mut Log,
    submission: &Submission,
    exists: &dyn Fn(&str) -> bool,
    now: u64,
    group: u64,
) -> Result<Receipt> {
    check_names(submission)?;
    if let Some(before) = log.submission(&submission.key) {
        return repeat(log, before, submission);
    }
    check_batch(log, submission, exists)?;
    let start = log.version();
    let stored = store(log, submission, exists, now, group);
    if stored
        .as_ref()
        .is_err_and(|error| !matches!(error, Error::Contradiction { .. } | Error::ClassGone { .. }))
        && log.version() > start
    {
        log.cut(start);
    }
    stored
}

fn store(
    log: &mut Log,
    submission: &Submission,
    exists: &dyn Fn(&str) -> bool,
    now: u64,
    group: u64,
) -> Result<Receipt> {
    let mut receipt = Receipt {
        seq: log.version() + 1,
        group: Some(group),
        repeated: false,
        known: false,
        late: false,
    };
    let mut key = Some(submission.key.clone());
    let mut known: Option<(u64, Change)> = None;
    for decision in &submission.decisions {
        let entry = entry(log, &submission.annotator, decision)?;
        let late = match &entry {
            Entry::Change(change) => match judge(log, submission, change, exists)? {
                Judged::Take { late } => late,
                Judged::Known(seq) => {
                    known.get_or_insert((seq, change.clone()));
                    continue;
                }
                Judged::Park(code, said) => {
                    return park(log, submission, change.clone(), (code, said), group, now);
                }
            },
            _ => false,
        };
        receipt.late |= late;
        let settled = settled_by(log, submission, &entry);
        append(log, submission, key.take(), group, entry, late, now)?;
        for parked in settled {
            append(
                log,
                submission,
                None,
                group,
                Entry::Settled { parked },
                false,
                now,
            )?;
        }
    }
    match (key, known) {
        // Everything was known: that is stored under the key, so that it has the same answer for ever.
        (Some(key), Some((of, change))) => {
            append(
                log,
                submission,
                Some(key),
                group,
                Entry::Known { of, change },
                false,
                now,
            )?;
            Ok(known_receipt(log, of, log.version()))
        }
        _ => Ok(receipt),
    }
}

/// A decision as the log would keep it, whoever may take it.
fn entry(log: &Log, annotator: &str, decision: &Decision) -> Result<Entry> {
    Ok(match decision {
        Decision::AddClass { name } => {
            check_name("the class", name)?;
            Entry::Change(Change::AddClass {
                class: next_class(log)?,
                name: name.clone(),
            })
        }
        Decision::Undo { group: None } => Entry::Change(Change::Undo {
            group: last_done(log, annotator)?,
        }),
        Decision::Redo { group: None } => Entry::Change(Change::Redo {
            group: last_undone(log, annotator)?,
        }),
        Decision::Look { class, colour, key } => Entry::Look(checked_look(
            log,
            Look {
                class: *class,
                colour: colour.clone(),
                key: key.clone(),
            },
        )?),
        Decision::Settle { parked } if log.parked().all(|record| record.seq != *parked) => {
            return Err(Error::Submission(format!(
                "decision {parked} does not wait for anything. Reload the list."
            )));
        }
        Decision::Settle { parked } => Entry::Settled { parked: *parked },
        Decision::Recipe(recipe) => Entry::Recipe(recipe.clone()),
        plain => Entry::Change(plain.change().expect("all others are changes as they are")),
    })
}

fn append(
    log: &mut Log,
    submission: &Submission,
    key: Option<String>,
    group: u64,
    entry: Entry,
    late: bool,
    now: u64,
) -> Result<()> {
    let remark = Remark {
        late,
        ..submission.remark.clone()
    };
    let (seq, annotator) = (log.version() + 1, submission.annotator.clone());
    log.append(Record {
        seq,
        key,
        time: now,
        annotator,
        group,
        entry,
        remark,
    })
}

/// The answer to something that was said before, by the record of then and the record of now.
fn known_receipt(log: &Log, of: u64, now: u64) -> Receipt {
    let first = of
        .checked_sub(1)
        .and_then(|place| log.records().get(place as usize));
    let (seq, group) = first.map_or((now, None), |first| (first.seq, Some(first.group)));
    Receipt {
        seq,
        group,
        repeated: false,
        known: true,
        late: false,
    }
}

/// Parked answers that an answer settles: the same person decides about the same item.
fn settled_by(log: &Log, submission: &Submission, entry: &Entry) -> Vec<u64> {
    let Entry::Change(Change::Label { item, .. }) = entry else {
        return Vec::new();
    };
    let same = |record: &&Record| {
        record.annotator == submission.annotator
            && matches!(&record.entry, Entry::Parked { change: Change::Label { item: other, .. }, .. } if other == item)
    };
    log.parked().filter(same).map(|record| record.seq).collect()
}

pub(crate) enum Judged {
    Take { late: bool },
    Known(u64),
    Park(&'static str, [String; 2]),
}

/// Whether a change can be taken as it is.
pub(crate) fn judge(
    log: &Log,
    submission: &Submission,
    change: &Change,
    exists: &dyn Fn(&str) -> bool,
) -> Result<Judged> {
    if let Change::Label { item, .. } | Change::Skip { item } | Change::Exclude { item } = change
        && !exists(item)
    {
        return Err(dial::Error::UnknownItem(item.clone()).into());
    }
    let name_of = |annotator: &str| {
        if annotator.is_empty() {
            "nobody".to_string()
        } else {
            format!("{annotator:?}")
        }
    };
    match change {
        Change::Label { item, classes } => {
            let live = log.labels().classes();
            let given = log.labels().schema().len();
            if let Some((gone, _)) = classes.iter().find(|(class, _)| !live.contains(class)) {
                // A class that was never there is a mistake of the sender, not lost work.
                if gone.index() >= given {
                    return Err(dial::Error::UnknownClass(gone.0.to_string()).into());
                }
                return Ok(Judged::Park(
                    "C6",
                    [
                        log.label_in_words(&[(*gone, 1.0)]),
                        log.label_in_words(classes),
                    ],
                ));
            }
            match log.label_of(item, &submission.annotator) {
                Some(before) if before == classes => Ok(Judged::Known(
                    log.record_of(item, &submission.annotator)
                        .map_or(0, |record| record.seq),
                )),
                Some(before) if !submission.replace => {
                    // What could not be taken in any case is a mistake of the sender too.
                    log.labels().check_label(item, classes)?;
                    Ok(Judged::Park(
                        "C3",
                        [log.label_in_words(before), log.label_in_words(classes)],
                    ))
                }
                _ => {
                    // Answers that came late took nobody's place.
                    let in_time = |who: &str| {
                        log.record_of(item, who)
                            .is_none_or(|record| !record.remark.late)
                    };
                    let others = log.labels().labels_of(item).map(|(who, _)| who);
                    let others = others
                        .filter(|who| *who != submission.annotator && in_time(who))
                        .count();
                    let overlap = log.recipe().map_or(1, |recipe| recipe.overlap);
                    Ok(Judged::Take {
                        late: submission.remark.late || others >= overlap,
                    })
                }
            }
        }
        Change::Skip { item } if log.labels().marks_of(item).0 => Ok(Judged::Known(0)),
        Change::Exclude { item } if log.labels().marks_of(item).1 => Ok(Judged::Known(0)),
        Change::RenameClass { name, .. } => {
            check_name("the class", name).map(|()| Judged::Take { late: false })
        }
        Change::Undo { group } | Change::Redo { group } => {
            let others = |record: &&Record| {
                record.group == *group && record.annotator != submission.annotator
            };
            match log.records().iter().find(others) {
                Some(other) if !submission.replace && *group != 0 => Err(Error::Undo(format!(
                    "group {group} is the work of {}. Nothing was changed. Undo your own, or say that you mean it (replace).",
                    name_of(&other.annotator)
                ))),
                _ => Ok(Judged::Take { late: false }),
            }
        }
        _ => Ok(Judged::Take { late: false }),
    }
}

/// Keeps an answer aside.
fn park(
    log: &mut Log,
    submission: &Submission,
    change: Change,
    (code, said): (&'static str, [String; 2]),
    group: u64,
    now: u64,
) -> Result<Receipt> {
    if submission.decisions.len() > 1 {
        let item = if let Change::Label { item, .. } = &change {
            item.as_str()
        } else {
            ""
        };
        return Err(batch_error(item, &said));
    }
    let (seq, annotator) = (log.version() + 1, submission.annotator.clone());
    let entry = Entry::Parked {
        change,
        code: code.into(),
        said,
    };
    let record = Record {
        seq,
        key: Some(submission.key.clone()),
        time: now,
        annotator,
        group,
        entry,
        remark: submission.remark.clone(),
    };
    let error = parked_error(&record);
    log.append(record)?;
    Err(error)
}

fn parked_error(record: &Record) -> Error {
    let (item, code, said) = match &record.entry {
        Entry::Parked {
            change: Change::Label { item, .. },
            code,
            said,
        } => (item.clone(), code.as_str(), said.clone()),
        _ => (String::new(), "", Default::default()),
    };
    let [first, second] = said;
    match code {
        "C3" => Error::Contradiction {
            annotator: record.annotator.clone(),
            item,
            first,
            second,
            parked: record.seq,
        },
        _ => Error::ClassGone {
            item,
            class: first,
            parked: record.seq,
        },
    }
}

/// The first answer again, if the submission is the same.
fn repeat(log: &Log, before: &[Record], submission: &Submission) -> Result<Receipt> {
    let reused = || Error::KeyReused(submission.key.clone());
    let first = before.first().ok_or_else(reused)?;
    let same = |(record, decision): (&Record, &Decision)| match (&record.entry, decision) {
        (Entry::Change(Change::AddClass { name, .. }), Decision::AddClass { name: again }) => {
            name == again
        }
        (Entry::Change(Change::Undo { .. }), Decision::Undo { group: None }) => true,
        (Entry::Change(Change::Redo { .. }), Decision::Redo { group: None }) => true,
        (Entry::Look(look), Decision::Look { class, colour, key }) => {
            (look.class, &look.colour, &look.key) == (*class, colour, key)
        }
        (Entry::Settled { parked }, Decision::Settle { parked: again }) => parked == again,
        (Entry::Recipe(recipe), Decision::Recipe(again)) => recipe == again,
        (
            Entry::Change(change) | Entry::Known { change, .. } | Entry::Parked { change, .. },
            again,
        ) => again.change().as_ref() == Some(change),
        _ => false,
    };
    // A label that was known already left no record; whatever else has none was not sent then.
    let settles = submission
        .decisions
        .iter()
        .any(|decision| matches!(decision, Decision::Settle { .. }));
    let earlier = &log.records()[..first.seq as usize - 1 + before.len()];
    let known = |decision: &Decision| {
        let change = decision
            .change()
            .filter(|change| matches!(change, Change::Label { .. }));
        let mine = |record: &&Record| record.annotator == first.annotator;
        change.is_some_and(|change| {
            earlier
                .iter()
                .filter(mine)
                .any(|record| record.change() == Some(&change))
        })
    };
    // Parked answers that were settled on the way were not sent.
    let sent = |record: &&Record| !matches!(record.entry, Entry::Settled { .. }) || settles;
    let mut left = before.iter().filter(sent).peekable();
    let all = submission.decisions.iter().all(|decision| {
        left.next_if(|record| same((record, decision))).is_some() || known(decision)
    });
    if first.annotator != submission.annotator || !all || left.next().is_some() {
        return Err(reused());
    }
    if matches!(first.entry, Entry::Parked { .. }) {
        return Err(parked_error(first));
    }
    if let Entry::Known { of, .. } = first.entry {
        return Ok(Receipt {
            repeated: true,
            ..known_receipt(log, of, first.seq)
        });
    }
    let late = before.iter().any(|record| record.remark.late);
    Ok(Receipt {
        seq: first.seq,
        group: Some(first.group),
        repeated: true,
        known: false,
        late,
    })
}

fn next_class(log: &Log) -> Result<ClassId> {
    match log.labels().schema().len() {
        0..=65_000 => Ok(log.labels().new_class()),
        _ => Err(Error::Submission(
            "there are 65,000 classes already. Merge or rename some.".into(),
        )),
    }
}

fn last_done(log: &Log, annotator: &str) -> Result<u64> {
    let nothing = || {
        Error::Undo("there is nothing to undo. Nothing was changed. Label something first.".into())
    };
    log.labels().last_group(annotator).ok_or_else(nothing)
}

/// The group that an annotator took back last and that is still taken back.
fn last_undone(log: &Log, annotator: &str) -> Result<u64> {
    let mine = log
        .records()
        .iter()
        .rev()
        .filter(|record| record.annotator == annotator)
        .filter_map(Record::change);
    let mut again = std::collections::HashSet::new();
    for change in mine {
        match change {
            Change::Redo { group } => drop(again.insert(*group)),
            Change::Undo { group } if !again.contains(group) => return Ok(*group),
            Change::Undo { .. } => {}
            // A new answer ends the chain of what can be brought back.
            change if change.is_deed() => break,
            _ => {}
        }
    }
    Err(Error::Undo(
        "there is nothing to bring back. Nothing was changed. Undo something first.".into(),
    ))
}
