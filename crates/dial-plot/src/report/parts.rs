//! The parts of a page: facts, figures, tables, galleries, next steps.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{Figure, Gallery, GalleryItem, Part, Step, Table, isolated};
use crate::escape;

pub(super) fn facts(facts: &[(String, String)]) -> String {
    let pair = |(name, value): &(String, String)| {
        format!(
            "<div><dt>{}</dt><dd>{}</dd></div>\n",
            isolated(name),
            isolated(value)
        )
    };
    match facts {
        [] => String::new(),
        _ => format!(
            "<dl class=\"facts\">\n{}</dl>\n",
            facts.iter().map(pair).collect::<String>()
        ),
    }
}

pub(super) fn figure(figure: &Figure) -> String {
    let caption = match figure.caption.as_str() {
        "" => String::new(),
        caption => format!("<figcaption>{}</figcaption>\n", isolated(caption)),
    };
    let card = "<div class=\"card\" role=\"region\" aria-label=\"Figure\" tabindex=\"0\">";
    format!("<figure>\n{card}{}</div>\n{caption}</figure>\n", figure.svg)
}

pub(super) fn part(part: &Part) -> String {
    let mut out = format!("<section>\n<h2>{}</h2>\n", isolated(&part.title));
    part.text
        .iter()
        .for_each(|text| out.push_str(&format!("<p class=\"note\">{}</p>\n", isolated(text))));
    part.figures
        .iter()
        .for_each(|drawing| out.push_str(&figure(drawing)));
    part.tables
        .iter()
        .for_each(|rows| out.push_str(&table(rows)));
    out + "</section>\n"
}

pub(super) fn table(table: &Table) -> String {
    let mut out = String::from("<figure class=\"table\">\n");
    if !table.caption.is_empty() {
        out.push_str(&format!(
            "<figcaption>{}</figcaption>\n",
            isolated(&table.caption)
        ));
    }
    out.push_str(
        "<div class=\"scroll\" role=\"region\" aria-label=\"Table\" tabindex=\"0\"><table>\n",
    );
    let class = |column: usize| {
        if table.numeric.get(column) == Some(&true) {
            " class=\"n\""
        } else {
            ""
        }
    };
    let head = table.header.iter().enumerate();
    let head: String = head
        .map(|(i, h)| format!("<th scope=\"col\"{}>{}</th>", class(i), isolated(h)))
        .collect();
    if !head.is_empty() {
        out.push_str(&format!("<thead><tr>{head}</tr></thead>\n"));
    }
    out.push_str("<tbody>\n");
    for row in &table.rows {
        let cell = |(i, text): (usize, &String)| match i {
            0 => format!("<th scope=\"row\"{}>{}</th>", class(i), isolated(text)),
            // A number, its sign and its unit stay on one line.
            _ if table.numeric.get(i) == Some(&true) => {
                format!(
                    "<td{}>{}</td>",
                    class(i),
                    isolated(&text.replace(' ', "\u{a0}"))
                )
            }
            _ => format!("<td{}>{}</td>", class(i), isolated(text)),
        };
        out.push_str(&format!(
            "<tr>{}</tr>\n",
            row.iter().enumerate().map(cell).collect::<String>()
        ));
    }
    out + "</tbody>\n</table></div>\n</figure>\n"
}

pub(super) fn gallery(gallery: &Gallery) -> String {
    let mut out = format!("<section>\n<h2>{}</h2>\n", isolated(&gallery.title));
    if !gallery.caption.is_empty() {
        out.push_str(&format!(
            "<p class=\"note\">{}</p>\n",
            isolated(&gallery.caption)
        ));
    }
    if !gallery.items.is_empty() {
        let items: String = gallery.items.iter().map(item).collect();
        out.push_str(&format!("<ul class=\"gallery\">\n{items}</ul>\n"));
    }
    out + "</section>\n"
}

fn item(item: &GalleryItem) -> String {
    let mut picture = item
        .png
        .as_deref()
        .map_or(String::new(), |png| image(png, &item.title));
    if !item.text.is_empty() {
        picture += &format!("<p class=\"text\">{}</p>", isolated(&item.text));
    }
    let detail = match item.detail.as_str() {
        "" => String::new(),
        detail => format!("<span>{}</span>", isolated(detail)),
    };
    format!(
        "<li>{picture}<b>{}</b>{detail}</li>\n",
        isolated(&item.title)
    )
}

/// An image element; pictures of few pixels are enlarged without smoothing.
fn image(png: &[u8], title: &str) -> String {
    let class = if png_width(png).is_some_and(|width| width <= 160) {
        " class=\"px\""
    } else {
        ""
    };
    let data = STANDARD.encode(png);
    format!(
        "<img{class} src=\"data:image/png;base64,{data}\" alt=\"{}\"/>",
        escape(title)
    )
}

/// Width from the header of a PNG file.
fn png_width(png: &[u8]) -> Option<u32> {
    png.get(16..20).map(|bytes| {
        bytes
            .iter()
            .fold(0, |width, byte| (width << 8) | u32::from(*byte))
    })
}

pub(super) fn steps(steps: &[Step]) -> String {
    let step = |step: &Step| {
        let command = match step.command.as_str() {
            "" => String::new(),
            command => format!("<pre dir=\"ltr\"><code>{}</code></pre>", escape(command)),
        };
        format!("<li>{}{command}</li>\n", isolated(&step.what))
    };
    match steps {
        [] => String::new(),
        _ => {
            let list: String = steps.iter().map(step).collect();
            format!(
                "<section>\n<h2>What to do next</h2>\n<ol class=\"steps\">\n{list}</ol>\n</section>\n"
            )
        }
    }
}
