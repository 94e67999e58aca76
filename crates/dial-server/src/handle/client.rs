//! The server that has a project, over the loopback.
//!
//! The address and the token are in `server.json` in the folder of the project, which only its owner can read. It is looked
//! at only when the project is locked, so that a file that a killed server left is worth nothing. Whoever listens at the
//! address must prove that it holds the token, which is never sent; another machine, a process that is gone and a port that
//! somebody else has count for nothing. A server that is there but slow is waited for: opening the project beside it would
//! only fail.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use dial_store::Folder;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::http::{Answer, Request};
use super::{Note, ProjectHandle};
use crate::http::problem::{Problem, exit};
use crate::http::wire::{
    Believed, EndSessions, Estimates, HistoryRow, ImportRequest, Imported, ItemView, Launch,
    Manifest, Next, Page, Part, Passed, ProjectInfo, Questions, SessionRow, Status, Stored,
    Submission, Suspect, Wanted, Which,
};

/// How long the first answer of a server may take, and every other: it may have to solve first.
const FIRST_ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(600);

/// How long the model may take to follow what was said before it was asked.
const CATCH_UP_TIMEOUT: Duration = Duration::from_secs(60);

/// A server that stops closes connections without an answer: it is asked again so often, after such a pause.
const STOPPING_RETRIES: usize = 30;
const STOPPING_PAUSE: Duration = Duration::from_millis(200);

/// Items that a server gives at once.
const ITEMS_PER_REQUEST: usize = 50;

/// A running server.
pub struct Client {
    place: Place,
    backups: PathBuf,
    note: Note,
}

/// Where it is.
#[derive(Clone, Debug, Deserialize)]
struct Place {
    address: SocketAddr,
    token: String,
    pid: Option<u32>,
    #[serde(default)]
    project: String,
    #[serde(default)]
    place: String,
    #[serde(default)]
    run: String,
}

impl Place {
    /// Whether its process is there; yes where that cannot be seen.
    fn lives(&self) -> bool {
        let there = |pid: u32| Path::new(&format!("/proc/{pid}")).exists();
        !Path::new("/proc/self").exists() || self.pid.is_none_or(there)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}", self.address)?;
        self.pid.map_or(Ok(()), |pid| write!(f, " (process {pid})"))
    }
}

/// Who is at an address.
enum There {
    Server,
    Slow,
    Stopping,
    Nobody,
}

impl Client {
    /// The server of a project that is locked, if a server has it.
    ///
    /// # Errors
    /// A server that is there and does not answer.
    pub fn find(folder: &Folder, note: Note) -> Result<Option<Client>, Problem> {
        let file = std::fs::read(folder.server()).ok();
        let Some(place) = file.and_then(|bytes| serde_json::from_slice::<Place>(&bytes).ok())
        else {
            return Ok(None);
        };
        if !place.address.ip().is_loopback() {
            return Ok(None);
        }
        let client = Client {
            place,
            backups: folder.backups(),
            note,
        };
        for _ in 0..STOPPING_RETRIES {
            if !client.place.lives() {
                return Ok(None);
            }
            match there(&client.request("GET", "project", String::new(), FIRST_ANSWER_TIMEOUT)) {
                There::Server => return Ok(Some(client)),
                There::Nobody => return Ok(None),
                There::Stopping => std::thread::sleep(STOPPING_PAUSE),
                There::Slow => {
                    let text = format!("{}: its server {}", folder.0.display(), client.place);
                    let next = "Nothing was sent. Try again in a while, or end the server.";
                    return Err(held(format!("{text} does not answer. {next}")));
                }
            }
        }
        Ok(None)
    }

    /// The refusal of a program that needs the project for itself.
    pub fn refusal(&self, folder: &Folder) -> Problem {
        let text = format!("{}: its server {} has it", folder.0.display(), self.place);
        let next = "Nothing was changed. Stop that dial serve, or use its page and the dial command, which go through it.";
        held(format!("{text}. {next}"))
    }

    /// A link that signs in a browser.
    ///
    /// # Errors
    /// What the server answers.
    pub fn link(&self) -> Result<String, Problem> {
        self.post("launch", &Launch { file: false })
    }

    /// A file that leads a browser to such a link.
    ///
    /// # Errors
    /// What the server answers.
    pub fn launch_file(&self) -> Result<PathBuf, Problem> {
        self.post("launch", &Launch { file: true })
    }

