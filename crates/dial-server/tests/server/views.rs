//! What is drawn of a whole pool, compared with what is said about single items and with the log.

use std::time::Duration;

use dial_store::{Decision, Journal, Project, Submission};
use serde_json::{Value, json};

use crate::common::{Answer, Running, Wish, make, new, serve};

/// Labels the items of a moons pool by their truth, every `step`-th from the first, and waits for the model.
fn label_some(server: &Running, count: usize, step: usize) -> u64 {
    let pool = dial_data::open(
        "builtin:moons:120",
        &Default::default(),
        0,
        &dial::Control::new(),
    )
    .unwrap();
    let truth = pool.truth.unwrap();
    let mut version = 0;
    for row in (0..count).map(|place| place * step) {
        let class = truth.labels[row].unwrap();
        version = server
            .label(&format!("row {row}"), "ann", &row.to_string(), class)
            .ok()["version"]
            .as_u64()
            .unwrap();
    }
    server.wait_for_model(version);
    version
}

/// The arrays of the belief: classes, probability, strength, variance, marks.
fn beliefs(answer: &Answer, n: usize) -> (Vec<u16>, [Vec<u8>; 4]) {
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, Some("application/octet-stream"))
    );
    assert_eq!(answer.body.len(), 6 * n);
    let classes = answer.body[..2 * n]
        .chunks(2)
        .map(|two| u16::from_le_bytes([two[0], two[1]]))
        .collect();
    (
        classes,
        [2, 3, 4, 5].map(|array| answer.body[array * n..(array + 1) * n].to_vec()),
    )
}

/// Waits until an answer is as wanted.
fn wait<T>(mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..3000 {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("it did not come");
}

#[test]
fn the_map_ends_with_neighbours_and_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("p.dial");
    make(&project, &Wish::default());
    let finished = |server: &Running| {
        wait(|| {
            let answer = server.get("/api/v1/map");
            match answer.status {
                404 => assert_eq!(answer.problem(), (404, "I12".into())),
                _ => assert!(
                    ["components", "moving", "neighbours"]
                        .contains(&answer.header("x-dial-layout").unwrap()),
                    "{answer:?}"
                ),
            }
            (answer.header("x-dial-layout") == Some("neighbours")).then_some(answer.body)
        })
    };
    let server = serve(&project, None);
    let first = finished(&server);
    let values: Vec<f32> = first
        .chunks(4)
        .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]))
        .collect();
    assert_eq!(values.len(), 240);
    assert!(values.iter().all(|value| value.abs() <= 1.0));
    let side = |i: usize| {
        values
            .iter()
            .skip(i)
            .step_by(2)
            .fold(0.0f32, |most, value| most.max(value.abs()))
    };
    assert_eq!(side(0).max(side(1)), 1.0, "the longer side is used up");
    server.stop();
    let server = serve(&project, None);
    // What was kept needs no way to it.
    let again = wait(|| Some(server.get("/api/v1/map")).filter(|answer| answer.status == 200));
    assert_eq!(
        (again.header("x-dial-layout"), again.body == first),
        (Some("neighbours"), true)
    );
}

