//! What an export knows, as maps of the scene that its items are pixels of: an archive of ENVI files and pictures.
//!
//! ```text
//! class      what the answers come to, else the most probable class; none where hardly any label reaches
//! doubt      0 where there is a label, else 1 - the probability of the class; 1 where hardly any label reaches
//! evidence   of all classes together
//! ```
//!
//! Hardly any: an evidence e for which e/(1 + e) is 0 of 255 parts, which the page shows grey as well (`Overview`).
//! Pixels that are not items have no class, and NaN. Each map is `NAME.hdr` with `NAME.img`, and `NAME.png` with a legend.

use std::io::{self, Write};

use dial_data::Scene;
use dial_data::write::{self, EnviMap, ValueMap, envi_classes, envi_values, zip_to};
use dial_plot::chart::{Canvas, Colour, to_png};
use dial_plot::plot::{ClassMap, Lacking, scene_map, value_map};

use crate::exchange::export::{Export, Mark};

/// How many pixels of a picture stand for one of a drawing.
const SHARPNESS: f64 = 2.0;
/// Of items that no label reaches.
const NO_CLASS: (&str, Colour) = ("unclassified", Colour(150, 153, 160));

/// A scene and how it is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct MappedScene {
    /// The scene.
    pub scene: Scene,
    /// Lines of a header that place it on the earth ([`dial_data::georeference`]).
    pub places: Vec<String>,
    /// Red, green and blue of each class of the export.
    pub colours: Vec<[u8; 3]>,
}

/// What is known of every pixel.
struct Pixels {
    classes: Vec<Option<u16>>,
    doubt: Vec<f64>,
    evidence: Vec<f64>,
    /// Whether it is an item.
    items: Vec<bool>,
}

impl Pixels {
    fn of(export: &Export, scene: &Scene) -> Pixels {
        let size = scene.height * scene.width;
        let mut pixels = Pixels {
            classes: vec![None; size],
            doubt: vec![f64::NAN; size],
            evidence: vec![f64::NAN; size],
            items: vec![false; size],
        };
        let there = export
            .rows
            .iter()
            .filter(|row| row.mark != Some(Mark::Gone));
        for (row, &at) in there.zip(&scene.pixels) {
            let class_named = |name: &str| export.classes.iter().position(|one| one == name);
            let found = row.consensus();
            let label = found.and_then(|found| class_named(found.label?.0));
            let belief = row.belief.as_ref();
            let reached = belief.filter(|belief| belief.reached && is_seen(belief.evidence));
            let class = label.or(reached.map(|belief| belief.class));
            pixels.classes[at] = class.map(|class| class as u16);
            pixels.items[at] = true;
            pixels.doubt[at] = match (label, reached) {
                (Some(_), _) => 0.0,
                (None, Some(belief)) => 1.0 - belief.probabilities[belief.class],
                (None, None) => 1.0,
            };
            pixels.evidence[at] = belief.map_or(f64::NAN, |belief| belief.evidence);
        }
        pixels
    }

    /// A drawing of the classes; items without one are a class of their own.
    fn drawn(&self, export: &Export, map: &MappedScene) -> Canvas {
        let (scene, count) = (&map.scene, export.classes.len());
        let class = |(class, item): (&Option<u16>, &bool)| match class {
            Some(class) => Some(usize::from(*class)),
            None => item.then_some(count),
        };
        let classes: Vec<Option<usize>> = self.classes.iter().zip(&self.items).map(class).collect();
        let open = classes.contains(&Some(count));
        let mut names = export.classes.clone();
        let mut colours: Vec<Colour> = map
            .colours
            .iter()
            .map(|c| Colour(c[0], c[1], c[2]))
            .collect();
        if open {
            names.push(NO_CLASS.0.into());
            colours.push(NO_CLASS.1);
        }
        scene_map(ClassMap {
            rows: scene.height,
            columns: scene.width,
            classes,
            names,
            colours,
            lacking: Lacking::Data,
            ..ClassMap::default()
        })
    }
}

/// Whether there is so much evidence that the page shows the class.
fn is_seen(evidence: f64) -> bool {
    (255.0 * evidence / (1.0 + evidence)).round() >= 1.0
}

/// Writes the archive of all maps.
///
/// # Errors
/// What writing may fail with; more classes than ENVI takes.
pub(crate) fn maps_to(out: &mut dyn Write, export: &Export, map: &MappedScene) -> io::Result<()> {
    let (scene, pixels) = (&map.scene, Pixels::of(export, &map.scene));
    let classes = envi_classes(&write::ClassMap {
        height: scene.height,
        width: scene.width,
        classes: &pixels.classes,
        names: &export.classes,
        numbers: &[],
        colours: &map.colours,
        places: &map.places,
    });
    let classes = classes.map_err(io::Error::other)?;
    let mut files = three("class", classes, &pixels.drawn(export, map));
    let values = [
        ("doubt", &pixels.doubt, "doubt (1 - probability)"),
        ("evidence", &pixels.evidence, "evidence"),
    ];
    for (name, values, legend) in values {
        let singles: Vec<f32> = values.iter().map(|&value| value as f32).collect();
        let envi = envi_values(&ValueMap {
            height: scene.height,
            width: scene.width,
            values: &singles,
            name,
            places: &map.places,
        });
        let drawn = value_map(scene.height, scene.width, values, legend);
        files.extend(three(name, envi, &drawn));
    }
    zip_to(out, files)
}

fn three(name: &str, envi: EnviMap, drawn: &Canvas) -> Vec<(String, Vec<u8>)> {
    vec![
        (format!("{name}.hdr"), envi.header.into_bytes()),
        (format!("{name}.img"), envi.data),
        (format!("{name}.png"), to_png(drawn, SHARPNESS)),
    ]
}
