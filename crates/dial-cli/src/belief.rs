//! What a project believes: its pool opened, its graph loaded or built, its log replayed into a session.
//!
//! A pool that has changed (rows added or gone, other features) is noticed here, said, and put into the log; labels are
//! kept by the ids of their items.

use dial::{Session, View};
use dial_store::{Error, Estimates, Material, Project, random_id};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::{Output, count};
use crate::project::now;

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
    let Some(recipe) = project.log().recipe().cloned() else {
        let (place, what) = (folder.0.display().to_string(), "it does not say what its pool is".to_string());
        return Err(Error::Damaged { place, what, readable: 0, total: "an unknown number".into() }.into());
    };
    if recipe.method_version != dial::METHOD_VERSION {
        output.note(&format!(
            "note: the project was made with version {} of the method, this is {}: questions may differ.",
            recipe.method_version,
            dial::METHOD_VERSION
        ));
    }
    let control = output.control();
    let material = Material::open(&recipe, &folder, &control)?;
    notice(project, &material, output)?;
    if let Err(error) = material.keep_graph(&folder, &control) {
        output.note(&format!("note: the graph could not be kept and will be built again: {error}"));
    }
    Ok(material)
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
    project.change_pool(material.recipe.clone(), ids.as_deref(), random_id()?, now())?;
    let gone = project.log().live_labels().iter().filter(|label| !project.has_item(label.item)).count();
    let lost = match gone {
        0 => "all labels are kept".to_string(),
        gone => format!("labels are kept, also {} whose items are gone", count(gone, "label", "labels")),
    };
    let what =
        if material.pool.matrix.n == before.len() { "its features or ids are others" } else { "its rows are others" };
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

/// Estimates in words.
pub fn in_words(estimates: &Value) -> String {
    let reasons = estimates["advice"]["reasons"].as_array().cloned().unwrap_or_default();
    let reasons: Vec<&str> = reasons.iter().filter_map(Value::as_str).collect();
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
