//! A server on a small pool, and a client that says exactly what it is told to.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use dial::{Config, Control};
use dial_data::ReadOptions;
use dial_server::{Address, BeforeFollowing, Server, ServerOptions};
use dial_store::{Decision, Folder, Journal, PreparedPool, Project, Recipe};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A server that runs until it is dropped.
pub struct Running {
    pub address: Address,
    pub link: String,
    end: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// How the project of a test differs from the usual one.
#[derive(Clone)]
pub struct Wish {
    pub pool: String,
    pub classes: Vec<&'static str>,
    pub overlap: usize,
    pub audit: f64,
    pub before_following: Option<BeforeFollowing>,
}

impl Default for Wish {
    fn default() -> Wish {
        Wish {
            pool: "builtin:moons:120".into(),
            classes: vec!["up", "down"],
            overlap: 1,
            audit: 0.0,
            before_following: None,
        }
    }
}

/// Makes a project.
pub fn make(folder: &Path, wish: &Wish) {
    let pool = dial_data::open(&wish.pool, &ReadOptions::default(), 0, &Control::new()).unwrap();
    let recipe = Recipe {
        overlap: wish.overlap,
        audit: wish.audit,
        config: Config {
            k: 8,
            metric: pool.metric,
            ..Config::default()
        },
        ..Recipe::new(&wish.pool, ReadOptions::default())
    };
    let prepared = PreparedPool::of(pool, &recipe, None, &Control::new()).unwrap();
    let add = |name: &&str| Decision::AddClass {
        name: name.to_string(),
    };
    let mut first: Vec<Decision> = wish.classes.iter().map(add).collect();
    let settings = prepared
        .engine
        .fix_prior(wish.classes.len().max(2), &Control::new())
        .unwrap();
    first.push(Decision::from(settings));
    Project::create(
        folder,
        Journal::Wal,
        &prepared.recipe,
        prepared.pool.ids.as_deref(),
        first,
        1000,
    )
    .unwrap();
}

/// Serves a project that is there.
pub fn serve(folder: &Path, before_following: Option<BeforeFollowing>) -> Running {
    let project = Project::open(folder, Journal::Wal, 2000).unwrap();
    let recipe = project.log().recipe().unwrap().clone();
    let prepared =
        PreparedPool::open(&recipe, &Folder(folder.to_path_buf()), &Control::new()).unwrap();
    let server = Server::start(
        project,
        prepared,
        &ServerOptions {
            before_following,
            ..ServerOptions::default()
        },
    )
    .unwrap();
    let (address, link) = (server.address.clone(), server.link().unwrap());
    let (end, ended) = tokio::sync::oneshot::channel();
    let thread = std::thread::spawn(move || {
        server.run(async { drop(ended.await) }).unwrap();
    });
    Running {
        address,
        link,
        end: Some(end),
        thread: Some(thread),
    }
}

/// A new project in a folder of its own, served.
pub fn new(wish: &Wish) -> (tempfile::TempDir, Running) {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("p.dial");
    make(&project, wish);
    let running = serve(&project, wish.before_following.clone());
    (folder, running)
}

impl Running {
    /// Stops it and waits until it is over.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }

    /// A request of the owner.
    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[("authorization", &self.bearer())], None)
    }

    /// A change by the owner.
    pub fn post(&self, path: &str, body: &Value) -> Answer {
        let bearer = self.bearer();
        let headers = [
            ("authorization", bearer.as_str()),
            ("x-dial", &self.address.project),
            ("content-type", "application/json"),
        ];
        self.send("POST", path, &headers, Some(body.to_string().as_bytes()))
    }

    pub fn bearer(&self) -> String {
        format!("Bearer {}", self.address.token)
    }

    /// Labels an item with a class.
    pub fn label(&self, key: &str, who: &str, item: &str, class: u16) -> Answer {
        self.post("/api/v1/decisions", &label(key, who, item, class))
    }

    /// A request with these headers; `host` among them takes the place of the usual one.
    pub fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> Answer {
        let mut text = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "host") {
            text += &format!("host: {}\r\n", self.address.address);
        }
        for (name, value) in headers {
            text += &format!("{name}: {value}\r\n");
        }
        if let Some(body) = body {
            text += &format!("content-length: {}\r\n", body.len());
        }
        text += "\r\n";
        self.raw(&[text.as_bytes(), body.unwrap_or_default()].concat())
    }

    /// Whatever bytes; the answer is read to its end.
    pub fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(&self.address.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        // A server that refuses early may close before it has read everything.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        Answer::parse(&answer)
    }

    /// Signs a browser in.
    pub fn sign_in(&self, link: &str) -> Browser {
        let answer = self.try_sign_in(link).ok();
        let text = |name: &str| answer[name].as_str().unwrap().to_string();
        Browser {
            host: self.address.address.clone(),
            run: self.address.run.clone(),
            project: self.address.project.clone(),
            place: self.address.place.clone(),
            session: text("session"),
            key: text("key"),
        }
    }

    /// What is answered to a browser that opens a link.
    pub fn try_sign_in(&self, link: &str) -> Answer {
        let code = link.split_once("/#launch=").unwrap().1;
        let headers = [
            ("content-type", "application/json"),
            (
                "user-agent",
                "Mozilla/5.0 (X11; Linux x86_64) Firefox/143.0",
            ),
        ];
        let body = json!({ "code": code }).to_string();
        self.send("POST", "/sign-in", &headers, Some(body.as_bytes()))
    }

    /// A request that a browser signs.
    pub fn signed(&self, browser: &Browser, method: &str, path: &str, body: &str) -> Answer {
        let authorization = browser.authorization(method, path, body);
        let headers = [
            ("authorization", authorization.as_str()),
            ("x-dial", &browser.project),
            ("x-dial-place", &browser.place),
            ("content-type", "application/json"),
        ];
        let answer = self.send(method, path, &headers, Some(body.as_bytes()));
        let nonce = authorization.split('.').nth(1).unwrap();
        if answer.status != 401 {
            assert!(
                browser.is_proven(&answer, method, path, nonce, body),
                "{answer:?}"
            );
        }
        answer
    }

    /// Waits until the model has followed to a version.
    pub fn wait_for_model(&self, version: u64) -> Value {
        for _ in 0..600 {
            let project = self.get("/api/v1/project").json();
            if project["model_version"].as_u64().unwrap() >= version {
                return project;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("the model did not follow to {version}");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.end.take());
    }
}

