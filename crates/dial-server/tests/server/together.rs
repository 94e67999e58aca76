//! Several people and several tabs at once: faults C1 to C6, C8, C10 and C11, W2 to W4.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::time::Duration;

use dial_server::http::wire::Next;
use dial_server::{Client, ProjectHandle};
use dial_store::Folder;
use serde_json::{Value, json};

use crate::common::{Wish, label, make, new, serve};

#[test]
fn an_item_goes_to_as_many_people_as_wanted_and_no_more() {
    for overlap in [1, 2] {
        let (_folder, server) = new(&Wish {
            overlap,
            ..Wish::default()
        });
        let given: Mutex<HashMap<String, Vec<String>>> = Mutex::default();
        std::thread::scope(|scope| {
            for person in 0..10 {
                let (server, given) = (&server, &given);
                scope.spawn(move || {
                    let who = format!("p{person}");
                    for step in 0..8 {
                        let asked = server.post("/api/v1/next", &json!({"annotator": who})).ok();
                        let Some(item) = asked["items"][0]["id"].as_str() else {
                            continue;
                        };
                        given
                            .lock()
                            .unwrap()
                            .entry(item.into())
                            .or_default()
                            .push(who.clone());
                        let stored = server.label(&format!("{who}-{step}"), &who, item, 0).ok();
                        assert_eq!(stored["late"], false);
                    }
                });
            }
        });
        let given = given.into_inner().unwrap();
        assert_eq!(given.values().map(Vec::len).sum::<usize>(), 80);
        assert!(
            given.values().all(|people| people.len() <= overlap),
            "{given:?}"
        );
    }
}

#[test]
fn a_late_answer_is_kept_and_flagged() {
    let (_folder, server) = new(&Wish::default());
    assert_eq!(server.label("a", "ann", "7", 0).ok()["late"], false);
    let late = server.label("b", "bob", "7", 1).ok();
    assert_eq!(
        (late["late"].as_bool(), late["also_by"][0].as_str()),
        (Some(true), Some("ann"))
    );
    let differ = server.get("/api/v1/disagreements").ok();
    assert_eq!(differ["total"], 1);
    assert_eq!(differ["rows"][0]["labels"].as_array().unwrap().len(), 2);
    let history = server.get("/api/v1/history?search=bob").ok();
    assert_eq!(
        (
            history["total"].as_u64(),
            history["rows"][0]["late"].as_bool()
        ),
        (Some(1), Some(true))
    );
}

#[test]
fn a_stale_tab_is_told_and_its_answer_is_stored_as_a_conflict() {
    let (_folder, server) = new(&Wish::default());
    let first = server.label("a", "ann", "7", 0).ok();
    let same = server.label("b", "ann", "7", 0).ok();
    assert_eq!(
        (same["known"].as_bool(), &same["seq"]),
        (Some(true), &first["seq"])
    );
    let other = server.label("c", "ann", "7", 1);
    assert_eq!(other.problem(), (409, "C3".into()));
    let problem = other.json();
    assert_eq!(problem["labels"], json!(["up", "down"]));
    let conflict = server.get("/api/v1/conflicts").ok();
    assert_eq!(
        (conflict["total"].as_u64(), &conflict["rows"][0]["seq"]),
        (Some(1), &problem["conflict"])
    );
    // Sent again it is the same answer, and still one decision.
    assert_eq!(server.label("c", "ann", "7", 1).json(), problem);
    let mut replacing = label("d", "ann", "7", 1);
    replacing["replace"] = json!(true);
    server.post("/api/v1/decisions", &replacing).ok();
    assert_eq!(
        server.get("/api/v1/conflicts").ok()["total"],
        0,
        "whoever decides again settles it"
    );
    assert_eq!(
        server.get("/api/v1/item?id=7").ok()["labels"][0]["classes"][0]["class"],
        1
    );
    // Or somebody says that the first answer stands.
    let again = server.label("f", "ann", "7", 0).json();
    let settle = json!({"key": "e", "annotator": "ann", "decisions": [{"kind": "resolve", "conflict": again["conflict"]}]});
    server.post("/api/v1/decisions", &settle).ok();
    assert_eq!(server.get("/api/v1/conflicts").ok()["total"], 0);
    assert_eq!(
        server.get("/api/v1/item?id=7").ok()["labels"][0]["classes"][0]["class"],
        1
    );
}

