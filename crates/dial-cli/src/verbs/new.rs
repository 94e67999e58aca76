//! `dial new`: makes a project from a pool, with its graph, its classes and its way of asking.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::Args;
use dial::acquisition::Score;
use dial::engine::COLUMNS_KEPT;
use dial::{Choices, Policy};
use dial_baselines::methods::Method;
use dial_data::{Copies, Fingerprint, Pool, alike};
use dial_store::{
    Decision, Folder, GivenGraph, Import, Imported, Journal, PROJECT_ENDING, PreparedPool, Project,
    Recipe, random_id,
};
use serde_json::{Value, json};

use crate::cli::args::{BeliefArgs, EngineArgs, positive};
use crate::cli::pool_args::{PoolArgs, embeddings_of};
use crate::plan::memory::Work;
use crate::plan::prepare;
use crate::plan::project::{journal, now};
use crate::ui::failure::Failure;
use crate::ui::output::{Output, count};

/// Names that are compared, and pairs that are almost the same of which a note speaks, at most.
const MOST_NAMES: usize = 1000;
const MOST_PAIRS: usize = 5;

/// `dial new`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  dial new photos/ --classes cat,dog,other
  dial ask photos.dial
  dial tell photos.dial cat17.jpg cat")]
pub struct New {
    #[command(flatten)]
    pub engine: EngineArgs,
    #[command(flatten)]
    pub asking: Asking,
    /// Folder of the project [default: the name of the pool, in this folder]
    #[arg(long, value_name = "NAME.dial", help_heading = "Project")]
    pub project: Option<PathBuf>,
    /// The classes [default: those of the known labels of the pool]
    #[arg(
        long,
        value_name = "A,B,...",
        value_delimiter = ',',
        help_heading = "Project"
    )]
    pub classes: Vec<String>,
    /// Take the known labels of the pool as labels of the project
    #[arg(long, help_heading = "Project")]
    pub with_labels: bool,
    /// How the database is written: wal, or rollback where the file system is unsafe for that (slower)
    #[arg(long, value_name = "HOW", default_value = "wal", value_parser = journal, help_heading = "Project")]
    pub journal: Journal,
}

/// How a project asks.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Asking")]
pub struct Asking {
    #[arg(
        long,
        value_name = "NAME",
        help = "auto, or a score such as variance or random [default: auto]",
        long_help = format!("auto, or a score: {} [default: auto; variance in certified precision and without Poisson \
            propagation]", Score::words())
    )]
    pub acquisition: Option<Method>,
    /// max, proportional or uniform [default: max]
    #[arg(long, value_name = "NAME")]
    pub policy: Option<Policy>,
    #[command(flatten)]
    pub belief: BeliefArgs,
    /// Seed of everything random [default: 0]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Number of people who answer for each item
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = positive)]
    pub overlap: usize,
    /// Share of the questions that are drawn at random, to measure accuracy: 0 to 0.5
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    pub audit: f64,
    /// Copies that are asked once, by the first of them: exact (the same text or picture), near (also differing in
    /// punctuation, scaled or compressed again) or none
    #[arg(long, value_name = "COPIES", default_value_t = Copies::Exact)]
    pub ask_once: Copies,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text
        .parse()
        .ok()
        .filter(|share| (0.0..=0.5).contains(share));
    share.ok_or_else(|| "use a number from 0 to 0.5".into())
}

/// Columns of a session: those it keeps, the field and the vectors of a solve.
const SESSION_COLUMNS: usize = COLUMNS_KEPT + 50;

/// Runs the command.
pub fn run(args: &New, output: &Output) -> Result<(), Failure> {
    check(args)?;
    let made = make(args, output)?;
    let Made {
        folder,
        project,
        pool,
        imported,
    } = &made;
    let status = dial_store::Status::of(&project.snapshot());
    let classes: Vec<&str> = status
        .classes
        .iter()
        .map(|class| class.name.as_str())
        .collect();
    let typed = folder.display();
    let next = match classes.len() {
        0 | 1 => format!("dial ask {typed}    then: dial tell {typed} ITEM CLASS --add-classes"),
        _ => format!("dial ask {typed}"),
    };
    let known = match imported {
        Some(imported) => format!("  labels      {} of the pool\n", imported.labels),
        None => String::new(),
    };
    let recipe = project
        .log()
        .recipe()
        .cloned()
        .unwrap_or_else(|| unreachable!("a new project has a recipe"));
    let text = format!(
        "Created {typed}\n\n  pool        {pool}, {}\n  classes     {}\n{known}  asking by   {}, seed {}\n\nNext: {next}\n",
        count(status.items, "item", "items"),
        if classes.is_empty() {
            "none yet".into()
        } else {
            classes.join(", ")
        },
        recipe.config.acquisition,
        recipe.config.seed,
    );
    let json = json!({
        "project": folder,
        "id": status.id,
        "pool": pool,
        "items": status.items,
        "classes": classes,
        "labels": status.labels,
        "recipe": view(&recipe),
        "version": status.version,
    });
    output.result(&text, &json);
    Ok(())
}

