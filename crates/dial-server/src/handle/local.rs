//! A project of this process. Its pool is opened and its log followed when something is to be believed.

use std::path::Path;

use dial::{ClassId, Control, NodeId};
use dial_store::time::Clock;
use dial_store::{Export, Follower, Format, Material, News, Project};

use super::{Note, ProjectHandle};
use crate::cards::{self, Seen};
use crate::lists;
use crate::problem::Problem;
use crate::routes::{labelled_item, latest, page, stored};
use crate::thinker::Thought;
use crate::wire::{
    Believed, Card, Estimates, HistoryRow, Imported, Labels, Manifest, Next, Page, Part, Questions,
    Status, Stored, Submission, Suspect, Wanted, Which,
};

/// Where the last estimates are kept.
const ESTIMATES: &str = "estimates";

/// A project in our hands.
pub struct Local {
    project: Project,
    opened: Option<Opened>,
    /// What long work reports to and is stopped by.
    watch: Box<dyn Fn() -> Control>,
    note: Note,
}

/// The pool, the session that follows the log, and the last belief.
struct Opened {
    material: Material,
    follower: Follower,
    thought: Option<Thought>,
}

impl Local {
    /// A project that was opened; `watch` gives what long work reports to and is stopped by.
    pub fn new(project: Project, watch: impl Fn() -> Control + 'static, note: Note) -> Local {
        Local {
            project,
            opened: None,
            watch: Box::new(watch),
            note,
        }
    }

    /// The pool and the session, which knows everything that is in the log.
    fn followed(&mut self) -> Result<(&Project, &mut Opened), Problem> {
        let control = (self.watch)();
        if self.opened.is_none() {
            let (material, notes) = self.project.material(&control, now())?;
            notes.iter().for_each(|text| (self.note)(text));
            let news = News::whole(self.project.log());
            let follower = Follower::new(&material.engine, news, &control)?;
            self.opened = Some(Opened {
                material,
                follower,
                thought: None,
            });
        }
        let opened = self.opened.as_mut().expect("opened just now");
        let news = opened.follower.news(self.project.log());
        opened.follower.follow(news, &control)?;
        Ok((&self.project, opened))
    }

    /// The same with the belief about all items; estimates from it are kept for [`ProjectHandle::status`].
    fn believed(&mut self) -> Result<(&Project, &Opened, &Thought), Problem> {
        let control = (self.watch)();
        let (_, opened) = self.followed()?;
        let version = opened.follower.version();
        if opened
            .thought
            .as_ref()
            .is_none_or(|thought| thought.version != version)
        {
            // Fewer than two classes is the answer to whoever wants a belief.
            let view = opened
                .follower
                .session()
                .view(&control)
                .map_err(dial_store::Error::from)?;
            opened.thought = Some(Thought::believing(version, view));
            let estimates = self.estimated();
            // A cache: without it nothing is lost.
            let _ = self.project.keep(
                ESTIMATES,
                &serde_json::to_vec(&estimates).unwrap_or_default(),
            );
        }
        let opened = self.opened.as_ref().expect("opened above");
        let thought = opened.thought.as_ref().expect("made above");
        Ok((&self.project, opened, thought))
    }

    fn estimated(&self) -> Option<Estimates> {
        let thought = self.opened.as_ref()?.thought.as_ref()?;
        let view = thought.view.as_ref()?;
        Some(Estimates::new(
            self.project.log(),
            view,
            thought.version,
            None,
        ))
    }
}

fn now() -> u64 {
    Clock::new().now()
}

impl ProjectHandle for Local {
    fn status(&mut self) -> Result<Status, Problem> {
        let kept = self.project.kept(ESTIMATES).ok().flatten();
        let estimates = kept
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .flatten();
        Ok(Status {
            estimates,
            ..Status::of(&self.project)
        })
    }

