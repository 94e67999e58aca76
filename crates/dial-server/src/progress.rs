//! How the project came to where it is: a point whenever the number of labelled items has changed.
//!
//! A point takes the place of those with as many labels or more, so that an undo takes points away and what is drawn is a
//! curve over labels. Beyond 2,000 points every other one is left out. Points are kept with the project, as a cache; those
//! that a server has not seen or has lost (labels given without one, a crash) are made again from the log when it is idle.

use std::collections::HashSet;

use dial::{Change, View};
use dial_store::{Interval, Log, Project, SETTLED};
use parking_lot::{Mutex, MutexGuard};

use crate::http::wire::Point;
use crate::writer::SharedProject;

/// The name under which points are kept.
const PROGRESS_KEY: &str = "progress";

/// The most points.
const MAX_POINTS: usize = 2000;

/// The points that a curve has at least, where there are as many labels.
const MIN_CURVE_POINTS: usize = 50;

/// New points after which they are kept.
const POINTS_PER_SAVE: usize = 20;

/// The points so far.
#[derive(Default)]
pub struct Progress {
    points: Mutex<Points>,
}

#[derive(Default)]
struct Points {
    all: Vec<Point>,
    /// How many are new since they were kept last.
    new: usize,
}

impl Progress {
    /// What was kept with a project; points of a longer log than it has are left out.
    pub fn of(project: &mut Project) -> Progress {
        let kept = project.kept(PROGRESS_KEY).ok().flatten();
        let mut all: Vec<Point> = kept
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        all.retain(|point| point.version <= project.log().version());
        Progress {
            points: Mutex::new(Points { all, new: 0 }),
        }
    }

    /// The points so far.
    pub fn points(&self) -> Vec<Point> {
        self.held().all.clone()
    }

    /// Adds what a belief says, if the number of labelled items is another one than before.
    pub fn add(&self, view: &View<'_>, version: u64, project: &SharedProject) {
        let labelled = view.labelled().len();
        if self.held().all.last().map_or(0, |last| last.labelled) == labelled {
            return;
        }
        let point = point(view, version, project.snapshot().log());
        let mut points = self.held();
        add(&mut points.all, point);
        points.new += 1;
        let due = points.new >= POINTS_PER_SAVE;
        drop(points);
        if due {
            self.keep(project);
        }
    }

    /// The places of a log at which points are missing, in order.
    pub fn missing(&self, log: &Log) -> Vec<u64> {
        missing(&self.held().all, log)
    }

    /// Adds a point of an earlier place of the log, where there is none.
    pub fn fill(&self, view: &View<'_>, version: u64, log: &Log) {
        let point = point(view, version, log);
        let mut points = self.held();
        let place = points
            .all
            .partition_point(|other| other.labelled < point.labelled);
        let next = points.all.get(place);
        if point.labelled > 0 && next.is_some_and(|next| next.labelled > point.labelled) {
            points.all.insert(place, point);
            points.new += 1;
        }
    }

    /// Has the points kept with the project, if there are new ones.
    pub fn keep(&self, project: &SharedProject) {
        let bytes = {
            let mut points = self.held();
            if std::mem::take(&mut points.new) == 0 {
                return;
            }
            serde_json::to_vec(&points.all).unwrap_or_default()
        };
        project.keep_soon(PROGRESS_KEY, bytes);
    }

    fn held(&self) -> MutexGuard<'_, Points> {
        self.points.lock()
    }
}

/// What a belief says that was made from this place of a log.
fn point(view: &View<'_>, version: u64, log: &Log) -> Point {
    let place = version.min(log.version()).checked_sub(1);
    Point {
        version,
        time: place.map_or(0, |place| log.records()[place as usize].time),
        labelled: view.labelled().len(),
        classes_met: view.met(),
        settled: view.settled(SETTLED),
        accuracy: view.accuracy().map(Interval::from),
    }
}

/// The places of a log at which points are missing: its labels as they stand now are cut into equal parts, and each has a
/// point.
fn missing(points: &[Point], log: &Log) -> Vec<u64> {
    let (mut open, mut excluded, mut grown) = (HashSet::new(), HashSet::new(), Vec::new());
    let is_live = |record: &&dial_store::Record| log.labels().is_live(record.group);
    for record in log.records().iter().filter(is_live) {
        match record.change() {
            Some(Change::Label { item, .. }) if !excluded.contains(item) => {
                let new = open.insert(item);
                grown.extend(new.then_some((open.len(), record.seq)));
            }
            Some(Change::Exclude { item }) => {
                excluded.insert(item);
                open.remove(item);
            }
            Some(Change::Reopen { item }) => {
                excluded.remove(item);
            }
            _ => {}
        }
    }
    let step = open.len().div_ceil(MIN_CURVE_POINTS).max(1);
    let is_there = |level: usize| {
        let mut points = points.iter();
        points.any(|point| level - step < point.labelled && point.labelled <= level)
    };
    let place = |level: usize| {
        let reached = grown.iter().find(|(labelled, _)| *labelled >= level);
        reached.map(|(_, seq)| *seq)
    };
    let levels = (step..open.len()).step_by(step);
    levels
        .filter(|&level| !is_there(level))
        .filter_map(place)
        .collect()
}

