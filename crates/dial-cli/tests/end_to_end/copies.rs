//! Items that show the same: `dial doctor` reports them, and a project asks for each group once.

use std::collections::BTreeSet;

use serde_json::json;

use crate::run::Place;

/// Nine texts: `a`, `d` and `g` are the same, `b` and `e` differ in case and punctuation, `c` and `h` are the same.
const TEXTS: [(&str, &str); 9] = [
    ("a", "the cat purrs on the warm sofa"),
    ("b", "engine oil and brakes of the truck"),
    ("c", "a kitten drinks milk"),
    ("d", "the cat purrs on the warm sofa"),
    ("e", "Engine oil, and brakes of the TRUCK!"),
    ("f", "the truck has a broken engine"),
    ("g", "the cat purrs on the warm sofa"),
    ("h", "a kitten drinks milk"),
    ("i", "new tyres for the garage"),
];

fn place() -> Place {
    let line = |(id, text): &(&str, &str)| json!({ "id": id, "text": text }).to_string() + "\n";
    Place::with("p.jsonl", TEXTS.iter().map(line).collect::<String>())
}

/// Labels whatever is asked: the items in order, and what was said when the project was made.
fn asked(place: &Place, flags: &str) -> (Vec<String>, String) {
    let made = place
        .line(&format!(
            "new p.jsonl --k 3 --classes x,y --project p.dial {flags}"
        ))
        .ok();
    let mut items = Vec::new();
    loop {
        let asked = place.line("ask p.dial --quiet");
        if asked.code != 0 {
            asked.fails("N11", 9, &[]);
            break;
        }
        let item = asked.out.trim().to_string();
        place
            .dial(&["tell", "p.dial", &item, ["x", "y"][items.len() % 2]])
            .ok();
        items.push(item);
    }
    (items, made.err)
}

#[test]
fn each_group_is_asked_once() {
    for (flags, never, said) in [
        (
            "",
            &["d", "g", "h"][..],
            "note: 3 of 9 items will not be asked, as exact copies of earlier ones (--ask-once",
        ),
        (
            "--ask-once exact",
            &["d", "g", "h"],
            "3 of 9 items will not be asked, as exact",
        ),
        (
            "--ask-once near",
            &["d", "e", "g", "h"],
            "4 of 9 items will not be asked, as near copies",
        ),
        ("--ask-once none", &[], ""),
    ] {
        let place = place();
        let (items, notes) = asked(&place, flags);
        assert!(
            notes.contains(said) && (said.is_empty() != notes.contains("--ask-once")),
            "{notes}"
        );
        let distinct: BTreeSet<&str> = items.iter().map(String::as_str).collect();
        let wanted = TEXTS
            .iter()
            .map(|(id, _)| *id)
            .filter(|id| !never.contains(id));
        assert_eq!(
            (distinct, items.len()),
            (wanted.collect(), 9 - never.len()),
            "{flags}"
        );
        // A copy has the prediction of what was asked for it.
        let predicted = |item: &str| {
            let ran = place
                .line(&format!("predict p.dial --item {item} --json"))
                .ok();
            ran.json()["items"][0]["belief"]["class"].clone()
        };
        assert!(
            predicted("a").is_string() && predicted("a") == predicted("d"),
            "{flags}"
        );
    }
}

/// Equal rows of numbers are different things measured, and all are asked.
#[test]
fn rows_of_numbers_are_no_copies() {
    let rows = |count: usize| {
        (0..count)
            .map(|row| format!("{},{}\n", row / 2, row % 2))
            .collect::<String>()
    };
    let place = Place::with("p.csv", format!("a,b\n{0}{0}", rows(5)));
    let made = place.line("new p.csv --k 3 --classes x,y").ok();
    assert!(!made.err.contains("--ask-once"), "{}", made.err);
    let facts = place.line("doctor p.csv --k 3 --json").ok().json()["facts"].clone();
    assert_eq!(
        (&facts["duplicate_groups"], facts.get("exact_copies")),
        (&json!(5), None)
    );
}

#[test]
fn doctor_names_them() {
    let place = place();
    let json = place.line("doctor p.jsonl --k 3 --json").ok().json();
    let facts = &json["facts"];
    let exact = json!({ "groups": 2, "items": 3, "first": [["a", "d", "g"], ["c", "h"]] });
    let near =
        json!({ "groups": 3, "items": 4, "first": [["a", "d", "g"], ["b", "e"], ["c", "h"]] });
    assert_eq!(
        (&facts["exact_copies"], &facts["near_copies"]),
        (&exact, &near)
    );
    let text = place.line("doctor p.jsonl --k 3").ok().out;
    for line in [
        "  exact copies      3 of other texts, in 2 groups\n",
        "  near copies       4 of other texts, in 3 groups\n",
        "note: 3 copies of other texts (a = d = g; c = h). A project asks for each group once; --ask-once none asks for all.\n",
        "note: 4 copies of other texts, exact or near (a = d = g; b = e; c = h). A project asks for near ones once with",
    ] {
        assert!(text.contains(line), "{line:?}: {text}");
    }
}
