//! The rivals (k-centre, ProbCover, herding, TypiClust) against slow obvious twins, and on pools where the answer is plain.

#[path = "../../dial/tests/common/mod.rs"]
mod common;

use std::sync::Arc;

use dial::acquisition::Situation;
use dial::knn::points::Points;
use dial::propagation::radial::{Radial, Shape};
use dial::seed::{Purpose, Random};
use dial::{Acquisition, Config, Control, DirichletField, Engine, Error, Features, Metric, NodeId};
use dial_baselines::methods::{Method, Workbench};
use dial_baselines::{
    Clusterings, Distances, KCentre, MaxHerding, ProbCover, TypiClust, UncertaintyHerding,
};

/// Everything the methods are made from.
struct Pool {
    points: Arc<Points>,
    distances: Arc<Distances>,
    clusterings: Arc<Clusterings>,
}

impl Pool {
    fn new(x: &[f64], dim: usize, metric: Metric) -> Pool {
        let points =
            Arc::new(Points::new(Features::f64(x, x.len() / dim, dim).unwrap(), metric).unwrap());
        let distances = Arc::new(Distances::new(&points, &Control::new()).unwrap());
        Pool {
            clusterings: Arc::new(Clusterings::new(Arc::clone(&distances))),
            distances,
            points,
        }
    }

    fn n(&self) -> usize {
        self.points.n()
    }

    /// |x_i - x_j|²/s².
    fn squared(&self, i: usize, j: usize) -> f64 {
        self.points.squared_distance(i, self.points.row(j)) / self.points.spread()
    }

