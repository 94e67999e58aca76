//! A second process (fault S7): of many that open a project at once one has it, and the others are told which.

use std::io::Write;

use dial_store::{Journal, Project};

use crate::child::{Task, command, kill, lines};
use crate::common::{new_project, streamed};

#[test]
fn of_twenty_processes_one_has_the_project_and_the_others_are_told_which() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("wanted.dial");
    drop(new_project(&folder, Journal::Wal));
    for round in 0..3 {
        let mut children: Vec<_> = (0..20)
            .map(|_| {
                command(Task::Hold, &folder, Journal::Wal, &[])
                    .spawn()
                    .unwrap()
            })
            .collect();
        let mut heard: Vec<_> = children
            .iter_mut()
            .map(|child| lines(child.stdout.take().unwrap()))
            .collect();
        let said: Vec<String> = heard
            .iter_mut()
            .map(|lines| lines.next().unwrap())
            .collect();
        let winners: Vec<usize> = (0..20)
            .filter(|&at| said[at].starts_with("opened "))
            .collect();
        assert_eq!(winners.len(), 1, "{said:#?}");
        let winner = children[winners[0]].id();
        assert_eq!(said[winners[0]], format!("opened {winner}"));
        for (at, line) in said.iter().enumerate().filter(|(at, _)| *at != winners[0]) {
            assert!(line.starts_with("unopened S7 "), "{line}");
            assert!(
                line.contains(&format!("process {winner} since")),
                "round {round}, {at}: {line}"
            );
        }
        // We are a second process too.
        let refused = Project::open(&folder, Journal::Wal, 3_000).err().unwrap();
        assert_eq!(refused.code(), "S7");
        // The first round ends in good order, the others by force: the project is free again either way.
        if round == 0 {
            children[winners[0]]
                .stdin
                .take()
                .unwrap()
                .write_all(b"enough\n")
                .unwrap();
            assert!(children[winners[0]].wait().unwrap().success());
        } else {
            kill(&mut children[winners[0]]);
        }
        for child in &mut children {
            child.wait().unwrap();
        }
    }
    Project::open(&folder, Journal::Wal, 4_000).unwrap();
}

#[test]
fn without_the_lock_file_the_database_itself_shuts_others_out() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("wanted.dial");
    drop(new_project(&folder, Journal::Wal));
    let mut child = command(Task::Hold, &folder, Journal::Wal, &[])
        .spawn()
        .unwrap();
    assert!(
        lines(child.stdout.take().unwrap())
            .next()
            .unwrap()
            .starts_with("opened ")
    );
    std::fs::remove_file(folder.join("lock")).unwrap();
    let refused = Project::open(&folder, Journal::Wal, 3_000).err().unwrap();
    assert_eq!(refused.code(), "S7", "{refused}");
    kill(&mut child);
    let mut project = Project::open(&folder, Journal::Wal, 4_000).unwrap();
    project.submit_one(streamed(1, 0), 5_000).unwrap();
}
