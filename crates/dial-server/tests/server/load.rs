//! Many people label, each with an event stream, while one browser does the worst it may: no label is lost, nobody waits for
//! long, nobody is told that everything is labelled. Latencies and memory are printed, not judged: machines differ.
//!
//! A few seconds of it run with the other tests. The long version is started by `./test --long`, or by
//! `cargo test --release -p dial-server --test server load_campaign -- --ignored --nocapture`.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dial_store::{Journal, Project};
use serde_json::{Value, json};

use crate::common::{Running, Wish, label, make, resident, serve};

/// How much is asked of the server.
struct Load {
    items: usize,
    tabs: usize,
    labels_per_second: f64,
    length: Duration,
    /// How large the batches of the browser at its worst are.
    batch: usize,
}

/// What became of the people.
#[derive(Default)]
struct Seen {
    next: Vec<Duration>,
    label: Vec<Duration>,
    /// Keys of labels that were acknowledged.
    acknowledged: Vec<String>,
    /// Anything that should not have happened, and how often.
    wrong: BTreeMap<String, usize>,
}

#[test]
fn others_label_while_one_browser_does_its_worst() {
    let load = Load {
        items: 3_000,
        tabs: 40,
        labels_per_second: 20.0,
        length: Duration::from_secs(5),
        batch: 200,
    };
    run(&load);
}

#[test]
#[ignore = "takes a minute: ./test --long"]
fn load_campaign() {
    let seconds = std::env::var("DIAL_LOAD_SECONDS").ok();
    let seconds = seconds.and_then(|seconds| seconds.parse().ok());
    let load = Load {
        items: 20_000,
        tabs: 500,
        labels_per_second: 100.0,
        length: Duration::from_secs(seconds.unwrap_or(60)),
        batch: 2_000,
    };
    run(&load);
}

fn run(load: &Load) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dial");
    make(
        &path,
        &Wish {
            pool: format!("builtin:moons:{}", load.items),
            ..Wish::default()
        },
    );
    let server = serve(&path, None);
    // The model knows both classes, as in a project that people are in the middle of.
    server.label("first", "ann", "0", 0).ok();
    let version = server.label("second", "ann", "1", 1).ok()["version"].as_u64();
    server.wait_for_model(version.unwrap());
    let (seen, over, events) = (Mutex::default(), AtomicBool::new(false), AtomicU64::new(0));
    let signed_in = server.sign_in(&server.link);
    let before = resident();
    let highest = std::thread::scope(|scope| {
        let (over, server, signed_in) = (&over, &server, &signed_in);
        let streams = open_streams(server, load.tabs);
        scope.spawn(|| read_streams(streams, over, &events));
        let worst: Vec<_> = WORST
            .iter()
            .map(|(_, work)| {
                let browser = Browser {
                    server,
                    signed_in,
                    batch: load.batch,
                    items: load.items,
                };
                scope.spawn(move || {
                    let mut round = 0;
                    while !over.load(Ordering::Relaxed) {
                        work(&browser, round);
                        round += 1;
                        std::thread::sleep(Duration::from_millis(200));
                    }
                    round
                })
            })
            .collect();
        let memory = scope.spawn(|| {
            let mut highest = 0;
            while !over.load(Ordering::Relaxed) {
                highest = highest.max(resident());
                std::thread::sleep(Duration::from_millis(50));
            }
            highest
        });
        let end = Instant::now() + load.length;
        let tabs: Vec<_> = (0..load.tabs)
            .map(|number| {
                let seen = &seen;
                let tab = move || tab(server, number, load, end, seen);
                let builder = std::thread::Builder::new().stack_size(256 << 10);
                builder.spawn_scoped(scope, tab).unwrap()
            })
            .collect();
        tabs.into_iter().for_each(|tab| tab.join().unwrap());
        over.store(true, Ordering::Relaxed);
        for ((name, _), rounds) in WORST.iter().zip(worst) {
            println!("{name}: {} times", rounds.join().unwrap());
        }
        memory.join().unwrap()
    });
    let mut seen = seen.into_inner().unwrap();
    println!("milliseconds      p50      p99    p99.9    worst");
    for (name, times) in [("label", &mut seen.label), ("next", &mut seen.next)] {
        times.sort();
        let at = |share: f64| {
            let place = (share * times.len() as f64) as usize;
            let time = times.get(place.min(times.len().saturating_sub(1)));
            time.map_or(f64::NAN, |time| 1000.0 * time.as_secs_f64())
        };
        let [half, most, nearly, worst] = [0.5, 0.99, 0.999, 1.0].map(at);
        println!("{name:<12}{half:>9.1}{most:>9.1}{nearly:>9.1}{worst:>9.1}");
    }
    println!(
        "{} tabs, {} labels, {} events heard; memory of server and clients {} MiB before, {} MiB at most",
        load.tabs,
        seen.acknowledged.len(),
        events.load(Ordering::Relaxed),
        before >> 20,
        highest >> 20
    );
    assert_eq!(seen.wrong, BTreeMap::new());
    let wanted = load.labels_per_second * load.length.as_secs_f64();
    assert!(
        seen.acknowledged.len() as f64 > wanted / 4.0,
        "they labelled"
    );
    assert!(
        events.load(Ordering::Relaxed) > load.tabs as u64,
        "they heard of it"
    );
    server.stop();
    let project = Project::open(&path, Journal::Wal, 9_000).unwrap();
    for key in &seen.acknowledged {
        assert!(project.log().submission(key).is_some(), "{key} is lost");
    }
}

