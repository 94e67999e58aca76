//! The web page: well-formed, self-contained, and unharmed by hostile data.

mod common;

use dial_plot::chart::{Canvas, to_svg};
use dial_plot::escape;
use dial_plot::picture::GreyPicture;
use dial_plot::report::{Confusion, Figure, Gallery, GalleryItem, Report, Step, Table, render};

const HOSTILE: &str =
    "</bdi></title></style><script>alert('x')</script>\"onload=\"y\u{0}\u{202e}&amp;";

fn hostile_report() -> Report {
    let text = || HOSTILE.to_owned();
    let item = |png| GalleryItem {
        png,
        text: text(),
        title: text(),
        detail: text(),
    };
    let mut canvas = Canvas::new(10.0, 10.0);
    (canvas.title, canvas.description) = (text(), text());
    Report {
        parts: Vec::new(),
        title: text(),
        lead: text(),
        facts: vec![(text(), text())],
        figures: vec![Figure {
            caption: text(),
            svg: to_svg(&canvas),
        }],
        tables: vec![Table {
            caption: text(),
            header: vec![text(); 2],
            rows: vec![vec![text(); 3]],
            numeric: vec![false, true],
        }],
        confusion: Some(Confusion {
            classes: vec![text(), "b".into()],
            counts: vec![vec![3, 1]],
        }),
        galleries: vec![Gallery {
            title: text(),
            caption: text(),
            items: vec![
                item(None),
                item(Some(vec![])),
                item(Some(GreyPicture::new(1, 1, vec![0.0]).to_png(1))),
            ],
        }],
        next: vec![Step {
            what: text(),
            command: text(),
        }],
    }
}

#[test]
fn hostile_text_stays_text() {
    let page = render(&hostile_report());
    let names = common::elements(&page);
    assert!(!names.iter().any(|n| n == "script"));
    let shown = escape(HOSTILE);
    assert!(
        shown.starts_with("&lt;/bdi&gt;")
            && shown.contains("&#39;x&#39;")
            && shown.contains("&quot;onload")
    );
    // All is isolated but what cannot be: page title, title and description of the figure, two alternative texts,
    // and the command, which runs left to right on its own.
    assert_eq!(page.matches(&format!("<bdi>{shown}</bdi>")).count(), 25);
    assert_eq!(page.matches(&shown).count(), 25 + 6);
}

#[test]
fn the_page_needs_nothing_from_elsewhere() {
    let page = render(&hostile_report());
    let names = common::elements(&page);
    assert!(
        !names
            .iter()
            .any(|n| matches!(n.as_str(), "link" | "script" | "iframe" | "base" | "object"))
    );
    let addresses = page.matches("http").count();
    assert_eq!(
        addresses,
        page.matches("xmlns=\"http://www.w3.org/2000/svg\"").count()
    );
    assert!(
        page.split("src=\"")
            .skip(1)
            .all(|s| s.starts_with("data:image/png;base64,"))
    );
    assert!(!page.contains("url(") && !page.contains("@import"));
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("@media print"));
}

#[test]
fn an_empty_report_is_a_page_with_a_title() {
    let names = common::elements(&render(&Report::default()));
    let expected = [
        "html", "head", "meta", "meta", "title", "style", "body", "main", "header", "h1", "bdi",
    ];
    assert_eq!(names, expected);
    let empty = Report {
        confusion: Some(Confusion::default()),
        tables: vec![Table::default()],
        ..Report::default()
    };
    assert!(!render(&empty).contains("<h2>"));
}

#[test]
fn the_confusion_table_shades_by_share_of_the_row() {
    let classes = vec!["a".to_owned(), "b".to_owned(), "c".to_owned()];
    let counts = vec![vec![75, 25, 0], vec![0, 0, 0], vec![1]];
    let page = render(&Report {
        confusion: Some(Confusion { classes, counts }),
        ..Report::default()
    });
    assert!(
        page.contains(
            "<td class=\"d\" style=\"--s:0.866\">75</td><td style=\"--s:0.500\">25</td><td class=\"z\">0</td>"
        )
    );
    assert!(page.contains("<td class=\"r\">75.0 %</td>"));
    assert!(
        page.contains("<td class=\"r\">–</td>"),
        "a class that never occurs has no share"
    );
    assert!(
        page.contains("<td style=\"--s:1.000\">1</td><td class=\"z\">0</td><td class=\"d\">0</td>")
    );
}

#[test]
fn tables_mark_numbers_and_heads() {
    let table = Table {
        caption: "C".into(),
        header: vec!["name".into(), "n".into()],
        rows: vec![vec!["x y".into(), "5 ± 1".into()]],
        numeric: vec![false, true],
    };
    let page = render(&Report {
        tables: vec![table],
        ..Report::default()
    });
    assert!(page.contains("<th scope=\"col\" class=\"n\"><bdi>n</bdi></th>"));
    assert!(page.contains(
        "<th scope=\"row\"><bdi>x y</bdi></th><td class=\"n\"><bdi>5\u{a0}±\u{a0}1</bdi></td>"
    ));
}

#[test]
fn small_pictures_are_not_smoothed() {
    let page = |factor| {
        let png = Some(GreyPicture::new(1, 2, vec![0.0, 1.0]).to_png(factor));
        let items = vec![GalleryItem {
            png,
            text: String::new(),
            title: "i".into(),
            detail: String::new(),
        }];
        render(&Report {
            galleries: vec![Gallery {
                items,
                ..Gallery::default()
            }],
            ..Report::default()
        })
    };
    assert!(page(2).contains("<img class=\"px\" src="));
    assert!(page(200).contains("<img src="));
}
