//! A project of this process: in a folder, in memory, or handed to a server on threads of this process. Its pool is opened
//! and its log followed when something is to be believed.

use std::path::Path;
use std::sync::Arc;

use dial::{Control, Session, View};
use dial_store::time::Clock;
use dial_store::{Decision, Export, Follower, Format, Material, News, Project, Remark};

use super::holding::Holding;
use super::{Note, ProjectHandle};
use crate::assignment::{choose, remember, remembered};
use crate::http::lists;
use crate::http::problem::Problem;
use crate::http::routes::{labelled_item, latest, page, stored};
use crate::http::wire::{
    Believed, Estimates, HistoryRow, Imported, ItemView, Labels, Manifest, Next, Page, Part,
    Questions, Status, Stored, Submission, Suspect, Wanted, Which,
};
use crate::item_view::{self, Seen};
use crate::model_worker::ModelSnapshot;

/// Where the last estimates are kept.
const ESTIMATES: &str = "estimates";

/// A project in our hands.
pub struct Local {
    holding: Holding,
    opened: Option<Opened>,
    /// What long work reports to and is stopped by.
    watch: Box<dyn Fn() -> Control + Send>,
    note: Note,
}

/// The pool, the session that follows the log, and what it thought last.
struct Opened {
    material: Arc<Material>,
    follower: Follower,
    snapshot: ModelSnapshot,
    estimates: Option<Estimates>,
}

impl Opened {
    fn new(material: Material, project: &Project, control: &Control) -> dial_store::Result<Opened> {
        let follower = Follower::new(&material.engine, News::whole(project.log()), control)?;
        Ok(Opened {
            material: Arc::new(material),
            follower,
            snapshot: ModelSnapshot::default(),
            estimates: None,
        })
    }
}

impl Local {
    /// A project that was opened; `watch` gives what long work reports to and is stopped by.
    pub fn new(
        project: Project,
        watch: impl Fn() -> Control + Send + 'static,
        note: Note,
    ) -> Local {
        Local {
            holding: Holding::own(project),
            opened: None,
            watch: Box::new(watch),
            note,
        }
    }

    /// The same with a pool that is open already: what a project in memory needs.
    ///
    /// # Errors
    /// What following the log may fail with.
    pub fn on(
        project: Project,
        material: Material,
        watch: impl Fn() -> Control + Send + 'static,
        note: Note,
    ) -> Result<Local, Problem> {
        let opened = Opened::new(material, &project, &watch())?;
        Ok(Local {
            opened: Some(opened),
            ..Local::new(project, watch, note)
        })
    }

    /// Another one to watch over long work.
    pub fn watched(&mut self, watch: impl Fn() -> Control + Send + 'static) {
        self.watch = Box::new(watch);
    }

    /// Reads the project.
    ///
    /// # Errors
    /// Closed.
    pub fn read<T>(&self, look: impl FnOnce(&Project) -> T) -> Result<T, Problem> {
        self.holding.read(look)
    }

    /// Changes the project; whoever else looks at it is told.
    ///
    /// # Errors
    /// Closed.
    pub fn change<T>(&mut self, change: impl FnOnce(&mut Project) -> T) -> Result<T, Problem> {
        self.holding.change(change)
    }

    /// Hands the project to a server on threads of this process, unless one has it; returns a link for a browser. The
    /// operations are the same meanwhile, and know what others decide.
    ///
    /// # Errors
    /// In memory; what opening the pool and starting a server may fail with.
    pub fn serve(&mut self, port: u16) -> Result<String, Problem> {
        let material = Arc::clone(self.material()?);
        self.holding.serve(material, port)
    }

    /// Whether a server on threads of this process has it.
    pub fn is_served(&self) -> bool {
        self.holding.is_served()
    }

    /// Takes the project back from the server, if one has it.
    ///
    /// # Errors
    /// What opening it again may fail with.
    pub fn stop_serving(&mut self) -> Result<(), Problem> {
        self.holding.stop_serving()
    }

    /// Ends everything in order. What was believed stays, everything else is refused.
    pub fn close(&mut self) {
        self.holding.close();
    }

    /// The pool and the engine on it.
    ///
    /// # Errors
    /// What opening the pool may fail with.
    pub fn material(&mut self) -> Result<&Arc<Material>, Problem> {
        Ok(&self.opened()?.material)
    }

