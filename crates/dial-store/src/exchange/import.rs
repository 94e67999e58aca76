//! Labels from elsewhere into a project: checked as a whole, then stored in one group, so that one undo takes them back.
//!
//! Nothing is merged silently. A label that contradicts one of the same annotator is kept beside it under the name of the
//! file; every item that afterwards has labels that differ is reported. A label that is there already is not stored twice,
//! so the same file can be imported again.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use dial::{Change, ClassId};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use crate::decision::{Decision, Submission};
use crate::error::{Error, Result};
use crate::exchange::export::Mark;
use crate::exchange::labels_file::{
    ImportedLabel, ItemName, LabelContent, Named, read_labels, source,
};
use crate::log::Log;
use crate::log::record::{Provenance, Record};
use crate::project::Project;
use crate::project::folder::check_room;
use crate::project::snapshot::Snapshot;

/// Decisions of one submission, and of one transaction, at most.
const DECISIONS_PER_SUBMISSION: usize = 1_000;
const TRANSACTION: usize = 1_000;
/// Bytes that a label takes in the database and its log, at most, unless names are long.
const MAX_BYTES_PER_LABEL: u64 = 2_000;
/// So many ids and names are listed in a message.
const LISTED: usize = 20;

/// How labels are imported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Import {
    /// The columns.
    pub columns: Named,
    /// The annotator of labels that come without one; by default the name of the file.
    pub annotator: Option<String>,
    /// Labels of items that are not in the pool are left out, and counted.
    pub skip_unknown: bool,
    /// Classes that are not in the project are added to it.
    pub add_classes: bool,
}

/// What became of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Imported {
    /// Labels that were stored.
    pub labels: usize,
    /// Labels that were there already.
    pub known: usize,
    /// Items that were marked as skipped or excluded.
    pub marks: usize,
    /// Classes that were added.
    pub classes: Vec<String>,
    /// Ids that are not in the pool, whose labels were left out.
    pub unknown: Vec<String>,
    /// Items that now have labels that differ.
    pub contradictions: Vec<Contradiction>,
    /// The group to undo it by, if anything was stored.
    #[schema(required)]
    pub group: Option<u64>,
}

/// An item with labels that differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Contradiction {
    /// The item.
    pub item: String,
    /// Who says what.
    pub labels: Vec<(String, String)>,
}

impl Imported {
    /// Counts decisions as known that turned out to be stored before.
    fn forget(&mut self, decisions: &[Decision]) {
        for decision in decisions {
            match decision {
                Decision::Label { .. } => {
                    self.labels -= 1;
                    self.known += 1;
                }
                Decision::Skip { .. } | Decision::Exclude { .. } => self.marks -= 1,
                _ => {}
            }
        }
    }
}

/// An import under way.
#[derive(Debug)]
pub struct Importing {
    /// What is left, the next one last.
    submissions: Vec<Submission>,
    /// The group of all parts; of a new import it is chosen with its first part.
    group: Option<u64>,
    /// The version of the log that it was planned on.
    version: u64,
    annotators: HashSet<String>,
    touched: BTreeSet<String>,
    imported: Imported,
}

impl Importing {
    /// Whether what was stored since it was planned leaves the plan as it is: nothing but answers of other annotators.
    pub fn is_current(&self, log: &Log) -> bool {
        let by_others = |record: &Record| {
            let answer = matches!(
                record.change(),
                Some(Change::Label { .. } | Change::Skip { .. } | Change::Exclude { .. })
            );
            answer && !self.annotators.contains(&record.annotator)
        };
        let since = log.records().get(self.version as usize..);
        since.is_some_and(|since| since.iter().all(by_others))
    }
}

impl Project {
    /// Imports the labels of a file. The key is the sender's, as that of a submission.
    ///
    /// # Errors
    /// A file that cannot be read, items or classes that are not there, labels that cannot be (I12): nothing is imported.
    /// Where the disk fails half-way through more than 1,000 labels, those before stay, in one group, and the same file
    /// can be imported again.
    pub fn import(&mut self, file: &Path, how: &Import, key: &str, now: u64) -> Result<Imported> {
        let labels = read_labels(file, &how.columns)?;
        self.import_labels(&source(file), labels, how, key, now)
    }