#[test]
fn a_new_map_is_told() {
    use std::io::{Read, Write};
    let (_folder, server) = new(&Wish::default());
    let mut stream = std::net::TcpStream::connect(&server.address.address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let (host, bearer) = (&server.address.address, server.bearer());
    let head =
        format!("GET /api/v1/changes HTTP/1.1\r\nhost: {host}\r\nauthorization: {bearer}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut text = String::new();
    while !text.contains("event: map\ndata: {\"layout\":\"neighbours\"}") {
        let mut bytes = [0; 1024];
        let read = stream.read(&mut bytes).unwrap();
        assert!(read > 0, "the stream ended: {text}");
        text += &String::from_utf8_lossy(&bytes[..read]);
    }
}

#[test]
fn beliefs_say_what_the_list_of_items_says() {
    let (_folder, server) = new(&Wish::default());
    let version = label_some(&server, 12, 10);
    let answer = server.get("/api/v1/beliefs");
    assert_eq!(
        answer.header("x-dial-version"),
        Some(version.to_string().as_str())
    );
    let (classes, [probability, strength, variance, marks]) = beliefs(&answer, 120);
    let items = server.get("/api/v1/items?limit=1000").ok()["rows"]
        .as_array()
        .unwrap()
        .clone();
    let number = |value: &Value| value.as_f64().unwrap();
    let largest = items
        .iter()
        .map(|item| number(&item["belief"]["variance"]))
        .fold(0.0, f64::max);
    assert_eq!(items.len(), 120);
    for item in &items {
        let (row, belief) = (item["row"].as_u64().unwrap() as usize, &item["belief"]);
        assert_eq!(u64::from(classes[row]), belief["class"].as_u64().unwrap());
        let shares = belief["probabilities"].as_array().unwrap();
        let surest = shares
            .iter()
            .map(|share| number(&share["probability"]))
            .fold(0.0, f64::max);
        let evidence = number(&belief["evidence"]);
        for (got, want) in [
            (probability[row], surest),
            (strength[row], evidence / (1.0 + evidence)),
            (variance[row], number(&belief["variance"]) / largest),
        ] {
            assert_eq!(got, (255.0 * want).round() as u8, "row {row}");
        }
        assert_eq!(marks[row], u8::from(row % 10 == 0), "row {row}");
    }
    let told = json!({"key": "marks", "decisions": [{"kind": "skip", "item": "1"}, {"kind": "exclude", "item": "10"}]});
    server.post("/api/v1/decisions", &told).ok();
    let (_, [.., marks]) = beliefs(&server.get("/api/v1/beliefs"), 120);
    assert_eq!((marks[0], marks[1], marks[10], marks[11]), (1, 2, 4, 0));
}

#[test]
fn near_items_are_shown_and_lists_can_be_of_labelled_items_only() {
    let (_folder, server) = new(&Wish::default());
    label_some(&server, 12, 10);
    let card = server.get("/api/v1/item?row=5").ok();
    let near = card["nearest"].as_array().unwrap();
    assert_eq!(near.len(), 5);
    for one in near {
        let own = server
            .get(&format!("/api/v1/item?id={}", one["id"].as_str().unwrap()))
            .ok();
        assert_eq!(one["show"], own["show"]);
    }
    let page = server.get("/api/v1/items?labelled=true&limit=1000").ok();
    assert_eq!(page["total"], 12);
    assert!(
        page["rows"]
            .as_array()
            .unwrap()
            .iter()
            .all(|row| row["labels"][0]["annotator"] == "ann")
    );
    // What was stored as a conflict says its classes, so that it can be taken up again, also where it was unsure.
    let classes = json!([{"class": 0, "weight": 0.5}, {"class": 1, "weight": 0.5}]);
    let unsure = json!({"key": "u", "annotator": "ann", "decisions": [{"kind": "label", "item": "10", "classes": classes}]});
    assert_eq!(server.post("/api/v1/decisions", &unsure).problem().1, "C3");
    let conflicts = server.get("/api/v1/conflicts").ok();
    assert_eq!(
        (
            &conflicts["rows"][0]["item"],
            &conflicts["rows"][0]["classes"]
        ),
        (&json!("10"), &classes)
    );
}

#[test]
fn before_the_model_is_ready_beliefs_are_the_labels() {
    let (_folder, server) = new(&Wish {
        classes: vec!["only"],
        ..Wish::default()
    });
    let version = server.label("k", "", "7", 0).ok()["version"]
        .as_u64()
        .unwrap();
    server.wait_for_model(version);
    let (classes, arrays) = beliefs(&server.get("/api/v1/beliefs"), 120);
    assert_eq!(
        (
            classes[7],
            classes.iter().filter(|class| **class == 65535).count()
        ),
        (0, 119)
    );
    assert!(arrays[..3].iter().flatten().all(|value| *value == 0));
    assert_eq!(
        (
            arrays[3][7],
            arrays[3].iter().filter(|mark| **mark == 0).count()
        ),
        (1, 119)
    );
    assert_eq!(server.get("/api/v1/progress").ok()["points"], json!([]));
    assert_eq!(
        server.get("/api/v1/calibration").ok(),
        json!({"labels": 0, "bins": []})
    );
}

#[test]
fn rows_have_ids_and_items_can_be_had_by_row() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..20)
        .map(|row| format!("n{row},{},{}\n", row % 5, row / 5))
        .collect();
    std::fs::write(folder.path().join("t.csv"), format!("id,x,z\n{rows}")).unwrap();
    let (_project, server) = new(&Wish {
        pool: folder.path().join("t.csv").display().to_string(),
        ..Wish::default()
    });
    // The model begins on its own time; both answers are to be what it says.
    server.wait_for_model(
        server.get("/api/v1/project").ok()["version"]
            .as_u64()
            .unwrap(),
    );
    let by_id = server.get("/api/v1/item?id=n12").ok();
    assert_eq!(by_id["row"], 12);
    assert_eq!(
        server.post("/api/v1/ids", &json!({"rows": [12, 0]})).ok(),
        json!(["n12", "n0"])
    );
    assert_eq!(server.get("/api/v1/item?row=12").ok(), by_id);
    assert_eq!(
        server.post("/api/v1/ids", &json!({"rows": [20]})).problem(),
        (404, "I12".into())
    );
    assert_eq!(
        server
            .post("/api/v1/ids", &json!({"rows": vec![0; 100_001]}))
            .problem(),
        (422, "U1".into())
    );
    assert_eq!(
        server.get("/api/v1/item?row=20").problem(),
        (404, "I12".into())
    );
    for query in ["", "?id=n12&row=3"] {
        assert_eq!(
            server.get(&format!("/api/v1/item{query}")).problem(),
            (422, "U1".into())
        );
    }
}

