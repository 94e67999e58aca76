//! Where results, notes and progress go: results to stdout, everything else to stderr.

use std::sync::Mutex;
use std::time::Duration;

use dial::Control;
use dial::control::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::ui::terminal;

/// How results and notes are printed.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// Results as JSON.
    pub json: bool,
    /// No progress bars and no notes.
    pub quiet: bool,
}

impl Output {
    /// Prints a result: the text for people, or the JSON for machines.
    pub fn result(&self, text: &str, json: &serde_json::Value) {
        if self.json {
            self.print(&format!("{json:#}\n"))
        } else {
            self.print(text)
        }
    }

    /// Writes to stdout.
    pub fn print(&self, text: &str) {
        terminal::print(text);
    }

    /// Prints a note.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            terminal::say(&terminal::of_bearable_length(text.to_string()));
        }
    }

    /// A control whose progress shows as a bar with the time left; nothing where stderr is not a terminal.
    pub fn control(&self) -> Control {
        if self.quiet {
            return Control::new();
        }
        let bar: Mutex<Option<ProgressBar>> = Mutex::new(None);
        Control::with_progress(move |progress| {
            let mut bar = bar.lock().expect("no holder panics");
            match progress {
                Progress::Start { stage, steps } => *bar = Some(new_bar(stage, steps)),
                Progress::Advance(steps) => bar.iter().for_each(|bar| bar.inc(steps)),
                Progress::Finish => bar.take().iter().for_each(ProgressBar::finish_and_clear),
            }
        })
    }
}

fn new_bar(stage: &str, steps: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{msg:<32!} {bar:20} {percent:>3} %  {eta} left");
    bar.set_style(
        style
            .expect("the template is well formed")
            .progress_chars("━━─"),
    );
    bar.set_message(terminal::visible(stage).into_owned());
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// A number and what it counts.
pub fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// An annotator by name; "no annotator" for decisions without one.
pub fn who(annotator: &str) -> &str {
    if annotator.is_empty() {
        "no annotator"
    } else {
        annotator
    }
}

/// Lays out rows of cells in columns: the first to the left, the others to the right.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
    };
    let widths: Vec<usize> = (0..columns)
        .map(|column| width(column).unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = (row.iter().zip(&widths).enumerate())
            .map(|(column, (cell, &width))| {
                if column == 0 {
                    format!("{cell:<width$}")
                } else {
                    format!("{cell:>width$}")
                }
            })
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}
