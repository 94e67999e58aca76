//! What becomes of a submission: checked against the log, numbered, chained.
//!
//! The same key again gets the same answer; another content under it is refused (fault W2). An answer that cannot be
//! taken as it is, because it contradicts one of the same person (C3) or names a class that is no more (C6), is human work
//! all the same: it is kept aside in the log, and the sender is told.

use dial::{Change, ClassId};

use crate::decision::{Decision, Receipt, Submission};
use crate::error::{Error, Result};
use crate::log::Log;
use crate::log::checks::{batch_error, check_batch, check_name, check_names, checked_look};
use crate::log::record::{Entry, Look, Record, Remark};

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
    let intake = Intake {
        log,
        submission,
        exists,
        key: Some(submission.key.clone()),
        group,
        now,
    };
    let stored = intake.store();
    let kept_aside = matches!(
        stored,
        Err(Error::Contradiction { .. } | Error::ClassGone { .. })
    );
    if stored.is_err() && !kept_aside && log.version() > start {
        log.cut(start);
    }
    stored
}

/// A submission on its way into the log.
struct Intake<'a> {
    log: &'a mut Log,
    submission: &'a Submission,
    exists: &'a dyn Fn(&str) -> bool,
    /// For the first record.
    key: Option<String>,
    group: u64,
    now: u64,
}

