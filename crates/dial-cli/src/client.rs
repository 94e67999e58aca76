//! Talking to the server that has a project, over the loopback: all paths and shapes of its interface are in this file.
//!
//! The address and the token are in `server.json` in the folder of the project, which only its owner can read. A file
//! that names another machine, or a server that does not answer, counts for nothing.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use dial::{Change, ClassId, ErrorKind};
use dial_store::{Decision, Folder, Given, Import, Imported, Manifest, Receipt, Submission};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::failure::Failure;

/// How long a server may take to be there, and to answer: it may have to solve first.
const THERE: Duration = Duration::from_secs(2);
const ANSWER: Duration = Duration::from_secs(600);

/// A running server.
#[derive(Clone, Debug, Deserialize)]
pub struct Client {
    address: SocketAddr,
    token: String,
}

/// The status and the body of an answer.
type Answer = (u16, Vec<u8>);

impl Client {
    /// The server of a project, if one is running.
    pub fn find(folder: &Folder) -> Option<Client> {
        let client: Client = serde_json::from_slice(&std::fs::read(folder.server()).ok()?).ok()?;
        let plain = client.token.bytes().all(|byte| byte.is_ascii_graphic());
        let there = || client.request("GET", "project", None, THERE).is_ok_and(|(status, _)| status == 200);
        (client.address.ip().is_loopback() && plain && there()).then_some(client)
    }

    /// Sends decisions.
    pub fn decide(&self, submission: &Submission) -> Result<Receipt, Failure> {
        let decisions: Vec<Value> = submission.decisions.iter().map(deed).collect();
        let Submission { key, annotator, replace, .. } = submission;
        let body = json!({ "key": key, "annotator": annotator, "decisions": decisions, "replace": replace });
        self.post("decisions", &body)
    }

    /// The live classes.
    pub fn classes(&self) -> Result<Vec<(ClassId, String)>, Failure> {
        #[derive(Deserialize)]
        struct Class {
            id: u16,
            name: String,
        }
        #[derive(Deserialize)]
        struct Project {
            classes: Vec<Class>,
        }
        let project: Project = self.get("project")?;
        Ok(project.classes.into_iter().map(|class| (ClassId(class.id), class.name)).collect())
    }

    /// The items to label next, as the server shows them.
    pub fn next(&self, annotator: &str, count: usize) -> Result<Value, Failure> {
        self.post("next", &json!({ "annotator": annotator, "count": count }))
    }

    /// The project in numbers.
    pub fn status(&self) -> Result<Value, Failure> {
        self.get("status")
    }

    /// An item and what is believed about it.
    pub fn item(&self, id: &str) -> Result<Value, Failure> {
        self.get(&format!("item?id={}", encoded(id)))
    }

    /// How far along the project is, and how good.
    pub fn estimates(&self) -> Result<Value, Failure> {
        self.get("estimates")
    }

    /// The bytes of an export.
    pub fn export(&self, format: dial_store::Format, labels_only: bool) -> Result<Vec<u8>, Failure> {
        let only = if labels_only { "&labels_only=true" } else { "" };
        self.answered(self.request("GET", &format!("export?format={format}{only}"), None, ANSWER))
    }

    /// Sends labels to import, read here.
    pub fn import(&self, source: &str, given: &[Given], how: &Import, key: &str) -> Result<Imported, Failure> {
        let Import { annotator, skip_unknown, add_classes, .. } = how;
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
        read(&self.answered(self.request("GET", path, None, ANSWER))?)
    }

    fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, Failure> {
        read(&self.answered(self.request("POST", path, Some(body), ANSWER))?)
    }

    /// The body of a good answer, or the problem that the server tells.
    fn answered(&self, answer: io::Result<Answer>) -> Result<Vec<u8>, Failure> {
        let lost = |error: io::Error| {
            let text = format!("the server at {} stopped answering ({error}).", self.address);
            Failure::storage(format!("{text} What was sent may be saved. Look with dial status, then send it again."))
        };
        let (status, body) = answer.map_err(lost)?;
        if (200..300).contains(&status) {
            return Ok(body);
        }
        let problem: Value = serde_json::from_slice(&body).unwrap_or_default();
        let detail = problem["detail"].as_str().map_or_else(
            || format!("the server at {} answered {status}. Stop it to use the project directly.", self.address),
            String::from,
        );
        Err(Failure::of_server(problem["code"].as_str().unwrap_or("U1"), kind(status), detail))
    }

