//! Golden numbers of the parts of the theory, derived independently by `fixtures/theory_*.py`.

use std::path::Path;

use serde_json::Value;

/// The numbers of a part.
pub fn golden(part: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/golden");
    let text = std::fs::read_to_string(folder.join(format!("theory_{part}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}
