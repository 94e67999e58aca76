//! Opens the browser of the user on a file.
//!
//! The program that `BROWSER` names, or that of the system: `open`, `rundll32`, `wslview` and `explorer.exe` in WSL,
//! `xdg-open`. Only the name of the file is on the command line, which everybody on the machine can read.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

/// Starts a browser and does not wait for it.
///
/// # Errors
/// No program that could be started, with the reason for each.
pub fn open(file: &Path) -> Result<(), String> {
    let mut refused = Vec::new();
    for mut command in commands(file, std::env::var_os("BROWSER"), is_wsl()) {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // Ctrl-C ends the server, not a browser that it started.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        match command.spawn() {
            Ok(mut child) => {
                std::thread::spawn(move || child.wait());
                return Ok(());
            }
            Err(error) => {
                refused.push(format!("{}: {error}", command.get_program().display()));
            }
        }
    }
    Err(refused.join("; "))
}

/// What may open a file in a browser; the first that starts does.
fn commands(file: &Path, browser: Option<OsString>, wsl: bool) -> Vec<Command> {
    let with = |program: OsString, arguments: &[OsString]| {
        let mut command = Command::new(program);
        command.args(arguments);
        command
    };
    let file = file.as_os_str().to_owned();
    let named = browser.filter(|name| !name.is_empty());
    if let Some(browser) = named {
        return vec![with(browser, &[file])];
    }
    if cfg!(target_os = "macos") {
        return vec![with("open".into(), &[file])];
    }
    if cfg!(windows) {
        let opens = "url.dll,FileProtocolHandler".into();
        return vec![with("rundll32".into(), &[opens, file])];
    }
    let mut commands = Vec::new();
    if wsl {
        commands.push(with("wslview".into(), std::slice::from_ref(&file)));
        if let Some(windows) = windows_path(&file) {
            commands.push(with("explorer.exe".into(), &[windows]));
        }
    }
    commands.push(with("xdg-open".into(), &[file]));
    commands
}

/// Whether this is Linux inside Windows, whose browser is that of Windows.
fn is_wsl() -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    release.to_ascii_lowercase().contains("microsoft")
}

/// The name that Windows has for a file in WSL.
fn windows_path(file: &OsString) -> Option<OsString> {
    let named = Command::new("wslpath").arg("-w").arg(file).output().ok()?;
    let name = String::from_utf8(named.stdout).ok()?;
    let name = name.trim();
    (named.status.success() && !name.is_empty()).then(|| name.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_name_of_the_file_is_on_the_command_line() {
        let file = Path::new("/p/launch/1.html");
        for (browser, wsl) in [(Some("firefox".into()), false), (None, false), (None, true)] {
            let commands = commands(file, browser.clone(), wsl);
            assert!(!commands.is_empty());
            for command in &commands {
                let last = command.get_args().last();
                assert_eq!(last, Some(file.as_os_str()), "{command:?}");
            }
            if let Some(browser) = browser {
                assert_eq!(commands[0].get_program(), browser);
            }
        }
    }

    #[test]
    #[cfg(not(any(windows, target_os = "macos")))]
    fn an_empty_browser_variable_is_none() {
        let commands = commands(Path::new("a.html"), Some("".into()), false);
        assert_eq!(commands[0].get_program(), "xdg-open");
    }
}
