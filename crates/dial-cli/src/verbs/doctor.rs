//! `dial doctor`: is this pool fit for labelling with these settings?

use std::path::Path;
use std::sync::Arc;

use dial::config::PropagationKind;
use dial::knn::Neighbours;
use dial::{Choices, Engine, Graph, NodeId};
use dial_data::{Buffer, Copies, Embed, Pool, ReadOptions, Show, Truth};
use dial_store::{Export, Folder, Journal, PreparedPool, Project, Row};
use serde_json::{Value, json};

use crate::cli::args::Doctor;
use crate::cli::pool_args::embeddings_of;
use crate::plan::compare::{self, Comparison};
use crate::plan::graph_file;
use crate::plan::memory::{self, Shape, Work};
use crate::plan::prepare::{self, Built};
use crate::plan::project::{self, now};
use crate::ui::failure::Failure;
use crate::ui::items;
use crate::ui::output::{Output, count};

/// The number of class sizes that the text lists.
const MAX_CLASS_SIZES: usize = 20;
/// The number of groups of copies whose items are named, and the number of those in the text.
const MAX_GROUPS: usize = 5;
const MAX_NAMED: usize = 4;

/// Runs the command.
pub fn run(args: &Doctor, output: &Output) -> Result<(), Failure> {
    let place = &args.engine.pool.pool;
    if args.verify || graph_file::holds_graph(Path::new(place)) {
        return graph_file::examine(place, args.verify, output);
    }
    if project::is_project(Path::new(place)) {
        return of_project(args, output);
    }
    let file = args.engine.saved.as_ref();
    let work = if file.is_some() {
        Work::LabelSaved(0)
    } else {
        Work::Label(0)
    };
    let choices = prepare::paper(prepare::choices(&args.engine)?);
    prepare::check(&choices)?;
    let pool = prepare::open(&args.engine.pool, &args.engine.graph, work, output)?;
    let quiet = Output {
        quiet: true,
        ..*output
    };
    // Settings that make no sense fail here as they would in a session.
    let built = prepare::build(&pool, &choices, file, &quiet)?;
    examine(
        place,
        &args.engine.pool.options(),
        &pool,
        &built,
        work,
        output,
    )
}

/// The pool of a project as the project reads it, with its answers as the known labels.
fn of_project(args: &Doctor, output: &Output) -> Result<(), Failure> {
    let (typed, mut how) = (&args.engine, args.engine.pool.how.clone());
    // A model is typed to see whether it would be better.
    let model = how.embed.take();
    let nothing = ReadOptions::default();
    if prepare::choices(typed)? != Choices::default()
        || how.options() != nothing
        || !how.ignore_label.is_empty()
        || typed.graph.memory_limit.is_some()
        || typed.saved.is_some()
    {
        let text = "a project has its own options for the pool, the graph and the propagation";
        return Err(Failure::settings(format!(
            "{text}. Leave all of them out but --embed."
        )));
    }
    let folder = Folder(typed.pool.pool.clone().into());
    let project = Project::open_to_read(&folder.0, Journal::Wal, now())?;
    let Some(mut recipe) = project.log().recipe().cloned() else {
        let text = format!("{}: it does not say what its pool is", typed.pool.pool);
        return Err(Failure::settings(format!("{text}. Use dial doctor POOL.")));
    };
    if let Some(model) = model {
        let before = recipe.reading.embed.take();
        let kept = before.and_then(|before| before.kept);
        recipe.reading.embed = Some(Embed {
            kept: kept.or_else(|| Some(embeddings_of(&folder.0.with_extension("")))),
            ..model
        });
        recipe.reading.features_file = None;
    }
    let prepared = PreparedPool::open(&recipe, &folder, &output.control())?;
    let PreparedPool {
        mut pool, engine, ..
    } = prepared;
    pool.truth = Some(answers(&project, &pool));
    let features = pool.matrix.features()?;
    let neighbours = match recipe.graph {
        Some(_) => None,
        None => Some(prepare::search(&pool, &engine.config, output)?.neighbours),
    };
    let built = Built {
        features,
        neighbours: neighbours.map(Arc::new),
        engine,
    };
    let (place, options) = (recipe.pool_now(&folder.0), recipe.reading_now(&folder.0));
    examine(&place, &options, &pool, &built, Work::Label(0), output)
}

