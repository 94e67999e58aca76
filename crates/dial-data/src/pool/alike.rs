//! Names of classes that are likely to mean the same, as the page finds them too (`areAlike` in `state.js`): the same but for what
//! people vary (case, accents, spaces and marks between words, a plural), or a slip of one letter.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Letters from which on a slip of one makes no other word.
const LONG: usize = 5;
/// Letters up to which an s at the end is part of the word.
const SHORT: usize = 3;

/// A name without what people vary when they mean the same.
fn core(name: &str) -> Vec<char> {
    let kept = |c: &char| !is_combining_mark(*c);
    let between = |c: char| c.is_whitespace() || matches!(c, '_' | '.' | '-');
    let plain = name.nfkd().filter(kept).flat_map(char::to_lowercase);
    let mut plain: Vec<char> = plain.filter(|&c| !between(c)).collect();
    if plain.len() > SHORT && plain.ends_with(&['s']) {
        let (stem, es) = (&plain[..plain.len() - 1], plain.ends_with(&['e', 's']));
        let before = &stem[..stem.len() - usize::from(es)];
        let hisses = before.ends_with(&['s'])
            || before.ends_with(&['x'])
            || before.ends_with(&['z'])
            || before.ends_with(&['c', 'h'])
            || before.ends_with(&['s', 'h']);
        match (es && hisses, stem.ends_with(&['s'])) {
            (true, _) => plain.truncate(plain.len() - 2),
            (false, false) => plain.truncate(plain.len() - 1),
            (false, true) => {}
        }
    }
    plain
}

fn are_alike(x: &[char], y: &[char]) -> bool {
    if x == y {
        return !x.is_empty();
    }
    let digits = |name: &[char]| name.iter().any(char::is_ascii_digit);
    if x.len().min(y.len()) < LONG || x.len().abs_diff(y.len()) > 1 || digits(x) || digits(y) {
        return false;
    }
    let start = x.iter().zip(y).take_while(|(a, b)| a == b).count();
    let rest = |name: &'_ [char], more: usize| name.get(start + more..).unwrap_or(&[]).to_vec();
    let swapped = x.get(start) == y.get(start + 1)
        && x.get(start + 1) == y.get(start)
        && rest(x, 2) == rest(y, 2);
    swapped || rest(x, 1) == rest(y, 1) || rest(x, 1) == rest(y, 0) || rest(x, 0) == rest(y, 1)
}

/// The pairs of names that are likely to mean the same, each in the order of the list.
pub fn alike(names: &[String]) -> Vec<(&str, &str)> {
    let cores: Vec<Vec<char>> = names.iter().map(|name| core(name)).collect();
    let mut pairs = Vec::new();
    for (at, first) in names.iter().enumerate() {
        for (other, second) in names.iter().enumerate().skip(at + 1) {
            if first != second && are_alike(&cores[at], &cores[other]) {
                pairs.push((first.as_str(), second.as_str()));
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_by_hand() {
        let pair = |a: &str, b: &str| !alike(&[a.to_string(), b.to_string()]).is_empty();
        for (a, b) in [
            ("Sneaker", "sneaker"),
            ("Sneakers", "Sneaker"),
            ("Ankle boot", "ankle-boots"),
            ("Snaeker", "Sneaker"),
            ("Sneeker", "Sneaker"),
            ("Sneker", "Sneaker"),
            ("boxes", "box"),
            ("café", "CAFE"),
            ("cats", "cat"),
        ] {
            assert!(pair(a, b) && pair(b, a), "{a} {b}");
        }
        for (a, b) in [
            ("cat", "car"),
            ("class 1", "class 2"),
            ("Sandal", "Sneaker"),
            ("bus", "bu"),
            ("grass", "gras"),
            ("-", "_"),
            ("left", "right"),
        ] {
            assert!(!pair(a, b) && !pair(b, a), "{a} {b}");
        }
        let names = ["a", "Boot", "boots"].map(String::from);
        assert_eq!(alike(&names), [("Boot", "boots")]);
    }
}
