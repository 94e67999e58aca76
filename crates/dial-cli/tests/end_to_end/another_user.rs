//! What somebody else on the machine may try, who has an account but is not the owner: twelve attacks, of which none may
//! succeed. Only root can become somebody else, so elsewhere they are skipped and counted.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use crate::run::Place;

/// What is tried, and a script that prints something if it succeeds. On its standard input are the secrets of the owner; the
/// variables are the process, the port and the address of the server.
const ATTACKS: [(&str, &str); 12] = [
    ("list the folder", "ls p.dial"),
    ("read the labels", "cat p.dial/project.db p.dial/project.db-wal"),
    ("read the token", "cat p.dial/server.json"),
    ("read a backup", "cat kept.dialbackup p.dial/backups/*"),
    (
        "take the lock, and keep the owner out",
        "flock -n p.dial/lock echo locked",
    ),
    (
        "leave a file in the folder",
        "ln -s /etc/passwd p.dial/holder.part && echo made; echo x >p.dial/server.json && echo written",
    ),
    (
        "find a secret among the processes",
        "grep -a -l -F -f - /proc/[0-9]*/cmdline",
    ),
    (
        "read the environment of the server",
        "cat /proc/$PID/environ /proc/$PID/maps",
    ),
    (
        "ask the server without a secret",
        "exec 3<>/dev/tcp/127.0.0.1/$PORT
         printf 'GET /api/v1/export?format=csv HTTP/1.1\\r\\nhost: %s\\r\\nconnection: close\\r\\n\\r\\n' $HOST >&3
         grep -a -e ',up' -e '^HTTP/1.1 [23]' <&3",
    ),
    (
        "send the server a label with a token that is guessed",
        "exec 3<>/dev/tcp/127.0.0.1/$PORT
         printf 'POST /api/v1/decisions HTTP/1.1\\r\\nhost: %s\\r\\nauthorization: Bearer %064d\\r\\ncontent-length: 2\\r\\nconnection: close\\r\\n\\r\\n{}' $HOST 0 >&3
         grep -a -e '^HTTP/1.1 [23]' <&3",
    ),
    (
        "take the port, and be taken for the server",
        "python3 - $PORT <<'END'
import socket, sys
own = socket.socket()
for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
    own.setsockopt(socket.SOL_SOCKET, option, 1)
own.bind(('127.0.0.1', int(sys.argv[1])))
own.listen()
print('bound')
END",
    ),
    (
        "find what was left among temporary files",
        "find \"$TMPDIR\" -mindepth 1 \\( -type f -o -type d \\) -user root -readable; grep -r -l -F -f - \"$TMPDIR\"",
    ),
];

#[test]
fn another_user_gets_nothing() {
    let place = Place::new();
    let open = |name: &str, mode| {
        fs::set_permissions(place.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    open("", 0o755);
    // A folder for temporary files as on every machine: everybody may make some there.
    fs::create_dir(place.path("tmp")).unwrap();
    open("tmp", 0o1777);
    if place.as_nobody("true").is_none() {
        println!("SKIPPED: another user needs root (setpriv)");
        return;
    }
    for line in [
        "new builtin:moons:40 --classes up,down --project p --quiet",
        "tell p.dial 1 up",
        "backup p.dial --out kept.dialbackup",
    ] {
        place.line(line).ok();
    }
    let mut server = place
        .command(&["serve", "p.dial"])
        .env("TMPDIR", place.path("tmp"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut printed = BufReader::new(server.stdout.take().unwrap()).lines();
    let link = printed.find_map(|line| {
        line.ok()?
            .split_once("launch=")
            .map(|(_, code)| code.to_string())
    });
    let code = link.unwrap();
    place.line("backup p.dial --out again.dialbackup").ok();
    let address: serde_json::Value =
        serde_json::from_slice(&place.read("p.dial/server.json")).unwrap();
    let (host, token) = (
        address["address"].as_str().unwrap(),
        address["token"].as_str().unwrap(),
    );
    let before = place.read("p.dial/server.json");
    let settings = [
        ("PID", server.id().to_string()),
        ("PORT", host.rsplit_once(':').unwrap().1.to_string()),
        ("HOST", host.to_string()),
        ("TMPDIR", place.path("tmp").display().to_string()),
    ];
    let secrets = format!("{token}\n{}\n", code.trim());
    let attack = |script: &str| {
        let mut command = place.as_nobody(script).unwrap();
        let command = command.envs(settings.iter().map(|(name, value)| (name, value)));
        let mut child = (command.stdin(Stdio::piped()).stdout(Stdio::piped()))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // One that does not read it has ended by now.
        let _ = child.stdin.take().unwrap().write_all(secrets.as_bytes());
        String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout).into_owned()
    };
    // They would be seen: what everybody may read is read, and a secret on a command line is found.
    assert_eq!(attack("cat /proc/self/comm"), "cat\n");
    let found = attack(
        "read -r secret; exec -a \"x $secret\" grep -a -l -F \"$secret\" /proc/self/cmdline",
    );
    assert!(found.contains("/cmdline"), "{found:?}");
    for (what, script) in ATTACKS {
        assert_eq!(attack(script), "", "{what}");
    }
    assert_eq!(place.read("p.dial/server.json"), before);
    place.line("tell p.dial 2 down").ok();
    server.kill().unwrap();
    server.wait().unwrap();
    let status = place.line("status p.dial --json").ok().json();
    assert_eq!(status["labels"], 2);
}
