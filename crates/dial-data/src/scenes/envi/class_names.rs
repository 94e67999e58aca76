//! The names of classes in an ENVI header: one for each class, no two alike.
//!
//! A header separates names by commas and knows no quotes, so a name with a comma is two. It is seen from the number of
//! classes; then no name can be trusted, and classes are called by their numbers. Two classes of one name would become
//! one: the later ones get their numbers.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization;

use crate::error::{first_few, plural};

/// The names as they are used, and what is to be said of that. `classes` is how many the header says there are.
pub(crate) fn distinct(
    mut names: Vec<String>,
    classes: Option<u64>,
    notes: &mut Vec<String>,
) -> Vec<String> {
    if let Some(classes) =
        classes.filter(|&classes| !names.is_empty() && names.len() as u64 != classes)
    {
        let text = format!(
            "{} {} for {classes} classes",
            names.len(),
            plural(names.len(), "name", "names")
        );
        notes.push(format!(
            "the class names of the header were skipped: {text} (is there a comma in a name?)"
        ));
        return Vec::new();
    }
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut twice = Vec::new();
    for (number, name) in names
        .iter_mut()
        .enumerate()
        .filter(|(_, name)| !name.is_empty())
    {
        if !seen.insert(name.nfc().collect()) {
            twice.push(format!("{name:?}"));
            *name = format!("{name} (class {number})");
            seen.insert(name.nfc().collect());
        }
    }
    if !twice.is_empty() {
        let listed = first_few(&twice, twice.len(), ", ");
        notes.push(format!(
            "several classes of the header have one name ({listed}): their numbers were added"
        ));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str], classes: Option<u64>) -> (String, String) {
        let mut notes = Vec::new();
        let names = distinct(
            list.iter().map(|name| name.to_string()).collect(),
            classes,
            &mut notes,
        );
        (names.join("|"), notes.join("; "))
    }

    #[test]
    fn one_for_each_class() {
        assert_eq!(
            names(&["none", "a", "b"], Some(3)),
            ("none|a|b".into(), String::new())
        );
        assert_eq!(names(&["none", "a", "b"], None).0, "none|a|b");
        let (twice, note) = names(&["none", "a", "b", "a", "a"], Some(5));
        assert_eq!(twice, "none|a|b|a (class 3)|a (class 4)");
        assert!(
            note.starts_with("several classes of the header have one name (\"a\", \"a\")"),
            "{note}"
        );
        let (comma, note) = names(&["none", "a", "road", "paved"], Some(3));
        assert!(
            comma.is_empty() && note.contains("skipped: 4 names for 3 classes"),
            "{note}"
        );
    }
}
