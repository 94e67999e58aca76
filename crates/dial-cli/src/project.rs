//! A project that a verb works on: opened here, or in the hands of a running server.

use std::path::{Path, PathBuf};

use clap::Args;
use dial::ClassId;
use dial_store::time::Clock;
use dial_store::{Decision, ENDING, Folder, Journal, Project, Receipt, Submission, random_id};

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

/// The folder that is meant: as it was typed, or with the ending of projects.
pub fn folder(typed: &Path) -> PathBuf {
    let mut named = typed.as_os_str().to_owned();
    named.push(ENDING);
    match !typed.exists() && Path::new(&named).exists() {
        true => named.into(),
        false => typed.to_path_buf(),
    }
}

impl ProjectArgs {
    /// The project, from a server that has it or else opened here.
    pub fn access(&self) -> Result<Access, Failure> {
        let folder = folder(&self.project);
        match Client::find(&Folder(folder.clone())) {
            Some(client) => Ok(Access::Server(client)),
            None => Ok(Access::Own(Box::new(Project::open(&folder, self.journal, now())?))),
        }
    }

    /// The same for a verb that will change it: the backup of the day is made first.
    pub fn access_to_change(&self, output: &Output) -> Result<Access, Failure> {
        let mut access = self.access()?;
        if let Access::Own(project) = &mut access
            && let Err(error) = project.backup_if_due(now())
        {
            output.note(&format!("warn[{}]: no backup of today: {error}", error.code()));
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
    pub fn submission(&self, decisions: Vec<Decision>, replace: bool) -> Result<Submission, Failure> {
        let (key, annotator, remark) = (self.key()?, self.annotator.clone(), Default::default());
        Ok(Submission { key, annotator, decisions, replace, remark })
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

/// The failure of a class that is not there.
pub fn unknown_class(name: &str, classes: &[(ClassId, String)]) -> Failure {
    let known = match classes {
        [] => "There are none yet".to_string(),
        some => {
            format!("The classes are {}", some.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(", "))
        }
    };
    let text = format!("there is no class {name:?}. Nothing was changed. {known}.");
    Failure::input("I12", format!("{text} Add one with dial class PROJECT add NAME, or pass --add-classes to tell."))
}
