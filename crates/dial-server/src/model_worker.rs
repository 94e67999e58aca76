//! The model, on a thread of its own: it follows the log, and its last good state can always be read.
//!
//! ```text
//! new events -> session follows -> questions and belief published, with their version; a point of progress
//!            -> ahead: the column of the item on screen; for every answer the next question and how much would change
//!            -> after a start: points of progress that are missing
//! ```
//!
//! What is done ahead stops as soon as there is something new. A failure, even a panic, loses no label: the last state
//! stays, with what went wrong, and the model is made again from the log after a while.

use std::collections::{HashMap, VecDeque};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use dial::session::question::Lookahead;
use dial::session::view::Overview;
use dial::{Change, ClassId, Control, Error, NodeId, Question, View};
use dial_store::{Follower, Log, News, PreparedPool, Record};
use parking_lot::{Condvar, Mutex, RwLock};
use tokio::sync::watch;

use crate::progress::Progress;
use crate::writer::SharedProject;

/// Classes up to which the lookahead goes through every answer.
const MAX_LOOKAHEAD_CLASSES: usize = 10;

/// Questions asked ahead for several people at most.
const MAX_QUESTIONS_AHEAD: usize = 16;

/// Items of a pool up to which missing points of progress are made: it takes a second session for a while.
const LOOKED_BACK: usize = 500_000;

/// Labels over which changes of class are counted.
const LABELS_OF_RECENT_CHANGES: usize = 10;

/// The questions and the belief of one place in the log.
#[derive(Clone, Default)]
pub struct ModelSnapshot {
    /// The place in the log it was made from.
    pub version: u64,
    /// The belief; none before there are two classes.
    pub view: Option<Arc<View<'static>>>,
    /// What to ask, the best first.
    pub questions: Vec<Question>,
    /// How many questions were wanted; there may be fewer.
    pub asked: usize,
    /// What to ask after each answer to the first question.
    pub lookahead: HashMap<(String, ClassId), String>,
    /// How many other items would get another class by an answer to the first question.
    pub changed: HashMap<(String, ClassId), usize>,
    /// The share of items whose class the last labels changed.
    pub flips: Option<f64>,
    /// What went wrong since.
    pub trouble: Option<String>,
    overview: Arc<OnceLock<Overview>>,
}

impl ModelSnapshot {
    /// Nothing yet, of a place in the log.
    pub fn at(version: u64) -> ModelSnapshot {
        ModelSnapshot {
            version,
            ..ModelSnapshot::default()
        }
    }

    /// The snapshot of a session: so many questions and, once two classes are known, the belief.
    ///
    /// # Errors
    /// What a solve may fail with; cancelled.
    pub fn of(follower: &Follower, count: usize, control: &Control) -> dial::Result<ModelSnapshot> {
        let session = follower.session();
        let questions = match session.ask_under(count, control) {
            Ok(ask) => ask.questions,
            Err(Error::NothingToAsk) => Vec::new(),
            Err(error) => return Err(error),
        };
        let view = session
            .is_ready()
            .then(|| session.view(control))
            .transpose()?;
        let (version, view) = (follower.version(), view.map(Arc::new));
        Ok(ModelSnapshot {
            version,
            view,
            questions,
            asked: count,
            ..ModelSnapshot::default()
        })
    }

    /// The belief about all items, made once and when it is first wanted.
    pub fn overview(&self) -> Option<&Overview> {
        let view = self.view.as_ref()?;
        Some(self.overview.get_or_init(|| view.overview()))
    }
}

/// Follows a log.
pub struct ModelWorker {
    shared: Arc<Shared>,
    published: watch::Receiver<u64>,
}

struct Shared {
    snapshot: RwLock<Arc<ModelSnapshot>>,
    progress: Progress,
    signals: Mutex<Signals>,
    wake: Condvar,
}

