//! Who has a project of this process: whoever opened it, a server on threads of this process, or nobody any more.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use dial_store::time::Clock;
use dial_store::{Folder, Journal, Manifest, PreparedPool, Project, Snapshot};
use tokio::sync::oneshot;

use crate::http::problem::Problem;
use crate::serve::{Served, Server, ServerOptions};

/// A project of this process.
pub struct Holding {
    holder: Holder,
    /// The process that opened it.
    process: u32,
}

enum Holder {
    Own(Box<Project>),
    Served(Serving),
    Closed,
}

impl Drop for Holding {
    fn drop(&mut self) {
        // After a fork it belongs to the parent, which still has the file and the threads: not ours to close.
        if self.process != std::process::id() {
            std::mem::forget(std::mem::replace(&mut self.holder, Holder::Closed));
        }
    }
}

impl Holding {
    /// A project that was opened.
    pub fn own(project: Project) -> Holding {
        Holding {
            holder: Holder::Own(Box::new(project)),
            process: std::process::id(),
        }
    }

    /// Reads the project as it was stored last. Waits for nobody.
    pub fn read<T>(&self, look: impl FnOnce(&Snapshot) -> T) -> Result<T, Problem> {
        match &self.holder {
            Holder::Own(project) => Ok(look(&project.snapshot())),
            Holder::Served(serving) => Ok(look(&serving.served.snapshot())),
            Holder::Closed => Err(closed()),
        }
    }

    /// Changes the project; whoever else looks at it is told.
    pub fn change<T>(&mut self, change: impl FnOnce(&mut Project) -> T) -> Result<T, Problem> {
        match &mut self.holder {
            Holder::Own(project) => Ok(change(project)),
            Holder::Served(serving) => Ok(serving.served.change(change)),
            Holder::Closed => Err(closed()),
        }
    }

    /// Works beside the log, which stays as it is: with what is kept in the project.
    pub fn beside<T>(&mut self, work: impl FnOnce(&mut Project) -> T) -> Result<T, Problem> {
        match &mut self.holder {
            Holder::Own(project) => Ok(work(project)),
            Holder::Served(serving) => Ok(serving.served.beside(work)),
            Holder::Closed => Err(closed()),
        }
    }

    /// Makes a backup; whoever labels through a server of this process goes on meanwhile.
    pub fn back_up(
        &mut self,
        to: &Path,
        now: u64,
    ) -> Result<dial_store::Result<Manifest>, Problem> {
        match &mut self.holder {
            Holder::Own(project) => Ok(project.backup(to, now)),
            Holder::Served(serving) => Ok(serving.served.back_up(to, now)),
            Holder::Closed => Err(closed()),
        }
    }

    /// The server of this process, if one has it.
    pub fn served(&self) -> Option<&Served> {
        match &self.holder {
            Holder::Served(serving) => Some(&serving.served),
            _ => None,
        }
    }

    /// Whether a server has it.
    pub fn is_served(&self) -> bool {
        matches!(self.holder, Holder::Served(_))
    }

    /// Hands the project to a server, unless one has it; returns a link that signs in a browser.
    pub fn serve(&mut self, prepared: Arc<PreparedPool>, port: u16) -> Result<String, Problem> {
        if let Holder::Served(serving) = &self.holder {
            return Ok(serving.served.link()?);
        }
        let Some(folder) = self.read(|project| project.folder().cloned())? else {
            let text = "the page needs a project on disk. Save it into a folder first.";
            return Err(Problem::usage(text));
        };
        let Holder::Own(project) = std::mem::replace(&mut self.holder, Holder::Closed) else {
            return Err(closed());
        };
        match Serving::start(*project, prepared, folder.clone(), port) {
            Ok((serving, link)) => {
                self.holder = Holder::Served(serving);
                Ok(link)
            }
            Err(problem) => {
                self.open(&folder)?;
                Err(problem)
            }
        }
    }

    /// Takes the project back from the server, if one has it.
    pub fn stop_serving(&mut self) -> Result<(), Problem> {
        let Holder::Served(serving) = &self.holder else {
            return Ok(());
        };
        let folder = serving.folder.clone();
        // Dropping it waits until the server has closed the project.
        self.holder = Holder::Closed;
        self.open(&folder)
    }

    /// Gives the project up in order.
    pub fn close(&mut self) {
        if let Holder::Own(project) = &mut self.holder {
            project.close();
        }
        self.holder = Holder::Closed;
    }

    fn open(&mut self, folder: &Folder) -> Result<(), Problem> {
        let project = Project::open(&folder.0, Journal::Wal, Clock::new().now())?;
        self.holder = Holder::Own(Box::new(project));
        Ok(())
    }
}

/// The refusal of a project that was closed.
fn closed() -> Problem {
    Problem::usage("this project is closed. Open it again.")
}

/// A server that runs until it is dropped.
struct Serving {
    served: Served,
    folder: Folder,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    fn start(
        project: Project,
        prepared: Arc<PreparedPool>,
        folder: Folder,
        port: u16,
    ) -> Result<(Serving, String), Problem> {
        let settings = ServerOptions {
            port,
            signals: false,
            ..ServerOptions::default()
        };
        let server = Server::start(project, prepared, &settings)?;
        let (served, link) = (server.served(), server.link()?);
        let (stop, stopped) = oneshot::channel();
        let serve = move || {
            // What a server fails with shows on the page; the project stays whole.
            let _ = server.run(async {
                let _ = stopped.await;
            });
        };
        let thread = std::thread::Builder::new()
            .name("dial page".into())
            .spawn(serve);
        let thread = thread.map_err(|error| {
            Problem::usage(format!("cannot start a thread: {error}. Free some."))
        })?;
        let serving = Serving {
            served,
            folder,
            stop: Some(stop),
            thread: Some(thread),
        };
        Ok((serving, link))
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // A server that has ended by itself needs not be told.
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
