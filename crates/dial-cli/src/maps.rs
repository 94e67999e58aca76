//! Maps of a scene that a simulation ends in: the class of every pixel and how uncertain it is, as ENVI and PNG.
//!
//! A pixel that was labelled has its label and no uncertainty. Any other has the most probable class; its uncertainty is
//! 1 - the probability of that class, from 0 to 1 - 1/K for K classes. Pixels that are no items have neither.

use std::fs;
use std::path::{Path, PathBuf};

use dial::simulate::Truth;
use dial::{NodeId, Session};
use dial_data::write::{ClassMap, ValueMap, write_envi_classes, write_envi_values};
use dial_data::{Pool, Scene, Show, georeference};
use dial_lab::colours;
use dial_lab::plot::{scene_map, value_map};

use crate::failure::Failure;
use crate::output::Output;
use crate::outputs;
use crate::summary;

/// The files of the maps.
const FILES: [&str; 6] =
    ["classes.hdr", "classes.img", "classes.png", "uncertainty.hdr", "uncertainty.img", "uncertainty.png"];

/// Refuses a folder that cannot be made, and maps that would overwrite what is read.
pub fn check(folder: Option<&Path>, pool: &str, inputs: &[(&str, Option<&Path>)]) -> Result<(), Failure> {
    let Some(folder) = folder else { return Ok(()) };
    outputs::check_folder(folder)?;
    if !folder.is_dir() {
        return Ok(());
    }
    let files: Vec<PathBuf> = FILES.iter().map(|file| folder.join(file)).collect();
    outputs::check(&files.iter().map(PathBuf::as_path).collect::<Vec<_>>(), pool, inputs)
}

/// The scene of a pool; only a scene has maps.
pub fn scene(pool: &Pool) -> Result<&Scene, Failure> {
    match &pool.show {
        Show::Scene(scene) => Ok(scene),
        other => Err(Failure::settings(format!(
            "{}: --maps is for scenes, and an item of this pool is a {}. Leave it out, or say --as scene of an array of \
             height x width x bands.",
            pool.name,
            other.word()
        ))),
    }
}

/// Writes the maps of a session; returns the files.
pub fn write(
    folder: &Path,
    (place, pool): (&str, &Pool),
    truth: &Truth,
    session: &Session<'_>,
    output: &Output,
) -> Result<Vec<PathBuf>, Failure> {
    let scene = scene(pool)?;
    let (classes, uncertainty) = predicted(scene, truth, session, output)?;
    let made =
        |error: std::io::Error| Failure::storage(format!("{}: cannot make this folder: {error}.", folder.display()));
    fs::create_dir_all(folder).map_err(made)?;
    let (height, width, places) = (scene.height, scene.width, georeference(place));
    let colour = |class| colours::of_class(class);
    let colours: Vec<[u8; 3]> = (0..truth.names.len()).map(colour).map(|c| [c.0, c.1, c.2]).collect();
    let map = ClassMap { height, width, classes: &classes, names: &truth.names, colours: &colours, places: &places };
    write_envi_classes(&folder.join("classes.hdr"), &map)?;
    let numbers = classes.iter().map(|class| class.map(usize::from)).collect();
    summary::write_figure(&scene_map(height, width, numbers, truth.names.clone()), &folder.join("classes.png"))?;
    let values: Vec<f32> = uncertainty.iter().map(|&value| value as f32).collect();
    let map = ValueMap { height, width, values: &values, name: "uncertainty", places: &places };
    write_envi_values(&folder.join("uncertainty.hdr"), &map)?;
    let label = "uncertainty (1 - probability)";
    summary::write_figure(&value_map(height, width, &uncertainty, label), &folder.join("uncertainty.png"))?;
    Ok(FILES.iter().map(|file| folder.join(file)).collect())
}

/// The class of every pixel and how uncertain it is.
fn predicted(
    scene: &Scene,
    truth: &Truth,
    session: &Session<'_>,
    output: &Output,
) -> Result<(Vec<Option<u16>>, Vec<f64>), Failure> {
    let belief = session.belief(&output.control())?;
    let reader = session.reader(&belief);
    let mut classes = vec![None; scene.height * scene.width];
    let mut uncertainty = vec![f64::NAN; classes.len()];
    for (item, &pixel) in scene.pixels.iter().enumerate() {
        let node = NodeId(item as u32);
        let told = truth.classes[item].filter(|_| session.labelled().binary_search(&node).is_ok());
        (classes[pixel], uncertainty[pixel]) = match told {
            Some(class) => (Some(class.0), 0.0),
            None => {
                let plane = reader.class(&belief, node);
                let doubt = 1.0 - reader.probabilities(&belief, node)[plane];
                (Some(session.classes()[plane].0), doubt.max(0.0))
            }
        };
    }
    Ok((classes, uncertainty))
}