/// A recipe in today's words: those of the log are never changed, because its records are chained by their bytes.
fn view(recipe: &Recipe) -> Value {
    let mut view = json!(recipe);
    let fields = view
        .as_object_mut()
        .expect("a recipe is a record of fields");
    for (stored, word) in [("kernel", "weights"), ("reading", "read")] {
        let value = fields.remove(stored).unwrap_or_default();
        fields.insert(word.into(), value);
    }
    fields.remove("belief");
    fields.insert(
        "calibration".into(),
        json!(recipe.config.calibration.to_string()),
    );
    view
}

/// Makes a project, to be labelled at once.
pub fn make_project(args: &New, output: &Output) -> Result<Project, Failure> {
    check(args)?;
    Ok(make(args, output)?.project)
}

/// A project that was just made.
struct Made {
    folder: PathBuf,
    project: Project,
    pool: String,
    imported: Option<Imported>,
}

/// Refuses contradictory arguments before anything is read.
fn check(args: &New) -> Result<(), Failure> {
    if let [only] = args.classes.as_slice() {
        let next = "Name at least two (--classes A,B), or leave out --classes and add classes while labelling.";
        let text = format!("--classes names one class, {only:?}. Nothing was created. {next}");
        return Err(Failure::too_few_classes(text));
    }
    let mut seen = HashSet::new();
    if let Some(twice) = args.classes.iter().find(|name| !seen.insert(name.trim())) {
        let text = format!(
            "--classes names {:?} twice. Nothing was created.",
            twice.trim()
        );
        return Err(Failure::settings(format!("{text} Name each class once.")));
    }
    prepare::check(&choices(args)?)?;
    args.project
        .as_deref()
        .map_or(Ok(()), |folder| free(&ended(folder)))
}

fn ended(folder: &Path) -> PathBuf {
    let name = folder.to_string_lossy();
    if name.ends_with(PROJECT_ENDING) {
        folder.to_path_buf()
    } else {
        PathBuf::from(format!("{name}{PROJECT_ENDING}"))
    }
}

fn free(folder: &Path) -> Result<(), Failure> {
    match folder.exists() {
        false => Ok(Folder(folder.to_path_buf()).check_free()?),
        true => Err(Failure::storage(format!(
            "{} is there already. Nothing was changed. Choose another --project, or continue this one: dial ask {}.",
            folder.display(),
            folder.display()
        ))),
    }
}

fn make(args: &New, output: &Output) -> Result<Made, Failure> {
    let ignored = args.engine.pool.how.ignore_label.clone();
    let mut place = args.engine.pool.clone();
    // Embeddings are kept beside the project, under its name.
    place.how.embeddings = args
        .project
        .as_deref()
        .map(|project| embeddings_of(&ended(project).with_extension("")));
    let pool = prepare::open_to_label(
        &place,
        &args.engine.graph,
        Work::Label(SESSION_COLUMNS),
        output,
    )?;
    let folder = args.project.as_deref().map_or_else(
        || PathBuf::from(format!("{}{PROJECT_ENDING}", pool.name)),
        ended,
    );
    free(&folder)?;
    let (name, control) = (pool.name.clone(), output.control());
    let classes = classes(args, &pool, &ignored);
    note_alike(&classes, &pool, output);
    let (saved, choices) = match &args.engine.saved {
        Some(file) => {
            let (saved, choices) = prepare::load(&pool, &choices(args)?, file, output)?;
            (Some((file, saved)), choices)
        }
        None => (None, choices(args)?),
    };
    let config = prepare::config(&pool, choices, output)?;
    // A graph that dial built can be built again from the features; any other is kept as it is.
    let given = saved.as_ref().filter(|(_, saved)| saved.made().is_none());
    let given = given.map(|(file, saved)| GivenGraph {
        file: absolute(file),
        fingerprint: Fingerprint::of_graph(&saved.graph).to_string(),
    });
    let graph = saved.map(|(_, saved)| saved.graph);
    let recipe = Recipe {
        config,
        graph: given,
        ..recipe(args, &place, ignored)
    };
    let prepared = PreparedPool::of(pool, &recipe, graph, &control)?;
    prepare::graph_notes(&prepared.engine, prepared.pool.matrix.features()?, output);
    copies_note(&prepared, output);
    let settings = prepared.engine.fix_prior(classes.len().max(2), &control)?;
    let mut first: Vec<Decision> = classes
        .into_iter()
        .map(|name| Decision::AddClass { name })
        .collect();
    first.push(settings.into());
    let made = Project::create(
        &folder,
        args.journal,
        &prepared.recipe,
        prepared.pool.ids.as_deref(),
        first,
        now(),
    );
    let mut project = match made {
        // Another process made the folder first.
        Err(error) if error.code() == "S5" => return free(&folder).and(Err(error.into())),
        made => made?,
    };
    if let Err(error) = prepared.keep_graph(&Folder(folder.clone()), &control) {
        output.note(&format!(
            "note: the graph could not be kept and will be built again: {error}"
        ));
    }
    let imported = match args.with_labels {
        true => Some(known_labels(&mut project, &prepared)?),
        false => {
            offer(&prepared, &folder, output);
            None
        }
    };
    Ok(Made {
        folder,
        project,
        pool: name,
        imported,
    })
}

