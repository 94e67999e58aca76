//! `dial export`, `import`, `backup` and `restore`.

use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use dial_data::write::write_whole;
use dial_data::{Fault, ReadOptions, formats};
use dial_server::http::wire::{ImportRequest, Wanted};
use dial_store::{
    BACKUP_ENDING, Error, Export, Folder, Format, Imported, Named, Recipe, Status, as_typed,
    read_labels, restore, source, time,
};
use serde_json::json;

use crate::plan::checks;
use crate::plan::project::{ProjectArgs, Sender, folder, now};
use crate::ui::failure::Failure;
use crate::ui::output::{Output, count, who};
use crate::ui::terminal;

/// `dial export`.
#[derive(Debug, Args)]
#[command(after_help = format!("\
Example:
  dial export photos.dial --out labels.csv
  dial export photos.dial --out - --format csv --labels-only

One row for each item, with the columns {}; then those of the pool's own file. label_CLASS and p_CLASS are there for each \
class, and labels has every answer as JSON. CSV guards text that a spreadsheet would run with a leading ', which dial import \
removes.", Export::column_names().join(", ")))]
pub struct ExportArgs {
    #[command(flatten)]
    pub project: ProjectArgs,
    #[arg(long, value_name = "FILE", help = format!("The file, {} (- for stdout)", Format::endings()))]
    pub out: PathBuf,
    #[arg(long, value_name = "NAME", help = format!("{} [default: by the ending of the file]", Format::list()))]
    pub format: Option<Format>,
    /// Write labels only, without predictions; the pool is not opened
    #[arg(long)]
    pub labels_only: bool,
    /// Add the columns of the pool's own file: on or off [default: on for tables and texts, unless --labels-only]
    #[arg(long, value_name = "SWITCH", value_parser = ["on", "off"])]
    pub original_columns: Option<String>,
}

/// `dial import`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  dial import photos.dial labels.csv --on-unknown skip
  dial import photos.dial gold.csv --label-column truth --annotator expert --add-classes
  dial import reviews.dial --of-pool      the labels that some rows of the pool have

FILE is an export of dial, a table with columns id and label (and annotator), or one label for each item in \
their order. Labels that contradict each other are all kept, as those of different annotators, and listed.")]
pub struct ImportArgs {
    #[command(flatten)]
    pub project: ProjectArgs,
    #[arg(value_name = "FILE", help = format!("The labels: {}", formats(&[])), required_unless_present = "of_pool")]
    pub file: Option<PathBuf>,
    /// Take over the labels that the pool itself has, instead of a file
    #[arg(long, conflicts_with_all = ["file", "id_column", "label_column"])]
    pub of_pool: bool,
    /// Annotator of labels that name none [default: the name of the file]
    #[arg(long, value_name = "NAME")]
    pub annotator: Option<String>,
    /// What to do with labels whose id is not in the pool: error or skip
    #[arg(long, value_name = "WHAT", default_value = "error", value_parser = ["error", "skip"])]
    pub on_unknown: String,
    /// Add classes that the project does not have yet
    #[arg(long)]
    pub add_classes: bool,
    /// Column that holds the ids [default: id]
    #[arg(long, value_name = "NAME")]
    pub id_column: Option<String>,
    /// Column that holds the labels [default: label, labels, class, target or y]
    #[arg(long, value_name = "NAME")]
    pub label_column: Option<String>,
    /// Idempotency key: what is sent twice under one key is stored once [default: a random one]
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
}

/// `dial backup`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  dial backup photos.dial --out monday.dialbackup\n\nBackups of every day are in the folder backups of the project, the last seven."
)]
pub struct BackupArgs {
    #[command(flatten)]
    pub project: ProjectArgs,
    /// The file to write, which must not exist [default: the name of the project and the time, in this folder]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// `dial restore`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  dial restore monday.dialbackup --project photos.dial --replace\n\nThe project that was there is kept under another name, which is printed."
)]
pub struct RestoreArgs {
    /// The backup
    #[arg(value_name = "BACKUP")]
    pub backup: PathBuf,
    /// Folder of the project to create
    #[arg(long, value_name = "NAME.dial")]
    pub project: PathBuf,
    /// Replace that project if it exists; the old one is kept under another name
    #[arg(long)]
    pub replace: bool,
}

