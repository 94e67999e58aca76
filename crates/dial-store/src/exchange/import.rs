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
use crate::exchange::labels_file::{Given, Item, Named, Said, read_labels, source};
use crate::log::Log;
use crate::log::record::Remark;
use crate::project::Project;
use crate::project::folder::check_room;

/// Decisions of one submission, and of one transaction, at most.
const AT_ONCE: usize = 1_000;
const TRANSACTION: usize = 5_000;
/// Bytes that a label takes in the database and its log, at most, unless names are long.
const RECORD: u64 = 2_000;
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
    group: u64,
    touched: BTreeSet<String>,
    imported: Imported,
}

impl Project {
    /// Imports the labels of a file. The key is the sender's, as that of a submission.
    ///
    /// # Errors
    /// A file that cannot be read, items or classes that are not there, labels that cannot be (I12): nothing is imported.
    /// Where the disk fails half-way through more than 5,000 labels, those before stay, in one group, and the same file
    /// can be imported again.
    pub fn import(&mut self, file: &Path, how: &Import, key: &str, now: u64) -> Result<Imported> {
        let given = read_labels(file, &how.columns)?;
        self.import_given(&source(file), given, how, key, now)
    }

    /// The same with labels that were read before; `source` is where they come from.
    ///
    /// # Errors
    /// As [`Project::import`].
    pub fn import_given(
        &mut self,
        source: &str,
        given: Vec<Given>,
        how: &Import,
        key: &str,
        now: u64,
    ) -> Result<Imported> {
        let mut importing = self.plan_import(source, given, how, key)?;
        while self.import_some(&mut importing, now)? {}
        Ok(self.imported(importing))
    }

    /// Begins an import: everything is checked, nothing is stored yet.
    ///
    /// # Errors
    /// As [`Project::import`].
    pub fn plan_import(
        &mut self,
        source: &str,
        given: Vec<Given>,
        how: &Import,
        key: &str,
    ) -> Result<Importing> {
        let (given, unknown) = self.with_items(source, given, how)?;
        let (classes, added) = self.with_classes(source, &given, how)?;
        let mut plan = Plan::new(self.log(), source, how);
        for (item, given) in &given {
            plan.add(item, given, &classes);
        }
        let mut submissions = plan.submissions(&added, key);
        submissions.reverse();
        let Plan {
            touched, imported, ..
        } = plan;
        if let Some(folder) = self.folder() {
            check_room(
                &folder.0,
                RECORD * (imported.labels + imported.marks) as u64,
            )?;
        }
        // What an earlier attempt under this key has stored is undone together with the rest.
        let group = self.log().group_of_import(key);
        Ok(Importing {
            submissions,
            group: group.unwrap_or_else(|| self.log().new_group()),
            touched,
            imported: Imported {
                classes: added,
                unknown,
                ..imported
            },
        })
    }

    /// Stores the next part of an import, so that others get their turn between parts. Whether there is more.
    ///
    /// # Errors
    /// What storing may fail with; the parts before stay.
    pub fn import_some(&mut self, importing: &mut Importing, now: u64) -> Result<bool> {
        let mut size = 0;
        let mut part = Vec::new();
        while let Some(next) = importing
            .submissions
            .pop_if(|next| size == 0 || size + next.decisions.len() <= TRANSACTION)
        {
            size += next.decisions.len();
            part.push(next);
        }
        let receipts = self.submit_together(&part, importing.group, now)?;
        for (receipt, submission) in receipts.iter().zip(&part) {
            match receipt.repeated {
                // Sent before under this key: it is not stored again, whatever became of it since.
                true => importing.imported.forget(&submission.decisions),
                false => importing.imported.group = Some(importing.group),
            }
        }
        Ok(!importing.submissions.is_empty())
    }

    /// What became of an import that is over.
    pub fn imported(&self, importing: Importing) -> Imported {
        let contradictions = self.contradictions(&importing.touched);
        Imported {
            contradictions,
            ..importing.imported
        }
    }

