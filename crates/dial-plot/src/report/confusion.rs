//! The confusion table: true classes down, given classes across, shaded by share of the row.
//!
//! The shade grows with the square root of the share, so that rare mistakes can be seen.

use super::{Confusion, isolated};

const CONFUSION_NOTE: &str = "Rows are true classes, columns the classes given. Blue cells are right, orange cells are mistakes; \
                    the stronger the colour, the larger the share of its row.";

/// Names longer than this stand upright above their column.
const UPRIGHT_NAME_LENGTH: usize = 5;

pub(super) fn section(confusion: &Confusion) -> String {
    let rows: String = (0..confusion.classes.len())
        .map(|row| row_html(confusion, row))
        .collect();
    format!(
        "<section>\n<h2>Which class is taken for which</h2>\n<p class=\"note\">{CONFUSION_NOTE}</p>\n\
         <div class=\"scroll\" role=\"region\" aria-label=\"Confusion table\" tabindex=\"0\"><table class=\"confusion\">\n\
         <thead><tr><th scope=\"col\">true \\ given</th>{}\
         <th scope=\"col\">right</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n</section>\n",
        heads(&confusion.classes)
    )
}

fn heads(classes: &[String]) -> String {
    let long = if classes
        .iter()
        .any(|name| name.chars().count() > UPRIGHT_NAME_LENGTH)
    {
        " class=\"long\""
    } else {
        ""
    };
    classes
        .iter()
        .map(|name| {
            format!(
                "<th scope=\"col\"{long}><span>{}</span></th>",
                isolated(name)
            )
        })
        .collect()
}

fn row_html(confusion: &Confusion, row: usize) -> String {
    let count = |column: usize| {
        confusion
            .counts
            .get(row)
            .and_then(|r| r.get(column))
            .copied()
            .unwrap_or(0)
    };
    let columns = confusion.classes.len();
    let total = (0..columns).map(count).fold(0, usize::saturating_add);
    let share = |n: usize| {
        if total == 0 {
            0.0
        } else {
            n as f64 / total as f64
        }
    };
    let cell = |column: usize| {
        let n = count(column);
        let class = match (n, column == row) {
            (_, true) => " class=\"d\"",
            (0, false) => " class=\"z\"",
            _ => "",
        };
        let shade = if n == 0 {
            String::new()
        } else {
            format!(" style=\"--s:{:.3}\"", share(n).sqrt())
        };
        format!("<td{class}{shade}>{n}</td>")
    };
    let right = if total == 0 {
        "–".to_owned()
    } else {
        format!("{:.1} %", 100.0 * share(count(row)))
    };
    let cells: String = (0..columns).map(cell).collect();
    let name = isolated(&confusion.classes[row]);
    format!("<tr><th scope=\"row\">{name}</th>{cells}<td class=\"r\">{right}</td></tr>\n")
}
