//! The same pool, configuration and answers give the same questions from a simulation, from `dial ask` and from a server,
//! with and without initial labels, and whether classes are known or met one by one. (Python compares its sessions with
//! simulations in `python/tests/test_same_questions.py`.)

use dial::graph::EdgeWeights;
use dial_store::{Journal, Project};

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
        let serving = place.serve(&format!("{served}.dial"));
        assert_eq!(asked(&place, &served), want, "{}: a server", case.name);
        serving.end();
    }
}

/// Projects whose next item does not depend on the model alone.
const SHARED: [&str; 3] = ["--overlap 2", "--audit 0.4", "--overlap 2 --audit 0.4"];

/// What two people are asked who take turns.
fn taking_turns(place: &Place, project: &str) -> Vec<String> {
    let ask = |turn: usize| {
        let who = ["ann", "bob"][turn % 2];
        let line = format!("ask {project}.dial --annotator {who} --quiet");
        let item = place.line(&line).ok().out.trim().to_string();
        let class = label(place, &item);
        let line = format!("tell {project}.dial {item} {class} --annotator {who} --quiet");
        place.line(&line).ok();
        item
    };
    (0..QUESTIONS).map(ask).collect()
}

/// Of every label, whether its item was drawn at random.
fn audits(place: &Place, project: &str) -> Vec<bool> {
    let folder = place.path(&format!("{project}.dial"));
    let project = Project::open(&folder, Journal::Wal, 0).unwrap();
    let labels = project.log().records().iter().filter(|record| {
        let change = record.change();
        matches!(change, Some(dial::Change::Label { .. }))
    });
    labels.map(|record| record.provenance.audit).collect()
}

#[test]
fn several_people_and_audits_are_asked_the_same_with_and_without_a_server() {
    let place = place();
    for (case, options) in SHARED.iter().enumerate() {
        let (alone, served) = (format!("alone-{case}"), format!("served-{case}"));
        for name in [&alone, &served] {
            let line = format!(
                "new pool.csv --classes left,right --k 6 {options} --project {name} --quiet"
            );
            place.line(&line).ok();
        }
        let asked = taking_turns(&place, &alone);
        let audits = audits(&place, &alone);
        // Where two are to answer, the second is asked for what the first has just answered; a random item comes before it.
        let pairs = asked.chunks(2).filter(|pair| pair[0] == pair[1]).count();
        match *options {
            "--overlap 2" => assert_eq!(pairs, QUESTIONS / 2, "{asked:?}"),
            "--audit 0.4" => assert_eq!(pairs, 0, "{asked:?}"),
            _ => assert!((1..QUESTIONS / 2).contains(&pairs), "{asked:?}"),
        }
        let drawn = audits.iter().filter(|audit| **audit).count();
        assert_eq!(drawn > 0, options.contains("audit"), "{options}");
        let serving = place.serve(&format!("{served}.dial"));
        let by_server = taking_turns(&place, &served);
        serving.end();
        assert_eq!(by_server, asked, "{options}");
        assert_eq!(self::audits(&place, &served), audits, "{options}");
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
        // A sparse matrix does not say how it was made.
        let folder = place.path(&format!("{name}.dial"));
        let project = Project::open(&folder, Journal::Wal, 0).unwrap();
        let recipe = project.log().recipe().unwrap();
        let made = (graph == "g.dialgraph").then_some(EdgeWeights::Symmetric);
        assert_eq!(
            (recipe.config.weights, recipe.graph.is_none()),
            (made, made.is_some())
        );
        if made.is_some() {
            assert_eq!(recipe.config.k, 6);
        }
    }
}