    /// Finds the items that are meant.
    fn with_items(
        &mut self,
        source: &str,
        given: Vec<Given>,
        how: &Import,
    ) -> Result<(Meant, Vec<String>)> {
        let ids = self.item_ids()?;
        // What was gone when it was exported need not be here either.
        let gone = given
            .iter()
            .filter(|given| given.said == Said::Mark(Mark::Gone))
            .map(|given| given.item.clone());
        let gone: HashSet<Item> = gone.collect();
        let (mut found, mut unknown, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        let mut seen = HashSet::new();
        for given in given {
            let (name, known) = match &given.item {
                Item::Row(_, rows) if *rows != ids.len() => {
                    return Err(Error::Import(format!(
                        "{source}: {rows} labels without ids for {} items. Nothing was imported. Give one for each, or ids.",
                        ids.len()
                    )));
                }
                Item::Row(row, _) => (row.to_string(), ids.get(*row)),
                Item::Id(id, meant) => {
                    let mut either = [Some(id), meant.as_ref()].into_iter().flatten();
                    (id.clone(), either.find(|id| self.has_item(id)))
                }
            };
            match known.cloned() {
                Some(id) => found.push((id, given)),
                None if given.said == Said::Mark(Mark::Gone) || !seen.insert(name.clone()) => {}
                None if gone.contains(&given.item) => left_out.push(name),
                None => unknown.push((name, given.place)),
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

    /// The classes by name, those that will be added included.
    fn with_classes(
        &self,
        source: &str,
        given: &[(String, Given)],
        how: &Import,
    ) -> Result<(HashMap<String, ClassId>, Vec<String>)> {
        let labels = self.log().labels();
        let name = |class: &ClassId| (self.log().class_name(*class).to_string(), *class);
        let mut classes: HashMap<String, ClassId> = labels.classes().iter().map(name).collect();
        let mut new = BTreeSet::new();
        for (_, given) in given {
            if let Said::Label { classes: named, .. } = &given.said {
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
        if labels.schema().len() + new.len() > 65_000 {
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

    /// Those of these items that have labels that differ.
    pub fn contradictions(&self, items: &BTreeSet<String>) -> Vec<Contradiction> {
        let differs = |item: &String| {
            let mut labels = self
                .log()
                .labels()
                .labels_of(item)
                .map(|(_, classes)| classes);
            let first = labels.next();
            labels.any(|other| Some(other) != first)
        };
        let words = |item: &String| {
            let said = self.log().labels().labels_of(item);
            said.map(|(who, classes)| (who.to_string(), self.log().label_in_words(classes)))
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
    coming: HashMap<(String, String), Classes>,
    touched: BTreeSet<String>,
    imported: Imported,
}

type Classes = Vec<(ClassId, f64)>;

/// What is given, with the item that is meant.
type Meant = Vec<(String, Given)>;

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

    fn add(&mut self, item: &str, given: &Given, classes: &HashMap<String, ClassId>) {
        match &given.said {
            Said::Label {
                annotator,
                classes: named,
                ..
            } => {
                let class = |(name, weight): &(String, f64)| (classes[name], *weight);
                let annotator = annotator.as_ref().unwrap_or(&self.annotator).clone();
                self.label(item, &annotator, named.iter().map(class).collect());
            }
            Said::Mark(mark) => self.mark(item, *mark),
        }
    }

    /// Takes a label, under the first name whose label for this item is not another one.
    fn label(&mut self, item: &str, annotator: &str, label: Classes) {
        for name in names(annotator, self.source) {
            let place = (item.to_string(), name);
            let before = self
                .coming
                .get(&place)
                .map(Vec::as_slice)
                .or_else(|| self.log.label_of(item, &place.1));
            match before {
                Some(before) if before == label => return self.imported.known += 1,
                Some(_) => {}
                None => {
                    self.imported.labels += 1;
                    self.touched.insert(item.to_string());
                    let change = Change::Label {
                        item: item.to_string(),
                        classes: label.clone(),
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
                Some(last) if last.annotator == annotator && last.decisions.len() < AT_ONCE => {
                    last.decisions.push(decision);
                }
                _ => submissions.push(Submission {
                    annotator,
                    decisions: vec![decision],
                    remark: Remark {
                        source: Some(self.source.into()),
                        ..Remark::default()
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
    Sha256::digest(content)[..12]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
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