/// The format that was typed, or that the name of a file says.
pub fn format(file: &Path, typed: Option<Format>) -> Result<Format, Failure> {
    typed.or_else(|| Format::of(file)).ok_or_else(|| {
        let text = format!("{}: the ending does not name a format", file.display());
        Failure::settings(format!(
            "{text}. Nothing was written. Use {}, or pass --format.",
            Format::endings()
        ))
    })
}

/// Refuses to write over the pool and its files, or into the project.
pub fn check_target(file: &Path, status: &Status, folder: &Folder) -> Result<(), Failure> {
    let Status {
        features_file,
        labels_file,
        ..
    } = status.clone();
    let reading = ReadOptions {
        features_file,
        labels_file,
        ..ReadOptions::default()
    };
    let recipe = Recipe::new(&status.pool, reading);
    let reading = recipe.reading_now(&folder.0);
    let inputs = [
        ("features", reading.features_file.as_deref()),
        ("labels", reading.labels_file.as_deref()),
    ];
    checks::check(&[file], &recipe.pool_now(&folder.0), &inputs)?;
    match (checks::identity(file), folder.0.canonicalize()) {
        (Some(place), Ok(inside)) if place.starts_with(&inside) => Err(Failure::settings(format!(
            "{} is in the folder of the project. Nothing was written. Choose another folder.",
            file.display()
        ))),
        _ => Ok(()),
    }
}

/// Writes bytes to a file, whole or not at all.
pub fn write(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    Ok(write_whole(file, |out| out.write_all(bytes))?)
}

/// Runs `dial export`.
pub fn run_export(args: &ExportArgs, output: &Output) -> Result<(), Failure> {
    let (printed, format) = (args.out.as_os_str() == "-", format(&args.out, args.format)?);
    if printed && output.json {
        return Err(Failure::settings(
            "--out - and --json both write to stdout. Give --out a file.".into(),
        ));
    }
    let mut project = args.project.handle(output)?;
    let status = project.status()?;
    if !printed {
        check_target(&args.out, &status, &args.project.folder())?;
    }
    let few = status.classes.len() < 2;
    if few && !args.labels_only {
        output.note("note[N12]: there are fewer than two classes, so nothing is predicted.");
    }
    let wanted = Wanted {
        format: format.to_string(),
        labels_only: args.labels_only || few,
        original_columns: args
            .original_columns
            .as_deref()
            .map(|switch| switch == "on"),
        preview: None,
    };
    let (bytes, items) = (project.export(&wanted)?, status.items);
    if printed {
        return print_bytes(&bytes);
    }
    write(&args.out, &bytes)?;
    let text = format!(
        "Wrote {} to {}.\n",
        count(items, "item", "items"),
        args.out.display()
    );
    output.result(
        &text,
        &json!({ "file": args.out, "format": format.to_string(), "items": items }),
    );
    Ok(())
}

/// Writes an export to stdout: text or, where that is no terminal, any bytes.
fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    match std::str::from_utf8(bytes) {
        Ok(text) => terminal::print(text),
        Err(_) if std::io::stdout().is_terminal() => {
            return Err(Failure::settings(
                "--out -: this format is no text, and stdout is a terminal. Give --out a file, or a pipe that reads it."
                    .into(),
            ));
        }
        // A reader that has gone away is no failure.
        Err(_) => drop(std::io::stdout().lock().write_all(bytes)),
    }
    Ok(())
}

/// Runs `dial import`.
pub fn run_import(args: &ImportArgs, output: &Output) -> Result<(), Failure> {
    let columns = Named {
        id: args.id_column.clone(),
        label: args.label_column.clone(),
    };
    let missing = |error: Error| match &error {
        Error::Data(dial_data::Error {
            place,
            fault: Fault::Missing,
        }) => Failure::input(
            "I5",
            format!(
                "{place}: no such file. Nothing was imported. Give the path of a file of labels."
            ),
        ),
        _ => error.into(),
    };
    let (labels, name) = match &args.file {
        Some(file) => (read_labels(file, &columns).map_err(missing)?, source(file)),
        None => (Vec::new(), String::new()),
    };
    let key = Sender {
        annotator: String::new(),
        key: args.key.clone(),
    }
    .key()?;
    let request = ImportRequest {
        source: name,
        labels,
        of_pool: args.of_pool,
        annotator: args.annotator.clone(),
        skip_unknown: args.on_unknown == "skip",
        add_classes: args.add_classes,
        key,
    };
    let imported = args.project.handle_to_change(output)?.import(request)?;
    output.result(
        &imported_in_words(&imported, &args.project.typed()),
        &json!(imported),
    );
    Ok(())
}