#[test]
fn an_answer_changes_as_many_items_as_its_card_says() {
    let (_folder, server) = new(&Wish::default());
    let mut version = label_some(&server, 4, 30);
    let mut most = 0;
    for step in 0..4 {
        wait(|| (server.get("/api/v1/project").ok()["lookahead"] == true).then_some(()));
        let card = server.post("/api/v1/next", &json!({})).ok()["items"][0].clone();
        let changes = card["changes"].as_array().unwrap();
        assert_eq!(
            changes
                .iter()
                .map(|change| change["class"].as_u64().unwrap())
                .collect::<Vec<_>>(),
            [0, 1]
        );
        let (before, _) = beliefs(&server.get("/api/v1/beliefs"), 120);
        let class = (step % 2) as u16;
        version = version.max(
            server
                .label(&format!("s{step}"), "", card["id"].as_str().unwrap(), class)
                .ok()["version"]
                .as_u64()
                .unwrap(),
        );
        server.wait_for_model(version);
        let (after, _) = beliefs(&server.get("/api/v1/beliefs"), 120);
        let row = card["row"].as_u64().unwrap() as usize;
        let changed = (0..120)
            .filter(|other| *other != row && before[*other] != after[*other])
            .count() as u64;
        assert_eq!(changes[usize::from(class)]["items"].as_u64(), Some(changed));
        most = most.max(changed);
    }
    assert!(most > 0, "some answer changes something");
}

#[test]
fn a_scene_is_drawn_in_its_bands() {
    // 5 lines of 4 samples and 3 bands, by pixels; pixel 6 was not measured.
    let folder = tempfile::tempdir().unwrap();
    let header = "ENVI\nsamples = 4\nlines = 5\nbands = 3\ndata type = 4\ninterleave = bip\nbyte order = 0\n\
                  wavelength units = nm\nwavelength = {450, 550, 650}\n";
    std::fs::write(folder.path().join("s.hdr"), header).unwrap();
    let value = |pixel: usize, band: usize| match pixel {
        6 => 0.0,
        _ => [
            1.0 + pixel as f32,
            30.0 - pixel as f32,
            5.0 + (pixel * 7 % 20) as f32,
        ][band],
    };
    let values: Vec<u8> = (0..60)
        .flat_map(|place| value(place / 3, place % 3).to_le_bytes())
        .collect();
    std::fs::write(folder.path().join("s.img"), values).unwrap();
    let pool = folder.path().join("s.hdr").display().to_string();
    let (_project, server) = new(&Wish {
        pool,
        ..Wish::default()
    });
    let info = server.get("/api/v1/scene").ok();
    assert_eq!(
        info,
        json!({"height": 5, "width": 4, "bands": 3, "wavelengths": [450.0, 550.0, 650.0], "unit": "nm"})
    );
    let pixels = server.get("/api/v1/scene/pixels").body;
    let numbers: Vec<u32> = pixels
        .chunks(4)
        .map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
        .collect();
    assert_eq!(
        numbers,
        (0..20).filter(|pixel| *pixel != 6).collect::<Vec<u32>>()
    );
    let picture = |query: &str| {
        let answer = server.get(&format!("/api/v1/scene/image{query}"));
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (200, Some("image/png"))
        );
        let file = folder.path().join("picture.png");
        std::fs::write(&file, &answer.body).unwrap();
        let found = dial_data::media::images::load(file, None).unwrap();
        assert_eq!((found.width, found.height), (4, 5));
        found.rgb
    };
    // Red rises from pixel to pixel, green falls; the 2nd and 98th percentile of 19 values are the first and the last.
    let rgb = picture("?red=0&green=1&blue=0");
    assert!(
        rgb[18..21].iter().all(|light| *light < 30),
        "not measured: dark"
    );
    for pixel in (0..19).filter(|pixel| *pixel != 5 && *pixel != 6) {
        assert!(
            rgb[3 * pixel] < rgb[3 * pixel + 3] && rgb[3 * pixel + 1] > rgb[3 * pixel + 4],
            "pixel {pixel}"
        );
    }
    assert_eq!(
        (&rgb[..3], &rgb[57..]),
        (&[0, 255, 0][..], &[255, 0, 255][..])
    );
    assert_ne!(picture(""), rgb);
    for query in ["?red=0", "?red=0&green=1&blue=3"] {
        assert_eq!(
            server.get(&format!("/api/v1/scene/image{query}")).problem(),
            (422, "U1".into())
        );
    }
    let (_folder, other) = new(&Wish::default());
    for path in ["scene", "scene/pixels", "scene/image"] {
        assert_eq!(
            other.get(&format!("/api/v1/{path}")).problem(),
            (404, "I12".into())
        );
    }
}