    /// One request on a connection of its own.
    fn request(&self, method: &str, path: &str, body: Option<&Value>, patience: Duration) -> io::Result<Answer> {
        let mut stream = TcpStream::connect_timeout(&self.address, THERE)?;
        stream.set_read_timeout(Some(patience))?;
        let body = body.map(Value::to_string).unwrap_or_default();
        let head = format!(
            "{method} /api/v1/{path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nX-Dial: 1\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.address,
            self.token,
            body.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        parsed(&answer).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "not an answer in HTTP"))
    }
}

/// Status and body of an answer; `None` if it is cut short.
fn parsed(answer: &[u8]) -> Option<Answer> {
    let end = answer.windows(4).position(|part| part == b"\r\n\r\n")?;
    let (head, body) = (std::str::from_utf8(&answer[..end]).ok()?, &answer[end + 4..]);
    let mut lines = head.split("\r\n");
    let status = lines.next()?.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()?;
    let headers: Vec<(String, &str)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim()))
        .collect();
    let value = |name: &str| headers.iter().find(|(other, _)| other == name).map(|(_, value)| *value);
    let body = match (value("transfer-encoding"), value("content-length")) {
        (Some("chunked"), _) => unchunked(body)?,
        (_, Some(length)) => body.get(..length.parse().ok()?)?.to_vec(),
        _ => body.to_vec(),
    };
    Some((status, body))
}

fn unchunked(mut body: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let end = body.windows(2).position(|part| part == b"\r\n")?;
        let line = std::str::from_utf8(&body[..end]).ok()?;
        let size = usize::from_str_radix(line.split(';').next()?.trim(), 16).ok()?;
        if size == 0 {
            return Some(whole);
        }
        let start = end + 2;
        whole.extend_from_slice(body.get(start..start.checked_add(size)?)?);
        body = body.get(start + size + 2..)?;
    }
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Failure> {
    let other = |error| {
        Failure::storage(format!(
            "the server answered something else than this dial expects ({error}). What was sent is saved. Use the dial that runs the server."
        ))
    };
    serde_json::from_slice(body).map_err(other)
}

fn kind(status: u16) -> ErrorKind {
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
            let share = |(class, weight): &(ClassId, f64)| json!({ "class": class.0, "weight": weight });
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

/// A text as part of a query.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_by_hand() {
        let whole = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
        assert_eq!(parsed(whole), Some((200, b"{}".to_vec())));
        assert_eq!(parsed(&whole[..whole.len() - 1]), None, "cut short");
        let chunked =
            b"HTTP/1.1 409 Conflict\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=1\r\n0123456789\r\n0\r\n\r\n";
        assert_eq!(parsed(chunked), Some((409, b"abc0123456789".to_vec())));
        assert_eq!(parsed(&chunked[..chunked.len() - 8]), None, "cut short");
        assert_eq!((parsed(b"nonsense"), parsed(b"SSH-2.0\r\n\r\n")), (None, None));
        assert_eq!(encoded("a b/é?"), "a%20b%2F%C3%A9%3F");
    }

    #[test]
    fn decisions_as_the_interface_names_them() {
        let change = |change| deed(&Decision::Change(change));
        let classes = vec![(ClassId(1), 0.5)];
        let label = json!({ "kind": "label", "item": "a", "classes": [{ "class": 1, "weight": 0.5 }] });
        assert_eq!(change(Change::Label { item: "a".into(), classes }), label);
        assert_eq!(change(Change::Skip { item: "a".into() }), json!({ "kind": "skip", "item": "a" }));
        assert_eq!(change(Change::Undo { group: 3 }), json!({ "kind": "undo", "group": 3 }));
        let merge = Change::MergeClass { from: ClassId(2), into: ClassId(0) };
        assert_eq!(change(merge), json!({ "kind": "merge-class", "from": 2, "into": 0 }));
        assert_eq!(deed(&Decision::UndoLast), json!({ "kind": "undo", "group": null }));
    }
}
