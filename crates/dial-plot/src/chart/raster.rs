//! The PNG back end, on tiny-skia.

use tiny_skia::{
    Color, FillRule, FilterQuality, IntSize, LineJoin, Paint, Path, PathBuilder, Pixmap,
    PixmapPaint, Rect, StrokeDash, Transform,
};

use super::font::{self, Step};
use super::{Anchor, Canvas, Colour, Marker, MarkerKind, Point, Shape, Stroke, Text};

/// The most pixels a drawing may have: 64 million, 256 MB while it is drawn.
const MAX_DRAWN_PIXELS: f64 = 64e6;

/// The drawing as a PNG file, `scale` pixels to one unit of the canvas (2 is sharp on most screens).
///
/// Sides are rounded up to whole pixels, at least one. A drawing that would have more than 64 million pixels is
/// drawn at the largest scale that has not.
pub fn to_png(canvas: &Canvas, scale: f64) -> Vec<u8> {
    let (width, height, scale) = dimensions(canvas, scale);
    let mut pixmap = Pixmap::new(width, height).expect("the sides are checked");
    pixmap.fill(Color::WHITE);
    let mut page = Page {
        pixmap,
        view: Transform::from_scale(scale as f32, scale as f32),
    };
    for shape in &canvas.shapes {
        page.draw(shape);
    }
    page.pixmap
        .encode_png()
        .expect("writing to memory cannot fail")
}

/// Width and height in pixels, and the scale that goes with them.
fn dimensions(canvas: &Canvas, scale: f64) -> (u32, u32, f64) {
    let positive = |value: f64| {
        if value.is_finite() && value > 0.0 {
            value
        } else {
            1.0
        }
    };
    let (w, h) = (positive(canvas.width), positive(canvas.height));
    let scale = positive(scale)
        .min((MAX_DRAWN_PIXELS / (w * h)).sqrt())
        .min(32_000.0 / w.max(h));
    let side = |value: f64| ((value * scale).ceil() as u32).max(1);
    (side(w), side(h), scale)
}

struct Page {
    pixmap: Pixmap,
    view: Transform,
}