fn imported_in_words(imported: &Imported, project: &str) -> String {
    let Imported {
        labels,
        known,
        marks,
        classes,
        unknown,
        contradictions,
        group,
    } = imported;
    let mut text = format!("Imported {}", count(*labels, "label", "labels"));
    if *known > 0 {
        text.push_str(&format!(
            "; {} stored already",
            count(*known, "was", "were")
        ));
    }
    if *marks > 0 {
        text.push_str(&format!("; {} marked", count(*marks, "item", "items")));
    }
    text.push_str(".\n");
    if !classes.is_empty() {
        text.push_str(&format!("New classes: {}.\n", classes.join(", ")));
    }
    if !unknown.is_empty() {
        let first = unknown
            .iter()
            .take(20)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", ");
        let more = if unknown.len() > 20 { ", ..." } else { "" };
        text.push_str(&format!(
            "Left out, not in the pool: {} ({first}{more}).\n",
            count(unknown.len(), "id", "ids")
        ));
    }
    if !contradictions.is_empty() {
        text.push_str(&format!(
            "{} with different labels; all are kept:\n",
            count(contradictions.len(), "item", "items")
        ));
        for one in contradictions.iter().take(20) {
            let labels: Vec<String> = one
                .labels
                .iter()
                .map(|(name, label)| format!("{label} ({})", who(name)))
                .collect();
            text.push_str(&format!("  {}: {}\n", one.item, labels.join(", ")));
        }
    }
    if let Some(group) = group {
        text.push_str(&format!(
            "To undo the import: dial undo {project} --group {group}\n"
        ));
    }
    text
}

/// Runs `dial backup`.
pub fn run_backup(args: &BackupArgs, output: &Output) -> Result<(), Failure> {
    let now = now();
    let name = args.project.folder().name();
    let named = || PathBuf::from(format!("{name}-{}{BACKUP_ENDING}", time::compact(now)));
    let file = args.out.clone().unwrap_or_else(named);
    let manifest = args.project.handle(output)?.backup(&file)?;
    let text = format!(
        "Wrote {}: {} of project {}, chain {}.\n",
        manifest.file.display(),
        count(manifest.events as usize, "event", "events"),
        manifest.project,
        &manifest.chain[..manifest.chain.len().min(16)]
    );
    output.result(&text, &json!(manifest));
    Ok(())
}

/// Runs `dial restore`.
pub fn run_restore(args: &RestoreArgs, output: &Output) -> Result<(), Failure> {
    if begins_otherwise(&args.backup) {
        let text = format!(
            "{} is not a backup, or its beginning is damaged. Nothing was changed.",
            args.backup.display()
        );
        return Err(Failure::damaged(format!(
            "{text} Give a file that dial backup made (NAME{BACKUP_ENDING})."
        )));
    }
    let project = folder(&args.project);
    let restored = restore(&args.backup, &project, args.replace, now())?;
    let events = count(restored.manifest.events as usize, "event", "events");
    let aside = restored.aside.as_ref().map_or(String::new(), |old| {
        format!("The old one is kept as {}.\n", old.display())
    });
    let more = restored
        .replaced_events
        .map_or(0, |old| old.saturating_sub(restored.manifest.events));
    let fewer = match more {
        0 => String::new(),
        more => format!(
            "The old one held {} more.\n",
            count(more as usize, "event", "events")
        ),
    };
    let text = format!(
        "Restored {} with {events}.\n{aside}{fewer}Next: dial status {}\n",
        project.display(),
        as_typed(&project)
    );
    output.result(&text, &json!(restored));
    Ok(())
}

/// Whether something is there that does not begin as every backup does: backups are SQLite databases. What is no plain
/// file is not opened, as that may wait for ever.
fn begins_otherwise(file: &Path) -> bool {
    const BEGINNING: &[u8; 16] = b"SQLite format 3\0";
    let mut first = [0; BEGINNING.len()];
    match file.metadata() {
        Ok(kind) if kind.is_dir() => false,
        Ok(kind) if !kind.is_file() || kind.len() < BEGINNING.len() as u64 => true,
        Ok(_) => {
            let read = std::fs::File::open(file).and_then(|mut file| file.read_exact(&mut first));
            read.is_ok() && first != *BEGINNING
        }
        Err(_) => false,
    }
}
