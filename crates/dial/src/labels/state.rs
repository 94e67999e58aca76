//! What the live events of a log say together: classes, labels and marks of items, weights of annotators, settings.
//!
//! Every event is checked against what stands when it is applied. Which events are live is the business of `labels`.

use std::collections::BTreeMap;

use crate::belief::field::MODERATE;
use crate::error::{Error, Result};
use crate::ids::ClassId;
use crate::labels::events::{Change, Class, Event, Fate};

/// What the live events say.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct State {
    pub(crate) classes: Vec<Class>,
    pub(crate) items: BTreeMap<String, Marks>,
    pub(crate) weights: BTreeMap<String, f64>,
    pub(crate) settings: Option<(f64, usize)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Marks {
    /// Latest live label of each annotator, with its place in the log.
    pub(crate) labels: BTreeMap<String, (usize, Vec<(ClassId, f64)>)>,
    pub(crate) skipped: bool,
    pub(crate) excluded: bool,
}

impl Marks {
    pub(crate) fn closed(&self) -> bool {
        self.skipped || self.excluded || !self.labels.is_empty()
    }
}

impl State {
    pub(crate) fn apply(&mut self, place: usize, event: &Event) -> Result<()> {
        match &event.change {
            Change::AddClass { class, name } => self.add_class(*class, name),
            Change::RenameClass { class, name } => self.rename_class(*class, name),
            Change::MergeClass { from, into } => self.merge_class(*from, *into),
            Change::Label { item, classes } => {
                self.check_label(item, classes)?;
                self.marks(item)
                    .labels
                    .insert(event.annotator.clone(), (place, classes.clone()));
                Ok(())
            }
            Change::Skip { item } => {
                self.marks(item).skipped = true;
                Ok(())
            }
            Change::Exclude { item } => {
                self.marks(item).excluded = true;
                Ok(())
            }
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
            Change::Undo { .. } | Change::Redo { .. } => Ok(()),
        }
    }

    fn marks(&mut self, item: &str) -> &mut Marks {
        self.items.entry(item.to_string()).or_default()
    }

    /// Whether there are classes to choose between.
    pub(crate) fn usable(&self) -> bool {
        self.live_classes() >= 2
    }

    fn live_classes(&self) -> usize {
        self.classes
            .iter()
            .filter(|class| class.fate == Fate::Live)
            .count()
    }

    /// The live class that stands for a class after merges.
    pub(crate) fn resolve(&self, class: ClassId) -> ClassId {
        match self.classes[class.index()].fate {
            Fate::Merged(into) => self.resolve(into),
            Fate::Live | Fate::Undone => class,
        }
    }

    fn live(&self, class: ClassId) -> Result<()> {
        match self.classes.get(class.index()) {
            Some(Class {
                fate: Fate::Live, ..
            }) => Ok(()),
            _ => Err(Error::UnknownClass(class.0.to_string())),
        }
    }

    fn check_name(&self, name: &str) -> Result<()> {
        if self
            .classes
            .iter()
            .any(|class| class.fate == Fate::Live && class.name == name)
        {
            return Err(Error::Conflict(format!(
                "there is a class {name:?} already. Choose another name."
            )));
        }
        Ok(())
    }

    fn add_class(&mut self, class: ClassId, name: &str) -> Result<()> {
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
                fate: Fate::Undone,
            },
        );
        self.classes.push(Class {
            name: name.to_string(),
            fate: Fate::Live,
        });
        Ok(())
    }

    fn rename_class(&mut self, class: ClassId, name: &str) -> Result<()> {
        self.live(class)?;
        if self.classes[class.index()].name != name {
            self.check_name(name)?;
        }
        self.classes[class.index()].name = name.to_string();
        Ok(())
    }

    fn merge_class(&mut self, from: ClassId, into: ClassId) -> Result<()> {
        self.live(from)?;
        self.live(into)?;
        if from == into {
            return Err(Error::Conflict(format!(
                "class {} cannot be merged into itself. Name two classes.",
                from.0
            )));
        }
        let left = self.live_classes() - 1;
        if left < 2 {
            return Err(Error::TooFewClasses(left));
        }
        self.classes[from.index()].fate = Fate::Merged(into);
        Ok(())
    }

    pub(crate) fn check_label(&self, item: &str, classes: &[(ClassId, f64)]) -> Result<()> {
        let refuse = |why: &str| {
            Err(Error::BadLabel {
                item: item.to_string(),
                why: why.to_string(),
            })
        };
        if classes.is_empty() {
            return refuse("names no class");
        }
        for (place, &(class, weight)) in classes.iter().enumerate() {
            self.live(class)?;
            if classes[..place].iter().any(|&(other, _)| other == class) {
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
    if MODERATE.contains(&value) {
        return Ok(());
    }
    Err(Error::setting(name, "a number from 1e-100 to 1e100", value))
}