#[derive(Default)]
struct Signals {
    news: bool,
    stop: bool,
    /// How many people are labelling.
    people: usize,
    /// How many questions somebody waits for, once.
    wanted: usize,
    /// Stops what is done ahead, and at the end everything.
    ahead: Control,
    now: Control,
}

/// What the tests run before the model follows the log to a version: it may wait or panic.
#[doc(hidden)]
pub type BeforeFollowing = Arc<dyn Fn(u64) + Send + Sync>;

impl ModelWorker {
    /// The model of a project, and what its thread runs once the pool is prepared; the progress so far is known.
    pub fn new(progress: Progress) -> (ModelWorker, Start) {
        let (snapshot, signals, wake) = (RwLock::default(), Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared {
            snapshot,
            progress,
            signals,
            wake,
        });
        let (tell, published) = watch::channel(0);
        (
            ModelWorker {
                shared: Arc::clone(&shared),
                published,
            },
            Start { shared, tell },
        )
    }

    /// The last snapshot.
    pub fn snapshot(&self) -> Arc<ModelSnapshot> {
        Arc::clone(&self.shared.snapshot.read())
    }

    /// A counter of the snapshots published.
    pub fn published(&self) -> watch::Receiver<u64> {
        self.published.clone()
    }

    /// How the project came to where it is.
    pub fn progress(&self) -> &Progress {
        &self.shared.progress
    }

    /// There is something new in the log.
    pub fn wake(&self) {
        self.signals(|signals| signals.news = true);
    }

    /// So many people are labelling.
    pub fn expect(&self, people: usize) {
        self.signals(|signals| {
            // One question is chosen in any case; choosing again forgets the lookahead.
            if people > signals.people.max(1) {
                signals.news = true;
            }
            signals.people = people;
        });
    }

    /// Somebody waits for so many questions, once.
    pub fn want(&self, questions: usize) {
        self.signals(|signals| {
            signals.wanted = signals.wanted.max(questions);
            signals.news = true;
        });
    }

    /// Stops the thread, also in the middle of a solve.
    pub fn stop(&self) {
        self.signals(|signals| {
            signals.stop = true;
            signals.now.cancel();
        });
    }

    fn signals(&self, change: impl FnOnce(&mut Signals)) {
        let mut signals = self.shared.signals.lock();
        change(&mut signals);
        if signals.news || signals.stop {
            signals.ahead.cancel();
        }
        self.shared.wake.notify_all();
    }
}

/// A change of the last snapshot.
type Amendment<'a> = dyn Fn(&mut ModelSnapshot) + 'a;

/// The other end of a [`ModelWorker`]: what its thread runs.
pub struct Start {
    shared: Arc<Shared>,
    tell: watch::Sender<u64>,
}

impl Start {
    /// Follows the log until it is stopped. Runs on the thread of the caller.
    pub fn run(
        self,
        prepared: &PreparedPool,
        project: &SharedProject,
        before: Option<&BeforeFollowing>,
    ) {
        let mut model = ModelThread::default();
        let small = prepared.engine.items.len() <= LOOKED_BACK;
        let mut past = small.then(Past::default);
        let mut pause = Duration::from_millis(200);
        while let Some((now, ahead, questions)) = self.wait() {
            let work = || model.follow(prepared, project, questions, &now, before);
            let trouble = match catch_unwind(AssertUnwindSafe(work)) {
                Ok(Ok(snapshot)) => {
                    self.publish(snapshot);
                    pause = Duration::from_millis(200);
                    self.note_progress(project);
                    let look = || model.look_ahead(&ahead, &|snapshot| self.amend(snapshot));
                    // Nobody waits for this. A failure in the middle of a hypothetical answer may leave it in the session,
                    // which is then made again from the log.
                    if !matches!(
                        catch_unwind(AssertUnwindSafe(look)),
                        Ok(Ok(()) | Err(Error::Cancelled))
                    ) {
                        model = ModelThread::default();
                    }
                    past = past.and_then(|past| self.look_back(past, prepared, project, &ahead));
                    continue;
                }
                Ok(Err(dial_store::Error::Core(Error::Cancelled))) => continue,
                Ok(Err(error)) => error.to_string(),
                Err(_) => {
                    "the model failed with an internal error, which is a bug in DiAL. Please report it.".into()
                }
            };
            model = ModelThread::default();
            self.amend(&|snapshot| snapshot.trouble = Some(trouble.clone()));
            self.pause(pause);
            pause = (2 * pause).min(Duration::from_secs(30));
        }
        self.shared.progress.keep(project);
    }

