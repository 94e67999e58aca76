//! Labels go on whatever the model does: faults C9 and C12, and what is computed ahead.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dial::{ClassId, Control};
use dial_store::{Decision, Entry, Follower, Journal, Memory, News, Project, Submission};
use serde_json::json;

use crate::common::{Wish, before_following, make, new, serve};

#[test]
fn a_model_that_breaks_loses_no_label_and_comes_back() {
    let broken = Arc::new(AtomicU64::new(1));
    let switch = Arc::clone(&broken);
    let wish = Wish {
        before_following: before_following(move |_| {
            assert_eq!(
                switch.load(Ordering::Relaxed),
                0,
                "the model breaks on purpose"
            )
        }),
        ..Wish::default()
    };
    let (_folder, server) = new(&wish);
    for step in 0..5 {
        // Questions come from the order that needs no model.
        let asked = server.post("/api/v1/next", &json!({})).ok();
        let item = asked["items"][0]["id"].as_str().unwrap().to_string();
        server.label(&format!("k{step}"), "", &item, step % 2).ok();
    }
    let banner = (0..100).find_map(|_| {
        std::thread::sleep(Duration::from_millis(20));
        server.get("/api/v1/project").ok()["banner"]
            .as_str()
            .map(str::to_string)
    });
    assert!(
        banner.unwrap().starts_with("Labels are safe"),
        "a banner says so"
    );
    broken.store(0, Ordering::Relaxed);
    let version = server.get("/api/v1/project").ok()["version"]
        .as_u64()
        .unwrap();
    let project = server.wait_for_model(version);
    assert_eq!(
        (
            project["labelled"].as_u64(),
            project["banner"].as_str(),
            &project["model_ready"]
        ),
        (Some(5), None, &json!(true))
    );
}

#[test]
fn an_export_names_classes_rightly_while_the_model_is_behind() {
    // The model stops before it has seen any change of the schema.
    let held = Arc::new(AtomicU64::new(u64::MAX));
    let gate = Arc::clone(&held);
    let wait = move |version| {
        while version >= gate.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let (_folder, server) = new(&Wish {
        classes: vec!["a", "b", "c"],
        before_following: before_following(wait),
        ..Wish::default()
    });
    let mut version = 0;
    for row in 0..30 {
        version = server
            .label(
                &format!("k{row}"),
                "",
                &(4 * row).to_string(),
                [0, 2][usize::from(row >= 15)],
            )
            .ok()["version"]
            .as_u64()
            .unwrap();
    }
    server.wait_for_model(version);
    let predicted = |class: &str| {
        let text = String::from_utf8(server.get("/api/v1/export?format=jsonl").body).unwrap();
        let rows = text
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        rows.filter(|row| row["predicted"] == class).count()
    };
    let before = (predicted("a"), predicted("c"));
    assert!(before.0 > 15 && before.1 > 15, "{before:?}");
    held.store(version + 1, Ordering::SeqCst);
    let decide = |key: &str, deed: serde_json::Value| {
        server
            .post(
                "/api/v1/decisions",
                &json!({"key": key, "decisions": [deed]}),
            )
            .ok();
    };
    decide("fourth", json!({"kind": "add-class", "name": "d"}));
    assert_eq!(
        (predicted("a"), predicted("c"), predicted("d")),
        (before.0, before.1, 0)
    );
    decide(
        "merge",
        json!({"kind": "merge-class", "from": 0, "into": 1}),
    );
    assert_eq!(
        (predicted("b"), predicted("c"), predicted("d")),
        (before.0, before.1, 0)
    );
    held.store(u64::MAX, Ordering::SeqCst);
}

#[test]
fn a_slow_model_holds_nobody_up() {
    let wish = Wish {
        before_following: before_following(|version| {
            std::thread::sleep(Duration::from_millis(if version > 4 {
                3_600_000
            } else {
                0
            }))
        }),
        ..Wish::default()
    };
    let (_folder, server) = new(&wish);
    server.wait_for_model(1);
    for step in 0..20u64 {
        let asked = server.post("/api/v1/next", &json!({})).ok();
        let item = asked["items"][0]["id"].as_str().unwrap().to_string();
        let stored = server.label(&format!("k{step}"), "", &item, 0).ok();
        assert!(stored["version"].as_u64().unwrap() > asked["model_version"].as_u64().unwrap());
    }
    // The process ends while the model sleeps: a test would wait an hour for it otherwise.
    std::mem::forget(server);
}

#[test]
fn stopping_in_the_middle_keeps_everything() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("p.dial");
    make(
        &project,
        &Wish {
            pool: "builtin:moons:2000".into(),
            ..Wish::default()
        },
    );
    let mut expected = 0;
    for round in 0..3 {
        let server = serve(&project, None);
        for step in 0..4 {
            server
                .label(
                    &format!("{round}-{step}"),
                    "",
                    &format!("{}", round * 100 + step * 7),
                    0,
                )
                .ok();
            expected += 1;
        }
        // The model is in the middle of its work.
        server.stop();
        assert!(
            !project.join("project.db-wal").exists(),
            "the log of the database was brought in"
        );
    }
    let server = serve(&project, None);
    assert_eq!(server.get("/api/v1/project").ok()["labelled"], expected);
}

