//! Running a server: start, listen on the loopback, stop in order.
//!
//! On a signal no more connections are taken; what is under way may finish within five seconds; the model is stopped in the
//! middle of a solve, and so is the map; the database is closed, which brings its log into it; the file with the token is removed.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use dial_store::time::Clock;
use dial_store::{Error, Folder, Material, Project, Result};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use crate::app::App;
use crate::assignment::remembered;
use crate::auth::tokens::{Sessions, secret};
use crate::http::router::router;
use crate::map_worker::MapWorker;
use crate::model_worker::{ModelWorker, Obstacle};
use crate::progress::Progress;
use crate::writer::Writer;

/// Connections at once.
const CONNECTIONS: usize = 200;

/// How long headers may take to arrive.
const HEADERS: Duration = Duration::from_secs(10);

/// How long requests may take to end when the server stops.
const DRAIN: Duration = Duration::from_secs(5);

/// The name under which the port is kept.
const PORT: &str = "port";

/// How to run a server.
#[derive(Clone)]
pub struct Settings {
    /// The address; one that [`check_host`] gave.
    pub host: IpAddr,
    /// The port; 0 takes a free one.
    pub port: u16,
    /// Threads that the model computes with; all cores, if none are given.
    pub threads: Option<usize>,
    /// Whether signals to the process end it; else only the end that [`Server::run`] is given.
    pub signals: bool,
    /// What tests put in the way of the model.
    #[doc(hidden)]
    pub obstacle: Option<Obstacle>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            host: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 0,
            threads: None,
            signals: true,
            obstacle: None,
        }
    }
}

/// Where a running server is, for programs of the owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// As `127.0.0.1:4321`.
    pub address: String,
    /// The token of the owner.
    pub token: String,
    /// The process.
    pub pid: u32,
}

/// A server that is ready to run.
pub struct Server {
    app: Arc<App>,
    listener: std::net::TcpListener,
    folder: Option<Folder>,
    stop: watch::Sender<bool>,
    model_thread: std::thread::JoinHandle<()>,
    signals: bool,
    /// Where it is.
    pub address: Address,
}