    /// The same with labels that were read before; `source` is where they come from.
    ///
    /// # Errors
    /// As [`Project::import`].
    pub fn import_labels(
        &mut self,
        source: &str,
        labels: Vec<ImportedLabel>,
        how: &Import,
        key: &str,
        now: u64,
    ) -> Result<Imported> {
        let ids = self.item_ids()?;
        let mut importing = self
            .snapshot()
            .plan_import(&ids, source, &labels, how, key)?;
        while self.import_some(&mut importing, now)? {}
        Ok(self.snapshot().imported(importing))
    }

    /// Stores the next part of an import, so that others get their turn between parts. Whether there is more.
    ///
    /// # Errors
    /// What storing may fail with; the parts before stay.
    pub fn import_some(&mut self, importing: &mut Importing, now: u64) -> Result<bool> {
        let new = self.log().new_group();
        let group = *importing.group.get_or_insert(new);
        let mut size = 0;
        let mut part = Vec::new();
        while let Some(next) = importing
            .submissions
            .pop_if(|next| size == 0 || size + next.decisions.len() <= TRANSACTION)
        {
            size += next.decisions.len();
            part.push(next);
        }
        let receipts = self.submit_together(&part, group, now)?;
        for (receipt, submission) in receipts.iter().zip(&part) {
            match receipt.repeated {
                // Sent before under this key: it is not stored again, whatever became of it since.
                true => importing.imported.forget(&submission.decisions),
                false => importing.imported.group = Some(group),
            }
        }
        Ok(!importing.submissions.is_empty())
    }
}

impl Snapshot {
    /// Begins an import: everything is checked, nothing is stored yet. `ids` are those of the items in the order of the pool.
    ///
    /// # Errors
    /// As [`Project::import`].
    pub fn plan_import(
        &self,
        ids: &[String],
        source: &str,
        labels: &[ImportedLabel],
        how: &Import,
        key: &str,
    ) -> Result<Importing> {
        let (labels, unknown) = self.with_items(ids, source, labels, how)?;
        let (classes, added) = with_classes(self.log(), source, &labels, how)?;
        let mut plan = Plan::new(self.log(), source, how);
        for (item, label) in &labels {
            plan.add(item, label, &classes);
        }
        let mut submissions = plan.submissions(&added, key);
        submissions.reverse();
        let Plan {
            touched, imported, ..
        } = plan;
        if let Some(folder) = self.folder() {
            check_room(
                &folder.0,
                MAX_BYTES_PER_LABEL * (imported.labels + imported.marks) as u64,
            )?;
        }
        let annotators = submissions.iter().map(|one| one.annotator.clone());
        Ok(Importing {
            annotators: annotators.collect(),
            submissions,
            // What an earlier attempt under this key has stored is undone together with the rest.
            group: self.log().group_of_import(key),
            version: self.log().version(),
            touched,
            imported: Imported {
                classes: added,
                unknown,
                ..imported
            },
        })
    }

    /// What became of an import that is over.
    pub fn imported(&self, importing: Importing) -> Imported {
        let contradictions = contradictions(self.log(), &importing.touched);
        Imported {
            contradictions,
            ..importing.imported
        }
    }

    /// Finds the items that are meant.
    fn with_items<'g>(
        &self,
        ids: &[String],
        source: &str,
        labels: &'g [ImportedLabel],
        how: &Import,
    ) -> Result<(LabelsOfItems<'g>, Vec<String>)> {
        // What was gone when it was exported need not be here either.
        let gone = labels
            .iter()
            .filter(|label| is_gone(label))
            .map(|label| &label.item);
        let gone: HashSet<&ItemName> = gone.collect();
        let (mut found, mut unknown, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        let mut seen = HashSet::new();
        for label in labels {
            let (name, known) = match &label.item {
                ItemName::Row { rows, .. } if *rows != ids.len() => {
                    return Err(Error::Import(format!(
                        "{source}: {rows} labels without ids for {} items. Nothing was imported. Give one for each, or ids.",
                        ids.len()
                    )));
                }
                ItemName::Row { row, .. } => (row.to_string(), ids.get(*row)),
                ItemName::Id { id, unguarded } => {
                    let mut either = [Some(id), unguarded.as_ref()].into_iter().flatten();
                    (id.clone(), either.find(|id| self.has_item(id)))
                }
            };
            match known.cloned() {
                Some(id) => found.push((id, label)),
                None if is_gone(label) || !seen.insert(name.clone()) => {}
                None if gone.contains(&label.item) => left_out.push(name),
                None => unknown.push((name, label.place.as_str())),
            }
        }
        if !unknown.is_empty() && !how.skip_unknown {
            let listed = listed(
                unknown
                    .iter()
                    .map(|(id, place)| format!("{id:?} ({place})")),
                unknown.len(),
            );
            let count = match unknown.len() {
                1 => "1 id is".to_string(),
                many => format!("{many} ids are"),
            };
            return Err(Error::Import(format!(
                "{source}: {count} not in the pool: {listed}. Nothing was imported. Correct them, or pass --on-unknown skip \
                 to leave them out."
            )));
        }
        left_out.extend(unknown.into_iter().map(|(id, _)| id));
        Ok((found, left_out))
    }
}

