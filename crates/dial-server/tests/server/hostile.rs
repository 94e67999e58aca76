//! Strings that would like to be code, clients that never finish, and backups while people label: X4, W4 and S10.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dial_store::{Journal, Project};
use serde_json::json;

use crate::common::{Wish, make, new, serve};

/// Names and texts as a malicious data set might hold them.
const HOSTILE: [&str; 16] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "'; DROP TABLE events; --",
    "</title><svg/onload=alert(1)>",
    "javascript:alert(1)",
    "{{7*7}}${7*7}#{7*7}",
    "=cmd|' /C calc'!A0",
    "\u{202e}drow a ton\u{2066}",
    "\u{feff}\u{200b}zero width",
    "\u{e1}\u{302}\u{303}\u{304} zalgo",
    "%3Cscript%3E",
    "&lt;b&gt; &amp;",
    "%s%n%x",
    "../../etc/passwd",
    "\\\\host\\share",
    "🏴󠁧󠁢󠁥󠁮󠁧󠁿 𝕏 \u{10ffff}",
];

#[test]
fn hostile_strings_come_back_as_the_text_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let pool = folder.path().join("texts.jsonl");
    let line = |(row, text): (usize, &&str)| json!({"id": format!("{text}{row}"), "text": format!("{text} said {row}")});
    let lines: Vec<String> = HOSTILE
        .iter()
        .cycle()
        .take(48)
        .enumerate()
        .map(|pair| line(pair).to_string())
        .collect();
    fs::write(&pool, lines.join("\n")).unwrap();
    let project = folder.path().join("p.dial");
    make(
        &project,
        &Wish {
            pool: pool.display().to_string(),
            classes: vec![],
            ..Wish::default()
        },
    );
    let server = serve(&project, None);
    for (number, name) in HOSTILE.iter().enumerate() {
        let decisions = json!([{"kind": "add-class", "name": name}]);
        server
            .post(
                "/api/v1/decisions",
                &json!({"key": format!("c{number}"), "decisions": decisions}),
            )
            .ok();
        let item = format!("{name}{number}");
        server
            .label(&format!("l{number}"), name, &item, number as u16)
            .ok();
    }
    let project = server.get("/api/v1/project");
    let names: Vec<String> = project.ok()["classes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|class| class["name"].as_str().unwrap().to_string())
        .collect();
    assert_eq!(names, HOSTILE);
    for (number, name) in HOSTILE.iter().enumerate() {
        let id: String = format!("{name}{number}")
            .bytes()
            .map(|byte| format!("%{byte:02X}"))
            .collect();
        let item = server.get(&format!("/api/v1/item?id={id}"));
        let card = item.ok();
        assert_eq!(card["id"], format!("{name}{number}"));
        assert_eq!(card["labels"][0]["annotator"], *name);
        assert_eq!(card["show"]["text"], format!("{name} said {number}"));
        assert_eq!(item.header("content-type"), Some("application/json"));
        assert_eq!(item.header("x-content-type-options"), Some("nosniff"));
        // In an error too.
        let missing = server.get(&format!("/api/v1/item?id=no{id}"));
        assert_eq!(
            missing.header("content-type"),
            Some("application/problem+json")
        );
    }
    for path in [
        "/api/v1/history?limit=1000",
        "/api/v1/items",
        "/api/v1/status",
        "/api/v1/export?format=csv",
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, 200, "{path}");
        assert!(
            !answer.header("content-type").unwrap().contains("html"),
            "{path}"
        );
    }
    let sheet = server.get("/api/v1/export?format=csv");
    let text = String::from_utf8(sheet.body).unwrap();
    assert!(
        text.contains("cmd|") && !text.contains(",=cmd") && !text.contains("\n=cmd"),
        "no cell is a formula"
    );
    // What cannot be a name is refused, and nothing is stored.
    for name in [
        "",
        " ",
        "two\nlines",
        "a\u{0}b",
        "\u{1b}[31m",
        &"x".repeat(10_000),
    ] {
        let body = json!({"key": format!("bad{}", name.len()), "decisions": [{"kind": "add-class", "name": name}]});
        assert_eq!(
            server.post("/api/v1/decisions", &body).status,
            422,
            "{name:?}"
        );
    }
}

#[test]
fn clients_that_never_finish_do_not_keep_others_out() {
    let (_folder, server) = new(&Wish::default());
    let open = |text: &str| {
        let mut stream = TcpStream::connect(&server.address.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    };
    // All the places there are, and some more: they say nothing, or half of a head.
    let mut slow: Vec<TcpStream> = (0..210)
        .map(|number| {
            open(if number % 2 == 0 {
                ""
            } else {
                "GET / HTTP/1.1\r\nhost: x"
            })
        })
        .collect();
    // Whoever comes now waits until the first of them are sent away, and is served.
    server.label("k", "ann", "1", 0).ok();
    let mut rest = Vec::new();
    slow[1]
        .read_to_end(&mut rest)
        .expect("the server has closed it");
    assert!(!String::from_utf8_lossy(&rest).contains("200 OK"));
}

#[test]
fn backups_under_load_hold_all_that_was_acknowledged_before() {
    let (folder, server) = new(&Wish {
        pool: "builtin:moons:1000".into(),
        ..Wish::default()
    });
    let (acknowledged, over) = (Mutex::new(BTreeSet::new()), AtomicBool::new(false));
    let mut copies = Vec::new();
    std::thread::scope(|scope| {
        for person in 0..2u32 {
            let (server, acknowledged, over) = (&server, &acknowledged, &over);
            scope.spawn(move || {
                for item in (0..1000).filter(|item| item % 2 == person) {
                    if over.load(Ordering::Relaxed) {
                        break;
                    }
                    server
                        .label(
                            &item.to_string(),
                            &format!("p{person}"),
                            &item.to_string(),
                            (item % 2) as u16,
                        )
                        .ok();
                    acknowledged.lock().unwrap().insert(item.to_string());
                }
            });
        }
        for _ in 0..20 {
            let before = acknowledged.lock().unwrap().clone();
            let manifest = server.post("/api/v1/backup", &json!({})).ok();
            copies.push((before, manifest["file"].as_str().unwrap().to_string()));
        }
        over.store(true, Ordering::Relaxed);
    });
    server.stop();
    let whole = Project::open(&folder.path().join("p.dial"), Journal::Wal, 3000).unwrap();
    assert!(
        acknowledged.lock().unwrap().len() > 20,
        "people labelled meanwhile"
    );
    for (number, (before, file)) in copies.iter().enumerate() {
        let to = folder.path().join(format!("restored{number}.dial"));
        dial_store::restore(file.as_ref(), &to, false, 3000).unwrap();
        let copy = Project::open(&to, Journal::Wal, 3000).unwrap();
        let labelled: BTreeSet<String> = copy.log().labels().labelled().map(String::from).collect();
        assert!(
            labelled.is_superset(before),
            "backup {number} lacks what was acknowledged before it began"
        );
        let (records, all) = (copy.log().records(), whole.log().records());
        assert!(
            all.starts_with(records),
            "backup {number} is how the log began"
        );
    }
}
