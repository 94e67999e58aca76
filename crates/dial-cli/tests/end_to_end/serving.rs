//! `dial serve` and `dial label` through the real binary: killed, stopped, held by another, and used by the other verbs.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::run::{DIAL, Place};

/// A server in a process of its own.
struct Serving {
    child: Child,
    address: String,
    token: String,
    /// The id of the project.
    project: String,
}

impl Serving {
    fn start(project: &Path, verb: &[&str]) -> Serving {
        let file = project.join("server.json");
        let _ = std::fs::remove_file(&file);
        let mut command = Command::new(DIAL);
        command
            .args(verb)
            .arg("--quiet")
            .current_dir(project.parent().unwrap());
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        for _ in 0..1500 {
            let found = std::fs::read(&file)
                .ok()
                .and_then(|text| serde_json::from_slice::<Value>(&text).ok());
            if let Some(found) = found {
                let text = |name: &str| found[name].as_str().unwrap().to_string();
                return Serving {
                    child,
                    address: text("address"),
                    token: text("token"),
                    project: text("project"),
                };
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        panic!("the server did not start");
    }

    /// The status and the body of an answer; nothing if the server went away.
    fn ask(&self, method: &str, path: &str, body: &str) -> Option<(u16, Value)> {
        ask(
            [&self.address, &self.token, &self.project],
            method,
            path,
            body,
        )
    }

    fn get(&self, path: &str) -> Value {
        self.ask("GET", path, "").unwrap().1
    }
}

fn ask(
    [address, token, project]: [&str; 3],
    method: &str,
    path: &str,
    body: &str,
) -> Option<(u16, Value)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .ok()?;
    let path = match path {
        "sign-in" => "/sign-in".to_string(),
        path => format!("/api/v1/{path}"),
    };
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\nx-dial: {project}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    let text = String::from_utf8_lossy(&answer).to_string();
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some((status, serde_json::from_str(body).ok()?))
}

fn label(key: &str, item: u64, class: u64) -> String {
    json!({"key": key, "decisions": [{"kind": "label", "item": item.to_string(), "classes": [{"class": class}]}]})
        .to_string()
}

/// The n-th submission of a stream that never ends: items in turn, each time around with another class.
fn numbered(n: u64) -> String {
    let decision = json!({"kind": "label", "item": (n % 3000).to_string(), "classes": [{"class": (n + n / 3000) % 2}]});
    json!({"key": format!("k{n}"), "decisions": [decision], "replace": true}).to_string()
}

fn project() -> (Place, std::path::PathBuf) {
    let place = Place::new();
    place
        .dial(&[
            "new",
            "builtin:moons:3000",
            "--project",
            "p.dial",
            "--classes",
            "up,down",
        ])
        .ok();
    let project = place.path("p.dial");
    (place, project)
}

#[test]
fn a_server_that_is_killed_keeps_what_it_acknowledged() {
    let (_place, project) = project();
    let cycles: u64 = std::env::var("DIAL_KILLS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(6);
    let (acknowledged, sent) = (Mutex::new(Vec::<(String, u64)>::new()), AtomicU64::new(0));
    let mut unknown: Vec<u64> = Vec::new();
    for cycle in 0..cycles {
        let mut serving = Serving::start(&project, &["serve", "p.dial"]);
        // What nobody heard about is sent again, and stored once.
        for item in unknown.drain(..) {
            let (status, answer) = serving.ask("POST", "decisions", &numbered(item)).unwrap();
            assert_eq!(status, 200, "{answer}");
            acknowledged
                .lock()
                .unwrap()
                .push((format!("k{item}"), answer["seq"].as_u64().unwrap()));
        }
        let over = AtomicBool::new(false);
        let server = [&serving.address, &serving.token, &serving.project].map(String::clone);
        let lost: Vec<u64> = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..3)
                .map(|_| {
                    scope.spawn(|| {
                        while !over.load(Ordering::Relaxed) {
                            let item = sent.fetch_add(1, Ordering::Relaxed);
                            let key = format!("k{item}");
                            match ask(
                                server.each_ref().map(String::as_str),
                                "POST",
                                "decisions",
                                &numbered(item),
                            ) {
                                Some((200, answer)) => {
                                    acknowledged
                                        .lock()
                                        .unwrap()
                                        .push((key, answer["seq"].as_u64().unwrap()));
                                }
                                _ => return Some(item),
                            }
                        }
                        None
                    })
                })
                .collect();
            std::thread::sleep(Duration::from_millis(30 + mixed(cycle) % 120));
            serving.child.kill().unwrap();
            serving.child.wait().unwrap();
            over.store(true, Ordering::Relaxed);
            clients
                .into_iter()
                .filter_map(|client| client.join().unwrap())
                .collect()
        });
        unknown = lost;
    }
    let serving = Serving::start(&project, &["serve", "p.dial"]);
    let acknowledged = acknowledged.into_inner().unwrap();
    assert!(
        acknowledged.len() as u64 > cycles,
        "only {} labels were acknowledged",
        acknowledged.len()
    );
    for (key, seq) in &acknowledged {
        let item: u64 = key[1..].parse().unwrap();
        let (status, again) = serving.ask("POST", "decisions", &numbered(item)).unwrap();
        assert_eq!(
            (status, again["repeated"].as_bool(), again["seq"].as_u64()),
            (200, Some(true), Some(*seq)),
            "{key}"
        );
    }
    let total = serving.get("history?search=label&limit=1")["total"]
        .as_u64()
        .unwrap();
    let (least, most) = (
        acknowledged.len() as u64,
        acknowledged.len() as u64 + unknown.len() as u64,
    );
    assert!(
        (least..=most).contains(&total),
        "{total} stored, {least} acknowledged, {} unknown",
        unknown.len()
    );
    drop_server(serving);
}

