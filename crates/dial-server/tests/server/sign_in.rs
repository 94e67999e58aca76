//! Who is at the other end: writes name their project, answers are proven, nothing that is sent can be used again, and
//! sessions end.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dial_server::{Client, ProjectHandle};
use dial_store::{Decision, Folder, Submission};
use serde_json::json;

use crate::common::{Wish, hmac_sha256, label, make, new, serve};

#[test]
fn a_write_for_another_project_is_refused() {
    let (_folder, server) = new(&Wish::default());
    let browser = server.sign_in(&server.link);
    let body = label("k", "", "3", 0).to_string();
    let other = "0".repeat(32);
    let signed = browser.authorization("POST", "/api/v1/decisions", &body);
    let bearer = server.bearer();
    let json = ("content-type", "application/json");
    for who in [&signed, &bearer, "Bearer unknown", ""] {
        for project in [&other, "1", ""] {
            let headers = [json, ("authorization", who), ("x-dial", project)];
            let answer = server.send("POST", "/api/v1/decisions", &headers, Some(body.as_bytes()));
            assert_eq!(answer.problem(), (409, "C8".into()), "{who} {project}");
        }
        let headers = [
            json,
            ("authorization", who),
            ("x-dial", &browser.project),
            ("x-dial-place", &other),
        ];
        let answer = server.send("POST", "/api/v1/decisions", &headers, Some(body.as_bytes()));
        assert_eq!(answer.problem(), (409, "C8".into()), "{who}: another copy");
    }
    for who in [&signed, &bearer] {
        let headers = [json, ("authorization", who)];
        let answer = server.send("POST", "/api/v1/decisions", &headers, Some(body.as_bytes()));
        assert_eq!(answer.problem(), (403, "X2".into()), "no project is named");
    }
    let headers = [
        json,
        ("authorization", &signed),
        ("x-dial", &browser.project),
    ];
    let answer = server.send("POST", "/api/v1/decisions", &headers, Some(body.as_bytes()));
    assert_eq!(answer.problem(), (403, "X2".into()), "no place is named");
    assert_eq!(server.get("/api/v1/project").ok()["labelled"], 0);
    server
        .signed(&browser, "POST", "/api/v1/decisions", &body)
        .ok();
    assert_eq!(server.get("/api/v1/project").ok()["labelled"], 1);
}

#[test]
fn what_was_signed_is_good_for_that_request_and_run_only() {
    let (folder, server) = new(&Wish::default());
    let browser = server.sign_in(&server.link);
    let path = "/api/v1/export?format=csv";
    let authorization = browser.authorization("GET", path, "");
    let get = |path: &str, given: &str| server.send("GET", path, &[("authorization", given)], None);
    assert_eq!(get(path, &authorization).status, 200);
    assert_eq!(
        get("/api/v1/project", &authorization).status,
        401,
        "another path"
    );
    assert_eq!(
        get("/api/v1/export?format=jsonl", &authorization).status,
        401,
        "another query"
    );
    let host = format!(
        "localhost:{}",
        server.address.address.rsplit(':').next().unwrap()
    );
    let headers = [("authorization", authorization.as_str()), ("host", &host)];
    assert_eq!(
        server.send("GET", path, &headers, None).status,
        401,
        "another host"
    );
    let (signed, sent) = (
        label("k", "", "3", 0).to_string(),
        label("k", "", "3", 1).to_string(),
    );
    let authorization = browser.authorization("POST", "/api/v1/decisions", &signed);
    let headers = [
        ("authorization", authorization.as_str()),
        ("x-dial", &browser.project),
        ("x-dial-place", &browser.place),
        ("content-type", "application/json"),
    ];
    let answer = server.send("POST", "/api/v1/decisions", &headers, Some(sent.as_bytes()));
    assert_eq!(answer.problem(), (403, "X2".into()), "another body");
    assert_eq!(server.get("/api/v1/project").ok()["labelled"], 0);
    // Somebody who had the port between two runs of the server has seen a request that was meant for the first.
    let seen = browser.authorization("GET", path, "");
    server.stop();
    let server = serve(&folder.path().join("p.dial"), None);
    assert_eq!(server.address.address, browser.host, "the same port");
    let replayed = server.send("GET", path, &[("authorization", &seen)], None);
    assert_eq!(replayed.status, 401);
    let browser = crate::common::Browser {
        run: server.address.run.clone(),
        ..browser
    };
    assert_eq!(
        server.signed(&browser, "GET", path, "").status,
        200,
        "the session goes on"
    );
}

