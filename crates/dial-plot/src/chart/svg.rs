//! The SVG back end: compact, deterministic, readable without fonts.
//!
//! Each glyph that occurs is defined once and used many times. Identifiers begin with a digest of the drawing, so
//! that several drawings can live in one HTML page.

use std::collections::BTreeSet;
use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::font::{self, Step};
use super::{Anchor, Canvas, Colour, Marker, MarkerKind, Point, Shape, Stroke, Text};
use crate::escape;

/// The drawing as an SVG element, with title and description for screen readers.
pub fn to_svg(canvas: &Canvas) -> String {
    let mut body = String::new();
    for shape in &canvas.shapes {
        write_shape(&mut body, shape);
    }
    let id = digest(&format!(
        "{} {} {} {body}",
        canvas.title, canvas.width, canvas.height
    ));
    let body = body.replace("href=\"#~", &format!("href=\"#{id}"));
    let (w, h) = (number(canvas.width), number(canvas.height));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\" \
         aria-labelledby=\"{id}t {id}d\"><title id=\"{id}t\">{}</title><desc id=\"{id}d\">{}</desc>",
        escape(&canvas.title),
        escape(&canvas.description)
    );
    write_glyphs(&mut out, &id, canvas);
    let _ = write!(
        out,
        "<rect width=\"{w}\" height=\"{h}\" fill=\"#fff\"/>{body}</svg>"
    );
    out
}

/// A short name that depends on nothing but `text` (FNV-1a).
fn digest(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("d{:08x}", (hash ^ (hash >> 32)) as u32)
}

/// A number with at most two decimals and no trailing zeros; what is not finite becomes 0.
fn number(value: f64) -> String {
    decimals(value, 2)
}

