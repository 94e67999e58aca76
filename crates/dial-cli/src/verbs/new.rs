//! `dial new`: a project of a pool, with its graph, its classes and the way it will ask.

use std::path::{Path, PathBuf};

use clap::Args;
use dial::{Choices, Policy};
use dial_baselines::methods::Method;
use dial_data::{Fingerprint, Pool};
use dial_store::{
    Decision, ENDING, Folder, Given, GivenGraph, Import, Imported, Item, Journal, Material,
    Project, Recipe, Said, random_id,
};
use serde_json::json;

use crate::cli::args::{BeliefArgs, EngineArgs, positive};
use crate::plan::memory::Work;
use crate::plan::prepare;
use crate::plan::project::{journal, now};
use crate::ui::failure::Failure;
use crate::ui::output::{Output, count};

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
    #[arg(long, value_name = "NAME.dial")]
    pub project: Option<PathBuf>,
    /// The classes [default: those of the known labels of the pool, if it has any]
    #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
    pub classes: Vec<String>,
    /// Take the known labels of the pool as labels of the project
    #[arg(long)]
    pub with_labels: bool,
    /// How the database is written: wal, or rollback where the file system is unsafe for that (slower)
    #[arg(long, value_name = "HOW", default_value = "wal", value_parser = journal)]
    pub journal: Journal,
}

/// How a project asks.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Asking")]
pub struct Asking {
    /// auto, or a score: variance, margin, margin-range, entropy, least-confidence, norm or random [default: auto; variance
    /// in certified precision]
    #[arg(long, value_name = "NAME")]
    pub acquisition: Option<Method>,
    /// max, proportional or uniform
    #[arg(long, value_name = "NAME", default_value = "max")]
    pub policy: Policy,
    #[command(flatten)]
    pub belief: BeliefArgs,
    /// Seed of everything random
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// How many people are to answer for each item
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = positive)]
    pub overlap: usize,
    /// Share of the questions of a server that are drawn at random, to measure accuracy: 0 to 0.5
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    pub audit: f64,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text
        .parse()
        .ok()
        .filter(|share| (0.0..=0.5).contains(share));
    share.ok_or_else(|| "use a number from 0 to 0.5".into())
}

/// Columns of a session: those it keeps, the field and the vectors of a solve.
const COLUMNS: usize = 256 + 50;

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
    let status = dial_store::Status::of(project);
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
        "Made {typed}\n\n  pool        {pool}, {}\n  classes     {}\n{known}  asking by   {}, seed {}\n\nNext: {next}\n",
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
        "recipe": recipe,
        "version": status.version,
    });
    output.result(&text, &json);
    Ok(())
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

/// Refuses what makes no sense before anything is read.
fn check(args: &New) -> Result<(), Failure> {
    if args.classes.len() == 1 {
        return Err(dial::Error::TooFewClasses(1).into());
    }
    prepare::check(&choices(args)?)?;
    args.project
        .as_deref()
        .map_or(Ok(()), |folder| free(&ended(folder)))
}

fn ended(folder: &Path) -> PathBuf {
    let name = folder.to_string_lossy();
    if name.ends_with(ENDING) {
        folder.to_path_buf()
    } else {
        PathBuf::from(format!("{name}{ENDING}"))
    }
}

fn free(folder: &Path) -> Result<(), Failure> {
    match folder.exists() {
        false => Ok(()),
        true => Err(Failure::storage(format!(
            "{}: is there already. Nothing was changed. Choose another --project, or go on with it: dial ask {}.",
            folder.display(),
            folder.display()
        ))),
    }
}

