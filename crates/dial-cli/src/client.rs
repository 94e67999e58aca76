//! Talking to the server that has a project, over the loopback: all paths and shapes of its interface are in this file.
//!
//! The address and the token are in `server.json` in the folder of the project, which only its owner can read. A file that
//! names another machine, a process that is gone, a port that nobody listens on or that somebody else has: all that counts
//! for nothing. A server that is there but slow is waited for: opening the project beside it would only fail.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use dial::{Change, ClassId, ErrorKind};
use dial_store::{Decision, Folder, Given, Import, Imported, Manifest, Receipt, Submission};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::history::Page;
use crate::http::{Answer, Request, encoded};
use crate::output::Output;

/// How long the first answer of a server may take, and every other: it may have to solve first.
const FIRST: Duration = Duration::from_secs(60);
const ANSWER: Duration = Duration::from_secs(600);

/// How long the model may take to follow what was said before it was asked.
const FOLLOW: Duration = Duration::from_secs(60);

/// A server that ends closes connections without an answer: it is asked again so often, after such a pause.
const ENDING: (usize, Duration) = (30, Duration::from_millis(200));

/// Items that a server gives at once, and rows of its lists.
const ITEMS: usize = 50;
const ROWS: usize = 1000;

/// A running server.
#[derive(Clone, Debug, Deserialize)]
pub struct Client {
    address: SocketAddr,
    token: String,
    pid: Option<u32>,
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
    pub fn find(folder: &Folder) -> Result<Option<Client>, Failure> {
        let file = std::fs::read(folder.server()).ok();
        let Some(client) = file.and_then(|bytes| serde_json::from_slice::<Client>(&bytes).ok())
        else {
            return Ok(None);
        };
        let plain = client.token.bytes().all(|byte| byte.is_ascii_graphic());
        if !client.address.ip().is_loopback() || !plain {
            return Ok(None);
        }
        for _ in 0..ENDING.0 {
            if !client.lives() {
                return Ok(None);
            }
            match there(client.request("GET", "project", None, FIRST)) {
                There::Server => return Ok(Some(client)),
                There::Nobody => return Ok(None),
                There::Ending => std::thread::sleep(ENDING.1),
                There::Slow => {
                    let text = format!(
                        "{}: its server at {} does not answer",
                        folder.0.display(),
                        client.address
                    );
                    let process = client
                        .pid
                        .map_or(String::new(), |pid| format!(" (process {pid})"));
                    let next = "Nothing was sent. Try again in a while, or end the server.";
                    return Err(Failure::held(format!("{text}{process}. {next}")));
                }
            }
        }
        Ok(None)
    }

    /// Whether its process is there; yes where that cannot be seen.
    fn lives(&self) -> bool {
        let there = |pid: u32| Path::new(&format!("/proc/{pid}")).exists();
        !Path::new("/proc/self").exists() || self.pid.is_none_or(there)
    }

    /// Sends decisions.
    pub fn decide(&self, submission: &Submission) -> Result<Receipt, Failure> {
        let decisions: Vec<Value> = submission.decisions.iter().map(deed).collect();
        let Submission {
            key,
            annotator,
            replace,
            ..
        } = submission;
        let body = json!({ "key": key, "annotator": annotator, "decisions": decisions, "replace": replace });
        self.post("decisions", &body)
    }

    /// The live classes.
    pub fn classes(&self) -> Result<Vec<(ClassId, String)>, Failure> {
        self.get("project").map(Known::classes)
    }