fn decimals(value: f64, places: usize) -> String {
    let text = format!("{:.places$}", if value.is_finite() { value } else { 0.0 });
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

fn hex(colour: Colour) -> String {
    format!("#{:02x}{:02x}{:02x}", colour.0, colour.1, colour.2)
}

fn write_glyphs(out: &mut String, id: &str, canvas: &Canvas) {
    let texts = canvas.shapes.iter().filter_map(|s| {
        if let Shape::Text(t) = s {
            Some(t)
        } else {
            None
        }
    });
    let used: BTreeSet<u16> = texts
        .flat_map(|t| font::layout(&t.content).0)
        .map(|p| p.glyph)
        .collect();
    out.push_str("<defs>");
    for glyph in used {
        let path = glyph_path(glyph);
        if !path.is_empty() {
            let _ = write!(out, "<path id=\"{id}g{glyph}\" d=\"{path}\"/>");
        }
    }
    out.push_str("</defs>");
}

fn glyph_path(glyph: u16) -> String {
    let mut path = String::new();
    for step in font::outline(glyph) {
        let (letter, numbers): (char, Vec<f32>) = match step {
            Step::Move(x, y) => ('M', vec![x, y]),
            Step::Line(x, y) => ('L', vec![x, y]),
            Step::Quad(a, b, x, y) => ('Q', vec![a, b, x, y]),
            Step::Cubic(a, b, c, d, x, y) => ('C', vec![a, b, c, d, x, y]),
            Step::Close => ('Z', vec![]),
        };
        path.push(letter);
        let numbers: Vec<String> = numbers.into_iter().map(|n| number(f64::from(n))).collect();
        path.push_str(&numbers.join(" "));
    }
    path
}

fn write_shape(out: &mut String, shape: &Shape) {
    let _ = match shape {
        Shape::Polyline { points, .. } if points.len() < 2 => return,
        Shape::Polyline { points, stroke } => {
            write!(
                out,
                "<polyline points=\"{}\" fill=\"none\"{}/>",
                list(points),
                stroke_attributes(stroke)
            )
        }
        Shape::Polygon { points, .. } if points.len() < 3 => return,
        Shape::Polygon {
            points,
            fill,
            opacity,
        } => {
            let (points, fill, opacity) = (list(points), hex(*fill), number(*opacity));
            write!(
                out,
                "<polygon points=\"{points}\" fill=\"{fill}\" fill-opacity=\"{opacity}\"/>"
            )
        }
        Shape::Rectangle { at, size, fill } => {
            write!(out, "<rect{} fill=\"{}\"/>", frame(*at, *size), hex(*fill))
        }
        Shape::Circle { at, radius, fill } => write!(
            out,
            "<circle{} fill=\"{}\"/>",
            disc(*at, *radius),
            hex(*fill)
        ),
        Shape::Dots { at, .. } if at.is_empty() => return,
        Shape::Dots { at, radius, fill } => {
            let (path, width, colour) = (dots(at), number(2.0 * radius), hex(*fill));
            write!(
                out,
                "<path d=\"{path}\" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linecap=\"round\"/>"
            )
        }
        Shape::Marker(marker) => write_marker(out, marker),
        Shape::Text(text) => write_text(out, text),
        Shape::Picture { at, size, picture } => write_image(out, *at, *size, &picture.to_png(1)),
        Shape::Colours { at, size, picture } => write_image(out, *at, *size, &picture.to_png()),
    };
}

fn write_image(out: &mut String, at: Point, size: Point, png: &[u8]) -> std::fmt::Result {
    let (frame, data) = (frame(at, size), STANDARD.encode(png));
    write!(
        out,
        "<image{frame} preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" "
    )?;
    write!(out, "href=\"data:image/png;base64,{data}\"/>")
}

/// Lines of no length: with round ends they are discs. A tenth of a pixel is exact enough for them.
fn dots(at: &[Point]) -> String {
    at.iter()
        .map(|p| format!("M{} {}h0", decimals(p.0, 1), decimals(p.1, 1)))
        .collect()
}

fn list(points: &[Point]) -> String {
    // A tenth of a pixel: finer cannot be seen and makes files of many curves a sixth larger.
    let pairs: Vec<String> = points
        .iter()
        .map(|p| format!("{},{}", decimals(p.0, 1), decimals(p.1, 1)))
        .collect();
    pairs.join(" ")
}

fn frame(at: Point, size: Point) -> String {
    let (x, y, w, h) = (number(at.0), number(at.1), number(size.0), number(size.1));
    format!(" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"")
}

fn disc(at: Point, radius: f64) -> String {
    format!(
        " cx=\"{}\" cy=\"{}\" r=\"{}\"",
        number(at.0),
        number(at.1),
        number(radius)
    )
}

fn stroke_attributes(stroke: &Stroke) -> String {
    let mut out = format!(
        " stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"",
        hex(stroke.colour),
        number(stroke.width)
    );
    if !stroke.dash.is_empty() {
        let dash: Vec<String> = stroke.dash.iter().map(|d| number(*d)).collect();
        let _ = write!(out, " stroke-dasharray=\"{}\"", dash.join(" "));
    }
    out
}

fn write_marker(out: &mut String, marker: &Marker) -> std::fmt::Result {
    let (fill, edge) = if marker.hollow {
        (Colour::WHITE, marker.colour)
    } else {
        (marker.colour, Colour::WHITE)
    };
    let width = if marker.hollow { 1.6 } else { 0.8 };
    let paint = format!(
        " fill=\"{}\"{}",
        hex(fill),
        stroke_attributes(&Stroke::solid(edge, width))
    );
    match marker.kind {
        MarkerKind::Circle => write!(out, "<circle{}{paint}/>", disc(marker.at, marker.radius)),
        _ => write!(
            out,
            "<polygon points=\"{}\"{paint}/>",
            list(&marker.corners())
        ),
    }
}

fn write_text(out: &mut String, text: &Text) -> std::fmt::Result {
    let (placed, advance) = font::layout(&text.content);
    let scale = decimals(text.size / font::units(), 5);
    let origin = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => -advance / 2.0,
        Anchor::End => -advance,
    };
    let turn = if text.upward { " rotate(-90)" } else { "" };
    let (x, y, colour) = (number(text.at.0), number(text.at.1), hex(text.colour));
    write!(
        out,
        "<g transform=\"translate({x} {y}){turn} scale({scale} -{scale})\" fill=\"{colour}\""
    )?;
    let pen = number(font::pen(text.weight));
    write!(
        out,
        " stroke=\"{colour}\" stroke-width=\"{pen}\" stroke-linejoin=\"round\">"
    )?;
    for glyph in placed.iter().filter(|p| !font::outline(p.glyph).is_empty()) {
        write!(
            out,
            "<use href=\"#~g{}\" x=\"{}\"/>",
            glyph.glyph,
            number(origin + glyph.x)
        )?;
    }
    out.push_str("</g>");
    Ok(())
}