/// The address to listen on; anything but this machine is refused (X3).
///
/// # Errors
/// Any other address than `localhost`, `127.0.0.1` and `::1`.
pub fn check_host(host: &str) -> std::result::Result<IpAddr, String> {
    match host {
        "localhost" | "127.0.0.1" => Ok(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        "::1" => Ok(IpAddr::V6(Ipv6Addr::LOCALHOST)),
        _ => Err(format!(
            "refusing to listen on {host} without an admin account and TLS. Nothing was started. Leave --host out: the server \
             then listens on this machine only, and a tunnel (ssh -L) brings it elsewhere."
        )),
    }
}

impl Server {
    /// Starts the writer and the model of a project, and takes the port. Nothing is answered before [`Server::run`].
    ///
    /// # Errors
    /// A port that is taken, a file that cannot be written.
    pub fn start(
        mut project: Project,
        material: impl Into<Arc<Material>>,
        settings: &Settings,
    ) -> Result<Server> {
        let clock = Clock::new();
        let wanted = SocketAddr::from((settings.host, settings.port));
        // A browser keeps what is not saved yet by the address, port and all: the one of last time is tried first.
        let before = project
            .kept(PORT)?
            .and_then(|port| String::from_utf8(port).ok()?.parse::<u16>().ok());
        let again = before
            .filter(|_| settings.port == 0)
            .map(|port| SocketAddr::from((settings.host, port)));
        let again = again.and_then(|place| std::net::TcpListener::bind(place).ok());
        let bound = again.map_or_else(|| std::net::TcpListener::bind(wanted), Ok);
        let refused = |error: std::io::Error| Error::Place {
            place: wanted.to_string(),
            why: format!("cannot listen there: {error}"),
            next: "Choose another --port, or leave it out.".into(),
        };
        let listener = bound.map_err(refused)?;
        let place = listener.local_addr().map_err(refused)?;
        // Without it the next start takes another port, and the browser sends when it is back at this one.
        let _ = project.keep(PORT, place.port().to_string().as_bytes());
        let token = secret()?;
        let address = Address {
            address: place.to_string(),
            token: token.clone(),
            pid: std::process::id(),
        };
        let folder = project.folder().cloned();
        if let Some(folder) = &folder {
            write_private(
                &folder.server(),
                &serde_json::to_vec(&address).unwrap_or_default(),
            )?;
        }
        let sessions = Sessions::new(&token, project.kept("sessions")?);
        let audits = remembered(&mut project);
        let (stop, stopping) = watch::channel(false);
        let (model, beginning) = ModelWorker::new(Progress::of(&mut project));
        let model = Arc::new(model);
        let told = Arc::clone(&model);
        let writer = Writer::open(project, clock, move || told.wake());
        let (material, shared, obstacle): (Arc<Material>, _, _) =
            (material.into(), writer.shared(), settings.obstacle.clone());
        let mine = Arc::clone(&material);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(settings.threads.unwrap_or(0))
            .build();
        let pool = pool.map_err(|error| Error::Place {
            place: "threads".into(),
            why: format!("cannot be started: {error}"),
            next: "Use a smaller --threads.".into(),
        })?;
        let think = move || pool.install(|| beginning.think(&mine, &shared, obstacle.as_ref()));
        let thread = std::thread::Builder::new()
            .name("model".into())
            .spawn(think);
        let model_thread = thread.map_err(|error| Error::Place {
            place: "threads".into(),
            why: format!("cannot be started: {error}"),
            next: "Close other programs.".into(),
        })?;
        model.wake();
        let map_worker = MapWorker::start(Arc::clone(&material), writer.shared());
        let port = place.port();
        let hosts = ["localhost", "127.0.0.1", "[::1]"].map(|name| format!("{name}:{port}"));
        let app = Arc::new(App {
            writer,
            model,
            map_worker,
            material,
            clock,
            sessions,
            address: place.to_string(),
            hosts: hosts.to_vec(),
            cookie: format!("dial-{port}"),
            audits: Mutex::new(audits),
            stopping,
            colours: OnceLock::new(),
            order: OnceLock::new(),
        });
        Ok(Server {
            app,
            listener,
            folder,
            stop,
            model_thread,
            signals: settings.signals,
            address,
        })
    }

    /// A link that signs in a browser, once.
    ///
    /// # Errors
    /// No random numbers.
    pub fn link(&self) -> Result<String> {
        self.served().link()
    }

    /// The project while it is served, for others in this process.
    pub(crate) fn served(&self) -> Served {
        Served(Arc::clone(&self.app))
    }

    /// Answers requests until the process is told to stop, or `end` is done.
    ///
    /// # Errors
    /// No runtime, or no socket.
    pub fn run(self, end: impl Future<Output = ()> + Send + 'static) -> Result<()> {
        let failed = |error: std::io::Error| Error::Place {
            place: self.address.address.clone(),
            why: error.to_string(),
            next: "Start the server again.".into(),
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(failed)?;
        self.listener.set_nonblocking(true).map_err(failed)?;
        let listener = self.listener.try_clone().map_err(failed)?;
        let signals = self.signals;
        let end = async move {
            tokio::select! {
                () = end => {}
                () = told_to_stop(), if signals => {}
            }
        };
        runtime
            .block_on(accept(
                listener,
                Arc::clone(&self.app),
                self.stop.clone(),
                end,
            ))
            .map_err(failed)?;
        self.app.model.stop();
        self.app.map_worker.stop();
        runtime.shutdown_timeout(DRAIN);
        // The model gives up at the next step of its solve; whether it broke does not matter any more.
        let _ = self.model_thread.join();
        self.app.writer.close();
        if let Some(folder) = &self.folder {
            let _ = std::fs::remove_file(folder.server());
        }
        Ok(())
    }
}

/// A project that a server of this process has.
pub(crate) struct Served(Arc<App>);

impl Served {
    /// Reads the project of the moment.
    pub fn read<T>(&self, look: impl FnOnce(&Project) -> T) -> T {
        look(&self.0.writer.project())
    }

    /// Changes the project; browsers and the model are told.
    pub fn change<T>(&self, change: impl FnOnce(&mut Project) -> T) -> T {
        let changed = change(&mut self.0.writer.project_mut());
        self.0.writer.told();
        changed
    }

    /// Works beside the log: nobody is told.
    pub fn beside<T>(&self, work: impl FnOnce(&mut Project) -> T) -> T {
        work(&mut self.0.writer.project_mut())
    }

    /// A link that signs in a browser, once.
    ///
    /// # Errors
    /// No random numbers.
    pub fn link(&self) -> Result<String> {
        Ok(format!(
            "http://{}/launch?code={}",
            self.0.address,
            self.0.sessions.launch_code()?
        ))
    }
}

/// Takes connections until the end.
async fn accept(
    listener: std::net::TcpListener,
    app: Arc<App>,
    stop: watch::Sender<bool>,
    end: impl Future<Output = ()>,
) -> std::io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    let (service, graceful) = (router(app), GracefulShutdown::new());
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    // Once: a signal that came while nobody listened would be lost.
    tokio::pin!(end);
    loop {
        let permit = tokio::select! {
            () = &mut end => break,
            permit = Arc::clone(&room).acquire_owned() => permit.expect("the semaphore is never closed"),
        };
        let stream = tokio::select! {
            () = &mut end => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                // A connection that was gone before it was taken, or too many open files: others may do better.
                Err(_) => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let mut http = hyper::server::conn::http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEADERS);
        let connection = http.serve_connection(
            TokioIo::new(stream),
            TowerToHyperService::new(service.clone()),
        );
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // What a single connection fails with is the business of its other end.
            let _ = connection.await;
            drop(permit);
        });
    }
    drop(listener);
    stop.send_replace(true);
    let _ = tokio::time::timeout(DRAIN, graceful.shutdown()).await;
    Ok(())
}

/// Ctrl-C, or the polite signal to end.
async fn told_to_stop() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut terminate), Ok(mut hangup)) = (
            signal(SignalKind::terminate()),
            signal(SignalKind::hangup()),
        ) else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
    #[cfg(not(unix))]
    {
        let _ = tokio::signal::ctrl_c().await;
    }
}

/// Writes a file that only the owner can read.
fn write_private(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |error: std::io::Error| Error::Place {
        place: path.display().to_string(),
        why: error.to_string(),
        next: "Check that the folder can be written to.".into(),
    };
    // A file of before may have other permissions.
    let _ = std::fs::remove_file(path);
    let mut options = std::fs::File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
        .open(path)
        .and_then(|mut file| file.write_all(bytes))
        .map_err(failed)
}
