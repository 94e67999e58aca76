//! What a project believes: its pool opened, its graph loaded or built, its log replayed into a session.

use dial::{Session, View};
use dial_store::{Estimates, Folder, Material, Project};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::Output;
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
    let (material, notes) = project.material(&output.control(), now())?;
    notes
        .iter()
        .for_each(|note| output.note(&format!("note: {note}")));
    Ok(material)
}

/// Keeps the graph in the folder of the project.
pub fn keep_graph(material: &Material, folder: &Folder, output: &Output) {
    if let Err(error) = material.keep_graph(folder, &output.control()) {
        output.note(&format!(
            "note: the graph could not be kept and will be built again: {error}"
        ));
    }
}

/// The session of a project.
pub fn open(project: &mut Project, output: &Output) -> Result<Believed, Failure> {
    // Before the pool is read, so that nobody waits for a refusal.
    let classes = project.log().labels().classes().len();
    if classes < 2 {
        return Err(dial::Error::TooFewClasses(classes).into());
    }
    let material = material(project, output)?;
    let session = material
        .ground
        .session(project.log().labels().events().to_vec(), &output.control())?;
    Ok(Believed { material, session })
}

/// The belief of the moment; estimates from it are kept for `dial status`.
pub fn view(
    project: &mut Project,
    believed: &Believed,
    output: &Output,
) -> Result<View<'static>, Failure> {
    let view = believed.session.view(&output.control())?;
    let estimates = Estimates::new(project.log(), &view, project.log().version(), None);
    // A cache: without it nothing is lost.
    let _ = project.keep(
        ESTIMATES,
        &serde_json::to_vec(&estimates).unwrap_or_default(),
    );
    Ok(view)
}

/// The last estimates that were made, of whatever version.
pub fn last_estimates(project: &mut Project) -> Value {
    let kept = project.kept(ESTIMATES).ok().flatten();
    kept.and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or(Value::Null)
}

/// Estimates in words. While a class has no label, how much of the pool is settled says nothing: all of it may be, for the
/// classes that were met.
pub fn in_words(estimates: &Value) -> String {
    let reasons = estimates["advice"]["reasons"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let all_met = estimates["classes_met"].as_u64() >= estimates["classes"].as_u64();
    let says = |reason: &&str| all_met || !reason.ends_with("of the items are settled.");
    let reasons: Vec<&str> = reasons
        .iter()
        .filter_map(Value::as_str)
        .filter(says)
        .collect();
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
pub fn belief(
    project: &Project,
    prediction: &dial::Prediction,
    classes: &[dial::ClassId],
) -> Value {
    let name = |class: dial::ClassId| project.log().class_name(class).to_string();
    let pairs = classes.iter().zip(&prediction.probabilities);
    let probabilities: serde_json::Map<String, Value> =
        pairs.map(|(class, p)| (name(*class), json!(p))).collect();
    json!({
        "class": name(prediction.class),
        "probabilities": probabilities,
        "variance": prediction.variance,
        "evidence": prediction.evidence,
        "reached": prediction.reached,
    })
}
