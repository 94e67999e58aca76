//! A project is the same wherever it is: in a folder, in memory, or in the hands of a server, of another process or of this.
//!
//! Copies of a project get the same work, one through a [`Client`], the others through a [`Local`], and every answer is
//! compared. Left out is only what cannot be the same: the time of day and what depends on it, and what a server alone
//! does (it leases items, and says what answers to the item on screen would change).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use dial::{ClassId, Control};
use dial_server::http::wire::{
    HistoryRow, ImportRequest, ItemView, Next, Order, Page, Part, Problem, Questions, Stored,
    Wanted, Which,
};
use dial_server::{Client, Local, Note, ProjectHandle};
use dial_store::{
    Decision, Folder, ImportedLabel, ItemName, Journal, LabelContent, Manifest, PreparedPool,
    Project, Share, Status, Submission,
};

use crate::common::{Running, Wish, make, serve};

struct All {
    local: Local,
    client: Client,
    memory: Local,
    /// Handed to a server on threads of this process.
    served: Local,
    folder: tempfile::TempDir,
    /// The kinds of decisions that were taken.
    kinds: BTreeSet<String>,
    _server: Running,
}

/// The kind of a decision, as the interface calls it.
fn kind(decision: &Decision) -> String {
    let json = serde_json::to_value(decision).unwrap();
    json["kind"].as_str().unwrap().to_string()
}

/// All kinds, as the document of the interface lists them.
fn kinds() -> BTreeSet<String> {
    let document = serde_json::to_value(dial_server::document()).unwrap();
    let kinds = &document["components"]["schemas"]["Decision"]["oneOf"];
    let kind = |one: &serde_json::Value| {
        let kind = &one["properties"]["kind"]["enum"][0];
        kind.as_str().unwrap().to_string()
    };
    kinds.as_array().unwrap().iter().map(kind).collect()
}