#[test]
fn a_double_click_is_one_event() {
    let (_folder, server) = new(&Wish::default());
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let clicks: Vec<_> = (0..10)
            .map(|_| scope.spawn(|| server.label("same", "ann", "5", 1).ok()))
            .collect();
        clicks
            .into_iter()
            .map(|click| click.join().unwrap())
            .collect()
    });
    assert!(
        answers
            .iter()
            .all(|answer| answer["seq"] == answers[0]["seq"])
    );
    assert_eq!(
        answers
            .iter()
            .filter(|answer| answer["repeated"] == false)
            .count(),
        1
    );
    assert_eq!(server.get("/api/v1/history?search=label").ok()["total"], 1);
    // Another content under the same key is refused (W2).
    assert_eq!(
        server.label("same", "ann", "5", 0).problem(),
        (422, "W2".into())
    );
    assert_eq!(
        server.label("same", "ann", "6", 1).problem(),
        (422, "W2".into())
    );
    assert_eq!(
        server.label("same", "bob", "5", 1).problem(),
        (422, "W2".into())
    );
}

#[test]
fn undo_names_what_it_takes_back() {
    let (_folder, server) = new(&Wish::default());
    let undo = |key: &str, who: &str, group: Value| {
        server.post(
            "/api/v1/decisions",
            &json!({"key": key, "annotator": who, "decisions": [{"kind": "undo", "group": group}]}),
        )
    };
    assert_eq!(
        undo("z", "ann", Value::Null).problem(),
        (409, "C5".into()),
        "nothing to undo"
    );
    let ann = server.label("a", "ann", "1", 0).ok();
    let bob = server.label("b", "bob", "2", 1).ok();
    assert_eq!(
        undo("y", "ann", bob["group"].clone()).problem(),
        (409, "C5".into()),
        "the work of somebody else"
    );
    undo("c", "ann", ann["group"].clone()).ok();
    assert_eq!(
        undo("d", "ann", ann["group"].clone()).problem().0,
        409,
        "it is undone already"
    );
    assert_eq!(
        undo("c", "ann", ann["group"].clone()).ok()["repeated"],
        true
    );
    let redo =
        json!({"key": "e", "annotator": "ann", "decisions": [{"kind": "redo", "group": null}]});
    server.post("/api/v1/decisions", &redo).ok();
    let labels = server.get("/api/v1/item?id=1").ok()["labels"].clone();
    assert_eq!(labels[0]["annotator"], "ann");
}

#[test]
fn an_answer_for_a_class_that_is_gone_is_stored_as_a_conflict() {
    let (_folder, server) = new(&Wish {
        classes: vec!["a", "b", "c"],
        ..Wish::default()
    });
    let decide = |key: &str, deed: Value| {
        server.post(
            "/api/v1/decisions",
            &json!({"key": key, "decisions": [deed]}),
        )
    };
    decide("m", json!({"kind": "merge-class", "from": 2, "into": 0})).ok();
    assert_eq!(
        server.label("x", "ann", "4", 2).problem(),
        (409, "C6".into())
    );
    assert_eq!(server.get("/api/v1/project").ok()["conflicts"], 1);
    assert_eq!(
        server.label("y", "ann", "4", 9).problem(),
        (404, "I12".into()),
        "a class that never was"
    );
    assert_eq!(
        server.label("z", "ann", "4444", 0).problem(),
        (404, "I12".into()),
        "an item that is not there"
    );
    // Exclusion is soft: the label stays in the log, and comes back with an undo (C11).
    server.label("w", "ann", "4", 0).ok();
    let out = decide("v", json!({"kind": "exclude", "item": "4"})).ok();
    assert_eq!(server.get("/api/v1/project").ok()["labelled"], 0);
    decide("u", json!({"kind": "undo", "group": out["group"]})).ok();
    assert_eq!(server.get("/api/v1/project").ok()["labelled"], 1);
}