    /// Adds a point to the progress. Nobody waits for it.
    fn note_progress(&self, project: &SharedProject) {
        let snapshot = Arc::clone(&self.shared.snapshot.read());
        if let Some(view) = &snapshot.view {
            self.shared.progress.add(view, snapshot.version, project);
        }
    }

    /// Makes points of progress that are missing, until there is something new; what is left to do.
    fn look_back(
        &self,
        mut past: Past,
        prepared: &PreparedPool,
        project: &SharedProject,
        control: &Control,
    ) -> Option<Past> {
        let progress = &self.shared.progress;
        let work = || past.fill(prepared, project.snapshot().log(), progress, control);
        let left = match catch_unwind(AssertUnwindSafe(work)) {
            Ok(Err(dial_store::Error::Core(Error::Cancelled))) => Some(past),
            // Nobody waits for them: where they cannot be made, the curve has a hole.
            _ => None,
        };
        progress.keep(project);
        left
    }

    /// Waits for news: controls for what must be done and for what may be done ahead, and how many questions to choose;
    /// `None` at the end.
    fn wait(&self) -> Option<(Control, Control, usize)> {
        let mut signals = self.shared.signals.lock();
        while !signals.news && !signals.stop {
            self.shared.wake.wait(&mut signals);
        }
        if signals.stop {
            return None;
        }
        signals.news = false;
        signals.ahead = Control::new();
        signals.now = Control::new();
        let questions = signals
            .people
            .clamp(1, MAX_QUESTIONS_AHEAD)
            .max(mem::take(&mut signals.wanted));
        Some((signals.now.clone(), signals.ahead.clone(), questions))
    }

    /// After a failure: tries again after a while, unless it is stopped.
    fn pause(&self, length: Duration) {
        let mut signals = self.shared.signals.lock();
        let going = |signals: &mut Signals| !signals.stop;
        self.shared.wake.wait_while_for(&mut signals, going, length);
        signals.news = true;
    }

    fn publish(&self, snapshot: ModelSnapshot) {
        *self.shared.snapshot.write() = Arc::new(snapshot);
        self.tell.send_modify(|count| *count += 1);
    }

    fn amend(&self, change: &Amendment<'_>) {
        let mut slot = self.shared.snapshot.write();
        let mut snapshot = ModelSnapshot::clone(&slot);
        change(&mut snapshot);
        *slot = Arc::new(snapshot);
        drop(slot);
        self.tell.send_modify(|count| *count += 1);
    }
}

/// A second session, which goes through the labels of a log again.
#[derive(Default)]
struct Past {
    follower: Option<Follower>,
    /// The version of the log that it goes through.
    of: u64,
}

impl Past {
    /// Makes the points of progress that are missing.
    ///
    /// # Errors
    /// What a solve may fail with; cancelled: it goes on from there.
    fn fill(
        &mut self,
        prepared: &PreparedPool,
        log: &Log,
        progress: &Progress,
        control: &Control,
    ) -> dial_store::Result<()> {
        let turned = |record: &Record| {
            let change = record.change();
            matches!(change, Some(Change::Undo { .. } | Change::Redo { .. }))
        };
        // What was taken back since is no part of the way any more.
        if log.records()[self.of as usize..].iter().any(turned) {
            self.follower = None;
        }
        self.of = log.version();
        for place in progress.missing(log) {
            let reached = self.follower.as_ref().map_or(0, Follower::version);
            if place < reached {
                continue;
            }
            let news = News::live_events(log, reached, place);
            match &mut self.follower {
                Some(follower) => follower.follow(news, control)?,
                None => self.follower = Some(Follower::new(&prepared.engine, news, control)?),
            }
            let session = self.follower.as_ref().map(Follower::session);
            if let Some(session) = session.filter(|session| session.is_ready()) {
                progress.fill(&session.view(control)?, place, log);
            }
        }
        Ok(())
    }
}

