//! A log and the session that follows it: what was decided is stored first, and believed afterwards.
//!
//! Before there are two classes nobody can be torn between them, yet some questions are better than others: where nothing
//! was heard, a label tells most. So until two classes are known, others stand in for them, and questions come as they will
//! later. They are in no log.

use dial::{Change, ClassId, Control, Event, Session};

use crate::error::Result;
use crate::log::Log;
use crate::material::Ground;

/// Events that are followed together: their columns are solved for in blocks.
const TOGETHER: usize = 64;

/// A session kept up with a log.
pub struct Labelling {
    ground: Ground,
    session: Session<'static>,
    version: u64,
    /// Whether classes stand in for some that are not known yet.
    pretends: bool,
}

/// What a log has that a session does not know: it can be had quickly, and followed while others use the log.
#[derive(Clone, Debug, PartialEq)]
pub struct News {
    /// The events, all of them if the session is to be made anew, each with its place in the log.
    events: Vec<(u64, Event)>,
    version: u64,
    anew: bool,
    pretends: bool,
}

impl News {
    /// Everything in a log, and classes that stand in for those that are missing.
    pub fn whole(log: &Log) -> News {
        let labels = log.labels();
        let mut events: Vec<(u64, Event)> = labels
            .events()
            .iter()
            .map(|event| (0, event.clone()))
            .collect();
        let missing = 2u16.saturating_sub(labels.classes().len() as u16);
        for stand_in in 0..missing {
            let (class, group) = (
                ClassId(labels.new_class().0 + stand_in),
                labels.new_group() + u64::from(stand_in),
            );
            let change = Change::AddClass {
                class,
                name: format!("\u{1}{stand_in}"),
            };
            events.push((
                0,
                Event {
                    group,
                    annotator: String::new(),
                    change,
                },
            ));
        }
        News {
            events,
            version: log.version(),
            anew: true,
            pretends: missing > 0,
        }
    }
}

impl Labelling {
    /// A session that knows what is in a log.
    ///
    /// # Errors
    /// What a solve may fail with; cancelled.
    pub fn new(ground: Ground, log: &Log, control: &Control) -> Result<Labelling> {
        let News {
            events,
            version,
            pretends,
            ..
        } = News::whole(log);
        let session = ground.session(events.into_iter().map(|(_, event)| event), control)?;
        Ok(Labelling {
            ground,
            session,
            version,
            pretends,
        })
    }

    /// What a log has that is not known here.
    pub fn news(&self, log: &Log) -> News {
        match self.pretends {
            true if self.version < log.version() => News::whole(log),
            _ => {
                let new = &log.records()[self.version.min(log.version()) as usize..];
                let events = new
                    .iter()
                    .filter_map(|record| Some((record.seq, record.event()?)))
                    .collect();
                News {
                    events,
                    version: log.version(),
                    anew: false,
                    pretends: self.pretends,
                }
            }
        }
    }

    /// Follows what is new, some events at a time. If that fails, what was followed stays, and the rest may be followed later.
    ///
    /// # Errors
    /// As [`Labelling::new`].
    pub fn follow(&mut self, news: News, control: &Control) -> Result<()> {
        let News {
            events,
            version,
            anew,
            pretends,
        } = news;
        if anew {
            self.session = self
                .ground
                .session(events.into_iter().map(|(_, event)| event), control)?;
        } else if !events.is_empty() {
            control.start("spreading labels", events.len());
            for some in events.chunks(TOGETHER) {
                self.session.extend(
                    some.iter().map(|(_, event)| event.clone()),
                    &control.quiet(),
                )?;
                self.version = some.last().map_or(self.version, |(seq, _)| *seq);
                control.advance(some.len())?;
            }
            control.finish();
        }
        (self.version, self.pretends) = (version, pretends);
        Ok(())
    }

    /// What it works on.
    pub fn ground(&self) -> &Ground {
        &self.ground
    }

    /// The session.
    pub fn session(&self) -> &Session<'static> {
        &self.session
    }

    /// The place in the log that is known.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Whether fewer than two classes are known, so that there is nothing to believe yet.
    pub fn pretends(&self) -> bool {
        self.pretends
    }
}

#[cfg(test)]
mod tests {
    use dial::{Features, Items};
    use dial_data::ReadOptions;

    use super::*;
    use crate::{Decision, Memory, Project, Recipe, Submission};

    fn submit(project: &mut Project, key: &str, decisions: Vec<Decision>) {
        let (annotator, remark) = (String::new(), Default::default());
        let submission = Submission {
            key: key.into(),
            annotator,
            decisions,
            replace: false,
            remark,
        };
        project.submit_one(submission, 1).unwrap();
    }

    fn label(item: &str, class: u16) -> Decision {
        Decision::Change(Change::Label {
            item: item.into(),
            classes: vec![(ClassId(class), 1.0)],
        })
    }

    #[test]
    fn stand_ins_give_way_and_following_is_replaying() {
        let control = Control::new();
        let x: Vec<f64> = (0..40)
            .map(|i| f64::from(i) + if i < 20 { 0.0 } else { 100.0 })
            .collect();
        let recipe = Recipe {
            items: 40,
            k: 5,
            ..Recipe::new("", ReadOptions::default())
        };
        let ground = || {
            let features = Features::f64(&x, 40, 1).unwrap();
            Ground::of(features, Items::rows(40), recipe.clone(), &control).unwrap()
        };
        let mut project = Project::on(Box::new(Memory::new("p")), None, None).unwrap();
        let settings = Decision::Change(Change::Settings {
            prior_strength: 1e-4,
            expected_clusters: 20,
        });
        submit(
            &mut project,
            "new",
            vec![Decision::Recipe(Box::new(recipe.clone())), settings],
        );
        let mut labelling = Labelling::new(ground(), project.log(), &control).unwrap();
        assert!(labelling.pretends());
        let first = labelling.session().ask(1).unwrap().questions.remove(0);
        submit(
            &mut project,
            "a",
            vec![
                Decision::AddClass { name: "low".into() },
                label(&first.item, 0),
            ],
        );
        labelling
            .follow(labelling.news(project.log()), &control)
            .unwrap();
        assert!(labelling.pretends() && labelling.session().labelled() == [first.node]);
        // The second question is on the other side, where nothing was heard.
        let second = labelling.session().ask(1).unwrap().questions.remove(0);
        assert_ne!(first.node.index() < 20, second.node.index() < 20);
        submit(
            &mut project,
            "b",
            vec![
                Decision::AddClass {
                    name: "high".into(),
                },
                label(&second.item, 1),
            ],
        );
        labelling
            .follow(labelling.news(project.log()), &control)
            .unwrap();
        assert!(!labelling.pretends());
        submit(
            &mut project,
            "c",
            vec![label("7", u16::from(first.node.index() >= 20))],
        );
        labelling
            .follow(labelling.news(project.log()), &control)
            .unwrap();
        let replayed = Labelling::new(ground(), project.log(), &control).unwrap();
        assert_eq!(
            labelling.session().ask(3).unwrap(),
            replayed.session().ask(3).unwrap()
        );
        assert_eq!(labelling.session().field(), replayed.session().field());
        assert_eq!(labelling.news(project.log()).events, []);
    }
}
