//! How the project came to where it is: a point whenever the number of labelled items has changed.
//!
//! A point takes the place of those with as many labels or more, so that an undo takes points away and what is drawn is a
//! curve over labels. Beyond 2,000 points every other one is left out. Points are kept with the project, as a cache.

use dial::View;
use dial_store::{Interval, Project, SETTLED};
use parking_lot::{Mutex, MutexGuard, RwLock};

use crate::http::wire::Point;

/// The name under which points are kept.
const KEPT: &str = "progress";

/// The most points.
const MOST: usize = 2000;

/// New points after which they are kept.
const OFTEN: usize = 20;

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
        let kept = project.kept(KEPT).ok().flatten();
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
    pub fn add(&self, view: &View<'_>, version: u64, project: &RwLock<Project>) {
        let labelled = view.labelled().len();
        if self.held().all.last().map_or(0, |last| last.labelled) == labelled {
            return;
        }
        let log_time = || {
            let project = project.read();
            let place = version.min(project.log().version()).checked_sub(1);
            place.map_or(0, |place| project.log().records()[place as usize].time)
        };
        let (time, accuracy) = (log_time(), view.accuracy().map(Interval::from));
        let point = Point {
            version,
            time,
            labelled,
            classes_met: view.met(),
            settled: view.settled(SETTLED),
            accuracy,
        };
        let mut points = self.held();
        add(&mut points.all, point);
        points.new += 1;
        let due = points.new >= OFTEN;
        drop(points);
        if due {
            self.keep(project);
        }
    }

    /// Keeps the points with the project, if there are new ones. A cache: whether that works changes nothing.
    pub fn keep(&self, project: &RwLock<Project>) {
        let bytes = {
            let mut points = self.held();
            if std::mem::take(&mut points.new) == 0 {
                return;
            }
            serde_json::to_vec(&points.all).unwrap_or_default()
        };
        let _ = project.write().keep(KEPT, &bytes);
    }

    fn held(&self) -> MutexGuard<'_, Points> {
        self.points.lock()
    }
}

fn add(points: &mut Vec<Point>, point: Point) {
    points.retain(|before| before.labelled < point.labelled);
    if point.labelled > 0 {
        points.push(point);
    }
    if points.len() > MOST {
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
