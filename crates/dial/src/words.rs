//! The words of closed choices: the same in Rust, on the command line, in JSON and in Python.

/// Gives an enum without fields its words: `ALL`, `word()`, `Display` and `FromStr`.
macro_rules! words {
    ($type:ident, $what:literal, { $($variant:ident => $word:literal),+ $(,)? }) => {
        impl $type {
            /// Every choice, in the order of the documentation.
            pub const ALL: &'static [$type] = &[$($type::$variant),+];

            /// The word for this choice.
            pub fn word(self) -> &'static str {
                match self { $($type::$variant => $word),+ }
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
                found.copied().ok_or_else(|| $crate::error::Error::BadSetting {
                    name: $what,
                    want: concat!("one of" $(, " ", $word)+),
                    got: word.to_string(),
                })
            }
        }
    };
}

pub(crate) use words;
