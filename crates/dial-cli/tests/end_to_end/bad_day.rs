//! The recipes of "A bad day" in docs/projects.md, as somebody follows them who has the bad day.

use std::fs;
use std::process::{Command, Stdio};

use crate::run::{DIAL, Place};

/// A project of forty points with so many labels, two classes in turn.
fn labelled(labels: usize) -> Place {
    let place = Place::new();
    place
        .line("new builtin:moons:40 --classes up,down --project m --quiet")
        .ok();
    tell(&place, "m.dial", 0..labels, "");
    place
}

fn tell(place: &Place, project: &str, items: std::ops::Range<usize>, annotator: &str) {
    for item in items {
        let class = ["up", "down"][item % 2];
        let item = item.to_string();
        place
            .dial(&["tell", project, &item, class, "--annotator", annotator])
            .ok();
    }
}

/// How many items of a project have labels.
#[track_caller]
fn labels(place: &Place, project: &str) -> u64 {
    place.dial(&["status", project, "--json"]).ok().json()["labels"]
        .as_u64()
        .unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn the_disk_is_full() {
    let place = Place::new();
    fs::create_dir(place.path("small")).unwrap();
    // A disk of 2 MiB in a mount namespace of our own.
    let script = "\
        mount -t tmpfs -o size=2m tmpfs small && cd small || exit 77
        dial() { \"$DIAL\" \"$@\"; }
        dial new builtin:moons:40 --classes up,down --project m --quiet || exit 1
        dial tell m 0 up || exit 2
        cat /dev/zero >ballast 2>/dev/null
        for item in 1 2 3 4 5 6 7 8 9 10 11 12; do
            dial tell m $item up --key key$item >../told 2>../refused && last=$item || break
        done
        grep -q 'error.S3.' ../refused || { cat ../refused; exit 3; }
        dial status m >../full || exit 4
        rm ballast
        dial tell m $item up --key key$item || exit 5
        dial tell m $item up --key key$item || exit 6
        dial status m --json >../after || exit 7
        echo $item >../count";
    let mut shell = Command::new("unshare");
    shell
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script])
        .current_dir(place.path(""))
        .env("DIAL", DIAL)
        .stdin(Stdio::null());
    let ran = shell.output();
    let code = ran.as_ref().map_or(Some(77), |ran| ran.status.code());
    if code == Some(77) || !place.path("told").exists() {
        println!("SKIPPED: a small disk needs the right to mount one (unshare --user --mount)");
        return;
    }
    let ran = ran.unwrap();
    assert_eq!(
        code,
        Some(0),
        "{}{}",
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr)
    );
    let text = |name: &str| String::from_utf8(place.read(name)).unwrap();
    let after: serde_json::Value = serde_json::from_str(&text("after")).unwrap();
    // Item 0, those up to the one that was refused, and that one once.
    let refused: u64 = text("count").trim().parse().unwrap();
    assert_eq!(after["labels"].as_u64(), Some(refused + 1));
}

#[test]
fn a_damaged_project_is_recovered_or_restored() {
    for accept in [false, true] {
        let place = labelled(12);
        place.line("backup m.dial --out kept.dialbackup").ok();
        tell(&place, "m.dial", 12..18, "");
        // Somebody puts the database of this morning in the place of today's.
        place
            .line("restore kept.dialbackup --project morning.dial")
            .ok();
        fs::copy(
            place.path("morning.dial/project.db"),
            place.path("m.dial/project.db"),
        )
        .unwrap();
        place
            .line("status m.dial")
            .fails("S9", 5, &["m.dial", "6 events", "missing"]);
        // What is there can be seen; nothing is changed by looking.
        let said = place.line("recover m.dial").ok().out;
        assert!(said.contains("Nothing was changed"), "{said}");
        place.line("tell m.dial 30 up").fails("S9", 5, &["missing"]);
        let way = match accept {
            true => "recover m.dial --accept-loss",
            false => "restore kept.dialbackup --project m.dial --replace",
        };
        place.line(way).ok();
        assert_eq!(labels(&place, "m.dial"), 12);
        tell(&place, "m.dial", 20..22, "");
        assert_eq!(labels(&place, "m.dial"), 14);
        let aside = place
            .files()
            .into_iter()
            .filter(|name| name.starts_with("m."));
        assert_eq!(
            aside.count(),
            2,
            "the damaged folder is kept: {:?}",
            place.files()
        );
    }
}

