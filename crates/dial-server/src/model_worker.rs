//! The model, on a thread of its own: it follows the log, and its last good state can always be read.
//!
//! ```text
//! new events -> session follows -> questions and belief published, with their version; a point of progress
//!            -> ahead: the column of the item on screen; for every answer the next question and how much would change
//! ```
//!
//! What is done ahead stops as soon as there is something new. A failure, even a panic, loses no label: the last state
//! stays, with what went wrong, and the model is made again from the log after a while.

use std::collections::{HashMap, VecDeque};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use dial::session::question::Foreseen;
use dial::session::view::Overview;
use dial::{ClassId, Control, Error, NodeId, Question, View};
use dial_store::{Follower, Material, News, Project};
use parking_lot::{Condvar, Mutex, RwLock};
use tokio::sync::watch;

use crate::progress::Progress;

/// Classes up to which the next question is foreseen for every answer.
const FORESEEN: usize = 10;

/// Questions asked ahead for several people at most.
const AHEAD: usize = 16;

/// Labels over which changes of class are counted.
const RECENT: usize = 10;

/// What was thought last.
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
    /// What to ask after an answer to the first question.
    pub foreseen: HashMap<(String, ClassId), String>,
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

    /// What a session thinks: so many questions and, once two classes are known, the belief.
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

/// What the tests put in the way of the model.
#[doc(hidden)]
pub type Obstacle = Arc<dyn Fn(u64) + Send + Sync>;

impl ModelWorker {
    /// Starts to think about a project, once it is given its material; the progress so far is known.
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

    /// What was thought last.
    pub fn snapshot(&self) -> Arc<ModelSnapshot> {
        Arc::clone(&self.shared.snapshot.read())
    }

    /// A counter of thoughts.
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
            // One question is thought of in any case; thinking again forgets what was foreseen.
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

    /// Stops thinking, also in the middle of a solve.
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

/// A change of what was thought last.
type Amendment<'a> = dyn Fn(&mut ModelSnapshot) + 'a;

/// The other end of a [`ModelWorker`]: what its thread runs.
pub struct Start {
    shared: Arc<Shared>,
    tell: watch::Sender<u64>,
}

impl Start {
    /// Thinks until it is stopped. Runs on the thread of the caller.
    pub fn think(
        self,
        material: &Material,
        project: &RwLock<Project>,
        obstacle: Option<&Obstacle>,
    ) {
        let mut mind = ModelThread::default();
        let mut pause = Duration::from_millis(200);
        while let Some((now, ahead, questions)) = self.wait() {
            let work = || mind.follow(material, project, questions, &now, obstacle);
            let trouble = match catch_unwind(AssertUnwindSafe(work)) {
                Ok(Ok(snapshot)) => {
                    self.publish(snapshot);
                    pause = Duration::from_millis(200);
                    self.note_progress(project);
                    let look = || mind.look_ahead(&ahead, &|snapshot| self.amend(snapshot));
                    // Nobody waits for this. A failure in the middle of a supposed answer may leave it in the session,
                    // which is then made again from the log.
                    if !matches!(
                        catch_unwind(AssertUnwindSafe(look)),
                        Ok(Ok(()) | Err(Error::Cancelled))
                    ) {
                        mind = ModelThread::default();
                    }
                    continue;
                }
                Ok(Err(dial_store::Error::Core(Error::Cancelled))) => continue,
                Ok(Err(error)) => error.to_string(),
                Err(_) => "the model broke a promise of its own. Please report it.".to_string(),
            };
            mind = ModelThread::default();
            self.amend(&|snapshot| snapshot.trouble = Some(trouble.clone()));
            self.pause(pause);
            pause = (2 * pause).min(Duration::from_secs(30));
        }
        self.shared.progress.keep(project);
    }

    /// Adds a point to the progress. Nobody waits for it.
    fn note_progress(&self, project: &RwLock<Project>) {
        let snapshot = Arc::clone(&self.shared.snapshot.read());
        if let Some(view) = &snapshot.view {
            self.shared.progress.add(view, snapshot.version, project);
        }
    }

    /// Waits for news: controls for what must be done and for what may be done ahead, and how many questions to think of;
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
            .clamp(1, AHEAD)
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
    /// Brings the session up to the log and says what it thinks.
    fn follow(
        &mut self,
        material: &Material,
        project: &RwLock<Project>,
        questions: usize,
        control: &Control,
        obstacle: Option<&Obstacle>,
    ) -> dial_store::Result<ModelSnapshot> {
        let news = {
            let project = project.read();
            let log = project.log();
            self.follower
                .as_ref()
                .map_or_else(|| News::whole(log), |known| known.news(log))
        };
        if let Some(obstacle) = obstacle {
            obstacle(news.version());
        }
        match &mut self.follower {
            Some(follower) => follower.follow(news, control)?,
            None => self.follower = Some(Follower::new(&material.engine, news, control)?),
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
        // Thinking again about the same labels is no news.
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
            .filter(|_| self.recent.len() >= RECENT)
            .map(|(_, before)| {
                let changed = before
                    .iter()
                    .zip(&classes)
                    .filter(|(before, now)| before != now)
                    .count();
                changed as f64 / classes.len().max(1) as f64
            });
        self.recent.push_back((labelled, classes));
        if self.recent.len() > RECENT {
            self.recent.pop_front();
        }
        changed
    }

    /// Solves for the item on screen, and foresees the question after each answer.
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
        if session.is_ready() && session.classes().len() <= FORESEEN {
            let answers = session.foresee(&question.item, control)?;
            let (mut foreseen, mut changed) = (HashMap::new(), HashMap::new());
            for Foreseen {
                class,
                next,
                changed: others,
            } in answers
            {
                changed.insert((question.item.clone(), class), others);
                foreseen.extend(next.map(|next| ((question.item.clone(), class), next.item)));
            }
            amend(&|snapshot| {
                snapshot.foreseen.clone_from(&foreseen);
                snapshot.changed.clone_from(&changed);
            });
        }
        Ok(())
    }
}
