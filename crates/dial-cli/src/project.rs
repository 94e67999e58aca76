//! A project that a verb works on: opened here, or in the hands of a running server.

use std::path::{Path, PathBuf};

use clap::Args;
use dial::ClassId;
use dial_data::ReadOptions;
use dial_store::time::Clock;
use dial_store::{
    BACKUP_ENDING, Decision, ENDING, Error, Folder, Journal, Project, Receipt, Recipe, Submission,
    random_id,
};
use serde_json::Value;

use crate::client::Client;
use crate::failure::Failure;
use crate::output::Output;

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

/// Where the project is.
pub enum Access {
    /// In our hands.
    Own(Box<Project>),
    /// In those of a server.
    Server(Client),
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

impl ProjectArgs {
    /// The project, from a server that has it or else opened here.
    pub fn access(&self) -> Result<Access, Failure> {
        let folder = self.folder();
        match Client::find(&folder)? {
            Some(client) => Ok(Access::Server(client)),
            None => Ok(Access::Own(Box::new(open(&folder.0, self.journal)?))),
        }
    }

    /// Its folder.
    pub fn folder(&self) -> Folder {
        Folder(folder(&self.project))
    }

    /// The same for a verb that will change it: the backup of the day is made first.
    pub fn access_to_change(&self, output: &Output) -> Result<Access, Failure> {
        let mut access = self.access()?;
        if let Access::Own(project) = &mut access
            && let Err(error) = project.backup_if_due(now())
        {
            output.note(&format!(
                "warn[{}]: no backup of today: {error}",
                error.code()
            ));
        }
        Ok(access)
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
        let (key, annotator, remark) = (self.key()?, self.annotator.clone(), Default::default());
        Ok(Submission {
            key,
            annotator,
            decisions,
            replace,
            remark,
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

impl Access {
    /// Sends a submission.
    pub fn send(&mut self, submission: Submission) -> Result<Receipt, Failure> {
        match self {
            Access::Own(project) => Ok(project.submit_one(submission, now())?),
            Access::Server(client) => client.decide(&submission),
        }
    }

    /// What the pool is, as far as it is known: a server names its files only.
    pub fn recipe(&self) -> Result<Recipe, Failure> {
        match self {
            Access::Own(project) => match project.log().recipe() {
                Some(recipe) => Ok(recipe.clone()),
                None => Err(no_pool(project).into()),
            },
            Access::Server(client) => {
                let status = client.status()?;
                let file = |name: &str| status[name].as_str().map(PathBuf::from);
                let (features_file, labels_file) = (file("features_file"), file("labels_file"));
                let reading = ReadOptions {
                    features_file,
                    labels_file,
                    ..ReadOptions::default()
                };
                Ok(Recipe::new(
                    status["pool"].as_str().unwrap_or_default(),
                    reading,
                ))
            }
        }
    }

    /// The version of the log.
    pub fn version(&self) -> Result<Value, Failure> {
        match self {
            Access::Own(project) => Ok(project.log().version().into()),
            Access::Server(client) => Ok(client.status()?["version"].take()),
        }
    }

    /// The live classes with their names.
    pub fn classes(&self) -> Result<Vec<(ClassId, String)>, Failure> {
        match self {
            Access::Own(project) => {
                let log = project.log();
                let named = |class: ClassId| (class, log.class_name(class).to_string());
                Ok(log.labels().classes().into_iter().map(named).collect())
            }
            Access::Server(client) => client.classes(),
        }
    }

    /// The class of a name.
    pub fn class(&self, name: &str) -> Result<ClassId, Failure> {
        let classes = self.classes()?;
        match classes.iter().find(|(_, other)| other == name) {
            Some((class, _)) => Ok(*class),
            None => Err(unknown_class(name, &classes)),
        }
    }
}

/// A project that does not say what its pool is.
pub fn no_pool(project: &Project) -> Error {
    let place = project
        .folder()
        .map_or(String::new(), |folder| folder.0.display().to_string());
    let what = "it does not say what its pool is".to_string();
    Error::Damaged {
        place,
        what,
        readable: 0,
        total: "an unknown number".into(),
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
pub fn unknown_class(name: &str, classes: &[(ClassId, String)]) -> Failure {
    let known = match classes {
        [] => "There are none yet".to_string(),
        some => {
            format!(
                "The classes are {}",
                some.iter()
                    .map(|(_, name)| name.as_str())
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
