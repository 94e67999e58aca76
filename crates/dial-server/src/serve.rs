//! Running a server: start, listen on the loopback, stop in order.
//!
//! On a signal no more connections are taken; what is under way may finish within five seconds; the model is stopped in the
//! middle of a solve, and so is the map; the database is closed, which brings its log into it; the file with the token is removed.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use dial_store::time::{Clock, check_system_clock};
use dial_store::{Error, Folder, Manifest, Place, PreparedPool, Project, Result, Snapshot};
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::app::App;
use crate::assignment::{RandomOrder, remembered};
use crate::auth::session_list::{SESSIONS, SessionList};
use crate::auth::sessions::{Caller, Sessions, secret};
use crate::auth::{launch, private};
use crate::connections::{Connections, Socket, open_files};
use crate::http::router::router;
use crate::http::thumbnails::Thumbnails;
use crate::http::wire::SessionRow;
use crate::map_worker::MapWorker;
use crate::model_worker::{BeforeFollowing, ModelWorker};
use crate::progress::Progress;
use crate::request_limiter::RequestLimiter;
use crate::writer::Writer;

/// Requests that look at the whole log or pool at once.
const LONG_REQUESTS_AT_ONCE: usize = 2;

/// Exports that are sent at once, and those of one session. Whoever reads slowly holds up no other kind of request.
const SENDING: usize = 4;
const SENDING_OF_SESSION: usize = 2;

/// Kibibytes of large bodies that are in memory at once, and those of one session: an import, and something beside it.
const BODY_PERMITS: usize = 96 << 10;
const BODY_PERMITS_OF_SESSION: usize = 64 << 10;

/// Connections that may come before they are taken.
#[cfg(unix)]
const BACKLOG: i32 = 4096;

/// What the system takes of an answer before its reader has. It says that there is room only when much of that is free: of the
/// megabytes that it would take by itself, a slow reader frees too little in time (`connections.rs`).
#[cfg(unix)]
const SEND_BUFFER: usize = 128 << 10;

/// How long headers may take to arrive.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);

/// How long requests may take to end when the server stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// How to run a server.
#[derive(Clone)]
pub struct ServerOptions {
    /// The address; one that [`check_host`] gave.
    pub host: IpAddr,
    /// The port; 0 takes a free one.
    pub port: u16,
    /// Threads that the model computes with; all cores, if none are given.
    pub threads: Option<usize>,
    /// Whether signals to the process end it; else only the end that [`Server::run`] is given.
    pub signals: bool,
    /// What tests run before the model follows the log: it may wait or panic.
    #[doc(hidden)]
    pub before_following: Option<BeforeFollowing>,
}