#[test]
fn a_project_that_is_open_elsewhere_is_waited_for() {
    let place = labelled(3);
    let mut server = place
        .command(&["serve", "m.dial", "--quiet"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(
        &mut std::io::BufReader::new(server.stdout.take().unwrap()),
        &mut line,
    )
    .unwrap();
    // A pool cannot be given a new place while a server has the project.
    place
        .line("pool m.dial builtin:moons:50")
        .fails("S7", 6, &["m.dial", "Stop the server"]);
    // Whoever says so waits until the server has ended.
    let waiting = place
        .command(&["pool", "m.dial", "builtin:moons:40", "--wait"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(700));
    server.kill().unwrap();
    server.wait().unwrap();
    let ended = waiting.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(ended.status.success(), "{said}");
    place.line("tell m.dial 30 up").ok();
    assert_eq!(labels(&place, "m.dial"), 4);
}

#[test]
fn a_project_is_not_there() {
    let place = labelled(1);
    place
        .line("status n.dial")
        .fails("S5", 5, &["n.dial", "dial new"]);
    fs::rename(place.path("m.dial/project.db"), place.path("lost")).unwrap();
    place
        .line("status m.dial")
        .fails("S5", 5, &["m.dial", "project.db is gone"]);
    fs::rename(place.path("lost"), place.path("m.dial/project.db")).unwrap();
    assert_eq!(labels(&place, "m.dial"), 1);
}

#[test]
fn a_project_in_a_synchronised_folder_is_moved_out_of_it() {
    let place = labelled(2);
    fs::create_dir(place.path("Dropbox")).unwrap();
    fs::rename(place.path("m.dial"), place.path("Dropbox/m.dial")).unwrap();
    place
        .line("tell Dropbox/m.dial 5 up")
        .fails("S6", 5, &["Dropbox"]);
    fs::rename(place.path("Dropbox/m.dial"), place.path("here.dial")).unwrap();
    place.line("tell here.dial 5 up").ok();
    assert_eq!(labels(&place, "here.dial"), 3);
}

#[test]
fn a_project_of_a_newer_dial_is_left_to_it() {
    let place = labelled(2);
    let database = place.path("m.dial/project.db");
    let before = fs::read(&database).unwrap();
    // The number of the format: bytes 60 to 63 of a database.
    let mut newer = before.clone();
    newer[60..64].copy_from_slice(&9_999u32.to_be_bytes());
    fs::write(&database, &newer).unwrap();
    place
        .line("tell m.dial 5 up")
        .fails("S12", 5, &["m.dial", "9999"]);
    assert_eq!(fs::read(&database).unwrap(), newer, "it is left alone");
    fs::write(&database, &before).unwrap();
    assert_eq!(labels(&place, "m.dial"), 2);
}

#[test]
fn a_backup_is_restored_over_a_project_that_is_named_without_its_ending() {
    let place = labelled(3);
    place.line("backup m --out kept.dialbackup").ok();
    tell(&place, "m", 3..5, "");
    place
        .line("restore kept.dialbackup --project m")
        .fails("S11", 6, &["m.dial", "--replace"]);
    place
        .line("restore kept.dialbackup --project m --replace")
        .ok();
    assert_eq!(labels(&place, "m.dial"), 3);
    assert!(!place.path("m").exists(), "{:?}", place.files());
}

/// Where the file system cannot exchange two names, a restore that is killed leaves both projects beside a name that is free.
#[test]
fn a_restore_that_was_cut_off_hides_nothing() {
    let place = labelled(3);
    place.line("backup m --out kept.dialbackup").ok();
    tell(&place, "m", 3..5, "");
    place
        .line("restore kept.dialbackup --project m --replace")
        .ok();
    let files = place.files();
    let old = files.iter().find(|name| name.starts_with("m.replaced-"));
    let old = old.unwrap().clone();
    let new = old.replace(".dial", ".new.dial");
    fs::rename(place.path("m.dial"), place.path(&new)).unwrap();
    let next = format!("mv {new} m.dial");
    let said = [old.as_str(), &new, &next];
    for line in [
        "status m",
        "tell m.dial 7 up",
        "new builtin:moons:40 --classes up,down --project m",
        "label builtin:moons:40 --classes up,down --project m.dial --no-browser",
        "restore kept.dialbackup --project m",
        "restore kept.dialbackup --project m.dial --replace",
    ] {
        place.line(line).fails("S5", 5, &said);
    }
    assert!(!place.path("m.dial").exists() && !place.path("m").exists());
    fs::rename(place.path(&new), place.path("m.dial")).unwrap();
    assert_eq!((labels(&place, "m"), labels(&place, &old)), (3, 5));
}

#[cfg(unix)]
#[test]
fn a_backup_is_for_its_owner_only_also_through_a_server() {
    use std::os::unix::fs::PermissionsExt;
    let place = labelled(3);
    let _ = fs::remove_dir_all(place.path("m.dial/backups"));
    let server = place.serve("m.dial");
    place.line("backup m.dial --out kept.dialbackup").ok();
    let mode = |name: &str| {
        let found = fs::metadata(place.path(name)).unwrap();
        format!("{:o}", found.permissions().mode() & 0o777)
    };
    assert_eq!(mode("kept.dialbackup"), "600");
    assert_eq!(mode("m.dial/backups"), "700");
    server.end();
}

#[test]
fn a_laptop_is_lost() {
    let place = labelled(0);
    let rows = |names: &[usize]| {
        names.iter().fold("id,a,b\n".to_string(), |text, n| {
            text + &format!("item {n},{n},{}\n", n * n)
        })
    };
    let place = place.and("pool.csv", rows(&(0..30).collect::<Vec<_>>()));
    place
        .line("new pool.csv --classes up,down --project p --quiet")
        .ok();
    for item in 0..8 {
        place
            .dial(&["tell", "p.dial", &format!("item {item}"), "up"])
            .ok();
    }
    place.line("backup p.dial --out elsewhere.dialbackup").ok();
    place.dial(&["tell", "p.dial", "item 20", "up"]).ok();
    // All that is left is the backup; the pool is found again in another place and in another order.
    let stick = fs::read(place.path("elsewhere.dialbackup")).unwrap();
    drop(place);
    let new = Place::with("elsewhere.dialbackup", stick)
        .and("again.csv", rows(&(0..30).rev().collect::<Vec<_>>()));
    new.line("restore elsewhere.dialbackup --project p.dial")
        .ok();
    assert_eq!(labels(&new, "p.dial"), 8);
    new.line("ask p.dial")
        .fails("I5", 3, &["pool.csv", "dial pool"]);
    let said = new.line("pool p.dial again.csv").ok().out;
    assert!(said.contains("30 of 30 are unchanged"), "{said}");
    new.line("ask p.dial").ok();
    let csv = new
        .line("export p.dial --out - --format csv --labels-only")
        .ok()
        .out;
    assert_eq!(
        csv.lines().filter(|line| line.contains(",up,")).count(),
        8,
        "{csv}"
    );
}

#[test]
fn two_copies_of_a_project_become_one() {
    let place = labelled(6);
    place.line("backup m.dial --out trip.dialbackup").ok();
    place
        .line("restore trip.dialbackup --project trip.dial")
        .ok();
    // Both go on: different items, one item alike, and one that they disagree about.
    tell(&place, "m.dial", 6..10, "ann");
    tell(&place, "trip.dial", 20..25, "ann");
    place.line("tell m.dial 30 up --annotator ann").ok();
    place.line("tell trip.dial 30 up --annotator ann").ok();
    place.line("tell m.dial 31 up --annotator ann").ok();
    place.line("tell trip.dial 31 down --annotator ann").ok();
    let version = |project: &str| {
        place.dial(&["status", project, "--json"]).ok().json()["version"]
            .as_u64()
            .unwrap()
    };
    assert!(version("m.dial") != version("trip.dial"));
    place
        .line("export trip.dial --out trip.jsonl --labels-only")
        .ok();
    place.line("import m.dial trip.jsonl").ok();
    let export = |name: &str| {
        place
            .line(&format!("export m.dial --out {name} --labels-only"))
            .ok();
        String::from_utf8(place.read(name)).unwrap()
    };
    let merged = export("merged.jsonl");
    let item = |id: usize| -> serde_json::Value {
        let rows = merged
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        rows.into_iter()
            .find(|row| row["id"] == id.to_string().as_str())
            .unwrap()
    };
    let annotators = |id: usize| item(id)["labels"].as_array().map_or(0, Vec::len);
    for id in (0..10).chain(20..25).chain([30]) {
        assert_eq!(annotators(id), 1, "item {id}: {}", item(id));
    }
    // The contradiction is kept as two opinions.
    assert_eq!(annotators(31), 2, "{}", item(31));
    assert_eq!(labels(&place, "m.dial"), 6 + 4 + 5 + 1 + 2);
    // Once more changes nothing.
    place.line("import m.dial trip.jsonl").ok();
    assert_eq!(export("again.jsonl"), merged);
}