    /// The session, which knows everything that is in the log.
    ///
    /// # Errors
    /// What a solve may fail with, cancelled.
    pub fn session(&mut self) -> Result<&Session<'static>, Problem> {
        Ok(self.followed()?.1.follower.session())
    }

    /// The belief about all items.
    ///
    /// # Errors
    /// Fewer than two classes, what a solve may fail with, cancelled.
    pub fn belief(&mut self) -> Result<&Arc<View<'static>>, Problem> {
        let control = (self.watch)();
        let (_, opened) = self.followed()?;
        let view = match opened.snapshot.view.take() {
            Some(view) => view,
            None => {
                let view = opened.follower.session().view(&control);
                Arc::new(view.map_err(dial_store::Error::from)?)
            }
        };
        Ok(opened.snapshot.view.insert(view))
    }

    fn opened(&mut self) -> Result<&mut Opened, Problem> {
        if self.opened.is_none() {
            let control = (self.watch)();
            let open = |project: &mut Project| {
                let (material, notes) = project.material(&control, now())?;
                Ok((Opened::new(material, project, &control)?, notes))
            };
            let opened: dial_store::Result<_> = self.holding.change(open)?;
            let (opened, notes) = opened?;
            notes.iter().for_each(|text| (self.note)(text));
            self.opened = Some(opened);
        }
        Ok(self.opened.as_mut().expect("opened just now"))
    }

    /// The project, and the session, which knows everything that is in the log.
    fn followed(&mut self) -> Result<(&mut Holding, &mut Opened), Problem> {
        let control = (self.watch)();
        self.opened()?;
        let opened = self.opened.as_mut().expect("opened just now");
        let news = (self.holding).read(|project| opened.follower.news(project.log()))?;
        opened.follower.follow(news, &control)?;
        let version = opened.follower.version();
        if opened.snapshot.version != version {
            opened.snapshot = ModelSnapshot::at(version);
            opened.estimates = None;
        }
        Ok((&mut self.holding, opened))
    }

    /// The same with the belief about all items; estimates from it are kept for [`ProjectHandle::status`].
    fn believed(&mut self) -> Result<(&Holding, &Opened), Problem> {
        let view = Arc::clone(self.belief()?);
        let (holding, opened) = self.followed()?;
        if opened.estimates.is_none() {
            let version = opened.snapshot.version;
            let of = |project: &Project| Estimates::new(project.log(), &view, version, None);
            let estimates = holding.read(of)?;
            let bytes = serde_json::to_vec(&Some(&estimates)).unwrap_or_default();
            // A cache: without it nothing is lost.
            let _ = holding.beside(|project| project.keep(ESTIMATES, &bytes))?;
            opened.estimates = Some(estimates);
        }
        Ok((holding, opened))
    }

    /// The same with at least so many questions, where there are so many.
    fn asking(&mut self, count: usize) -> Result<(&mut Holding, &Opened), Problem> {
        let control = (self.watch)();
        self.followed()?;
        let opened = self.opened.as_mut().expect("opened just now");
        if opened.snapshot.asked < count {
            opened.snapshot.questions = match opened.follower.session().ask_under(count, &control) {
                Err(dial::Error::NothingToAsk) => Vec::new(),
                asked => {
                    let asked = asked.map_err(dial_store::Error::from)?;
                    if asked.crowded > 0 {
                        let crowded = asked.crowded;
                        (self.note)(&format!(
                            "{crowded} of the items neighbour others, for want of more."
                        ));
                    }
                    asked.questions
                }
            };
            opened.snapshot.asked = count;
        }
        Ok((&mut self.holding, opened))
    }

    /// Whether an answer is one to an item drawn at random, and then what was believed before it.
    fn remark(&mut self, submission: &Submission) -> Result<Remark, Problem> {
        let drawn = |project: &Project| {
            project
                .log()
                .recipe()
                .is_some_and(|recipe| recipe.audit > 0.0)
        };
        let [Decision::Label { item, .. }] = &submission.decisions[..] else {
            return Ok(Remark::default());
        };
        let pair = (item.clone(), submission.annotator.clone());
        if !self.read(drawn)? || !self.holding.beside(remembered)?.contains(&pair) {
            return Ok(Remark::default());
        }
        let node = self.material()?.engine.items.node(item).ok();
        let ready = self.session()?.is_ready();
        let predicted = match node.filter(|_| ready) {
            Some(node) => Some(self.belief()?.class(node)),
            None => None,
        };
        Ok(Remark {
            audit: true,
            predicted,
            version: predicted.and(self.opened.as_ref().map(|opened| opened.snapshot.version)),
            ..Remark::default()
        })
    }
}

