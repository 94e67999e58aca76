//! Labels out of a project and in again through the command, backups, and a server that has the project.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;
use std::time::Duration;

use hmac::{Hmac, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::run::Place;

/// A project of forty rows with a few labels.
fn labelled() -> Place {
    let rows: String = (0..40)
        .map(|i| format!("r{i},{},{}\n", i, i / 20))
        .collect();
    let place = Place::with("rows.csv", format!("id,x,y2\n{rows}"));
    place.line("new rows.csv --classes a,b --quiet").ok();
    place.line("tell rows.dial r1=a r30=b").ok();
    place
        .line("tell rows.dial r2 a:0.75 b:0.25 --annotator ann")
        .ok();
    place
}

#[test]
fn a_file_goes_round() {
    let place = labelled();
    for format in ["csv", "jsonl", "npz", "parquet"] {
        place
            .line(&format!("export rows.dial --out first.{format} --quiet"))
            .ok();
        place
            .line(&format!(
                "new rows.csv --project {format} --classes a,b --quiet"
            ))
            .ok();
        let imported = place
            .line(&format!("import {format} first.{format} --json"))
            .ok()
            .json();
        assert_eq!(
            (
                imported["labels"].as_u64(),
                imported["contradictions"].to_string()
            ),
            (Some(3), "[]".into()),
            "{format}"
        );
        place
            .line(&format!(
                "export {format}.dial --out second.{format} --quiet"
            ))
            .ok();
        // The same but for where the labels come from, which is a file now; and once more just the same.
        if format == "jsonl" {
            let rows = |name: &str| -> Vec<serde_json::Value> {
                let text = String::from_utf8(place.read(name)).unwrap();
                text.lines()
                    .map(|line| serde_json::from_str(line).unwrap())
                    .collect()
            };
            let (mut first, second) = (rows("first.jsonl"), rows("second.jsonl"));
            for row in &mut first {
                let labels = row["labels"].as_array_mut();
                let sources = labels
                    .into_iter()
                    .flatten()
                    .map(|label| &mut label["source"]);
                sources.for_each(|source| *source = "imported".into());
                if !row["source"].is_null() {
                    row["source"] = "imported".into();
                }
            }
            assert_eq!(first, second);
        }
        place
            .line(&format!(
                "new rows.csv --project {format}-again --classes a,b --quiet"
            ))
            .ok();
        place
            .line(&format!("import {format}-again second.{format} --quiet"))
            .ok();
        place
            .line(&format!(
                "export {format}-again --out third.{format} --quiet"
            ))
            .ok();
        assert!(
            place.read(&format!("second.{format}")) == place.read(&format!("third.{format}")),
            "{format}"
        );
    }
}

#[test]
fn other_peoples_labels_come_in_with_their_contradictions() {
    let place = labelled()
        .and("gold.csv", "id,label\nr1,b\nr5,a\nr5,b\nzz,a\n")
        .and("new.csv", "id,label\nr6,c\n");
    place.line("import rows.dial gold.csv").fails(
        "I12",
        3,
        &["gold.csv: 1 id is not in the pool: \"zz\" (line 5)"],
    );
    place.line("import rows.dial new.csv").fails(
        "I12",
        3,
        &["not classes of this project: \"c\"", "--add-classes"],
    );
    let ran = place
        .line("import rows.dial gold.csv --on-unknown skip")
        .ok();
    for piece in [
        "Imported 3 labels.",
        "1 id (zz)",
        "2 items with different labels",
        "r1: a (no annotator), b (gold.csv)",
        "r5: a (gold.csv), b (gold.csv (2))",
    ] {
        assert!(ran.out.contains(piece), "wanted {piece:?}: {}", ran.out);
    }
    let undo = ran
        .out
        .lines()
        .find_map(|line| line.split("undo the import: dial ").nth(1))
        .unwrap();
    place.line(undo).ok();
    assert_eq!(
        place.line("status rows.dial --json").ok().json()["labels"],
        3
    );
    place
        .line("import rows.dial new.csv --add-classes --annotator eve")
        .ok();
    assert_eq!(
        place.line("status rows.dial --json").ok().json()["annotators"][2]["name"],
        "eve"
    );
    place
        .line("import rows.dial nothing.csv")
        .fails("I5", 3, &["no such file"]);
}

#[test]
fn backups_through_the_command() {
    let place = labelled();
    let manifest = place
        .line("backup rows.dial --out b.dialbackup --json")
        .ok()
        .json();
    let status = place.line("status rows.dial --json").ok().json();
    assert_eq!(
        (&manifest["events"], &manifest["project"]),
        (&status["version"], &status["id"])
    );
    assert_eq!(manifest["chain"].as_str().unwrap().len(), 64);
    place
        .line("backup rows.dial --out b.dialbackup")
        .fails("S11", 6, &["is there already"]);
    assert!(
        place
            .line("backup rows.dial")
            .ok()
            .out
            .starts_with("Wrote rows-2")
    );
    place.line("tell rows.dial r9 a").ok();
    place
        .line("restore b.dialbackup --project rows.dial")
        .fails("S11", 6, &["--replace"]);
    let restored = place
        .line("restore b.dialbackup --project rows.dial --replace")
        .ok();
    let aside = restored
        .out
        .lines()
        .find_map(|line| line.strip_prefix("The old one is kept as "))
        .unwrap();
    let labels =
        |project: &str| place.dial(&["status", project, "--json"]).ok().json()["labels"].clone();
    assert_eq!(
        (labels("rows.dial"), labels(aside.trim_end_matches('.'))),
        (json!(3), json!(4))
    );
    place
        .line("new rows.csv --project other --classes a,b --quiet")
        .ok();
    place
        .line("restore b.dialbackup --project other.dial --replace")
        .fails("S11", 6, &["is another project"]);
    // The backup of the day was made with the first change.
    assert_eq!(
        std::fs::read_dir(place.path("other.dial"))
            .unwrap()
            .flatten()
            .filter(|e| e.file_name() == "backups")
            .count(),
        0
    );
    place.line("skip other.dial r1").ok();
    assert_eq!(
        std::fs::read_dir(place.path("other.dial/backups"))
            .unwrap()
            .count(),
        1
    );
}

#[test]
fn a_project_in_use_is_refused_by_name() {
    let place = labelled();
    let held =
        dial_store::Project::open(&place.path("rows.dial"), dial_store::Journal::Wal, 0).unwrap();
    let process = format!("open in process {}", std::process::id());
    for line in [
        "tell rows.dial r9 a",
        "status rows.dial",
        "ask rows.dial",
        "backup rows.dial --out b",
    ] {
        place.line(line).fails("S7", 6, &[&process]);
    }
    // A server that is gone, or one elsewhere, is no help and is not talked to.
    for address in ["127.0.0.1:1", "192.0.2.1:80", "nonsense"] {
        let server = json!({ "address": address, "token": "secret", "pid": 1 });
        std::fs::write(place.path("rows.dial/server.json"), server.to_string()).unwrap();
        place.line("status rows.dial").fails("S7", 6, &[&process]);
    }
    drop(held);
    place.line("status rows.dial").ok();
}

/// A server that gives these answers in turn and returns what it was sent.
fn server(place: &Place, answers: Vec<(u16, Value)>) -> JoinHandle<Vec<String>> {
    listening(place, Duration::ZERO, "secret", answers)
}

/// The same, the first answer after a while, proven with a token that may be another one.
fn listening(
    place: &Place,
    delay: Duration,
    token: &'static str,
    answers: Vec<(u16, Value)>,
) -> JoinHandle<Vec<String>> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let pid = std::process::id();
    let file =
        json!({ "address": address, "token": "secret", "pid": pid, "project": "1", "run": "r" });
    std::fs::write(place.path("rows.dial/server.json"), file.to_string()).unwrap();
    std::thread::spawn(move || {
        std::thread::sleep(delay);
        let answer = |(status, body): (u16, Value)| {
            let (mut stream, _) = listener.accept().unwrap();
            let (mut request, mut buffer) = (String::new(), [0; 4096]);
            let whole = |request: &str| {
                let (head, body) = request.split_once("\r\n\r\n")?;
                let length = head
                    .lines()
                    .find_map(|line| line.strip_prefix("content-length: "))
                    .map_or(0, |length| length.parse().unwrap());
                (body.len() >= length).then_some(())
            };
            while whole(&request).is_none() {
                let count = stream.read(&mut buffer).unwrap();
                assert!(count > 0, "{request}");
                request.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
            }
            let body = body.to_string();
            let proof = proof(token, &request, status, &body);
            write!(
                stream,
                "HTTP/1.1 {status} X\r\ncontent-length: {}\r\nx-dial-proof: {proof}\r\n\r\n{body}",
                body.len()
            )
            .unwrap();
            request
        };
        answers.into_iter().map(answer).collect()
    })
}

