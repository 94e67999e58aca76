//! Items as people see them: one in the gallery of a report, and what the items of a pool are, in words.

use dial::NodeId;
use dial_data::media::images;
use dial_data::{Pool, Scene, Show};
use dial_plot::chart::to_png;
use dial_plot::picture::{GreyPicture, sparkline};
use dial_plot::report::GalleryItem;

use crate::ui::output::count;

/// How much of a text, and how many cells of a row, the gallery shows.
const MAX_LETTERS: usize = 280;
const MAX_CELLS: usize = 8;
/// The longer side of a picture in the gallery, in pixels.
const THUMBNAIL_SIDE: u32 = 192;

/// What an item is called in the gallery: its file, its pixel, its id, or its row.
pub fn called(pool: &Pool, node: NodeId) -> String {
    let item = node.index();
    let id = pool.ids.as_ref().map(|ids| ids[item].as_str());
    match (&pool.show, id) {
        (Show::Images(images), Some(id)) if id != images.files[item] => {
            format!("{id}, {}", images.files[item])
        }
        (Show::Images(images), _) => images.files[item].clone(),
        (Show::Scene(scene), _) => {
            let (row, column) = scene.position(item);
            format!("pixel r{row}c{column}")
        }
        (_, Some(id)) => format!("item {id}"),
        (_, None) => format!("row {item}"),
    }
}

/// An item of the gallery.
pub fn gallery_item(pool: &Pool, node: NodeId, title: String, detail: String) -> GalleryItem {
    let item = node.index();
    let numbers = || -> Vec<f64> {
        (0..pool.shown().dim)
            .map(|column| pool.shown().get(item, column))
            .collect()
    };
    let curve = || Some(to_png(&sparkline(&numbers(), 96.0, 64.0), 2.0));
    let (png, text) = match &pool.show {
        Show::Picture(picture) => {
            let mut grey = GreyPicture::new(picture.height, picture.width, numbers());
            (grey.lowest, grey.highest) = (picture.lowest, picture.highest);
            (Some(grey.to_png(3)), String::new())
        }
        Show::Texts(texts) => (
            None,
            joined(&[
                shortened(&texts[item], MAX_LETTERS),
                cells(words_beside(pool, item)),
            ]),
        ),
        Show::Images(images) => {
            match images::load(
                images.folder.join(&images.files[item]),
                Some(THUMBNAIL_SIDE),
            ) {
                Ok(bitmap) => (Some(bitmap.to_png()), cells(words_beside(pool, item))),
                Err(error) => (
                    None,
                    joined(&[images::reason(&error), cells(words_beside(pool, item))]),
                ),
            }
        }
        Show::Scene(_) => (curve(), String::new()),
        Show::Numbers(names) if names.is_empty() => (curve(), String::new()),
        Show::Numbers(names) => {
            let numbers = names
                .iter()
                .cloned()
                .zip(numbers().into_iter().map(short_number));
            (
                None,
                cells(
                    words_beside(pool, item)
                        .into_iter()
                        .chain(numbers)
                        .collect(),
                ),
            )
        }
    };
    GalleryItem {
        png,
        text,
        title,
        detail,
    }
}

/// Names and cells of the other columns of an item.
fn words_beside(pool: &Pool, item: usize) -> Vec<(String, String)> {
    let table = pool.beside.as_ref();
    table.map_or_else(Vec::new, |table| {
        table
            .names
            .iter()
            .cloned()
            .zip(table.row(item).iter().cloned())
            .collect()
    })
}

/// Cells of a table: a name and a value in each line.
fn cells(cells: Vec<(String, String)>) -> String {
    let lines: Vec<String> = cells
        .iter()
        .take(MAX_CELLS)
        .map(|(name, cell)| format!("{name}: {}", shortened(cell, 40)))
        .collect();
    match cells.len().saturating_sub(MAX_CELLS) {
        0 => lines.join("\n"),
        more => format!(
            "{}\nand {}",
            lines.join("\n"),
            count(more, "column more", "columns more")
        ),
    }
}

