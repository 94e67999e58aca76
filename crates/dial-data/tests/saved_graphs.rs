//! A graph that was saved is the same graph again, and what is not a graph is refused.

#[path = "corpus/build.rs"]
#[allow(dead_code)]
mod build;

use std::fs;
use std::path::{Path, PathBuf};

use build::{Part, deflated, f64s, i64s, npy, stored, zip};
use dial::graph::EdgeWeights;
use dial::graph::build::Lists;
use dial::graph::packed::PackedGraph;
use dial::knn::Neighbours;
use dial::knn::metric_space::ZeroVectors;
use dial::{Control, Features, Graph, Metric, NodeId};
use dial_data::write::write_csr;
use dial_data::{Buffer, Error, Fingerprint, GraphProvenance, Matrix, SavedGraph, write_graph};

/// Two groups of points and their graph.
fn built() -> (Matrix, PackedGraph) {
    let x: Vec<f64> = (0..60)
        .map(|i| f64::from(i * i % 37) / 7.0 + if i < 30 { 0.0 } else { 1000.0 })
        .collect();
    let (features, control) = (Features::f64(&x, 60, 1).unwrap(), Control::new());
    let found =
        Neighbours::exact(features, 4, Metric::Euclidean, ZeroVectors::Error, &control).unwrap();
    let graph = PackedGraph::assemble(&Lists::from(&found), EdgeWeights::Symmetric, None, &control)
        .unwrap();
    let matrix = Matrix {
        values: Buffer::F64(x),
        n: 60,
        dim: 1,
    };
    (matrix, graph)
}

fn opened(file: &Path) -> Result<SavedGraph, Error> {
    let (read, mapped) = (
        SavedGraph::open(file, &Control::new()),
        SavedGraph::map(file),
    );
    match (&read, &mapped) {
        (Ok(one), Ok(other)) => {
            assert_eq!(one.graph.to_graph(), other.graph.to_graph());
            assert_eq!(one.provenance, other.provenance);
        }
        (Err(one), Err(other)) => assert_eq!(one.to_string(), other.to_string()),
        _ => panic!("read {read:?} but mapped {mapped:?}"),
    }
    read
}

#[test]
fn both_kinds_of_files_hold_the_graph_exactly() {
    let (matrix, graph) = built();
    let wide = graph.to_graph();
    let folder = tempfile::tempdir().unwrap();
    let (starts, columns, weights) = wide.csr();
    assert!(weights.iter().all(|&w| f64::from(w as f32) == w));
    assert!(weights.iter().any(|&w| w != w.round()));
    let sparse = folder.path().join("graph.npz");
    write_csr(&sparse, 60, starts, columns, weights).unwrap();
    let sparse = opened(&sparse).unwrap();
    assert_eq!(sparse.graph.to_graph(), wide);
    assert_eq!(sparse.provenance, None);

    let features = Fingerprint::of(&matrix);
    let provenance = GraphProvenance {
        k: 4,
        weights: EdgeWeights::Symmetric,
        metric: Metric::Euclidean,
        search: "exact".into(),
        seed: 0,
        dim: 1,
        features,
    };
    let ours = folder.path().join("graph.dialgraph");
    write_graph(&ours, &graph, &provenance, &Control::new()).unwrap();
    let ours = opened(&ours).unwrap();
    assert_eq!(ours.graph.to_graph(), wide);
    assert_eq!(ours.provenance, Some(provenance));

    // Of a sparse matrix only the number of items can be compared.
    let other = Fingerprint([7; 32]);
    for saved in [&sparse, &ours] {
        saved.check_features(60, &features).unwrap();
        let error = saved.check_features(59, &features).unwrap_err();
        assert_eq!(error.code(), "S14");
        assert!(error.to_string().contains("60 items and not 59"), "{error}");
    }
    sparse.check_features(60, &other).unwrap();
    assert_eq!(ours.check_features(60, &other).unwrap_err().code(), "S14");
}

/// Arrays as `scipy.sparse.save_npz` writes them: 0 and 1 are joined, and 1 and 2.
#[derive(Clone)]
struct Arrays {
    indptr: Vec<u8>,
    indices: Vec<u8>,
    data: Vec<u8>,
    shape: Vec<u8>,
}