    /// Waits until the model has followed what was said until now, so that the answer is the same as
    /// without a server.
    fn caught_up(&self) -> Result<ProjectInfo, Problem> {
        let project: ProjectInfo = self.get("project", &())?;
        let (wanted, start, mut now) = (project.version, Instant::now(), project);
        while now.model_version < wanted && now.banner.is_none() {
            if start.elapsed() > CATCH_UP_TIMEOUT {
                let text = "the model of the server is behind the labels; this is what it believed before.";
                (self.note)(text);
                return Ok(now);
            }
            std::thread::sleep(Duration::from_millis(50));
            now = self.get("project", &())?;
        }
        now.banner.iter().for_each(|banner| (self.note)(banner));
        Ok(now)
    }

    /// The same where something is to be believed, which takes two classes.
    fn believing(&self) -> Result<(), Problem> {
        let classes = self.caught_up()?.classes.len();
        if classes < 2 {
            return Err(dial_store::Error::from(dial::Error::TooFewClasses(classes)).into());
        }
        Ok(())
    }

    fn get<T: DeserializeOwned>(&self, path: &str, query: &impl Serialize) -> Result<T, Problem> {
        self.read(&self.bytes(path, query)?)
    }

    fn bytes(&self, path: &str, query: &impl Serialize) -> Result<Vec<u8>, Problem> {
        let query = serde_urlencoded::to_string(query).unwrap_or_default();
        let path = if query.is_empty() {
            path.to_string()
        } else {
            format!("{path}?{query}")
        };
        self.answered(self.request("GET", &path, String::new(), ANSWER_TIMEOUT))
    }

    fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, Problem> {
        let body = serde_json::to_string(body).unwrap_or_default();
        self.read(&self.answered(self.request("POST", path, body, ANSWER_TIMEOUT))?)
    }

    fn read<T: DeserializeOwned>(&self, body: &[u8]) -> Result<T, Problem> {
        let other = |error| {
            let text = format!(
                "the program at {} is not a server of this dial ({error}).",
                self.place.address
            );
            lost(&text)
        };
        serde_json::from_slice(body).map_err(other)
    }

    /// The body of a good answer, or the problem that the server tells.
    fn answered(&self, answer: io::Result<Answer>) -> Result<Vec<u8>, Problem> {
        let address = self.place.address;
        let gone = |error| {
            lost(&format!(
                "the server at {address} stopped answering ({error})."
            ))
        };
        let (status, body) = answer.map_err(gone)?;
        if (200..300).contains(&status) {
            return Ok(body);
        }
        let http = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
        let mut problem: Problem = serde_json::from_slice(&body).unwrap_or_default();
        if problem.detail.is_empty() {
            let text =
                format!("the server at {address} answered {status}. What was sent is not saved.");
            let text = format!("{text} Stop it to use the project directly.");
            problem = Problem::new(http, "U1", text);
        }
        if problem.exit == 0 {
            problem.exit = exit(http);
        }
        Err(problem)
    }

    fn request(
        &self,
        method: &str,
        path: &str,
        body: String,
        patience: Duration,
    ) -> io::Result<Answer> {
        let place = &self.place;
        Request {
            address: place.address,
            token: &place.token,
            run: &place.run,
            project: &place.project,
            place: &place.place,
            method,
            path,
            body,
        }
        .answer(patience)
    }
}

impl ProjectHandle for Client {
    fn status(&mut self) -> Result<Status, Problem> {
        self.get("status", &())
    }

    fn submit(&mut self, submission: Submission) -> Result<Stored, Problem> {
        self.post("decisions", &submission)
    }

    fn next(&mut self, wish: &Next) -> Result<Questions, Problem> {
        self.caught_up()?;
        let mut all: Option<Questions> = None;
        loop {
            let found = all.as_ref().map_or(&[][..], |all| all.items.as_slice());
            let count = (wish.count - found.len()).min(ITEMS_PER_REQUEST);
            let ids = found.iter().map(|view| view.id.clone());
            let except = wish.except.iter().cloned().chain(ids).collect();
            let part = Next {
                annotator: wish.annotator.clone(),
                count,
                except,
            };
            let mut new: Questions = match (self.post("next", &part), all.take()) {
                // Others have the rest.
                (Err(problem), Some(all)) if &*problem.code == "C14" => return Ok(all),
                (answer, before) => {
                    all = before;
                    answer?
                }
            };
            let last = new.items.len() < count;
            new.items
                .splice(0..0, all.take().into_iter().flat_map(|all| all.items));
            if last || new.items.len() >= wish.count {
                return match new.items.is_empty() {
                    true => Err(dial_store::Error::from(dial::Error::NothingToAsk).into()),
                    false => Ok(new),
                };
            }
            all = Some(new);
        }
    }

