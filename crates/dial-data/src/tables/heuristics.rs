//! Guesses what a column holds from its cells: texts to read, paths of pictures, or ids.

use std::collections::HashSet;

use crate::media::folder::{PICTURE_ENDINGS, ends};
use crate::tables::frame::{Column, is_missing};

/// A column of at least this many numbers that count up is taken for a counter, not a measurement.
const MIN_COUNTER_LENGTH: usize = 10;

/// Whether a text ends like the path of a picture file.
pub(crate) fn is_picture_path(text: &str) -> bool {
    ends(text, &PICTURE_ENDINGS)
}

/// Whether more than half of the cells that hold something do so; the others are faults of their rows.
pub(crate) fn mostly_pictures(cells: &[String]) -> bool {
    let present = cells.iter().filter(|cell| !is_missing(cell)).count();
    2 * cells.iter().filter(|cell| is_picture_path(cell)).count() > present
}

/// Whether numbers look like ids: all whole and different, and named so or counting up.
pub(crate) fn like_ids(name: &str, values: &[f64]) -> bool {
    let whole = values.iter().all(|value| value.fract() == 0.0);
    let counting = || {
        values.len() >= MIN_COUNTER_LENGTH && values.windows(2).all(|pair| pair[1] - pair[0] == 1.0)
    };
    let named = || {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        name.to_ascii_lowercase().ends_with("id") && sorted.windows(2).all(|pair| pair[0] < pair[1])
    };
    whole && (counting() || named())
}

/// Whether a column holds texts: longer on average than a number of characters, with blanks, and mostly different.
pub(crate) fn looks_like_text(column: &Column, rows: usize, length: usize) -> bool {
    matches!(column, Column::Words(cells) if looks_like_text_cells(cells, rows, length))
}

/// The same of a column that is filled in most rows.
pub(crate) fn mostly_text(column: &Column, rows: usize) -> bool {
    let filled =
        |cells: &[String]| 2 * cells.iter().filter(|cell| !is_missing(cell)).count() > rows;
    matches!(column, Column::Words(cells) if filled(cells) && looks_like_text_cells(cells, rows, 20))
}

pub(crate) fn looks_like_text_cells(cells: &[String], rows: usize, length: usize) -> bool {
    let present = || cells.iter().filter(|cell| !is_missing(cell));
    let count = present().count();
    let characters: usize = present().map(|cell| cell.chars().count()).sum();
    let with_blanks = present()
        .filter(|cell| cell.contains(char::is_whitespace))
        .count();
    if count == 0 || characters <= length * count || 2 * with_blanks <= count {
        return false;
    }
    2 * present().collect::<HashSet<_>>().len() > rows.min(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(cells: &[&str]) -> Column {
        Column::Words(cells.iter().map(|cell| cell.to_string()).collect())
    }

    #[test]
    fn texts_are_long_and_filled() {
        let long = words(&["one text is here, and long", "another text is here too"]);
        assert!(looks_like_text(&long, 2, 20) && !looks_like_text(&long, 2, 60));
        assert!(!looks_like_text(&words(&["x", "y"]), 2, 0));
        assert!(
            mostly_text(&long, 2)
                && !mostly_text(&words(&["one text is here, and long", "", ""]), 3)
        );
    }

    #[test]
    fn most_cells_are_paths_of_pictures() {
        let cells = |cells: &[&str]| {
            cells
                .iter()
                .map(|cell| cell.to_string())
                .collect::<Vec<_>>()
        };
        assert!(mostly_pictures(&cells(&[
            "a.png", "b/c.JPG", "", "odd.gif"
        ])));
        assert!(
            !mostly_pictures(&cells(&["a.png", "odd.gif"]))
                && !mostly_pictures(&cells(&["", "NA"]))
        );
        assert!(is_picture_path("é.jpeg") && !is_picture_path("png") && !is_picture_path("aéng"));
    }

    #[test]
    fn ids_are_named_or_count() {
        let ids: Vec<f64> = (5..15).map(f64::from).collect();
        assert!(
            like_ids("n", &ids) && !like_ids("n", &ids[1..]) && like_ids("userId", &[7.0, 3.0])
        );
        assert!(!like_ids("id", &[7.0, 7.0]) && !like_ids("id", &[0.5, 1.0]));
    }
}