#[test]
fn a_restart_loses_nothing_and_signs_nobody_out() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("p.dial");
    make(&project, &Wish::default());
    let (mut stored, mut leased) = (BTreeMap::new(), String::new());
    for round in 0..3 {
        let server = serve(&project, None);
        let asked = server
            .post("/api/v1/next", &json!({"annotator": "ann"}))
            .ok();
        let item = asked["items"][0]["id"].as_str().unwrap().to_string();
        if round > 0 {
            assert_eq!(item, leased, "the lease survived");
        }
        for (key, seq) in &stored {
            let (key, item): (&String, String) = (key, key.trim_start_matches('k').into());
            let again = server.label(key, "bob", &item, 0).ok();
            assert_eq!(
                (again["repeated"].as_bool(), again["seq"].as_u64()),
                (Some(true), Some(*seq))
            );
        }
        let free = (0..120)
            .map(|row| row.to_string())
            .filter(|row| *row != item && !stored.contains_key(&format!("k{row}")));
        for row in free.take(5).collect::<Vec<String>>() {
            let seq = server.label(&format!("k{row}"), "bob", &row, 0).ok()["seq"]
                .as_u64()
                .unwrap();
            stored.insert(format!("k{row}"), seq);
        }
        leased = item;
        server.stop();
    }
    let server = serve(&project, None);
    assert_eq!(server.get("/api/v1/project").ok()["annotators"]["bob"], 15);
}

#[test]
fn a_clock_that_was_wrong_blocks_nobody() {
    use dial_store::{Journal, Lease, Project};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dial");
    make(&path, &Wish::default());
    // Somebody leased everything in the year 2100, or in 1970.
    for now in [4_102_444_800_000, 1_000] {
        let mut project = Project::open(&path, Journal::Wal, now).unwrap();
        let lease = |row: u32| Lease {
            item: row.to_string(),
            annotator: "bob".into(),
            until: now + 600_000,
        };
        let all: Vec<Lease> = (0..120).map(lease).collect();
        project.keep_leases(&all).unwrap();
        drop(project);
        let server = serve(&path, None);
        let asked = server
            .post("/api/v1/next", &json!({"annotator": "ann", "count": 3}))
            .ok();
        assert_eq!(
            asked["items"].as_array().unwrap().len(),
            3,
            "leases of {now}"
        );
        server.stop();
    }
}

#[test]
fn questions_are_found_beyond_those_that_others_have() {
    let (_folder, server) = new(&Wish {
        pool: "builtin:moons:1000".into(),
        ..Wish::default()
    });
    let mut given = BTreeSet::new();
    for person in 0..300 {
        let who = format!("p{person}");
        let asked = server.post("/api/v1/next", &json!({"annotator": who})).ok();
        let item = asked["items"][0]["id"].as_str();
        let item = item.unwrap_or_else(|| panic!("person {person} is told that all is labelled"));
        assert!(given.insert(item.to_string()), "{item} went to two people");
    }
}

#[test]
fn items_that_others_are_answering_are_not_called_labelled() {
    let (folder, server) = new(&Wish {
        pool: "builtin:moons:40".into(),
        ..Wish::default()
    });
    let ask = |who: &str| server.post("/api/v1/next", &json!({"annotator": who}));
    for person in 0..40 {
        let asked = ask(&format!("p{person}")).ok();
        assert_eq!(asked["items"].as_array().unwrap().len(), 1);
    }
    let busy = ask("ann");
    assert_eq!(busy.problem(), (409, "C14".into()));
    let problem = busy.json();
    let seconds = problem["retry_after"].as_u64().unwrap();
    // Leases last ten minutes.
    assert!((540..=600).contains(&seconds), "{problem}");
    assert_eq!(
        busy.header("retry-after"),
        Some(seconds.to_string().as_str())
    );
    assert!(problem["detail"].as_str().unwrap().contains("10 minutes"));
    // The command is told so too, with an exit code of its own.
    let place = Folder(folder.path().join("p.dial"));
    let mut client = Client::find(&place, Box::new(|_| ())).unwrap().unwrap();
    let wish = Next {
        annotator: "ann".into(),
        count: 1,
        except: Vec::new(),
    };
    let problem = client.next(&wish).unwrap_err();
    assert_eq!((&*problem.code, problem.exit), ("C14", 10));
    // Who has an item still has it, and an answer makes no room: the item is labelled.
    let mine = ask("p7").ok()["items"][0]["id"]
        .as_str()
        .unwrap()
        .to_string();
    server.label("k", "p7", &mine, 0).ok();
    assert_eq!(ask("ann").problem(), (409, "C14".into()));
    // Only when all is labelled there is nothing.
    for row in 0..40 {
        let answer = server.label(&format!("l{row}"), "bob", &row.to_string(), 0);
        assert_eq!(answer.status, 200);
    }
    assert_eq!(ask("ann").ok()["items"], json!([]));
    let problem = client.next(&wish).unwrap_err();
    assert_eq!((&*problem.code, problem.exit), ("N11", 9));
}

