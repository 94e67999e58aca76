//! `dial pool`: shows where the pool of a project is, or points the project to its new place.

use std::path::{Path, PathBuf};

use clap::Args;
use dial_data::Embed;
use dial_store::{PreparedPool, Recipe, random_id};
use serde_json::json;

use crate::cli::pool_args::embeddings_of;
use crate::plan::project::{ProjectArgs, now};
use crate::ui::failure::Failure;
use crate::ui::output::{Output, count};

/// `dial pool`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  dial pool photos.dial                   where it is
  dial pool photos.dial /data/photos      where it is from now on

Labels belong to the ids of items and stay, also those of items that the pool does not have.")]
pub struct PoolPlace {
    #[command(flatten)]
    pub project: ProjectArgs,
    /// The new place of the pool: a file, a folder or builtin:NAME
    #[arg(value_name = "POOL")]
    pub pool: Option<String>,
    /// The new place of its file of features, if the project has one
    #[arg(long, value_name = "FILE", requires = "pool")]
    pub features: Option<PathBuf>,
    /// Embed the pool by this model from now on; the graph is built again
    #[arg(long, value_name = "MODEL", requires = "pool")]
    pub embed: Option<Embed>,
    /// The new place of its file of labels, if the project has one
    #[arg(long, value_name = "FILE", requires = "pool")]
    pub labels: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &PoolPlace, output: &Output) -> Result<(), Failure> {
    if args.pool.is_none() {
        let status = args.project.handle(output)?.status()?;
        let files = [&status.features_file, &status.labels_file]
            .into_iter()
            .flatten();
        let files: Vec<String> = files.map(|file| file.display().to_string()).collect();
        let lines = std::iter::once(&status.pool)
            .chain(&files)
            .map(|line| format!("{line}\n"));
        let json = json!({ "pool": status.pool, "files": files });
        output.result(&lines.collect::<String>(), &json);
        return Ok(());
    }
    let mut project = args.project.take_from_server(output)?;
    let (Some(folder), Some(recipe)) = (project.folder().cloned(), project.log().recipe().cloned())
    else {
        unreachable!("a project of the command lies in a folder and has a pool");
    };
    let (recipe, control) = (moved(&recipe, args)?, output.control());
    let prepared = PreparedPool::open(&recipe, &folder, &control);
    let prepared = prepared.map_err(|error| too_small(error, &recipe.pool))?;
    let before = project.item_ids()?;
    let (recipe, ids) = (prepared.recipe.clone(), prepared.pool.ids.clone());
    project.change_pool(recipe.clone(), ids.as_deref(), random_id()?, now())?;
    if let Err(error) = prepared.keep_graph(&folder, &control) {
        output.note(&format!(
            "note: the graph could not be kept and will be built again: {error}"
        ));
    }
    let found = before.iter().filter(|id| project.has_item(id)).count();
    let gone = project
        .log()
        .live_labels()
        .iter()
        .filter(|label| !project.has_item(label.item))
        .count();
    let items = count(recipe.items, "item", "items");
    let mut text = format!(
        "The pool is {}, {items}; {found} of {} are unchanged.\n",
        recipe.pool,
        before.len()
    );
    if gone > 0 {
        text.push_str(&format!(
            "{} of items that are missing in this pool; they are kept. If this is the wrong pool, run this again with the right one.\n",
            count(gone, "label is", "labels are")
        ));
    }
    let json = json!({ "pool": recipe.pool, "items": recipe.items, "found": found, "gone": gone });
    output.result(&text, &json);
    Ok(())
}

/// An error about a pool with too few items for the neighbours of the project, which cannot be changed here.
fn too_small(error: dial_store::Error, pool: &str) -> Failure {
    match error {
        dial_store::Error::Core(dial::Error::TooFewItems { k, n }) if k > 1 => {
            let needed = format!(
                "The project uses k = {k}, so its pool needs at least {} items",
                k + 1
            );
            Failure::input(
                "I8",
                format!("{needed}; {pool} has {n}. Nothing was changed."),
            )
        }
        error => error.into(),
    }
}

/// A recipe with its pool in a new place.
fn moved(recipe: &Recipe, args: &PoolPlace) -> Result<Recipe, Failure> {
    let absolute = |file: &Path| std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf());
    let there = |file: &Path| match file.exists() {
        true => Ok(absolute(file)),
        false => Err(Failure::input(
            "I5",
            format!(
                "{}: no such file. Nothing was changed. Give the path of a file that exists.",
                file.display()
            ),
        )),
    };
    let mut recipe = recipe.clone();
    recipe.pool = match args.pool.as_deref().unwrap_or_default() {
        builtin if builtin.starts_with("builtin:") => builtin.to_string(),
        file => there(Path::new(file))?.display().to_string(),
    };
    let reading = &mut recipe.reading;
    for (typed, known) in [
        (&args.features, &mut reading.features_file),
        (&args.labels, &mut reading.labels_file),
    ] {
        if let Some(file) = typed {
            *known = Some(there(file)?);
        }
    }
    if let Some(embed) = &args.embed {
        let folder = args.project.folder().0;
        let usual = || embeddings_of(&absolute(&folder).with_extension(""));
        let kept = reading
            .embed
            .take()
            .and_then(|before| before.kept)
            .unwrap_or_else(usual);
        reading.embed = Some(Embed {
            model: there(&embed.model)?,
            kept: Some(kept),
            ..embed.clone()
        });
    }
    Ok(recipe)
}
