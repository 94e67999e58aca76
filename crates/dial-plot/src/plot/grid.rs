//! Figures of several panels: rows and columns under one heading, with one legend.

use super::axes::Area;
use super::legend::{self, Entry, Sample};
use super::panel::Frame;
use super::style::Style;
use super::{ClassMap, HeatMap, LineChart, Overlay, Scatter, Series};
use crate::chart::{Canvas, Colour, Text, Weight, font};
use crate::words::Listed;

/// White space around everything.
const PAD: f64 = 20.0;
/// White space between panels.
const GUTTER: f64 = 30.0;
const TITLE_SIZE: f64 = 17.0;
const PANEL_TITLE_SIZE: f64 = 13.5;
const NOTE_SIZE: f64 = 11.0;
const BANDS: &str = "Shaded: 95 % confidence interval of the mean over trials";

/// One panel of a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Panel {
    /// A chart of lines.
    Lines(LineChart),
    /// A heat map.
    Heat(HeatMap),
    /// A scatter of points.
    Scatter(Scatter),
    /// A map of classes.
    Classes(ClassMap),
}

impl Panel {
    fn title(&self) -> &str {
        match self {
            Self::Lines(LineChart { title, .. }) | Self::Heat(HeatMap { title, .. }) => title,
            Self::Scatter(Scatter { title, .. }) | Self::Classes(ClassMap { title, .. }) => title,
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Lines(chart) => chart.describe(),
            Self::Heat(map) => map.describe(),
            Self::Scatter(scatter) => scatter.describe(),
            Self::Classes(map) => map.describe(),
        }
    }

    fn series(&self) -> &[Series] {
        if let Self::Lines(chart) = self {
            &chart.series
        } else {
            &[]
        }
    }

    fn overlays(&self) -> &[Overlay] {
        match self {
            Self::Lines(LineChart { overlays, .. }) | Self::Heat(HeatMap { overlays, .. }) => {
                overlays
            }
            Self::Scatter(Scatter { overlays, .. }) => overlays,
            Self::Classes(_) => &[],
        }
    }

    /// Classes and overlays that a legend names.
    fn extras(&self) -> Vec<Entry> {
        let classes = match self {
            Self::Scatter(scatter) => scatter.classes(),
            Self::Classes(map) => map.legend(),
            _ => Vec::new(),
        };
        let swatches = classes.into_iter().map(|(name, colour)| Entry {
            name,
            sample: Sample::Swatch(colour),
        });
        let named = self
            .overlays()
            .iter()
            .filter(|overlay| !overlay.name.is_empty());
        let overlays = named.map(|o| Entry {
            name: o.name.clone(),
            sample: Sample::Overlay(o.kind.clone()),
        });
        swatches.chain(overlays).collect()
    }

    /// Room left of, right of and below the area.
    fn margins(&self) -> (f64, f64, f64) {
        match self {
            Self::Lines(chart) => {
                let axes = Frame::new(chart).axes;
                (axes.left_margin(), 12.0, axes.bottom_margin())
            }
            Self::Heat(map) => (
                map.axes().left_margin(),
                map.bar().width(),
                map.axes().bottom_margin(),
            ),
            Self::Scatter(scatter) => {
                let axes = scatter.axes();
                (
                    axes.left_margin(),
                    scatter.bar().map_or(12.0, |bar| bar.width()),
                    axes.bottom_margin(),
                )
            }
            Self::Classes(_) => (0.0, 12.0, 8.0),
        }
    }

    fn draw(&self, canvas: &mut Canvas, area: &Area, style: &dyn Fn(&Series) -> Style) {
        match self {
            Self::Lines(chart) => Frame::new(chart).draw(canvas, area, style),
            Self::Heat(map) => map.draw(canvas, area),
            Self::Scatter(scatter) => scatter.draw(canvas, area),
            Self::Classes(map) => map.draw(canvas, area),
        }
    }
}

impl From<LineChart> for Panel {
    fn from(chart: LineChart) -> Self {
        Self::Lines(chart)
    }
}

impl From<Grid> for Canvas {
    fn from(grid: Grid) -> Self {
        grid.canvas()
    }
}

/// A figure: rows of panels under one heading, with one legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Heading; may be empty.
    pub title: String,
    /// The panels, row by row. A row of a single panel takes the width of all columns.
    pub rows: Vec<Vec<Panel>>,
    /// Width and height of the area of a panel, in pixels.
    pub size: (f64, f64),
    /// Whether titles of panels begin with (a), (b), ...
    pub letters: bool,
    /// Small print below the panels; if empty, a note about bands, where they are drawn.
    pub note: String,
}