    /// The live classes, at least two, once the model has followed what was said until now: so that a verb says the same
    /// with and without a server.
    pub fn ready(&self, output: &Output) -> Result<Vec<(ClassId, String)>, Failure> {
        let project: Known = self.get("project")?;
        if project.classes.len() < 2 {
            return Err(dial::Error::TooFewClasses(project.classes.len()).into());
        }
        let (wanted, start, mut now) = (project.version, Instant::now(), project.clone());
        loop {
            if let Some(banner) = &now.banner {
                output.note(&format!("note: {banner}"));
                break;
            }
            if now.model_version >= wanted {
                break;
            }
            if start.elapsed() > FOLLOW {
                output.note("note: the model of the server is behind the labels; this is what it believed before.");
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
            now = self.get("project")?;
        }
        Ok(project.classes())
    }

    /// So many items to label next, as the server shows them, and the version of the log.
    pub fn next(&self, annotator: &str, count: usize) -> Result<(Vec<Value>, Value), Failure> {
        let (mut items, mut ids, mut version): (Vec<Value>, Vec<Value>, Value) = Default::default();
        while items.len() < count {
            let wanted = (count - items.len()).min(ITEMS);
            let mut body = json!({ "annotator": annotator, "count": wanted });
            if !ids.is_empty() {
                body["except"] = json!(ids);
            }
            let answer: Value = self.post("next", &body)?;
            let new = answer["items"].as_array().cloned().unwrap_or_default();
            ids.extend(new.iter().map(|item| item["id"].clone()));
            version = answer["version"].clone();
            let last = new.len() < wanted;
            items.extend(new);
            if last {
                break;
            }
        }
        Ok((items, version))
    }

    /// The project in numbers.
    pub fn status(&self) -> Result<Value, Failure> {
        self.get("status")
    }

    /// The latest records of the log in words.
    pub fn history(&self, limit: usize) -> Result<Page, Failure> {
        let mut page = Page::default();
        while page.rows.len() < limit {
            let (offset, wanted) = (page.rows.len(), (limit - page.rows.len()).min(ROWS));
            let part: Page = self.get(&format!("history?limit={wanted}&offset={offset}"))?;
            let last = part.rows.len() < wanted;
            let rows = std::mem::take(&mut page.rows);
            page = Page {
                rows: [rows, part.rows].concat(),
                ..part
            };
            if last {
                break;
            }
        }
        Ok(page)
    }

    /// An item and what is believed about it.
    pub fn item(&self, id: &str) -> Result<Value, Failure> {
        self.get(&format!("item?id={}", encoded(id)))
    }

    /// How many items are believed to be of a class.
    pub fn believed(&self, class: ClassId) -> Result<u64, Failure> {
        let page: Value = self.get(&format!("items?class={}&limit=1", class.0))?;
        Ok(page["total"].as_u64().unwrap_or(0))
    }

    /// How far along the project is, and how good.
    pub fn estimates(&self) -> Result<Value, Failure> {
        self.get("estimates")
    }

    /// The bytes of an export.
    pub fn export(
        &self,
        format: dial_store::Format,
        labels_only: bool,
    ) -> Result<Vec<u8>, Failure> {
        let only = if labels_only { "&labels_only=true" } else { "" };
        self.answered(self.request(
            "GET",
            &format!("export?format={format}{only}"),
            None,
            ANSWER,
        ))
    }

    /// Sends labels to import, read here.
    pub fn import(
        &self,
        source: &str,
        given: &[Given],
        how: &Import,
        key: &str,
    ) -> Result<Imported, Failure> {
        let Import {
            annotator,
            skip_unknown,
            add_classes,
            ..
        } = how;
        let body = json!({
            "source": source, "given": given, "annotator": annotator, "skip_unknown": skip_unknown,
            "add_classes": add_classes, "key": key,
        });
        self.post("import", &body)
    }

    /// A link that signs in a browser.
    pub fn link(&self) -> Result<String, Failure> {
        self.post("launch", &json!({}))
    }

    /// Has a backup made in the folder of the project.
    pub fn backup(&self) -> Result<Manifest, Failure> {
        self.post("backup", &json!({}))
    }

    fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        self.read(&self.answered(self.request("GET", path, None, ANSWER))?)
    }

    fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, Failure> {
        self.read(&self.answered(self.request("POST", path, Some(body), ANSWER))?)
    }

    fn read<T: DeserializeOwned>(&self, body: &[u8]) -> Result<T, Failure> {
        let other = |error| {
            let text = format!(
                "what answers at {} is no server of this dial ({error}).",
                self.address
            );
            Failure::storage(format!(
                "{text} What was sent may NOT be saved. Look with dial status, then send it again."
            ))
        };
        serde_json::from_slice(body).map_err(other)
    }

    /// The body of a good answer, or the problem that the server tells.
    fn answered(&self, answer: io::Result<Answer>) -> Result<Vec<u8>, Failure> {
        let lost = |error: io::Error| {
            let text = format!(
                "the server at {} stopped answering ({error}).",
                self.address
            );
            Failure::storage(format!(
                "{text} What was sent may NOT be saved. Look with dial status, then send it again."
            ))
        };
        let (status, body) = answer.map_err(lost)?;
        if (200..300).contains(&status) {
            return Ok(body);
        }
        let problem: Value = serde_json::from_slice(&body).unwrap_or_default();
        let detail = problem["detail"].as_str().map_or_else(
            || {
                let text = format!(
                    "the server at {} answered {status}. What was sent is not saved.",
                    self.address
                );
                format!("{text} Stop it to use the project directly.")
            },
            String::from,
        );
        let kind = problem["exit"]
            .as_u64()
            .and_then(kind_of_exit)
            .unwrap_or_else(|| kind_of_status(status));
        let failure = Failure::of_server(problem["code"].as_str().unwrap_or("U1"), kind, detail);
        Err(failure.with_parked(problem["parked"].as_u64()))
    }