#[test]
fn with_overlap_other_opinions_are_found_beyond_those_that_others_give() {
    let (_folder, server) = new(&Wish {
        pool: "builtin:moons:400".into(),
        overlap: 2,
        ..Wish::default()
    });
    // One person has answered everything: all that is left is a second opinion of each item.
    let decisions: Vec<Value> = (0..400)
        .map(|row| json!({"kind": "label", "item": row.to_string(), "classes": [{"class": row % 2}]}))
        .collect();
    let all = json!({"key": "all", "annotator": "first", "decisions": decisions});
    server.post("/api/v1/decisions", &all).ok();
    // Half of the pool is what one session may hold.
    for person in 0..200 {
        let who = format!("p{person}");
        let asked = server.post("/api/v1/next", &json!({"annotator": who})).ok();
        assert_eq!(asked["items"].as_array().unwrap().len(), 1, "{who}");
    }
    let asked = server
        .post("/api/v1/next", &json!({"annotator": "last"}))
        .ok();
    assert_eq!(asked["items"].as_array().unwrap().len(), 1, "{asked}");
}

#[test]
fn changes_are_told_as_they_happen() {
    let (_folder, server) = new(&Wish::default());
    let mut stream = TcpStream::connect(&server.address.address).unwrap();
    stream
        .set_read_timeout(Some(std::time::Duration::from_secs(30)))
        .unwrap();
    let head = format!(
        "GET /api/v1/changes HTTP/1.1\r\nhost: {}\r\nauthorization: {}\r\n\r\n",
        server.address.address,
        server.bearer()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut text = String::new();
    let mut wait_for = |wanted: &str| {
        while !text.contains(wanted) {
            let mut bytes = [0; 1024];
            let read = stream.read(&mut bytes).unwrap();
            assert!(read > 0, "the stream ended: {text}");
            text += &String::from_utf8_lossy(&bytes[..read]);
        }
    };
    wait_for("event: log");
    let version = server.label("k", "", "3", 0).ok()["version"]
        .as_u64()
        .unwrap();
    wait_for(&format!("event: log\ndata: {{\"version\":{version}}}"));
    wait_for(&format!("event: model\ndata: {{\"version\":{version}}}"));
}

#[test]
fn bodies_are_bounded() {
    let (_folder, server) = new(&Wish::default());
    let bearer = server.bearer();
    let headers = [
        ("authorization", bearer.as_str()),
        ("x-dial", &server.address.project),
        ("content-type", "application/json"),
    ];
    let large = vec![b' '; 8_100_000];
    assert_eq!(
        server
            .send("POST", "/api/v1/decisions", &headers, Some(&large))
            .status,
        413
    );
    // Endless chunks: the connection is answered and closed after the limit.
    let mut stream = TcpStream::connect(&server.address.address).unwrap();
    let head = format!(
        "POST /api/v1/decisions HTTP/1.1\r\nhost: {}\r\nauthorization: {bearer}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
        server.address.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    let chunk = [b"10000\r\n".to_vec(), vec![b' '; 0x10000], b"\r\n".to_vec()].concat();
    let sent = (0..4000)
        .take_while(|_| stream.write_all(&chunk).is_ok())
        .count();
    assert!(sent < 4000, "250 MB were not taken");
    // What says that it is too large is not waited for.
    for path in ["decisions", "import"] {
        let mut stream = TcpStream::connect(&server.address.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        let head = format!(
            "POST /api/v1/{path} HTTP/1.1\r\nhost: {}\r\nauthorization: {bearer}\r\ncontent-type: application/json\r\ncontent-length: 100000000000\r\n\r\n",
            server.address.address
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 413");
    }
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    for body in [
        deep.as_str(),
        "",
        "null",
        "{}",
        "[]",
        "{\"key\":1}",
        "\u{0}",
        "{\"key\":\"k\",\"decisions\":[],\"x\":1}",
    ] {
        let answer = server.send("POST", "/api/v1/decisions", &headers, Some(body.as_bytes()));
        assert_eq!(answer.status, 422, "{}", &body[..body.len().min(40)]);
    }
    let many = json!({"annotator": "x".repeat(201)});
    assert_eq!(server.post("/api/v1/next", &many).status, 422);
}

#[test]
fn one_session_cannot_flood_the_others() {
    let (_folder, server) = new(&Wish::default());
    let browser = server.sign_in(&server.link);
    let statuses: Vec<u16> = (0..300)
        .map(|_| {
            server
                .signed(&browser, "POST", "/api/v1/decisions", "{}")
                .status
        })
        .collect();
    assert!(statuses.contains(&429), "a flood is stopped");
    assert_eq!(
        server.label("k", "ann", "1", 0).status,
        200,
        "the owner's programs go on"
    );
}

#[test]
fn a_faulty_network_stores_every_key_once() {
    let (_folder, server) = new(&Wish {
        pool: "builtin:moons:1000".into(),
        ..Wish::default()
    });
    let count: u64 = std::env::var("DIAL_SUBMISSIONS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(1500);
    let sent: u64 = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..4u64)
            .map(|client| {
                scope.spawn({
                    let server = &server;
                    move || flaky(server, client, count / 4)
                })
            })
            .collect();
        clients
            .into_iter()
            .map(|client| client.join().unwrap())
            .sum()
    });
    assert!(sent > count, "some were sent again");
    let history = server.get("/api/v1/history?search=label&limit=1").ok();
    assert_eq!(
        history["total"].as_u64().unwrap(),
        4 * (count / 4),
        "stored events are distinct keys"
    );
}

/// A client behind a bad line: of ten deliveries one is lost on the way, one loses its answer, one comes twice, one is delayed
/// so that later ones overtake it, and what was sent before may come again later. It repeats until it has heard. Returns how
/// often it sent.
fn flaky(server: &crate::common::Running, client: u64, count: u64) -> u64 {
    let (mut sent, mut before, mut delayed) = (0, Vec::<Value>::new(), Vec::<Value>::new());
    for step in 0..count {
        // Two people label the same items in turn with alternating classes: every submission is a new event.
        let (item, class) = ((step * 4 + client) % 1000, (step / 250 % 2) as u16);
        let mut body = label(
            &format!("{client}-{step}"),
            &format!("c{client}"),
            &item.to_string(),
            class,
        );
        body["replace"] = json!(true);
        for attempt in 0.. {
            let draw = dial::seed::hash(client * 1_000_003 + step, attempt) % 10;
            if draw == 0 {
                continue; // Lost on the way.
            }
            sent += 1;
            if draw == 1 {
                drop_answer(server, &body); // Arrives, and nobody hears.
                continue;
            }
            if draw == 4 && attempt == 0 {
                delayed.push(body.clone());
                break; // Comes after the next ones.
            }
            if draw == 2 {
                server.post("/api/v1/decisions", &body); // Comes twice.
                sent += 1;
            }
            if draw == 3 && !before.is_empty() {
                let old = &before[(step % before.len() as u64) as usize]; // An old one comes late.
                assert_eq!(server.post("/api/v1/decisions", old).status, 200);
                sent += 1;
            }
            assert_eq!(server.post("/api/v1/decisions", &body).status, 200);
            break;
        }
        before.push(body);
        if delayed.len() > 2 || step + 1 == count {
            for late in delayed.drain(..).rev() {
                assert_eq!(server.post("/api/v1/decisions", &late).status, 200);
            }
        }
    }
    sent
}

/// Sends a submission and goes away without reading the answer.
fn drop_answer(server: &crate::common::Running, body: &Value) {
    let body = body.to_string();
    let mut stream = TcpStream::connect(&server.address.address).unwrap();
    let head = format!(
        "POST /api/v1/decisions HTTP/1.1\r\nhost: {}\r\nauthorization: {}\r\nx-dial: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        server.address.address,
        server.bearer(),
        server.address.project,
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let _ = stream.read(&mut [0; 1]);
}
