//! What a project believes: its pool opened, its graph loaded or built, its log replayed into a session.
//!
//! A pool that has changed (rows added or gone, other features) is noticed here, said, and put into the log; labels are
//! kept by the ids of their items.

use dial::{Session, View};
use dial_data::Fault;
use dial_store::{Error, Estimates, Folder, Material, Project, random_id};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::{Output, count};
use crate::project::{no_pool, now};

/// Where the last estimates are kept.
const ESTIMATES: &str = "estimates";

/// What a project works on, and its session.
pub struct Believed {
    /// The pool and the rest.
    pub material: Material,
    /// The session.
    pub session: Session<'static>,
}

/// The pool and graph of a project.
pub fn material(project: &mut Project, output: &Output) -> Result<Material, Failure> {
    let Some(folder) = project.folder().cloned() else { unreachable!("a project of the command lies in a folder") };
    let Some(recipe) = project.log().recipe().cloned() else { return Err(no_pool(project).into()) };
    if recipe.method_version != dial::METHOD_VERSION {
        output.note(&format!(
            "note: the project was made with version {} of the method, this is {}: questions may differ.",
            recipe.method_version,
            dial::METHOD_VERSION
        ));
    }
    let control = output.control();
    let material = Material::open(&recipe, &folder, &control).map_err(|error| moved(error, &folder))?;
    notice(project, &material, output)?;
    keep_graph(&material, &folder, output);
    Ok(material)
}

/// A pool that is not where it was.
fn moved(error: Error, folder: &Folder) -> Failure {
    match &error {
        Error::Data(dial_data::Error { place, fault: Fault::Missing }) => {
            let text = format!("{place}: no such file, and none of this name beside the project. All labels are safe.");
            let next = format!("Put it back, or say where the pool is now: dial pool {} POOL.", folder.0.display());
            Failure::input("I5", format!("{text} {next}"))
        }
        _ => error.into(),
    }
}

/// Keeps the graph in the folder of the project.
pub fn keep_graph(material: &Material, folder: &Folder, output: &Output) {
    if let Err(error) = material.keep_graph(folder, &output.control()) {
        output.note(&format!("note: the graph could not be kept and will be built again: {error}"));
    }
}

/// Takes note of a pool that is not what it was.
fn notice(project: &mut Project, material: &Material, output: &Output) -> Result<(), Failure> {
    let ids = &material.pool.ids;
    let before = project.item_ids()?;
    let same = match ids {
        Some(ids) => *ids == before,
        None => {
            before.len() == material.pool.matrix.n && before.iter().enumerate().all(|(row, id)| *id == row.to_string())
        }
    };
    if same && !material.changed {
        return Ok(());
    }
    let by_row = ids.is_none() && before.iter().enumerate().all(|(row, id)| *id == row.to_string());
    if by_row && material.pool.matrix.n < before.len() {
        let text = format!(
            "the pool has {} rows now and had {}. It has no ids, so nobody knows which rows are gone, and labels would move to \
             other rows. Nothing was changed. Bring the rows back, or make a project of the new pool and import labels by id.",
            material.pool.matrix.n,
            before.len()
        );
        return Err(Failure::input("I7", text));
    }
    project.change_pool(material.recipe.clone(), ids.as_deref(), random_id()?, now())?;
    let gone = project.log().live_labels().iter().filter(|label| !project.has_item(label.item)).count();
    let lost = match gone {
        0 => "all labels are kept".to_string(),
        gone => format!("labels are kept, also {} whose items are gone", count(gone, "label", "labels")),
    };
    let what =
        if material.pool.matrix.n == before.len() { "its features or ids are others" } else { "its rows are others" };
    let lost = if by_row { format!("{lost}, by the number of their rows") } else { lost };
    output.note(&format!(
        "note: the pool has changed: {} items now, {} before, {what}; {lost}.",
        material.pool.matrix.n,
        before.len()
    ));
    Ok(())
}

/// The session of a project.
pub fn open(project: &mut Project, output: &Output) -> Result<Believed, Failure> {
    // Before the pool is read, so that nobody waits for a refusal.
    let classes = project.log().labels().classes().len();
    if classes < 2 {
        return Err(dial::Error::TooFewClasses(classes).into());
    }
    let material = material(project, output)?;
    let session = material.session(project.log().labels().events().to_vec(), &output.control())?;
    Ok(Believed { material, session })
}

/// The belief of the moment; estimates from it are kept for `dial status`.
pub fn view(project: &mut Project, believed: &Believed, output: &Output) -> Result<View<'static>, Failure> {
    let view = believed.session.view(&output.control())?;
    let estimates = Estimates::new(project.log(), &view, project.log().version(), None);
    // A cache: without it nothing is lost.
    let _ = project.keep(ESTIMATES, &serde_json::to_vec(&estimates).unwrap_or_default());
    Ok(view)
}

/// The last estimates that were made, of whatever version.
pub fn last_estimates(project: &mut Project) -> Value {
    let kept = project.kept(ESTIMATES).ok().flatten();
    kept.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or(Value::Null)
}

/// Estimates in words. While a class has no label, how much of the pool is settled says nothing: all of it may be, for the
/// classes that were met.
pub fn in_words(estimates: &Value) -> String {
    let reasons = estimates["advice"]["reasons"].as_array().cloned().unwrap_or_default();
    let all_met = estimates["classes_met"].as_u64() >= estimates["classes"].as_u64();
    let says = |reason: &&str| all_met || !reason.ends_with("of the items are settled.");
    let reasons: Vec<&str> = reasons.iter().filter_map(Value::as_str).filter(says).collect();
    match (estimates["advice"]["verdict"].as_str(), reasons.is_empty()) {
        (Some(verdict), false) => {
            let verdict = match verdict {
                "stop" => "Enough",
                "soon" => "Nearly enough",
                "go-on" => "Go on",
                _ => "Begin",
            };
            format!("{verdict}. {}", reasons.join(" "))
        }
        _ => String::new(),
    }
}

/// What is believed about an item, as JSON.
pub fn belief(project: &Project, prediction: &dial::Prediction, classes: &[dial::ClassId]) -> Value {
    let name = |class: dial::ClassId| project.log().class_name(class).to_string();
    let pairs = classes.iter().zip(&prediction.probabilities);
    let probabilities: serde_json::Map<String, Value> = pairs.map(|(class, p)| (name(*class), json!(p))).collect();
    json!({
        "class": name(prediction.class),
        "probabilities": probabilities,
        "variance": prediction.variance,
        "evidence": prediction.evidence,
        "reached": prediction.reached,
    })
}