/// What the answers of a project come to, as labels of its pool.
fn answers(project: &Project, pool: &Pool) -> Truth {
    let numbers = || (0..pool.matrix.n).map(|row| row.to_string()).collect();
    let export = Export::labels(project.log(), &pool.ids.clone().unwrap_or_else(numbers));
    let class = |row: &Row| {
        let (name, _) = row.consensus()?.label?;
        let place = export.classes.iter().position(|class| class == name)?;
        u16::try_from(place).ok()
    };
    Truth {
        labels: export.rows.iter().take(pool.matrix.n).map(class).collect(),
        classes: export.classes.clone(),
        clusters: None,
    }
}

/// Examines a pool that was read from a place with some options.
fn examine(
    place: &str,
    options: &ReadOptions,
    pool: &Pool,
    built: &Built<'_>,
    work: Work,
    output: &Output,
) -> Result<(), Failure> {
    let (engine, truth) = (&built.engine, pool.truth.as_ref());
    let Some(graph) = engine.graph.as_ref().map(|graph| graph.to_graph()) else {
        unreachable!("an engine that was built has a graph");
    };
    let mut exam = Exam::default();
    exam.features(pool, built);
    exam.copies(pool, output)?;
    exam.graph(&graph);
    if let Some(neighbours) = &built.neighbours {
        exam.hubs(neighbours);
    }
    exam.memory(Shape::of(pool, engine.config.k), work);
    if engine.config.propagation == PropagationKind::Poisson {
        exam.tau(engine);
    }
    if let Some(truth) = truth {
        exam.labels(truth, &graph, built.neighbours.as_deref());
    }
    let compared = compare::compare(place, pool, options, &engine.config, &output.control())?;
    exam.compared(compared);
    exam.without_model(pool, options);
    exam.print(&pool.name, output);
    Ok(())
}

/// Facts under stable names, and what to make of them.
#[derive(Default)]
struct Exam {
    facts: Vec<(&'static str, Value, String)>,
    findings: Vec<String>,
    /// What could be done better, where nothing is wrong.
    advice: Vec<String>,
}

impl Exam {
    fn fact(&mut self, name: &'static str, value: Value, text: String) {
        self.facts.push((name, value, text));
    }

    fn features(&mut self, pool: &Pool, built: &Built<'_>) {
        let (n, dim) = (pool.matrix.n, pool.matrix.dim);
        let kind = if matches!(pool.matrix.values, Buffer::F32(_)) {
            "f32"
        } else {
            "f64"
        };
        self.fact("items", json!(n), items::in_words(pool));
        self.fact("dimensions", json!(dim), format!("{dim} ({kind})"));
        let constant =
            |&c: &usize| (1..n).all(|row| built.features.get(row, c) == built.features.get(0, c));
        let constant = (0..dim).filter(constant).count();
        self.fact("constant_columns", json!(constant), constant.to_string());
        let groups = built.features.duplicate_groups();
        let rows: usize = groups.iter().map(Vec::len).sum();
        self.fact(
            "duplicate_groups",
            json!(groups.len()),
            format!(
                "{} of identical rows, {rows} rows",
                count(groups.len(), "group", "groups")
            ),
        );
        if !groups.is_empty() {
            let groups = count(
                groups.len(),
                "exact duplicate group",
                "exact duplicate groups",
            );
            self.findings
                .push(format!("note[N4]: {groups}; {}", prepare::COPIES_NOTE));
        }
        if let Some(truth) = &pool.truth {
            let differs = |group: &&Vec<usize>| {
                let known: Vec<u16> = group.iter().filter_map(|&row| truth.labels[row]).collect();
                known.windows(2).any(|pair| pair[0] != pair[1])
            };
            let torn = groups.iter().filter(differs).count();
            if torn > 0 {
                self.findings.push(format!(
                    "warn[N4]: {} different labels; no method can separate them.",
                    count(
                        torn,
                        "group of identical items holds",
                        "groups of identical items hold"
                    )
                ));
            }
        }
    }

