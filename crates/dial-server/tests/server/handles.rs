//! A project is the same wherever it is: opened in this process, or in the hands of a server.
//!
//! Two copies of a project get the same work, one through [`Local`], the other through [`Client`], and every answer is
//! compared. Left out is only what cannot be the same: the time of day and what depends on it, and what a server alone
//! does (it leases items, and says what answers to the item on screen would change).

use std::path::{Path, PathBuf};

use dial::{ClassId, Control};
use dial_server::wire::{
    Card, HistoryRow, Labels, Next, Order, Page, Part, Problem, Questions, Stored, Wanted, Which,
};
use dial_server::{Client, Local, ProjectHandle};
use dial_store::{
    Decision, Folder, Given, Item, Journal, Manifest, Project, Said, Share, Status, Submission,
};

use crate::common::{Running, Wish, make, serve};

struct Both {
    local: Local,
    client: Client,
    folder: tempfile::TempDir,
    _server: Running,
}

impl Both {
    fn new(classes: &[&'static str]) -> Both {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (place(&folder, "one"), place(&folder, "other"));
        let wish = Wish {
            classes: classes.to_vec(),
            ..Wish::default()
        };
        make(&one, &wish);
        std::fs::create_dir_all(&other).unwrap();
        std::fs::copy(one.join("project.db"), other.join("project.db")).unwrap();
        let local = Project::open(&one, Journal::Wal, 2000).unwrap();
        let server = serve(&other, None);
        let client = Client::find(&Folder(other), Box::new(|text| panic!("{text}")));
        Both {
            local: Local::new(local, Control::new, Box::new(|text| panic!("{text}"))),
            client: client.unwrap().expect("a server runs"),
            folder,
            _server: server,
        }
    }

    /// Does the same with both and compares the answers, once `plain` has taken away what may differ.
    #[track_caller]
    fn same<T: PartialEq + std::fmt::Debug>(
        &mut self,
        plain: impl Fn(&mut T),
        ask: impl Fn(&mut dyn ProjectHandle) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let mut answers = [ask(&mut self.local), ask(&mut self.client)];
        answers
            .iter_mut()
            .for_each(|answer| drop(answer.as_mut().map(&plain)));
        let [local, client] = answers;
        assert_eq!(local, client);
        local
    }

    #[track_caller]
    fn submit(&mut self, submission: &Submission) -> Result<Stored, Problem> {
        self.same(|_| (), |handle| handle.submit(submission.clone()))
    }

    #[track_caller]
    fn label(&mut self, key: &str, who: &str, item: &str, class: u16) -> Result<Stored, Problem> {
        self.submit(&Submission {
            key: key.into(),
            annotator: who.into(),
            decisions: vec![Decision::label(item, ClassId(class))],
            ..Submission::default()
        })
    }

    #[track_caller]
    fn next(&mut self, who: &str) -> Result<Questions, Problem> {
        let wish = Next {
            annotator: who.into(),
            count: 1,
            ..Next::default()
        };
        let plain = |asked: &mut Questions| asked.items.iter_mut().for_each(own);
        self.same(plain, |handle| handle.next(&wish))
    }

    /// What is only read, all of it: with a belief, or with the reason why there is none.
    #[track_caller]
    fn read(&mut self, believes: bool) {
        let item = self.same(own, |handle| handle.item("7"));
        assert_eq!(item.is_ok(), believes);
        let unknown = self.same(own, |handle| handle.item("nobody"));
        unknown.unwrap_err();
        let all = Which {
            limit: 100,
            ..Which::default()
        };
        for which in [
            all.clone(),
            Which {
                order: Order::Doubtful,
                ..all.clone()
            },
            Which {
                order: Order::Certain,
                open: true,
                offset: 5,
                limit: 10,
                ..all.clone()
            },
            Which {
                class: Some(1),
                ..all.clone()
            },
            Which {
                labelled: true,
                ..all.clone()
            },
            Which {
                search: "11".into(),
                ..all.clone()
            },
        ] {
            let page = self.same(|_| (), |handle| handle.items(&which));
            assert_eq!(page.is_ok(), believes);
        }
        let part = Part {
            offset: 0,
            limit: 100,
            search: String::new(),
        };
        let suspects = self.same(|_| (), |handle| handle.suspects(&part));
        assert_eq!(suspects.is_ok(), believes);
        let estimates = self.same(|_| (), |handle| handle.estimates());
        assert_eq!(estimates.is_ok(), believes);
        if let Ok(estimates) = estimates {
            estimates.expect("there are two classes");
        }
        let status = self.same(
            |status: &mut Status| status.last = status.last.map(|_| 0),
            |handle| handle.status(),
        );
        assert_eq!(status.unwrap().estimates.is_some(), believes);
        for (offset, search) in [(0, ""), (1, ""), (0, "down")] {
            let part = Part {
                offset,
                limit: 100,
                search: search.into(),
            };
            let timeless = |page: &mut Page<_>| page.rows.iter_mut().for_each(timeless);
            self.same(timeless, |handle| handle.history(&part)).unwrap();
        }
        for format in ["csv", "jsonl", "npz", "parquet", "docx"] {
            for labels_only in [true, false] {
                let wanted = Wanted {
                    format: format.into(),
                    labels_only,
                };
                let file = self.same(|_| (), |handle| handle.export(&wanted));
                // Parquet is there in some builds only.
                if format != "parquet" {
                    let fine = format != "docx" && (labels_only || believes);
                    assert_eq!(file.is_ok(), fine, "{format}");
                }
            }
        }
    }

    #[track_caller]
    fn backup(&mut self, name: &str) -> Result<Manifest, Problem> {
        let folder = self.folder.path().to_path_buf();
        let file = |handle: &str| folder.join(format!("{name} {handle}"));
        let mut answers = [
            self.local.backup(&file("one")),
            self.client.backup(&file("other")),
        ];
        for (answer, handle) in answers.iter_mut().zip(["one", "other"]) {
            match answer {
                Ok(made) => {
                    assert_eq!(made.file, file(handle));
                    assert!(made.file.is_file() && made.time > 0 && made.chain.len() == 64);
                    *made = Manifest {
                        file: PathBuf::new(),
                        time: 0,
                        chain: String::new(),
                        ..made.clone()
                    };
                }
                Err(problem) => {
                    let place = file(handle).display().to_string();
                    assert!(problem.detail.starts_with(&place), "{problem:?}");
                    problem.detail = problem.detail.replace(&place, "");
                }
            }
        }
        let [local, client] = answers;
        assert_eq!(local, client);
        local
    }
}

fn place(folder: &tempfile::TempDir, copy: &str) -> PathBuf {
    let parent = folder.path().join(copy);
    std::fs::create_dir_all(&parent).unwrap();
    parent.join("p.dial")
}

/// Takes away what only a server says.
fn own(card: &mut Card) {
    (card.leased_until, card.changes) = (None, Vec::new());
}

fn timeless(row: &mut HistoryRow) {
    row.time = 0;
}

fn given(item: &str, class: &str) -> Given {
    Given {
        item: Item::Id(item.into(), None),
        said: Said::Label {
            annotator: None,
            classes: vec![(class.into(), 1.0)],
            order: None,
        },
        place: "line 2".into(),
    }
}

fn labels(key: &str, given: Vec<Given>, add_classes: bool) -> Labels {
    Labels {
        source: "gold.csv".into(),
        given,
        annotator: Some("expert".into()),
        skip_unknown: true,
        add_classes,
        key: key.into(),
    }
}

/// A backup opens as the project it was made of.
fn opens(file: &Path, folder: &Path, events: u64) {
    let restored = folder.join("restored.dial");
    dial_store::restore(file, &restored, false, 3000).unwrap();
    let project = Project::open(&restored, Journal::Wal, 3000).unwrap();
    assert_eq!(project.log().version(), events);
    drop(project);
    std::fs::remove_dir_all(restored).unwrap();
}

#[test]
fn two_classes_in_hand_and_over_the_wire() {
    let mut both = Both::new(&["up", "down"]);
    both.read(true);
    for step in 0..6u16 {
        let asked = both.next("ann").unwrap();
        assert_eq!(asked.items.len(), 1);
        let card = &asked.items[0];
        assert!(card.belief.is_some() && card.score.is_some(), "{card:?}");
        let item = card.id.clone();
        let stored = both
            .label(&format!("k{step}"), "ann", &item, step % 2)
            .unwrap();
        assert!(!stored.receipt.repeated && stored.also_by.is_empty());
    }
    both.read(true);

    // The same again, from another, against oneself, and what cannot be.
    let first = both
        .same(
            |_| (),
            |handle| {
                handle.items(&Which {
                    labelled: true,
                    limit: 1,
                    ..Which::default()
                })
            },
        )
        .unwrap()
        .rows[0]
        .clone();
    let (item, class) = (first.id, first.labels[0].classes[0].class.0);
    let again = both.label("again", "ann", &item, class).unwrap();
    assert!(again.receipt.known);
    let other = both.label("other", "bob", &item, class).unwrap();
    assert_eq!(other.also_by, ["ann"]);
    assert!(other.receipt.late);
    let repeated = both.label("other", "bob", &item, class).unwrap();
    assert!(repeated.receipt.repeated);
    let contradiction = both.label("against", "ann", &item, 1 - class).unwrap_err();
    assert_eq!(&*contradiction.code, "C3");
    assert!(contradiction.parked.is_some() && contradiction.said.is_some());
    for (key, item, class) in [
        ("x", "nobody", 0),
        ("y", "3", 9),
        ("other", "3", 0),
        ("", "3", 0),
    ] {
        both.label(key, "bob", item, class).unwrap_err();
    }
    let decide = |key: &str, decisions: Vec<Decision>| Submission {
        key: key.into(),
        annotator: "bob".into(),
        decisions,
        ..Submission::default()
    };
    let undone = both
        .submit(&decide("undo", vec![Decision::Undo { group: None }]))
        .unwrap();
    assert_eq!(undone.items, [item]);
    both.submit(&decide("redo", vec![Decision::Redo { group: None }]))
        .unwrap();
    let many = vec![
        Decision::Label {
            item: "3".into(),
            classes: Share::of(&[(ClassId(0), 0.6), (ClassId(1), 0.4)]),
        },
        Decision::Skip { item: "4".into() },
        Decision::Exclude { item: "5".into() },
        Decision::AddClass {
            name: "other".into(),
        },
        Decision::RenameClass {
            class: ClassId(0),
            name: "above".into(),
        },
        Decision::Look {
            class: ClassId(0),
            colour: "#aabbcc".into(),
            key: "q".into(),
        },
        Decision::Weight {
            annotator: "ann".into(),
            weight: 2.0,
        },
        Decision::Settle {
            parked: contradiction.parked.unwrap(),
        },
    ];
    both.submit(&decide("many", many)).unwrap();
    let merge = Decision::MergeClass {
        from: ClassId(2),
        into: ClassId(1),
    };
    both.submit(&decide("merge", vec![merge])).unwrap();
    both.submit(&decide("none", vec![])).unwrap_err();
    both.read(true);
    both.next("ann").unwrap();

    let several = vec![
        given("80", "down"),
        given("81", "above"),
        given("?", "down"),
    ];
    let imported = both
        .same(
            |_| (),
            |handle| handle.import(labels("import", several.clone(), false)),
        )
        .unwrap();
    assert_eq!((imported.labels, imported.unknown.len()), (2, 1));
    let stranger = vec![given("82", "sideways")];
    both.same(
        |_| (),
        |handle| handle.import(labels("stranger", stranger.clone(), false)),
    )
    .unwrap_err();
    both.read(true);

    let made = both.backup("a").unwrap();
    for copy in ["one", "other"] {
        opens(
            &both.folder.path().join(format!("a {copy}")),
            both.folder.path(),
            made.events,
        );
    }
    assert_eq!(&*both.backup("a").unwrap_err().code, "S11");
    // Where nothing can be written, each says so in the words of how it writes.
    let nowhere = both.folder.path().join("no such folder/a");
    let problems = [both.local.backup(&nowhere), both.client.backup(&nowhere)];
    let codes = problems
        .map(|problem| problem.unwrap_err())
        .map(|problem| (problem.status, problem.code));
    assert_eq!(codes[0], codes[1]);
}

#[test]
fn no_classes_in_hand_and_over_the_wire() {
    let mut both = Both::new(&[]);
    both.read(false);
    let asked = both.next("").unwrap();
    let card = &asked.items[0];
    assert!(
        card.belief.is_none() && card.why.is_none() && card.score.is_some(),
        "{card:?}"
    );
    let item = card.id.clone();
    both.label("early", "", &item, 0).unwrap_err();
    let add = Submission {
        key: "add".into(),
        decisions: vec![
            Decision::AddClass { name: "cat".into() },
            Decision::label(&item, ClassId(0)),
        ],
        ..Submission::default()
    };
    both.submit(&add).unwrap();
    // One class is none to choose from.
    both.read(false);
    let second = both.next("").unwrap().items[0].id.clone();
    assert_ne!(second, item);
    let made = both.backup("b").unwrap();
    assert_eq!(made.events, 4);
    // The second class comes with labels from elsewhere.
    let gold = vec![given(&second, "dog")];
    let imported = both
        .same(
            |_| (),
            |handle| handle.import(labels("import", gold.clone(), true)),
        )
        .unwrap();
    assert_eq!(
        (imported.labels, imported.classes),
        (1, vec!["dog".to_string()])
    );
    both.read(true);
    both.next("").unwrap();
}
