//! Everything that writes, as a table: what is there before, what is done, and what must hold whenever that is cut off.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;

use dial::{Config, Control};
use dial_data::{GraphFile, ReadOptions};
use dial_store::{
    Export, Folder, Format, Import, Journal, Migration, PreparedPool, Project, Recipe, Sqlite,
    Store, recover, restore,
};
use rusqlite::Transaction;

use crate::child::{Task, command, say};
use crate::common::{ITEMS, first, new_project, recipe, stream_length, streamed};
use crate::kill::copy_folder;

/// Something that writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// `dial new`.
    New,
    /// `dial tell`: labels one by one and in groups.
    Tell,
    /// The same with a rollback journal.
    TellRollback,
    /// Opening a project whose last process was killed, and closing it.
    Reopen,
    /// `dial import`.
    Import,
    /// `dial backup`.
    Backup,
    /// The backup that a server makes every day, with the first of its folder.
    Daily,
    /// `dial restore` to a new name.
    Restore,
    /// `dial restore --replace`.
    Replace,
    /// `dial recover --accept-loss` of a project that has lost its newest labels.
    Recover,
    /// `dial export` to a new file.
    Export,
    /// The same to a file that is there.
    ExportAgain,
    /// The graph that a project keeps; `dial graph --out` writes with the same function.
    Graph,
    /// The graph of other settings in place of the first.
    GraphAgain,
    /// Opening a project of an earlier format.
    Migrate,
    /// Saving a project of memory, as Python does.
    Save,
    /// Saving what is new.
    SaveAgain,
}

impl Verb {
    pub const ALL: [Verb; 17] = [
        Verb::New,
        Verb::Tell,
        Verb::TellRollback,
        Verb::Reopen,
        Verb::Import,
        Verb::Backup,
        Verb::Daily,
        Verb::Restore,
        Verb::Replace,
        Verb::Recover,
        Verb::Export,
        Verb::ExportAgain,
        Verb::Graph,
        Verb::GraphAgain,
        Verb::Migrate,
        Verb::Save,
        Verb::SaveAgain,
    ];
}

/// A verb that is run again and again from the same start.
pub struct Start {
    pub verb: Verb,
    template: tempfile::TempDir,
}

impl Start {
    pub fn new(verb: Verb) -> Start {
        let template = tempfile::tempdir().unwrap();
        prepare(verb, template.path());
        Start { verb, template }
    }

    /// Puts what the verb starts from on a disk, and makes the process that runs it there.
    pub fn on(&self, root: &Path) -> Command {
        copy_folder(self.template.path(), root);
        let number = Verb::ALL.iter().position(|verb| *verb == self.verb);
        let settings = [("verb", number.unwrap() as u64)];
        command(Task::Verb, root, Journal::Wal, &settings)
    }
}

const SEED: u64 = 91;
/// Labels that are there before, those that are sent one by one, and those of a group.
const BEFORE: u64 = 20;
const SINGLE: u64 = 5;
const GROUP: u64 = 3;
/// Labels that a damaged project has lost.
const LOST: u64 = 4;
/// Labels in the file that is imported.
const IMPORTED: u64 = 30;

const NOW: u64 = 1_700_000_000_000;

fn project(root: &Path) -> PathBuf {
    root.join("p.dial")
}

fn journal(verb: Verb) -> Journal {
    match verb {
        Verb::TellRollback => Journal::Rollback,
        _ => Journal::Wal,
    }
}

fn send(project: &mut Project, labels: std::ops::Range<u64>) {
    for n in labels {
        project.submit_one(streamed(SEED, n), 2_000).unwrap();
    }
}

/// An export of the labels of the first items.
fn export(project: &Project) -> Export {
    let ids: Vec<String> = (0..50).map(|item| item.to_string()).collect();
    Export::labels(project.log(), &ids)
}