impl Arrays {
    fn new() -> Arrays {
        Arrays {
            indptr: npy("'<i4'", "(4,)", &i32s(&[0, 1, 3, 4])),
            indices: npy("'<i4'", "(4,)", &i32s(&[1, 0, 2, 1])),
            data: npy("'<f8'", "(4,)", &f64s(&[3.0, 3.0, 1.0, 1.0])),
            shape: npy("'<i8'", "(2,)", &i64s(&[3, 3])),
        }
    }

    fn parts(&self, pack: fn(&'static str, Vec<u8>) -> Part) -> Vec<Part> {
        let Arrays {
            indptr,
            indices,
            data,
            shape,
        } = self.clone();
        let format = npy("'|S3'", "()", b"csr");
        vec![
            pack("indices.npy", indices),
            pack("indptr.npy", indptr),
            pack("format.npy", format),
            pack("shape.npy", shape),
            pack("data.npy", data),
        ]
    }

    fn read(&self) -> Result<SavedGraph, Error> {
        read(&self.parts(stored))
    }

    #[track_caller]
    fn refused(&self, says: &str) {
        refused(&self.parts(stored), says);
    }
}

fn i32s(values: &[i32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn read(parts: &[Part]) -> Result<SavedGraph, Error> {
    let folder = tempfile::tempdir().unwrap();
    let file: PathBuf = folder.path().join("w.NPZ");
    fs::write(&file, zip(parts)).unwrap();
    opened(&file)
}

#[track_caller]
fn refused(parts: &[Part], says: &str) {
    let error = read(parts).unwrap_err();
    let text = error.to_string();
    assert_eq!(error.code(), "I13", "{text}");
    assert!(text.contains(says), "{text}");
    assert!(text.contains("w.NPZ"), "it names the file: {text}");
}

/// What [`Arrays::new`] holds.
fn path_of_three() -> Graph {
    Graph::from_edges(3, &[(0, 1, 3.0), (1, 2, 1.0)]).unwrap()
}

#[test]
fn weights_and_indices_may_have_any_type_that_scipy_saves() {
    let good = Arrays::new();
    let read = |arrays: Arrays| arrays.read().unwrap().graph.to_graph();
    assert_eq!(read(good.clone()), path_of_three());
    let f4: Vec<u8> = [0.3f32, 0.3, 0.1, 0.1]
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let narrow = read(Arrays {
        data: npy("'<f4'", "(4,)", &f4),
        ..good.clone()
    });
    let (third, tenth) = (f64::from(0.3f32), f64::from(0.1f32));
    assert_eq!(narrow.csr().2, [third, third, tenth, tenth]);
    // An f64 that is no f32 is rounded to one.
    let rounded = read(Arrays {
        data: npy("'<f8'", "(4,)", &f64s(&[0.3, 0.3, 0.1, 0.1])),
        ..good.clone()
    });
    assert_eq!(rounded, narrow);
    for data in [
        npy("'<i8'", "(4,)", &i64s(&[3, 3, 1, 1])),
        npy("'<i4'", "(4,)", &i32s(&[3, 3, 1, 1])),
        npy("'|u1'", "(4,)", &[3, 3, 1, 1]),
    ] {
        let arrays = Arrays {
            data,
            ..good.clone()
        };
        assert_eq!(read(arrays), path_of_three());
    }
    let yes = read(Arrays {
        data: npy("'|b1'", "(4,)", &[1, 1, 1, 1]),
        ..good.clone()
    });
    assert_eq!(yes.csr().2, [1.0; 4]);
    let wide = Arrays {
        indptr: npy("'<i8'", "(4,)", &i64s(&[0, 1, 3, 4])),
        indices: npy("'<i8'", "(4,)", &i64s(&[1, 0, 2, 1])),
        ..good
    };
    assert_eq!(read(wide), path_of_three());
}

#[test]
fn columns_in_any_order_and_a_diagonal_are_fine() {
    // The middle row has its columns backwards, with a loop; the last has an explicit zero.
    let odd = Arrays {
        indptr: npy("'<i4'", "(4,)", &i32s(&[0, 1, 4, 6])),
        indices: npy("'<i4'", "(6,)", &i32s(&[1, 2, 1, 0, 0, 1])),
        data: npy("'<f8'", "(6,)", &f64s(&[3.0, 1.0, 9.0, 3.0, 0.0, 1.0])),
        ..Arrays::new()
    };
    let saved = odd.read().unwrap();
    assert_eq!(saved.graph.to_graph(), path_of_three());
    assert!(!saved.graph.adjacent(NodeId(0), NodeId(2)));
}

#[test]
fn a_compressed_archive_is_read_too() {
    // As scipy.sparse.save_npz writes it unless told otherwise.
    let saved = read(&Arrays::new().parts(deflated)).unwrap();
    assert_eq!(saved.graph.to_graph(), path_of_three());
}

#[test]
fn what_is_no_graph_is_refused() {
    let good = Arrays::new();
    let weighing = |weights: &[f64]| Arrays {
        data: npy("'<f8'", "(4,)", &f64s(weights)),
        ..good.clone()
    };
    weighing(&[3.0, 2.0, 1.0, 1.0]).refused("not symmetric at row 0");
    weighing(&[3.0, 3.0, 1.0, 0.0]).refused("not symmetric at row 1");
    for (weight, word) in [
        (f64::NAN, "NaN"),
        (f64::INFINITY, "inf"),
        (-1.0, "-1"),
        (1e39, "1000000"),
    ] {
        let says = format!("the weight {word}");
        weighing(&[3.0, 3.0, weight, weight]).refused(&says);
    }
    let misfits = [
        Arrays {
            data: npy("'<f8'", "(3,)", &f64s(&[3.0, 3.0, 1.0])),
            ..good.clone()
        },
        Arrays {
            indices: npy("'<i4'", "(3,)", &i32s(&[1, 0, 2])),
            ..good.clone()
        },
        Arrays {
            indices: npy("'<i4'", "(4,)", &i32s(&[1, 0, 3, 1])),
            ..good.clone()
        },
        Arrays {
            indptr: npy("'<i4'", "(4,)", &i32s(&[0, 3, 1, 4])),
            ..good.clone()
        },
        Arrays {
            indptr: npy("'<i4'", "(4,)", &i32s(&[0, 1, 3, 3])),
            ..good.clone()
        },
    ];
    misfits
        .iter()
        .for_each(|arrays| arrays.refused("do not fit together"));
    for indptr in [
        npy("'<f8'", "(4,)", &f64s(&[0.0, 1.0, 3.0, 4.0])),
        npy("'<i4'", "(4,)", &i32s(&[0, -1, 3, 4])),
    ] {
        let arrays = Arrays {
            indptr,
            ..good.clone()
        };
        arrays.refused("not indices");
    }
    let beyond = Arrays {
        indices: npy("'<i8'", "(4,)", &i64s(&[1, 0, 1 << 32, 1])),
        ..good.clone()
    };
    beyond.refused("not indices");
    let words = Arrays {
        data: build::letters("abcd"),
        ..good.clone()
    };
    words.refused("not numbers");
    for shape in [[3, 4], [4, 3]] {
        let wider = Arrays {
            shape: npy("'<i8'", "(2,)", &i64s(&shape)),
            ..good.clone()
        };
        wider.refused("as many columns as rows");
    }
    for name in ["indptr", "indices", "data"] {
        let mut parts = good.parts(stored);
        parts.retain(|part| part.name != format!("{name}.npy"));
        refused(&parts, &format!("it has no array {name:?}"));
    }
}

#[test]
fn what_is_neither_kind_of_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["w.npz", "w.dialgraph", "w"] {
        let file = folder.path().join(name);
        let missing = opened(&file).unwrap_err().to_string();
        assert!(missing.contains(name), "{missing}");
        fs::write(&file, "0,1,2\n").unwrap();
        let text = opened(&file).unwrap_err().to_string();
        assert!(text.contains(name), "{text}");
    }
}