/// Says how many items are not asked because another one shows the same.
fn copies_note(prepared: &PreparedPool, output: &Output) {
    let (copies, which) = (prepared.copies, prepared.recipe.ask_once);
    if copies > 0 {
        let all = prepared.pool.matrix.n;
        output.note(&format!(
            "note: {copies} of {all} items will not be asked, as {which} copies of earlier ones (--ask-once none asks for \
             them, too)."
        ));
    }
}

/// Says that some items of the pool have labels, and how to take them over.
fn offer(prepared: &PreparedPool, folder: &Path, output: &Output) {
    let (known, all) = (prepared.partly_known(), prepared.pool.matrix.n);
    if known > 0 {
        let folder = folder.display();
        output.note(&format!(
            "note: {known} of {all} items have a label in the pool; they are asked like all others. To take those labels over: dial \
             import {folder} --of-pool, or choose so on the page (for a new project: --with-labels)."
        ));
    }
}

/// Says which names, of the classes and of the labels of the pool, are likely to mean the same.
fn note_alike(classes: &[String], pool: &Pool, output: &Output) {
    let known = pool.truth.iter().flat_map(|truth| &truth.classes);
    let known = known.filter(|name| !classes.contains(name));
    let names = classes.iter().chain(known).take(MOST_NAMES);
    let names: Vec<String> = names.cloned().collect();
    let pairs = alike(&names);
    let listed: Vec<String> = pairs
        .iter()
        .take(MOST_PAIRS)
        .map(|(first, second)| format!("{first} and {second}"))
        .collect();
    if listed.is_empty() {
        return;
    }
    let more = match pairs.len().saturating_sub(MOST_PAIRS) {
        0 => String::new(),
        more => format!(", and {}", count(more, "pair more", "pairs more")),
    };
    output.note(&format!(
        "note: these names of classes are almost the same: {}{more}. If they mean one class: dial class PROJECT merge FROM INTO, or Edit classes on \
         the page.",
        listed.join(", ")
    ));
}

/// The classes as typed, or those of the known labels.
fn classes(args: &New, pool: &Pool, ignored: &[String]) -> Vec<String> {
    if !args.classes.is_empty() {
        return args
            .classes
            .iter()
            .map(|name| name.trim().to_string())
            .collect();
    }
    let known = pool.truth.iter().flat_map(|truth| &truth.classes);
    known
        .filter(|class| !ignored.contains(class))
        .cloned()
        .collect()
}

/// What was typed, as choices.
fn choices(args: &New) -> Result<Choices, Failure> {
    let mut choices = prepare::choices(&args.engine)?;
    args.asking.belief.choose(&mut choices);
    choices.acquisition = match args.asking.acquisition {
        Some(method) if Method::from(method.asking()) != method => {
            let text = format!(
                "a project cannot ask by {method}: that is for comparisons (dial simulate)."
            );
            return Err(Failure::settings(format!(
                "{text} Use auto, or a score such as variance."
            )));
        }
        method => method.map(Method::asking),
    };
    choices.policy = args.asking.policy;
    choices.seed = args.asking.seed;
    Ok(choices)
}

fn absolute(file: &PathBuf) -> PathBuf {
    std::path::absolute(file).unwrap_or_else(|_| file.clone())
}

/// The part of the recipe that is about the project.
fn recipe(args: &New, pool: &PoolArgs, ignored: Vec<String>) -> Recipe {
    let place = match pool.pool.starts_with("builtin:") {
        true => pool.pool.clone(),
        false => absolute(&PathBuf::from(&pool.pool)).display().to_string(),
    };
    let mut how = pool.options();
    how.features_file = how.features_file.as_ref().map(absolute);
    how.labels_file = how.labels_file.as_ref().map(absolute);
    if let Some(embed) = &mut how.embed {
        embed.model = absolute(&embed.model);
        embed.kept = embed.kept.as_ref().map(absolute);
    }
    Recipe {
        ignore_labels: ignored,
        overlap: args.asking.overlap,
        audit: args.asking.audit,
        ask_once: args.asking.ask_once,
        ..Recipe::new(&place, how)
    }
}

/// Takes the known labels of the pool as labels, in one group.
fn known_labels(project: &mut Project, prepared: &PreparedPool) -> Result<Imported, Failure> {
    if prepared.pool.truth.is_none() {
        let text = "this pool has no known labels. The project was made without labels. Import labels with dial import.";
        return Err(Failure::pool("I12", text.into()));
    }
    let how = Import {
        add_classes: true,
        ..Import::default()
    };
    let (source, labels) = (&prepared.pool.name, prepared.known_labels());
    Ok(project.import_labels(source, labels, &how, &random_id()?, now())?)
}
