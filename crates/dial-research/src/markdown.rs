//! Pieces of Markdown pages: tables, and seconds in words.

use dial_plot::report::Table;

/// Seconds in words.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s => format!("{:.0} min", s / 60.0),
    }
}

/// A table, its first column flush left and columns of numbers flush right.
pub fn markdown_table(table: &Table) -> String {
    let cell = |text: &String| text.replace('|', "\\|").replace('\n', " ");
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let rule = (0..table.header.len()).map(|c| {
        if table.numeric.get(c) == Some(&true) {
            "---:"
        } else {
            "---"
        }
    });
    let mut text = line(table.header.iter().map(cell).collect());
    text += &line(rule.map(String::from).collect());
    text += &table
        .rows
        .iter()
        .map(|row| line(row.iter().map(cell).collect()))
        .collect::<String>();
    text
}
