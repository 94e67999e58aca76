//! How a browser gets its session: a link with a launch code behind `#`, where it stays in the browser: it is in no request
//! for the page, no log of a proxy and no header. A link that a person copies from a terminal is good for 15 minutes.
//!
//! To open a browser from here, the link is written into a file, and the browser is given the name of that file: the
//! arguments of a process can be read by everybody on the machine. The file leads to the link at once, so that its code is
//! good for a minute only.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dial_store::{Folder, Result, random_id};

use crate::app::App;
use crate::auth::private;

/// How long a printed link is good, and one in a file, in milliseconds.
const LINK_LIFE: u64 = 15 * 60_000;
const FILE_LIFE: u64 = 60_000;

/// A link that signs in a browser, once.
///
/// # Errors
/// No random numbers.
pub fn link(app: &App) -> Result<String> {
    let code = app.sessions.launch_code(app.clock.now(), LINK_LIFE, None)?;
    Ok(format!("http://{}/#launch={code}", app.address))
}

/// A file that leads to such a link. It is removed when the link is used, after a minute, and when the server ends.
///
/// # Errors
/// A project without a folder, a file that cannot be written.
pub fn file(app: &App) -> Result<PathBuf> {
    let folder = app.writer.project().folder().cloned();
    let folder = folder.ok_or_else(|| dial_store::Error::Place {
        place: "a project in memory".into(),
        why: "has no folder for the file that opens a browser".into(),
        next: "Open the link instead.".into(),
    })?;
    let folder = private::folder(&place(&folder))?;
    let path = folder.join(format!("{}.html", random_id()?));
    let now = app.clock.now();
    let code = app
        .sessions
        .launch_code(now, FILE_LIFE, Some(path.clone()))?;
    // All parts are ours: an address of numbers and a code of hexadecimal digits.
    let text = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0;url=http://{0}/#launch={code}\"><title>DiAL</title>\
         <p><a href=\"http://{0}/#launch={code}\">Open the labelling page</a></p></html>\n",
        app.address
    );
    private::create(&path)?
        .write_all(text.as_bytes())
        .map_err(|error| private::failed(&path, &error))?;
    let late = path.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(FILE_LIFE));
        remove(&late);
    });
    Ok(path)
}

/// Where these files are, in the folder of a project.
fn place(folder: &Folder) -> PathBuf {
    folder.0.join("launch")
}

/// Removes such a file, and the folder with the last one.
pub fn remove(file: &Path) {
    // What is gone already is what is wanted.
    let _ = std::fs::remove_file(file);
    if let Some(folder) = file.parent() {
        let _ = std::fs::remove_dir(folder);
    }
}

/// Removes what a server left that was killed.
pub fn sweep(folder: &Folder) {
    let _ = std::fs::remove_dir_all(place(folder));
}
