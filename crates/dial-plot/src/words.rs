//! Lists in words.

use std::fmt::Display;

/// What can be listed in one text.
pub trait Listed: Iterator {
    /// All of them in one text, with something between each two.
    fn joined(self, between: &str) -> String;
}

impl<T: Display, I: Iterator<Item = T>> Listed for I {
    fn joined(self, between: &str) -> String {
        let words: Vec<String> = self.map(|word| word.to_string()).collect();
        words.join(between)
    }
}