    fn submit(&mut self, submission: Submission) -> Result<Stored, Problem> {
        let (item, who) = (labelled_item(&submission), submission.annotator.clone());
        let receipt = self.project.submit_one(submission, now())?;
        Ok(stored(&self.project, receipt, item.as_deref(), &who))
    }

    fn next_class(&mut self) -> Option<ClassId> {
        Some(self.project.log().labels().new_class())
    }

    fn next(&mut self, wish: &Next) -> Result<Questions, Problem> {
        let control = (self.watch)();
        let (project, opened) = self.followed()?;
        let (session, log) = (opened.follower.session(), project.log());
        // Whoever has items on screen already wants others.
        let wanted = wish.count + wish.except.len();
        let mut asked = session
            .ask_under(wanted, &control)
            .map_err(dial_store::Error::from)?;
        asked
            .questions
            .retain(|question| !wish.except.contains(&question.item));
        asked.questions.truncate(wish.count);
        let card = |question: &dial::Question| {
            let seen = Seen {
                prediction: session
                    .is_ready()
                    .then(|| session.prediction(question.node)),
                classes: session.classes(),
                labelled: session.labelled(),
                version: opened.follower.version(),
                score: Some(question.score),
            };
            cards::card(&opened.material, log, seen, question.node)
        };
        let items = asked.questions.iter().map(card).collect();
        let (version, model_version) = (log.version(), opened.follower.version());
        if asked.crowded > 0 {
            let text = format!(
                "{} of the items neighbour others, for want of more.",
                asked.crowded
            );
            (self.note)(&text);
        }
        Ok(Questions {
            version,
            model_version,
            items,
        })
    }

    fn item(&mut self, id: &str) -> Result<Card, Problem> {
        let (project, opened, thought) = self.believed()?;
        let node = opened
            .material
            .engine
            .items
            .node(id)
            .map_err(dial_store::Error::from)?;
        Ok(cards::card(
            &opened.material,
            project.log(),
            Seen::by(thought, node),
            node,
        ))
    }

    fn items(&mut self, which: &Which) -> Result<Page<Believed>, Problem> {
        let (project, opened, thought) = self.believed()?;
        let (total, mut rows) = lists::believed(&opened.material, thought, which);
        rows.iter_mut()
            .for_each(|row| row.labels = cards::labels(project.log(), &row.id));
        Ok(Page {
            version: project.log().version(),
            total,
            rows,
        })
    }

    fn suspects(&mut self, part: &Part) -> Result<Page<Suspect>, Problem> {
        let (_, opened, thought) = self.believed()?;
        Ok(page(
            thought.version,
            lists::at_odds(&opened.material, thought),
            part,
        ))
    }

    fn estimates(&mut self) -> Result<Option<Estimates>, Problem> {
        self.believed()?;
        Ok(self.estimated())
    }

    fn history(&mut self, part: &Part) -> Result<Page<HistoryRow>, Problem> {
        Ok(latest(self.project.log(), part))
    }

    fn export(&mut self, wanted: &Wanted) -> Result<Vec<u8>, Problem> {
        let format: Format = wanted.format()?;
        if wanted.labels_only {
            let ids = self.project.item_ids()?;
            return Ok(Export::new(self.project.log(), &ids, None).bytes(format)?);
        }
        let (project, opened, thought) = self.believed()?;
        let items = &opened.material.engine.items;
        let ids: Vec<String> = (0..items.len() as u32)
            .map(|node| items.id(NodeId(node)))
            .collect();
        Ok(Export::new(project.log(), &ids, thought.view.as_deref()).bytes(format)?)
    }

    fn import(&mut self, labels: Labels) -> Result<Imported, Problem> {
        let how = labels.how();
        let Labels {
            source, given, key, ..
        } = labels;
        Ok(self
            .project
            .import_given(&source, given, &how, &key, now())?)
    }

    fn backup(&mut self, to: &Path) -> Result<Manifest, Problem> {
        Ok(self.project.backup(to, now())?)
    }
}