/// What a small pool is, with a graph of so many neighbours.
fn prepared(k: usize) -> PreparedPool {
    let control = Control::new();
    let pool = dial_data::open("builtin:moons:60", &ReadOptions::default(), 0, &control).unwrap();
    let recipe = Recipe {
        config: Config {
            k,
            ..Config::default()
        },
        ..Recipe::new("builtin:moons:60", ReadOptions::default())
    };
    PreparedPool::of(pool, &recipe, None, &control).unwrap()
}

fn in_memory(labels: u64) -> Project {
    let from = tempfile::tempdir().unwrap();
    let mut project = new_project(&from.path().join("m.dial"), Journal::Wal);
    send(&mut project, 0..labels);
    let (id, records) = (project.id().to_string(), project.log().records().to_vec());
    drop(project);
    Project::in_memory(&id, records, None).unwrap()
}

fn a_table(change: &Transaction<'_>) -> rusqlite::Result<()> {
    change.execute_batch(
        "CREATE TABLE extra (word TEXT NOT NULL) STRICT; INSERT INTO extra VALUES ('new');",
    )
}

const MIGRATIONS: [Migration; 1] = [a_table];

/// What is on the disk before.
fn prepare(verb: Verb, root: &Path) {
    if verb == Verb::New {
        return;
    }
    let folder = project(root);
    if let Verb::Save | Verb::SaveAgain = verb {
        // The process that saves has its project in memory; here it comes from a file.
        let mut memory = in_memory(BEFORE + SINGLE);
        memory
            .save(&root.join("memory"), Journal::Wal, &[], |_| Ok(()), NOW)
            .unwrap();
        if verb == Verb::SaveAgain {
            let id = memory.id().to_string();
            let begun = memory.log().records().len() - SINGLE as usize;
            let records = memory.log().records()[..begun].to_vec();
            let mut earlier = Project::in_memory(&id, records, None).unwrap();
            earlier
                .save(&folder, Journal::Wal, &[], |_| Ok(()), NOW)
                .unwrap();
        }
        return;
    }
    let mut made = new_project(&folder, journal(verb));
    send(&mut made, 0..BEFORE);
    match verb {
        Verb::Reopen => {
            // What a killed process leaves: everything, and no goodbye.
            let killed = root.join("killed.dial");
            copy_folder(&folder, &killed);
            drop(made);
            std::fs::remove_dir_all(&folder).unwrap();
            std::fs::rename(killed, &folder).unwrap();
        }
        Verb::Recover => {
            // The log of SQLite is gone, the witness is not.
            send(&mut made, BEFORE..BEFORE + SINGLE);
            drop(made);
            let killed = root.join("killed.dial");
            let mut made = Project::open(&folder, Journal::Wal, 3_000).unwrap();
            send(&mut made, BEFORE + SINGLE..BEFORE + SINGLE + LOST);
            copy_folder(&folder, &killed);
            drop(made);
            std::fs::remove_dir_all(&folder).unwrap();
            std::fs::remove_file(killed.join("project.db-wal")).unwrap();
            std::fs::rename(killed, &folder).unwrap();
        }
        Verb::Import => {
            let lines: String = (0..IMPORTED).map(|n| format!("{},b\n", 1000 + n)).collect();
            std::fs::write(root.join("labels.csv"), format!("id,label\n{lines}")).unwrap();
        }
        Verb::Restore | Verb::Replace => {
            made.backup(&root.join("old.dialbackup"), NOW).unwrap();
            send(&mut made, BEFORE..BEFORE + SINGLE);
        }
        Verb::ExportAgain => export(&in_memory(3))
            .save(&root.join("out.csv"), Format::Csv)
            .unwrap(),
        Verb::GraphAgain => prepared(5)
            .keep_graph(&Folder(folder), &Control::new())
            .unwrap(),
        _ => {}
    }
}

