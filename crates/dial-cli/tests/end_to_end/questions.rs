//! The same pool, configuration and answers give the same questions from a simulation, from `dial ask` and from a server,
//! with and without initial labels, and whether classes are known or met one by one. (Python compares its sessions with
//! simulations in `python/tests/test_same_questions.py`.)

use dial_store::{Folder, Journal, Material, Project};
use tokio::sync::oneshot;

use crate::run::{Place, rows};

const QUESTIONS: usize = 30;

/// 160 rows in four overlapping groups, two to a class, with ids; half of them hold the labels, half do not.
fn place() -> Place {
    let row = |row: usize| {
        let (group, place) = (row * 7 % 4, row as f64);
        let (x, y) = (f64::from(group as u8 % 2), f64::from(group as u8 / 2));
        let noise = |k: f64| (place * k).sin() * 0.45;
        let class = ["left", "right"][group % 2];
        (format!("i{row}"), x + noise(12.9), y + noise(78.2), class)
    };
    let all: Vec<(String, f64, f64, &str)> = (0..160).map(row).collect();
    let features: String = all
        .iter()
        .map(|(id, x, y, _)| format!("{id},{x},{y}\n"))
        .collect();
    let labels: String = all
        .iter()
        .map(|(id, _, _, class)| format!("{id},{class}\n"))
        .collect();
    Place::with("pool.csv", format!("id,x,y\n{features}"))
        .and("labels.csv", format!("id,label\n{labels}"))
}

fn label(place: &Place, item: &str) -> String {
    let labels = String::from_utf8(place.read("labels.csv")).unwrap();
    let line = labels
        .lines()
        .find(|line| line.starts_with(&format!("{item},")))
        .unwrap();
    line.split_once(',').unwrap().1.to_string()
}

/// A case: how the simulation starts and what it knows, and the same of a project.
struct Case {
    name: &'static str,
    initial: &'static [&'static str],
    known: bool,
    settings: &'static str,
}

const CASES: [Case; 6] = [
    Case {
        name: "fresh",
        initial: &[],
        known: true,
        settings: "",
    },
    Case {
        name: "begun",
        initial: &["i3", "i8"],
        known: true,
        settings: "",
    },
    Case {
        name: "open",
        initial: &[],
        known: false,
        settings: "",
    },
    Case {
        name: "open-begun",
        initial: &["i3", "i8"],
        known: false,
        settings: "",
    },
    Case {
        name: "paper",
        initial: &[],
        known: true,
        settings: "--acquisition variance --policy proportional --seed 3",
    },
    Case {
        name: "heat",
        initial: &["i3", "i8"],
        known: false,
        settings: "--propagation heat --heat-time 2 --source-value 2",
    },
];

/// What a simulation asks.
fn simulated(place: &Place, case: &Case) -> Vec<String> {
    let initial = if case.initial.is_empty() {
        "none".into()
    } else {
        case.initial.join(",")
    };
    let classes = if case.known { "known" } else { "met" };
    let (name, settings) = (case.name, case.settings);
    let line = format!(
        "simulate pool.csv --labels labels.csv --initial {initial} --classes {classes} --queries {QUESTIONS} \
         --trials 1 --k 6 {settings} --out {name}.csv --quiet"
    );
    place.line(&line).ok();
    let csv = String::from_utf8(place.read(&format!("{name}.csv"))).unwrap();
    let asked = rows(&csv).into_iter().filter_map(|row| row.node);
    let asked: Vec<String> = asked.map(|node| format!("i{node}")).collect();
    assert_eq!(asked.len(), QUESTIONS);
    asked
}

/// A project of the same pool and settings, its initial labels told.
fn project(place: &Place, case: &Case, name: &str) {
    let classes = if case.known {
        "--classes left,right"
    } else {
        ""
    };
    let settings = case.settings;
    let line = format!("new pool.csv {classes} --k 6 {settings} --project {name} --quiet");
    place.line(&line).ok();
    for item in case.initial {
        tell(place, name, item);
    }
}

fn tell(place: &Place, project: &str, item: &str) {
    let line = format!(
        "tell {project}.dial {item} {} --add-classes --quiet",
        label(place, item)
    );
    place.line(&line).ok();
}

/// What `dial ask` asks, whoever has the project.
fn asked(place: &Place, project: &str) -> Vec<String> {
    let ask = |_| {
        let item = place
            .line(&format!("ask {project}.dial --quiet"))
            .ok()
            .out
            .trim()
            .to_string();
        tell(place, project, &item);
        item
    };
    (0..QUESTIONS).map(ask).collect()
}

#[test]
fn simulations_projects_and_servers_ask_the_same() {
    let place = place();
    for case in &CASES {
        let want = simulated(&place, case);
        project(&place, case, case.name);
        assert_eq!(asked(&place, case.name), want, "{}: dial ask", case.name);
        let served = format!("{}-served", case.name);
        project(&place, case, &served);
        let folder = place.path(&format!("{served}.dial"));
        let project = Project::open(&folder, Journal::Wal, 0).unwrap();
        let recipe = project.log().recipe().unwrap().clone();
        let material = Material::open(&recipe, &Folder(folder), &dial::Control::new()).unwrap();
        let settings = dial_server::Settings::default();
        let server = dial_server::Server::start(project, material, &settings).unwrap();
        let (end, ended) = oneshot::channel::<()>();
        let running = std::thread::spawn(move || server.run(async { drop(ended.await) }).unwrap());
        assert_eq!(asked(&place, &served), want, "{}: a server", case.name);
        end.send(()).unwrap();
        running.join().unwrap();
    }
}