#[test]
fn the_session_does_not_go_along_with_a_copy_or_a_backup() {
    let (folder, server) = new(&Wish::default());
    let browser = server.sign_in(&server.link);
    server.stop();
    let (first, copy) = (
        folder.path().join("p.dial"),
        folder.path().join("copy.dial"),
    );
    std::fs::create_dir(&copy).unwrap();
    for name in ["project.db", "sessions.key"] {
        std::fs::copy(first.join(name), copy.join(name)).unwrap();
    }
    let server = serve(&copy, None);
    let browser = crate::common::Browser {
        run: server.address.run.clone(),
        place: server.address.place.clone(),
        host: server.address.address.clone(),
        ..browser
    };
    assert_eq!(server.address.project, browser.project, "it is a copy");
    assert_eq!(
        server.signed(&browser, "GET", "/api/v1/project", "").status,
        401
    );
}

/// A restored backup and a copied folder have the id of the project, and not its place nor its port.
#[test]
fn what_is_meant_for_a_project_is_not_taken_by_a_copy_of_it() {
    let (folder, server) = new(&Wish::default());
    let first = server.address.clone();
    let backup = server.post("/api/v1/backup", &json!({})).ok();
    let backup = Path::new(backup["file"].as_str().unwrap());
    server.stop();
    let at = |name: &str| folder.path().join(name);
    dial_store::restore(backup, &at("restored.dial"), false, 3000).unwrap();
    std::fs::create_dir(at("copied.dial")).unwrap();
    for entry in std::fs::read_dir(at("p.dial")).unwrap() {
        let file = entry.unwrap().path();
        if file.is_file() {
            std::fs::copy(&file, at("copied.dial").join(file.file_name().unwrap())).unwrap();
        }
    }
    for name in ["restored.dial", "copied.dial"] {
        let server = serve(&at(name), None);
        let here = server.address.clone();
        assert_eq!(here.project, first.project);
        assert_ne!(here.place, first.place, "{name}");
        assert_ne!(
            here.address, first.address,
            "{name} takes the port of the first"
        );
        let hello = server.send("GET", "/hello", &[], None).ok();
        assert_eq!(hello["place"], here.place);
        let signed_in = server.sign_in(&server.link);
        let body = label("k", "", "3", 0).to_string();
        let signed = signed_in.authorization("POST", "/api/v1/decisions", &body);
        let headers = [
            ("authorization", signed.as_str()),
            ("x-dial", &first.project),
            ("x-dial-place", &first.place),
            ("content-type", "application/json"),
        ];
        let answer = server.send("POST", "/api/v1/decisions", &headers, Some(body.as_bytes()));
        assert_eq!(answer.problem(), (409, "C8".into()), "{name}");
        assert_eq!(server.get("/api/v1/project").ok()["labelled"], 0);
        server.stop();
    }
    // A backup that takes the place of the project is the project: people go on, also with what waits in their browsers.
    dial_store::restore(backup, &at("p.dial"), true, 4000).unwrap();
    let server = serve(&at("p.dial"), None);
    let here = (&server.address.place, &server.address.address);
    assert_eq!(here, (&first.place, &first.address));
    server.stop();
    let mut aside = std::fs::read_dir(folder.path()).unwrap();
    let aside = aside.find_map(|entry| {
        let path = entry.unwrap().path();
        path.display()
            .to_string()
            .contains(".replaced-")
            .then_some(path)
    });
    let server = serve(&aside.unwrap(), None);
    assert_ne!(server.address.place, first.place);
}

#[test]
fn every_answer_to_a_known_caller_is_proven() {
    let (_folder, server) = new(&Wish::default());
    let browser = server.sign_in(&server.link);
    // `signed` checks the proof of each.
    let signed = |method: &str, path: &str, body: &str| server.signed(&browser, method, path, body);
    for path in [
        "project",
        "export",
        "item?id=3",
        "openapi.json",
        "nothing",
        "item?id=nobody",
    ] {
        signed("GET", &format!("/api/v1/{path}"), "");
    }
    let contradiction = label("b", "", "3", 1).to_string();
    signed(
        "POST",
        "/api/v1/decisions",
        &label("a", "", "3", 0).to_string(),
    )
    .ok();
    let refused = signed("POST", "/api/v1/decisions", &contradiction);
    assert_eq!(refused.problem(), (409, "C3".into()));
    let large = "x".repeat(8_000_001);
    assert_eq!(
        signed("POST", "/api/v1/decisions", &large).problem(),
        (413, "W4".into())
    );
    let many = (0..100).map(|_| signed("POST", "/api/v1/decisions", "{").status);
    assert!(many.into_iter().any(|status| status == 429));
    // A program that sends the token gets the proof as well; the nonce is empty.
    let answer = server.get("/api/v1/project");
    let (run, host) = (&server.address.run, &server.address.address);
    // The hash of an empty body.
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let head = format!("dial answer\n{run}\n{host}\nGET\n/api/v1/project\n\n{empty}\n200\n");
    let text = [head.as_bytes(), &answer.body].concat();
    let proof = hmac_sha256(server.address.token.as_bytes(), &text);
    assert_eq!(answer.header("x-dial-proof"), Some(proof.as_str()));
}

