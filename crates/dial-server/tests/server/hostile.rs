//! Strings that would like to be code, clients that never finish, and backups while people label: X4, W4 and S10.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dial_data::media::images::Bitmap;
use dial_store::{Journal, Project};
use serde_json::{Value, json};

use crate::common::{Running, Wish, make, new, resident, serve};

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

/// A connection that has sent this.
fn open(server: &Running, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(&server.address.address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    stream
}

/// The owner labels an item, which may not take long.
#[track_caller]
fn label_soon(server: &Running, item: &str) {
    let start = Instant::now();
    server.label(item, "ann", item, 0).ok();
    let took = start.elapsed();
    assert!(took < Duration::from_secs(8), "{took:?}");
}

#[test]
fn clients_that_never_finish_do_not_keep_others_out() {
    let (_folder, server) = new(&Wish::default());
    // More than there are places for: they say nothing, or half of a head.
    let mut slow: Vec<TcpStream> = (0..400)
        .map(|number| {
            open(
                &server,
                if number % 2 == 0 {
                    ""
                } else {
                    "GET / HTTP/1.1\r\nhost: x"
                },
            )
        })
        .collect();
    label_soon(&server, "1");
    let mut rest = Vec::new();
    slow[1]
        .read_to_end(&mut rest)
        .expect("the server has closed it");
    assert!(!String::from_utf8_lossy(&rest).contains("200 OK"));
}

/// 20 KB a second is slow, and more than nothing. Whoever reads so gets its export, and holds up no other program of the owner.
#[test]
fn a_slow_reader_gets_its_export_and_holds_nobody_up() {
    let folder = tempfile::tempdir().unwrap();
    let (pool, project) = (
        folder.path().join("long.jsonl"),
        folder.path().join("p.dial"),
    );
    // More than the buffers of the system take.
    let row = |row: usize| {
        let words = format!("word{} ", row % 9).repeat(20_000);
        json!({"id": format!("r{row}"), "text": format!("number{row} {words}")}).to_string()
    };
    fs::write(&pool, (0..100).map(row).collect::<Vec<_>>().join("\n")).unwrap();
    let wish = Wish {
        pool: pool.display().to_string(),
        ..Wish::default()
    };
    make(&project, &wish);
    let server = serve(&project, None);
    let mut stream = open(
        &server,
        &format!(
            "GET /api/v1/export?format=jsonl&labels_only=true&original_columns=true HTTP/1.1\r\nhost: {}\r\n\
             authorization: {}\r\nconnection: close\r\n\r\n",
            server.address.address,
            server.bearer()
        ),
    );
    let (mut all, mut part) = (Vec::new(), vec![0; 20_000]);
    for second in 0..30 {
        stream.read_exact(&mut part).unwrap();
        all.extend_from_slice(&part);
        std::thread::sleep(Duration::from_secs(1));
        if second == 5 {
            let start = Instant::now();
            server.get("/api/v1/status").ok();
            let took = start.elapsed();
            assert!(took < Duration::from_secs(8), "{took:?}");
        }
    }
    stream.read_to_end(&mut all).unwrap();
    assert!(
        all.len() > 10_000_000 && all.ends_with(b"\r\n0\r\n\r\n"),
        "{} bytes, and not all",
        all.len()
    );
}

/// Programs that keep their connections and do nothing more with them.
#[test]
fn idle_connections_of_the_owner_do_not_keep_the_owner_out() {
    let (_folder, server) = new(&Wish::default());
    let request = format!(
        "GET /api/v1/project HTTP/1.1\r\nhost: {}\r\nauthorization: {}\r\n\r\n",
        server.address.address,
        server.bearer()
    );
    // A server of a test has as many as the process may open files, and both ends are in this one.
    let mut held = Vec::new();
    for number in 0..750 {
        let Ok(mut stream) = TcpStream::connect(&server.address.address) else {
            break;
        };
        stream.write_all(request.as_bytes()).unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        assert_eq!(&head, b"HTTP/1.1 200", "{number}");
        held.push(stream);
    }
    println!("{} idle connections", held.len());
    label_soon(&server, "1");
}

#[test]
fn clients_that_never_read_do_not_keep_others_out() {
    let (_folder, server) = new(&Wish::default());
    let host = &server.address.address;
    // Requests without a secret, one after the other, whose answers nobody reads.
    for path in ["/base.css", "/launch?code=x", "/"] {
        let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n\r\n");
        let unread: Vec<TcpStream> = (0..205)
            .map(|_| {
                let mut stream = TcpStream::connect(host).unwrap();
                stream.set_nonblocking(true).unwrap();
                // As much as fits.
                let _ = stream.write(request.repeat(2_000).as_bytes());
                stream
            })
            .collect();
        label_soon(&server, &path.len().to_string());
        drop(unread);
    }
}

#[test]
fn the_event_streams_of_one_browser_do_not_keep_others_out() {
    let (_folder, server) = new(&Wish::default());
    let browser = server.sign_in(&server.link);
    let signed = browser.authorization("GET", "/api/v1/changes", "");
    let request = format!(
        "GET /api/v1/changes HTTP/1.1\r\nhost: {}\r\nauthorization: {signed}\r\n\r\n",
        server.address.address
    );
    let mut streams: Vec<TcpStream> = (0..205).map(|_| open(&server, &request)).collect();
    label_soon(&server, "1");
    // They are all served.
    for stream in &mut streams {
        let mut answer = [0; 15];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200 OK");
    }
}

#[test]
fn pictures_that_take_much_memory_are_decoded_one_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let pictures = folder.path().join("pictures");
    fs::create_dir(&pictures).unwrap();
    // 36 million pixels in a few kilobytes.
    let bomb = Bitmap {
        width: 6_000,
        height: 6_000,
        rgb: vec![7; 3 * 36_000_000],
    };
    let bomb = bomb.to_png();
    for number in 0..6 {
        fs::write(pictures.join(format!("bomb{number}.png")), &bomb).unwrap();
    }
    for number in 0..12u8 {
        let small = Bitmap {
            width: 8,
            height: 8,
            rgb: (0..192u8).map(|value| value.wrapping_mul(number)).collect(),
        };
        fs::write(pictures.join(format!("{number}.png")), small.to_png()).unwrap();
    }
    let project = folder.path().join("p.dial");
    let pool = pictures.display().to_string();
    make(
        &project,
        &Wish {
            pool,
            ..Wish::default()
        },
    );
    let server = serve(&project, None);
    let before = resident();
    let (highest, over) = (Mutex::new(0), AtomicBool::new(false));
    let over = &over;
    std::thread::scope(|scope| {
        let asked: Vec<_> = (0..6)
            .map(|number| {
                let server = &server;
                let path = format!("/api/v1/media?id=bomb{number}.png&side=64");
                scope.spawn(move || server.get(&path))
            })
            .collect();
        let highest = &highest;
        scope.spawn(move || {
            while !over.load(Ordering::Relaxed) {
                let now = resident();
                let mut highest = highest.lock().unwrap();
                *highest = now.max(*highest);
                drop(highest);
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        for one in asked {
            let answer = one.join().unwrap();
            assert_eq!(answer.status, 200, "{answer:?}");
        }
        over.store(true, Ordering::Relaxed);
    });
    // One of them takes 108 MB as it is, and about as much again on the way; six at once took three times this limit.
    let (highest, limit) = (highest.into_inner().unwrap(), 350 << 20);
    let grown = highest.saturating_sub(before);
    assert!(grown < limit, "{} MiB more", grown >> 20);
    // What was made is kept.
    let start = Instant::now();
    for _ in 0..50 {
        assert_eq!(server.get("/api/v1/media?id=bomb3.png&side=64").status, 200);
    }
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn rows_that_are_none_of_the_pool_are_refused_by_an_import() {
    let (_folder, server) = new(&Wish::default());
    let import = |rows: Vec<(u64, u64)>| {
        let labels: Vec<Value> = rows
            .into_iter()
            .map(|(row, rows)| json!({"item": {"row": row, "rows": rows}, "place": "x", "content": {"kind": "mark", "mark": "skipped"}}))
            .collect();
        server.post(
            "/api/v1/import",
            &json!({"source": "x", "labels": labels, "key": "k"}),
        )
    };
    for rows in [
        vec![(120, 120); 120],
        vec![(u64::MAX, 120)],
        vec![(0, 120), (120, 120)],
        vec![(0, 5)],
        vec![(0, 0)],
    ] {
        assert_eq!(import(rows).problem(), (422, "I12".into()));
    }
    assert_eq!(server.get("/api/v1/status").ok()["skipped"], 0);
    // The same row several times is one mark.
    import(vec![(7, 120); 3]).ok();
    assert_eq!(server.get("/api/v1/status").ok()["skipped"], 1);
}

#[test]
fn large_bodies_of_one_browser_wait_outside() {
    let (_folder, server) = new(&Wish::default());
    let browser = server.sign_in(&server.link);
    let blanks = " ".repeat(30_000_000);
    let body = format!("{{\"source\": \"x\", \"key\": \"k\", \"labels\": [{blanks}]}}");
    let path = "/api/v1/import";
    let authorization = browser.authorization("POST", path, &body);
    let headers = [
        ("authorization", authorization.as_str()),
        ("x-dial", &browser.project),
        ("x-dial-place", &browser.place),
        ("content-type", "application/json"),
    ];
    let before = resident();
    let (highest, over) = (Mutex::new(before), AtomicBool::new(false));
    let head = headers.map(|(name, value)| format!("{name}: {value}\r\n"));
    let head = format!(
        "POST {path} HTTP/1.1\r\nconnection: close\r\nhost: {}\r\n{}content-length: {}\r\n\r\n",
        server.address.address,
        head.concat(),
        body.len()
    );
    let send = || {
        let mut stream = TcpStream::connect(&server.address.address).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer[9..12]).into_owned()
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let mut highest = highest.lock().unwrap();
                *highest = resident().max(*highest);
                drop(highest);
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let sending: Vec<_> = (0..20).map(|_| scope.spawn(send)).collect();
        label_soon(&server, "1");
        for one in sending {
            assert_eq!(one.join().unwrap(), "200");
        }
        over.store(true, Ordering::Relaxed);
    });
    // Two of them have room at once, where all twenty were 600 MB.
    let more = highest.into_inner().unwrap() - before;
    assert!(more < 250_000_000, "{} MB more", more / 1_000_000);
    // What may not pass is not read at all.
    let mut stranger = open(
        &server,
        &format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\nauthorization: {authorization}\r\ncontent-length: 60000000\r\n\r\n",
            server.address.address
        ),
    );
    let mut answer = [0; 12];
    stranger.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 403");
}

#[test]
fn thirty_exports_at_once_are_all_whole() {
    let (_folder, server) = new(&Wish {
        pool: "builtin:moons:3000".into(),
        ..Wish::default()
    });
    server.label("a", "ann", "1", 0).ok();
    let version = server.label("b", "ann", "2", 1).ok()["version"]
        .as_u64()
        .unwrap();
    server.wait_for_model(version);
    let exports: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..30)
            .map(|_| {
                scope.spawn(|| {
                    let answer = server.get("/api/v1/export?format=csv");
                    assert_eq!(answer.status, 200, "{answer:?}");
                    answer.body
                })
            })
            .collect();
        asked.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let first = String::from_utf8(exports[0].clone()).unwrap();
    assert_eq!(
        first.lines().count(),
        3001,
        "a head and a line for each item"
    );
    assert!(exports.iter().all(|other| *other == exports[0]));
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
