//! What becomes of a submission: checked against the log, numbered, chained.
//!
//! The same key again gets the same answer; another content under it is refused (fault W2). What came under a key is known
//! by the records it left and, where it was many decisions, by a hash of them: a decision that said nothing new left no
//! record, and looking for the older one that said it would take as long as the log is. An answer that cannot be
//! taken as it is, because it contradicts one of the same person (C3) or names a class that is no more (C6), is human work
//! all the same: it is stored as a conflict, and the sender is told.

use std::collections::{HashMap, HashSet};

use dial::{Change, ClassId};
use sha2::{Digest, Sha256};

use crate::decision::{Decision, Receipt, Submission};
use crate::error::{Error, Result};
use crate::log::Log;
use crate::log::checks::{
    batch_error, check_batch, check_name, check_names, check_text, checked_look,
};
use crate::log::record::{ClassStyle, Entry, Provenance, Record};

/// Checks a submission and appends its records to the log, which is as before if it is refused. The records are those after
/// the version the log had; a conflict is stored, and refused all the same.
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
        digest: (submission.decisions.len() > 1)
            .then(|| digest(submission))
            .flatten(),
        group,
        now,
        turned: 0,
    };
    let stored = intake.store();
    let conflicting = matches!(
        stored,
        Err(Error::Contradiction { .. } | Error::ClassGone { .. })
    );
    if stored.is_err() && !conflicting && log.version() > start {
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
    /// For the first record too.
    digest: Option<String>,
    group: u64,
    now: u64,
    /// How much its undos and redos had to look at.
    turned: usize,
}