/// What is done, in a process of its own. Whatever is acknowledged is said.
pub fn run(verb: Verb, root: &Path) {
    let folder = project(root);
    let open = || Project::open(&folder, journal(verb), 3_000).unwrap();
    match verb {
        Verb::New => {
            let made = Project::create(
                &folder,
                Journal::Wal,
                &recipe(ITEMS, 1),
                None,
                first(4),
                1_000,
            );
            drop(made.unwrap());
        }
        Verb::Tell | Verb::TellRollback => {
            let mut project = open();
            for n in BEFORE..BEFORE + SINGLE {
                project.submit_one(streamed(SEED, n), 4_000).unwrap();
                say(&format!("labels {}", n + 1));
            }
            let end = BEFORE + SINGLE + GROUP;
            let group: Vec<_> = (BEFORE + SINGLE..end).map(|n| streamed(SEED, n)).collect();
            for answer in project.submit(&group, 5_000) {
                answer.unwrap();
            }
            say(&format!("labels {end}"));
        }
        Verb::Reopen => drop(open()),
        Verb::Import => {
            let mut project = open();
            let (file, how) = (root.join("labels.csv"), Import::default());
            let imported = project.import(&file, &how, "key", NOW).unwrap();
            assert_eq!(imported.labels, IMPORTED as usize);
            // A server goes on with the project: what closing it would make safe does not count.
            say("done");
            return;
        }
        Verb::Backup => drop(open().backup(&root.join("new.dialbackup"), NOW).unwrap()),
        Verb::Daily => drop(open().backup_if_due(NOW).unwrap().unwrap()),
        Verb::Restore => drop(
            restore(
                &root.join("old.dialbackup"),
                &root.join("q.dial"),
                false,
                NOW,
            )
            .unwrap(),
        ),
        Verb::Replace => drop(restore(&root.join("old.dialbackup"), &folder, true, NOW).unwrap()),
        Verb::Recover => drop(recover(&folder, true, NOW).unwrap()),
        Verb::Export | Verb::ExportAgain => export(&open())
            .save(&root.join("out.csv"), Format::Csv)
            .unwrap(),
        Verb::Graph | Verb::GraphAgain => prepared(8)
            .keep_graph(&Folder(folder), &Control::new())
            .unwrap(),
        Verb::Migrate => {
            drop(Sqlite::open_with(&Folder(folder).database(), Journal::Wal, &MIGRATIONS).unwrap())
        }
        Verb::Save | Verb::SaveAgain => {
            let memory = Project::open(&root.join("memory"), Journal::Wal, 3_000).unwrap();
            let (id, records) = (memory.id().to_string(), memory.log().records().to_vec());
            drop(memory);
            let mut memory = Project::in_memory(&id, records, None).unwrap();
            memory
                .save(&folder, Journal::Wal, &[], |_| Ok(()), NOW)
                .unwrap();
        }
    }
    say("done");
}

/// Whether all that holds which must, given what was said before the verb was cut off; else what is wrong.
pub fn check(verb: Verb, root: &Path, said: &[String]) -> Result<(), String> {
    let checked = catch_unwind(AssertUnwindSafe(|| holds(verb, root, said)));
    checked.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
        Err(text.unwrap_or_else(|| "a panic".into()))
    })
}

