//! The page of a session, served by threads of this process: what is labelled there is known here at once.

use std::path::PathBuf;
use std::thread::JoinHandle;

use dial::Control;
use dial_server::{Served, Server, Settings};
use dial_store::{Journal, Project};
use tokio::sync::oneshot;

use crate::errors::Failure;
use crate::holding::{Holding, Inner, closed, now};

/// A server that has the project.
pub struct Serving {
    /// The project.
    pub served: Served,
    folder: PathBuf,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    process: u32,
}

impl Serving {
    fn end(&mut self) {
        if self.process != std::process::id() {
            // The thread stayed with the parent of this process.
            std::mem::forget((self.stop.take(), self.thread.take()));
            return;
        }
        if let Some(stop) = self.stop.take() {
            // A server that has ended by itself needs not be told.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.end();
    }
}

impl Inner {
    /// Hands the project to a server; returns a link for a browser.
    pub fn serve(&mut self, port: u16, control: &Control) -> Result<String, Failure> {
        if let Holding::Served(serving) = &self.holding {
            return Ok(serving.served.link()?);
        }
        let Holding::Own(mut project) = std::mem::replace(&mut self.holding, Holding::Closed)
        else {
            return Err(closed());
        };
        let Some(folder) = project.folder().cloned() else {
            self.holding = Holding::Own(project);
            return Err(Failure::usage(
                "the page needs a project on disk. Save the session first: session.save(path).",
            ));
        };
        let material = match project.material(control, now()) {
            Ok((material, _)) => material,
            Err(error) => {
                self.holding = Holding::Own(project);
                return Err(error.into());
            }
        };
        let started = Server::start(
            *project,
            material,
            &Settings {
                port,
                signals: false,
                ..Settings::default()
            },
        );
        let started = started.and_then(|server| Ok((server.link()?, server)));
        let (link, server) = match started {
            Ok(started) => started,
            Err(error) => {
                self.reopen(folder.0)?;
                return Err(error.into());
            }
        };
        let (stop, stopped) = oneshot::channel();
        let served = server.served();
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
            Failure::usage(format!("cannot start a thread: {error}. Free some."))
        })?;
        self.holding = Holding::Served(Serving {
            served,
            folder: folder.0,
            stop: Some(stop),
            thread: Some(thread),
            process: std::process::id(),
        });
        Ok(link)
    }

    /// Takes the project back from the server, if one has it.
    pub fn stop_serving(&mut self) -> Result<(), Failure> {
        let Holding::Served(serving) = &mut self.holding else {
            return Ok(());
        };
        serving.end();
        let folder = serving.folder.clone();
        self.holding = Holding::Closed;
        self.reopen(folder)
    }

    fn reopen(&mut self, folder: PathBuf) -> Result<(), Failure> {
        self.holding = Holding::Own(Box::new(Project::open(&folder, Journal::Wal, now())?));
        Ok(())
    }
}
