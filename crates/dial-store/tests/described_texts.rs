//! A project on texts that an earlier version described: it opens, keeps its labels, and says once what changed.

use dial::{ClassId, Control};
use dial_data::ReadOptions;
use dial_store::{Decision, Folder, Journal, PreparedPool, Project, Recipe, Submission};

const NOW: u64 = 1_700_000_000_000;

/// Makes a project whose log has features that are not those of today, and what opening it says, twice.
fn notes_of(pool: &str, text_features: Option<u32>) -> [Vec<String>; 2] {
    let (place, control) = (tempfile::tempdir().unwrap(), Control::new());
    let folder = place.path().join("p.dial");
    let recipe = Recipe::new(pool, ReadOptions::default());
    let prepared = PreparedPool::open(&recipe, &Folder(folder.clone()), &control).unwrap();
    let before = Recipe {
        features: "00".repeat(16),
        text_features,
        ..prepared.recipe.clone()
    };
    let mut first = ["a", "b"]
        .map(|name| Decision::AddClass { name: name.into() })
        .to_vec();
    first.push(prepared.engine.fix_prior(2, &control).unwrap().into());
    let mut project = Project::create(&folder, Journal::Wal, &before, None, first, NOW).unwrap();
    let label = Submission {
        key: "k".into(),
        decisions: vec![Decision::label("3", ClassId(1))],
        ..Submission::default()
    };
    project.submit_one(label, NOW).unwrap();
    drop(project);
    [(); 2].map(|()| {
        let mut project = Project::open(&folder, Journal::Wal, NOW).unwrap();
        let (_, notes) = project.prepared(&Control::new(), NOW).unwrap();
        assert_eq!(project.log().live_labels().len(), 1);
        notes
    })
}

#[test]
fn a_new_description_is_told_from_changed_texts_and_said_once() {
    let [first, second] = notes_of("builtin:texts:60", None);
    assert!(
        first.len() == 1 && first[0].contains("describes texts in another way"),
        "{first:?}"
    );
    assert!(first[0].ends_with("all labels are kept."), "{first:?}");
    assert_eq!(second, [""; 0]);
    // The same description, so the texts are others; and no texts at all.
    for (pool, version) in [("builtin:texts:60", Some(2)), ("builtin:moons:60", None)] {
        let [first, second] = notes_of(pool, version);
        assert!(first[0].starts_with("the pool has changed"), "{first:?}");
        assert_eq!(second, [""; 0]);
    }
}