    /// Texts and pictures that are there more than once.
    fn copies(&mut self, pool: &Pool, output: &Output) -> Result<(), Failure> {
        if matches!(pool.show, Show::Numbers(_) | Show::Scene(_)) {
            return Ok(());
        }
        let id = |row: usize| (pool.ids.as_ref()).map_or(row.to_string(), |ids| ids[row].clone());
        let (what, mut exact) = (pool.show.word(), 0);
        for (which, name) in [
            (Copies::Exact, "exact_copies"),
            (Copies::Near, "near_copies"),
        ] {
            let groups = pool.copies(which, &output.control())?;
            let items: usize = groups.iter().map(|group| group.len() - 1).sum();
            let named = |group: &Vec<usize>| group.iter().map(|&row| id(row)).collect();
            let first: Vec<Vec<String>> = groups.iter().take(MAX_GROUPS).map(named).collect();
            let value = json!({ "groups": groups.len(), "items": items, "first": first });
            let text = format!(
                "{items} of other {what}s, in {}",
                count(groups.len(), "group", "groups")
            );
            self.fact(name, value, text);
            // Near ones are told where they are more.
            if items == exact {
                continue;
            }
            exact = items;
            let shown: Vec<String> = first.iter().map(|ids| in_a_row(ids)).collect();
            let (shown, copies) = (shown.join("; "), count(items, "copy", "copies"));
            self.findings.push(match which {
                Copies::Near => format!(
                    "note: {copies} of other {what}s, exact or near ({shown}). A project asks for near ones once with --ask-once near."
                ),
                _ => format!(
                    "note: {copies} of other {what}s ({shown}). A project asks for each group once; --ask-once none asks for all."
                ),
            });
        }
        Ok(())
    }

    fn graph(&mut self, graph: &Graph) {
        let edges = graph.entries() / 2;
        self.fact(
            "edges",
            json!(edges),
            format!(
                "{edges}; an item has {:.1} neighbours on average",
                graph.entries() as f64 / graph.n() as f64
            ),
        );
        let degree = Range::of(graph.degrees().to_vec());
        self.fact("weighted_degree", degree.json(), degree.to_string());
        let counts = (0..graph.n() as u32)
            .map(|node| graph.row(NodeId(node)).0.len() as f64)
            .collect();
        let counts = Range::of(counts);
        self.fact("edges_per_item", counts.json(), counts.to_string());
        let sizes = graph.component_sizes();
        let largest = sizes.iter().copied().max().unwrap_or(0);
        let isolated = sizes.iter().filter(|&&size| size == 1).count();
        let text = format!("{} (the largest holds {largest} items)", sizes.len());
        self.fact("components", json!(sizes.len()), text);
        // The text of the components has said it.
        self.fact("largest_component", json!(largest), String::new());
        self.fact("isolated_items", json!(isolated), isolated.to_string());
        if sizes.len() > 1 {
            self.findings.push(format!(
                "note[N1]: {} components: labels do not cross between them; each needs at least one label. \
                 A larger --k joins them.",
                sizes.len()
            ));
        }
        if isolated > 0 {
            self.findings.push(format!(
                "warn[N3]: isolated items: {isolated}. Each is known only if it is labelled itself."
            ));
        }
    }

    /// How often items appear among the neighbours of others.
    fn hubs(&mut self, neighbours: &Neighbours) {
        let n = neighbours.n();
        let mut times = vec![0.0; n];
        for node in 0..n as u32 {
            neighbours
                .of(NodeId(node))
                .for_each(|(other, _)| times[other.index()] += 1.0);
        }
        let mean = times.iter().sum::<f64>() / n as f64;
        let moment =
            |power: i32| times.iter().map(|t| (t - mean).powi(power)).sum::<f64>() / n as f64;
        let skewness = if moment(2) > 0.0 {
            moment(3) / moment(2).powi(3).sqrt()
        } else {
            0.0
        };
        let orphans = times.iter().filter(|&&t| t == 0.0).count();
        let largest = times.iter().copied().fold(0.0, f64::max);
        let text = format!(
            "skewness {skewness:.2}; the most frequent neighbour is in {largest} lists; {orphans} items are in none"
        );
        let value = json!({ "skewness": skewness, "largest": largest, "orphans": orphans });
        self.fact("hubness", value, text);
        if skewness > 3.0 {
            self.findings.push(
                "warn: a few hubs are neighbours of very many items. Try the other --metric, --standardize, or \
                 fewer dimensions (PCA)."
                    .into(),
            );
        }
    }

