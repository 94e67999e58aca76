//! `dial pool`: where the pool of a project is, and a new place for it after it has moved.

use std::path::{Path, PathBuf};

use clap::Args;
use dial_store::{Material, Recipe, random_id};
use serde_json::json;

use crate::plan::project::{ProjectArgs, now, open, served};
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
    /// The pool as it is now: a file, a folder or builtin:NAME
    #[arg(value_name = "POOL")]
    pub pool: Option<String>,
    /// Its file of features, if the project has one and that has moved too
    #[arg(long, value_name = "FILE", requires = "pool")]
    pub features: Option<PathBuf>,
    /// Its file of labels, if the project has one and that has moved too
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
    if served(&args.project.folder(), output)?.is_some() {
        let text = format!(
            "{}: a server has the project. Nothing was changed.",
            args.project.typed()
        );
        return Err(Failure::held(format!(
            "{text} End the server, then say where the pool is."
        )));
    }
    let mut project = open(&args.project.folder().0, args.project.journal)?;
    let (Some(folder), Some(recipe)) = (project.folder().cloned(), project.log().recipe().cloned())
    else {
        unreachable!("a project of the command lies in a folder and has a pool");
    };
    let (recipe, control) = (moved(&recipe, args)?, output.control());
    let material = Material::open(&recipe, &folder, &control)?;
    let before = project.item_ids()?;
    let (recipe, ids) = (material.recipe.clone(), material.pool.ids.clone());
    project.change_pool(recipe.clone(), ids.as_deref(), random_id()?, now())?;
    if let Err(error) = material.keep_graph(&folder, &control) {
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
        "The pool is {}, {items}; {found} of {} are as before.\n",
        recipe.pool,
        before.len()
    );
    if gone > 0 {
        text.push_str(&format!(
            "{} of items that are not there; they are kept. If this is another pool, say so again with the right one.\n",
            count(gone, "label is", "labels are")
        ));
    }
    let json = json!({ "pool": recipe.pool, "items": recipe.items, "found": found, "gone": gone });
    output.result(&text, &json);
    Ok(())
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
    Ok(recipe)
}