/// A number that looks random.
fn mixed(number: u64) -> u64 {
    dial::seed::hash(7, number)
}

fn drop_server(mut serving: Serving) {
    serving.child.kill().unwrap();
    serving.child.wait().unwrap();
}

#[cfg(unix)]
#[test]
fn a_polite_signal_ends_it_in_order() {
    let (_place, project) = project();
    for (signal, round) in [("-TERM", 0), ("-INT", 1), ("-HUP", 2)] {
        let mut serving = Serving::start(&project, &["serve", "p.dial"]);
        for step in 0..5 {
            let item = round * 10 + step;
            assert_eq!(
                serving
                    .ask("POST", "decisions", &label(&format!("k{item}"), item, 0))
                    .unwrap()
                    .0,
                200
            );
        }
        Command::new("kill")
            .args([signal, &serving.child.id().to_string()])
            .status()
            .unwrap();
        let status = serving.child.wait().unwrap();
        assert_eq!(status.code(), Some(0), "{signal}");
        assert!(!project.join("server.json").exists() && !project.join("project.db-wal").exists());
    }
    let serving = Serving::start(&project, &["serve", "p.dial"]);
    assert_eq!(serving.get("project")["labelled"], 15);
    drop_server(serving);
}

#[test]
fn the_other_verbs_use_the_server_and_another_server_is_refused() {
    let (place, project) = project();
    let serving = Serving::start(&project, &["label", "p.dial", "--no-browser"]);
    place.dial(&["serve", "p.dial"]).fails(
        "S7",
        6,
        &[
            "the project is open in process",
            &serving.child.id().to_string(),
        ],
    );
    place.dial(&["serve", "p.dial", "--host", "0.0.0.0"]).fails(
        "X3",
        8,
        &["refusing to listen on 0.0.0.0"],
    );
    place
        .dial(&[
            "label",
            "builtin:moons",
            "--project",
            "p.dial",
            "--host",
            "::",
        ])
        .fails("X3", 8, &["refusing to listen on ::"]);
    let item = place.dial(&["ask", "p.dial"]).ok().out.trim().to_string();
    place.dial(&["tell", "p.dial", &item, "up"]).ok();
    assert_eq!(serving.get("project")["labelled"], 1);
    place.dial(&["export", "p.dial", "--out", "a.csv"]).ok();
    let table = std::fs::read_to_string(place.path("a.csv")).unwrap();
    assert_eq!(table.lines().count(), 3001);
    place.dial(&["undo", "p.dial"]).ok();
    std::fs::write(place.path("more.csv"), "id,label\n5,up\n6,down\n").unwrap();
    place.dial(&["import", "p.dial", "more.csv"]).ok();
    assert_eq!(serving.get("project")["labelled"], 2);
    let status = place.dial(&["status", "p.dial", "--json"]).ok().json();
    assert_eq!(status["labelled"], 2);
    place
        .dial(&["backup", "p.dial", "--out", "b.dialbackup"])
        .ok();
    assert!(place.path("b.dialbackup").is_file());
    place
        .line("label builtin:blobs --project p --no-browser")
        .fails("U1", 2, &["is a project of another pool"]);
    // A second label of the same project gives a link of the server that is there.
    let again = place.dial(&["label", "p.dial", "--no-browser"]).ok().out;
    assert!(again.contains(&serving.address), "{again}");
    drop_server(serving);
    // Without the server the verbs open the project themselves, with what it stored.
    assert_eq!(
        place.dial(&["status", "p.dial", "--json"]).ok().json()["labelled"],
        2
    );
}