    fn item(&mut self, id: &str) -> Result<ItemView, Problem> {
        self.believing()?;
        self.get("item", &[("id", id)])
    }

    fn items(&mut self, which: &Which) -> Result<Page<Believed>, Problem> {
        self.believing()?;
        self.get("items", which)
    }

    fn suspects(&mut self, part: &Part) -> Result<Page<Suspect>, Problem> {
        self.believing()?;
        self.get("suspects", part)
    }

    fn passed(&mut self, part: &Part) -> Result<Page<Passed>, Problem> {
        self.get("passed", part)
    }

    fn estimates(&mut self) -> Result<Option<Estimates>, Problem> {
        self.believing()?;
        self.get("estimates", &())
    }

    fn history(&mut self, part: &Part) -> Result<Page<HistoryRow>, Problem> {
        self.get("history", part)
    }

    fn export(&mut self, wanted: &Wanted) -> Result<Vec<u8>, Problem> {
        wanted.format()?;
        if !wanted.labels_only {
            self.believing()?;
        }
        self.bytes("export", wanted)
    }

    fn import(&mut self, request: ImportRequest) -> Result<Imported, Problem> {
        self.post("import", &request)
    }

    fn sessions(&mut self) -> Result<Vec<SessionRow>, Problem> {
        self.get("sessions", &())
    }

    fn end_sessions(&mut self, ids: &[String]) -> Result<Vec<SessionRow>, Problem> {
        let sessions = ids.to_vec();
        self.post("sessions/end", &EndSessions { sessions })
    }

    /// The server makes it in the folder of the project, from where it is copied.
    fn backup(&mut self, to: &Path) -> Result<Manifest, Problem> {
        if to.exists() {
            let text = format!("{} is there already. Nothing was changed.", to.display());
            let text = format!("{text} Choose another name for the backup.");
            return Err(Problem::new(StatusCode::CONFLICT, "S11", text));
        }
        let made: Manifest = self.post("backup", &json!({}))?;
        // The server may have started in another folder: its path is not ours.
        let place = self.backups.join(made.file.file_name().unwrap_or_default());
        let failed = |error: io::Error| {
            let text = format!(
                "{}: {error}. The backup is there. Copy it from there.",
                place.display()
            );
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "S5", text)
        };
        let made_there = std::fs::File::open(&place).map_err(failed)?;
        dial_store::copy_backup(&made_there, to)?;
        // It was made to be copied: left there it would count as one that somebody asked to be kept there.
        let _ = std::fs::remove_file(&place);
        Ok(Manifest {
            file: to.to_path_buf(),
            ..made
        })
    }
}

/// A server that went away in the middle.
fn lost(text: &str) -> Problem {
    let next = "What was sent may NOT be saved. Check with dial status, then send it again.";
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "S5",
        format!("{text} {next}"),
    )
}

fn held(text: String) -> Problem {
    Problem::new(StatusCode::CONFLICT, "S7", text)
}

/// Who gave an answer to the question for the project. Any answer that is proven is one of the server, also that it is not
/// well; whoever cannot prove one is nobody.
fn there(answer: &io::Result<Answer>) -> There {
    match answer {
        Ok(_) => There::Server,
        Err(error) => match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => There::Slow,
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe => There::Stopping,
            _ => There::Nobody,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_there_by_hand() {
        for status in [200, 409, 503] {
            assert!(matches!(there(&Ok((status, Vec::new()))), There::Server));
        }
        let failed = |kind| there(&Err(io::Error::new(kind, "")));
        assert!(matches!(
            failed(io::ErrorKind::PermissionDenied),
            There::Nobody
        ));
        assert!(matches!(
            failed(io::ErrorKind::ConnectionRefused),
            There::Nobody
        ));
        assert!(matches!(failed(io::ErrorKind::WouldBlock), There::Slow));
        assert!(matches!(
            failed(io::ErrorKind::UnexpectedEof),
            There::Stopping
        ));
    }
}