impl All {
    fn new(classes: &[&'static str]) -> All {
        All::of(&Wish {
            classes: classes.to_vec(),
            ..Wish::default()
        })
    }

    fn of(wish: &Wish) -> All {
        let folder = tempfile::tempdir().unwrap();
        let one = place(&folder, "one");
        make(&one, wish);
        let [other, third] = ["other", "third"].map(|copy| {
            let copy = place(&folder, copy);
            std::fs::create_dir_all(&copy).unwrap();
            std::fs::copy(one.join("project.db"), copy.join("project.db")).unwrap();
            copy
        });
        let open = |place: &Path| Project::open(place, Journal::Wal, 2000).unwrap();
        let local = open(&one);
        let memory = in_memory(&local, &one);
        let server = serve(&other, None);
        let client = Client::find(&Folder(other), silent());
        let mut served = Local::new(open(&third), Control::new, silent());
        served.serve(0).unwrap();
        All {
            local: Local::new(local, Control::new, silent()),
            client: client.unwrap().expect("a server runs"),
            memory,
            served,
            folder,
            kinds: BTreeSet::new(),
            _server: server,
        }
    }

    /// Does the same with all and compares the answers, once `plain` has taken away what may differ.
    #[track_caller]
    fn same<T: PartialEq + std::fmt::Debug>(
        &mut self,
        plain: impl Fn(&mut T),
        ask: impl Fn(&mut dyn ProjectHandle) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let mut answers = [
            ask(&mut self.local),
            ask(&mut self.client),
            ask(&mut self.memory),
            ask(&mut self.served),
        ];
        answers
            .iter_mut()
            .for_each(|answer| drop(answer.as_mut().map(&plain)));
        let [local, client, memory, served] = answers;
        assert_eq!(local, client);
        assert_eq!(local, memory);
        assert_eq!(local, served);
        local
    }

    #[track_caller]
    fn submit(&mut self, submission: &Submission) -> Result<Stored, Problem> {
        let stored = self.same(|_| (), |handle| handle.submit(submission.clone()))?;
        self.kinds.extend(submission.decisions.iter().map(kind));
        Ok(stored)
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
        self.asked(who, 1, &[])
    }

    #[track_caller]
    fn asked(&mut self, who: &str, count: usize, except: &[String]) -> Result<Questions, Problem> {
        let wish = Next {
            annotator: who.into(),
            count,
            except: except.to_vec(),
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
            |status: &mut Status| {
                status.last = status.last.map(|_| 0);
                status.name = String::new();
            },
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
        for format in ["csv", "jsonl", "npz", "parquet", "maps", "docx"] {
            for labels_only in [true, false] {
                let wanted = Wanted {
                    format: format.into(),
                    labels_only,
                    original_columns: believes.then_some(labels_only),
                    preview: None,
                };
                let file = self.same(|_| (), |handle| handle.export(&wanted));
                // Parquet is there in some builds only.
                if format != "parquet" {
                    let known = !["docx", "maps"].contains(&format);
                    let fine = known && (labels_only || believes);
                    assert_eq!(file.is_ok(), fine, "{format}");
                }
            }
        }
    }

    /// Of the two with files of their own; the one in memory has none, and the served one is as the local one.
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

/// Nothing is worth saying of these projects.
fn silent() -> Note {
    Box::new(|text| panic!("{text}"))
}

/// A copy of a project in memory, on its pool.
fn in_memory(project: &Project, folder: &Path) -> Local {
    let recipe = project.log().recipe().unwrap();
    let control = Control::new();
    let prepared = PreparedPool::open(recipe, &Folder(folder.into()), &control).unwrap();
    let records = project.log().records().to_vec();
    let copy = Project::in_memory(project.id(), records, None).unwrap();
    Local::on(copy, prepared, Control::new, silent()).unwrap()
}

fn place(folder: &tempfile::TempDir, copy: &str) -> PathBuf {
    let parent = folder.path().join(copy);
    std::fs::create_dir_all(&parent).unwrap();
    parent.join("p.dial")
}

/// Takes away what only a server says.
fn own(card: &mut ItemView) {
    (card.leased_until, card.changes) = (None, Vec::new());
}

fn timeless(row: &mut HistoryRow) {
    row.time = 0;
}

fn label_to_import(item: &str, class: &str) -> ImportedLabel {
    ImportedLabel {
        item: ItemName::id(item),
        content: LabelContent::Label {
            annotator: None,
            classes: vec![(class.into(), 1.0)],
            order: None,
            adjudicates: false,
        },
        place: "line 2".into(),
    }
}

fn labels(key: &str, labels: Vec<ImportedLabel>, add_classes: bool) -> ImportRequest {
    ImportRequest {
        source: "gold.csv".into(),
        labels,
        of_pool: false,
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
    let mut all = All::new(&["up", "down"]);
    all.read(true);
    for step in 0..6u16 {
        let asked = all.next("ann").unwrap();
        assert_eq!(asked.items.len(), 1);
        let card = &asked.items[0];
        assert!(card.belief.is_some() && card.score.is_some(), "{card:?}");
        let item = card.id.clone();
        let stored = all
            .label(&format!("k{step}"), "ann", &item, step % 2)
            .unwrap();
        assert!(!stored.receipt.repeated && stored.also_by.is_empty());
    }
    all.read(true);

    // The same again, from another, against oneself, and what cannot be.
    let first = all
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
    let again = all.label("again", "ann", &item, class).unwrap();
    assert!(again.receipt.known);
    let other = all.label("other", "bob", &item, class).unwrap();
    assert_eq!(other.also_by, ["ann"]);
    assert!(other.receipt.late);
    let repeated = all.label("other", "bob", &item, class).unwrap();
    assert!(repeated.receipt.repeated);
    let contradiction = all.label("against", "ann", &item, 1 - class).unwrap_err();
    assert_eq!(&*contradiction.code, "C3");
    assert!(contradiction.conflict.is_some() && contradiction.labels.is_some());
    for (key, item, class) in [
        ("x", "nobody", 0),
        ("y", "3", 9),
        ("other", "3", 0),
        ("", "3", 0),
    ] {
        all.label(key, "bob", item, class).unwrap_err();
    }
    let decide = |key: &str, decisions: Vec<Decision>| Submission {
        key: key.into(),
        annotator: "bob".into(),
        decisions,
        ..Submission::default()
    };
    let undone = all
        .submit(&decide("undo", vec![Decision::Undo { group: None }]))
        .unwrap();
    assert_eq!(undone.items, [item]);
    all.submit(&decide("redo", vec![Decision::Redo { group: None }]))
        .unwrap();
    let many = vec![
        Decision::Label {
            item: "3".into(),
            classes: Share::of(&[(ClassId(0), 0.6), (ClassId(1), 0.4)]),
            adjudicates: false,
        },
        Decision::Skip { item: "4".into() },
        Decision::Exclude { item: "5".into() },
        Decision::Reopen { item: "5".into() },
        Decision::AddClass {
            name: "other".into(),
        },
        Decision::RenameClass {
            class: ClassId(0),
            name: "above".into(),
        },
        Decision::StyleClass {
            class: ClassId(0),
            colour: "#aabbcc".into(),
            key: "q".into(),
        },
        Decision::Weight {
            annotator: "ann".into(),
            weight: 2.0,
        },
        Decision::Resolve {
            conflict: contradiction.conflict.unwrap(),
        },
    ];
    all.submit(&decide("many", many)).unwrap();
    let merge = Decision::MergeClass {
        from: ClassId(2),
        into: ClassId(1),
    };
    all.submit(&decide("merge", vec![merge])).unwrap();
    let ends = vec![
        Decision::AddClass {
            name: "void".into(),
        },
        Decision::OrderClasses {
            classes: vec![ClassId(3), ClassId(1)],
        },
        Decision::DeleteClass { class: ClassId(3) },
    ];
    all.submit(&decide("ends", ends)).unwrap();
    all.submit(&decide("none", vec![])).unwrap_err();
    assert_eq!(all.kinds, kinds(), "every kind of decision was taken");
    all.read(true);
    all.next("ann").unwrap();

    let several = vec![
        label_to_import("80", "down"),
        label_to_import("81", "above"),
        label_to_import("?", "down"),
    ];
    let imported = all
        .same(
            |_| (),
            |handle| handle.import(labels("import", several.clone(), false)),
        )
        .unwrap();
    assert_eq!((imported.labels, imported.unknown.len()), (2, 1));
    let stranger = vec![label_to_import("82", "sideways")];
    all.same(
        |_| (),
        |handle| handle.import(labels("stranger", stranger.clone(), false)),
    )
    .unwrap_err();
    all.read(true);

    let made = all.backup("a").unwrap();
    for copy in ["one", "other"] {
        opens(
            &all.folder.path().join(format!("a {copy}")),
            all.folder.path(),
            made.events,
        );
    }
    assert_eq!(&*all.backup("a").unwrap_err().code, "S11");
    // Where nothing can be written, each says so in the words of how it writes.
    let nowhere = all.folder.path().join("no such folder/a");
    assert_eq!(all.memory.backup(&nowhere).unwrap_err().status, 503);
    let problems = [all.local.backup(&nowhere), all.client.backup(&nowhere)];
    let codes = problems
        .map(|problem| problem.unwrap_err())
        .map(|problem| (problem.status, problem.code));
    assert_eq!(codes[0], codes[1]);
}

#[test]
fn no_classes_in_hand_and_over_the_wire() {
    let mut all = All::new(&[]);
    all.read(false);
    let asked = all.next("").unwrap();
    let card = &asked.items[0];
    assert!(
        card.belief.is_none() && card.why.is_none() && card.score.is_some(),
        "{card:?}"
    );
    let item = card.id.clone();
    all.label("early", "", &item, 0).unwrap_err();
    let add = Submission {
        key: "add".into(),
        decisions: vec![
            Decision::AddClass { name: "cat".into() },
            Decision::label(&item, ClassId(0)),
        ],
        ..Submission::default()
    };
    all.submit(&add).unwrap();
    // One class is none to choose from.
    all.read(false);
    let second = all.next("").unwrap().items[0].id.clone();
    assert_ne!(second, item);
    let made = all.backup("b").unwrap();
    assert_eq!(made.events, 4);
    // The second class comes with labels from elsewhere.
    let gold = vec![label_to_import(&second, "dog")];
    let imported = all
        .same(
            |_| (),
            |handle| handle.import(labels("import", gold.clone(), true)),
        )
        .unwrap();
    assert_eq!(
        (imported.labels, imported.classes),
        (1, vec!["dog".to_string()])
    );
    all.read(true);
    all.next("").unwrap();
}

#[test]
fn several_questions_at_once_are_the_same_everywhere() {
    let mut all = All::new(&["up", "down"]);
    // The very first request, before the model of a server has thought of more than one.
    let first = all.asked("ann", 4, &[]).unwrap();
    let ids: Vec<String> = first.items.iter().map(|card| card.id.clone()).collect();
    let session = all.local.session().unwrap().ask(4).unwrap();
    let asked: Vec<String> = session.questions.into_iter().map(|one| one.item).collect();
    assert_eq!(ids, asked);
    assert!(first.items.iter().all(|card| card.score.is_some()));
    // Whoever has these on screen wants the next ones.
    let others = all.asked("ann", 2, &ids).unwrap();
    let session = all.local.session().unwrap().ask(6).unwrap();
    let asked: Vec<String> = session.questions.into_iter().map(|one| one.item).collect();
    assert_eq!(
        [others.items[0].id.clone(), others.items[1].id.clone()],
        asked[4..]
    );
    let known: Vec<&str> = asked[..5].iter().map(String::as_str).collect();
    let except: Vec<String> = known.iter().map(|id| id.to_string()).collect();
    assert_eq!(all.asked("ann", 1, &except).unwrap().items[0].id, asked[5]);
    // The item that is asked has its score wherever it is looked at.
    for (step, item) in ids.iter().enumerate() {
        all.label(&format!("k{step}"), "ann", item, (step % 2) as u16)
            .unwrap();
    }
    for item in [&asked[4], &asked[5]] {
        all.label(item, "ann", item, 0).unwrap();
    }
    let next = all.next("ann").unwrap().items.remove(0);
    let looked = all.same(own, |handle| handle.item(&next.id)).unwrap();
    assert!(looked.score.is_some());
    assert_eq!(looked.score, next.score);
}

#[test]
fn an_item_that_nobody_asked_for_has_its_score_while_it_is_the_question() {
    let mut all = All::new(&["up", "down"]);
    let question = all
        .local
        .session()
        .unwrap()
        .ask(1)
        .unwrap()
        .questions
        .remove(0);
    let card = all.same(own, |handle| handle.item(&question.item)).unwrap();
    assert_eq!(card.score, Some(question.score));
}

#[test]
fn second_opinions_come_first_everywhere() {
    let mut all = All::of(&Wish {
        overlap: 2,
        ..Wish::default()
    });
    let mut seen = Vec::new();
    for (step, who) in ["ann", "bob", "ann", "bob", "bob"].into_iter().enumerate() {
        let card = all.next(who).unwrap().items.remove(0);
        all.label(&format!("k{step}"), who, &card.id, (step % 2) as u16)
            .unwrap();
        seen.push((card.id, card.score.is_some()));
    }
    // Bob is asked what Ann has answered; then there is nothing left of hers.
    assert_eq!((&seen[1].0, seen[1].1), (&seen[0].0, false));
    assert_eq!((&seen[3].0, seen[3].1), (&seen[2].0, false));
    assert!(seen[4].1 && seen[..4].iter().all(|(id, _)| *id != seen[4].0));
}

#[test]
fn items_drawn_at_random_are_the_same_everywhere_and_measure_the_accuracy() {
    let mut all = All::of(&Wish {
        audit: 0.5,
        ..Wish::default()
    });
    let mut audits = 0;
    for step in 0..9 {
        let card = all.next("ann").unwrap().items.remove(0);
        // What a server believes before it has followed is of no use to measure by.
        all.same(|_| (), |handle| handle.estimates()).unwrap();
        audits += usize::from(card.audit);
        let class = u16::from(card.id.parse::<u32>().unwrap() % 2 == 0);
        all.label(&format!("k{step}"), "ann", &card.id, class)
            .unwrap();
    }
    assert!((1..9).contains(&audits), "{audits}");
    let estimates = all.same(|_| (), |handle| handle.estimates()).unwrap();
    assert_eq!(estimates.unwrap().audit.unwrap().1, audits);
}

#[test]
fn a_project_comes_back_from_its_server_and_is_closed_for_good() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(&folder, "one");
    make(&place, &Wish::default());
    let project = Project::open(&place, Journal::Wal, 2000).unwrap();
    let mut local = Local::new(project, Control::new, silent());
    let link = local.serve(0).unwrap();
    assert!(link.contains("/#launch=") && local.is_served());
    assert_ne!(local.serve(0).unwrap(), link);
    // Others reach it by the server; nobody can open it beside that.
    let mut client = Client::find(&Folder(place.clone()), silent())
        .unwrap()
        .unwrap();
    let item = client
        .next(&Next {
            count: 1,
            ..Next::default()
        })
        .unwrap()
        .items
        .remove(0)
        .id;
    let label = Submission {
        key: "k".into(),
        decisions: vec![Decision::label(&item, ClassId(0))],
        ..Submission::default()
    };
    client.submit(label).unwrap();
    assert_eq!(local.session().unwrap().labelled().len(), 1);
    assert!(Project::open(&place, Journal::Wal, 2000).is_err());
    local.stop_serving().unwrap();
    assert!(!local.is_served());
    assert_eq!(local.status().unwrap().labelled, 1);
    assert!(
        Client::find(&Folder(place.clone()), silent())
            .unwrap()
            .is_none()
    );
    local.close();
    assert_eq!(&*local.status().unwrap_err().code, "U1");
    assert_eq!(&*local.session().map(drop).unwrap_err().code, "U1");
    Project::open(&place, Journal::Wal, 2000).unwrap();
}
