//! The server that has a project, over the loopback.
//!
//! The address and the token are in `server.json` in the folder of the project, which only its owner can read. A file that
//! names another machine, a process that is gone, a port that nobody listens on or that somebody else has: all that counts
//! for nothing. A server that is there but slow is waited for: opening the project beside it would only fail.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use dial_store::Folder;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::http::{Answer, Request};
use super::{Note, ProjectHandle};
use crate::http::problem::{Problem, exit};
use crate::http::wire::{
    Believed, Estimates, HistoryRow, Imported, ItemView, Labels, Manifest, Next, Page, Part,
    ProjectInfo, Questions, Status, Stored, Submission, Suspect, Wanted, Which,
};

/// How long the first answer of a server may take, and every other: it may have to solve first.
const FIRST: Duration = Duration::from_secs(60);
const ANSWER: Duration = Duration::from_secs(600);

/// How long the model may take to follow what was said before it was asked.
const FOLLOW: Duration = Duration::from_secs(60);

/// A server that ends closes connections without an answer: it is asked again so often, after such a pause.
const ENDING: (usize, Duration) = (30, Duration::from_millis(200));

/// Items that a server gives at once.
const ITEMS: usize = 50;

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
}

impl Place {
    /// Whether its process is there; yes where that cannot be seen.
    fn lives(&self) -> bool {
        let there = |pid: u32| Path::new(&format!("/proc/{pid}")).exists();
        !Path::new("/proc/self").exists() || self.pid.is_none_or(there)
    }
}

/// Who is at an address.
enum There {
    Server,
    Slow,
    Ending,
    Nobody,
}

impl Client {
    /// The server of a project, if one is running.
    ///
    /// # Errors
    /// A server that is there and does not answer.
    pub fn find(folder: &Folder, note: Note) -> Result<Option<Client>, Problem> {
        let file = std::fs::read(folder.server()).ok();
        let Some(place) = file.and_then(|bytes| serde_json::from_slice::<Place>(&bytes).ok())
        else {
            return Ok(None);
        };
        let plain = place.token.bytes().all(|byte| byte.is_ascii_graphic());
        if !place.address.ip().is_loopback() || !plain {
            return Ok(None);
        }
        let client = Client {
            place,
            backups: folder.backups(),
            note,
        };
        for _ in 0..ENDING.0 {
            if !client.place.lives() {
                return Ok(None);
            }
            match there(client.request("GET", "project", String::new(), FIRST)) {
                There::Server => return Ok(Some(client)),
                There::Nobody => return Ok(None),
                There::Ending => std::thread::sleep(ENDING.1),
                There::Slow => {
                    let text = format!(
                        "{}: its server at {} does not answer",
                        folder.0.display(),
                        client.place.address
                    );
                    let process = client
                        .place
                        .pid
                        .map_or(String::new(), |pid| format!(" (process {pid})"));
                    let next = "Nothing was sent. Try again in a while, or end the server.";
                    return Err(held(format!("{text}{process}. {next}")));
                }
            }
        }
        Ok(None)
    }

    /// A link that signs in a browser.
    ///
    /// # Errors
    /// What the server answers.
    pub fn link(&self) -> Result<String, Problem> {
        self.post("launch", &json!({}))
    }

    /// Waits until the model has followed what was said until now, so that the answer is the same as
    /// without a server.
    fn caught_up(&self) -> Result<ProjectInfo, Problem> {
        let project: ProjectInfo = self.get("project", &())?;
        let (wanted, start, mut now) = (project.version, Instant::now(), project);
        while now.model_version < wanted && now.banner.is_none() {
            if start.elapsed() > FOLLOW {
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
        self.answered(self.request("GET", &path, String::new(), ANSWER))
    }

    fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, Problem> {
        let body = serde_json::to_string(body).unwrap_or_default();
        self.read(&self.answered(self.request("POST", path, body, ANSWER))?)
    }

    fn read<T: DeserializeOwned>(&self, body: &[u8]) -> Result<T, Problem> {
        let other = |error| {
            let text = format!(
                "what answers at {} is no server of this dial ({error}).",
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
        let Place { address, token, .. } = &self.place;
        Request {
            address: *address,
            token,
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
            let count = (wish.count - found.len()).min(ITEMS);
            let ids = found.iter().map(|card| card.id.clone());
            let except = wish.except.iter().cloned().chain(ids).collect();
            let part = Next {
                annotator: wish.annotator.clone(),
                count,
                except,
            };
            let mut new: Questions = self.post("next", &part)?;
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

    fn import(&mut self, labels: Labels) -> Result<Imported, Problem> {
        self.post("import", &labels)
    }

    /// The server makes it in the folder of the project, from where it is copied.
    fn backup(&mut self, to: &Path) -> Result<Manifest, Problem> {
        if to.exists() {
            let text = format!("{}: is there already. Nothing was changed.", to.display());
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
        let bytes = std::fs::read(&place).map_err(failed)?;
        let write = |out: &mut dyn io::Write| out.write_all(&bytes);
        dial_data::write::write_whole(to, write).map_err(dial_store::Error::from)?;
        Ok(Manifest {
            file: to.to_path_buf(),
            ..made
        })
    }
}

/// A server that went away in the middle.
fn lost(text: &str) -> Problem {
    let next = "What was sent may NOT be saved. Look with dial status, then send it again.";
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "S5",
        format!("{text} {next}"),
    )
}

fn held(text: String) -> Problem {
    Problem::new(StatusCode::CONFLICT, "S7", text)
}

/// Who gave an answer to the question for the project.
fn there(answer: io::Result<Answer>) -> There {
    match answer {
        Ok((200, body)) if serde_json::from_slice::<ProjectInfo>(&body).is_ok() => There::Server,
        Ok((status, body)) => {
            let problem: Value = serde_json::from_slice(&body).unwrap_or_default();
            let ours = problem["type"]
                .as_str()
                .is_some_and(|kind| kind.starts_with("urn:dial:error:"));
            // A server that is not well says so again when it is asked for something; one that does not know the token is
            // that of another project.
            if ours && (status == 429 || status >= 500) {
                There::Server
            } else {
                There::Nobody
            }
        }
        Err(error) => match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => There::Slow,
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe => There::Ending,
            _ => There::Nobody,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_there_by_hand() {
        let of = |status, body: Value| there(Ok((status, body.to_string().into_bytes())));
        let project = json!({
            "name": "p", "id": "1", "pool": "p", "item_word": "row", "items": 1, "labelled": 0, "classes": [],
            "annotators": {}, "acquisition": "auto", "overlap": 1, "version": 1, "model_version": 1,
            "model_ready": false, "foreseen": false, "banner": null, "conflicts": 0,
        });
        assert!(matches!(of(200, project), There::Server));
        assert!(matches!(
            of(200, json!({ "welcome": "to another program" })),
            There::Nobody
        ));
        assert!(matches!(
            of(401, json!({ "type": "urn:dial:error:X13" })),
            There::Nobody
        ));
        assert!(matches!(
            of(503, json!({ "type": "urn:dial:error:S4" })),
            There::Server
        ));
        assert!(matches!(of(503, json!({})), There::Nobody));
        let failed = |kind| there(Err(io::Error::new(kind, "")));
        assert!(matches!(
            failed(io::ErrorKind::ConnectionRefused),
            There::Nobody
        ));
        assert!(matches!(failed(io::ErrorKind::WouldBlock), There::Slow));
        assert!(matches!(
            failed(io::ErrorKind::UnexpectedEof),
            There::Ending
        ));
    }
}
