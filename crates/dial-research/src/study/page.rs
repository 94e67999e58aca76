//! The report over all parts of a folder, as a web page and as Markdown.

use super::folder::Section;
use super::{Finding, Study};
use crate::markdown::{duration, markdown_table};
use dial_plot::report::{Figure, Part, Report, Table, render};

/// The report as a web page; `svg` gives the drawing of a figure.
pub fn html(
    study: &Study<'_>,
    sections: &[Section],
    svg: &dyn Fn(&Section, &str) -> String,
) -> String {
    let part = |section: &Section| Part {
        title: section.title.clone(),
        text: [section.text.clone(), facts(section), notes(section)].concat(),
        figures: (section.figures.iter())
            .map(|(stem, caption)| Figure {
                caption: caption.clone(),
                svg: svg(section, stem),
            })
            .collect(),
        tables: study.tables(section),
    };
    let report = Report {
        title: study.title.into(),
        lead: (study.lead)(sections),
        tables: findings_table(&study.findings(sections), TITLE)
            .into_iter()
            .collect(),
        parts: sections.iter().map(part).collect(),
        ..Report::default()
    };
    render(&report)
}

/// The report as Markdown; figures are links into the subfolders.
pub fn markdown(study: &Study<'_>, sections: &[Section]) -> String {
    let mut text = format!(
        "# {}\n\n{}\n",
        study.title,
        (study.lead)(sections).replace('\n', "\n\n")
    );
    if let Some(table) = findings_table(&study.findings(sections), TITLE) {
        text += &format!("\n## The paper's claims\n\n{}", markdown_table(&table));
    }
    for section in sections {
        text += &format!(
            "\n## {}\n\n{}",
            section.title,
            [section.text.clone(), facts(section)].concat().join("\n\n")
        );
        text += "\n";
        for (stem, caption) in &section.figures {
            text += &format!(
                "\n![{}]({}/{stem}.svg)\n\n*{caption}*\n",
                first_words(caption),
                section.word
            );
        }
        for table in &study.tables(section) {
            text += &format!("\n{}\n\n{}", table.caption, markdown_table(table));
        }
        let notes = notes(section);
        text += &notes
            .iter()
            .map(|note| format!("\n{note}\n"))
            .collect::<String>();
        let tables: Vec<String> = section
            .tables
            .iter()
            .map(|stem| format!("[{stem}.csv]({}/{stem}.csv)", section.word))
            .collect();
        text += &format!(
            "\nTables: {}; settings: [settings.json]({}/settings.json).\n",
            if tables.is_empty() {
                "none".into()
            } else {
                tables.join(", ")
            },
            section.word
        );
    }
    text
}

impl Study<'_> {
    /// The findings at the top, those over several parts first.
    fn findings(&self, sections: &[Section]) -> Vec<Finding> {
        let parts = sections
            .iter()
            .filter(|_| self.gathered)
            .flat_map(|section| section.findings.clone());
        (self.overall)(sections).into_iter().chain(parts).collect()
    }

    /// The tables of a part.
    fn tables(&self, section: &Section) -> Vec<Table> {
        let own = if self.gathered {
            None
        } else {
            findings_table(&section.findings, "What this says about the paper")
        };
        own.into_iter().chain(section.summaries.clone()).collect()
    }
}

const TITLE: &str = "What these runs say about the paper's claims";

fn findings_table(findings: &[Finding], caption: &str) -> Option<Table> {
    let row = |finding: &Finding| {
        vec![
            finding.claim.clone(),
            finding.verdict.to_string(),
            finding.evidence.clone(),
        ]
    };
    (!findings.is_empty()).then(|| {
        Table::new(
            caption,
            "claim | verdict | evidence",
            findings.iter().map(row),
        )
    })
}

fn facts(section: &Section) -> Vec<String> {
    vec![format!(
        "{}; {} of wall time.",
        section.made,
        duration(section.seconds)
    )]
}

fn notes(section: &Section) -> Vec<String> {
    section
        .notes
        .iter()
        .map(|note| format!("Note: {note}."))
        .collect()
}

fn first_words(caption: &str) -> String {
    caption
        .split([':', '.', ';', '('])
        .next()
        .unwrap_or("figure")
        .trim()
        .replace(['[', ']'], "")
}