impl Default for ServerOptions {
    fn default() -> ServerOptions {
        ServerOptions {
            host: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 0,
            threads: None,
            signals: true,
            before_following: None,
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
    /// The id of the project, for the header `X-Dial`.
    pub project: String,
    /// The id of its place, which no copy of the project has, for the header `X-Dial-Place`.
    pub place: String,
    /// Which start of the server this is: part of what is signed.
    pub run: String,
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
    /// A port that is taken, a file that cannot be written, a clock that is far off.
    pub fn start(
        mut project: Project,
        prepared: impl Into<Arc<PreparedPool>>,
        settings: &ServerOptions,
    ) -> Result<Server> {
        check_system_clock()?;
        let clock = Clock::new();
        let wanted = SocketAddr::from((settings.host, settings.port));
        // A browser keeps what is not saved yet by the address, port and all: the one of last time is tried first.
        // A copy of the project has another place, and takes no port from the first one.
        let folder = project.folder().cloned();
        let here = match &folder {
            Some(folder) => folder.place()?,
            None => Place {
                id: dial_store::random_id()?,
                port: None,
            },
        };
        let again = here
            .port
            .filter(|_| settings.port == 0)
            .map(|port| SocketAddr::from((settings.host, port)));
        let again = again.and_then(|place| listen(place).ok());
        let bound = again.map_or_else(|| listen(wanted), Ok);
        let refused = |error: std::io::Error| Error::Place {
            place: wanted.to_string(),
            why: format!("cannot listen there: {error}"),
            next: "Choose another --port, or leave it out.".into(),
        };
        let listener = bound.map_err(refused)?;
        let place = listener.local_addr().map_err(refused)?;
        // Without it the next start takes another port, and the browser sends when it is back at this one.
        if let Some(folder) = &folder {
            let _ = folder.keep_port(&here, place.port());
        }
        let token = secret()?;
        let root = private::session_root(folder.as_ref())?;
        let mut list = SessionList::read(project.kept(SESSIONS)?, clock.now());
        // Written at once, so that a clock that goes back before the next start is noticed then. Where it cannot be
        // written, nothing else can.
        let _ = project.keep(SESSIONS, &list.write(clock.now()));
        let sessions = Sessions::new(&token, &root, list)?;
        let address = Address {
            address: place.to_string(),
            token,
            pid: std::process::id(),
            project: project.id().into(),
            place: here.id,
            run: sessions.run.clone(),
        };
        if let Some(folder) = &folder {
            launch::sweep(folder);
            let path = folder.server();
            private::create(&path)?
                .write_all(&serde_json::to_vec(&address).unwrap_or_default())
                .map_err(|error| private::failed(&path, &error))?;
        }
        let audits = remembered(&mut project);
        let (stop, stopping) = watch::channel(false);
        let (model, start) = ModelWorker::new(Progress::of(&mut project));
        let model = Arc::new(model);
        let told = Arc::clone(&model);
        let prepared: Arc<PreparedPool> = prepared.into();
        let items = prepared.engine.items.len();
        let writer = Writer::open(project, items, clock, move || told.wake());
        let (shared, before_following) = (
            Arc::clone(writer.shared()),
            settings.before_following.clone(),
        );
        let mine = Arc::clone(&prepared);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(settings.threads.unwrap_or(0))
            .build();
        let pool = pool.map_err(|error| Error::Place {
            place: "threads".into(),
            why: format!("cannot be started: {error}"),
            next: "Use a smaller --threads.".into(),
        })?;
        let follow = move || pool.install(|| start.run(&mine, &shared, before_following.as_ref()));
        let thread = std::thread::Builder::new()
            .name("model".into())
            .spawn(follow);
        let model_thread = thread.map_err(|error| Error::Place {
            place: "threads".into(),
            why: format!("cannot be started: {error}"),
            next: "Close other programs.".into(),
        })?;
        model.wake();
        let map_worker = MapWorker::start(Arc::clone(&prepared), Arc::clone(writer.shared()));
        let port = place.port();
        let hosts = ["localhost", "127.0.0.1", "[::1]"].map(|name| format!("{name}:{port}"));
        let app = Arc::new(App {
            writer,
            model,
            map_worker,
            prepared,
            clock,
            sessions,
            address: place.to_string(),
            hosts: hosts.to_vec(),
            project: address.project.clone(),
            place: address.place.clone(),
            audits: Mutex::new(audits),
            stopping,
            colours: OnceLock::new(),
            order: RandomOrder::default(),
            counts: Mutex::default(),
            known: OnceLock::new(),
            thumbnails: Thumbnails::default(),
            long: RequestLimiter::new(LONG_REQUESTS_AT_ONCE, 1),
            copies: RequestLimiter::new(1, 1),
            sending: RequestLimiter::new(SENDING, SENDING_OF_SESSION),
            bodies: RequestLimiter::new(BODY_PERMITS, BODY_PERMITS_OF_SESSION),
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

    /// A file that leads a browser to such a link.
    ///
    /// # Errors
    /// A file that cannot be written, no random numbers.
    pub fn launch_file(&self) -> Result<PathBuf> {
        self.served().launch_file()
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
                // Only a process that is a server and nothing else changes its own limit.
                Arc::new(Connections::new(open_files(signals))),
                self.stop.clone(),
                end,
            ))
            .map_err(failed)?;
        self.app.model.stop();
        self.app.map_worker.stop();
        runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
        // The model gives up at the next step of its solve; whether it broke does not matter any more.
        let _ = self.model_thread.join();
        self.app.writer.close();
        self.app.sessions.forget_codes();
        if let Some(folder) = &self.folder {
            let _ = std::fs::remove_file(folder.server());
        }
        Ok(())
    }
}

/// A project that a server of this process has.
pub(crate) struct Served(Arc<App>);

impl Served {
    /// The project as it was stored last.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.0.writer.project()
    }

    /// Changes the project; browsers and the model are told.
    pub fn change<T>(&self, change: impl FnOnce(&mut Project) -> T) -> T {
        let changed = self.0.writer.change(change);
        self.0.writer.told();
        changed
    }

    /// Works beside the log: nobody is told.
    pub fn beside<T>(&self, work: impl FnOnce(&mut Project) -> T) -> T {
        self.0.writer.change(work)
    }

    /// Makes a backup while others label.
    ///
    /// # Errors
    /// As [`Project::backup`].
    pub fn back_up(&self, to: &Path, now: u64) -> Result<Manifest> {
        self.0.writer.shared().back_up(to, now)
    }

    /// The browsers that are signed in.
    pub fn sessions(&self) -> Vec<SessionRow> {
        self.0.sessions.rows(&Caller::Owner, self.0.clock.now())
    }

    /// Signs browsers out; those that are left.
    ///
    /// # Errors
    /// What writing the project may fail with.
    pub fn end_sessions(&self, ids: &[String]) -> Result<Vec<SessionRow>> {
        let list = self.0.sessions.end(ids, self.0.clock.now());
        self.beside(|project| project.keep(SESSIONS, &list))?;
        Ok(self.sessions())
    }

    /// A link that signs in a browser, once.
    ///
    /// # Errors
    /// No random numbers.
    pub fn link(&self) -> Result<String> {
        launch::link(&self.0)
    }

    /// A file that leads a browser to such a link.
    ///
    /// # Errors
    /// A file that cannot be written, no random numbers.
    pub fn launch_file(&self) -> Result<PathBuf> {
        launch::file(&self.0)
    }
}

/// Listens at an address. Many may come at once before they are taken: whom the system turns away asks again after a second.
fn listen(place: SocketAddr) -> std::io::Result<std::net::TcpListener> {
    let listener = std::net::TcpListener::bind(place)?;
    #[cfg(unix)]
    {
        // Connections have what their listener has.
        rustix::net::sockopt::set_socket_send_buffer_size(&listener, SEND_BUFFER)?;
        rustix::net::listen(&listener, BACKLOG)?;
    }
    Ok(listener)
}

/// Takes connections until the end.
async fn accept(
    listener: std::net::TcpListener,
    app: Arc<App>,
    connections: Arc<Connections>,
    stop: watch::Sender<bool>,
    end: impl Future<Output = ()>,
) -> std::io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    let (service, graceful) = (
        TowerToHyperService::new(router(app)),
        GracefulShutdown::new(),
    );
    // Once: a signal that came while nobody listened would be lost.
    tokio::pin!(end);
    loop {
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
        let (connection, time) = tokio::select! {
            () = &mut end => break,
            place = connections.place() => place,
        };
        let (service, known) = (service.clone(), Arc::clone(&connection));
        let serve = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(Arc::clone(&known));
            let (in_use, answer) = (known.begin(), service.call(request));
            async move {
                let answer = answer.await;
                drop(in_use);
                answer
            }
        });
        let mut http = hyper::server::conn::http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIMEOUT);
        let served = http.serve_connection(TokioIo::new(Socket::new(stream)), serve);
        let served = graceful.watch(served);
        tokio::spawn(async move {
            let stranger = async {
                tokio::select! {
                    () = tokio::time::sleep(time) => {}
                    () = connection.needed() => {}
                }
                if connection.is_signed_in() {
                    std::future::pending().await
                }
            };
            tokio::select! {
                // What a single connection fails with is the business of its other end.
                _ = served => {}
                () = stranger => {}
                () = connection.sent_away() => {}
            }
        });
    }
    drop(listener);
    stop.send_replace(true);
    let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, graceful.shutdown()).await;
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