#[test]
fn progress_grows_with_labels_shrinks_with_undo_and_survives() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("p.dial");
    make(&project, &Wish::default());
    let server = serve(&project, None);
    let labelled = |points: &Value| -> Vec<u64> {
        points
            .as_array()
            .unwrap()
            .iter()
            .map(|point| point["labelled"].as_u64().unwrap())
            .collect()
    };
    // A point comes shortly after the belief it is about.
    let wait_for = |server: &Running, last: u64| {
        wait(|| {
            let points = server.get("/api/v1/progress").ok()["points"].clone();
            (labelled(&points).last() == Some(&last)).then_some(points)
        })
    };
    for row in 0..14 {
        server
            .label(
                &format!("k{row}"),
                "",
                &(row * 8).to_string(),
                (row % 2) as u16,
            )
            .ok();
        wait_for(&server, row + 1);
    }
    let points = wait_for(&server, 14);
    assert_eq!(labelled(&points), (1..=14).collect::<Vec<u64>>());
    assert_eq!(
        (&points[0]["classes_met"], &points[1]["classes_met"]),
        (&json!(1), &json!(2))
    );
    let last = &points[13];
    let accuracy = &last["accuracy"];
    assert!(
        accuracy["low"].as_f64().unwrap() < accuracy["mean"].as_f64().unwrap(),
        "{last}"
    );
    assert_eq!(
        points[3]["accuracy"],
        json!(null),
        "four labels are too few"
    );
    assert_eq!(
        server.get("/api/v1/estimates").ok()["settled"],
        last["settled"]
    );
    let undo = json!({"key": "undo", "decisions": [{"kind": "undo", "group": null}]});
    server.post("/api/v1/decisions", &undo).ok();
    let points = wait_for(&server, 13);
    assert_eq!(labelled(&points), (1..=13).collect::<Vec<u64>>());
    server.stop();
    let server = serve(&project, None);
    assert_eq!(server.get("/api/v1/progress").ok()["points"], points);
}

#[test]
fn labels_given_without_a_server_are_points_of_progress_too() {
    let folder = tempfile::tempdir().unwrap();
    let figures = |points: &Value| -> Vec<Value> {
        let names = ["version", "labelled", "classes_met", "settled", "accuracy"];
        let of = |point: &Value| names.iter().map(|name| point[name].clone()).collect();
        points.as_array().unwrap().iter().map(of).collect()
    };
    let [seen, unseen] = ["seen", "unseen"].map(|name| {
        let project = folder.path().join(name);
        make(&project, &Wish::default());
        project
    });
    let item = |row: u64| (row * 7).to_string();
    let server = serve(&seen, None);
    for row in 0..16 {
        server
            .label(&format!("k{row}"), "", &item(row), (row % 2) as u16)
            .ok();
        wait(|| {
            let points = server.get("/api/v1/progress").ok()["points"].clone();
            (points.as_array().unwrap().len() as u64 == row + 1).then_some(())
        });
    }
    let expected = figures(&server.get("/api/v1/progress").ok()["points"]);
    let mut project = Project::open(&unseen, Journal::Wal, 1500).unwrap();
    for row in 0..16 {
        let label = Decision::label(&item(row), dial::ClassId((row % 2) as u16));
        let submission = Submission {
            key: format!("k{row}"),
            decisions: vec![label],
            ..Submission::default()
        };
        project.submit_one(submission, 1500).unwrap();
    }
    drop(project);
    let server = serve(&unseen, None);
    let points = wait(|| {
        let points = figures(&server.get("/api/v1/progress").ok()["points"]);
        (points.len() == 16).then_some(points)
    });
    assert_eq!(points, expected);
}

