//! An engine built from a configuration against the same parts put together by hand: they ask the same questions.

use std::sync::Arc;

use dial::acquisition::Score;
use dial::acquisition::auto::Auto;
use dial::config::AcquisitionKind;
use dial::config::PropagationKind;
use dial::engine::{SEARCH_SEED, search};
use dial::graph::EdgeWeights;
use dial::graph::build::Lists;
use dial::graph::packed::PackedGraph;
use dial::knn::Neighbours;
use dial::knn::approximate::Effort;
use dial::knn::approximate::Search;
use dial::knn::metric_space::ZeroVectors;
use dial::linalg::local::Regime;
use dial::propagation::Poisson;
use dial::propagation::certified::Certified;
use dial::propagation::certified::Precision;
use dial::propagation::heat::Heat;
use dial::propagation::radial::Radial;
use dial::propagation::radial::Shape;
use dial::propagation::tau::Tau;
use dial::seed::{Purpose, Random};
use dial::*;

const N: usize = 240;
const DIM: usize = 3;
const K: usize = 8;

/// Three clouds, a third of the rows each, with some copies.
fn points() -> Vec<f64> {
    let mut random = Random::new(11, Purpose::User, 0);
    let mut x: Vec<f64> = (0..N * DIM)
        .map(|i| random.normal() + (i / DIM / 80) as f64 * 3.0 + 5.0)
        .collect();
    x[..12 * DIM].fill(4.5);
    x
}

fn neighbours(features: Features<'_>, metric: Metric) -> Neighbours {
    Neighbours::exact(features, K, metric, ZeroVectors::Error, &Control::new()).unwrap()
}

/// The configurations to compare. Two of the certified ones solve globally and locally.
fn configs() -> Vec<Config> {
    let base = Config {
        k: K,
        ..Config::paper()
    };
    let spread = |word: &str| Config {
        propagation: word.parse().unwrap(),
        ..base.clone()
    };
    let certified = |tolerance| Config {
        precision: Precision::Certified,
        tolerance,
        tau: Tau::Number(0.2),
        ..base.clone()
    };
    let mut configs = vec![
        base.clone(),
        spread("heat"),
        spread("heat:0.5"),
        spread("rbf"),
        spread("rbf:1.5"),
        spread("compact"),
        spread("compact:4"),
        certified(None),
        certified(Some(0.001)),
        Config {
            k: K,
            ..Config::default()
        },
        Config {
            acquisition: AcquisitionKind::Score(Score::Entropy),
            tau: Tau::TimesDegree(0.05),
            source_value: 2.5,
            ..base.clone()
        },
    ];
    for weights in [
        EdgeWeights::Gaussian,
        EdgeWeights::Uniform,
        EdgeWeights::Symmetric,
    ] {
        configs.push(Config {
            weights: Some(weights),
            policy: Policy::Proportional,
            seed: 7,
            ..base.clone()
        });
    }
    configs.push(Config {
        metric: Metric::Cosine,
        ..spread("rbf")
    });
    configs
}

