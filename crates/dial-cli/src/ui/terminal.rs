//! What a terminal would obey is shown, not obeyed.
//!
//! Ids, class names, paths, names of columns and texts come from files that others wrote. A terminal takes control
//! characters in them for commands: to change its title, to move the cursor over what was printed, to answer with text as
//! if it were typed. So all that goes to stderr, and what goes to stdout where that is a terminal, passes through
//! [`visible`]; files and pipes get the data as they are.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

/// The longest message, in characters: a cell or a name in it may be as long as a file.
const MAX_MESSAGE_CHARS: usize = 8_000;
/// How many characters of a longer message are kept at its end, which says what to do.
const MESSAGE_END_CHARS: usize = 1_000;

/// A text whose control characters are written as in JSON (`\u001b`), also those of C1 and those that turn the direction
/// of writing. Ends of lines and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(commands) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match commands(letter) {
            true => shown.push_str(&format!("\\u{:04x}", u32::from(letter))),
            false => shown.push(letter),
        }
    }
    Cow::Owned(shown)
}

/// Whether a terminal does something else with a character than to show it.
fn commands(letter: char) -> bool {
    let turns = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (letter.is_control() && letter != '\n' && letter != '\t')
}

/// The beginning and the end of a message that is too long.
pub fn of_bearable_length(message: String) -> String {
    let letters = message.chars().count();
    if letters <= MAX_MESSAGE_CHARS {
        return message;
    }
    let at = |letter: usize| {
        message
            .char_indices()
            .nth(letter)
            .map_or(message.len(), |(at, _)| at)
    };
    let (start, end) = (
        &message[..at(MAX_MESSAGE_CHARS - MESSAGE_END_CHARS)],
        &message[at(letters - MESSAGE_END_CHARS)..],
    );
    format!(
        "{start} ... ({} characters left out) ... {end}",
        letters - MAX_MESSAGE_CHARS
    )
}

/// Writes text to stdout; a reader that has gone away is no failure.
pub fn print(text: &str) {
    let mut stdout = io::stdout().lock();
    let text = match stdout.is_terminal() {
        true => visible(text),
        false => Cow::Borrowed(text),
    };
    let _ = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
}

/// Writes a line to stderr; a reader that has gone away is no failure.
pub fn say(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", visible(line));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_and_all_else_stays() {
        for plain in [
            "",
            "a cat\tb\n",
            "Ægir 日本 \u{200f}שלום\u{200e}",
            "e\u{301}",
        ] {
            assert_eq!(visible(plain), plain);
        }
        assert_eq!(
            visible("\x1b]0;owned\x07a\rb"),
            "\\u001b]0;owned\\u0007a\\u000db"
        );
        assert_eq!(visible("\u{9b}2J\x7f\0"), "\\u009b2J\\u007f\\u0000");
        assert_eq!(visible("exe\u{202e}gpj"), "exe\\u202egpj");
        // What JSON leaves as it is stays JSON.
        let json = serde_json::json!({ "id": "a\u{9b}2J\x1b[2J\x7f" }).to_string();
        let back: serde_json::Value = serde_json::from_str(&visible(&json)).unwrap();
        assert_eq!(back["id"], "a\u{9b}2J\x1b[2J\x7f");
    }

    #[test]
    fn a_long_message_keeps_its_beginning_and_its_end() {
        let long = format!("a.csv: {}. Write it shorter.", "é".repeat(100_000));
        let kept = of_bearable_length(long);
        assert!(kept.starts_with("a.csv: éé") && kept.ends_with("é. Write it shorter."));
        assert!(
            kept.chars().count() < MAX_MESSAGE_CHARS + 100,
            "{}",
            kept.len()
        );
        assert_eq!(of_bearable_length("short".into()), "short");
    }
}