/// The session, and what is remembered from one snapshot to the next.
#[derive(Default)]
struct ModelThread {
    follower: Option<Follower>,
    /// What was asked last, to look ahead from.
    first: Option<Question>,
    /// The class of every item after each of the last labels, and how many items were labelled then.
    recent: VecDeque<(usize, Vec<u16>)>,
}

impl ModelThread {
    /// Brings the session up to the log; the snapshot of it.
    fn follow(
        &mut self,
        prepared: &PreparedPool,
        project: &SharedProject,
        questions: usize,
        control: &Control,
        before: Option<&BeforeFollowing>,
    ) -> dial_store::Result<ModelSnapshot> {
        let news = {
            let project = project.snapshot();
            let log = project.log();
            self.follower
                .as_ref()
                .map_or_else(|| News::whole(log), |known| known.news(log))
        };
        if let Some(before) = before {
            before(news.version());
        }
        match &mut self.follower {
            Some(follower) => follower.follow(news, control)?,
            None => self.follower = Some(Follower::new(&prepared.engine, news, control)?),
        }
        let follower = self.follower.as_ref().expect("made just now");
        let mut snapshot = ModelSnapshot::of(follower, questions, control)?;
        self.first = snapshot.questions.first().cloned();
        snapshot.flips = snapshot
            .view
            .clone()
            .and_then(|view| self.count_flips(&view));
        Ok(snapshot)
    }

    /// The share of items whose class is another one than some labels ago.
    fn count_flips(&mut self, view: &View<'_>) -> Option<f64> {
        let classes: Vec<u16> = (0..view.n() as u32)
            .map(|node| view.class(NodeId(node)).0)
            .collect();
        let labelled = view.labelled().len();
        // The same labels again are no news.
        if self
            .recent
            .back()
            .is_some_and(|(before, _)| *before == labelled)
        {
            self.recent.pop_back();
        }
        let changed = self
            .recent
            .front()
            .filter(|_| self.recent.len() >= LABELS_OF_RECENT_CHANGES)
            .map(|(_, before)| {
                let changed = before
                    .iter()
                    .zip(&classes)
                    .filter(|(before, now)| before != now)
                    .count();
                changed as f64 / classes.len().max(1) as f64
            });
        self.recent.push_back((labelled, classes));
        if self.recent.len() > LABELS_OF_RECENT_CHANGES {
            self.recent.pop_front();
        }
        changed
    }

    /// Solves for the item on screen, and finds the question after each answer.
    fn look_ahead(
        &mut self,
        control: &Control,
        amend: &dyn Fn(&Amendment<'_>),
    ) -> dial::Result<()> {
        let Some(follower) = &mut self.follower else {
            return Ok(());
        };
        let session = follower.session_mut();
        let Some(question) = self.first.take() else {
            return Ok(());
        };
        session.prepare(&question.item, control)?;
        if session.is_ready() && session.classes().len() <= MAX_LOOKAHEAD_CLASSES {
            let answers = session.lookahead(&question.item, control)?;
            let (mut lookahead, mut changed) = (HashMap::new(), HashMap::new());
            for Lookahead {
                class,
                next,
                changed: others,
            } in answers
            {
                changed.insert((question.item.clone(), class), others);
                lookahead.extend(next.map(|next| ((question.item.clone(), class), next.item)));
            }
            amend(&|snapshot| {
                snapshot.lookahead.clone_from(&lookahead);
                snapshot.changed.clone_from(&changed);
            });
        }
        Ok(())
    }
}
