//! Opening a database: everything is checked before a byte is changed.
//!
//! ```text
//! header as bytes -> connection that leaves all files alone -> pages -> chain of the log -> what the log must hold at least
//! -> refused, all files as they were (S9), or: journal mode, migration, witness brought up to date
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use crate::error::{Error, Result, as_typed};
use crate::log::Log;
use crate::log::connection::{
    self, APPLICATION, check_access, check_header, connect, damaged, quick_check, set_journal,
};
use crate::log::migrate::{self, Migration};
use crate::log::record::first_link;
use crate::log::sqlite::{Journal, Sqlite};
use crate::log::store::Store;
use crate::log::wal;
use crate::log::watch::{WatchedDatabase, WatchedWal};
use crate::log::witness::{self, Head, Stated, Witness};
use crate::project::backup::{newest_backup, newest_backup_beside};
use crate::project::folder::{copy_aside, discard_aside, private_file};

/// What a log must hold at least to be opened.
#[derive(Clone, Copy)]
pub(crate) enum AtLeast<'a> {
    /// What the witness beside it says, or the newest backup if there is none.
    Witnessed,
    /// What the witness beside it says, or the newest backup of the project in whose place it is looked at: it is a copy of that
    /// database, to be read.
    WitnessedOf(&'a Path),
    /// What this process has acknowledged, which is put back where it is missing.
    Known(&'a Log),
    /// Nothing: a copy, which has no witness.
    Nothing,
}

/// A journal that may lose what was acknowledged has no witness to that.
fn has_witness(journal: Journal) -> bool {
    journal != Journal::Unsafe
}

/// A new database with a project of this id; the file must not be there.
pub(crate) fn create(file: &Path, project: &str, now: u64, journal: Journal) -> Result<Sqlite> {
    if file.exists() {
        return Err(Error::place(
            file,
            "is there already",
            "Choose another name.",
        ));
    }
    // SQLite would let everybody read it.
    private_file(file).map_err(|error| Error::io(file, &error))?;
    let mut connection = connect(file)?;
    set_journal(file, &connection, journal)?;
    let start = first_link(project);
    let made = (|| {
        let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        change.pragma_update(None, "application_id", APPLICATION)?;
        migrate::create(&change)?;
        change.execute("INSERT INTO head VALUES (0, ?1)", params![start])?;
        change.execute(
            "INSERT INTO about VALUES ('project', ?1), ('made', ?2), ('witness', 'head.witness')",
            params![project, now.to_string()],
        )?;
        change.commit()?;
        // Whose database this is, is looked for in the file itself.
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    })();
    made.map_err(|error| Error::sqlite(file, &error))?;
    let mut sqlite = Sqlite::new(file, journal, connection)?;
    let head = Head {
        seq: 0,
        chain: start,
    };
    let witness = match has_witness(journal) {
        true => Some(Witness::create(&witness::beside(file), start, head)?),
        false => None,
    };
    sqlite.watch(witness)?;
    sqlite.tidy_on_close(true);
    Ok(sqlite)
}

/// Opens a database and checks it; an old format is brought up to date after a backup.
pub(crate) fn open(
    file: &Path,
    journal: Journal,
    migrations: &[Migration],
    at_least: AtLeast<'_>,
) -> Result<Sqlite> {
    let stated = match at_least {
        AtLeast::Nothing => Stated::Absent,
        _ if !has_witness(journal) => Stated::Absent,
        _ => witness::read(&witness::beside(file))?,
    };
    let opened = open_checked(file, journal, migrations, (at_least, stated));
    opened.map_err(|error| match at_least {
        AtLeast::Nothing => error,
        AtLeast::WitnessedOf(database) => with_ways_out(error.named(database), database),
        _ => with_ways_out(error, file),
    })
}

/// A database that nobody writes to, opened to read, checked like any other. Not a byte is changed.
pub(crate) fn open_unchanged(file: &Path) -> Result<Sqlite> {
    let stated = witness::read(&witness::beside(file))?;
    let opened = (|| {
        check_header(file, migrate::newest(migrate::MIGRATIONS))?;
        let connection =
            connection::open_unchanged(file).map_err(|error| Error::sqlite(file, &error))?;
        check_application(file, &connection)?;
        quick_check(file, &connection)?;
        let mut sqlite = Sqlite::new(file, Journal::Wal, connection)?;
        witnessed(&sqlite, stated, file)?;
        sqlite.notes = unproven_to_read(&sqlite, stated, file)?;
        Ok(sqlite)
    })();
    opened.map_err(|error| with_ways_out(error, file))
}

fn open_checked(
    file: &Path,
    journal: Journal,
    migrations: &[Migration],
    (at_least, stated): (AtLeast<'_>, Stated),
) -> Result<Sqlite> {
    if !file.is_file() {
        let next = "Give the folder of a project, or make one with dial new.";
        return Err(Error::place(file, "there is no project database", next));
    }
    check_access(file)?;
    for beside in [witness::beside(file), wal::beside(file)] {
        // What is not there is made.
        if beside.is_file() {
            check_access(&beside)?;
        }
    }
    check_header(file, migrate::newest(migrations))?;
    let hot = match at_least {
        AtLeast::Witnessed => keep_hot_journal(file)?,
        _ => None,
    };
    let connection = connect(file)?;
    check_application(file, &connection)?;
    quick_check(file, &connection)?;
    let known = migrate::newest(migrations);
    migrate::check_format(file, &connection, known)?;
    let mut sqlite = Sqlite::new(file, journal, connection)?;
    let mut notes = Vec::new();
    let head = match at_least {
        AtLeast::Witnessed | AtLeast::WitnessedOf(_) if !has_witness(journal) => {
            sqlite.verify(0)?.0
        }
        AtLeast::Witnessed => {
            let head = witnessed(&sqlite, stated, file)?;
            notes.extend(unproven(&sqlite, stated, hot)?);
            head
        }
        AtLeast::WitnessedOf(database) => {
            let head = witnessed(&sqlite, stated, database)?;
            notes.extend(unproven_to_read(&sqlite, stated, database)?);
            head
        }
        AtLeast::Known(log) => begins_as(&sqlite, log)?,
        AtLeast::Nothing => sqlite.verify(0)?.0,
    };
    // The log is whole. From here on files may change.
    let connection = sqlite.connection_mut()?;
    set_journal(file, connection, journal)?;
    if migrate::up_to_date(file, connection, migrations)? {
        sqlite.verify(0)?;
    }
    let mut head = head;
    if let AtLeast::Known(log) = at_least
        && head.seq < log.version()
    {
        // Before the witness is written again: if the process is killed in between, the old one knows of what is missing.
        sqlite.watch(None)?;
        sqlite.append(&log.chained(head.seq))?;
        head = Head {
            seq: log.version(),
            chain: log.head(),
        };
    }
    let witness = match at_least {
        AtLeast::Nothing => None,
        _ if !has_witness(journal) => None,
        _ => Some(take_up_witness(&sqlite, stated, head, at_least)?),
    };
    sqlite.watch(witness)?;
    sqlite.notes = notes;
    sqlite.tidy_on_close(true);
    Ok(sqlite)
}

fn check_application(file: &Path, connection: &Connection) -> Result<()> {
    let application: i32 = connection
        .pragma_query_value(None, "application_id", |row| row.get(0))
        .map_err(|error| Error::sqlite(file, &error))?;
    match application == APPLICATION {
        true => Ok(()),
        false => Err(connection::foreign(file)),
    }
}

/// Where a log ends that holds everything its witness says, or the newest backup beside a database.
fn witnessed(sqlite: &Sqlite, stated: Stated, database: &Path) -> Result<Head> {
    let file = sqlite.file();
    let (start, at_least) = match stated {
        Stated::Head { start, head } => (start, Some((head, "head.witness"))),
        Stated::Absent | Stated::Damaged => {
            let folder = database.parent().unwrap_or(Path::new(""));
            let backup = newest_backup(folder, |project| project == sqlite.project());
            let head = backup.map(|backup| (backup.head, "the newest backup"));
            (first_link(sqlite.project()), head)
        }
    };
    if start != first_link(sqlite.project()) {
        let (found, _) = sqlite.verify(0)?;
        let what =
            "head.witness is that of another project than project.db: one of the two was exchanged";
        return Err(damaged(file, what, found.seq, Some(found.seq)));
    }
    let place = at_least.map_or(0, |(head, _)| head.seq);
    let (found, link) = sqlite.verify(place)?;
    let Some((stated, by)) = at_least else {
        return Ok(found);
    };
    if found.seq < stated.seq {
        let missing = match stated.seq - found.seq {
            1 => "1 event that was stored is missing".to_string(),
            missing => format!("{missing} events that were stored are missing"),
        };
        let what = format!("{missing}: {by} knows of them");
        return Err(damaged(file, &what, found.seq, Some(stated.seq)));
    }
    if link != Some(stated.chain) {
        let what = format!("event {} is another one than {by} says", stated.seq);
        return Err(damaged(file, &what, found.seq, Some(found.seq)));
    }
    Ok(found)
}

/// Where a log ends that begins as this one, or goes on from it.
fn begins_as(sqlite: &Sqlite, log: &Log) -> Result<Head> {
    let (found, link) = sqlite.verify(log.version())?;
    let same = match found.seq < log.version() {
        true => log.link(found.seq) == found.chain,
        false => link == Some(log.head()),
    };
    match same {
        true => Ok(found),
        false => {
            let what = "its events are not those that were acknowledged";
            let total = Some(log.version());
            Err(damaged(
                sqlite.file(),
                what,
                found.seq.min(log.version()),
                total,
            ))
        }
    }
}

/// What no witness proves: what could be evidence is kept aside, and a person is told.
fn unproven(sqlite: &Sqlite, stated: Stated, hot: Option<Vec<PathBuf>>) -> Result<Vec<String>> {
    let file = sqlite.file();
    if let Stated::Head { .. } = stated {
        // The rolled back transaction was not acknowledged: nothing is missing.
        discard_aside(&hot.unwrap_or_default());
        return Ok(Vec::new());
    }
    let mut notes = Vec::new();
    let place = witness::beside(file);
    let since = "labels are checked against it from now on";
    if stated == Stated::Damaged {
        let copy = copy_aside(&place)?;
        notes.push(format!(
            "{} was damaged and is made again; {since}. The damaged one is kept as {}.",
            place.display(),
            copy.display()
        ));
    } else if sqlite.had_witness()? {
        notes.push(format!(
            "{} was missing and is made again; {since}. If other files of the project were changed at the same time, compare \
             the number of events (dial status) with what you expect.",
            place.display()
        ));
    }
    let wal = wal::beside(file);
    if fs::read(&wal).is_ok_and(|bytes| wal::has_unused(&bytes)) {
        let copy = copy_aside(&wal)?;
        notes.push(format!(
            "{}: its last part cannot be used. That is so after a power cut, and then nothing is missing that was \
             acknowledged; but no head.witness proves it. A copy is kept as {}.",
            wal.display(),
            copy.display()
        ));
    }
    for copy in hot.into_iter().flatten() {
        notes.push(format!(
            "a transaction that was cut off is taken back; a copy of the file from before is kept as {}.",
            copy.display()
        ));
    }
    Ok(notes)
}

/// The same about a database that is only read, as it is or as a copy: nothing is kept aside.
fn unproven_to_read(sqlite: &Sqlite, stated: Stated, database: &Path) -> Result<Vec<String>> {
    let why = match stated {
        Stated::Head { .. } => return Ok(Vec::new()),
        Stated::Damaged => "is damaged",
        Stated::Absent if sqlite.had_witness()? => "is missing",
        Stated::Absent => return Ok(Vec::new()),
    };
    let mut notes = vec![format!(
        "{}: {why}, so that nothing proves that all labels are there. Compare the number of events (dial status) with what you \
         expect.",
        witness::beside(database).display()
    )];
    if fs::read(wal::beside(sqlite.file())).is_ok_and(|bytes| wal::has_unused(&bytes)) {
        notes.push(format!(
            "{}: its last part cannot be used. That is so after a power cut, and then nothing is missing that was acknowledged.",
            wal::beside(database).display()
        ));
    }
    Ok(notes)
}

/// Copies a database and its rollback journal before SQLite rolls it back: the journal may be damaged or an old one.
fn keep_hot_journal(file: &Path) -> Result<Option<Vec<PathBuf>>> {
    let journal = wal::journal_beside(file);
    // One that begins with zeros is over.
    let hot = fs::read(&journal).is_ok_and(|bytes| bytes.iter().take(8).any(|&byte| byte != 0));
    if !hot {
        return Ok(None);
    }
    Ok(Some(vec![copy_aside(file)?, copy_aside(&journal)?]))
}

/// The witness of a log that was found whole, made where there is none.
fn take_up_witness(
    sqlite: &Sqlite,
    stated: Stated,
    head: Head,
    at_least: AtLeast<'_>,
) -> Result<Witness> {
    let (path, start) = (witness::beside(sqlite.file()), first_link(sqlite.project()));
    let witness = match (stated, at_least) {
        (Stated::Head { .. }, AtLeast::Witnessed) => Witness::resume(&path, start, head)?,
        // After a write that failed nobody knows what the disk holds.
        (Stated::Head { .. }, _) => Witness::restate(&path, start, head)?,
        _ => Witness::create(&path, start, head)?,
    };
    sqlite.note_witness()?;
    Ok(witness)
}

/// What a person can do about a damaged project.
pub(crate) fn with_ways_out(error: Error, file: &Path) -> Error {
    let folder = file.parent().unwrap_or(Path::new(""));
    let Error::Damaged {
        place,
        what,
        readable,
        total,
        ..
    } = error
    else {
        return error;
    };
    let total = match witness::read(&witness::beside(file)) {
        Ok(Stated::Head { head, .. }) if total.parse::<u64>().is_err() => head.seq.to_string(),
        _ => total,
    };
    let shown = as_typed(folder);
    let backup = match newest_backup_beside(file) {
        Some(backup) => format!(
            "Its newest backup holds {} events: dial restore {} --project {shown} --replace (the present folder is kept under \
             another name).",
            backup.head.seq,
            as_typed(&backup.file)
        ),
        None => "There is no backup in the folder.".into(),
    };
    Error::Damaged {
        place,
        what,
        readable,
        total,
        next: format!(
            "{backup} Or copy the folder from where it is whole. Or go on with what can be read: dial recover {shown}."
        ),
    }
}

impl Sqlite {
    /// Whether the database had a witness before.
    fn had_witness(&self) -> Result<bool> {
        let connection = self.connection()?;
        let found =
            connection.query_row("SELECT 1 FROM about WHERE name = 'witness'", [], |_| Ok(()));
        let found = found
            .optional()
            .map_err(|error| Error::sqlite(self.file(), &error))?;
        Ok(found.is_some())
    }

    /// Keeps in the database that it has a witness, so that it is missed.
    fn note_witness(&self) -> Result<()> {
        if !self.had_witness()? {
            self.connection()?
                .execute("INSERT INTO about VALUES ('witness', 'head.witness')", [])
                .map_err(|error| Error::sqlite(self.file(), &error))?;
        }
        Ok(())
    }

    /// Begins to watch the files.
    fn watch(&mut self, witness: Option<Witness>) -> Result<()> {
        self.database = WatchedDatabase::new(self.file());
        self.wal = match self.journal() {
            Journal::Rollback => None,
            Journal::Wal | Journal::Unsafe => {
                Some(WatchedWal::new(self.file(), self.wal_frames()?)?)
            }
        };
        self.witness = witness;
        Ok(())
    }
}