fn now() -> u64 {
    Clock::new().now()
}

impl ProjectHandle for Local {
    fn status(&mut self) -> Result<Status, Problem> {
        let kept = self.holding.beside(|project| project.kept(ESTIMATES))?;
        let kept = kept.ok().flatten();
        let estimates = kept
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .flatten();
        Ok(Status {
            estimates,
            ..self.read(Status::of)?
        })
    }

    fn submit(&mut self, mut submission: Submission) -> Result<Stored, Problem> {
        submission.remark = self.remark(&submission)?;
        let (item, who) = (labelled_item(&submission), submission.annotator.clone());
        self.change(|project| {
            let receipt = project.submit_one(submission, now())?;
            Ok(stored(project, receipt, item.as_deref(), &who))
        })?
    }

    fn next(&mut self, wish: &Next) -> Result<Questions, Problem> {
        // Whoever has items on screen already wants others.
        let (holding, opened) = self.asking(wish.count + wish.except.len())?;
        let session = opened.follower.session();
        let questions = holding.beside(|project| {
            let chosen = choose(&opened.material, project.log(), &opened.snapshot, wish);
            for (item, _) in chosen.iter().filter(|(_, audit)| *audit) {
                let pair = (item.clone(), wish.annotator.clone());
                remember(&mut remembered(project), project, pair);
            }
            let log = project.log();
            let card = |(item, audit): &(String, bool)| {
                let node = opened.material.engine.items.node(item)?;
                let seen = Seen::of_session(session, &opened.snapshot, node);
                let card = item_view::card(&opened.material, log, seen, node);
                Ok(if *audit {
                    item_view::at_random(card)
                } else {
                    card
                })
            };
            Ok(Questions {
                version: log.version(),
                model_version: opened.snapshot.version,
                items: chosen
                    .iter()
                    .map(card)
                    .collect::<dial::Result<Vec<ItemView>>>()?,
            })
        })?;
        match questions {
            Ok(none) if none.items.is_empty() => Err(dial::Error::NothingToAsk),
            questions => questions,
        }
        .map_err(|error| dial_store::Error::from(error).into())
    }

    fn item(&mut self, id: &str) -> Result<ItemView, Problem> {
        self.believed()?;
        let (holding, opened) = self.asking(1)?;
        let node = opened.material.engine.items.node(id);
        let node = node.map_err(dial_store::Error::from)?;
        let seen = Seen::by(&opened.snapshot, node);
        holding.read(|project| item_view::card(&opened.material, project.log(), seen, node))
    }

    fn items(&mut self, which: &Which) -> Result<Page<Believed>, Problem> {
        let (holding, opened) = self.believed()?;
        let (total, mut rows) = lists::believed(&opened.material, &opened.snapshot, which);
        holding.read(|project| {
            rows.iter_mut()
                .for_each(|row| row.labels = item_view::labels(project.log(), &row.id));
            Page {
                version: project.log().version(),
                total,
                rows,
            }
        })
    }

    fn suspects(&mut self, part: &Part) -> Result<Page<Suspect>, Problem> {
        let Opened {
            material, snapshot, ..
        } = self.believed()?.1;
        Ok(page(
            snapshot.version,
            lists::at_odds(material, snapshot),
            part,
        ))
    }

    fn estimates(&mut self) -> Result<Option<Estimates>, Problem> {
        Ok(self.believed()?.1.estimates.clone())
    }

    fn history(&mut self, part: &Part) -> Result<Page<HistoryRow>, Problem> {
        self.read(|project| latest(project.log(), part))
    }

    fn export(&mut self, wanted: &Wanted) -> Result<Vec<u8>, Problem> {
        let format: Format = wanted.format()?;
        let view = match wanted.labels_only {
            true => None,
            false => self.believed()?.1.snapshot.view.clone(),
        };
        let ids = self.holding.beside(Project::item_ids)??;
        let export = |project: &Project| Export::new(project.log(), &ids, view.as_deref());
        Ok(self.read(export)?.bytes(format)?)
    }

    fn import(&mut self, labels: Labels) -> Result<Imported, Problem> {
        let how = labels.how();
        let Labels {
            source, given, key, ..
        } = labels;
        Ok(self.change(|project| project.import_given(&source, given, &how, &key, now()))??)
    }

    fn backup(&mut self, to: &Path) -> Result<Manifest, Problem> {
        Ok(self.change(|project| project.backup(to, now()))??)
    }
}
