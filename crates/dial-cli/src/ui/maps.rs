//! Maps of a scene that a simulation ends in: the class of every pixel and how uncertain it is, as ENVI and PNG.
//!
//! A pixel that was labelled has its label and no uncertainty. Any other has the most probable class; its uncertainty is
//! 1 - the probability of that class, from 0 to 1 - 1/K for K classes. A pixel that no label reaches has no
//! class and full uncertainty; pixels that are not items have neither. Where labels came from an ENVI map, classes keep the
//! numbers and colours they have there.

use std::fs;
use std::path::{Path, PathBuf};

use dial::simulate::Truth;
use dial::{NodeId, Session};
use dial_data::write::{ClassMap, ValueMap, envi_classes, envi_values};
use dial_data::{NumberedClass, Pool, Scene, Show, class_numbers, georeference};
use dial_plot::colours;
use dial_plot::plot::{self, Lacking, scene_map, value_map};

use crate::cli::pool_args::PoolArgs;
use crate::plan::checks;
use crate::ui::failure::Failure;
use crate::ui::output::Output;
use crate::ui::summary;

/// The files of the maps.
const MAP_FILES: [&str; 6] = [
    "classes.hdr",
    "classes.img",
    "classes.png",
    "uncertainty.hdr",
    "uncertainty.img",
    "uncertainty.png",
];

/// Refuses a folder that cannot be made, and maps that would overwrite what is read.
pub fn check(
    folder: Option<&Path>,
    pool: &str,
    inputs: &[(&str, Option<&Path>)],
) -> Result<(), Failure> {
    let Some(folder) = folder else { return Ok(()) };
    checks::check_folder(folder, "--maps")?;
    if !folder.is_dir() {
        return Ok(());
    }
    let files: Vec<PathBuf> = MAP_FILES.iter().map(|file| folder.join(file)).collect();
    checks::check(
        &files.iter().map(PathBuf::as_path).collect::<Vec<_>>(),
        pool,
        inputs,
    )
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
    (args, pool): (&PoolArgs, &Pool),
    truth: &Truth,
    session: &Session<'_>,
    output: &Output,
) -> Result<Vec<PathBuf>, Failure> {
    let scene = scene(pool)?;
    let (classes, uncertainty) = predicted(scene, truth, session, output)?;
    let made = |error: std::io::Error| {
        Failure::storage(format!(
            "{}: cannot make this folder: {error}.",
            folder.display()
        ))
    };
    fs::create_dir_all(folder).map_err(made)?;
    let (height, width, places) = (scene.height, scene.width, georeference(&args.pool));
    let numbered = numbered(args.how.labels.as_deref(), &truth.names);
    let names: Vec<String> = numbered.iter().map(|class| class.name.clone()).collect();
    let numbers: Vec<u16> = numbered.iter().map(|class| class.number).collect();
    let own = |class| Some(colours::of_class(class)).map(|c| [c.0, c.1, c.2]);
    let colours: Vec<[u8; 3]> = numbered
        .iter()
        .enumerate()
        .filter_map(|(at, class)| class.colour.or(own(at)))
        .collect();
    let (names, numbers, colours) = (&names, &numbers, &colours);
    let map = ClassMap {
        height,
        width,
        classes: &classes,
        names,
        numbers,
        colours,
        places: &places,
    };
    envi_classes(&map)?.write(&folder.join("classes.hdr"))?;
    let (shown, names) = with_unclassified(scene, &classes, &truth.names);
    summary::write_figure(
        &scene_map(plot::ClassMap {
            rows: height,
            columns: width,
            classes: shown,
            names,
            lacking: Lacking::Data,
            ..plot::ClassMap::default()
        }),
        &folder.join("classes.png"),
    )?;
    let values: Vec<f32> = uncertainty.iter().map(|&value| value as f32).collect();
    let map = ValueMap {
        height,
        width,
        values: &values,
        name: "uncertainty",
        places: &places,
    };
    envi_values(&map).write(&folder.join("uncertainty.hdr"))?;
    let label = "uncertainty (1 - probability)";
    summary::write_figure(
        &value_map(height, width, &uncertainty, label),
        &folder.join("uncertainty.png"),
    )?;
    Ok(MAP_FILES.iter().map(|file| folder.join(file)).collect())
}

/// The classes as a map of labels numbers them, or 1, 2, … in their order.
fn numbered(labels: Option<&Path>, names: &[String]) -> Vec<NumberedClass> {
    let given = labels.and_then(|path| class_numbers(&path.display().to_string(), names));
    let plain = |(name, number): (&String, u16)| NumberedClass {
        name: name.clone(),
        number,
        colour: None,
    };
    given.unwrap_or_else(|| names.iter().zip(1..).map(plain).collect())
}

/// The classes to be drawn: items without one make up an extra class.
fn with_unclassified(
    scene: &Scene,
    classes: &[Option<u16>],
    names: &[String],
) -> (Vec<Option<usize>>, Vec<String>) {
    let mut shown: Vec<Option<usize>> =
        classes.iter().map(|class| class.map(usize::from)).collect();
    let open: Vec<usize> = scene
        .pixels
        .iter()
        .copied()
        .filter(|&pixel| shown[pixel].is_none())
        .collect();
    open.iter()
        .for_each(|&pixel| shown[pixel] = Some(names.len()));
    let more = (!open.is_empty()).then(|| "unclassified".to_string());
    (shown, names.iter().cloned().chain(more).collect())
}

/// The class of every pixel and how uncertain it is.
fn predicted(
    scene: &Scene,
    truth: &Truth,
    session: &Session<'_>,
    output: &Output,
) -> Result<(Vec<Option<u16>>, Vec<f64>), Failure> {
    let belief = session.belief(&output.control())?;
    let readout = session.readout(&belief);
    let mut classes = vec![None; scene.height * scene.width];
    let mut uncertainty = vec![f64::NAN; classes.len()];
    for (item, &pixel) in scene.pixels.iter().enumerate() {
        let node = NodeId(item as u32);
        let told = truth.classes[item].filter(|_| session.labelled().binary_search(&node).is_ok());
        (classes[pixel], uncertainty[pixel]) = match told {
            Some(class) => (Some(class.0), 0.0),
            None => {
                let plane = readout.class(&belief, node);
                let doubt = 1.0 - readout.probabilities(&belief, node)[plane];
                let heard = (0..belief.n_classes()).any(|plane| belief.plane(plane)[item] > 0.0);
                (heard.then(|| session.classes()[plane].0), doubt.max(0.0))
            }
        };
    }
    Ok((classes, uncertainty))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_without_a_class_are_drawn_apart_from_what_is_no_item() {
        let scene = Scene {
            height: 1,
            width: 3,
            pixels: vec![0, 2],
            wavelengths: vec![],
            unit: String::new(),
        };
        let names = ["a".to_string(), "b".to_string()];
        let (shown, words) = with_unclassified(&scene, &[Some(1), None, None], &names);
        assert_eq!(
            (shown, words.join(" ")),
            (vec![Some(1), None, Some(2)], "a b unclassified".into())
        );
        let (shown, words) = with_unclassified(&scene, &[Some(1), None, Some(0)], &names);
        assert_eq!((shown, words.len()), (vec![Some(1), None, Some(0)], 2));
        assert_eq!(
            numbered(None, &names)
                .iter()
                .map(|class| class.number)
                .collect::<Vec<_>>(),
            [1, 2]
        );
    }
}