fn add(points: &mut Vec<Point>, point: Point) {
    points.retain(|before| before.labelled < point.labelled);
    if point.labelled > 0 {
        points.push(point);
    }
    if points.len() > MAX_POINTS {
        let last = points.len() - 1;
        let mut place = 0;
        points.retain(|_| {
            place += 1;
            (place - 1) % 2 == 0 || place - 1 == last
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(labelled: usize) -> Point {
        Point {
            version: labelled as u64,
            time: 0,
            labelled,
            classes_met: 1,
            settled: 0.0,
            accuracy: None,
        }
    }

    #[test]
    fn points_are_missing_where_labels_stand_that_nobody_saw() {
        use dial::ClassId;
        use dial_store::{Decision, Submission};
        let mut project = Project::in_memory("p", Vec::new(), None).unwrap();
        let add = |name: &str| Decision::AddClass { name: name.into() };
        let recipe = dial_store::Recipe {
            items: 400,
            ..dial_store::Recipe::new("rows", dial_data::ReadOptions::default())
        };
        let label = |row: u32| Decision::label(&row.to_string(), ClassId(0));
        let mut submit = |key: &str, decisions: Vec<Decision>| {
            let submission = Submission {
                key: key.into(),
                decisions,
                ..Submission::default()
            };
            project.submit_one(submission, 1).unwrap();
            project.log().version()
        };
        let first = vec![Decision::Recipe(Box::new(recipe)), add("a"), add("b")];
        assert_eq!(submit("new", first), 3);
        // Five labels, two of which are taken back: 4, 5, (6, 7), 8, 9 and two undos.
        for row in 0..2 {
            submit(&format!("l{row}"), vec![label(row)]);
        }
        let gone = submit("gone", vec![label(100), label(101)]);
        assert_eq!(gone, 7);
        submit("undo", vec![Decision::Undo { group: None }]);
        for row in 2..5 {
            submit(&format!("l{row}"), vec![label(row)]);
        }
        // Record 8 is the undo; labels 3 to 5 are 9 to 11. The last is the present, which is no hole.
        assert_eq!(missing(&[], project.log()), [4, 5, 9, 10]);
        assert_eq!(missing(&[point(2), point(5)], project.log()), [4, 9, 10]);
    }

    #[test]
    fn of_many_labels_every_fiftieth_part_has_a_point() {
        use dial::ClassId;
        use dial_store::{Decision, Submission};
        let mut project = Project::in_memory("p", Vec::new(), None).unwrap();
        let recipe = dial_store::Recipe {
            items: 400,
            ..dial_store::Recipe::new("rows", dial_data::ReadOptions::default())
        };
        let add = Decision::AddClass { name: "a".into() };
        let labels = (0..200).map(|row: u32| Decision::label(&row.to_string(), ClassId(0)));
        let first = vec![Decision::Recipe(Box::new(recipe)), add];
        for (key, decisions) in [("new", first), ("all", labels.collect())] {
            let submission = Submission {
                key: key.into(),
                decisions,
                ..Submission::default()
            };
            project.submit_one(submission, 1).unwrap();
        }
        // 200 labels in parts of 4, of which the last is the present: records 2 + 4, 2 + 8, ...
        let parts: Vec<u64> = (1..50).map(|part| 2 + 4 * part).collect();
        assert_eq!(missing(&[], project.log()), parts);
        assert_eq!(missing(&[point(6)], project.log()).len(), 48);
    }

    #[test]
    fn an_undo_takes_points_away_and_many_are_thinned() {
        let mut points = Vec::new();
        [1, 2, 5, 9, 4]
            .into_iter()
            .for_each(|labelled| add(&mut points, point(labelled)));
        assert_eq!(
            points
                .iter()
                .map(|point| point.labelled)
                .collect::<Vec<_>>(),
            [1, 2, 4]
        );
        add(&mut points, point(0));
        assert!(points.is_empty());
        (1..=2001).for_each(|labelled| add(&mut points, point(labelled)));
        assert_eq!(
            (points.len(), points[1].labelled, points[1000].labelled),
            (1001, 3, 2001)
        );
        (2002..=3001).for_each(|labelled| add(&mut points, point(labelled)));
        assert_eq!(
            (points.len(), points.last().unwrap().labelled),
            (1001, 3001)
        );
    }
}