/// Texts below each other; empty ones take no line.
fn joined(texts: &[String]) -> String {
    texts
        .iter()
        .filter(|text| !text.is_empty())
        .cloned()
        .collect::<Vec<_>>()
        .join("\n")
}

/// Five significant figures; nothing for what is missing.
fn short_number(value: f64) -> String {
    let trimmed = |text: String| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    };
    let size = value.abs();
    match () {
        _ if value.is_nan() => String::new(),
        _ if value == 0.0 => "0".into(),
        _ if !(1e-4..1e15).contains(&size) => {
            let text = format!("{value:.4e}");
            let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
            format!("{}e{power}", trimmed(digits.into()))
        }
        // Whole numbers stay whole; below one, zeros after the point are no figures.
        _ => trimmed(match size {
            size if size >= 1e4 => format!("{value:.0}"),
            size if size >= 1.0 => format!("{value:.4}"),
            size if size >= 0.01 => format!("{value:.6}"),
            _ => format!("{value:.8}"),
        }),
    }
}

/// The first letters of a text, in one paragraph.
pub fn shortened(text: &str, letters: usize) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(letters) {
        Some((end, _)) => format!("{} …", words[..end].trim_end()),
        None => words,
    }
}

/// What the items are, as in `2000 pictures of 28 x 28 pixels`.
pub fn in_words(pool: &Pool) -> String {
    let n = pool.matrix.n;
    match &pool.show {
        Show::Numbers(names) => rows_in_words(pool, names),
        Show::Picture(picture) => {
            format!(
                "{} of {} x {} pixels",
                count(n, "picture", "pictures"),
                picture.height,
                picture.width
            )
        }
        Show::Images(_) => count(n, "picture file", "picture files"),
        Show::Texts(texts) => {
            let mut lengths: Vec<usize> = texts.iter().map(|text| text.chars().count()).collect();
            lengths.sort_unstable();
            format!(
                "{}, {} letters long in the median",
                count(n, "text", "texts"),
                lengths[n / 2]
            )
        }
        Show::Scene(scene) => format!(
            "{} of a scene of {} x {}{}",
            count(n, "pixel", "pixels"),
            scene.height,
            scene.width,
            wavelengths(scene)
        ),
    }
}

/// Rows of bare numbers, or of a table with its columns.
fn rows_in_words(pool: &Pool, names: &[String]) -> String {
    let n = pool.matrix.n;
    let Some(beside) = pool.beside.as_ref().filter(|_| !names.is_empty()) else {
        return count(n, "row of numbers", "rows of numbers");
    };
    // Without columns of numbers the features are the values of categories: `colour=red`.
    let of_words = |name: &String| {
        beside
            .names
            .iter()
            .any(|words| name.starts_with(&format!("{words}=")))
    };
    let words = count(beside.names.len(), "column", "columns");
    match names.iter().all(of_words) {
        true => format!("{} of words in {words}", count(n, "row", "rows")),
        false => {
            let numbers = count(names.len(), "column", "columns");
            format!(
                "{} with {numbers} of numbers and {} of words",
                count(n, "row", "rows"),
                beside.names.len()
            )
        }
    }
}