#[test]
fn labels_are_counted_once_for_all_who_ask() {
    let (_folder, server) = new(&Wish {
        classes: vec!["a", "b", "c"],
        ..Wish::default()
    });
    // Three of a, five of b; of one that is shared the larger part counts, of equal parts the first.
    for row in 0..8u16 {
        let (key, item) = (format!("k{row}"), (row * 3).to_string());
        server.label(&key, "ann", &item, u16::from(row > 2)).ok();
    }
    let share = |key: &str, item: &str, shares: [(u16, f64); 2]| {
        let classes = shares.map(|(class, weight)| json!({"class": class, "weight": weight}));
        let label = json!({"kind": "label", "item": item, "classes": classes});
        let sent = json!({"key": key, "annotator": "bob", "decisions": [label]});
        server.post("/api/v1/decisions", &sent).ok();
    };
    share("s", "100", [(2, 0.25), (0, 0.75)]);
    share("t", "101", [(1, 0.5), (0, 0.5)]);
    let exclude = json!({"key": "x", "decisions": [{"kind": "exclude", "item": "0"}]});
    server.post("/api/v1/decisions", &exclude).ok();
    let counts = || {
        let of = |path: &str| -> Vec<(String, u64)> {
            let found = server.get(path).ok()["classes"].clone();
            let class = |one: &Value| {
                let name = one["name"].as_str().unwrap().to_string();
                (name, one["labels"].as_u64().unwrap())
            };
            found.as_array().unwrap().iter().map(class).collect()
        };
        let (project, status) = (of("/api/v1/project"), of("/api/v1/status"));
        assert_eq!(project, status);
        project
    };
    let named = |counts: &[(&str, u64)]| -> Vec<(String, u64)> {
        counts
            .iter()
            .map(|(name, count)| (name.to_string(), *count))
            .collect()
    };
    assert_eq!(counts(), named(&[("a", 3), ("b", 6), ("c", 0)]));
    let merge = json!({"key": "m", "decisions": [{"kind": "merge-class", "from": 1, "into": 0}]});
    server.post("/api/v1/decisions", &merge).ok();
    assert_eq!(counts(), named(&[("a", 9), ("c", 0)]));
    // To say again what was said before the merge is nothing new, and two who said the one and the other agree.
    let again = server.label("again", "ann", "12", 0).ok();
    assert_eq!(again["known"], true);
    server.label("other", "eve", "12", 0).ok();
    assert_eq!(server.get("/api/v1/disagreements").ok()["total"], 0);
    assert_eq!(
        server.get("/api/v1/status").ok()["disagreements"],
        json!([])
    );
    let item = server.get("/api/v1/item?id=12").ok();
    assert_eq!(
        item["labels"][0]["classes"],
        json!([{"class": 0, "weight": 1.0}])
    );
}