fn require(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

/// The records of a project that can be opened.
fn records(folder: &Path, journal: Journal) -> Result<Vec<dial_store::Record>, String> {
    let opened = Project::open(folder, journal, 9_000);
    let project = opened.map_err(|error| format!("{error}"))?;
    Ok(project.log().records().to_vec())
}

/// The labels of the stream in a project.
fn labels(folder: &Path, journal: Journal) -> Result<u64, String> {
    Ok(stream_length(SEED, &records(folder, journal)?))
}

/// The labels of the stream in a backup.
fn in_backup(file: &Path) -> Result<u64, String> {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("restored.dial");
    restore(file, &folder, false, NOW).map_err(|error| format!("{error}"))?;
    labels(&folder, Journal::Wal)
}

/// After a power cut the log of SQLite is deleted, too: labels that were acknowledged may be missing then, but not without a
/// word. This is what the witness is synced for before each acknowledgement.
fn is_witnessed(folder: &Path, acked: u64) -> Result<(), String> {
    let place = tempfile::tempdir().unwrap();
    let struck = place.path().join("struck.dial");
    copy_folder(folder, &struck);
    let _ = std::fs::remove_file(struck.join("project.db-wal"));
    match records(&struck, Journal::Wal) {
        Ok(stored) => require(stored.len() as u64 >= acked, || {
            let stored = stored.len();
            format!("{acked} events acknowledged, silently {stored} without the log of SQLite")
        }),
        Err(_) => Ok(()),
    }
}

/// How many events a project begins with.
fn begun() -> u64 {
    first(4).len() as u64 + 1
}

fn holds(verb: Verb, root: &Path, said: &[String]) -> Result<(), String> {
    let folder = project(root);
    let done = said.iter().any(|line| line == "done");
    let whole = |count: u64, allowed: &[u64]| {
        require(allowed.contains(&count), || {
            format!("{count} labels, not one of {allowed:?}")
        })
    };
    let exists = |name: &str| -> Result<bool, String> {
        let there = root.join(name).exists();
        require(there || !done, || {
            format!("{name} was said to be written, and is gone")
        })?;
        Ok(there)
    };
    match verb {
        Verb::New => match exists("p.dial")? {
            true => whole(labels(&folder, Journal::Wal)?, &[0]),
            false => Ok(()),
        },
        Verb::Tell | Verb::TellRollback => {
            let acked = said
                .iter()
                .rev()
                .find_map(|line| line.strip_prefix("labels ")?.parse().ok());
            let acked = acked.unwrap_or(BEFORE);
            if verb == Verb::Tell {
                is_witnessed(&folder, begun() + acked)?;
            }
            let stored = labels(&folder, journal(verb))?;
            let all = BEFORE + SINGLE + GROUP;
            require(stored >= acked, || {
                format!("{acked} acknowledged, {stored} stored")
            })?;
            require(stored <= BEFORE + SINGLE || stored == all, || {
                format!("{stored}: part of a group")
            })
        }
        Verb::Reopen => whole(labels(&folder, Journal::Wal)?, &[BEFORE]),
        Verb::Import => {
            let before = begun() + BEFORE;
            is_witnessed(&folder, before + if done { IMPORTED } else { 0 })?;
            let new = records(&folder, Journal::Wal)?.len() - before as usize;
            // With the labels comes a record of where they are from.
            require(new == 0 && !done || new >= IMPORTED as usize, || {
                format!("{new} records of the import")
            })
        }
        Verb::Backup => {
            whole(labels(&folder, Journal::Wal)?, &[BEFORE])?;
            match exists("new.dialbackup")? {
                true => whole(in_backup(&root.join("new.dialbackup"))?, &[BEFORE]),
                false => Ok(()),
            }
        }
        Verb::Daily => {
            whole(labels(&folder, Journal::Wal)?, &[BEFORE])?;
            let files = std::fs::read_dir(Folder(folder).backups())
                .into_iter()
                .flatten();
            let backups: Vec<PathBuf> = files
                .map(|entry| entry.unwrap().path())
                .filter(|file| {
                    file.extension()
                        .is_some_and(|ending| ending == "dialbackup")
                })
                .collect();
            require(!done || backups.len() == 1, || {
                "the backup of the day is gone".into()
            })?;
            backups
                .iter()
                .try_for_each(|backup| whole(in_backup(backup)?, &[BEFORE]))
        }
        Verb::Restore => {
            whole(labels(&folder, Journal::Wal)?, &[BEFORE + SINGLE])?;
            whole(in_backup(&root.join("old.dialbackup"))?, &[BEFORE])?;
            match exists("q.dial")? {
                true => whole(labels(&root.join("q.dial"), Journal::Wal)?, &[BEFORE]),
                false => Ok(()),
            }
        }
        Verb::Replace => {
            // The name holds the old project or the restored one, and the old one is not lost.
            let (old, new) = (BEFORE + SINGLE, BEFORE);
            let here = labels(&folder, Journal::Wal)?;
            whole(
                here,
                if done {
                    &[BEFORE]
                } else {
                    &[BEFORE, BEFORE + SINGLE]
                },
            )?;
            if here == new {
                let aside = std::fs::read_dir(root)
                    .unwrap()
                    .map(|entry| entry.unwrap().path());
                let mut aside = aside.filter(|path| path.is_dir() && *path != folder);
                let kept = aside.any(|path| labels(&path, Journal::Wal) == Ok(old));
                require(kept, || "the project that was replaced is gone".into())?;
            }
            Ok(())
        }
        Verb::Recover => {
            // The name holds the damaged project as it was or what was made of it, and the damaged one is not lost.
            let is_damaged = |path: &Path| {
                let opened = Project::open(path, Journal::Wal, 9_000);
                let missing = format!("{LOST} events that were stored are missing");
                opened.is_err_and(|error| error.to_string().contains(&missing))
            };
            if is_damaged(&folder) {
                return require(!done, || "the damaged project is there again".into());
            }
            whole(labels(&folder, Journal::Wal)?, &[BEFORE + SINGLE])?;
            let aside = std::fs::read_dir(root)
                .unwrap()
                .map(|entry| entry.unwrap().path());
            let mut aside = aside.filter(|path| path.is_dir() && *path != folder);
            let kept = aside.any(|path| is_damaged(&path));
            require(kept, || "the damaged project is gone".into())
        }
        Verb::Export | Verb::ExportAgain => {
            let project =
                Project::open(&folder, Journal::Wal, 9_000).map_err(|error| error.to_string())?;
            let new = export(&project).bytes(Format::Csv).unwrap();
            let old = export(&in_memory(3)).bytes(Format::Csv).unwrap();
            match exists("out.csv")? {
                true => {
                    let found = std::fs::read(root.join("out.csv")).unwrap();
                    let old = verb == Verb::ExportAgain && !done && found == old;
                    require(found == new || old, || {
                        format!("out.csv has {} bytes", found.len())
                    })
                }
                false => require(verb == Verb::Export, || "the old export is gone".into()),
            }
        }
        Verb::Graph | Verb::GraphAgain => {
            whole(labels(&folder, Journal::Wal)?, &[BEFORE])?;
            match exists("p.dial/graph.dialgraph")? {
                true => {
                    let file = GraphFile::open(Folder(folder).graph())
                        .map_err(|error| error.to_string())?;
                    file.verify(&Control::new())
                        .map_err(|error| error.to_string())?;
                    let k = file.provenance().k;
                    let old = verb == Verb::GraphAgain && !done && k == 5;
                    require(k == 8 || old, || format!("a graph of {k} neighbours"))
                }
                false => require(verb == Verb::Graph, || "the old graph is gone".into()),
            }
        }
        Verb::Migrate => {
            let place = tempfile::tempdir().unwrap();
            let backup = folder.join("project.format-1.dialbackup");
            if backup.exists() {
                std::fs::copy(&backup, place.path().join("project.db")).unwrap();
                whole(labels(place.path(), Journal::Wal)?, &[BEFORE])?;
            }
            let old = Project::open(&folder, Journal::Wal, 9_000)
                .map(|project| project.log().records().to_vec());
            let records = match old {
                Ok(records) => {
                    require(!done, || "the migration is gone".into()).map(|()| records)?
                }
                // A newer format than the library knows: the migration got through.
                Err(error) => {
                    require(error.code() == "S12" && backup.exists(), || {
                        error.to_string()
                    })?;
                    let opened =
                        Sqlite::open_with(&Folder(folder).database(), Journal::Wal, &MIGRATIONS);
                    let mut newer = opened.map_err(|error| error.to_string())?;
                    newer.read(0).map_err(|error| error.to_string())?
                }
            };
            whole(stream_length(SEED, &records), &[BEFORE])
        }
        Verb::Save | Verb::SaveAgain => match exists("p.dial")? {
            true => {
                let (all, before) = (BEFORE + SINGLE, verb == Verb::SaveAgain && !done);
                let count = labels(&folder, Journal::Wal)?;
                whole(
                    count,
                    if before {
                        &[BEFORE, BEFORE + SINGLE]
                    } else {
                        &[BEFORE + SINGLE]
                    },
                )?;
                require(count <= all, || format!("{count} labels"))
            }
            false => require(verb == Verb::Save, || "the project is gone".into()),
        },
    }
}
