//! Cancellation and progress, passed into every function that may take long.
//!
//! Python's Ctrl-C, the server's deadlines and the command's progress bars all come through a [`Control`]. The core
//! never looks at a clock and never prints: it counts work done and asks whether to go on.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// A progress report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress<'a> {
    /// A stage begins, with its number of steps.
    Start {
        /// What is being done, in words for a person.
        stage: &'a str,
        /// Number of steps.
        steps: u64,
    },
    /// So many more steps of the current stage are done.
    Advance(u64),
    /// The current stage is over.
    Finish,
}

type Sink = dyn Fn(Progress<'_>) + Send + Sync;

/// A cancel flag and a progress sink. Cloning shares both.
#[derive(Clone, Default)]
pub struct Control {
    cancelled: Arc<AtomicBool>,
    sink: Option<Arc<Sink>>,
}

impl Control {
    /// No progress reports; cancellable all the same.
    pub fn new() -> Control {
        Control::default()
    }

    /// Reports progress to `sink`, which may be called from several threads at once.
    pub fn with_progress(sink: impl Fn(Progress<'_>) + Send + Sync + 'static) -> Control {
        Control {
            sink: Some(Arc::new(sink)),
            ..Control::default()
        }
    }

    /// The same cancel flag without progress reports, for work inside a stage.
    pub fn quiet(&self) -> Control {
        Control {
            cancelled: Arc::clone(&self.cancelled),
            sink: None,
        }
    }

    /// Asks everything under this control to stop soon.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// `Err(Cancelled)` once [`Control::cancel`] was called.
    pub fn check(&self) -> Result<()> {
        if self.cancelled.load(Ordering::Relaxed) {
            Err(Error::Cancelled)
        } else {
            Ok(())
        }
    }

    /// Begins a stage with a number of steps.
    pub fn start(&self, stage: &str, steps: usize) {
        self.tell(Progress::Start {
            stage,
            steps: steps as u64,
        });
    }

    /// Reports steps done and checks for cancellation.
    pub fn advance(&self, steps: usize) -> Result<()> {
        self.tell(Progress::Advance(steps as u64));
        self.check()
    }

    /// Ends the stage.
    pub fn finish(&self) {
        self.tell(Progress::Finish);
    }

    fn tell(&self, progress: Progress<'_>) {
        if let Some(sink) = &self.sink {
            sink(progress);
        }
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control")
            .field("cancelled", &self.cancelled)
            .finish_non_exhaustive()
    }
}