#[test]
fn the_stream_of_changes_is_proven_by_its_head() {
    let (_folder, server) = new(&Wish::default());
    let browser = server.sign_in(&server.link);
    let authorization = browser.authorization("GET", "/api/v1/changes", "");
    let mut stream = TcpStream::connect(&server.address.address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    let head = format!(
        "GET /api/v1/changes HTTP/1.1\r\nhost: {}\r\nauthorization: {authorization}\r\n\r\n",
        server.address.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    let (mut answer, mut byte) = (Vec::new(), [0]);
    while !answer.ends_with(b"\r\n\r\n") {
        assert_eq!(stream.read(&mut byte).unwrap(), 1);
        answer.push(byte[0]);
    }
    let answer = String::from_utf8(answer).unwrap().to_lowercase();
    assert!(
        answer.starts_with("http/1.1 200") && answer.contains("\r\nx-dial-proof: "),
        "{answer}"
    );
}

/// Somebody else's program at an address: answers everything with `answer` and remembers what it was sent.
fn impostor(address: &str, answer: &'static str) -> Arc<Mutex<String>> {
    let seen = Arc::new(Mutex::new(String::new()));
    let (listener, mine) = (TcpListener::bind(address).unwrap(), Arc::clone(&seen));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            stream
                .set_read_timeout(Some(Duration::from_millis(200)))
                .unwrap();
            let mut bytes = [0; 65536];
            let count = stream.read(&mut bytes).unwrap_or(0);
            mine.lock()
                .unwrap()
                .push_str(&String::from_utf8_lossy(&bytes[..count]));
            let head = format!(
                "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n",
                answer.len()
            );
            let _ = stream.write_all(
                format!("{head}x-dial-proof: {}\r\n\r\n{answer}", "0".repeat(64)).as_bytes(),
            );
        }
    });
    seen
}

/// What a server answers to the question for its project, and to a submission.
const PRETENCE: &str = r#"{"name": "p", "id": "1", "pool": "p", "item_word": "row", "items": 1, "labelled": 0, "classes": [],
    "annotators": {}, "acquisition": "auto", "overlap": 1, "version": 1, "model_version": 1, "model_ready": false,
    "lookahead": false, "banner": null, "conflicts": 0, "group": 3, "seq": 7, "repeated": false, "count": 1}"#;

#[test]
fn the_client_believes_nobody_who_only_has_the_port() {
    let (folder, server) = new(&Wish::default());
    let project = Folder(folder.path().join("p.dial"));
    let submission = Submission {
        key: "k".into(),
        decisions: vec![Decision::label("secret item", dial::ClassId(0))],
        ..Submission::default()
    };
    let note = || Box::new(|_: &str| ()) as dial_server::Note;
    let mut client = Client::find(&project, note())
        .unwrap()
        .expect("a server runs");
    let (address, left) = (
        server.address.clone(),
        std::fs::read(project.server()).unwrap(),
    );
    server.stop();
    // The file of a server that was killed, a process that lives, and another program at its port.
    std::fs::write(project.server(), left).unwrap();
    let seen = impostor(&address.address, PRETENCE);
    assert!(Client::find(&project, note()).unwrap().is_none());
    let told = seen.lock().unwrap().clone();
    assert!(told.contains("GET /api/v1/project"), "it was asked: {told}");
    // One that was found before, while the real server was there, is not told that anything is saved.
    let refused = client.submit(submission).unwrap_err();
    assert_eq!((&*refused.code, refused.exit), ("S5", 5), "{refused:?}");
    let told = seen.lock().unwrap().clone();
    assert!(!told.contains(&address.token), "the token was sent");
}

#[cfg(unix)]
#[test]
fn a_browser_is_opened_through_a_file_that_others_cannot_read() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, server) = new(&Wish::default());
    let place = folder.path().join("p.dial").join("launch");
    let left = place.join("left.html");
    let open = || {
        let path = server.post("/api/v1/launch", &json!({"file": true})).ok();
        std::path::PathBuf::from(path.as_str().unwrap())
    };
    let (file, other) = (open(), open());
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    assert!(file.is_absolute() && file.parent() == Some(&place.canonicalize().unwrap()));
    let text = std::fs::read_to_string(&file).unwrap();
    let link = text
        .split("url=")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    assert!(
        link.starts_with(&format!("http://{}/#launch=", server.address.address)),
        "{text}"
    );
    server.sign_in(link);
    assert!(!file.exists() && other.exists(), "it goes with its link");
    assert_eq!(server.try_sign_in(link).problem(), (401, "X13".into()));
    server.stop();
    assert!(!place.exists(), "and with the server");
    // One that was killed leaves what it had; the next start removes it.
    std::fs::create_dir(&place).unwrap();
    std::fs::write(&left, "x").unwrap();
    let server = serve(&folder.path().join("p.dial"), None);
    assert!(!left.exists());
    drop(server);
}

