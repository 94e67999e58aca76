//! A project that a verb works on: opened here, or in the hands of a running server.

use std::path::{Path, PathBuf};

use clap::Args;
use dial::ClassId;
use dial_server::{Client, Local, Note, ProjectHandle};
use dial_store::time::Clock;
use dial_store::{
    BACKUP_ENDING, ClassCount, Decision, ENDING, Folder, Journal, Project, Receipt, Submission,
    random_id,
};

use crate::ui::failure::Failure;
use crate::ui::output::Output;

/// Which project.
#[derive(Clone, Debug, Args)]
pub struct ProjectArgs {
    /// The folder of the project, NAME.dial
    #[arg(value_name = "PROJECT")]
    pub project: PathBuf,
    /// How the database is written: wal, or rollback where the file system is unsafe for that (slower)
    #[arg(long, value_name = "HOW", default_value = "wal", value_parser = journal)]
    pub journal: Journal,
}

/// Who does something, and how it is known when it is sent again.
#[derive(Clone, Debug, Args)]
pub struct Sender {
    /// Who decides
    #[arg(long, value_name = "NAME", default_value = "")]
    pub annotator: String,
    /// A key of your own for what is sent: sent again, it is stored once [default: a random one]
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
}

/// The words of a journal.
pub fn journal(word: &str) -> Result<Journal, String> {
    match word {
        "wal" => Ok(Journal::Wal),
        "rollback" => Ok(Journal::Rollback),
        _ => Err("use wal or rollback".into()),
    }
}

/// The time.
pub fn now() -> u64 {
    Clock::new().now()
}

/// The folder that is meant: as it was typed, or with the ending of projects where that is a project and this is none (the
/// folder of pictures, say, that it was made of).
pub fn folder(typed: &Path) -> PathBuf {
    // Without a slash at the end.
    let mut named = typed.components().as_path().as_os_str().to_owned();
    named.push(ENDING);
    let named = PathBuf::from(named);
    match !is_project(typed) && (is_project(&named) || !typed.exists() && named.exists()) {
        true => named,
        false => typed.to_path_buf(),
    }
}

/// Whether there is a project in a folder.
pub fn is_project(folder: &Path) -> bool {
    Folder(folder.to_path_buf()).database().is_file()
}

/// Opens a project here.
pub fn open(folder: &Path, journal: Journal) -> Result<Project, Failure> {
    match newest_backup(folder).filter(|_| !is_project(folder)) {
        Some(backup) => {
            let text = format!(
                "{}: its project.db is gone. Nothing was changed.",
                folder.display()
            );
            let whole = folder.with_extension("restored.dial");
            let next = format!(
                "dial restore {} --project {}",
                backup.display(),
                whole.display()
            );
            Err(Failure::storage(format!(
                "{text} It has backups; the newest comes back with: {next}."
            )))
        }
        None => Ok(Project::open(folder, journal, now())?),
    }
}

/// The newest of the automatic backups: their names are times.
fn newest_backup(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(Folder(folder.to_path_buf()).backups()).ok()?;
    let backup = |path: &PathBuf| path.to_string_lossy().ends_with(BACKUP_ENDING);
    entries
        .flatten()
        .map(|entry| entry.path())
        .filter(backup)
        .max()
}

/// What a handle says on the side.
fn note(output: &Output) -> Note {
    let output = *output;
    Box::new(move |text| output.note(&format!("note: {text}")))
}

/// A project that was opened, as a handle.
pub fn local(project: Project, output: &Output) -> Local {
    let watched = *output;
    Local::new(project, move || watched.control(), note(output))
}

/// The server that has a project, if one is running.
pub fn served(folder: &Folder, output: &Output) -> Result<Option<Client>, Failure> {
    Ok(Client::find(folder, note(output))?)
}

impl ProjectArgs {
    /// The project, from a server that has it or else opened here.
    pub fn handle(&self, output: &Output) -> Result<Box<dyn ProjectHandle>, Failure> {
        Ok(match served(&self.folder(), output)? {
            Some(client) => Box::new(client),
            None => Box::new(local(open(&self.folder().0, self.journal)?, output)),
        })
    }

    /// The same for a verb that will change it: the backup of the day is made first, if nobody serves it.
    pub fn handle_to_change(&self, output: &Output) -> Result<Box<dyn ProjectHandle>, Failure> {
        if let Some(client) = served(&self.folder(), output)? {
            return Ok(Box::new(client));
        }
        let mut project = open(&self.folder().0, self.journal)?;
        if let Err(error) = project.backup_if_due(now()) {
            output.note(&format!(
                "warn[{}]: no backup of today: {error}",
                error.code()
            ));
        }
        Ok(Box::new(local(project, output)))
    }

    /// Its folder.
    pub fn folder(&self) -> Folder {
        Folder(folder(&self.project))
    }

    /// The name as it can be typed again.
    pub fn typed(&self) -> String {
        self.project.display().to_string()
    }
}

impl Sender {
    /// A submission of this sender.
    pub fn submission(
        &self,
        decisions: Vec<Decision>,
        replace: bool,
    ) -> Result<Submission, Failure> {
        let (key, annotator) = (self.key()?, self.annotator.clone());
        Ok(Submission {
            key,
            annotator,
            decisions,
            replace,
            ..Submission::default()
        })
    }

    /// The key that was typed, or a new one.
    pub fn key(&self) -> Result<String, Failure> {
        match &self.key {
            Some(key) => Ok(key.clone()),
            None => Ok(random_id()?),
        }
    }
}

/// The class of a name.
pub fn class(project: &mut dyn ProjectHandle, name: &str) -> Result<ClassId, Failure> {
    let classes = project.status()?.classes;
    match classes.iter().find(|class| class.name == name) {
        Some(class) => Ok(ClassId(class.id)),
        None => Err(unknown_class(name, &classes)),
    }
}

/// The group of a receipt, and how it is taken back.
pub fn undo_line(receipt: &Receipt, project: &str) -> String {
    let group: Option<u64> = receipt.group;
    group.map_or(String::new(), |group| {
        format!(" (group {group}; dial undo {project} --group {group})")
    })
}

/// The failure of a class that is not there.
pub fn unknown_class(name: &str, classes: &[ClassCount]) -> Failure {
    let known = match classes {
        [] => "There are none yet".to_string(),
        some => {
            format!(
                "The classes are {}",
                some.iter()
                    .map(|class| class.name.as_str())
                    .collect::<Vec<_>>()
                    .join(", ")
            )
        }
    };
    let text = format!("there is no class {name:?}. Nothing was changed. {known}.");
    Failure::input(
        "I12",
        format!("{text} Add one with dial class PROJECT add NAME, or pass --add-classes to tell."),
    )
}
