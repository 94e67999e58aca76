//! The report over all experiments of a folder, as a web page and as Markdown.

use super::folder::Section;
use super::{Finding, claims};
use crate::markdown::{duration, markdown_table};
use crate::report::{Figure, Part, Report, Table, render};

const TITLE: &str = "Dirichlet Active Learning, reproduced";

/// The report as a web page; `svg` gives the drawing of a figure.
pub fn html(sections: &[Section], svg: &dyn Fn(&Section, &str) -> String) -> String {
    let part = |section: &Section| Part {
        title: section.experiment.title().to_string(),
        text: [facts(section), notes(section)].concat(),
        figures: (section.figures.iter())
            .map(|(stem, caption)| Figure { caption: caption.clone(), svg: svg(section, stem) })
            .collect(),
        tables: section.summaries.clone(),
    };
    let report = Report {
        title: TITLE.into(),
        lead: lead(sections),
        tables: findings_table(&all_findings(sections)).into_iter().collect(),
        parts: sections.iter().map(part).collect(),
        ..Report::default()
    };
    render(&report)
}

/// The report as Markdown; figures are links into the subfolders.
pub fn markdown(sections: &[Section]) -> String {
    let mut text = format!("# {TITLE}\n\n{}\n", lead(sections).replace('\n', "\n\n"));
    if let Some(table) = findings_table(&all_findings(sections)) {
        text += &format!("\n## The paper's claims\n\n{}", markdown_table(&table));
    }
    for section in sections {
        text += &format!("\n## {}\n\n{}", section.experiment.title(), facts(section).join("\n\n"));
        text += "\n";
        for (stem, caption) in &section.figures {
            text += &format!("\n![{}]({}/{stem}.svg)\n\n*{caption}*\n", first_words(caption), section.experiment);
        }
        for table in &section.summaries {
            text += &format!("\n{}\n\n{}", table.caption, markdown_table(table));
        }
        let notes = notes(section);
        text += &notes.iter().map(|note| format!("\n{note}\n")).collect::<String>();
        let tables: Vec<String> =
            section.tables.iter().map(|stem| format!("[{stem}.csv]({}/{stem}.csv)", section.experiment)).collect();
        text += &format!(
            "\nTables: {}; settings: [settings.json]({}/settings.json).\n",
            if tables.is_empty() { "none".into() } else { tables.join(", ") },
            section.experiment
        );
    }
    text
}

fn lead(sections: &[Section]) -> String {
    let quick = sections.iter().filter(|section| section.quick).count();
    let mut text = format!(
        "{} of the paper's experiments, run by DiAL {}. Bands and intervals are 95 % confidence intervals of the mean \
         over trials; ± in tables of accuracies is the standard error. Wall times are of the machine at hand, which may have done other work, and do not count runs that were cut off.",
        sections.len(),
        sections.first().map_or(env!("CARGO_PKG_VERSION"), |section| section.version.as_str())
    );
    if quick > 0 {
        text += &format!(
            "\n{quick} of them in a quick version on generated pools, which shows that everything runs and nothing more."
        );
    }
    text
}

/// All findings, those over several pools first.
fn all_findings(sections: &[Section]) -> Vec<Finding> {
    let pools: Vec<_> = sections.iter().flat_map(|section| section.standings.clone()).collect();
    claims::overall(&pools).into_iter().chain(sections.iter().flat_map(|s| s.findings.clone())).collect()
}

fn findings_table(findings: &[Finding]) -> Option<Table> {
    let row = |finding: &Finding| vec![finding.claim.clone(), finding.verdict.to_string(), finding.evidence.clone()];
    (!findings.is_empty()).then(|| Table {
        caption: "What these runs say about the paper's claims".into(),
        header: ["claim", "verdict", "evidence"].map(String::from).to_vec(),
        rows: findings.iter().map(row).collect(),
        numeric: Vec::new(),
    })
}

fn facts(section: &Section) -> Vec<String> {
    let quick = if section.quick { ", quick version on generated pools" } else { "" };
    let trials = match section.trials {
        None => String::new(),
        Some(1) => format!("1 trial, seed {}", section.seed),
        Some(many) => format!("{many} trials, seed {}", section.seed),
    };
    let what = if trials.is_empty() { format!("Seed {}", section.seed) } else { trials };
    vec![format!("{what}{quick}; {} of wall time.", duration(section.seconds))]
}

fn notes(section: &Section) -> Vec<String> {
    section.notes.iter().map(|note| format!("Note: {note}.")).collect()
}

fn first_words(caption: &str) -> String {
    caption.split([':', '.', ';', '(']).next().unwrap_or("figure").trim().replace(['[', ']'], "")
}