/// The engine of a configuration from its parts, one by one.
fn by_hand(features: Features<'_>, config: &Config) -> Engine<'static> {
    let control = Control::new();
    let found = neighbours(features, config.metric);
    let graph = Arc::new(
        PackedGraph::assemble(
            &Lists::from(&found),
            config.weights.unwrap(),
            None,
            &control,
        )
        .unwrap()
        .to_graph(),
    );
    let compact = Arc::new(PackedGraph::new(&graph));
    let tau = config.tau.value(compact.mean_degree());
    let value = config.source_value;
    let reach = || {
        let last = |node: u32| found.of(NodeId(node)).last().unwrap().0.index();
        let far = |node: usize| features.squared_distance(node, last(node as u32)).sqrt();
        (0..N).map(far).sum::<f64>() / N as f64
    };
    let radial = |shape| Radial::new(features, shape).unwrap();
    let propagation: Arc<dyn Propagation> = match (config.propagation, config.precision) {
        (PropagationKind::Poisson, Precision::Faithful) => {
            let poisson = Poisson::new(Arc::clone(&graph), tau).unwrap();
            Arc::new(poisson.with_source_value(value).unwrap())
        }
        (PropagationKind::Poisson, Precision::Certified) => {
            let certified = Certified::new(Arc::clone(&compact), tau).unwrap();
            Arc::new(match config.tolerance {
                Some(tolerance) => certified.with_tolerance(tolerance).unwrap(),
                None => certified,
            })
        }
        (PropagationKind::Heat { time }, _) => {
            Arc::new(Heat::new(graph, time.unwrap_or(3.0)).unwrap())
        }
        (PropagationKind::Rbf { sigma }, _) => {
            let sigma = sigma.unwrap_or_else(reach);
            Arc::new(radial(Shape::Rbf { sigma }))
        }
        (PropagationKind::Compact { radius }, _) => {
            let radius = radius.unwrap_or_else(reach);
            Arc::new(radial(Shape::Compact { radius }))
        }
    };
    let acquisition: Arc<dyn Acquisition> = match config.acquisition {
        AcquisitionKind::Auto => Arc::new(Auto::new(Arc::clone(&propagation), &control).unwrap()),
        AcquisitionKind::Score(score) => Arc::new(score),
    };
    Engine {
        config: config.clone(),
        graph: Some(compact),
        ..Engine::with(propagation).asking_by(acquisition)
    }
}

/// The first ten questions, one at a time, and a batch after them.
fn questions(engine: &Engine<'_>) -> Vec<Question> {
    let control = Control::new();
    let mut session = engine.session(&["a", "b", "c"], &control).unwrap();
    let mut asked = Vec::new();
    for _ in 0..10 {
        let question = session.ask(1).unwrap().questions.remove(0);
        let class = ClassId((question.node.0 / 80) as u16);
        session.tell(&question.item, class, &control).unwrap();
        asked.push(question);
    }
    asked.extend(session.ask(5).unwrap().questions);
    asked
}

#[test]
fn it_asks_what_its_parts_put_together_by_hand_ask() {
    let (x, control) = (points(), Control::new());
    let narrow: Vec<f32> = x.iter().map(|&value| value as f32).collect();
    for features in [
        Features::f64(&x, N, DIM).unwrap(),
        Features::f32(&narrow, N, DIM).unwrap(),
    ] {
        for config in configs() {
            let built = Engine::build(features, &config, &control).unwrap();
            let asked = questions(&built);
            assert_eq!(asked, questions(&by_hand(features, &config)), "{config:?}");
            // From neighbours that are there, and on the graph that is there.
            let found = search(features, &config, &control).unwrap();
            let of = Engine::of(features, &found, &config, &control).unwrap();
            assert_eq!((&of.config, questions(&of)), (&built.config, asked.clone()));
            let graph = built.graph.clone().unwrap();
            let read = config.propagation.is_radial().then_some(features);
            let on = Engine::on(graph, read, &built.config, &control).unwrap();
            assert_eq!(questions(&on), asked, "{config:?}");
        }
    }
}

#[test]
fn configurations_differ_in_what_they_ask() {
    // Otherwise the comparison above would say little.
    let x = points();
    let features = Features::f64(&x, N, DIM).unwrap();
    let mut runs: Vec<Vec<NodeId>> = Vec::new();
    for config in configs() {
        let engine = Engine::build(features, &config, &Control::new()).unwrap();
        runs.push(questions(&engine).iter().map(|asked| asked.node).collect());
    }
    runs.sort_unstable();
    runs.dedup();
    // The two certified ones may ask what each other asks.
    assert!(runs.len() + 1 >= configs().len(), "{}", runs.len());
}

#[test]
fn an_approximate_search_is_used_in_its_own_order() {
    let (x, control) = (points(), Control::new());
    let features = Features::f64(&x, N, DIM).unwrap();
    let config = Config {
        k: K,
        search: Search::Approximate,
        ..Config::paper()
    };
    let found = Neighbours::approximate(
        features,
        K,
        Metric::Euclidean,
        ZeroVectors::Error,
        SEARCH_SEED,
        Effort::default(),
        &control,
    )
    .unwrap();
    let lists = Lists::from(&found.neighbours);
    let order = found.order.clone();
    let graph = PackedGraph::assemble(&lists, EdgeWeights::SelfTuning, order, &control).unwrap();
    let poisson = Poisson::new(Arc::new(graph.to_graph()), 0.1).unwrap();
    let by_hand = Engine {
        graph: Some(Arc::new(graph)),
        ..Engine::with(Arc::new(poisson))
    };
    let built = Engine::build(features, &config, &control).unwrap();
    assert_eq!(questions(&built), questions(&by_hand));
    let order: Vec<NodeId> = (0..N)
        .map(|p| built.graph.as_ref().unwrap().node(p))
        .collect();
    assert_eq!(Some(order), found.order);
}

#[test]
fn its_graph_is_the_graph_of_its_neighbours_bit_by_bit() {
    let x = points();
    let features = Features::f64(&x, N, DIM).unwrap();
    let found = neighbours(features, Metric::Euclidean);
    for &weights in EdgeWeights::ALL {
        let config = Config {
            k: K,
            weights: Some(weights),
            ..Config::default()
        };
        let engine = Engine::build(features, &config, &Control::new()).unwrap();
        let graph = PackedGraph::assemble(&Lists::from(&found), weights, None, &Control::new())
            .unwrap()
            .to_graph();
        assert_eq!(engine.graph.as_ref().unwrap().to_graph(), graph);
        let degree = engine.graph.as_ref().unwrap().mean_degree();
        assert_eq!(engine.tau(), Some(0.03 * degree));
        let mean = graph.degrees().iter().sum::<f64>() / N as f64;
        assert!((degree - mean).abs() < 1e-12);
    }
}

#[test]
fn source_value_and_tolerance_reach_the_propagation() {
    let (x, control) = (points(), Control::new());
    let features = Features::f64(&x, N, DIM).unwrap();
    for config in configs() {
        let config = Config {
            source_value: 2.5,
            ..config
        };
        let engine = Engine::build(features, &config, &control).unwrap();
        let source = NodeId(100);
        let column = engine.propagation.columns(&[source], &control).unwrap();
        assert_eq!(column[0][source.index()], 2.5, "{config:?}");
        assert_eq!(engine.propagation.source_value(), 2.5);
    }
    let solving = |tolerance| {
        let config = Config {
            precision: Precision::Certified,
            tolerance,
            tau: Tau::Number(0.2),
            k: K,
            ..Config::paper()
        };
        let engine = Engine::build(features, &config, &control).unwrap();
        engine.session(&["a", "b"], &control).unwrap().solving()
    };
    let given = solving(Some(0.004)).unwrap();
    assert_eq!((given.tolerance, given.regime), (0.004, Regime::Local));
    assert_eq!(solving(None).unwrap().tolerance, 0.001);
}

#[test]
fn a_width_that_was_left_open_is_filled_in() {
    let (x, control) = (points(), Control::new());
    let features = Features::f64(&x, N, DIM).unwrap();
    let config = |word: &str| Config {
        k: K,
        propagation: word.parse().unwrap(),
        ..Config::paper()
    };
    let built = |word| Engine::build(features, &config(word), &control).unwrap();
    let PropagationKind::Rbf { sigma: Some(sigma) } = built("rbf").config.propagation else {
        panic!("a width");
    };
    let compact = built("compact").config.propagation;
    let radius = Some(sigma);
    assert_eq!(compact, PropagationKind::Compact { radius });
    let given = config("rbf:1.5");
    assert_eq!(
        built("rbf:1.5").config,
        given,
        "and nothing else is changed"
    );
}

#[test]
fn radial_propagation_needs_features_and_a_width() {
    let (x, control) = (points(), Control::new());
    let features = Features::f64(&x, N, DIM).unwrap();
    let config = |word: &str| Config {
        k: K,
        propagation: word.parse().unwrap(),
        ..Config::paper()
    };
    let engine = Engine::build(features, &config("poisson"), &control).unwrap();
    let on = |features, word: &str| {
        let graph = engine.graph.clone().unwrap();
        Engine::on(graph, features, &config(word), &control).err()
    };
    for kind in ["rbf", "compact"] {
        let wide = format!("{kind}:2");
        for (features, word) in [(None, kind), (None, wide.as_str()), (Some(features), kind)] {
            let refused = on(features, word);
            // What is missing is named: the width first, then the features.
            let want = if word == kind {
                ("sigma", "none")
            } else {
                ("propagation", word)
            };
            let named = matches!(&refused, Some(Error::BadSetting { name, got, .. })
                if (*name, got.as_str()) == want);
            assert!(named, "{word}: {refused:?}");
        }
        assert_eq!(on(Some(features), &wide), None);
    }
    assert_eq!(on(None, "heat"), None);
    // The rows must be those of the graph.
    let fewer = Features::f64(&x[..10 * DIM], 10, DIM).unwrap();
    let graph = engine.graph.clone().unwrap();
    let wrong = Engine::on(graph, Some(fewer), &config("rbf:2"), &control)
        .and_then(|engine| engine.session(&["a", "b"], &control));
    assert!(matches!(wrong.err(), Some(Error::Conflict(_))));
}

#[test]
fn choices_that_do_not_go_together_are_refused_before_the_search() {
    // Ten rows have no 20 neighbours: the search would say so.
    let x: Vec<f64> = (0..10).map(f64::from).collect();
    let features = Features::f64(&x, 10, 1).unwrap();
    let build = |config: &Config| Engine::build(features, config, &Control::new()).err();
    assert_eq!(
        build(&Config::paper()),
        Some(Error::TooFewItems { k: 20, n: 10 })
    );
    let refused = Config {
        precision: Precision::Certified,
        propagation: PropagationKind::Heat { time: Some(1.0) },
        ..Config::paper()
    };
    assert_eq!(build(&refused).unwrap().code(), "U1");
}

#[test]
fn what_is_changed_of_an_engine_is_what_its_sessions_use() {
    let (x, control) = (points(), Control::new());
    let features = Features::f64(&x, N, DIM).unwrap();
    let config = Config {
        k: K,
        policy: Policy::Uniform,
        ..Config::paper()
    };
    let engine = Engine::build(features, &config, &control).unwrap();
    assert_ne!(questions(&engine), questions(&engine.seeded(1)));
    assert_eq!(questions(&engine), questions(&engine.seeded(1).seeded(0)));
    let ids = (0..N).map(|row| format!("item {row}")).collect();
    let named = engine.clone().with_items(Items::named(ids).unwrap());
    for (named, row) in questions(&named).iter().zip(questions(&engine)) {
        assert_eq!(
            (named.node, named.item.as_str()),
            (row.node, &*format!("item {}", row.item))
        );
    }
    let odd: Vec<bool> = (0..N).map(|row| row % 2 == 1).collect();
    let odd = engine.clone().asking_only(Some(Arc::new(odd)));
    assert!(questions(&odd).iter().all(|asked| asked.node.0 % 2 == 1));
    let session = odd.session(&["a", "b"], &control).unwrap();
    assert_eq!(session.engine().config, engine.config);
}