/// Whether the item was gone from the pool when it was exported.
fn is_gone(label: &ImportedLabel) -> bool {
    label.content == LabelContent::Mark { mark: Mark::Gone }
}

/// The classes by name, those that will be added included.
fn with_classes(
    log: &Log,
    source: &str,
    labels_of_items: &LabelsOfItems<'_>,
    how: &Import,
) -> Result<(HashMap<String, ClassId>, Vec<String>)> {
    let labels = log.labels();
    let name = |class: &ClassId| (log.class_name(*class).to_string(), *class);
    let mut classes: HashMap<String, ClassId> = labels.classes().iter().map(name).collect();
    let mut new = BTreeSet::new();
    for (_, label) in labels_of_items {
        if let LabelContent::Label { classes: named, .. } = &label.content {
            new.extend(
                named
                    .iter()
                    .map(|(name, _)| name)
                    .filter(|name| !classes.contains_key(*name))
                    .cloned(),
            );
        }
    }
    let mut new: Vec<String> = new.into_iter().collect();
    if new.iter().all(|name| name.parse::<i64>().is_ok()) {
        new.sort_by_key(|name| name.parse::<i64>().unwrap_or(0));
    }
    if !new.is_empty() && !how.add_classes {
        let listed = listed(new.iter().map(|name| format!("{name:?}")), new.len());
        return Err(Error::Import(format!(
            "{source}: not classes of this project: {listed}. Nothing was imported. Rename them, or pass --add-classes."
        )));
    }
    if labels.class_ids() + new.len() > 65_000 {
        return Err(Error::Import(format!(
            "{source}: more than 65,000 classes. Nothing was imported. Merge some."
        )));
    }
    let ids = if new.is_empty() {
        0
    } else {
        labels.new_class().0
    }..;
    classes.extend(new.iter().cloned().zip(ids.map(ClassId)));
    Ok((classes, new))
}

/// Those of these items that have labels that differ and none that adjudicates.
pub(crate) fn contradictions(log: &Log, items: &BTreeSet<String>) -> Vec<Contradiction> {
    let differs = |item: &String| {
        let mut labels = log
            .labels()
            .counted(item)
            .map(|who| log.label_of(item, who));
        let first = labels.next();
        labels.any(|other| Some(other) != first)
    };
    let words = |item: &String| {
        let labels = log.labels_of(item);
        labels
            .map(|(who, classes)| (who.to_string(), log.label_in_words(&classes)))
            .collect()
    };
    items
        .iter()
        .filter(|item| differs(item))
        .map(|item| Contradiction {
            item: item.clone(),
            labels: words(item),
        })
        .collect()
}

fn listed(words: impl Iterator<Item = String>, total: usize) -> String {
    let first = words.take(LISTED).collect::<Vec<_>>().join(", ");
    match total.saturating_sub(LISTED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// What is to be stored.
struct Plan<'a> {
    log: &'a Log,
    source: &'a str,
    /// The annotator of labels that come without one.
    annotator: String,
    /// Decisions with their annotators, in order.
    decisions: Vec<(String, Change)>,
    /// The labels among them, by item and annotator.
    coming: HashMap<(String, String), Coming>,
    touched: BTreeSet<String>,
    imported: Imported,
}

/// The classes of a label, and whether it adjudicates.
type Coming = (Vec<(ClassId, f64)>, bool);

/// The labels to import, each with the id of its item.
type LabelsOfItems<'g> = Vec<(String, &'g ImportedLabel)>;