#[test]
fn browsers_are_listed_and_signed_out() {
    let (folder, server) = new(&Wish::default());
    let mine = server.sign_in(&server.link);
    let link = || {
        server
            .post("/api/v1/launch", &json!({}))
            .ok()
            .as_str()
            .unwrap()
            .to_string()
    };
    let (other, third) = (server.sign_in(&link()), server.sign_in(&link()));
    let rows = server.signed(&mine, "GET", "/api/v1/sessions", "").ok();
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for row in rows {
        assert_eq!(row["browser"], "Firefox on Linux");
        assert_eq!(row["mine"], row["id"] == mine.session);
        assert!(row["made"].as_u64() <= row["used"].as_u64());
    }
    let end = |who, ids: &[&str]| {
        let body = json!({ "sessions": ids }).to_string();
        server.signed(who, "POST", "/api/v1/sessions/end", &body)
    };
    let others = end(&mine, &[&other.session, &third.session, "nobody"]);
    assert_eq!(others.ok().as_array().unwrap().len(), 1);
    assert!(others.header("clear-site-data").is_none());
    assert_eq!(
        server
            .signed(&other, "GET", "/api/v1/project", "")
            .problem(),
        (401, "C7".into())
    );
    server.signed(&mine, "GET", "/api/v1/project", "").ok();
    // Signing out is ending one's own; what waits in the browser stays there, pictures do not.
    let out = end(&mine, &[&mine.session]);
    assert_eq!(out.ok(), json!([]));
    assert_eq!(out.header("clear-site-data"), Some("\"cache\""));
    assert_eq!(
        server.signed(&mine, "GET", "/api/v1/project", "").status,
        401
    );
    // The owner's programs may do the same, with a server and without; an end outlives a restart.
    let fourth = server.sign_in(&link());
    let project = folder.path().join("p.dial");
    server.stop();
    let mut local = local(&project);
    assert_eq!(local.sessions().unwrap()[0].id, fourth.session);
    assert_eq!(
        local
            .end_sessions(std::slice::from_ref(&fourth.session))
            .unwrap(),
        []
    );
    drop(local);
    let server = serve(&project, None);
    for browser in [mine, other, third, fourth] {
        let browser = crate::common::Browser {
            run: server.address.run.clone(),
            ..browser
        };
        assert_eq!(
            server.signed(&browser, "GET", "/api/v1/project", "").status,
            401
        );
    }
}

fn local(project: &Path) -> dial_server::Local {
    let opened = dial_store::Project::open(project, dial_store::Journal::Wal, 3000).unwrap();
    dial_server::Local::new(opened, dial::Control::new, Box::new(|_| ()))
}

#[test]
fn pictures_are_in_no_cache() {
    let wish = Wish {
        pool: "builtin:digits:60".into(),
        classes: vec!["a", "b"],
        ..Wish::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("p.dial");
    make(&project, &wish);
    let server = serve(&project, None);
    let picture = server.get("/api/v1/media?id=3");
    assert_eq!(
        (picture.status, picture.header("cache-control")),
        (200, Some("no-store"))
    );
}

#[test]
fn files_of_the_page_are_for_everybody_and_hold_no_data() {
    let (_folder, server) = new(&Wish::default());
    for path in ["/", "/main.js", "/base.css"] {
        let answer = server.send("GET", path, &[], None);
        assert_eq!(answer.status, 200, "{path}");
        let file = String::from_utf8_lossy(&answer.body).to_string();
        assert!(!file.contains(&server.address.project) && !file.contains(&server.address.token));
    }
    let hello = server.send("GET", "/hello", &[], None).ok();
    assert_eq!(
        hello,
        json!({"project": server.address.project, "place": server.address.place, "run": server.address.run})
    );
    let long = "x".repeat(5000);
    let answer = server.send(
        "POST",
        "/sign-in",
        &[("content-type", "application/json")],
        Some(long.as_bytes()),
    );
    assert_eq!(
        answer.problem(),
        (413, "W4".into()),
        "strangers send little"
    );
}

#[test]
fn a_service_worker_that_is_not_ours_is_told_to_go() {
    let (_folder, server) = new(&Wish::default());
    let answer = server.send("GET", "/any.js", &[("service-worker", "script")], None);
    let script = String::from_utf8_lossy(&answer.body).to_string();
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("content-type"),
        Some("text/javascript; charset=utf-8")
    );
    assert!(script.contains("registration.unregister()") && !script.contains("fetch"));
}
