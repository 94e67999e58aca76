//! A report as one HTML page that needs nothing else: no script, no font, no picture from elsewhere.
//!
//! It follows the reader's light or dark setting, fits a phone as well as a wide screen, and prints. Everything
//! that comes from data is escaped and isolated from the writing direction around it.

mod confusion;
mod parts;

use std::ops::RangeBounds;

use serde::{Deserialize, Serialize};

use crate::escape;

/// What a report says, from top to bottom; empty parts are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Heading of the page.
    pub title: String,
    /// The finding, in a few sentences; line breaks are kept.
    pub lead: String,
    /// Short facts: name, value.
    pub facts: Vec<(String, String)>,
    /// Drawings.
    pub figures: Vec<Figure>,
    /// Tables.
    pub tables: Vec<Table>,
    /// Parts with their headings.
    pub parts: Vec<Part>,
    /// Which class was taken for which.
    pub confusion: Option<Confusion>,
    /// Items to look at.
    pub galleries: Vec<Gallery>,
    /// What to do next.
    pub next: Vec<Step>,
}

/// A part of a report under its own heading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// The heading.
    pub title: String,
    /// Paragraphs.
    pub text: Vec<String>,
    /// Drawings.
    pub figures: Vec<Figure>,
    /// Tables.
    pub tables: Vec<Table>,
}

/// A drawing with its caption.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// What there is to see.
    pub caption: String,
    /// The drawing as [`crate::chart::to_svg`] writes it. It goes into the page as it is: never put text from
    /// elsewhere here.
    pub svg: String,
}

/// A table; the first column names its rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// What the table shows.
    pub caption: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// The cells, row by row.
    pub rows: Vec<Vec<String>>,
    /// Which columns hold numbers, to be set flush right; missing entries count as no.
    pub numeric: Vec<bool>,
}

impl Table {
    /// A table of words, its columns named in one text with ` | ` between them.
    pub fn new(
        caption: impl Into<String>,
        header: &str,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Table {
        Table {
            caption: caption.into(),
            header: header.split(" | ").map(String::from).collect(),
            rows: rows.into_iter().collect(),
            numeric: Vec::new(),
        }
    }

    /// The same with numbers in a range of columns.
    pub fn numbers(self, columns: impl RangeBounds<usize>) -> Table {
        let numeric = (0..self.header.len()).map(|column| columns.contains(&column));
        Table {
            numeric: numeric.collect(),
            ..self
        }
    }
}

/// A group of items to look at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gallery {
    /// Heading of the group.
    pub title: String,
    /// Why these items.
    pub caption: String,
    /// The items.
    pub items: Vec<GalleryItem>,
}

/// One item of a gallery.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GalleryItem {
    /// Its picture, a PNG file; an item may have none.
    pub png: Option<Vec<u8>>,
    /// Its text, shown in place of a picture; empty if it has none.
    pub text: String,
    /// What it is.
    pub title: String,
    /// More about it.
    pub detail: String,
}

/// How often each true class (row) was given each class (column).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Confusion {
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Counts, one row per class; missing ones count as zero.
    pub counts: Vec<Vec<usize>>,
}

/// Something to do next.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// What and why.
    pub what: String,
    /// The command that does it; may be empty.
    pub command: String,
}

/// The report as an HTML page.
pub fn render(report: &Report) -> String {
    let mut body = format!("<header>\n<h1>{}</h1>\n", isolated(&report.title));
    if !report.lead.is_empty() {
        body.push_str(&format!(
            "<p class=\"lead\">{}</p>\n",
            isolated(&report.lead)
        ));
    }
    body.push_str(&parts::facts(&report.facts));
    body.push_str("</header>\n");
    report
        .figures
        .iter()
        .for_each(|figure| body.push_str(&parts::figure(figure)));
    report
        .tables
        .iter()
        .for_each(|table| body.push_str(&parts::table(table)));
    report
        .parts
        .iter()
        .for_each(|part| body.push_str(&parts::part(part)));
    if let Some(confusion) = report.confusion.as_ref().filter(|c| !c.classes.is_empty()) {
        body.push_str(&confusion::section(confusion));
    }
    report
        .galleries
        .iter()
        .for_each(|gallery| body.push_str(&parts::gallery(gallery)));
    body.push_str(&parts::steps(&report.next));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n",
        escape(&report.title),
        include_str!("report/style.css"),
    )
}

/// Text from data: escaped, and kept from changing the writing direction around it.
fn isolated(text: &str) -> String {
    format!("<bdi>{}</bdi>", escape(text))
}
