//! A session kept up with a log: what was decided is stored first, and believed afterwards. The one
//! follower of logs: the command, the server and Python use it.

use dial::{Change, Control, Engine, Event, Session};

use crate::error::Result;
use crate::log::Log;

/// Events that are followed together: their columns are solved for in blocks.
const EVENTS_PER_STEP: usize = 64;

/// A session kept up with a log.
pub struct Follower {
    session: Session<'static>,
    version: u64,
}

/// What a log has that a session does not know: it can be had quickly, and followed while others use the log.
#[derive(Clone, Debug, PartialEq)]
pub struct News {
    /// The events, each with its place in the log.
    events: Vec<(u64, Event)>,
    version: u64,
}

impl News {
    /// What a log has after a place.
    fn after(version: u64, log: &Log) -> News {
        let new = &log.records()[version.min(log.version()) as usize..];
        let events = new
            .iter()
            .filter_map(|record| Some((record.seq, record.event()?)));
        News {
            events: events.collect(),
            version: log.version(),
        }
    }

    /// The events after one place of a log, up to another, that still count: without those that were undone later, and
    /// without undos and redos.
    pub fn live_events(log: &Log, after: u64, version: u64) -> News {
        let News { events, .. } = News::after(after, log);
        let counts = |(seq, event): &(u64, Event)| {
            let turned = matches!(event.change, Change::Undo { .. } | Change::Redo { .. });
            *seq <= version && !turned && log.labels().is_live(event.group)
        };
        News {
            events: events.into_iter().filter(counts).collect(),
            version,
        }
    }

    /// Everything in a log.
    pub fn whole(log: &Log) -> News {
        News::after(0, log)
    }

    /// The place in the log that is known once this is followed.
    pub fn version(&self) -> u64 {
        self.version
    }
}

impl Follower {
    /// A session that knows what is in a log.
    ///
    /// # Errors
    /// A log without settings, what a solve may fail with, cancelled.
    pub fn new(engine: &Engine<'static>, news: News, control: &Control) -> Result<Follower> {
        let News { events, version } = news;
        let session = engine.resume(events.into_iter().map(|(_, event)| event), control)?;
        Ok(Follower { session, version })
    }

    /// What a log has that is not known here.
    pub fn news(&self, log: &Log) -> News {
        News::after(self.version, log)
    }

    /// Follows what is new, some events at a time. If that fails, what was followed stays, and the rest may be followed later.
    ///
    /// # Errors
    /// What a solve may fail with, cancelled.
    pub fn follow(&mut self, news: News, control: &Control) -> Result<()> {
        let News { events, version } = news;
        if !events.is_empty() {
            control.start("spreading labels", events.len());
            for some in events.chunks(EVENTS_PER_STEP) {
                let quiet = control.quiet();
                self.session
                    .extend(some.iter().map(|(_, event)| event.clone()), &quiet)?;
                self.version = some.last().map_or(self.version, |(seq, _)| *seq);
                control.advance(some.len())?;
            }
            control.finish();
        }
        self.version = version;
        Ok(())
    }

    /// The session.
    pub fn session(&self) -> &Session<'static> {
        &self.session
    }

    /// The session, to look ahead with: every hypothetical answer must be taken back.
    pub fn session_mut(&mut self) -> &mut Session<'static> {
        &mut self.session
    }

    /// The place in the log that is known.
    pub fn version(&self) -> u64 {
        self.version
    }
}

#[cfg(test)]
mod tests {
    use dial::{ClassId, Config, Features};
    use dial_data::ReadOptions;

    use super::*;
    use crate::{Decision, Memory, Project, Recipe, Submission};

    fn submit(project: &mut Project, key: &str, decisions: Vec<Decision>) {
        let submission = Submission {
            key: key.into(),
            decisions,
            ..Submission::default()
        };
        project.submit_one(submission, 1).unwrap();
    }

    fn label(item: &str, class: u16) -> Decision {
        Decision::label(item, ClassId(class))
    }

    #[test]
    fn classes_are_met_one_by_one_and_following_is_replaying() {
        let control = Control::new();
        let x: Vec<f64> = (0..40)
            .map(|i| f64::from(i) + if i < 20 { 0.0 } else { 100.0 })
            .collect();
        let config = Config {
            k: 5,
            ..Config::default()
        };
        let features = Features::f64(&x, 40, 1).unwrap();
        let engine = Engine::build(features, &config, &control).unwrap();
        let recipe = Recipe {
            items: 40,
            config,
            ..Recipe::new("", ReadOptions::default())
        };
        let mut project = Project::on(Box::new(Memory::new("p")), None, None).unwrap();
        let settings = Decision::from(engine.fix_prior(2, &control).unwrap());
        submit(
            &mut project,
            "new",
            vec![Decision::Recipe(Box::new(recipe)), settings],
        );
        let mut follower = Follower::new(&engine, News::whole(project.log()), &control).unwrap();
        assert!(!follower.session().is_ready());
        let first = follower.session().ask(1).unwrap().questions.remove(0);
        let low = Decision::AddClass { name: "low".into() };
        submit(&mut project, "a", vec![low, label(&first.item, 0)]);
        follower
            .follow(follower.news(project.log()), &control)
            .unwrap();
        assert!(!follower.session().is_ready());
        assert_eq!(follower.session().labelled(), [first.node]);
        // The second question is on the other side, where nothing was heard.
        let second = follower.session().ask(1).unwrap().questions.remove(0);
        assert_ne!(first.node.index() < 20, second.node.index() < 20);
        let high = Decision::AddClass {
            name: "high".into(),
        };
        submit(&mut project, "b", vec![high, label(&second.item, 1)]);
        follower
            .follow(follower.news(project.log()), &control)
            .unwrap();
        assert!(follower.session().is_ready());
        submit(
            &mut project,
            "c",
            vec![label("7", u16::from(first.node.index() >= 20))],
        );
        follower
            .follow(follower.news(project.log()), &control)
            .unwrap();
        let replayed = Follower::new(&engine, News::whole(project.log()), &control).unwrap();
        assert_eq!(
            follower.session().ask(3).unwrap(),
            replayed.session().ask(3).unwrap()
        );
        assert_eq!(follower.session().field(), replayed.session().field());
        assert_eq!(follower.news(project.log()).events, []);
    }
}