#[test]
fn the_lookahead_has_the_next_question_for_every_answer() {
    // The same answers, with and without time to think ahead, lead to the same questions.
    let (_a, quick) = new(&Wish::default());
    let (_b, patient) = new(&Wish::default());
    let run = |server: &crate::common::Running, wait: bool| -> Vec<String> {
        let mut items = Vec::new();
        for step in 0..8u64 {
            let version = server.get("/api/v1/project").ok()["version"]
                .as_u64()
                .unwrap();
            if wait || step == 0 {
                server.wait_for_model(version);
                while server.get("/api/v1/project").ok()["lookahead"] != true {
                    std::thread::sleep(Duration::from_millis(10));
                }
            }
            let asked = server.post("/api/v1/next", &json!({})).ok();
            let item = asked["items"][0]["id"].as_str().unwrap().to_string();
            server
                .label(&format!("k{step}"), "", &item, u16::from(step % 2 == 0))
                .ok();
            items.push(item);
        }
        items
    };
    let (fast, slow) = (run(&quick, false), run(&patient, true));
    assert_eq!(
        fast[..2],
        slow[..2],
        "the second question was in the lookahead: {fast:?} {slow:?}"
    );
}

#[test]
fn random_questions_measure_the_accuracy() {
    let (_folder, server) = new(&Wish {
        audit: 0.5,
        ..Wish::default()
    });
    let truth = dial_data::open(
        "builtin:moons:120",
        &Default::default(),
        0,
        &dial::Control::new(),
    )
    .unwrap()
    .truth
    .unwrap();
    let mut audits = 0;
    for step in 0..30 {
        let version = server.get("/api/v1/project").ok()["version"]
            .as_u64()
            .unwrap();
        server.wait_for_model(version);
        let asked = server.post("/api/v1/next", &json!({})).ok();
        let item = &asked["items"][0];
        audits += u64::from(item["audit"].as_bool().unwrap());
        let id = item["id"].as_str().unwrap();
        server
            .label(
                &format!("k{step}"),
                "",
                id,
                truth.labels[id.parse::<usize>().unwrap()].unwrap(),
            )
            .ok();
    }
    assert!(
        (5..26).contains(&audits),
        "{audits} of 30 at a share of a half"
    );
    let version = server.get("/api/v1/project").ok()["version"]
        .as_u64()
        .unwrap();
    server.wait_for_model(version);
    let audit = server.get("/api/v1/estimates").ok()["audit"].clone();
    assert_eq!(audit[1].as_u64(), Some(audits));
    let (low, high) = (
        audit[0]["low"].as_f64().unwrap(),
        audit[0]["high"].as_f64().unwrap(),
    );
    assert!(low < high && high <= 1.0, "{audit}");
}

