//! The loop of asking and telling over HTTP, and what people do to it.

use serde_json::json;

use crate::common::{Wish, new};

#[test]
fn ask_and_tell_until_the_belief_is_right() {
    let (_folder, server) = new(&Wish::default());
    let truth = dial_data::open(
        "builtin:moons:120",
        &Default::default(),
        0,
        &dial::Control::new(),
    )
    .unwrap()
    .truth
    .unwrap();
    for step in 0..12 {
        let project = server.get("/api/v1/project").ok();
        server.wait_for_model(project["version"].as_u64().unwrap());
        let asked = server
            .post("/api/v1/next", &json!({"annotator": "ann"}))
            .ok();
        let item = asked["items"][0]["id"].as_str().unwrap().to_string();
        let class = truth.labels[item.parse::<usize>().unwrap()].unwrap();
        let stored = server.label(&format!("k{step}"), "ann", &item, class).ok();
        assert_eq!(stored["repeated"], false);
        assert_eq!(stored["late"], false);
    }
    let version = server.get("/api/v1/project").ok()["version"]
        .as_u64()
        .unwrap();
    let project = server.wait_for_model(version);
    assert_eq!(
        (
            project["labelled"].as_u64(),
            project["annotators"]["ann"].as_u64()
        ),
        (Some(12), Some(12))
    );
    let items = server.get("/api/v1/items?limit=1000").ok();
    let right = items["rows"].as_array().unwrap().iter().filter(|row| {
        truth.labels[row["row"].as_u64().unwrap() as usize]
            == row["belief"]["class"].as_u64().map(|class| class as u16)
    });
    assert!(
        right.count() >= 110,
        "most of 120 items are believed to be what they are"
    );
    let estimates = server.get("/api/v1/estimates").ok();
    assert!(estimates["settled"].as_f64().unwrap() > 0.3, "{estimates}");
    assert!(
        !estimates["advice"]["reasons"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    server.stop();
}