/// A person who asks, answers and waits.
fn tab(server: &Running, number: usize, load: &Load, end: Instant, seen: &Mutex<Seen>) {
    let (who, mut line) = (format!("p{number}"), Line::new(server, &[]));
    let pause = Duration::from_secs_f64(load.tabs as f64 / load.labels_per_second);
    let mut due = Instant::now() + pause.mul_f64(number as f64 / load.tabs as f64);
    for step in 0.. {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        if Instant::now() >= end {
            return;
        }
        due += pause;
        let wrong = |what: String| *seen.lock().unwrap().wrong.entry(what).or_default() += 1;
        let start = Instant::now();
        let asked = match line.post("/api/v1/next", &json!({"annotator": who})) {
            Ok((200, asked)) => asked,
            other => {
                wrong(format!("next: {other:?}"));
                continue;
            }
        };
        let took = start.elapsed();
        let Some(item) = asked["items"][0]["id"].as_str() else {
            wrong("told that everything is labelled".into());
            continue;
        };
        let key = format!("{number} {step}");
        let start = Instant::now();
        let stored = line.post("/api/v1/decisions", &label(&key, &who, item, step % 2));
        let mut seen = seen.lock().unwrap();
        seen.next.push(took);
        match stored {
            Ok((200, _)) => {
                seen.label.push(start.elapsed());
                seen.acknowledged.push(key);
            }
            other => *seen.wrong.entry(format!("label: {other:?}")).or_default() += 1,
        }
    }
}

/// A connection that is kept. A server closes one that was not used for a while: then the request is sent again.
struct Line {
    address: String,
    headers: String,
    stream: Option<TcpStream>,
}

impl Line {
    /// One of the owner, or with these headers.
    fn new(server: &Running, headers: &[(&str, &str)]) -> Line {
        let bearer = server.bearer();
        let mut all = vec![
            ("host", server.address.address.as_str()),
            ("x-dial", &server.address.project),
            ("x-dial-place", &server.address.place),
            ("content-type", "application/json"),
        ];
        match headers {
            [] => all.push(("authorization", &bearer)),
            headers => all.extend(headers),
        }
        let headers = all
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"));
        Line {
            address: server.address.address.clone(),
            headers: headers.collect(),
            stream: None,
        }
    }

    fn post(&mut self, path: &str, body: &Value) -> io::Result<(u16, Value)> {
        let body = body.to_string();
        let request = format!(
            "POST {path} HTTP/1.1\r\n{}content-length: {}\r\n\r\n{body}",
            self.headers,
            body.len()
        );
        let kept = self.stream.take();
        let used = kept.is_some();
        match self.exchange(kept, &request) {
            Err(error) if used && gone(&error) => self.exchange(None, &request),
            answer => answer,
        }
    }

    fn exchange(&mut self, kept: Option<TcpStream>, request: &str) -> io::Result<(u16, Value)> {
        let mut stream = match kept {
            Some(stream) => stream,
            None => TcpStream::connect(&self.address)?,
        };
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        stream.set_nodelay(true)?;
        stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        let (end, length) = loop {
            if let Some(end) = answer.windows(4).position(|part| part == b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
                let length = head.split("content-length: ").nth(1);
                let length = length.and_then(|rest| rest.lines().next()?.parse::<usize>().ok());
                break (end + 4, length.ok_or(ErrorKind::InvalidData)?);
            }
            more(&mut stream, &mut answer)?;
        };
        while answer.len() < end + length {
            more(&mut stream, &mut answer)?;
        }
        let status = String::from_utf8_lossy(&answer[9..12]).parse();
        let body = serde_json::from_slice(&answer[end..]).map_err(io::Error::other)?;
        self.stream = Some(stream);
        Ok((status.map_err(io::Error::other)?, body))
    }
}