    fn memory(&mut self, shape: Shape, work: Work) {
        let stages = memory::stages(shape, work);
        let sizes: Vec<f64> = stages.iter().map(memory::total).collect();
        let (session, before) = sizes.split_last().expect("there are stages");
        let building = before.iter().copied().fold(0.0, f64::max);
        let part = |name: &str| {
            let parts = stages.last().into_iter().flatten();
            parts
                .filter(|(part, _)| *part == name)
                .map(|(_, bytes)| bytes)
                .sum::<f64>()
        };
        let megabytes = |bytes: f64| format!("{:.0} MB", (bytes / 1e6).max(1.0));
        let text = format!(
            "about {} while building, {} for a session after",
            megabytes(building),
            megabytes(*session)
        );
        self.fact(
            "memory_bytes",
            json!({ "building": building, "graph": part("graph"), "session": session }),
            text,
        );
    }

    fn tau(&mut self, engine: &Engine<'_>) {
        let (Some(tau), Some(graph)) = (engine.tau(), &engine.graph) else {
            return;
        };
        let ratio = tau / graph.mean_degree();
        self.fact(
            "tau",
            json!(tau),
            format!("{tau} ({ratio:.2} of the mean degree)"),
        );
        self.findings.extend(prepare::faint(engine));
    }

    fn labels(&mut self, truth: &Truth, graph: &Graph, neighbours: Option<&Neighbours>) {
        let known = truth.known();
        self.fact(
            "labelled_items",
            json!(known),
            format!(
                "{known} in {}",
                count(truth.classes.len(), "class", "classes")
            ),
        );
        let mut sizes = vec![0usize; truth.classes.len()];
        truth
            .labels
            .iter()
            .flatten()
            .for_each(|&class| sizes[usize::from(class)] += 1);
        let named = || truth.classes.iter().zip(&sizes);
        let mut text: Vec<String> = named()
            .take(MAX_CLASS_SIZES)
            .map(|(c, s)| format!("{c}: {s}"))
            .collect();
        if sizes.len() > MAX_CLASS_SIZES {
            text.push(format!(
                "and {}",
                count(sizes.len() - MAX_CLASS_SIZES, "more class", "more classes")
            ));
        }
        let object: serde_json::Map<String, Value> =
            named().map(|(c, s)| (c.clone(), json!(s))).collect();
        self.fact("class_sizes", Value::Object(object), text.join(", "));
        if let [only] = truth.classes.as_slice() {
            self.findings.push(format!(
                "warn[N12]: all known labels are of one class, {only:?}; there is nothing to tell apart. Labels of a \
                 second class are missing."
            ));
        }
        let shares = (
            share(edge_pairs(truth, graph)),
            share(neighbour_pairs(truth, neighbours, usize::MAX)),
            share(neighbour_pairs(truth, neighbours, 1)),
        );
        // With few labels known, no two of them may be neighbours.
        let (Some(homophily), Some(purity), Some(nearest)) = shares else {
            return;
        };
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        self.fact(
            "edge_homophily",
            json!(homophily),
            format!(
                "{} of the edge weight joins equal labels",
                percent(homophily)
            ),
        );
        self.fact(
            "neighbour_purity",
            json!(purity),
            format!("{} of neighbours share the label", percent(purity)),
        );
        self.fact(
            "nearest_neighbour",
            json!(nearest),
            format!("{} of nearest neighbours share the label", percent(nearest)),
        );
        let chance = sizes
            .iter()
            .map(|&s| (s as f64 / known as f64).powi(2))
            .sum::<f64>();
        if purity < 0.5 * (1.0 + chance) {
            self.findings.push(format!(
                "warn: neighbours agree on the label {} of the time, chance alone gives {}. Labels will spread badly: \
                 use better features, or try the other --metric or --standardize.",
                percent(purity),
                percent(chance)
            ));
        }
    }

    /// The kinds of features that the pool can have, and which to use.
    fn compared(&mut self, compared: Option<Comparison>) {
        if let Some(compared) = compared {
            let (json, text) = compared.fact();
            self.fact("compared_features", json, text);
            self.advice.push(compared.advice());
            self.advice.extend(compared.missing);
        }
    }