impl Page {
    fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Polyline { points, stroke } => {
                if let Some(path) = polygon(points, false) {
                    self.stroke(&path, stroke, self.view);
                }
            }
            Shape::Polygon {
                points,
                fill,
                opacity,
            } => {
                if let Some(path) = polygon(points, true) {
                    self.fill(&path, *fill, *opacity, self.view);
                }
            }
            Shape::Rectangle { at, size, fill } => {
                if let Some(rect) =
                    Rect::from_xywh(at.0 as f32, at.1 as f32, size.0 as f32, size.1 as f32)
                {
                    self.fill(&PathBuilder::from_rect(rect), *fill, 1.0, self.view);
                }
            }
            Shape::Circle { at, radius, fill } => {
                if let Some(path) =
                    PathBuilder::from_circle(at.0 as f32, at.1 as f32, *radius as f32)
                {
                    self.fill(&path, *fill, 1.0, self.view);
                }
            }
            Shape::Dots { at, radius, fill } => {
                let discs = at.iter().filter_map(|p| {
                    PathBuilder::from_circle(p.0 as f32, p.1 as f32, *radius as f32)
                });
                discs.for_each(|disc| self.fill(&disc, *fill, 1.0, self.view));
            }
            Shape::Marker(marker) => self.marker(marker),
            Shape::Text(text) => self.text(text),
            Shape::Picture { at, size, picture } => {
                let pixels = picture
                    .bytes()
                    .into_iter()
                    .map(|grey| Colour(grey, grey, grey));
                self.picture(*at, *size, (picture.width, picture.height), pixels);
            }
            Shape::Colours { at, size, picture } => {
                self.picture(
                    *at,
                    *size,
                    (picture.width, picture.height),
                    picture.pixels(),
                );
            }
        }
    }

    fn fill(&mut self, path: &Path, colour: Colour, opacity: f64, view: Transform) {
        self.pixmap
            .fill_path(path, &paint(colour, opacity), FillRule::Winding, view, None);
    }

    fn stroke(&mut self, path: &Path, stroke: &Stroke, view: Transform) {
        let dash = stroke.dash.iter().map(|d| *d as f32).collect();
        let pen = tiny_skia::Stroke {
            width: stroke.width as f32,
            line_join: LineJoin::Round,
            dash: StrokeDash::new(dash, 0.0),
            ..tiny_skia::Stroke::default()
        };
        self.pixmap
            .stroke_path(path, &paint(stroke.colour, 1.0), &pen, view, None);
    }

    fn marker(&mut self, marker: &Marker) {
        let path = match marker.kind {
            MarkerKind::Circle => PathBuilder::from_circle(
                marker.at.0 as f32,
                marker.at.1 as f32,
                marker.radius as f32,
            ),
            _ => polygon(&marker.corners(), true),
        };
        let Some(path) = path else { return };
        let (fill, edge) = if marker.hollow {
            (Colour::WHITE, marker.colour)
        } else {
            (marker.colour, Colour::WHITE)
        };
        self.fill(&path, fill, 1.0, self.view);
        self.stroke(
            &path,
            &Stroke::solid(edge, if marker.hollow { 1.6 } else { 0.8 }),
            self.view,
        );
    }

    fn text(&mut self, text: &Text) {
        let (placed, advance) = font::layout(&text.content);
        let origin = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -advance / 2.0,
            Anchor::End => -advance,
        };
        let mut builder = PathBuilder::new();
        for glyph in placed {
            push_glyph(&mut builder, glyph.glyph, (origin + glyph.x) as f32);
        }
        let Some(path) = builder.finish() else { return };
        let scale = (text.size / font::units()) as f32;
        let turn = if text.upward {
            Transform::from_rotate(-90.0)
        } else {
            Transform::identity()
        };
        let place = Transform::from_translate(text.at.0 as f32, text.at.1 as f32);
        let view = self
            .view
            .pre_concat(place)
            .pre_concat(turn)
            .pre_scale(scale, -scale);
        self.fill(&path, text.colour, 1.0, view);
        self.stroke(
            &path,
            &Stroke::solid(text.colour, font::pen(text.weight)),
            view,
        );
    }

    fn picture(
        &mut self,
        at: Point,
        size: Point,
        sides: (usize, usize),
        pixels: impl Iterator<Item = Colour>,
    ) {
        let (w, h) = (sides.0 as u32, sides.1 as u32);
        let rgba = pixels
            .flat_map(|Colour(red, green, blue)| [red, green, blue, 255])
            .collect();
        let Some(pixels) = IntSize::from_wh(w, h).and_then(|side| Pixmap::from_vec(rgba, side))
        else {
            return;
        };
        let quality = PixmapPaint {
            quality: FilterQuality::Nearest,
            ..PixmapPaint::default()
        };
        let place = Transform::from_translate(at.0 as f32, at.1 as f32);
        let view = self
            .view
            .pre_concat(place)
            .pre_scale(size.0 as f32 / w as f32, size.1 as f32 / h as f32);
        self.pixmap
            .draw_pixmap(0, 0, pixels.as_ref(), &quality, view, None);
    }
}

fn paint(colour: Colour, opacity: f64) -> Paint<'static> {
    let mut paint = Paint {
        anti_alias: true,
        ..Paint::default()
    };
    paint.set_color_rgba8(
        colour.0,
        colour.1,
        colour.2,
        (opacity.clamp(0.0, 1.0) * 255.0).round() as u8,
    );
    paint
}

fn polygon(points: &[Point], closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for (i, (x, y)) in points.iter().enumerate() {
        match i {
            0 => builder.move_to(*x as f32, *y as f32),
            _ => builder.line_to(*x as f32, *y as f32),
        }
    }
    if closed {
        builder.close();
    }
    builder.finish()
}

/// Adds a glyph's outline, `dx` font units to the right.
fn push_glyph(builder: &mut PathBuilder, glyph: u16, dx: f32) {
    for step in font::outline(glyph) {
        match step {
            Step::Move(x, y) => builder.move_to(x + dx, y),
            Step::Line(x, y) => builder.line_to(x + dx, y),
            Step::Quad(a, b, x, y) => builder.quad_to(a + dx, b, x + dx, y),
            Step::Cubic(a, b, c, d, x, y) => builder.cubic_to(a + dx, b, c + dx, d, x + dx, y),
            Step::Close => builder.close(),
        }
    }
}
