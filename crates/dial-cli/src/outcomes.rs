//! What a part of a study showed, for the terminal.

use dial_lab::study::{Finding, Outcome};

use crate::output::table;

/// Its tables and findings.
pub fn in_words(outcome: &Outcome) -> String {
    let mut text = String::new();
    for summary in &outcome.summaries {
        let rows: Vec<Vec<String>> = std::iter::once(summary.header.clone())
            .chain(summary.rows.clone())
            .collect();
        text += &format!("\n{}\n{}", summary.caption, table(&rows));
    }
    for Finding {
        claim,
        verdict,
        evidence,
    } in &outcome.findings
    {
        text += &format!("\n{verdict}: {claim}\n    {evidence}\n");
    }
    text
}