fn make(args: &New, output: &Output) -> Result<Made, Failure> {
    // The labels to ignore stay in the pool: a project does not ask for them, but knows of them.
    let mut pool_args = args.engine.pool.clone();
    let ignored = std::mem::take(&mut pool_args.how.ignore_label);
    let pool = prepare::open(&pool_args, &args.engine.graph, Work::Label(COLUMNS), output)?;
    let folder = args
        .project
        .as_deref()
        .map_or_else(|| PathBuf::from(format!("{}{ENDING}", pool.name)), ended);
    free(&folder)?;
    let (name, control) = (pool.name.clone(), output.control());
    let classes = classes(args, &pool, &ignored);
    let (saved, choices) = match &args.engine.saved {
        Some(file) => {
            let (saved, choices) = prepare::load(&pool, &choices(args)?, file, output)?;
            (Some((file, saved)), choices)
        }
        None => (None, choices(args)?),
    };
    let config = prepare::config(&pool, choices, output)?;
    // A graph of ours can be built again from the features; any other is needed as it is.
    let given = saved.as_ref().filter(|(_, saved)| saved.recipe.is_none());
    let given = given.map(|(file, saved)| GivenGraph {
        file: absolute(file),
        fingerprint: Fingerprint::of_graph(&saved.graph).to_string(),
    });
    let graph = saved.map(|(_, saved)| saved.graph);
    let recipe = Recipe {
        config,
        graph: given,
        ..recipe(args, ignored)
    };
    let material = Material::of(pool, &recipe, graph, &control)?;
    prepare::graph_notes(&material.engine, material.pool.matrix.features()?, output);
    let settings = material.engine.settle(classes.len().max(2), &control)?;
    let mut first: Vec<Decision> = classes
        .into_iter()
        .map(|name| Decision::AddClass { name })
        .collect();
    first.push(settings.into());
    let made = Project::create(
        &folder,
        args.journal,
        &material.recipe,
        material.pool.ids.as_deref(),
        first,
        now(),
    );
    let mut project = match made {
        // Somebody else was faster.
        Err(error) if error.code() == "S5" => return free(&folder).and(Err(error.into())),
        made => made?,
    };
    if let Err(error) = material.keep_graph(&Folder(folder.clone()), &control) {
        output.note(&format!(
            "note: the graph could not be kept and will be built again: {error}"
        ));
    }
    let imported = match args.with_labels {
        true => Some(known_labels(&mut project, &material)?),
        false => None,
    };
    Ok(Made {
        folder,
        project,
        pool: name,
        imported,
    })
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
    let mut choices = prepare::choices(&args.engine);
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
    choices.policy = Some(args.asking.policy);
    choices.seed = Some(args.asking.seed);
    Ok(choices)
}

fn absolute(file: &PathBuf) -> PathBuf {
    std::path::absolute(file).unwrap_or_else(|_| file.clone())
}

/// The part of the recipe that is about the project.
fn recipe(args: &New, ignored: Vec<String>) -> Recipe {
    let place = match args.engine.pool.pool.starts_with("builtin:") {
        true => args.engine.pool.pool.clone(),
        false => absolute(&PathBuf::from(&args.engine.pool.pool))
            .display()
            .to_string(),
    };
    let mut how = args.engine.pool.how.options();
    how.features_file = how.features_file.as_ref().map(absolute);
    how.labels_file = how.labels_file.as_ref().map(absolute);
    Recipe {
        ignore_labels: ignored,
        overlap: args.asking.overlap,
        audit: args.asking.audit,
        ..Recipe::new(&place, how)
    }
}

/// Takes the known labels of the pool as labels, in one group.
fn known_labels(project: &mut Project, material: &Material) -> Result<Imported, Failure> {
    let pool = &material.pool;
    let Some(truth) = &pool.truth else {
        let text = format!(
            "{}: this pool has no labels to take. The project was made without.",
            pool.name
        );
        return Err(Failure::input(
            "I12",
            format!("{text} Import some: dial import."),
        ));
    };
    let labels = truth
        .labels
        .iter()
        .enumerate()
        .filter_map(|(row, label)| Some((row, truth.classes.get(usize::from((*label)?))?)));
    let given = labels
        .filter(|(_, class)| !material.recipe.ignore_labels.contains(class))
        .map(|(row, class)| Given {
            item: Item::Row(row, pool.matrix.n),
            said: Said::Label {
                annotator: None,
                classes: vec![(class.clone(), 1.0)],
                order: None,
            },
            place: format!("row {row}"),
        });
    let how = Import {
        add_classes: true,
        ..Import::default()
    };
    Ok(project.import_given(&pool.name, given.collect(), &how, &random_id()?, now())?)
}
