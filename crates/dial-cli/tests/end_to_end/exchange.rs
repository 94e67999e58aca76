//! Labels out of a project and in again through the command, backups, and a server that has the project.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

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
        assert!(
            place.read(&format!("first.{format}")) == place.read(&format!("second.{format}")),
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
        "2 items have labels that differ",
        "r1: a (nobody), b (gold.csv)",
        "r5: a (gold.csv), b (gold.csv (2))",
    ] {
        assert!(ran.out.contains(piece), "wanted {piece:?}: {}", ran.out);
    }
    let undo = ran
        .out
        .lines()
        .find_map(|line| line.split("back: dial ").nth(1))
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
    delayed(place, Duration::ZERO, answers)
}

/// The same, the first answer after a while.
fn delayed(place: &Place, delay: Duration, answers: Vec<(u16, Value)>) -> JoinHandle<Vec<String>> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let file = json!({ "address": address, "token": "secret", "pid": 1 });
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
                    .find_map(|line| line.strip_prefix("Content-Length: "))?;
                (body.len() >= length.parse().unwrap()).then_some(())
            };
            while whole(&request).is_none() {
                let count = stream.read(&mut buffer).unwrap();
                assert!(count > 0, "{request}");
                request.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
            }
            let body = body.to_string();
            write!(
                stream,
                "HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            )
            .unwrap();
            request
        };
        answers.into_iter().map(answer).collect()
    })
}

/// What a server says of the project, and of how it stands.
fn project() -> (u16, Value) {
    let class = |id: u16, name: &str| json!({ "id": id, "name": name, "colour": "#000000", "key": name, "labels": 0 });
    let project = json!({
        "name": "rows", "id": "1", "pool": "rows", "item_word": "row", "items": 12, "labelled": 0,
        "classes": [class(0, "a"), class(7, "b")], "annotators": {}, "acquisition": "auto", "overlap": 1,
        "version": 3, "model_version": 3, "model_ready": true, "foreseen": false, "banner": null, "conflicts": 0,
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
            "Authorization: Bearer secret\r\n",
            "X-Dial: 1\r\n",
            "Host: 127.0.0.1:",
            "Connection: close\r\n",
        ] {
            assert!(request.contains(line), "wanted {line:?}: {request}");
        }
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
    // What the server says of the exit code counts, not the status; so does an answer that it kept aside.
    let problem =
        json!({ "code": "C3", "detail": "kept aside.", "status": 422, "exit": 6, "conflict": 31 });
    let sent = server(&place, vec![project(), status(), (422, problem)]);
    place.line("tell rows.dial r1 b").fails(
        "C3",
        6,
        &["kept aside. To keep the first: dial resolve rows.dial 31."],
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
    let sent = delayed(
        &place,
        Duration::from_secs(3),
        vec![project(), status(), (200, receipt)],
    );
    place.line("tell rows.dial r9 b").ok();
    assert_eq!(sent.join().unwrap().len(), 3);
    drop(held);
    // Another program has the port by now: the project is opened here.
    let sent = server(
        &place,
        vec![(200, json!({ "welcome": "to another program" }))],
    );
    let told = place.line("tell rows.dial r9 b --json").ok().json();
    assert_eq!(
        (sent.join().unwrap().len(), told["known"].as_bool()),
        (1, Some(false))
    );
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
        place.line("tell rows.dial r10 b").ok();
    }
}

#[test]
fn the_real_server_takes_what_the_verbs_send() {
    use dial_store::{Folder, Journal, Material, Project};
    let place = labelled();
    let folder = place.path("rows.dial");
    let project = Project::open(&folder, Journal::Wal, 0).unwrap();
    let recipe = project.log().recipe().unwrap().clone();
    let material = Material::open(&recipe, &Folder(folder.clone()), &dial::Control::new()).unwrap();
    let server =
        dial_server::Server::start(project, material, &dial_server::Settings::default()).unwrap();
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let running = std::thread::spawn(move || server.run(async { drop(ended.await) }).unwrap());
    let told = place
        .line("tell rows.dial r9 b:0.5 a:0.25 --annotator ann --json")
        .ok()
        .json();
    assert_eq!(told["known"], false);
    place
        .line("tell rows.dial r9 a --annotator ann")
        .fails("C3", 6, &["kept aside"]);
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
    end.send(()).unwrap();
    running.join().unwrap();
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
