//! The words of closed choices: the same in Rust, on the command line, in JSON and in Python.

#[doc(hidden)] // A macro lies at the root of its crate; its name is `dial::words::words`.
#[macro_export]
macro_rules! __words {
    ($type:ident, $what:literal, { $first:ident => $word:literal $(, $other:ident => $words:literal)* $(,)? }) => {
        impl $type {
            /// Every choice, in the order of the documentation.
            pub const ALL: &'static [$type] = &[$type::$first $(, $type::$other)*];

            /// The words of all choices, separated by commas.
            pub fn words() -> &'static str {
                concat!($word $(, ", ", $words)*)
            }

            /// The word for this choice.
            pub fn word(self) -> &'static str {
                match self { $type::$first => $word $(, $type::$other => $words)* }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::error::Error;

            fn from_str(word: &str) -> $crate::error::Result<$type> {
                let found = $type::ALL.iter().find(|choice| choice.word() == word);
                let want = || format!("one of {}", $type::words());
                found.copied().ok_or_else(|| $crate::error::Error::setting($what, want(), word))
            }
        }
    };
}

/// Gives an enum without fields its words: `ALL`, `words()`, `word()`, `Display` and `FromStr`.
pub use __words as words;

/// Serialises a choice by its word.
pub(crate) mod word {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<T: Display, S: Serializer>(
        value: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(crate) fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        let word = String::deserialize(deserializer)?;
        word.parse().map_err(serde::de::Error::custom)
    }
}