/// A browser that is signed in. It signs as docs/api.md says, with code of its own.
#[derive(Clone)]
pub struct Browser {
    pub host: String,
    pub run: String,
    pub project: String,
    pub place: String,
    pub session: String,
    pub key: String,
}

impl Browser {
    fn text(&self, method: &str, path: &str, nonce: &str, body: &str) -> String {
        let Browser { run, host, .. } = self;
        format!(
            "{run}\n{host}\n{method}\n{path}\n{nonce}\n{}",
            sha256(body.as_bytes())
        )
    }

    /// The value of the header `Authorization`.
    pub fn authorization(&self, method: &str, path: &str, body: &str) -> String {
        let nonce = dial_store::random_id().unwrap();
        let text = format!("dial request\n{}", self.text(method, path, &nonce, body));
        let signature = hmac_sha256(self.key.as_bytes(), text.as_bytes());
        let (session, body) = (&self.session, sha256(body.as_bytes()));
        format!("Dial {session}.{nonce}.{body}.{signature}")
    }

    fn is_proven(
        &self,
        answer: &Answer,
        method: &str,
        path: &str,
        nonce: &str,
        body: &str,
    ) -> bool {
        let exchange = self.text(method, path, nonce, body);
        let head = format!("dial answer\n{exchange}\n{}\n", answer.status);
        // The proof of an answer without a length was made before its body: it covers the head only.
        let proven = answer
            .header("content-length")
            .map_or(&[][..], |_| &answer.body);
        let text = [head.as_bytes(), proven].concat();
        let proof = hmac_sha256(self.key.as_bytes(), &text);
        answer.header("x-dial-proof") == Some(&proof)
    }
}

fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// HMAC as RFC 2104 writes it, for keys of at most 64 bytes.
pub fn hmac_sha256(key: &[u8], text: &[u8]) -> String {
    let pad = |with: u8| {
        let mut block = [with; 64];
        block.iter_mut().zip(key).for_each(|(at, byte)| *at ^= byte);
        block
    };
    let inner = Sha256::digest([&pad(0x36)[..], text].concat());
    hex(&Sha256::digest([&pad(0x5c)[..], &inner].concat()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The body that labels an item with a class.
pub fn label(key: &str, who: &str, item: &str, class: u16) -> Value {
    let decision = json!({"kind": "label", "item": item, "classes": [{"class": class}]});
    json!({"key": key, "annotator": who, "decisions": [decision]})
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    fn parse(bytes: &[u8]) -> Answer {
        let end = bytes
            .windows(4)
            .position(|window| window == b"\r\n\r\n")
            .unwrap_or(bytes.len());
        let head = String::from_utf8_lossy(&bytes[..end]).to_string();
        let mut lines = head.lines();
        let status = lines
            .next()
            .and_then(|line| line.split(' ').nth(1))
            .and_then(|code| code.parse().ok())
            .unwrap_or(0);
        let pair = |line: &str| {
            line.split_once(": ")
                .map(|(name, value)| (name.to_ascii_lowercase(), value.to_string()))
        };
        let body = bytes.get(end + 4..).unwrap_or_default();
        let headers: Vec<(String, String)> = lines.filter_map(pair).collect();
        let chunked =
            |(name, value): &(String, String)| name == "transfer-encoding" && value == "chunked";
        let body = match headers.iter().any(chunked) {
            true => unchunked(body),
            false => body.to_vec(),
        };
        Answer {
            status,
            headers,
            body,
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(other, _)| other == name)
            .map(|(_, value)| value.as_str())
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("{} {}", self.status, String::from_utf8_lossy(&self.body)))
    }

    /// The JSON of a success.
    #[track_caller]
    pub fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.body));
        self.json()
    }

    /// The status and the code of a problem.
    #[track_caller]
    pub fn problem(&self) -> (u16, String) {
        assert_eq!(
            self.header("content-type"),
            Some("application/problem+json"),
            "{self:?}"
        );
        (
            self.status,
            self.json()["code"].as_str().unwrap().to_string(),
        )
    }
}

/// Puts something in the way of the model.
pub fn before_following(work: impl Fn(u64) + Send + Sync + 'static) -> Option<BeforeFollowing> {
    Some(Arc::new(work))
}

/// The memory that this process holds, in bytes; 0 where that cannot be seen.
pub fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<usize>().ok());
    kilobytes.unwrap_or(0) << 10
}

/// The body of an answer that came in chunks.
fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    loop {
        let end = body.windows(2).position(|pair| pair == b"\r\n");
        let size = end.and_then(|end| std::str::from_utf8(&body[..end]).ok());
        let size = size.and_then(|size| usize::from_str_radix(size, 16).ok());
        // One that is cut short is as long as it is.
        let (Some(end), Some(size @ 1..)) = (end, size) else {
            return whole;
        };
        let part = body.get(end + 2..end + 2 + size).unwrap_or_default();
        whole.extend_from_slice(part);
        body = body.get(end + 2 + size + 2..).unwrap_or_default();
    }
}
