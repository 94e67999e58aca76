//! A project of this process: in a folder, in memory, or handed to a server on threads of this process. Its pool is opened
//! and its log followed when something is to be believed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dial::{ClassId, Control, NodeId, Session, View};
use dial_store::time::Clock;
use dial_store::{
    Decision, Export, Follower, Format, Log, News, PreparedPool, Project, Provenance, Snapshot,
};

use super::holding::Holding;
use super::{Note, ProjectHandle};
use crate::assignment::{choose, remember, remembered};
use crate::auth::session_list::{SESSIONS, SessionList};
use crate::http::lists;
use crate::http::problem::Problem;
use crate::http::routes::{labelled_item, latest, page, stored};
use crate::http::wire::{
    Believed, Estimates, HistoryRow, ImportRequest, Imported, ItemView, Manifest, Next, Page, Part,
    Passed, Questions, SessionRow, Status, Stored, Submission, Suspect, Wanted, Which,
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

/// An item to label next.
pub struct Asked {
    /// Its node.
    pub node: NodeId,
    /// The score it was chosen by; none if it was not chosen by score (another opinion, or drawn at random).
    pub score: Option<f64>,
    /// Whether it was drawn at random to measure the accuracy.
    pub audit: bool,
}

/// The pool, the session that follows the log, and its last snapshot.
struct Opened {
    prepared: Arc<PreparedPool>,
    follower: Follower,
    snapshot: ModelSnapshot,
    estimates: Option<Estimates>,
}

impl Opened {
    fn new(
        prepared: PreparedPool,
        project: &Project,
        control: &Control,
    ) -> dial_store::Result<Opened> {
        let follower = Follower::new(&prepared.engine, News::whole(project.log()), control)?;
        Ok(Opened {
            prepared: Arc::new(prepared),
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
        prepared: PreparedPool,
        watch: impl Fn() -> Control + Send + 'static,
        note: Note,
    ) -> Result<Local, Problem> {
        let opened = Opened::new(prepared, &project, &watch())?;
        Ok(Local {
            opened: Some(opened),
            ..Local::new(project, watch, note)
        })
    }

    /// Another one to watch over long work.
    pub fn watched(&mut self, watch: impl Fn() -> Control + Send + 'static) {
        self.watch = Box::new(watch);
    }

    /// The project at this moment.
    ///
    /// # Errors
    /// Closed.
    pub fn snapshot(&self) -> Result<Snapshot, Problem> {
        self.holding.read(Snapshot::clone)
    }

    /// Reads the project.
    ///
    /// # Errors
    /// Closed.
    pub fn read<T>(&self, look: impl FnOnce(&Snapshot) -> T) -> Result<T, Problem> {
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
        let prepared = Arc::clone(self.prepared()?);
        self.holding.serve(prepared, port)
    }

    /// A file that opens the page in a browser.
    ///
    /// # Errors
    /// Not served; a file that cannot be written.
    pub fn launch_file(&self) -> Result<PathBuf, Problem> {
        match self.holding.served() {
            Some(served) => Ok(served.launch_file()?),
            None => Err(Problem::usage("the page is not open. Open it first.")),
        }
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
    pub fn prepared(&mut self) -> Result<&Arc<PreparedPool>, Problem> {
        Ok(&self.opened()?.prepared)
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
                let (prepared, notes) = project.prepared(&control, now())?;
                Ok((Opened::new(prepared, project, &control)?, notes))
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
            let of = |project: &Snapshot| Estimates::new(project.log(), &view, version, None);
            let estimates = holding.read(of)?;
            let bytes = serde_json::to_vec(&Some(&estimates)).unwrap_or_default();
            // A cache: without it nothing is lost.
            let _ = holding.beside(|project| project.keep(ESTIMATES, &bytes))?;
            opened.estimates = Some(estimates);
        }
        Ok((holding, opened))
    }

    /// Follows the log and makes at least `count` questions; with `by`, questions by these scores, which are not cached.
    fn asking(
        &mut self,
        count: usize,
        by: Option<Vec<f64>>,
    ) -> Result<(&mut Holding, &Opened), Problem> {
        let control = (self.watch)();
        self.followed()?;
        let opened = self.opened.as_mut().expect("opened just now");
        let (session, own) = (opened.follower.session(), by.is_some());
        if own || opened.snapshot.asked < count {
            let asked = match by {
                Some(scores) => session.ask_by(scores, count),
                None => session.ask_under(count, &control),
            };
            opened.snapshot.questions = match asked {
                Err(dial::Error::NothingToAsk) => Vec::new(),
                asked => {
                    let asked = asked.map_err(dial_store::Error::from)?;
                    if asked.crowded > 0 {
                        let which = match asked.crowded {
                            1 => "1 of these items is a graph neighbour of another".into(),
                            many => format!("{many} of these items are graph neighbours of others"),
                        };
                        (self.note)(&format!("{which}: too few independent ones are left."));
                    }
                    asked.questions
                }
            };
            // Questions by scores of the caller's own are for this wish only.
            opened.snapshot.asked = if own { 0 } else { count };
        }
        Ok((&mut self.holding, opened))
    }

    /// The items that [`ProjectHandle::next`] gives, as nodes; by scores of the caller's own, where they are given.
    ///
    /// # Errors
    /// Nothing left to ask, what the acquisition may fail with, cancelled.
    pub fn choose(&mut self, wish: &Next, by: Option<Vec<f64>>) -> Result<Vec<Asked>, Problem> {
        Ok(self.chosen(wish, by)?.2)
    }

    /// The same with the project and the model that the items were chosen from: a server of this process may store a label
    /// at any time.
    fn chosen(
        &mut self,
        wish: &Next,
        by: Option<Vec<f64>>,
    ) -> Result<(Snapshot, &Opened, Vec<Asked>), Problem> {
        // Whoever has items on screen already wants others.
        let (holding, opened) = self.asking(wish.count + wish.except.len(), by)?;
        let (project, chosen) = holding.beside(|project| {
            let chosen = choose(&opened.prepared, project.log(), &opened.snapshot, wish);
            for (item, _) in chosen.iter().filter(|(_, audit)| *audit) {
                let pair = (item.clone(), wish.annotator.clone());
                remember(&mut remembered(project), project, pair);
            }
            (project.snapshot(), chosen)
        })?;
        let asked = |(item, audit): (String, bool)| {
            let node = opened.prepared.engine.items.node(&item)?;
            let score = item_view::score(&opened.snapshot, node);
            Ok(Asked { node, score, audit })
        };
        let asked: dial::Result<Vec<Asked>> = chosen.into_iter().map(asked).collect();
        match asked {
            Ok(none) if none.is_empty() => Err(dial::Error::NothingToAsk),
            asked => asked,
        }
        .map(|asked| (project, opened, asked))
        .map_err(|error| dial_store::Error::from(error).into())
    }

    /// What is stored beside an answer of somebody for an item: whether the item was drawn at random, and then what was
    /// believed before the answer.
    ///
    /// # Errors
    /// What a solve may fail with, cancelled.
    pub fn provenance(&mut self, annotator: &str, item: &str) -> Result<Provenance, Problem> {
        let drawn = |project: &Snapshot| {
            project
                .log()
                .recipe()
                .is_some_and(|recipe| recipe.audit > 0.0)
        };
        let pair = (item.to_string(), annotator.to_string());
        if !self.read(drawn)? || !self.holding.beside(remembered)?.contains(&pair) {
            return Ok(Provenance::default());
        }
        let node = self.prepared()?.engine.items.node(item).ok();
        let ready = self.session()?.is_ready();
        let predicted = match node.filter(|_| ready) {
            Some(node) => Some(self.belief()?.class(node)),
            None => None,
        };
        Ok(Provenance {
            audit: true,
            predicted,
            version: predicted.and(self.opened.as_ref().map(|opened| opened.snapshot.version)),
            ..Provenance::default()
        })
    }
}

fn now() -> u64 {
    Clock::new().now()
}

/// Whether every label that estimates were made from still counts and has the same classes. Labels given since then make
/// estimates old, but not wrong.
fn still_valid(estimates: &Estimates, log: &Log) -> bool {
    if estimates.version >= log.version() {
        return estimates.version == log.version();
    }
    let mut then = log.clone();
    then.cut(estimates.version);
    let now = counting(log);
    counting(&then)
        .iter()
        .all(|(label, classes)| now.get(label) == Some(classes))
}

/// The classes, after merges, of every label that counts, by item and annotator.
fn counting(log: &Log) -> HashMap<(&str, &str), Vec<(ClassId, f64)>> {
    let live = log.live_labels().into_iter();
    live.filter(|label| !log.labels().marks_of(label.item).1)
        .map(|label| ((label.item, label.annotator), label.classes))
        .collect()
}

impl ProjectHandle for Local {
    fn status(&mut self) -> Result<Status, Problem> {
        let kept = self.holding.beside(|project| project.kept(ESTIMATES))?;
        let kept = kept.ok().flatten();
        let kept: Option<Estimates> = kept
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .flatten();
        self.read(|project| {
            let estimates = kept.filter(|kept| still_valid(kept, project.log()));
            Ok(Status {
                estimates,
                ..Status::of(project)
            })
        })?
    }

    fn submit(&mut self, mut submission: Submission) -> Result<Stored, Problem> {
        if let [Decision::Label { item, .. }] = &submission.decisions[..] {
            submission.provenance = self.provenance(&submission.annotator, item)?;
        }
        let (item, who) = (labelled_item(&submission), submission.annotator.clone());
        self.change(|project| {
            let receipt = project.submit_one(submission, now())?;
            Ok(stored(project.log(), receipt, item.as_deref(), &who))
        })?
    }

    fn next(&mut self, wish: &Next) -> Result<Questions, Problem> {
        let (project, opened, chosen) = self.chosen(wish, None)?;
        let (log, session) = (project.log(), opened.follower.session());
        let view = |asked: &Asked| {
            let seen = Seen {
                score: asked.score,
                ..Seen::of_session(session, &opened.snapshot, asked.node)
            };
            let view = item_view::view(&opened.prepared, log, seen, asked.node);
            match asked.audit {
                true => item_view::at_random(view),
                false => view,
            }
        };
        Ok(Questions {
            version: log.version(),
            model_version: opened.snapshot.version,
            items: chosen.iter().map(view).collect(),
        })
    }

    fn item(&mut self, id: &str) -> Result<ItemView, Problem> {
        self.believed()?;
        let (holding, opened) = self.asking(1, None)?;
        let node = opened.prepared.engine.items.node(id);
        let node = node.map_err(dial_store::Error::from)?;
        let seen = Seen::by(&opened.snapshot, node);
        holding.read(|project| item_view::view(&opened.prepared, project.log(), seen, node))
    }

    fn items(&mut self, which: &Which) -> Result<Page<Believed>, Problem> {
        let (holding, opened) = self.believed()?;
        let (total, mut rows) = lists::believed(&opened.prepared, &opened.snapshot, which);
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
        let (holding, opened) = self.believed()?;
        let Opened {
            prepared, snapshot, ..
        } = opened;
        let found = holding.read(|project| lists::at_odds(prepared, snapshot, project.log()))?;
        Ok(page(snapshot.version, found, part))
    }

    fn passed(&mut self, part: &Part) -> Result<Page<Passed>, Problem> {
        Ok(lists::passed_over(self.snapshot()?.log(), part))
    }

    fn estimates(&mut self) -> Result<Option<Estimates>, Problem> {
        Ok(self.believed()?.1.estimates.clone())
    }

    fn history(&mut self, part: &Part) -> Result<Page<HistoryRow>, Problem> {
        Ok(latest(self.snapshot()?.log(), part))
    }

    fn export(&mut self, wanted: &Wanted) -> Result<Vec<u8>, Problem> {
        let format: Format = wanted.format()?;
        let view = match wanted.labels_only {
            true => None,
            false => self.believed()?.1.snapshot.view.clone(),
        };
        let ids = self.holding.beside(Project::item_ids)??;
        let prepared = match wanted.needs_pool() || format == Format::Maps {
            true => Some(Arc::clone(self.prepared()?)),
            false => None,
        };
        let project = self.snapshot()?;
        let mut export = Export::new(project.log(), &ids, view.as_deref());
        if let Some(prepared) = prepared {
            export = export.with_pool(&project, &prepared, format, wanted.original_columns)?;
        }
        wanted
            .preview
            .into_iter()
            .for_each(|rows| export.preview(rows));
        Ok(export.bytes(format)?)
    }

    fn import(&mut self, request: ImportRequest) -> Result<Imported, Problem> {
        let how = request.how();
        let request = match request.of_pool {
            true => request.resolve_pool_labels(self.prepared()?)?,
            false => request,
        };
        let ImportRequest {
            source,
            labels,
            key,
            ..
        } = request;
        Ok(self.change(|project| project.import_labels(&source, labels, &how, &key, now()))??)
    }

    fn sessions(&mut self) -> Result<Vec<SessionRow>, Problem> {
        if let Some(served) = self.holding.served() {
            return Ok(served.sessions());
        }
        let kept = self.holding.beside(|project| project.kept(SESSIONS))??;
        Ok(SessionList::read(kept, now()).rows(None, now()))
    }

    fn end_sessions(&mut self, ids: &[String]) -> Result<Vec<SessionRow>, Problem> {
        if let Some(served) = self.holding.served() {
            return Ok(served.end_sessions(ids)?);
        }
        let end = |project: &mut Project| {
            let mut list = SessionList::read(project.kept(SESSIONS)?, now());
            list.end(ids);
            project.keep(SESSIONS, &list.write(now()))?;
            Ok(list.rows(None, now()))
        };
        Ok(self
            .holding
            .beside(end)?
            .map_err(|error: dial_store::Error| error)?)
    }

    fn backup(&mut self, to: &Path) -> Result<Manifest, Problem> {
        Ok(self.holding.back_up(to, now())??)
    }
}