#[test]
fn a_question_drawn_at_random_is_one_after_a_restart_too() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("p.dial");
    make(
        &project,
        &Wish {
            audit: 0.5,
            ..Wish::default()
        },
    );
    let server = serve(&project, None);
    let mut item = String::new();
    for step in 0..40 {
        let asked = server.post("/api/v1/next", &json!({})).ok()["items"][0].clone();
        item = asked["id"].as_str().unwrap().to_string();
        if asked["audit"] == true {
            break;
        }
        server
            .label(&format!("k{step}"), "", &item, (step % 2) as u16)
            .ok();
    }
    server.stop();
    let server = serve(&project, None);
    let mut version = 0;
    for (key, row) in [("a", "0"), ("b", "119")] {
        let stored = server.label(key, "", row, u16::from(key == "b")).ok();
        version = stored["version"].as_u64().unwrap();
    }
    // What was believed before the answer is what is measured: something must be believed.
    server.wait_for_model(version);
    let version = server.label("audit", "", &item, 0).ok()["version"]
        .as_u64()
        .unwrap();
    server.wait_for_model(version);
    assert_eq!(server.get("/api/v1/estimates").ok()["audit"][1], 1);
}

#[test]
fn before_there_are_two_classes_the_model_asks_and_believes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("p.dial");
    make(
        &place,
        &Wish {
            classes: vec![],
            ..Wish::default()
        },
    );
    // What a session that follows the same log asks.
    let control = Control::new();
    let mut opened = Project::open(&place, Journal::Wal, 1500).unwrap();
    let (prepared, _) = opened.prepared(&control, 1500).unwrap();
    let ask = |project: &Project| {
        let news = News::whole(project.log());
        let follower = Follower::new(&prepared.engine, news, &control).unwrap();
        follower.session().ask(1).unwrap().questions.remove(0).item
    };
    let expected = ask(&opened);
    // The answer to it, and what is asked after that.
    let add = Decision::AddClass { name: "cat".into() };
    let cat = Submission {
        key: "cat".into(),
        decisions: vec![add, Decision::label(&expected, ClassId(0))],
        ..Submission::default()
    };
    let mut answered = Project::on(Box::new(Memory::new("m")), None, None).unwrap();
    let first = opened
        .log()
        .records()
        .iter()
        .map(|record| match &record.entry {
            Entry::Recipe(recipe) => Decision::Recipe(recipe.clone()),
            entry => match entry {
                Entry::Change(change) => Decision::from(change.clone()),
                other => panic!("{other:?} in a new project"),
            },
        });
    let first = Submission {
        key: "new".into(),
        decisions: first.collect(),
        ..Submission::default()
    };
    answered.submit_one(first, 1500).unwrap();
    answered.submit_one(cat.clone(), 1500).unwrap();
    let second = ask(&answered);
    assert_ne!(expected, second);
    drop(opened);

    let server = serve(&place, None);
    let version = server.get("/api/v1/project").ok()["version"]
        .as_u64()
        .unwrap();
    let project = server.wait_for_model(version);
    assert_eq!(
        (
            project["classes"].as_array().unwrap().len(),
            &project["model_ready"]
        ),
        (0, &json!(false))
    );
    assert_eq!(server.get("/api/v1/estimates").ok(), json!(null));
    let asked = server.post("/api/v1/next", &json!({})).ok();
    let card = &asked["items"][0];
    assert_eq!(card["id"], json!(expected));
    assert!(
        card["score"].is_number() && card["belief"].is_null(),
        "{card}"
    );
    // One class and a label of it: the model has followed, and there is still nothing to believe.
    let stored = server
        .post("/api/v1/decisions", &serde_json::to_value(&cat).unwrap())
        .ok();
    let project = server.wait_for_model(stored["version"].as_u64().unwrap());
    assert_eq!(project["model_ready"], json!(false));
    assert_eq!(server.get("/api/v1/estimates").ok(), json!(null));
    let asked = server.post("/api/v1/next", &json!({})).ok();
    assert_eq!(asked["items"][0]["id"], json!(second));
    let add = json!({"key": "dog", "decisions": [{"kind": "add-class", "name": "dog"}]});
    server.post("/api/v1/decisions", &add).ok();
    let version = server.label("k", "", &second, 1).ok()["version"]
        .as_u64()
        .unwrap();
    assert_eq!(server.wait_for_model(version)["model_ready"], json!(true));
}
