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
use crate::export::Mark;
use crate::labels_file::{Given, Item, Named, Said, read_labels, source};
use crate::place::check_room;
use crate::project::Project;
use crate::record::Remark;

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
        let labels = decisions
            .iter()
            .filter(|one| matches!(one, Decision::Label { .. }))
            .count();
        let mark =
            |one: &&Decision| matches!(one, Decision::Skip { .. } | Decision::Exclude { .. });
        let marks = decisions.iter().filter(mark).count();
        (self.labels, self.known, self.marks) = (
            self.labels - labels,
            self.known + labels,
            self.marks - marks,
        );
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
        let plan = Plan::new(self, source, &given, &classes, how)?;
        let mut submissions = plan.submissions(source, &added, key);
        submissions.reverse();
        if let Some(folder) = self.folder() {
            check_room(&folder.0, RECORD * (plan.labels + plan.marks) as u64)?;
        }
        // What an earlier attempt under this key has stored is undone together with the rest.
        let group = self
            .log()
            .group_of_import(key)
            .unwrap_or_else(|| self.log().new_group());
        let Plan {
            touched,
            labels,
            known,
            marks,
            ..
        } = plan;
        let (done, contradictions) = (None, Vec::new());
        let imported = Imported {
            labels,
            known,
            marks,
            classes: added,
            unknown,
            contradictions,
            group: done,
        };
        Ok(Importing {
            submissions,
            group,
            touched,
            imported,
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
            let id = match &given.item {
                Item::Row(_, rows) if *rows != ids.len() => {
                    let text = format!(
                        "{source}: {rows} labels without ids for {} items",
                        ids.len()
                    );
                    return Err(Error::Import(format!(
                        "{text}. Nothing was imported. Give one for each, or ids."
                    )));
                }
                Item::Row(row, _) => ids.get(*row),
                Item::Id(id, meant) => [Some(id), meant.as_ref()]
                    .into_iter()
                    .flatten()
                    .find(|id| self.has_item(id)),
            };
            match (id.cloned(), &given.item, &given.said) {
                (Some(id), _, _) => found.push((id, given)),
                (None, _, Said::Mark(Mark::Gone)) => {}
                (None, Item::Id(id, _), _) if !seen.insert(id.clone()) => {}
                (None, Item::Id(id, _), _) if gone.contains(&given.item) => {
                    left_out.push(id.clone())
                }
                (None, Item::Id(id, _), _) => unknown.push((id.clone(), given.place.clone())),
                (None, Item::Row(..), _) => unreachable!("rows were counted"),
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
#[derive(Default)]
struct Plan {
    /// Decisions with their annotators, in order.
    decisions: Vec<(String, Change)>,
    touched: BTreeSet<String>,
    labels: usize,
    known: usize,
    marks: usize,
}

type Classes = Vec<(ClassId, f64)>;

/// What is given, with the item that is meant.
type Meant = Vec<(String, Given)>;

impl Plan {
    fn new(
        project: &Project,
        source: &str,
        given: &[(String, Given)],
        classes: &HashMap<String, ClassId>,
        how: &Import,
    ) -> Result<Plan> {
        let mut plan = Plan::default();
        let mut coming: HashMap<(String, String), Classes> = HashMap::new();
        let default = how.annotator.clone().unwrap_or_else(|| source.to_string());
        for (item, given) in given {
            match &given.said {
                Said::Label {
                    annotator,
                    classes: named,
                    ..
                } => {
                    let label: Classes = named
                        .iter()
                        .map(|(name, weight)| (classes[name], *weight))
                        .collect();
                    let annotator = annotator.clone().unwrap_or_else(|| default.clone());
                    plan.label(project, &mut coming, item, &annotator, source, label);
                }
                Said::Mark(mark) => plan.mark(project, item, *mark, &default),
            }
        }
        Ok(plan)
    }

    /// Takes a label, under the first name whose label for this item is not another one.
    fn label(
        &mut self,
        project: &Project,
        coming: &mut HashMap<(String, String), Classes>,
        item: &str,
        annotator: &str,
        source: &str,
        label: Classes,
    ) {
        for name in names(annotator, source) {
            let place = (item.to_string(), name);
            let before = coming
                .get(&place)
                .map(Vec::as_slice)
                .or_else(|| project.log().label_of(item, &place.1));
            match before {
                Some(before) if before == label => return self.known += 1,
                Some(_) => {}
                None => {
                    self.labels += 1;
                    self.touched.insert(item.to_string());
                    let change = Change::Label {
                        item: item.to_string(),
                        classes: label.clone(),
                    };
                    self.decisions.push((place.1.clone(), change));
                    coming.insert(place, label);
                    return;
                }
            }
        }
    }

    fn mark(&mut self, project: &Project, item: &str, mark: Mark, annotator: &str) {
        let (skipped, excluded) = project.log().labels().marks_of(item);
        let item = item.to_string();
        let change = match mark {
            Mark::Skipped if !skipped => Change::Skip { item },
            Mark::Excluded if !excluded => Change::Exclude { item },
            _ => return,
        };
        self.marks += 1;
        self.decisions.push((annotator.to_string(), change));
    }

    /// Submissions of one annotator each, in the order of the decisions.
    fn submissions(&self, source: &str, added: &[String], key: &str) -> Vec<Submission> {
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
                _ => {
                    let remark = Remark {
                        source: Some(source.into()),
                        ..Remark::default()
                    };
                    let key = String::new();
                    submissions.push(Submission {
                        key,
                        annotator,
                        decisions: vec![decision],
                        replace: false,
                        remark,
                    });
                }
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