impl Intake<'_> {
    fn store(mut self) -> Result<Receipt> {
        let mut receipt = Receipt {
            seq: self.log.version() + 1,
            group: Some(self.group),
            repeated: false,
            known: false,
            late: false,
        };
        let mut known: Option<(u64, Change)> = None;
        for decision in &self.submission.decisions {
            let change = match entry(self.log, &self.submission.annotator, decision)? {
                Entry::Change(change) => change,
                other => {
                    self.append(other, false)?;
                    continue;
                }
            };
            match judge(self.log, self.submission, &change, self.exists)? {
                Judged::Take { late } => {
                    receipt.late |= late;
                    self.take(change, late)?;
                }
                Judged::Known(of) => {
                    known.get_or_insert((of, change));
                }
                Judged::Park(code, said) => return self.park(change, code, said),
            }
        }
        match known {
            // Everything was known: that is stored under the key, so that it has the same answer for ever.
            Some((of, change)) if self.key.is_some() => {
                self.append(Entry::Known { of, change }, false)?;
                Ok(known_receipt(self.log, of, self.log.version()))
            }
            _ => Ok(receipt),
        }
    }

    /// Appends a change, and that it settles what waited for it.
    fn take(&mut self, change: Change, late: bool) -> Result<()> {
        let settled = settled_by(self.log, &self.submission.annotator, &change);
        self.append(Entry::Change(change), late)?;
        for parked in settled {
            self.append(Entry::Settled { parked }, false)?;
        }
        Ok(())
    }

    /// Keeps an answer aside.
    fn park(mut self, change: Change, code: &'static str, said: [String; 2]) -> Result<Receipt> {
        if self.submission.decisions.len() > 1 {
            let item = match &change {
                Change::Label { item, .. } => item,
                _ => "",
            };
            return Err(batch_error(item, &said));
        }
        let entry = Entry::Parked {
            change,
            code: code.into(),
            said,
        };
        self.append(entry, self.submission.remark.late)?;
        let parked = self.log.records().last().expect("appended just now");
        Err(parked_error(parked))
    }

    fn append(&mut self, entry: Entry, late: bool) -> Result<()> {
        self.log.append(Record {
            seq: self.log.version() + 1,
            key: self.key.take(),
            time: self.now,
            annotator: self.submission.annotator.clone(),
            group: self.group,
            entry,
            remark: Remark {
                late,
                ..self.submission.remark.clone()
            },
        })
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
        Decision::StyleClass { class, colour, key } => Entry::Look(checked_look(
            log,
            Look {
                class: *class,
                colour: colour.clone(),
                key: key.clone(),
            },
        )?),
        Decision::Resolve { conflict } if log.parked().all(|record| record.seq != *conflict) => {
            return Err(Error::Submission(format!(
                "decision {conflict} does not wait for anything. Reload the list."
            )));
        }
        Decision::Resolve { conflict } => Entry::Settled { parked: *conflict },
        Decision::Recipe(recipe) => Entry::Recipe(recipe.clone()),
        plain => Entry::Change(plain.change().expect("all others are changes as they are")),
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
fn settled_by(log: &Log, annotator: &str, change: &Change) -> Vec<u64> {
    let Change::Label { item, .. } = change else {
        return Vec::new();
    };
    let same = |record: &&Record| {
        record.annotator == annotator
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
    let labels = log.labels();
    match change {
        Change::Label { item, .. } | Change::Skip { item } | Change::Exclude { item }
            if !exists(item) =>
        {
            Err(dial::Error::UnknownItem(item.clone()).into())
        }
        Change::Label { item, classes } => judge_label(log, submission, item, classes),
        Change::Skip { item } if labels.marks_of(item).0 => Ok(Judged::Known(0)),
        Change::Exclude { item } if labels.marks_of(item).1 => Ok(Judged::Known(0)),
        Change::RenameClass { name, .. } => {
            check_name("the class", name).map(|()| Judged::Take { late: false })
        }
        Change::Undo { group } | Change::Redo { group } => {
            check_own(log, submission, *group).map(|()| Judged::Take { late: false })
        }
        _ => Ok(Judged::Take { late: false }),
    }
}

/// The same for a label.
fn judge_label(
    log: &Log,
    submission: &Submission,
    item: &str,
    classes: &[(ClassId, f64)],
) -> Result<Judged> {
    let (labels, annotator) = (log.labels(), &submission.annotator);
    let live = labels.classes();
    if let Some((gone, _)) = classes.iter().find(|(class, _)| !live.contains(class)) {
        // A class that was never there is a mistake of the sender, not lost work.
        if gone.index() >= labels.schema().len() {
            return Err(dial::Error::UnknownClass(gone.0.to_string()).into());
        }
        let gone = log.label_in_words(&[(*gone, 1.0)]);
        return Ok(Judged::Park("C6", [gone, log.label_in_words(classes)]));
    }
    let before = log.label_of(item, annotator);
    if before == Some(classes) {
        let record = log.record_of(item, annotator);
        return Ok(Judged::Known(record.map_or(0, |record| record.seq)));
    }
    if let Some(before) = before.filter(|_| !submission.replace) {
        // What could not be taken in any case is a mistake of the sender too.
        labels.check_label(item, classes)?;
        let said = [before, classes].map(|classes| log.label_in_words(classes));
        return Ok(Judged::Park("C3", said));
    }
    // Answers that came late took nobody's place.
    let in_time = |who: &str| {
        let record = log.record_of(item, who);
        record.is_none_or(|record| !record.remark.late)
    };
    let others = labels.labels_of(item).map(|(who, _)| who);
    let others = others.filter(|who| who != annotator && in_time(who));
    let overlap = log.recipe().map_or(1, |recipe| recipe.overlap);
    Ok(Judged::Take {
        late: submission.remark.late || others.count() >= overlap,
    })
}

/// What others did is only taken back, or brought back, on purpose.
fn check_own(log: &Log, submission: &Submission, group: u64) -> Result<()> {
    let others =
        |record: &&Record| record.group == group && record.annotator != submission.annotator;
    let other = log.records().iter().find(others);
    let Some(other) = other.filter(|_| !submission.replace && group != 0) else {
        return Ok(());
    };
    let who = match other.annotator.as_str() {
        "" => "nobody".to_string(),
        name => format!("{name:?}"),
    };
    Err(Error::Undo(format!(
        "group {group} is the work of {who}. Nothing was changed. Undo your own, or say that you mean it (replace)."
    )))
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
        (Entry::Look(look), Decision::StyleClass { class, colour, key }) => {
            (look.class, &look.colour, &look.key) == (*class, colour, key)
        }
        (Entry::Settled { parked }, Decision::Resolve { conflict: again }) => parked == again,
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
        .any(|decision| matches!(decision, Decision::Resolve { .. }));
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