    fn all(&self) -> [(&'static str, Box<dyn Acquisition>); 5] {
        let (distances, clusterings) = (
            || Arc::clone(&self.distances),
            || Arc::clone(&self.clusterings),
        );
        [
            ("k-centre", Box::new(KCentre::new(Arc::clone(&self.points)))),
            ("probcover", Box::new(ProbCover::new(clusterings()))),
            ("max-herding", Box::new(MaxHerding::new(distances()))),
            (
                "uncertainty-herding",
                Box::new(UncertaintyHerding::new(distances())),
            ),
            ("typiclust", Box::new(TypiClust::new(clusterings()))),
        ]
    }
}

/// Clouds of the given sizes around places far from each other, with copies.
fn clouds(sizes: &[usize], dim: usize, apart: f64) -> Vec<f64> {
    let mut random = Random::new(4, Purpose::User, dim as u64);
    let mut x = Vec::new();
    for (cloud, &size) in sizes.iter().enumerate() {
        for member in 0..size {
            match member % 12 {
                11 => x.extend_from_within(x.len() - dim..),
                _ => x.extend(
                    (0..dim).map(|c| if c == cloud % dim { apart * (1 + cloud) as f64 } else { 0.0 } + random.normal()),
                ),
            }
        }
    }
    x
}

fn scores(
    acquisition: &dyn Acquisition,
    field: &DirichletField,
    order: &[NodeId],
    seed: u64,
) -> Vec<f64> {
    let mut labelled = order.to_vec();
    labelled.sort_unstable();
    let now = Situation {
        labelled: &labelled,
        order,
        round: order.len() as u64,
        ..Situation::at_start(field, seed)
    };
    let mut out = vec![f64::NAN; field.n()];
    acquisition.scores(&now, &mut out).unwrap();
    out
}

fn best(scores: &[f64], order: &[NodeId]) -> NodeId {
    let open = (0..scores.len()).filter(|i| !order.contains(&NodeId(*i as u32)));
    NodeId(
        open.max_by(|&a, &b| scores[a].total_cmp(&scores[b]).then(b.cmp(&a)))
            .unwrap() as u32,
    )
}

fn nodes(some: &[u32]) -> Vec<NodeId> {
    some.iter().copied().map(NodeId).collect()
}

/// A field that knows something near some nodes.
fn field(pool: &Pool, classes: usize) -> DirichletField {
    let mut field = DirichletField::new(pool.n(), classes, 0.1);
    for class in 0..classes {
        let column: Vec<f64> = (0..pool.n())
            .map(|i| libm::exp(-3.0 * pool.squared(i, class * 7)))
            .collect();
        field.add(class, 1.0, &column);
    }
    field
}

#[test]
fn the_farthest_point_is_asked() {
    for metric in [Metric::Euclidean, Metric::Cosine] {
        let pool = Pool::new(&clouds(&[30, 20, 9], 3, 4.0), 3, metric);
        let (k_centre, field) = (KCentre::new(Arc::clone(&pool.points)), field(&pool, 2));
        let start = best(&scores(&k_centre, &field, &[], 0), &[]);
        let from_mean = |i: usize| pool.points.squared_distance(i, &pool.points.mean());
        assert!(
            (0..pool.n()).all(|i| from_mean(start.index()) <= from_mean(i)),
            "{metric}"
        );
        let order = nodes(&[start.0, 3, 40]);
        let got = scores(&k_centre, &field, &order, 0);
        for (i, got) in got.iter().enumerate() {
            let squares = order
                .iter()
                .map(|l| pool.points.squared_distance(i, pool.points.row(l.index())));
            assert_eq!(
                *got,
                squares.fold(f64::INFINITY, f64::min).sqrt(),
                "{metric} {i}"
            );
        }
    }
}

#[test]
fn the_radius_is_the_largest_with_pure_balls_and_balls_count_what_is_open() {
    let pool = Pool::new(&clouds(&[60, 50, 30], 2, 2.0), 2, Metric::Euclidean);
    let (probcover, field, seed) = (
        ProbCover::new(Arc::clone(&pool.clusterings)),
        field(&pool, 3),
        5,
    );
    let radius = probcover.radius(seed, 3);
    let (n, clusters) = (pool.n(), pool.clusterings.clusters(seed, 3));
    let pure = |radius: f32| {
        let pure = |i: &usize| {
            (0..n).all(|j| pool.distances.of(*i)[j] >= radius || clusters[*i] == clusters[j])
        };
        (0..n).filter(pure).count() as f64 / n as f64
    };
    assert!(pure(radius) >= 0.95, "{}", pure(radius));
    assert!(pure(radius.next_up()) < 0.95, "{}", pure(radius.next_up()));
    for order in [nodes(&[]), nodes(&[7]), nodes(&[7, 90, 100, 12])] {
        let got = scores(&probcover, &field, &order, seed);
        let within = |i: usize, j: usize| pool.distances.of(i)[j] < radius;
        for (x, got) in got.iter().enumerate() {
            let open = |z: &usize| within(x, *z) && !order.iter().any(|l| within(l.index(), *z));
            let want = (0..n).filter(open).count() as f64;
            assert!((want..want + 0.5).contains(got), "{x}: {got} not {want}");
        }
    }
}

#[test]
fn herding_scores_are_the_coverage_that_is_won() {
    let pool = Pool::new(&clouds(&[45, 33, 5], 4, 3.0), 4, Metric::Euclidean);
    let (n, field) = (pool.n(), field(&pool, 3));
    // The margin with a prior of 0.001, whatever that of the field.
    let margin = |i: usize| {
        let mut evidence: Vec<f64> = (0..3).map(|class| field.plane(class)[i]).collect();
        evidence.sort_by(|a, b| b.total_cmp(a));
        (evidence[0] - evidence[1]) / (evidence.iter().sum::<f64>() + 0.003)
    };
    for order in [nodes(&[]), nodes(&[3]), nodes(&[3, 50, 81, 20])] {
        let apart = order
            .iter()
            .flat_map(|a| order.iter().map(|b| pool.squared(a.index(), b.index())));
        let least = apart.filter(|d| *d > 0.0).fold(f64::INFINITY, f64::min);
        let width = if least < f64::INFINITY { least } else { 1.0 };
        for (uncertain, width) in [(false, 1.0), (true, width)] {
            let herding: Box<dyn Acquisition> = match uncertain {
                true => Box::new(UncertaintyHerding::new(Arc::clone(&pool.distances))),
                false => Box::new(MaxHerding::new(Arc::clone(&pool.distances))),
            };
            let covered = |labels: &[NodeId]| {
                let best = |z: usize| {
                    let values = labels
                        .iter()
                        .map(|l| libm::exp(-pool.squared(z, l.index()) / width));
                    values.fold(0.0, f64::max) * if uncertain { 1.0 - margin(z) } else { 1.0 }
                };
                (0..n).map(best).sum::<f64>() / n as f64
            };
            for (x, got) in scores(&*herding, &field, &order, 0).iter().enumerate() {
                let want = covered(&[&order[..], &[NodeId(x as u32)]].concat()) - covered(&order);
                assert!(
                    (got - want).abs() < 3e-6,
                    "{uncertain} {x}: {got} not {want}"
                );
            }
        }
    }
}

#[test]
fn typicality_ranks_the_members_of_the_largest_cluster_without_labels() {
    let pool = Pool::new(&clouds(&[70, 40, 20, 3], 2, 5.0), 2, Metric::Euclidean);
    let (typiclust, field) = (
        TypiClust::new(Arc::clone(&pool.clusterings)),
        field(&pool, 2),
    );
    for order in [nodes(&[]), nodes(&[1]), nodes(&[1, 80, 81, 120, 5, 6, 7])] {
        let got = scores(&typiclust, &field, &order, 9);
        let clusters = pool.clusterings.clusters(9, order.len() + 1);
        let members =
            |c: u32| -> Vec<usize> { (0..pool.n()).filter(|&i| clusters[i] == c).collect() };
        let labels = |c: u32| order.iter().filter(|l| clusters[l.index()] == c).count();
        let mut ranked: Vec<u32> = (0..=order.len() as u32).collect();
        ranked.sort_by_key(|&c| {
            (
                members(c).len() < 5,
                labels(c),
                pool.n() - members(c).len(),
                c,
            )
        });
        let typicality = |i: usize| {
            let mut all: Vec<f64> = members(clusters[i])
                .iter()
                .filter(|j| **j != i)
                .map(|&j| pool.squared(i, j).sqrt())
                .collect();
            all.sort_by(f64::total_cmp);
            all.truncate(20);
            all.len() as f64 / all.iter().sum::<f64>()
        };
        // The best of each cluster come first, in the order of the clusters.
        let mut asked = order.clone();
        for &cluster in ranked.iter().take(32) {
            let node = best(&got, &asked);
            assert_eq!(clusters[node.index()], cluster);
            let rivals = members(cluster)
                .into_iter()
                .filter(|i| !order.contains(&NodeId(*i as u32)));
            assert!(
                rivals
                    .map(typicality)
                    .all(|t| t <= typicality(node.index()) * (1.0 + 1e-6))
            );
            asked.push(node);
        }
    }
}

/// Three far clouds of 60, 40 and 25: whoever looks for coverage asks one of each, and the largest first.
#[test]
fn three_clouds_take_three_questions() {
    let sizes = [60, 40, 25];
    let pool = Pool::new(&clouds(&sizes, 3, 60.0), 3, Metric::Euclidean);
    let cloud = |node: NodeId| {
        (0..3)
            .find(|&c| node.index() < sizes[..=c].iter().sum())
            .unwrap()
    };
    for (name, method) in pool.all() {
        for seed in 0..3 {
            let field = DirichletField::new(pool.n(), 3, 1.0);
            let mut order = Vec::new();
            for _ in 0..3 {
                order.push(best(&scores(&*method, &field, &order, seed), &order));
            }
            let met: Vec<usize> = order.iter().map(|&node| cloud(node)).collect();
            let mut all = met.clone();
            all.sort_unstable();
            assert_eq!(all, [0, 1, 2], "{name} asked {met:?}");
            // Those that count points begin with the most; k-centre does not count.
            assert!(
                name == "k-centre" || name == "typiclust" || met == [0, 1, 2],
                "{name} asked {met:?}"
            );
        }
    }
}

#[test]
fn what_was_asked_before_and_the_number_of_threads_do_not_matter() {
    let x = clouds(&[150, 90, 70], 5, 2.0);
    let order = nodes(&[17, 160, 3, 300, 250, 80]);
    let run = |threads: usize, prefixes: &[usize]| -> Vec<Vec<u64>> {
        let workers = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        workers.install(|| {
            let pool = Pool::new(&x, 5, Metric::Euclidean);
            let field = field(&pool, 3);
            let last = |method: &dyn Acquisition| {
                let all = prefixes
                    .iter()
                    .map(|&count| scores(method, &field, &order[..count], 1));
                all.last()
                    .unwrap()
                    .iter()
                    .map(|score| score.to_bits())
                    .collect()
            };
            pool.all()
                .iter()
                .map(|(_, method)| last(&**method))
                .collect()
        })
    };
    let straight = run(1, &[6]);
    assert_eq!(run(4, &[6]), straight);
    assert_eq!(run(3, &[0, 1, 2, 3, 4, 5, 6]), straight);
    assert_eq!(run(2, &[2, 0, 6, 3, 6]), straight);
}

fn bench(features: Features<'_>, k: usize, eigenpairs: usize) -> Workbench<'_> {
    let config = Config {
        k,
        ..Config::paper()
    };
    Workbench::build(features, &config, eigenpairs, &Control::new()).unwrap()
}

#[test]
fn the_workbench_makes_all_of_them_and_refuses_what_is_too_large() {
    let x = clouds(&[40, 30, 20], 2, 2.0);
    let features = Features::f64(&x, 90, 2).unwrap();
    let few = bench(features, 5, 5);
    let field = DirichletField::new(90, 2, 1.0);
    let labels = [vec![(NodeId(3), 1.0)], vec![(NodeId(50), 1.0)]];
    let order = nodes(&[50, 3]);
    let now = Situation {
        labelled: &nodes(&[3, 50]),
        order: &order,
        labels: &labels,
        ..Situation::at_start(&field, 0)
    };
    for word in [
        "k-centre",
        "typiclust",
        "probcover",
        "max-herding",
        "uncertainty-herding",
        "rwll-norm",
        "margin@logistic",
        "auto",
    ] {
        let method: Method = word.parse().unwrap();
        let engine = few.asking_by(method, &Control::new()).unwrap();
        let mut out = vec![f64::NAN; 90];
        engine.acquisition.scores(&now, &mut out).unwrap();
        assert!(out.iter().all(|score| score.is_finite()), "{word}");
        assert!(out.iter().any(|score| *score != out[0]), "{word}");
    }
    let many: Vec<f64> = (0..10_001).map(f64::from).collect();
    let many = bench(Features::f64(&many, 10_001, 1).unwrap(), 2, 1);
    for word in [
        "typiclust",
        "probcover",
        "max-herding",
        "uncertainty-herding",
    ] {
        let refused = many.asking_by(word.parse().unwrap(), &Control::new());
        assert_eq!(refused.err().unwrap().code(), "U1", "{word}");
    }
    let k_centre = "k-centre".parse().unwrap();
    assert!(many.asking_by(k_centre, &Control::new()).is_ok());
}

#[test]
fn the_workbench_says_what_it_lacks_and_makes_auto_once() {
    let (x, control) = (clouds(&[40, 30, 20], 2, 2.0), Control::new());
    let features = Features::f64(&x, 90, 2).unwrap();
    let engine = Engine::build(features, &Config::default(), &control).unwrap();
    let bench = Workbench::new(&engine, features, None, 5);
    let auto = bench.asking_by(Method::Auto, &control).unwrap();
    assert!(Arc::ptr_eq(&auto.acquisition, &engine.acquisition));
    let land = bench.asking_by(Method::Land, &control).err().unwrap();
    assert_eq!(land.code(), "U1", "LAND reads distances");
    let radial = Arc::new(Radial::new(features, Shape::Rbf { sigma: 1.0 }).unwrap());
    let bench = Workbench::new(&Engine::with(radial), features, None, 5);
    assert!(bench.asking_by(Method::KCentre, &control).is_ok());
    let refused = bench.asking_by(Method::VOpt, &control).err();
    assert!(matches!(refused, Some(Error::BadGraph(_))), "{refused:?}");
}
