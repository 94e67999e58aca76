//! The project that a verb works on: opened here, or reached through a running server.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use dial::ClassId;
use dial_server::{Client, Local, Note, ProjectHandle};
use dial_store::time::{Clock, check_system_clock};
use dial_store::{
    ClassCount, Decision, Folder, Journal, PROJECT_ENDING, Project, Receipt, Submission, random_id,
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
    /// Wait while another process has the project: at most SECONDS, 60 if no number is given
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "60")]
    pub wait: Option<u64>,
}

/// Who sends a decision, and the key that makes it safe to send again.
#[derive(Clone, Debug, Args)]
pub struct Sender {
    /// Name of the annotator [default: none]
    #[arg(
        long,
        value_name = "NAME",
        default_value = "",
        hide_default_value = true
    )]
    pub annotator: String,
    /// Idempotency key: what is sent twice under one key is stored once [default: a random one]
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

/// The folder as it was typed, or with the ending of projects where only that is a project (and the typed one, say, the
/// folder of its pictures).
pub fn folder(typed: &Path) -> PathBuf {
    // Without a slash at the end.
    let mut named = typed.components().as_path().as_os_str().to_owned();
    named.push(PROJECT_ENDING);
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

/// Opens a project here, to change it.
pub fn open(folder: &Path, journal: Journal, output: &Output) -> Result<Project, Failure> {
    noted(Project::open(folder, journal, now())?, output)
}

/// A project, after what is worth saying about how it was found.
fn noted(mut project: Project, output: &Output) -> Result<Project, Failure> {
    let notes = project.take_notes();
    notes
        .iter()
        .for_each(|note| output.note(&format!("note: {note}")));
    Ok(project)
}

/// Tries again while another process has the project, for a number of seconds.
fn patiently<T>(
    wait: Option<u64>,
    mut open: impl FnMut() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let end = Instant::now() + Duration::from_secs(wait.unwrap_or(0));
    loop {
        match open() {
            Err(failure) if failure.is_held() && Instant::now() < end => {
                std::thread::sleep(Duration::from_millis(50));
            }
            opened => return opened,
        }
    }
}

/// Prints the notes of a handle.
fn note(output: &Output) -> Note {
    let output = *output;
    Box::new(move |text| output.note(&format!("note: {text}")))
}

/// A project that was opened, as a handle.
pub fn local(project: Project, output: &Output) -> Local {
    let watched = *output;
    Local::new(project, move || watched.control(), note(output))
}

/// Who has a project.
pub enum Taken {
    /// We do.
    Here(Box<Project>),
    /// A running server, which proved that it does.
    Served(Box<Client>),
}

/// Takes a project, to change it.
pub fn take(folder: &Path, journal: Journal, output: &Output) -> Result<Taken, Failure> {
    let here = || open(folder, journal, output);
    take_with(&Folder(folder.to_path_buf()), here, output)
}

/// Takes a project. A server is looked for only where another process holds the lock: a file that names a server proves nothing.
fn take_with(
    folder: &Folder,
    open: impl Fn() -> Result<Project, Failure>,
    output: &Output,
) -> Result<Taken, Failure> {
    let here = || open().map(|project| Taken::Here(Box::new(project)));
    match here() {
        Err(failure) if failure.is_held() => {}
        taken => return taken,
    }
    match Client::find(folder, note(output))? {
        Some(client) => Ok(Taken::Served(Box::new(client))),
        // A server that was about to end has let go of it by now; any other process still has it.
        None => here(),
    }
}

impl ProjectArgs {
    /// The project to read, from a server that has it or else opened here; it may lie where nothing can be written.
    pub fn handle(&self, output: &Output) -> Result<Box<dyn ProjectHandle>, Failure> {
        let read = || {
            let project = Project::open_to_read(&self.folder().0, self.journal, now())?;
            noted(project, output)
        };
        patiently(self.wait, || {
            Ok(match take_with(&self.folder(), read, output)? {
                Taken::Served(client) => client as Box<dyn ProjectHandle>,
                Taken::Here(project) => Box::new(local(*project, output)),
            })
        })
    }

    /// The same for a verb that will change it: the backup of the day is made first, if no server has the project.
    pub fn handle_to_change(&self, output: &Output) -> Result<Box<dyn ProjectHandle>, Failure> {
        let mut project = match self.take(output)? {
            Taken::Served(client) => return Ok(client),
            Taken::Here(project) => project,
        };
        // The time is part of what is stored for ever.
        check_system_clock()?;
        if let Err(error) = project.backup_if_due(now()) {
            output.note(&format!(
                "warn[{}]: no backup of today: {error}",
                error.code()
            ));
        }
        Ok(Box::new(local(*project, output)))
    }

    /// The project, to change it, from whoever has it.
    pub fn take(&self, output: &Output) -> Result<Taken, Failure> {
        patiently(self.wait, || take(&self.folder().0, self.journal, output))
    }

    /// The project, to change what a running server could not follow. With `--wait` the end of such a server is waited for.
    pub fn take_from_server(&self, output: &Output) -> Result<Project, Failure> {
        patiently(self.wait, || {
            match take(&self.folder().0, self.journal, output)? {
                Taken::Here(project) => Ok(*project),
                Taken::Served(_) => {
                    let typed = self.typed();
                    let text = format!("{typed}: a server has the project. Nothing was changed.");
                    let next = "Stop the server, then run this again.";
                    Err(Failure::held(format!("{text} {next}")))
                }
            }
        })
    }

    /// The project opened here, for what no server does.
    pub fn open(&self, output: &Output) -> Result<Project, Failure> {
        patiently(self.wait, || open(&self.folder().0, self.journal, output))
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

/// The group of a receipt, and how to undo it.
pub fn undo_line(receipt: &Receipt, project: &str) -> String {
    let group: Option<u64> = receipt.group;
    group.map_or(String::new(), |group| {
        format!(" (group {group}; dial undo {project} --group {group})")
    })
}

/// The failure for an unknown class.
pub fn unknown_class(name: &str, classes: &[ClassCount]) -> Failure {
    let known = match classes {
        [] => "The project has no classes yet".to_string(),
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