impl<'a> Plan<'a> {
    fn new(log: &'a Log, source: &'a str, how: &Import) -> Plan<'a> {
        Plan {
            log,
            source,
            annotator: how.annotator.clone().unwrap_or_else(|| source.into()),
            decisions: Vec::new(),
            coming: HashMap::new(),
            touched: BTreeSet::new(),
            imported: Imported::default(),
        }
    }

    fn add(&mut self, item: &str, label: &ImportedLabel, classes: &HashMap<String, ClassId>) {
        match &label.content {
            LabelContent::Label {
                annotator,
                classes: named,
                adjudicates,
                ..
            } => {
                let class = |(name, weight): &(String, f64)| (classes[name], *weight);
                let annotator = annotator.as_ref().unwrap_or(&self.annotator).clone();
                let named = named.iter().map(class).collect();
                self.label(item, &annotator, (named, *adjudicates));
            }
            LabelContent::Mark { mark } => self.mark(item, *mark),
        }
    }

    /// Takes a label, under the first name whose label for this item is not another one.
    fn label(&mut self, item: &str, annotator: &str, label: Coming) {
        for name in names(annotator, self.source) {
            let place = (item.to_string(), name);
            let there = || {
                let classes = self.log.label_of(item, &place.1)?;
                Some((classes, self.log.labels().adjudicates(item, &place.1)))
            };
            match self.coming.get(&place).cloned().or_else(there) {
                Some(before) if before == label => return self.imported.known += 1,
                Some(_) => {}
                None => {
                    self.imported.labels += 1;
                    self.touched.insert(item.to_string());
                    let change = Change::Label {
                        item: item.to_string(),
                        classes: label.0.clone(),
                        adjudicates: label.1,
                    };
                    self.decisions.push((place.1.clone(), change));
                    self.coming.insert(place, label);
                    return;
                }
            }
        }
    }

    fn mark(&mut self, item: &str, mark: Mark) {
        let (skipped, excluded) = self.log.labels().marks_of(item);
        let item = item.to_string();
        let change = match mark {
            Mark::Skipped if !skipped => Change::Skip { item },
            Mark::Excluded if !excluded => Change::Exclude { item },
            _ => return,
        };
        self.imported.marks += 1;
        self.decisions.push((self.annotator.clone(), change));
    }

    /// Submissions of one annotator each, in the order of the decisions.
    fn submissions(&self, added: &[String], key: &str) -> Vec<Submission> {
        let add = added
            .iter()
            .map(|name| (String::new(), Decision::AddClass { name: name.clone() }));
        let changes = self
            .decisions
            .iter()
            .map(|(who, change)| (who.clone(), Decision::from(change.clone())));
        let mut submissions: Vec<Submission> = Vec::new();
        for (annotator, decision) in add.chain(changes) {
            match submissions.last_mut() {
                Some(last)
                    if last.annotator == annotator
                        && last.decisions.len() < DECISIONS_PER_SUBMISSION =>
                {
                    last.decisions.push(decision);
                }
                _ => submissions.push(Submission {
                    annotator,
                    decisions: vec![decision],
                    provenance: Provenance {
                        source: Some(self.source.into()),
                        ..Provenance::default()
                    },
                    ..Submission::default()
                }),
            }
        }
        // Keys come from the content, so that an import that was killed half-way can be repeated: what is left is other
        // content then.
        submissions
            .iter_mut()
            .for_each(|one| one.key = format!("{key}/{}", digest(one)));
        submissions
    }
}

fn digest(submission: &Submission) -> String {
    let content =
        serde_json::to_vec(&(&submission.annotator, &submission.decisions)).unwrap_or_default();
    hex::encode(&Sha256::digest(content)[..12])
}

/// `ann`, `ann (labels.csv)`, `ann (labels.csv, 2)`, ...
fn names(annotator: &str, source: &str) -> impl Iterator<Item = String> {
    let (annotator, source) = (annotator.to_string(), source.to_string());
    (0..).map(move |number: u32| match number {
        0 => annotator.clone(),
        _ if annotator == source => format!("{annotator} ({})", number + 1),
        1 => format!("{annotator} ({source})"),
        _ => format!("{annotator} ({source}, {number})"),
    })
}
