//! Verdicts from what holds, by one rule for all parts.

use std::borrow::Borrow;

use super::Verdict;

impl Verdict {
    /// Supported if the claim holds, mixed if it holds in part, else not supported.
    pub fn of(holds: bool, in_part: bool) -> Verdict {
        match (holds, in_part) {
            (true, _) => Verdict::Supported,
            (_, true) => Verdict::Mixed,
            _ => Verdict::NotSupported,
        }
    }

    /// Supported if the claim holds in every case, not supported if in none. No case decides nothing: mixed.
    pub fn of_each(holds: impl IntoIterator<Item: Borrow<bool>>) -> Verdict {
        let holds: Vec<bool> = holds.into_iter().map(|holds| *holds.borrow()).collect();
        let any = holds.contains(&true);
        Verdict::of(any && !holds.contains(&false), any || holds.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_some_none() {
        assert_eq!(Verdict::of(true, false), Verdict::Supported);
        assert_eq!(Verdict::of_each([true, true]), Verdict::Supported);
        assert_eq!(Verdict::of_each([true, false]), Verdict::Mixed);
        assert_eq!(Verdict::of_each([false, false]), Verdict::NotSupported);
        assert_eq!(Verdict::of_each([] as [bool; 0]), Verdict::Mixed);
    }
}