#[test]
fn no_secret_is_printed_but_the_link() {
    let (_place, project) = project();
    let mut serving = Serving::start(&project, &["serve", "p.dial"]);
    for path in ["project", "nothing", "item?id=0", "item?id=nobody"] {
        serving.ask("GET", path, "");
    }
    let project = serving.project.clone();
    ask([&serving.address, "wrong", &project], "GET", "project", "");
    serving.child.kill().unwrap();
    let (mut out, mut err) = (String::new(), String::new());
    serving
        .child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut out)
        .unwrap();
    serving
        .child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut err)
        .unwrap();
    serving.child.wait().unwrap();
    assert!(
        !out.contains(&serving.token) && !err.contains(&serving.token) && !err.contains("code=")
    );
}

#[test]
fn a_clock_before_1970_is_refused_in_words() {
    let place = Place::new();
    // A program with this library lives in 1960.
    let source = place.path("clock.c");
    let code = "#define _GNU_SOURCE\n#include <time.h>\n#include <unistd.h>\n#include <sys/syscall.h>\n\
                int clock_gettime(clockid_t id, struct timespec *at) {\n\
                long done = syscall(SYS_clock_gettime, id, at);\n\
                if (id == CLOCK_REALTIME) at->tv_sec = -315619200;\n\
                return done; }\n";
    std::fs::write(&source, code).unwrap();
    let library = place.path("clock.so");
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status();
    if !cfg!(target_os = "linux") || !made.is_ok_and(|made| made.success()) {
        println!("SKIPPED: another clock needs Linux and a C compiler (cc)");
        return;
    }
    place
        .line("new builtin:moons:40 --classes a,b --project p")
        .ok();
    let mut child = place
        .command(&["serve", "p.dial"])
        .env("LD_PRELOAD", &library)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // One that serves without answering would go on for ever.
    let end = std::time::Instant::now() + Duration::from_secs(30);
    let ended = loop {
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        if std::time::Instant::now() > end {
            child.kill().unwrap();
            panic!("it serves");
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!(ended.code(), Some(5), "{said}");
    assert!(
        said.contains("error[S5]") && said.contains("1970"),
        "{said}"
    );
}

#[cfg(unix)]
#[test]
fn the_browser_is_opened_without_a_secret_on_its_command_line() {
    use std::os::unix::fs::PermissionsExt;
    let (place, project) = project();
    let (browser, told) = (place.path("browser"), place.path("told"));
    std::fs::write(
        &browser,
        format!(
            "#!/bin/sh\necho \"$@\" > {}.part\nmv {0}.part {0}\n",
            told.display()
        ),
    )
    .unwrap();
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut child = Command::new(DIAL)
        .args(["label", "p.dial"])
        .env("BROWSER", &browser)
        .current_dir(project.parent().unwrap())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    for _ in 0..1500 {
        if told.exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let argument = std::fs::read_to_string(&told).unwrap().trim().to_string();
    assert!(
        !argument.contains("launch=") && !argument.contains("http"),
        "{argument}"
    );
    let file = std::fs::metadata(&argument).unwrap();
    assert_eq!(file.permissions().mode() & 0o777, 0o600);
    let page = std::fs::read_to_string(&argument).unwrap();
    Command::new("kill")
        .arg(child.id().to_string())
        .status()
        .unwrap();
    assert!(child.wait().unwrap().success());
    assert!(
        !Path::new(&argument).exists(),
        "the file goes with the server"
    );
    let mut printed = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut printed)
        .unwrap();
    let code = |text: &str| text.split("#launch=").nth(1).unwrap()[..64].to_string();
    assert_ne!(code(&page), code(&printed), "each link is good once");
}

#[test]
fn browsers_are_listed_and_signed_out_by_the_command() {
    let (place, project) = project();
    let out = |line: &str| place.line(line).ok().out;
    assert_eq!(out("sessions p.dial"), "No browser is signed in.\n");
    let serving = Serving::start(&project, &["serve", "p.dial"]);
    let sign_in = || {
        let link = serving.ask("POST", "launch", "{}").unwrap().1;
        let code = link.as_str().unwrap().split_once("#launch=").unwrap().1;
        let body = json!({ "code": code }).to_string();
        let server = [&serving.address, &serving.token, &serving.project].map(String::as_str);
        ask(server, "POST", "sign-in", &body).unwrap().1
    };
    let first = sign_in()["session"].as_str().unwrap().to_string();
    sign_in();
    sign_in();
    let listed = out("sessions p.dial");
    assert_eq!(listed.lines().count(), 4, "{listed}");
    place
        .line("sessions p.dial --end nobody")
        .fails("I12", 3, &["no session begins with"]);
    let ended = out(&format!("sessions p.dial --end {}", &first[..8]));
    assert!(
        ended.starts_with("1 session ended.\nSigned in:\n") && !ended.contains(&first[..8]),
        "{ended}"
    );
    drop_server(serving);
    // Without a server as well.
    let ended = out("sessions p.dial --end-all");
    assert_eq!(ended, "2 sessions ended.\nNo browser is signed in.\n");
}