/// How many events the undos and redos of one submission may look at; a single one may look at more.
const MOST_TURNED: usize = 100_000;

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
                    self.turn(&change)?;
                    receipt.late |= late;
                    self.take(change, late)?;
                }
                Judged::Known(of) => {
                    known.get_or_insert((of, change));
                }
                Judged::Conflict(code, labels) => return self.store_conflict(change, code, labels),
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

    /// Refuses a submission whose undos and redos take long, before the next one.
    fn turn(&mut self, change: &Change) -> Result<()> {
        let (Change::Undo { group } | Change::Redo { group }) = change else {
            return Ok(());
        };
        let before = self.turned;
        self.turned += self.log.labels().cost(*group);
        if before > 0 && self.turned > MOST_TURNED {
            let text = "it undoes and redoes too much at once. Nothing was changed. Send one undo after the other.";
            return Err(Error::Submission(text.into()));
        }
        Ok(())
    }

    /// Appends a change, and the resolution of every conflict that it resolves.
    fn take(&mut self, change: Change, late: bool) -> Result<()> {
        let resolved = resolved_by(self.log, &self.submission.annotator, &change);
        self.append(Entry::Change(change), late)?;
        for conflict in resolved {
            self.append(Entry::Resolved { conflict }, false)?;
        }
        Ok(())
    }

    /// Stores an answer as a conflict, and says so.
    fn store_conflict(
        mut self,
        change: Change,
        code: &'static str,
        labels: [String; 2],
    ) -> Result<Receipt> {
        if self.submission.decisions.len() > 1 {
            let item = match &change {
                Change::Label { item, .. } => item,
                _ => "",
            };
            return Err(batch_error(item, &labels));
        }
        let entry = Entry::Conflict {
            change,
            code: code.into(),
            labels,
        };
        self.append(entry, self.submission.provenance.late)?;
        let conflict = self.log.records().last().expect("appended just now");
        Err(conflict_error(conflict))
    }

    fn append(&mut self, entry: Entry, late: bool) -> Result<()> {
        self.log.append(Record {
            seq: self.log.version() + 1,
            key: self.key.take(),
            time: self.now,
            annotator: self.submission.annotator.clone(),
            group: self.group,
            entry,
            provenance: Provenance {
                late,
                digest: self.digest.take(),
                ..self.submission.provenance.clone()
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
        Decision::Weight { annotator, .. } => {
            check_text("the name of the annotator", annotator)?;
            Entry::Change(decision.change().expect("it changes a weight"))
        }
        Decision::Undo { group: None } => Entry::Change(Change::Undo {
            group: last_done(log, annotator)?,
        }),
        Decision::Redo { group: None } => Entry::Change(Change::Redo {
            group: last_undone(log, annotator)?,
        }),
        Decision::StyleClass { class, colour, key } => Entry::ClassStyle(checked_look(
            log,
            ClassStyle {
                class: *class,
                colour: colour.clone(),
                key: key.clone(),
            },
        )?),
        Decision::Resolve { conflict } if !log.is_conflict(*conflict) => {
            return Err(Error::Submission(format!(
                "decision {conflict} is not an unresolved conflict. Reload the list."
            )));
        }
        Decision::Resolve { conflict } => Entry::Resolved {
            conflict: *conflict,
        },
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

/// The conflicts that an answer resolves: those of the same annotator about the same item.
fn resolved_by(log: &Log, annotator: &str, change: &Change) -> Vec<u64> {
    let Change::Label { item, .. } = change else {
        return Vec::new();
    };
    let same = |record: &&Record| record.annotator == annotator;
    let waiting = log.conflicts_about(item).filter(same);
    waiting.map(|record| record.seq).collect()
}

pub(crate) enum Judged {
    Take { late: bool },
    Known(u64),
    Conflict(&'static str, [String; 2]),
}

/// Whether a change can be taken as it is.
pub(crate) fn judge(
    log: &Log,
    submission: &Submission,
    change: &Change,
    exists: &dyn Fn(&str) -> bool,
) -> Result<Judged> {
    let labels = log.labels();
    if let Some(item) = change.item().filter(|item| !exists(item)) {
        return Err(dial::Error::UnknownItem(item.into()).into());
    }
    match change {
        Change::Label {
            item,
            classes,
            adjudicates,
        } => judge_label(log, submission, item, classes, *adjudicates),
        Change::Skip { item } if labels.marks_of(item).0 => Ok(Judged::Known(0)),
        Change::Exclude { item } if labels.marks_of(item).1 => Ok(Judged::Known(0)),
        Change::Reopen { item } if labels.marks_of(item) == (false, false) => Ok(Judged::Known(0)),
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
    adjudicates: bool,
) -> Result<Judged> {
    let (labels, annotator) = (log.labels(), &submission.annotator);
    let dead = |&&(class, _): &&(ClassId, f64)| !labels.is_live_class(class);
    if let Some((gone, _)) = classes.iter().find(dead) {
        // A class that was never there is a mistake of the sender, not lost work.
        if gone.index() >= labels.schema().len() {
            return Err(dial::Error::UnknownClass(gone.0.to_string()).into());
        }
        let gone = log.label_in_words(&[(*gone, 1.0)]);
        return Ok(Judged::Conflict("C6", [gone, log.label_in_words(classes)]));
    }
    let before = log.label_of(item, annotator);
    if before.as_deref() == Some(classes) && adjudicates == labels.adjudicates(item, annotator) {
        let record = log.record_of(item, annotator);
        return Ok(Judged::Known(record.map_or(0, |record| record.seq)));
    }
    if let Some(before) = before.filter(|_| !submission.replace) {
        // What could not be taken in any case is a mistake of the sender too.
        labels.check_label(item, classes)?;
        let names = [&before, classes].map(|classes| log.label_in_words(classes));
        return Ok(Judged::Conflict("C3", names));
    }
    // Answers that came late took nobody's place.
    let in_time = |who: &str| {
        let record = log.record_of(item, who);
        record.is_none_or(|record| !record.provenance.late)
    };
    let others = labels.labels_of(item).map(|(who, _)| who);
    let others = others.filter(|who| who != annotator && in_time(who));
    let overlap = log.recipe().map_or(1, |recipe| recipe.overlap);
    Ok(Judged::Take {
        late: submission.provenance.late || others.count() >= overlap,
    })
}

/// What others did is only taken back, or brought back, on purpose.
fn check_own(log: &Log, submission: &Submission, group: u64) -> Result<()> {
    let mut events = log.labels().group(group);
    let other = events.find(|event| event.annotator != submission.annotator);
    let Some(other) = other.filter(|_| !submission.replace && group != 0) else {
        return Ok(());
    };
    let who = match other.annotator.as_str() {
        "" => "an annotator without a name".to_string(),
        name => format!("{name:?}"),
    };
    Err(Error::Undo(format!(
        "group {group} is the work of {who}. Nothing was changed. Undo your own, or undo it with replace."
    )))
}

fn conflict_error(record: &Record) -> Error {
    let (item, code, labels) = match &record.entry {
        Entry::Conflict {
            change: Change::Label { item, .. },
            code,
            labels,
        } => (item.clone(), code.as_str(), labels.clone()),
        _ => (String::new(), "", Default::default()),
    };
    let [first, second] = labels;
    match code {
        "C3" => Error::Contradiction {
            annotator: record.annotator.clone(),
            item,
            first,
            second,
            conflict: record.seq,
        },
        _ => Error::ClassGone {
            item,
            class: first,
            conflict: record.seq,
        },
    }
}

/// What was sent under a key; none of decisions that nobody sends.
fn digest(submission: &Submission) -> Option<String> {
    let content = serde_json::to_vec(&(&submission.annotator, &submission.decisions)).ok()?;
    let hash = Sha256::digest(content);
    Some(hex::encode(&hash[..16]))
}

/// The first answer again, if the submission is the same.
fn repeat(log: &Log, before: &[Record], submission: &Submission) -> Result<Receipt> {
    let reused = || Error::KeyReused(submission.key.clone());
    let first = before.first().ok_or_else(reused)?;
    let same = match &first.provenance.digest {
        Some(known) => digest(submission).as_ref() == Some(known),
        None => left_these(log, before, submission),
    };
    if first.annotator != submission.annotator || !same {
        return Err(reused());
    }
    if matches!(first.entry, Entry::Conflict { .. }) {
        return Err(conflict_error(first));
    }
    if let Entry::Known { of, .. } = first.entry {
        return Ok(Receipt {
            repeated: true,
            ..known_receipt(log, of, first.seq)
        });
    }
    let late = before.iter().any(|record| record.provenance.late);
    Ok(Receipt {
        seq: first.seq,
        group: Some(first.group),
        repeated: true,
        known: false,
        late,
    })
}

/// Whether these records are what a submission leaves. Logs of before have no hash of several decisions: there a label without
/// a record may be one that the annotator had given by then.
fn left_these(log: &Log, before: &[Record], submission: &Submission) -> bool {
    let same = |(record, decision): (&Record, &Decision)| match (&record.entry, decision) {
        (Entry::Change(Change::AddClass { name, .. }), Decision::AddClass { name: again }) => {
            name == again
        }
        (Entry::Change(Change::Undo { .. }), Decision::Undo { group: None }) => true,
        (Entry::Change(Change::Redo { .. }), Decision::Redo { group: None }) => true,
        (Entry::ClassStyle(look), Decision::StyleClass { class, colour, key }) => {
            (look.class, &look.colour, &look.key) == (*class, colour, key)
        }
        (Entry::Resolved { conflict }, Decision::Resolve { conflict: again }) => conflict == again,
        (Entry::Recipe(recipe), Decision::Recipe(again)) => recipe == again,
        (
            Entry::Change(change) | Entry::Known { change, .. } | Entry::Conflict { change, .. },
            again,
        ) => again.change().as_ref() == Some(change),
        _ => false,
    };
    let resolves = submission
        .decisions
        .iter()
        .any(|decision| matches!(decision, Decision::Resolve { .. }));
    // The resolution of a conflict by another answer was not sent.
    let sent = |record: &&Record| !matches!(record.entry, Entry::Resolved { .. }) || resolves;
    let mut left = before.iter().filter(sent).peekable();
    let mut rest = Vec::new();
    for decision in &submission.decisions {
        if left.next_if(|record| same((record, decision))).is_none() {
            match decision.change() {
                Some(Change::Label { item, classes, .. }) => rest.push((item, classes)),
                _ => return false,
            }
        }
    }
    left.next().is_none() && (rest.is_empty() || were_given(log, before, &rest))
}

/// Whether the annotator of these records had given all of these labels by the last of them. One look at the log.
fn were_given(log: &Log, before: &[Record], labels: &[(String, Vec<(ClassId, f64)>)]) -> bool {
    let (Some(first), Some(last)) = (before.first(), before.last()) else {
        return false;
    };
    let items: HashSet<&str> = labels.iter().map(|(item, _)| item.as_str()).collect();
    let mut given: HashMap<&str, Vec<&[(ClassId, f64)]>> = HashMap::new();
    for record in &log.records()[..last.seq as usize] {
        if let Some(Change::Label { item, classes, .. }) = record.change()
            && record.annotator == first.annotator
            && items.contains(item.as_str())
        {
            given.entry(item).or_default().push(classes);
        }
    }
    let known = |(item, classes): &(String, Vec<(ClassId, f64)>)| {
        let all = given.get(item.as_str());
        all.is_some_and(|all| all.contains(&classes.as_slice()))
    };
    labels.iter().all(known)
}

fn next_class(log: &Log) -> Result<ClassId> {
    match log.labels().class_ids() {
        0..=65_000 => Ok(log.labels().new_class()),
        _ => Err(Error::Submission(
            "there are 65,000 classes already. Merge or rename some.".into(),
        )),
    }
}

/// How many events the undos and redos of a submission would have to look at.
pub(crate) fn turned_by(log: &Log, submission: &Submission) -> usize {
    let labels = log.labels();
    let (mut named, mut latest) = (0, 0);
    for decision in &submission.decisions {
        match decision {
            Decision::Undo { group: Some(group) } | Decision::Redo { group: Some(group) } => {
                named += labels.cost(*group);
            }
            Decision::Undo { group: None } | Decision::Redo { group: None } => latest += 1,
            _ => {}
        }
    }
    // Which groups they mean is known when it is their turn: as a rule the same one, back and forth.
    let cost = || {
        let both = [last_done, last_undone].map(|last| last(log, &submission.annotator));
        let costs = both.into_iter().flatten().map(|group| labels.cost(group));
        costs.max().unwrap_or(0)
    };
    named + if latest == 0 { 0 } else { latest * cost() }
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
            change if change.is_undoable() => break,
            _ => {}
        }
    }
    Err(Error::Undo(
        "there is nothing to redo. Nothing was changed. Undo something first.".into(),
    ))
}
