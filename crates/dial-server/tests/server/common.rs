//! A server on a small pool, and a client that says exactly what it is told to.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use dial::{Config, Control};
use dial_data::ReadOptions;
use dial_server::{Address, Obstacle, Server, Settings};
use dial_store::{Decision, Folder, Journal, Material, Project, Recipe};
use serde_json::{Value, json};

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
    pub obstacle: Option<Obstacle>,
}

impl Default for Wish {
    fn default() -> Wish {
        Wish {
            pool: "builtin:moons:120".into(),
            classes: vec!["up", "down"],
            overlap: 1,
            audit: 0.0,
            obstacle: None,
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
    let material = Material::of(pool, &recipe, None, &Control::new()).unwrap();
    let add = |name: &&str| Decision::AddClass {
        name: name.to_string(),
    };
    let mut first: Vec<Decision> = wish.classes.iter().map(add).collect();
    let settings = material
        .engine
        .settle(wish.classes.len().max(2), &Control::new())
        .unwrap();
    first.push(Decision::from(settings));
    Project::create(
        folder,
        Journal::Wal,
        &material.recipe,
        material.pool.ids.as_deref(),
        first,
        1000,
    )
    .unwrap();
}

/// Serves a project that is there.
pub fn serve(folder: &Path, obstacle: Option<Obstacle>) -> Running {
    let project = Project::open(folder, Journal::Wal, 2000).unwrap();
    let recipe = project.log().recipe().unwrap().clone();
    let material = Material::open(&recipe, &Folder(folder.to_path_buf()), &Control::new()).unwrap();
    let server = Server::start(
        project,
        material,
        &Settings {
            obstacle,
            ..Settings::default()
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
    let running = serve(&project, wish.obstacle.clone());
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

    /// Signs a browser in: the value of its Cookie header.
    pub fn sign_in(&self, link: &str) -> String {
        let path = link.split_once(&self.address.address).unwrap().1;
        let answer = self.send("GET", path, &[], None);
        assert_eq!(answer.status, 303, "{answer:?}");
        answer
            .header("set-cookie")
            .unwrap()
            .split(';')
            .next()
            .unwrap()
            .to_string()
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
        let body = bytes.get(end + 4..).unwrap_or_default().to_vec();
        Answer {
            status,
            headers: lines.filter_map(pair).collect(),
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
pub fn obstacle(work: impl Fn(u64) + Send + Sync + 'static) -> Option<Obstacle> {
    Some(Arc::new(work))
}