#[test]
fn a_graph_that_was_saved_asks_what_one_that_is_built_asks() {
    let place = place();
    let line = |graph: &str, out: &str| {
        format!(
            "simulate pool.csv --labels labels.csv --initial none --queries {QUESTIONS} --trials 1 {graph} --out {out} --quiet"
        )
    };
    place
        .line("graph pool.csv --k 6 --weights symmetric --out g.npz --quiet")
        .ok();
    place
        .line("graph pool.csv --k 6 --weights symmetric --out g.dialgraph --quiet")
        .ok();
    let nodes = |name: &str| -> Vec<Option<usize>> {
        let csv = String::from_utf8(place.read(name)).unwrap();
        rows(&csv).into_iter().map(|row| row.node).collect()
    };
    place.line(&line("--k 6", "built.csv")).ok();
    for graph in ["g.npz", "g.dialgraph"] {
        place
            .line(&line(&format!("--graph {graph}"), "saved.csv"))
            .ok();
        assert_eq!(nodes("saved.csv"), nodes("built.csv"), "{graph}");
        let name = graph.replace('.', "-");
        let new =
            format!("new pool.csv --classes left,right --graph {graph} --project {name} --quiet");
        place.line(&new).ok();
        let want: Vec<String> = nodes("built.csv")
            .into_iter()
            .flatten()
            .map(|n| format!("i{n}"))
            .collect();
        assert_eq!(asked(&place, &name), want, "a project on {graph}");
    }
}

/// One way of every kind of decision, typed; what the log then calls it.
const TYPED: [(&str, &str); 11] = [
    ("label", "tell p.dial i5 left"),
    ("skip", "skip p.dial i6"),
    ("exclude", "exclude p.dial i7"),
    ("undo", "undo p.dial"),
    ("redo", "redo p.dial"),
    ("add-class", "class p.dial add odd"),
    ("rename-class", "class p.dial rename odd even"),
    ("merge-class", "class p.dial merge even left"),
    ("style-class", "class p.dial style left #112233 x"),
    ("weight", "weight p.dial ann 2"),
    ("resolve", "resolve p.dial --all"),
];

/// Where the command has what the interface has; what is only for drawing has a reason.
const PATHS: [(&str, &str); 25] = [
    ("/api/v1/project", "status"),
    ("/api/v1/status", "status"),
    ("/api/v1/next", "ask"),
    ("/api/v1/decisions", "tell"),
    ("/api/v1/item", "predict"),
    ("/api/v1/items", "predict"),
    ("/api/v1/history", "log"),
    ("/api/v1/conflicts", "status"),
    ("/api/v1/disagreements", "status"),
    ("/api/v1/estimates", "predict"),
    ("/api/v1/export", "export"),
    ("/api/v1/import", "import"),
    ("/api/v1/backup", "backup"),
    ("/api/v1/launch", "label"),
    ("/api/v1/suspects", "predict"),
    ("/api/v1/beliefs", "export"),
    ("/api/v1/ids", "export"),
    ("/api/v1/media", "only drawn"),
    ("/api/v1/map", "only drawn"),
    ("/api/v1/scene", "only drawn"),
    ("/api/v1/scene/pixels", "only drawn"),
    ("/api/v1/scene/image", "only drawn"),
    ("/api/v1/progress", "only drawn"),
    ("/api/v1/calibration", "only drawn"),
    ("/api/v1/changes", "a stream for pages that stay open"),
];

#[test]
fn the_command_has_what_the_interface_has() {
    let document = serde_json::to_value(dial_server::document()).unwrap();
    let kinds = document["components"]["schemas"]["Decision"]["oneOf"]
        .as_array()
        .unwrap();
    let kind = |one: &serde_json::Value| {
        let kind = &one["properties"]["kind"];
        let word = kind["enum"][0].as_str().or(kind["const"].as_str());
        word.unwrap_or_else(|| panic!("{one}")).to_string()
    };
    let mut kinds: Vec<String> = kinds.iter().map(kind).collect();
    let mut typed: Vec<String> = TYPED.iter().map(|(kind, _)| kind.to_string()).collect();
    kinds.sort();
    typed.sort();
    assert_eq!(typed, kinds, "every kind of decision is typed somewhere");
    let mut paths: Vec<&String> = document["paths"].as_object().unwrap().keys().collect();
    paths.sort();
    let mut listed: Vec<&str> = PATHS.iter().map(|(path, _)| *path).collect();
    listed.sort_unstable();
    assert_eq!(listed, paths, "every path is listed");

    let place = place();
    place
        .line("new pool.csv --classes left,right --k 6 --project p --quiet")
        .ok();
    // Something for resolve to resolve.
    place.line("tell p.dial i9 left").ok();
    assert_eq!(place.line("tell p.dial i9 right").code, 6);
    for (kind, line) in TYPED {
        place.line(line).ok();
        let log = place.line("log p.dial --limit 3 --json").ok().json();
        let found: Vec<&str> = log["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["kind"].as_str().unwrap())
            .collect();
        let stored = if kind == "resolve" { "resolved" } else { kind };
        assert!(found.contains(&stored), "{line}: {found:?}");
    }
    for (path, verb) in PATHS.iter().filter(|(_, verb)| !verb.contains(' ')) {
        assert_eq!(
            place.line(&format!("{verb} --help")).code,
            0,
            "{path}: dial {verb}"
        );
    }
}