#[test]
fn the_history_says_what_stands_and_what_was_turned() {
    let (_folder, server) = new(&Wish::default());
    let decide = |key: &str, decisions: Value| {
        let sent = json!({"key": key, "annotator": "ann", "decisions": decisions});
        server.post("/api/v1/decisions", &sent)
    };
    let rows = || server.get("/api/v1/history").ok()["rows"].clone();
    let flags = |row: &Value| (row["undone"] == true, row["undoable"] == true);
    let rename = decide(
        "n",
        json!([{"kind": "rename-class", "class": 0, "name": "above"}]),
    )
    .ok();
    assert_eq!(flags(&rows()[0]), (false, true));
    decide("u", json!([{"kind": "undo", "group": null}])).ok();
    let now = rows();
    let of = |row: &Value| (row["kind"].clone(), row["of"].clone(), row["text"].clone());
    assert_eq!(
        of(&now[0]),
        (
            json!("undo"),
            rename["group"].clone(),
            json!("renamed to above")
        )
    );
    assert_eq!(
        (flags(&now[0]), flags(&now[1])),
        ((false, false), (true, false))
    );
    // What is undone already is not something that others need.
    let again = decide("u2", json!([{"kind": "undo", "group": rename["group"]}]));
    assert_eq!(again.problem(), (409, "C5".into()));
    assert!(
        again.json()["detail"]
            .as_str()
            .unwrap()
            .contains("undone already"),
        "{again:?}"
    );
    decide("r", json!([{"kind": "redo", "group": null}])).ok();
    let now = rows();
    assert_eq!(
        (&now[0]["kind"], &now[0]["text"]),
        (&json!("redo"), &json!("renamed to above"))
    );
    assert_eq!(flags(&now[2]), (false, true));
    // One answer, and many.
    let label = |item: u32, class: u16| json!({"kind": "label", "item": item.to_string(), "classes": [{"class": class}]});
    decide("l", json!([label(3, 0)])).ok();
    decide("u3", json!([{"kind": "undo", "group": null}])).ok();
    decide("many", json!([label(4, 1), label(5, 1), label(6, 1)])).ok();
    decide("u4", json!([{"kind": "undo", "group": null}])).ok();
    let now = rows();
    assert_eq!(
        (&now[0]["item"], &now[0]["text"]),
        (&json!(null), &json!("3 labels: down"))
    );
    let single = now
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["item"] == "3")
        .unwrap();
    assert_eq!(
        (&single["kind"], &single["text"]),
        (&json!("undo"), &json!("above"))
    );
    // What cannot be undone says what builds on it, and how to find that.
    let added = decide("a", json!([{"kind": "add-class", "name": "odd"}])).ok();
    let first = decide("o", json!([label(9, 2)])).ok();
    let undo = |key: &str| decide(key, json!([{"kind": "undo", "group": added["group"]}]));
    let detail = |key: &str| undo(key).json()["detail"].as_str().unwrap().to_string();
    let needed = format!(
        "the label of 9, odd, (group {}) builds on it",
        first["group"]
    );
    assert!(detail("x").contains(&needed), "{}", detail("x2"));
    decide("o2", json!([label(10, 2), label(11, 2)])).ok();
    assert!(
        detail("y").contains("and 2 more decisions build on it"),
        "{}",
        detail("y2")
    );
}

