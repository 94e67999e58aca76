//! The schema that the live events of a log add up to: classes, weights of annotators, settings.
//!
//! It does not depend on answers. An answer depends on it in one way: its classes must live at its place of the log.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::belief::field::SAFE_RANGE;
use crate::error::{Error, Result};
use crate::ids::ClassId;
use crate::labels::events::{Change, Class, ClassStatus};

/// The schema after the live events.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Schema {
    pub(crate) classes: Vec<Class>,
    /// The places of the log where labels may use a class, by class.
    pub(crate) lives: Vec<Range<usize>>,
    /// The live classes by name.
    pub(crate) names: BTreeMap<String, ClassId>,
    /// The order in which people see them, as far as somebody chose one.
    pub(crate) order: Vec<ClassId>,
    pub(crate) weights: BTreeMap<String, f64>,
    pub(crate) settings: Option<(f64, usize)>,
}

impl Schema {
    /// Takes a change of it at a place of the log, or stays as it is; other changes are no business of it.
    pub(crate) fn apply(&mut self, place: usize, change: &Change) -> Result<()> {
        match change {
            Change::AddClass { class, name } => self.add_class(place, *class, name),
            Change::RenameClass { class, name } => self.rename_class(*class, name),
            Change::MergeClass { from, into } => self.merge_class(place, *from, *into),
            Change::DeleteClass { class } => {
                self.live(*class)?;
                self.end_class(place, *class, ClassStatus::Deleted)
            }
            Change::OrderClasses { classes } => self.order_classes(classes),
            Change::Weight { annotator, weight } => {
                check_positive("annotator weight", *weight)?;
                self.weights.insert(annotator.clone(), *weight);
                Ok(())
            }
            Change::Settings {
                prior_strength,
                expected_clusters,
            } => {
                check_positive("prior", *prior_strength)?;
                check_positive("expected-clusters", *expected_clusters as f64)?;
                self.settings = Some((*prior_strength, *expected_clusters));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The places of the log where labels may use a class.
    pub(crate) fn life(&self, class: ClassId) -> Range<usize> {
        self.lives.get(class.index()).cloned().unwrap_or(0..0)
    }

    /// Whether there are classes to choose between.
    pub(crate) fn usable(&self) -> bool {
        self.live_classes() >= 2
    }

    fn live_classes(&self) -> usize {
        self.names.len()
    }

    /// The live class that stands for a class after merges.
    pub(crate) fn resolve(&self, mut class: ClassId) -> ClassId {
        while let Some(ClassStatus::Merged(into)) = self.status(class) {
            class = into;
        }
        class
    }

    /// Whether a class was deleted, or the one that it was merged into.
    pub(crate) fn is_deleted(&self, class: ClassId) -> bool {
        self.status(self.resolve(class)) == Some(ClassStatus::Deleted)
    }

    fn status(&self, class: ClassId) -> Option<ClassStatus> {
        let class = self.classes.get(class.index())?;
        Some(class.status)
    }

    fn live(&self, class: ClassId) -> Result<()> {
        match self.classes.get(class.index()) {
            Some(Class {
                status: ClassStatus::Live,
                ..
            }) => Ok(()),
            _ => Err(Error::UnknownClass(class.0.to_string())),
        }
    }

    fn check_name(&self, name: &str) -> Result<()> {
        if self.names.contains_key(name) {
            return Err(Error::Conflict(format!(
                "there is a class {name:?} already. Choose another name."
            )));
        }
        Ok(())
    }

    fn add_class(&mut self, place: usize, class: ClassId, name: &str) -> Result<()> {
        self.check_name(name)?;
        if class.index() < self.classes.len() {
            return Err(Error::Conflict(format!(
                "class id {} was given before. Use the next one.",
                class.0
            )));
        }
        // Ids between were given to classes whose addition is undone.
        self.classes.resize(
            class.index(),
            Class {
                name: String::new(),
                status: ClassStatus::Undone,
            },
        );
        self.classes.push(Class {
            name: name.to_string(),
            status: ClassStatus::Live,
        });
        self.lives.resize(class.index(), 0..0);
        self.lives.push(place..usize::MAX);
        self.names.insert(name.to_string(), class);
        Ok(())
    }

    fn rename_class(&mut self, class: ClassId, name: &str) -> Result<()> {
        self.live(class)?;
        if self.classes[class.index()].name != name {
            self.check_name(name)?;
        }
        let before = std::mem::replace(&mut self.classes[class.index()].name, name.to_string());
        self.names.remove(&before);
        self.names.insert(name.to_string(), class);
        Ok(())
    }

    fn merge_class(&mut self, place: usize, from: ClassId, into: ClassId) -> Result<()> {
        self.live(from)?;
        self.live(into)?;
        if from == into {
            return Err(Error::Conflict(format!(
                "class {} cannot be merged into itself. Name two classes.",
                from.0
            )));
        }
        self.end_class(place, from, ClassStatus::Merged(into))
    }

    /// A class ends; two must be left.
    fn end_class(&mut self, place: usize, class: ClassId, status: ClassStatus) -> Result<()> {
        let left = self.live_classes() - 1;
        if left < 2 {
            return Err(Error::TooFewClasses(left));
        }
        self.classes[class.index()].status = status;
        self.lives[class.index()].end = place;
        self.names.remove(&self.classes[class.index()].name);
        Ok(())
    }

    fn order_classes(&mut self, classes: &[ClassId]) -> Result<()> {
        for (place, &class) in classes.iter().enumerate() {
            self.live(class)?;
            if classes[..place].contains(&class) {
                return Err(Error::Conflict(format!(
                    "class {} stands twice in the order. Name each class once.",
                    class.0
                )));
            }
        }
        self.order = classes.to_vec();
        Ok(())
    }

    /// Whether a label could stand at a place of the log.
    pub(crate) fn check_label(
        &self,
        place: usize,
        item: &str,
        classes: &[(ClassId, f64)],
    ) -> Result<()> {
        let refuse = |why: &str| {
            Err(Error::BadLabel {
                item: item.to_string(),
                why: why.to_string(),
            })
        };
        if classes.is_empty() {
            return refuse("names no class");
        }
        for (at, &(class, weight)) in classes.iter().enumerate() {
            if !self.life(class).contains(&place) {
                return Err(Error::UnknownClass(class.0.to_string()));
            }
            if classes[..at].iter().any(|&(other, _)| other == class) {
                return refuse("names a class twice");
            }
            if !(weight.is_finite() && weight > 0.0) {
                return refuse("has a weight that is not above 0");
            }
        }
        // A hair above 1 is rounding, as in ten weights of 0.1.
        if classes.iter().map(|(_, weight)| weight).sum::<f64>() > 1.0 + 1e-9 {
            return refuse("has weights that sum to more than 1");
        }
        Ok(())
    }
}

fn check_positive(name: &'static str, value: f64) -> Result<()> {
    if SAFE_RANGE.contains(&value) {
        return Ok(());
    }
    Err(Error::setting(name, "a number from 1e-100 to 1e100", value))
}
