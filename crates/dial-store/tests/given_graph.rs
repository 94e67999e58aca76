//! A project on a graph that was given: it is kept, found again, or missed, but never built from the features.

use std::fs;
use std::path::{Path, PathBuf};

use dial::{Config, Control, Graph};
use dial_data::write::write_csr;
use dial_data::{Fingerprint, ReadOptions, SavedGraph};
use dial_store::{
    Decision, Error, Folder, Follower, GivenGraph, Journal, News, PreparedPool, Project, Recipe,
};

const POOL: &str = "builtin:moons:60";
const NOW: u64 = 1_700_000_000_000;

/// A ring in which item i is joined to i + `step`: nothing that the features of the pool could tell.
fn write_ring(file: &Path, step: u32, weight: f64) {
    let edges: Vec<(u32, u32, f64)> = (0..60).map(|i| (i, (i + step) % 60, weight)).collect();
    let graph = Graph::from_edges(60, &edges).unwrap();
    let (starts, columns, weights) = graph.csr();
    write_csr(file, 60, starts, columns, weights).unwrap();
}

/// A folder with a graph and a project on it.
struct Case {
    folder: tempfile::TempDir,
}

impl Case {
    fn new() -> Case {
        let case = Case {
            folder: tempfile::tempdir().unwrap(),
        };
        let control = Control::new();
        write_ring(&case.given(), 7, 0.5);
        let saved = SavedGraph::open(&case.given(), &control).unwrap();
        let recipe = Recipe {
            config: Config {
                k: 5,
                ..Config::default()
            },
            graph: Some(GivenGraph {
                file: case.given(),
                fingerprint: Fingerprint::of_graph(&saved.graph).to_string(),
            }),
            ..Recipe::new(POOL, ReadOptions::default())
        };
        let pool = dial_data::open(POOL, &recipe.reading, 0, &control).unwrap();
        let prepared = PreparedPool::of(pool, &recipe, Some(saved.graph), &control).unwrap();
        let mut first = ["a", "b"]
            .map(|name| Decision::AddClass { name: name.into() })
            .to_vec();
        first.push(prepared.engine.fix_prior(2, &control).unwrap().into());
        let project = case.project();
        Project::create(&project, Journal::Wal, &prepared.recipe, None, first, NOW).unwrap();
        prepared.keep_graph(&Folder(project), &control).unwrap();
        case
    }

    fn given(&self) -> PathBuf {
        self.folder.path().join("ring.npz")
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("p.dial")
    }

    fn kept(&self) -> PathBuf {
        Folder(self.project()).graph()
    }

    /// Opens the project as everybody does.
    fn open(&self) -> Result<(Project, PreparedPool), Error> {
        let mut project = Project::open(&self.project(), Journal::Wal, NOW).unwrap();
        let (prepared, notes) = project.prepared(&Control::new(), NOW)?;
        assert_eq!(notes, [""; 0]);
        Ok((project, prepared))
    }

    /// The project works on the ring of step 7.
    #[track_caller]
    fn is_ring(&self) {
        let (project, prepared) = self.open().unwrap();
        let graph = prepared.engine.graph.as_ref().unwrap().to_graph();
        let edges: Vec<(u32, u32, f64)> = (0..60).map(|i| (i, (i + 7) % 60, 0.5)).collect();
        assert_eq!(graph, Graph::from_edges(60, &edges).unwrap());
        let control = Control::new();
        let news = News::whole(project.log());
        let follower = Follower::new(&prepared.engine, news, &control).unwrap();
        assert_eq!(follower.session().ask(1).unwrap().questions.len(), 1);
    }

    /// The project does not open, and says why and what to do; nothing is made in its place.
    #[track_caller]
    fn is_refused(&self, why: &str) {
        let kept = fs::read(self.kept()).ok();
        let Err(error) = self.open() else {
            panic!("it opened");
        };
        let text = error.to_string();
        assert_eq!(error.code(), "S5", "{text}");
        let place = self.given().display().to_string();
        assert!(text.starts_with(&place) && text.contains(why), "{text}");
        assert_eq!(text.matches(&place).count(), 1, "{text}");
        assert!(
            text.contains("Put the graph that the project was made with back there"),
            "{text}"
        );
        assert_eq!(fs::read(self.kept()).ok(), kept);
    }
}

#[test]
fn it_opens_from_the_graph_it_keeps() {
    let case = Case::new();
    assert!(case.kept().exists());
    fs::remove_file(case.given()).unwrap();
    case.is_ring();
    // What is where it came from does not matter then.
    write_ring(&case.given(), 11, 0.5);
    case.is_ring();
}

#[test]
fn it_opens_from_the_file_it_came_from_and_keeps_it_again() {
    let case = Case::new();
    let kept = fs::read(case.kept()).unwrap();
    fs::remove_file(case.kept()).unwrap();
    case.is_ring();
    assert_eq!(fs::read(case.kept()).unwrap(), kept);
    // One that is damaged is as good as none.
    fs::write(case.kept(), &kept[..kept.len() / 2]).unwrap();
    case.is_ring();
    assert_eq!(fs::read(case.kept()).unwrap(), kept);
}

#[test]
fn a_file_that_moved_with_the_project_is_found() {
    let case = Case::new();
    fs::remove_file(case.kept()).unwrap();
    let other = tempfile::tempdir().unwrap();
    fs::rename(case.given(), other.path().join("ring.npz")).unwrap();
    fs::rename(case.project(), other.path().join("p.dial")).unwrap();
    drop(case);
    Case { folder: other }.is_ring();
}

#[test]
fn without_both_it_does_not_open() {
    let case = Case::new();
    fs::remove_file(case.kept()).unwrap();
    fs::remove_file(case.given()).unwrap();
    case.is_refused("is not there, and the project has no copy of it");
    assert!(!case.kept().exists());
}

#[test]
fn another_graph_is_not_taken_for_it() {
    let case = Case::new();
    fs::remove_file(case.kept()).unwrap();
    write_ring(&case.given(), 11, 0.5);
    case.is_refused("is not the graph that the project was made with");
    write_ring(&case.given(), 7, 0.25);
    case.is_refused("is not the graph that the project was made with");
    fs::write(case.given(), "no graph").unwrap();
    case.is_refused("not an NPZ file");
    // The right one helps.
    write_ring(&case.given(), 7, 0.5);
    case.is_ring();
}

#[test]
fn a_graph_built_from_the_features_is_not_taken_for_it() {
    let case = Case::new();
    // As a project of the same pool without a given graph would keep it.
    let (_, prepared) = case.open().unwrap();
    let recipe = Recipe {
        graph: None,
        ..prepared.recipe.clone()
    };
    let control = Control::new();
    let built = PreparedPool::of(prepared.pool, &recipe, None, &control).unwrap();
    fs::remove_file(case.kept()).unwrap();
    built.keep_graph(&Folder(case.project()), &control).unwrap();
    assert!(case.kept().exists());
    let aside = case.folder.path().join("aside.npz");
    fs::rename(case.given(), &aside).unwrap();
    case.is_refused("is not there, and the project has no copy of it");
    fs::rename(&aside, case.given()).unwrap();
    case.is_ring();
}