fn more(stream: &mut TcpStream, answer: &mut Vec<u8>) -> io::Result<()> {
    let mut bytes = [0; 4096];
    match stream.read(&mut bytes)? {
        0 => Err(ErrorKind::UnexpectedEof.into()),
        read => {
            answer.extend_from_slice(&bytes[..read]);
            Ok(())
        }
    }
}

/// Whether the other end had closed the connection before.
fn gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe
    )
}

fn open_streams(server: &Running, count: usize) -> Vec<TcpStream> {
    let request = format!(
        "GET /api/v1/changes HTTP/1.1\r\nhost: {}\r\nauthorization: {}\r\n\r\n",
        server.address.address,
        server.bearer()
    );
    let open = |_| {
        let mut stream = TcpStream::connect(&server.address.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream.set_nonblocking(true).unwrap();
        stream
    };
    (0..count).map(open).collect()
}

/// Reads all streams until it is over, and counts what comes. None of them may end.
fn read_streams(mut streams: Vec<TcpStream>, over: &AtomicBool, events: &AtomicU64) {
    let mut bytes = [0; 4096];
    while !over.load(Ordering::Relaxed) {
        for stream in &mut streams {
            match stream.read(&mut bytes) {
                Ok(0) => panic!("an event stream ended"),
                Ok(read) => {
                    let text = String::from_utf8_lossy(&bytes[..read]);
                    let count = text.matches("event: ").count() as u64;
                    events.fetch_add(count, Ordering::Relaxed);
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A signed-in browser at its worst. What it is answered is its own business.
struct Browser<'a> {
    server: &'a Running,
    signed_in: &'a crate::common::Browser,
    batch: usize,
    items: usize,
}

type Work = fn(&Browser<'_>, usize);

/// The worst that a browser may do, after an attack on an earlier version.
const WORST: [(&str, Work); 18] = [
    ("a batch, and the same again", |browser, round| {
        let row = |row: usize| row % browser.items;
        let decisions: Vec<Value> = (0..browser.batch)
            .map(|at| json!({"kind": "label", "item": row(at).to_string(), "classes": [{"class": 0}]}))
            .collect();
        let batch = json!({"key": format!("batch {}", round / 5), "annotator": "worst", "replace": true, "decisions": decisions});
        browser.post("/api/v1/decisions", &batch);
        browser.post("/api/v1/decisions", &batch);
    }),
    ("many new classes, taken back", |browser, round| {
        let class = |at: usize| json!({"kind": "add-class", "name": format!("{round} {at}")});
        let decisions: Vec<Value> = (0..browser.batch).map(class).collect();
        let add =
            json!({"key": format!("add {round}"), "annotator": "classes", "decisions": decisions});
        browser.post("/api/v1/decisions", &add);
        let undo = json!([{"kind": "undo", "group": null}]);
        let undo =
            json!({"key": format!("undo {round}"), "annotator": "classes", "decisions": undo});
        browser.post("/api/v1/decisions", &undo);
    }),
    (
        "a label undone and redone in one submission",
        |browser, round| {
            let item = (browser.items - 1).to_string();
            let mut decisions =
                vec![json!({"kind": "label", "item": item, "classes": [{"class": round % 2}]})];
            let turn = |at: usize| json!({"kind": (["undo", "redo"][at % 2]), "group": null});
            decisions.extend((0..browser.batch).map(turn));
            let storm = json!({"key": format!("storm {round}"), "annotator": "turns", "replace": true, "decisions": decisions});
            browser.post("/api/v1/decisions", &storm);
        },
    ),
    ("undos and redos, one by one", |browser, round| {
        for at in 0..10 {
            let turn = json!([{"kind": (["undo", "redo"][at % 2]), "group": null}]);
            let turn = json!({"key": format!("turn {round} {at}"), "annotator": "turns", "decisions": turn});
            browser.post("/api/v1/decisions", &turn);
        }
    }),
    ("thirty exports", |browser, _| {
        browser.at_once(30, |_| "/api/v1/export?format=csv".into());
    }),
    ("status, twenty times", |browser, _| {
        browser.at_once(20, |_| "/api/v1/status".into())
    }),
    ("suspects, twenty times", |browser, _| {
        browser.at_once(20, |_| "/api/v1/suspects?limit=1000".into());
    }),
    ("history and disagreements", |browser, _| {
        browser.at_once(10, |number| match number % 2 {
            0 => "/api/v1/history?search=9&limit=1000".into(),
            _ => "/api/v1/disagreements?limit=1000".into(),
        });
    }),
    ("searches", |browser, _| {
        browser.at_once(10, |_| {
            "/api/v1/items?search=9&order=doubtful&limit=1000".into()
        });
    }),
    ("what the map shows", |browser, _| {
        browser.at_once(10, |number| {
            ["/api/v1/beliefs", "/api/v1/map"][number % 2].into()
        });
    }),
    ("ids of all rows", |browser, _| {
        let rows: Vec<usize> = (0..browser.items).collect();
        browser.post("/api/v1/ids", &json!({ "rows": rows }));
    }),
    ("imports", |browser, round| {
        let labels: Vec<Value> = (0..browser.batch)
            .map(|row| json!({"item": {"row": row, "rows": browser.items}, "place": "x", "content": {"kind": "mark", "mark": "skipped"}}))
            .collect();
        let import = json!({"source": "worst", "labels": labels, "key": format!("import {round}")});
        browser.post("/api/v1/import", &import);
    }),
    ("backups", |browser, _| {
        browser.post("/api/v1/backup", &json!({}));
    }),
    ("every question there is", |browser, round| {
        let who = format!("taker {round}");
        browser.post("/api/v1/next", &json!({"annotator": who, "count": 50}));
    }),
    ("answers that are not read", |browser, _| {
        let request = browser.head("GET", "/api/v1/project", "") + "\r\n";
        let open = |_| {
            let mut stream = TcpStream::connect(&browser.server.address.address).ok()?;
            stream.set_nonblocking(true).ok()?;
            let _ = stream.write(request.repeat(200).as_bytes());
            Some(stream)
        };
        let streams: Vec<_> = (0..20).map(open).collect();
        std::thread::sleep(Duration::from_secs(1));
        drop(streams);
    }),
    ("event streams that are not read", |browser, _| {
        let request = browser.head("GET", "/api/v1/changes", "") + "\r\n";
        let streams: Vec<_> = (0..50).map(|_| browser.open(&request)).collect();
        std::thread::sleep(Duration::from_secs(1));
        drop(streams);
    }),
    ("connections that say nothing", |browser, _| {
        let streams: Vec<_> = (0..100).map(|_| browser.open("")).collect();
        std::thread::sleep(Duration::from_secs(1));
        drop(streams);
    }),
    ("bodies that do not come", |browser, _| {
        let head = browser.head("POST", "/api/v1/import", "");
        let endless = head.clone() + "content-length: 100000000000\r\n\r\n";
        let late = head + "content-length: 1000000\r\n\r\n{";
        let streams: Vec<_> = (0..10)
            .flat_map(|_| [browser.open(&endless), browser.open(&late)])
            .collect();
        std::thread::sleep(Duration::from_secs(1));
        drop(streams);
    }),
];

impl Browser<'_> {
    fn head(&self, method: &str, path: &str, body: &str) -> String {
        let (host, project, place) = (
            &self.server.address.address,
            &self.signed_in.project,
            &self.signed_in.place,
        );
        let signed = self.signed_in.authorization(method, path, body);
        format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: {signed}\r\norigin: http://{host}\r\nx-dial: {project}\r\nx-dial-place: {place}\r\ncontent-type: application/json\r\n"
        )
    }

    /// A connection that has sent this, if it could be opened.
    fn open(&self, text: &str) -> Option<TcpStream> {
        let mut stream = TcpStream::connect(&self.server.address.address).ok()?;
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .ok()?;
        stream.write_all(text.as_bytes()).ok()?;
        Some(stream)
    }

    /// Sends a request and reads what comes until the connection ends.
    fn request(&self, head: &str, body: &str) {
        let length = body.len();
        let text = format!("{head}connection: close\r\ncontent-length: {length}\r\n\r\n{body}");
        if let Some(mut stream) = self.open(&text) {
            let _ = io::copy(&mut stream, &mut io::sink());
        }
    }

    fn post(&self, path: &str, body: &Value) {
        let body = body.to_string();
        self.request(&self.head("POST", path, &body), &body);
    }

    /// Asks for so many things at once.
    fn at_once(&self, count: usize, path: fn(usize) -> String) {
        std::thread::scope(|scope| {
            for number in 0..count {
                scope.spawn(move || self.request(&self.head("GET", &path(number), ""), ""));
            }
        });
    }
}

/// Undos and redos by one browser, as many as a submission holds and as fast as they are allowed, in a project with many labels.
#[test]
fn undos_of_one_browser_hold_nobody_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dial");
    let items = 30_000;
    make(
        &path,
        &Wish {
            pool: format!("builtin:moons:{items}"),
            ..Wish::default()
        },
    );
    let server = serve(&path, None);
    let labels: Vec<Value> = (0..20_000)
        .map(|row| json!({"item": {"row": row, "rows": items}, "place": "x", "content": {"kind": "label", "classes": [["up", 1.0]]}}))
        .collect();
    let import = json!({"source": "ann", "labels": labels, "key": "import"});
    server.post("/api/v1/import", &import).ok();
    let signed_in = server.sign_in(&server.link);
    server.label("own", "eve", "29999", 1).ok();
    let (over, worst) = (AtomicBool::new(false), Mutex::new(Duration::ZERO));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for at in 0.. {
                let start = Instant::now();
                let (key, item) = (format!("bob {at}"), (20_000 + at).to_string());
                server.label(&key, "bob", &item, 0).ok();
                let mut worst = worst.lock().unwrap();
                *worst = worst.max(start.elapsed());
                drop(worst);
                if over.load(Ordering::Relaxed) {
                    return;
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        let turn = |at: usize| json!({"kind": (["undo", "redo"][at % 2]), "group": null});
        let send = |key: &str, turns: Vec<Value>| {
            let sent = json!({"key": key, "annotator": "eve", "decisions": turns}).to_string();
            server.signed(&signed_in, "POST", "/api/v1/decisions", &sent)
        };
        for at in 0..40 {
            send(&format!("turn {at}"), vec![turn(at)]).ok();
        }
        send("storm", (0..500).map(turn).collect()).ok();
        over.store(true, Ordering::Relaxed);
    });
    let worst = worst.into_inner().unwrap();
    println!("the slowest label took {worst:?}");
    // A replay of this log for each of them took nine seconds in all.
    assert!(worst < Duration::from_secs(2), "{worst:?}");
}

/// Backups by one browser, one after the other, of a project with a long log.
#[test]
fn backups_of_one_browser_hold_nobody_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dial");
    let items = 30_000;
    make(
        &path,
        &Wish {
            pool: format!("builtin:moons:{items}"),
            ..Wish::default()
        },
    );
    let server = serve(&path, None);
    for who in ["ann", "bob", "cyn", "dan"] {
        let labels: Vec<Value> = (0..25_000)
        .map(|row| json!({"item": {"row": row, "rows": items}, "place": "x", "content": {"kind": "label", "classes": [["up", 1.0]]}}))
        .collect();
        let import = json!({"source": who, "annotator": who, "labels": labels, "key": who});
        server.post("/api/v1/import", &import).ok();
    }
    let signed_in = server.sign_in(&server.link);
    let (over, times) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let mut made = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for at in 0.. {
                let start = Instant::now();
                let (key, item) = (format!("eve {at}"), (25_000 + at).to_string());
                server.label(&key, "eve", &item, 0).ok();
                times.lock().unwrap().push(start.elapsed());
                if over.load(Ordering::Relaxed) {
                    return;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let (begin, mut working) = (Instant::now(), Duration::ZERO);
        while begin.elapsed() < Duration::from_secs(6) {
            let start = Instant::now();
            let answer = server.signed(&signed_in, "POST", "/api/v1/backup", "{}");
            made += 1;
            // The first one comes without a pause before it.
            if made == 1 {
                working = start.elapsed();
            }
            std::fs::remove_file(answer.ok()["file"].as_str().unwrap()).unwrap();
        }
        println!("{made} backups, the first in {working:?}");
        over.store(true, Ordering::Relaxed);
    });
    let mut times = times.into_inner().unwrap();
    times.sort();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)];
    println!("labels: p50 {:?}, p99 {:?}", at(50), at(99));
    // A session rests between them.
    assert!(made <= 12, "{made} backups in six seconds");
    assert!(at(100) < Duration::from_secs(2), "{:?}", at(100));
}
