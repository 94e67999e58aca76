//! The layout of a map: clouds that principal components lay on top of each other come apart, with the same bits for any
//! number of threads.

mod common;

use dial::graph::EdgeWeights;
use dial::graph::layout::layout;
use dial::graph::packed::PackedGraph;
use dial::seed::{Purpose, Random};
use dial::{Control, Error, Features, Metric};

const CLOUD: usize = 200;

/// Three clouds in ten dimensions: in the first two all of them are spread alike, and most widely; in the others they lie
/// apart. Returns the rows, and the first two coordinates, which are the first two principal components.
fn clouds() -> (Vec<f64>, Vec<[f32; 2]>) {
    let mut random = Random::new(4, Purpose::User, 0);
    let (mut rows, mut plane) = (Vec::new(), Vec::new());
    for item in 0..3 * CLOUD {
        let mut row: Vec<f64> = (0..10).map(|_| random.normal()).collect();
        (row[0], row[1]) = (7.0 * row[0], 7.0 * row[1]);
        row[3 + item / CLOUD] += 8.0;
        plane.push([row[0] as f32, row[1] as f32]);
        rows.extend(row);
    }
    (rows, plane)
}

fn graph(rows: &[f64]) -> PackedGraph {
    let features = Features::f64(rows, 3 * CLOUD, 10).unwrap();
    PackedGraph::new(&common::graph(
        features,
        10,
        Metric::Euclidean,
        EdgeWeights::SelfTuning,
    ))
}

/// The share of the ten nearest in the plane that are of the same cloud.
fn share(plane: &[[f32; 2]]) -> f64 {
    let mut same = 0;
    for (item, at) in plane.iter().enumerate() {
        let far =
            |other: &usize| (plane[*other][0] - at[0]).powi(2) + (plane[*other][1] - at[1]).powi(2);
        let mut others: Vec<usize> = (0..plane.len()).filter(|other| *other != item).collect();
        others.sort_by(|a, b| far(a).total_cmp(&far(b)));
        same += others[..10]
            .iter()
            .filter(|&&other| other / CLOUD == item / CLOUD)
            .count();
    }
    same as f64 / (10 * plane.len()) as f64
}

/// The share of edges of the graph that join nodes among the thirty nearest in the plane.
fn kept(graph: &PackedGraph, plane: &[[f32; 2]]) -> f64 {
    let (mut near, mut all) = (0, 0);
    for (item, at) in plane.iter().enumerate() {
        let far =
            |other: &usize| (plane[*other][0] - at[0]).powi(2) + (plane[*other][1] - at[1]).powi(2);
        let mut others: Vec<usize> = (0..plane.len()).filter(|other| *other != item).collect();
        others.sort_by(|a, b| far(a).total_cmp(&far(b)));
        let (neighbours, _) = graph.row(graph.place(dial::NodeId(item as u32)));
        let joined = |other: &&usize| {
            neighbours.contains(&(graph.place(dial::NodeId(**other as u32)) as u32))
        };
        near += others[..30].iter().filter(joined).count();
        all += neighbours.len();
    }
    near as f64 / all as f64
}

#[test]
fn clouds_come_apart_and_neighbours_stay_near() {
    let (rows, plane) = clouds();
    let graph = graph(&rows);
    let found = layout(&graph, &plane, 1, &Control::new(), &mut |_| {}).unwrap();
    let (before, after) = (share(&plane), share(&found));
    assert!(
        before < 0.45,
        "the components cannot tell the clouds apart: {before}"
    );
    assert!(after > 0.9, "{after}");
    let (before, after) = (kept(&graph, &plane), kept(&graph, &found));
    assert!(after > before + 0.1, "{before} to {after}");
}

#[test]
fn bits_do_not_depend_on_threads_and_another_seed_differs() {
    let (rows, plane) = clouds();
    let graph = graph(&rows);
    let run = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let mut shown = Vec::new();
        let found = pool.install(|| {
            let mut watch = |positions: &[[f32; 2]]| shown.extend(positions.to_vec());
            layout(&graph, &plane, seed, &Control::new(), &mut watch).unwrap()
        });
        let bits = |positions: Vec<[f32; 2]>| {
            positions
                .into_iter()
                .flatten()
                .map(f32::to_bits)
                .collect::<Vec<u32>>()
        };
        (bits(found), bits(shown))
    };
    assert_eq!(run(1, 5), run(4, 5));
    assert_ne!(run(1, 5).0, run(1, 6).0);
}

#[test]
fn a_layout_can_be_cancelled_on_the_way() {
    let (rows, plane) = clouds();
    let (graph, control) = (graph(&rows), Control::new());
    let (stop, mut calls) = (control.clone(), 0);
    let stopped = layout(&graph, &plane, 1, &control, &mut |_| {
        calls += 1;
        stop.cancel();
    });
    assert_eq!((stopped, calls), (Err(Error::Cancelled), 1));
}