#[test]
fn an_item_at_odds_is_listed_once_with_all_who_labelled_it() {
    let (_folder, server) = new(&Wish {
        overlap: 2,
        ..Wish::default()
    });
    label_some(&server, 24, 5);
    // A slip that two people made, and an answer shared between both classes.
    let truth = dial_data::open(
        "builtin:moons:120",
        &Default::default(),
        0,
        &dial::Control::new(),
    );
    let wrong = 1 - truth.unwrap().truth.unwrap().labels[1].unwrap();
    let mut version = 0;
    for who in ["ann", "bob"] {
        let stored = server.label(&format!("slip {who}"), who, "1", wrong).ok();
        version = stored["version"].as_u64().unwrap();
    }
    server.wait_for_model(version);
    let suspects = || {
        server.get("/api/v1/suspects").ok()["rows"]
            .as_array()
            .unwrap()
            .clone()
    };
    let of = |item: &str| {
        suspects()
            .into_iter()
            .filter(|row| row["id"] == item)
            .collect::<Vec<Value>>()
    };
    let [one] = &of("1")[..] else {
        panic!("{:?}", suspects());
    };
    let people: Vec<&str> = one["labels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|label| label["annotator"].as_str().unwrap())
        .collect();
    assert_eq!((people, &one["label"]), (vec!["ann", "bob"], &json!(wrong)));
    let shared = json!([{"class": 0, "weight": 0.5}, {"class": 1, "weight": 0.5}]);
    let unsure = json!({"key": "both", "annotator": "eve", "decisions": [{"kind": "label", "item": "2", "classes": shared}]});
    let stored = server.post("/api/v1/decisions", &unsure).ok();
    server.wait_for_model(stored["version"].as_u64().unwrap());
    assert_eq!(
        of("2"),
        Vec::<Value>::new(),
        "either class is what was said"
    );
}

#[test]
fn an_undo_says_how_many_items_it_took_back() {
    let (_folder, server) = new(&Wish {
        pool: "builtin:moons:1500".into(),
        ..Wish::default()
    });
    let label = |row: u32| json!({"kind": "label", "item": row.to_string(), "classes": [{"class": 0, "weight": 0.5}]});
    let many: Vec<Value> = (0..1200).map(label).collect();
    server
        .post(
            "/api/v1/decisions",
            &json!({"key": "many", "decisions": many}),
        )
        .ok();
    for (key, kind) in [("u", "undo"), ("r", "redo")] {
        let turn = json!({"key": key, "decisions": [{"kind": kind, "group": null}]});
        let stored = server.post("/api/v1/decisions", &turn).ok();
        assert_eq!(
            (
                stored["turned"].as_u64(),
                stored["items"].as_array().map(Vec::len)
            ),
            (Some(1200), Some(1000))
        );
    }
}

#[test]
fn calibration_counts_every_label_left_out() {
    let (_folder, server) = new(&Wish::default());
    label_some(&server, 24, 5);
    // One that the others contradict.
    let version = server.label("wrong", "bob", "3", 1).ok()["version"]
        .as_u64()
        .unwrap();
    server.wait_for_model(version);
    let found = server.get("/api/v1/calibration").ok();
    let bins = found["bins"].as_array().unwrap();
    assert_eq!(
        (found["labels"].as_u64(), bins.len()),
        (Some(25), 5),
        "bins of five"
    );
    let number = |bin: &Value, name: &str| bin[name].as_f64().unwrap();
    for bin in bins {
        assert_eq!(bin["count"], 5);
        assert!(
            number(bin, "low") <= number(bin, "mean") && number(bin, "mean") <= number(bin, "high")
        );
    }
    assert!(
        bins.windows(2)
            .all(|pair| number(&pair[0], "high") <= number(&pair[1], "low"))
    );
    let wrong: f64 = bins
        .iter()
        .map(|bin| 5.0 * (1.0 - number(bin, "right")))
        .sum();
    assert_eq!(
        wrong.round() as u64,
        server.get("/api/v1/suspects").ok()["total"]
            .as_u64()
            .unwrap()
    );
}

#[test]
fn items_are_found_by_their_words_and_shown() {
    let (_folder, server) = new(&Wish {
        pool: "builtin:texts:90".into(),
        ..Wish::default()
    });
    server.wait_for_model(1);
    let first = server.get("/api/v1/items?limit=1").ok()["rows"][0].clone();
    let text = first["show"]["text"].as_str().unwrap().to_string();
    assert_eq!(first["show"]["kind"], "text");
    let word = text
        .split_whitespace()
        .max_by_key(|word| word.len())
        .unwrap()
        .to_uppercase();
    let encoded: String = word.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let found = server
        .get(&format!("/api/v1/items?search={encoded}&limit=1000"))
        .ok();
    let rows = found["rows"].as_array().unwrap();
    assert!(
        !rows.is_empty() && rows.len() < 90 && found["total"] == rows.len(),
        "{} rows",
        rows.len()
    );
    for row in rows {
        let (id, text) = (
            row["id"].as_str().unwrap(),
            row["show"]["text"].as_str().unwrap(),
        );
        assert!(
            text.to_uppercase().contains(&word) || id.to_uppercase().contains(&word),
            "{text}"
        );
        assert!(text.chars().count() <= 400);
    }
    let by_id = server.get("/api/v1/items?search=89").ok();
    assert!(
        by_id["rows"]
            .as_array()
            .unwrap()
            .iter()
            .any(|row| row["id"] == "89")
    );
    // The most certain first, the most doubtful the other way round.
    let order = |word: &str| -> Vec<u64> {
        let rows = server
            .get(&format!("/api/v1/items?order={word}&limit=1000"))
            .ok()["rows"]
            .clone();
        rows.as_array()
            .unwrap()
            .iter()
            .map(|row| row["row"].as_u64().unwrap())
            .collect()
    };
    server.label("a", "", "0", 0).ok();
    let version = server.label("b", "", "50", 1).ok()["version"]
        .as_u64()
        .unwrap();
    server.wait_for_model(version);
    assert_ne!(order("certain"), order("doubtful"));
    assert_eq!(order("certain").len(), 90);
}