impl Grid {
    /// Panels in rows of `columns` columns, with letters where there are several.
    pub fn new<P: Into<Panel>>(
        title: impl Into<String>,
        columns: usize,
        panels: impl IntoIterator<Item = P>,
    ) -> Self {
        let panels: Vec<Panel> = panels.into_iter().map(P::into).collect();
        let rows = panels.chunks(columns.max(1)).map(<[Panel]>::to_vec);
        Self::of(title, rows.collect())
    }

    /// Rows of panels, with letters where there are several.
    pub fn of<P: Into<Panel>>(title: impl Into<String>, rows: Vec<Vec<P>>) -> Self {
        let rows: Vec<Vec<Panel>> = rows
            .into_iter()
            .map(|row| row.into_iter().map(P::into).collect())
            .collect();
        let letters = rows.iter().map(Vec::len).sum::<usize>() > 1;
        Self {
            title: title.into(),
            rows,
            size: (330.0, 240.0),
            letters,
            note: String::new(),
        }
    }

    /// The same with areas of another size.
    pub fn sized(self, width: f64, height: f64) -> Self {
        Self {
            size: (width, height),
            ..self
        }
    }

    fn panels(&self) -> impl Iterator<Item = &Panel> {
        self.rows.iter().flatten()
    }

    fn columns(&self) -> usize {
        self.rows.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// The one line chart of this figure, if that is all there is and its names fit beside it.
    fn alone(&self) -> Option<&LineChart> {
        match self.panels().collect::<Vec<_>>()[..] {
            [Panel::Lines(chart)]
                if chart.overlays.iter().all(|overlay| overlay.name.is_empty()) =>
            {
                legend::fits_beside(distinct(&chart.series).len(), self.size.1).then_some(chart)
            }
            _ => None,
        }
    }

    /// The figure as a drawing.
    pub fn canvas(&self) -> Canvas {
        let all: Vec<Series> = self
            .panels()
            .flat_map(|panel| panel.series().iter().cloned())
            .collect();
        let names = distinct(&all);
        let style = |series: &Series| match &series.look {
            Some(look) => Style::given(style_of(&all, &names, &series.name).number, look),
            None => style_of(&all, &names, &series.name),
        };
        let mut entries = legend::lines(&names, &|name| style_of(&all, &names, name));
        for entry in self.panels().flat_map(Panel::extras) {
            if entries.iter().all(|known| known.name != entry.name) {
                entries.push(entry);
            }
        }
        let margins: Vec<Vec<_>> = self
            .rows
            .iter()
            .map(|row| row.iter().map(Panel::margins).collect())
            .collect();
        let beside = self.legend_beside(&entries);
        let places = self.places(&margins);
        let right = places.last().map_or(PAD, |last| last.1);
        let mut canvas = Canvas::new((right + beside + PAD).max(320.0).ceil(), 0.0);
        canvas.title = if self.title.is_empty() {
            "Figure".to_owned()
        } else {
            self.title.clone()
        };
        canvas.description = self.panels().map(Panel::describe).joined(" ");

        let named = entries
            .iter()
            .filter(|entry| !entry.name.is_empty() && beside == 0.0);
        let above: Vec<Entry> = named.cloned().collect();
        let mut y = draw_heads(&mut canvas, &self.title, &above);
        let top = y;
        for (number, (row, margins)) in self.rows.iter().zip(&margins).enumerate() {
            let titled = row.iter().any(|panel| !panel.title().is_empty());
            y += if titled { PANEL_TITLE_SIZE + 12.0 } else { 0.0 }
                + if number > 0 { 14.0 } else { 0.0 };
            let before = self.rows[..number].iter().map(Vec::len).sum();
            self.draw_row(&mut canvas, (before, row), &places, y, &style);
            y += self.size.1 + margins.iter().map(|m| m.2).fold(0.0, f64::max);
        }
        if beside > 0.0 {
            let area = Area {
                left: PAD,
                top,
                width: right - PAD,
                height: self.size.1,
            };
            match (self.alone(), places.first()) {
                (Some(chart), Some(place)) => {
                    let area = Area {
                        left: place.0,
                        width: place.1 - 12.0 - place.0,
                        ..area
                    };
                    legend::draw_beside(&mut canvas, &Frame::new(chart), &area, &entries);
                }
                _ => legend::draw_stacked(&mut canvas, &entries, &area),
            }
        }
        self.finish(&mut canvas, y);
        canvas
    }

    /// Room for names beside the panel; 0 where they go above.
    fn legend_beside(&self, entries: &[Entry]) -> f64 {
        let single = self.panels().count() == 1;
        match (self.alone(), single && !entries.is_empty()) {
            (Some(chart), true) => legend::width_beside(chart, entries) - 12.0,
            (None, true) if self.panels().all(|panel| panel.series().is_empty()) => {
                legend::width_stacked(entries)
            }
            _ => 0.0,
        }
    }

    /// For each column where its areas begin, and where the column ends.
    fn places(&self, margins: &[Vec<(f64, f64, f64)>]) -> Vec<(f64, f64)> {
        let mut left = PAD;
        let widest = |column: usize, side: fn(&(f64, f64, f64)) -> f64| {
            margins
                .iter()
                .filter_map(|row| row.get(column))
                .map(side)
                .fold(0.0, f64::max)
        };
        let mut places = Vec::new();
        for column in 0..self.columns() {
            let begin = left + widest(column, |m| m.0);
            let end = begin + self.size.0 + widest(column, |m| m.1);
            places.push((begin, end));
            left = end + GUTTER;
        }
        places
    }

    fn draw_row(
        &self,
        canvas: &mut Canvas,
        (before, row): (usize, &[Panel]),
        places: &[(f64, f64)],
        top: f64,
        style: &dyn Fn(&Series) -> Style,
    ) {
        for (column, (panel, place)) in row.iter().zip(places).enumerate() {
            let mut area = Area {
                left: place.0,
                top,
                width: self.size.0,
                height: self.size.1,
            };
            if let ([_], [.., last]) = (row, places) {
                area.width = last.1 - panel.margins().1 - area.left;
            }
            let title = match self.letters {
                true => format!("({}) {}", letter(before + column), panel.title()),
                false => panel.title().to_owned(),
            };
            let content = font::fit(
                title.trim_end(),
                PANEL_TITLE_SIZE,
                place.1.max(area.right()) - area.left,
            );
            let at = (area.left, area.top - 12.0);
            canvas.text(Text {
                weight: Weight::Bold,
                ..Text::new(content, at, PANEL_TITLE_SIZE)
            });
            panel.draw(canvas, &area, style);
        }
    }

    /// Adds the small print, and sets the height of the canvas.
    fn finish(&self, canvas: &mut Canvas, bottom: f64) {
        let mut y = bottom;
        let wide = |s: &Series| {
            s.band
                .low
                .iter()
                .zip(&s.band.high)
                .any(|(low, high)| high > low)
        };
        let banded = self.panels().flat_map(|panel| panel.series()).any(wide);
        let note = if self.note.is_empty() && banded {
            BANDS
        } else {
            &self.note
        };
        let lines = font::wrap(note, NOTE_SIZE, canvas.width - 2.0 * PAD, 6);
        if !lines.is_empty() {
            let text = Text {
                colour: Colour::MUTED,
                ..Text::new("", (PAD, y + 16.0), NOTE_SIZE)
            };
            canvas.paragraph(&text, &lines, NOTE_SIZE * 1.4);
            y += 4.0 + NOTE_SIZE * 1.4 * lines.len() as f64;
        }
        canvas.height = (y + PAD - 6.0).ceil();
    }
}

/// a, b, ..., z, then a again with a number.
fn letter(number: usize) -> String {
    let letter = char::from(b'a' + (number % 26) as u8);
    if number < 26 {
        letter.to_string()
    } else {
        format!("{letter}{}", number / 26)
    }
}

/// Names of series in order of appearance, each once.
pub(super) fn distinct(series: &[Series]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for series in series {
        if !names.contains(&series.name) {
            names.push(series.name.clone());
        }
    }
    names
}

/// The look of the lines of a name: their own if one has it, else that of their place.
fn style_of(series: &[Series], names: &[String], name: &str) -> Style {
    let number = names.iter().position(|n| n == name).unwrap_or(0);
    let mut given = series
        .iter()
        .filter(|s| s.name == name)
        .filter_map(|s| s.look.as_ref());
    given
        .next()
        .map_or_else(|| Style::number(number), |look| Style::given(number, look))
}

/// Draws heading and legend; returns where the panels begin.
fn draw_heads(canvas: &mut Canvas, title: &str, entries: &[Entry]) -> f64 {
    let mut y = PAD;
    let lines = font::wrap(title, TITLE_SIZE, canvas.width - 2.0 * PAD, 3);
    let text = Text {
        weight: Weight::Bold,
        ..Text::new("", (PAD, y + TITLE_SIZE * 0.8), TITLE_SIZE)
    };
    canvas.paragraph(&text, &lines, TITLE_SIZE * 1.3);
    y += TITLE_SIZE * 1.3 * lines.len() as f64 + if lines.is_empty() { 0.0 } else { 8.0 };
    legend::draw_above(canvas, entries, PAD, y) + 6.0
}