    fn request(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        patience: Duration,
    ) -> io::Result<Answer> {
        let body = body.map(Value::to_string).unwrap_or_default();
        Request {
            address: self.address,
            token: &self.token,
            method,
            path,
            body,
        }
        .answer(patience)
    }
}

/// What a server says of its project, as far as it matters here.
#[derive(Clone, Debug, Deserialize)]
struct Known {
    classes: Vec<Class>,
    #[serde(default)]
    version: u64,
    #[serde(default)]
    model_version: u64,
    banner: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct Class {
    id: u16,
    name: String,
}

impl Known {
    fn classes(self) -> Vec<(ClassId, String)> {
        self.classes
            .into_iter()
            .map(|class| (ClassId(class.id), class.name))
            .collect()
    }
}

/// Who gave an answer to the question for the project.
fn there(answer: io::Result<Answer>) -> There {
    match answer {
        Ok((200, body)) if serde_json::from_slice::<Known>(&body).is_ok() => There::Server,
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

/// The kind of an error that ends a command with this exit code.
fn kind_of_exit(exit: u64) -> Option<ErrorKind> {
    use ErrorKind::{Cancelled, Conflict, Input, Numeric, Permission, Resource, Storage, Usage};
    let kinds = [
        Usage, Input, Numeric, Storage, Conflict, Resource, Permission, Cancelled,
    ];
    kinds
        .into_iter()
        .find(|kind| u64::from(kind.exit_code()) == exit)
}

/// The same by the status of HTTP, where a server does not say more.
fn kind_of_status(status: u16) -> ErrorKind {
    match status {
        401 | 403 | 421 => ErrorKind::Permission,
        404 => ErrorKind::Input,
        409 => ErrorKind::Conflict,
        400..=499 => ErrorKind::Usage,
        _ => ErrorKind::Storage,
    }
}

/// A decision as the interface names it.
fn deed(decision: &Decision) -> Value {
    match decision {
        Decision::Change(Change::Label { item, classes }) => {
            let share =
                |(class, weight): &(ClassId, f64)| json!({ "class": class.0, "weight": weight });
            json!({ "kind": "label", "item": item, "classes": classes.iter().map(share).collect::<Vec<_>>() })
        }
        Decision::AddClass { name } => json!({ "kind": "add-class", "name": name }),
        Decision::UndoLast => json!({ "kind": "undo", "group": null }),
        Decision::RedoLast => json!({ "kind": "redo", "group": null }),
        Decision::Settle { parked } => json!({ "kind": "settle", "parked": parked }),
        // The other changes have the same names and members.
        Decision::Change(change) => serde_json::to_value(change).unwrap_or_default(),
        other => serde_json::to_value(other).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_as_the_interface_names_them() {
        let change = |change| deed(&Decision::Change(change));
        let classes = vec![(ClassId(1), 0.5)];
        let label =
            json!({ "kind": "label", "item": "a", "classes": [{ "class": 1, "weight": 0.5 }] });
        assert_eq!(
            change(Change::Label {
                item: "a".into(),
                classes
            }),
            label
        );
        assert_eq!(
            change(Change::Skip { item: "a".into() }),
            json!({ "kind": "skip", "item": "a" })
        );
        assert_eq!(
            change(Change::Undo { group: 3 }),
            json!({ "kind": "undo", "group": 3 })
        );
        let merge = Change::MergeClass {
            from: ClassId(2),
            into: ClassId(0),
        };
        assert_eq!(
            change(merge),
            json!({ "kind": "merge-class", "from": 2, "into": 0 })
        );
        assert_eq!(
            deed(&Decision::UndoLast),
            json!({ "kind": "undo", "group": null })
        );
    }

    #[test]
    fn who_is_there_by_hand() {
        let of = |status, body: Value| there(Ok((status, body.to_string().into_bytes())));
        assert!(matches!(of(200, json!({ "classes": [] })), There::Server));
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

    #[test]
    fn exit_codes_have_their_kinds() {
        assert_eq!((2..=8).map(kind_of_exit).filter(Option::is_some).count(), 7);
        assert_eq!(
            (kind_of_exit(6), kind_of_exit(0)),
            (Some(ErrorKind::Conflict), None)
        );
    }
}