    /// What a model would bring, where texts and pictures are described without one.
    fn without_model(&mut self, pool: &Pool, options: &ReadOptions) {
        let (what, model, how) = match pool.show {
            _ if !pool.without_model && !options.describe => return,
            _ if options.embed.is_some() || options.features_file.is_some() => return,
            Show::Texts(_) => (
                "texts are described by their words alone",
                "a language model also bring together texts of the same meaning",
                "--embed MODEL or --features FILE",
            ),
            Show::Images(_) | Show::Picture(_) => (
                "pictures are described by edges, light and colours alone",
                "an image model also bring together pictures of the same things",
                "--embed MODEL or --features FILE",
            ),
            Show::Numbers(_) | Show::Scene(_) => return,
        };
        self.advice.push(format!(
            "advice: {what}; embeddings of {model}, and mostly need fewer labels ({how}; docs/pools.md says how to get \
             them)."
        ));
    }

    fn print(&self, pool: &str, output: &Output) {
        let shown: Vec<(String, &String)> =
            (self.facts.iter().filter(|(_, _, words)| !words.is_empty()))
                .map(|(name, _, words)| (name.trim_end_matches("_bytes").replace('_', " "), words))
                .collect();
        let width = shown.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let mut text = format!("{pool}\n\n");
        for (name, words) in &shown {
            text += &format!("  {name:<width$}  {words}\n");
        }
        text += "\n";
        if self.findings.is_empty() {
            text += "No problems found: this pool is ready for labelling.\n";
        }
        for line in self.findings.iter().chain(&self.advice) {
            text += &format!("{line}\n");
        }
        let facts: serde_json::Map<String, Value> = self
            .facts
            .iter()
            .map(|(name, value, _)| (name.to_string(), value.clone()))
            .collect();
        output.result(
            &text,
            &json!({ "pool": pool, "facts": facts, "findings": self.findings, "advice": self.advice }),
        );
    }
}

/// The first ids of a group: `a = b = c`.
fn in_a_row(ids: &[String]) -> String {
    let more = if ids.len() > MAX_NAMED { " = ..." } else { "" };
    let first: Vec<&str> = ids.iter().take(MAX_NAMED).map(String::as_str).collect();
    format!("{}{more}", first.join(" = "))
}

/// Pairs of labels joined by an edge, with the weight of the edge.
fn edge_pairs(truth: &Truth, graph: &Graph) -> Vec<(bool, f64)> {
    let mut pairs = Vec::new();
    for node in 0..graph.n() {
        let (neighbours, weights) = graph.row(NodeId(node as u32));
        for (&other, &weight) in neighbours.iter().zip(weights) {
            if let (Some(a), Some(b)) = (truth.labels[node], truth.labels[other as usize]) {
                pairs.push((a == b, weight));
            }
        }
    }
    pairs
}

/// Pairs of labels of an item and its nearest neighbours.
fn neighbour_pairs(
    truth: &Truth,
    neighbours: Option<&Neighbours>,
    nearest: usize,
) -> Vec<(bool, f64)> {
    let mut pairs = Vec::new();
    let Some(neighbours) = neighbours else {
        return pairs;
    };
    for node in 0..neighbours.n() {
        for (other, _) in neighbours.of(NodeId(node as u32)).take(nearest) {
            if let (Some(a), Some(b)) = (truth.labels[node], truth.labels[other.index()]) {
                pairs.push((a == b, 1.0));
            }
        }
    }
    pairs
}

/// The share of the weight that is true, if there is any weight.
fn share(pairs: Vec<(bool, f64)>) -> Option<f64> {
    // Folded from 0.0: the sum of no numbers is -0.0, which shows.
    let all = pairs.iter().fold(0.0, |sum, (_, weight)| sum + weight);
    let equal = pairs
        .iter()
        .filter(|(equal, _)| *equal)
        .fold(0.0, |sum, (_, weight)| sum + weight);
    (all > 0.0).then(|| equal / all)
}

/// Least, median, mean and largest.
struct Range {
    least: f64,
    median: f64,
    mean: f64,
    largest: f64,
}

impl Range {
    fn of(mut values: Vec<f64>) -> Range {
        values.sort_by(f64::total_cmp);
        let (n, mean) = (
            values.len(),
            values.iter().sum::<f64>() / values.len() as f64,
        );
        Range {
            least: values[0],
            median: values[n / 2],
            mean,
            largest: values[n - 1],
        }
    }

    fn json(&self) -> Value {
        json!({ "least": self.least, "median": self.median, "mean": self.mean, "largest": self.largest })
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Range {
            least,
            median,
            mean,
            largest,
        } = self;
        write!(
            f,
            "min {least:.3}, median {median:.3}, mean {mean:.3}, max {largest:.3}"
        )
    }
}