fn wavelengths(scene: &Scene) -> String {
    let ends = (
        scene.wavelengths.iter().copied().min_by(f64::total_cmp),
        scene.wavelengths.iter().copied().max_by(f64::total_cmp),
    );
    match ends {
        (Some(least), Some(largest)) => {
            let text = format!(
                ", {} bands from {least} to {largest} {}",
                scene.wavelengths.len(),
                scene.unit
            );
            text.trim_end().to_string()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dial_data::{Buffer, Matrix, Table};

    #[test]
    fn a_row_of_a_table_is_names_and_values() {
        let matrix = Matrix {
            values: Buffer::F64(vec![1.5, 20000.0, 2.0, 3.25]),
            n: 2,
            dim: 2,
        };
        let mut pool = Pool::new("t", matrix);
        pool.show = Show::Numbers(vec!["size".into(), "price".into()]);
        pool.beside = Some(Table {
            names: vec!["town".into()],
            cells: vec!["Oslo".into(), "Rome".into()],
        });
        let shown = gallery_item(&pool, NodeId(1), "a".into(), String::new());
        assert_eq!(
            (shown.png, shown.text.as_str()),
            (None, "town: Rome\nsize: 2\nprice: 3.25")
        );
        assert_eq!(
            in_words(&pool),
            "2 rows with 2 columns of numbers and 1 of words"
        );
        pool.show = Show::Numbers(vec!["town=Oslo".into(), "town=Rome".into()]);
        assert_eq!(in_words(&pool), "2 rows of words in 1 column");
        pool.beside = None;
        assert_eq!(in_words(&pool), "2 rows of numbers");
    }

    #[test]
    fn texts_and_pictures_have_columns_beside_them() {
        let matrix = Matrix {
            values: Buffer::F64(vec![1.0, 2.0]),
            n: 2,
            dim: 1,
        };
        let mut pool = Pool::new("t", matrix);
        pool.show = Show::Texts(vec!["one".into(), "x".repeat(300)]);
        pool.beside = Some(Table {
            names: vec!["town".into()],
            cells: vec!["Oslo".into(), "Rome".into()],
        });
        assert_eq!(
            gallery_item(&pool, NodeId(0), String::new(), String::new()).text,
            "one\ntown: Oslo"
        );
        let long = gallery_item(&pool, NodeId(1), String::new(), String::new()).text;
        assert!(long.ends_with("x …\ntown: Rome"), "{long}");
        assert_eq!(called(&pool, NodeId(1)), "row 1");
        pool.ids = Some(vec!["a".into(), "b".into()]);
        assert_eq!(called(&pool, NodeId(1)), "item b");
        let files = vec!["a".into(), "b/2.png".into()];
        pool.show = Show::Images(dial_data::Images {
            folder: "nowhere".into(),
            files,
        });
        assert_eq!(
            [called(&pool, NodeId(0)), called(&pool, NodeId(1))],
            ["a", "b, b/2.png"]
        );
        assert_eq!(
            gallery_item(&pool, NodeId(1), String::new(), String::new()).text,
            "no such file\ntown: Rome"
        );
    }

    #[test]
    fn sides_are_height_by_width() {
        let mut pool = Pool::new(
            "s",
            Matrix {
                values: Buffer::F64(vec![1.0, 2.0]),
                n: 2,
                dim: 1,
            },
        );
        let unit = String::new();
        pool.show = Show::Scene(Scene {
            height: 1,
            width: 2,
            pixels: vec![0, 1],
            wavelengths: vec![],
            unit,
        });
        assert_eq!(in_words(&pool), "2 pixels of a scene of 1 x 2");
        pool.show = Show::Picture(dial_data::Picture {
            height: 1,
            width: 3,
            lowest: 0.0,
            highest: 1.0,
        });
        assert_eq!(in_words(&pool), "2 pictures of 1 x 3 pixels");
    }

    #[test]
    fn numbers_are_short_and_small_ones_are_not_zero() {
        let cases = [
            (f64::NAN, ""),
            (0.0, "0"),
            (1e-5, "1e-5"),
            (-2.5e-7, "-2.5e-7"),
            (0.00125, "0.00125"),
        ];
        for (value, text) in [
            (3.25, "3.25"),
            (20000.0, "20000"),
            (1.5e20, "1.5e20"),
            (-12.0, "-12"),
        ]
        .iter()
        .chain(&cases)
        {
            assert_eq!(short_number(*value), *text);
        }
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(shortened("one  two\nthree", 100), "one two three");
        assert_eq!(shortened("one two three", 4), "one …");
    }
}