/// The proof of an answer as docs/api.md writes it.
fn proof(token: &str, request: &str, status: u16, body: &str) -> String {
    let after = |text: &str| request.split_once(text).unwrap().1;
    let host = after("host: ").lines().next().unwrap();
    let words: Vec<&str> = after("authorization: Dial owner.").split('.').collect();
    let mut first = request.split(' ');
    let (method, target) = (first.next().unwrap(), first.next().unwrap());
    let (nonce, sent) = (words[0], words[1]);
    let text =
        format!("dial answer\nr\n{host}\n{method}\n{target}\n{nonce}\n{sent}\n{status}\n{body}");
    let mut mac = Hmac::<Sha256>::new_from_slice(token.as_bytes()).unwrap();
    mac.update(text.as_bytes());
    hex(&mac.finalize().into_bytes())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What a server says of the project, and of how it stands.
fn project() -> (u16, Value) {
    let class = |id: u16, name: &str| json!({ "id": id, "name": name, "colour": "#000000", "key": name, "labels": 0 });
    let project = json!({
        "name": "rows", "id": "1", "pool": "rows", "item_word": "row", "items": 12, "labelled": 0,
        "classes": [class(0, "a"), class(7, "b")], "annotators": {}, "acquisition": "auto", "overlap": 1,
        "version": 3, "model_version": 3, "model_ready": true, "lookahead": false, "known": 0, "known_alike": [], "without_model": false, "banner": null, "conflicts": 0,
    });
    (200, project)
}

fn status() -> (u16, Value) {
    let class = |id: u16, name: &str| json!({ "id": id, "name": name, "labels": 0 });
    let status = json!({
        "name": "rows", "id": "1", "pool": "rows.csv", "items": 12, "labelled": 0, "labels": 0, "skipped": 0,
        "excluded": 0, "classes": [class(0, "a"), class(7, "b")], "annotators": [], "conflicts": [],
        "disagreements": [], "version": 3, "last": null, "estimates": null,
    });
    (200, status)
}

#[test]
fn a_running_server_is_used_instead_of_the_lock() {
    let place = labelled();
    let _held =
        dial_store::Project::open(&place.path("rows.dial"), dial_store::Journal::Wal, 0).unwrap();
    let receipt = json!({ "seq": 9, "group": 4, "repeated": false, "known": false, "late": true, "version": 9 });
    let sent = server(&place, vec![project(), status(), (200, receipt)]);
    let told = place
        .line("tell rows.dial r9 b:0.5 --annotator ann --key k")
        .ok();
    assert!(
        told.out
            .contains("(group 4; dial undo rows.dial --group 4)")
            && told.out.contains("both are kept"),
        "{}",
        told.out
    );
    let requests = sent.join().unwrap();
    for request in &requests {
        for line in [
            "authorization: Dial owner.",
            "x-dial: 1\r\n",
            "host: 127.0.0.1:",
            "connection: close\r\n",
        ] {
            assert!(request.contains(line), "wanted {line:?}: {request}");
        }
        assert!(!request.contains("secret"), "the token is never sent");
    }
    assert!(
        requests[2].starts_with("POST /api/v1/decisions HTTP/1.1\r\n"),
        "{}",
        requests[2]
    );
    let body: Value = serde_json::from_str(requests[2].split("\r\n\r\n").nth(1).unwrap()).unwrap();
    let label =
        json!({ "kind": "label", "item": "r9", "classes": [{ "class": 7, "weight": 0.5 }] });
    assert_eq!(
        body,
        json!({ "key": "k", "annotator": "ann", "decisions": [label], "replace": false })
    );
    // A problem of the server is a failure of the command, with its code.
    let problem = json!({ "code": "C3", "detail": "a before, b now.", "status": 409 });
    let sent = server(&place, vec![project(), status(), (409, problem)]);
    place
        .line("tell rows.dial r1 b")
        .fails("C3", 6, &["a before, b now."]);
    sent.join().unwrap();
    let card = |id: &str| {
        json!({
            "id": id, "row": 5, "show": { "kind": "text", "text": "" }, "beside": [], "belief": null, "why": null,
            "score": null, "audit": false, "leased_until": null, "labels": [], "nearest": [], "changes": [],
        })
    };
    let cards = json!({ "version": 3, "model_version": 3, "items": [card("r5"), card("r6")] });
    let sent = server(&place, vec![project(), project(), (200, cards), status()]);
    assert_eq!(place.line("ask rows.dial --count 2").ok().out, "r5\nr6\n");
    assert!(sent.join().unwrap()[2].ends_with("{\"annotator\":\"\",\"count\":2}"));
    // What the server says of the exit code counts, not the status; so does an answer that it stored as a conflict.
    let problem = json!({ "code": "C3", "detail": "stored as a conflict.", "status": 422, "exit": 6, "conflict": 31 });
    let sent = server(&place, vec![project(), status(), (422, problem)]);
    place.line("tell rows.dial r1 b").fails(
        "C3",
        6,
        &["stored as a conflict. To keep the first: dial resolve rows.dial 31."],
    );
    sent.join().unwrap();
    // Something else than a server of ours, after all.
    let sent = server(
        &place,
        vec![
            project(),
            status(),
            (200, json!({ "welcome": "to another program" })),
        ],
    );
    place
        .line("tell rows.dial r1 b")
        .fails("S5", 5, &["may NOT be saved", "dial status"]);
    sent.join().unwrap();
}

#[test]
fn a_slow_server_is_waited_for_and_what_is_no_server_counts_for_nothing() {
    let place = labelled();
    let held =
        dial_store::Project::open(&place.path("rows.dial"), dial_store::Journal::Wal, 0).unwrap();
    let receipt = json!({ "seq": 9, "group": 4, "repeated": false, "known": false, "late": false, "version": 9 });
    // Longer than it may take to connect.
    let sent = listening(
        &place,
        Duration::from_secs(3),
        "secret",
        vec![project(), status(), (200, receipt)],
    );
    place.line("tell rows.dial r9 b").ok();
    assert_eq!(sent.join().unwrap().len(), 3);
    // Another program has the port by now, and pretends: it is asked, is not believed, and learns nothing of the label.
    let process = format!("open in process {}", std::process::id());
    let sent = listening(&place, Duration::ZERO, "guessed", vec![project()]);
    place
        .line("tell rows.dial r9 b")
        .fails("S7", 6, &[&process]);
    let requests = sent.join().unwrap();
    assert!(requests[0].starts_with("GET /api/v1/project ") && !requests[0].contains("secret"));
    drop(held);
    // Nobody has the lock, so there is no server, whatever is left of one: the port is not even asked.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let pid = std::process::id();
    let file =
        json!({ "address": address, "token": "secret", "pid": pid, "project": "1", "run": "r" });
    std::fs::write(place.path("rows.dial/server.json"), file.to_string()).unwrap();
    let told = place.line("tell rows.dial r9 b --json").ok().json();
    assert_eq!(told["known"].as_bool(), Some(false));
    let asked = listener.accept().unwrap_err();
    assert_eq!(asked.kind(), std::io::ErrorKind::WouldBlock);
    let held =
        dial_store::Project::open(&place.path("rows.dial"), dial_store::Journal::Wal, 0).unwrap();
    // A port that somebody listens on and never answers, but the process of the server is gone.
    let gone = {
        let mut child = place
            .command(&["--version"])
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        child.wait().unwrap();
        child.id()
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let file = json!({ "address": listener.local_addr().unwrap().to_string(), "token": "secret", "pid": gone });
    std::fs::write(place.path("rows.dial/server.json"), file.to_string()).unwrap();
    if std::path::Path::new("/proc/self").exists() {
        place
            .line("tell rows.dial r10 b")
            .fails("S7", 6, &[&process]);
    }
    drop(held);
}

#[test]
fn the_real_server_takes_what_the_verbs_send() {
    let place = labelled();
    let serving = place.serve("rows.dial");
    let told = place
        .line("tell rows.dial r9 b:0.5 a:0.25 --annotator ann --json")
        .ok()
        .json();
    assert_eq!(told["known"], false);
    place
        .line("tell rows.dial r9 a --annotator ann")
        .fails("C3", 6, &["conflict"]);
    place
        .line("tell rows.dial nobody a")
        .fails("I12", 3, &["nobody"]);
    place.line("tell rows.dial r10=a r11=b").ok();
    place.line("undo rows.dial").ok();
    place.line("redo rows.dial").ok();
    place
        .line(&format!("undo rows.dial --group {}", told["group"]))
        .ok();
    place.line("class rows.dial add c").ok();
    place.line("class rows.dial rename c d").ok();
    place.line("class rows.dial merge d a").ok();
    place.line("skip rows.dial r12").ok();
    place.line("exclude rows.dial r13").ok();
    let asked = place
        .line("ask rows.dial --count 2 --annotator ann")
        .ok()
        .out;
    assert!(
        asked.lines().count() == 2 && asked.lines().all(|id| id.starts_with('r')),
        "{asked}"
    );
    let item = place
        .line("predict rows.dial --item r10 --json")
        .ok()
        .json();
    assert_eq!(
        item["items"][0]["labels"][0],
        json!({ "annotator": "", "label": "a" })
    );
    serving.end();
    // The server has let go: the same verbs open the project themselves.
    let status = place.line("status rows.dial --json").ok().json();
    assert_eq!(
        (
            status["labels"].as_u64(),
            status["skipped"].as_u64(),
            status["excluded"].as_u64()
        ),
        (Some(5), Some(1), Some(1))
    );
    assert_eq!(status["conflicts"].as_array().unwrap().len(), 1);
}
