//! The embedded font (Ubuntu Light): glyph outlines, widths, shortening and wrapping of text.

use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, GlyphId, OutlineCurve};

use super::Weight;

static FONT: LazyLock<FontRef<'static>> = LazyLock::new(|| {
    FontRef::try_from_slice(epaint_default_fonts::UBUNTU_LIGHT).expect("the embedded font is valid")
});

/// One step along an outline, in font units with y upward.
pub(super) enum Step {
    /// Starts a contour.
    Move(f32, f32),
    /// A straight line.
    Line(f32, f32),
    /// A quadratic curve: control point, end.
    Quad(f32, f32, f32, f32),
    /// A cubic curve: two control points, end.
    Cubic(f32, f32, f32, f32, f32, f32),
    /// Ends a contour.
    Close,
}

/// A glyph and the distance of its origin from the start of the text, in font units.
pub(super) struct Placed {
    pub glyph: u16,
    pub x: f64,
}

/// Font units in one em.
pub(super) fn units() -> f64 {
    f64::from(FONT.units_per_em().unwrap_or(1000.0))
}

/// Width of the pen drawn around glyphs, in font units: the font is light, and print needs a little more.
pub(super) fn pen(weight: Weight) -> f64 {
    match weight {
        Weight::Regular => 0.016 * units(),
        Weight::Bold => 0.046 * units(),
    }
}

/// The glyphs of `text` in order, with kerning, and the full advance in font units.
///
/// Line breaks and other controls count as spaces, invisible format characters (joiners, direction marks) as
/// nothing; characters the font lacks show its "missing" box.
pub(super) fn layout(text: &str) -> (Vec<Placed>, f64) {
    let mut placed = Vec::new();
    let mut x = 0.0;
    let mut previous: Option<GlyphId> = None;
    for c in text.chars().filter(|c| !invisible(*c)) {
        let glyph = FONT.glyph_id(if c.is_control() { ' ' } else { c });
        if let Some(previous) = previous {
            x += f64::from(FONT.kern_unscaled(previous, glyph));
        }
        placed.push(Placed { glyph: glyph.0, x });
        x += f64::from(FONT.h_advance_unscaled(glyph));
        previous = Some(glyph);
    }
    (placed, x)
}

/// Whether a character only steers others: joiners, direction marks, variation selectors.
fn invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

/// The outline of a glyph; empty for blanks.
pub(super) fn outline(glyph: u16) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut end = None;
    for curve in FONT
        .outline(GlyphId(glyph))
        .map(|o| o.curves)
        .unwrap_or_default()
    {
        let (from, step, to) = match curve {
            OutlineCurve::Line(a, b) => (a, Step::Line(b.x, b.y), b),
            OutlineCurve::Quad(a, b, c) => (a, Step::Quad(b.x, b.y, c.x, c.y), c),
            OutlineCurve::Cubic(a, b, c, d) => (a, Step::Cubic(b.x, b.y, c.x, c.y, d.x, d.y), d),
        };
        if end != Some(from) {
            if end.is_some() {
                steps.push(Step::Close);
            }
            steps.push(Step::Move(from.x, from.y));
        }
        steps.push(step);
        end = Some(to);
    }
    if !steps.is_empty() {
        steps.push(Step::Close);
    }
    steps
}

/// Width of `text` in pixels at a font size.
pub fn width(text: &str, size: f64) -> f64 {
    layout(text).1 * size / units()
}

/// `text`, shortened with an ellipsis where it would be wider than `limit` pixels.
pub fn fit(text: &str, size: f64, limit: f64) -> String {
    if width(text, size) <= limit {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().collect();
    while kept.pop().is_some() {
        let shorter = format!("{}…", kept.iter().collect::<String>().trim_end());
        if width(&shorter, size) <= limit {
            return shorter;
        }
    }
    String::new()
}

/// `text`, its middle replaced by an ellipsis where it would be wider than `limit` pixels: names of methods often
/// differ only at their ends.
pub fn fit_middle(text: &str, size: f64, limit: f64) -> String {
    let all: Vec<char> = text.chars().collect();
    if width(text, size) <= limit {
        return text.to_owned();
    }
    for kept in (2..all.len()).rev() {
        let (head, tail) = (kept.div_ceil(2), kept / 2);
        let (head, tail) = (
            all[..head].iter().collect::<String>(),
            all[all.len() - tail..].iter().collect::<String>(),
        );
        let shorter = format!("{}…{}", head.trim_end(), tail.trim_start());
        if width(&shorter, size) <= limit {
            return shorter;
        }
    }
    fit(text, size, limit)
}

/// `text` broken between words into at most `most` lines of at most `limit` pixels; the last one is shortened
/// where the text goes on. No text gives no line.
pub fn wrap(text: &str, size: f64, limit: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let last = lines.len() == most;
        match lines.last_mut() {
            Some(line) if last || width(&format!("{line} {word}"), size) <= limit => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
        .into_iter()
        .take(most)
        .map(|line| fit(&line, size, limit))
        .collect()
}
