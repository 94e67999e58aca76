//! Names that options and verbs had before: a usage error names the new one. clap only knows names that are spelt alike.

use std::ffi::OsString;

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};

use crate::cli::help;

/// The option before, the option now, and what else changed.
const OPTIONS: [(&str, &str, &str); 2] = [
    ("--kernel", "--weights", ""),
    (
        "--reading",
        "--calibration",
        " (even is now on, plain is off)",
    ),
];

/// The option, its word before, and the word now.
const WORDS: [(&str, &str, &str); 2] = [
    ("--calibration", "even", "on"),
    ("--calibration", "plain", "off"),
];

/// The verb before, the verb now, and how it is typed where its arguments stand between the two words.
const VERBS: [(&[&str], &[&str], &str); 6] = [
    (&["reproduce"], &["lab", "reproduce"], ""),
    (&["theory"], &["lab", "theory"], ""),
    (&["arena"], &["lab", "arena"], ""),
    (&["bench"], &["lab", "bench"], ""),
    (&["settle"], &["resolve"], ""),
    (
        &["class", "look"],
        &["class", "style"],
        " (dial class PROJECT style CLASS COLOUR [KEY])",
    ),
];

/// Replaces the tips, and the usage that clap guessed from another name, of an error about something that was renamed.
pub fn hint(error: &mut clap::Error, arguments: &[OsString]) {
    let name = |kind| match error.get(kind) {
        Some(ContextValue::String(name)) => Some(name.clone()),
        _ => None,
    };
    let mut command = help::command();
    command.build();
    let path = path(&command, arguments);
    let verb = at(&command, &path).unwrap_or(&command);
    let argument = name(ContextKind::InvalidArg);
    let value = name(ContextKind::InvalidValue);
    // clap calls an unknown verb an argument where the verb above it has arguments.
    let tip = [argument.clone(), name(ContextKind::InvalidSubcommand)]
        .into_iter()
        .flatten()
        .find_map(|name| {
            option_tip(&name, verb, path.is_empty()).or_else(|| verb_tip(&path, &name, &command))
        })
        .or_else(|| word_tip(&argument?, &value?));
    let Some(tip) = tip else { return };
    error.remove(ContextKind::SuggestedArg);
    error.remove(ContextKind::SuggestedSubcommand);
    let usage = verb.clone().render_usage();
    error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
    let tips = vec![StyledStr::from(tip)];
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
}

/// The words of the verb that the arguments name, as far as they are known.
fn path<'a>(command: &'a Command, arguments: &[OsString]) -> Vec<&'a str> {
    let words = arguments.iter().skip(1).filter_map(|word| word.to_str());
    let (mut verb, mut path) = (command, Vec::new());
    for word in words {
        match verb.find_subcommand(word) {
            Some(below) => {
                path.push(below.get_name());
                verb = below;
            }
            // An unknown verb: what follows are its arguments.
            None if path.is_empty() && !word.starts_with('-') => break,
            None => {}
        }
    }
    path
}

/// The verb of these words.
fn at<'a>(command: &'a Command, path: &[&str]) -> Option<&'a Command> {
    let below = |verb: &'a Command, word: &&str| verb.find_subcommand(*word);
    path.iter().try_fold(command, below)
}

/// A tip, if the verb has the new option; before a verb is named, if any verb has it.
fn option_tip(option: &str, verb: &Command, unnamed: bool) -> Option<String> {
    let (old, new, change) = OPTIONS.iter().find(|(old, ..)| *old == option)?;
    let has = |argument: &clap::Arg| argument.get_long().is_some_and(|long| new[2..] == *long);
    let verbs = verb.get_subcommands().filter(|_| unnamed);
    std::iter::once(verb)
        .chain(verbs)
        .any(|verb| verb.get_arguments().any(has))
        .then(|| format!("{old} is now {new}{change}"))
}

/// A tip, if a word of an option was renamed; clap names the option with its value.
fn word_tip(option: &str, value: &str) -> Option<String> {
    let option = option.split(' ').next()?;
    let (_, old, new) = WORDS
        .iter()
        .find(|(of, old, _)| *of == option && *old == value)?;
    Some(format!("{option} {old} is now {option} {new}"))
}

/// A tip, if this build has the new verb.
fn verb_tip(path: &[&str], name: &str, command: &Command) -> Option<String> {
    let typed = [path, &[name]].concat();
    let (old, new, usage) = VERBS.iter().find(|(old, ..)| *old == typed)?;
    at(command, new).map(|_| {
        format!(
            "dial {} is now dial {}{usage}",
            old.join(" "),
            new.join(" ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(line: &str) -> String {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let mut error = help::command()
            .try_get_matches_from(&arguments)
            .unwrap_err();
        hint(&mut error, &arguments);
        error.to_string()
    }

    #[test]
    fn renamed_options_and_verbs_are_named() {
        let tip = |line| {
            let text = text(line);
            let tips: Vec<&str> = text.lines().filter(|line| line.contains("tip:")).collect();
            tips.join("").trim().to_string()
        };
        let weights = "tip: --kernel is now --weights";
        assert_eq!(tip("dial simulate x.npy --kernel symmetric"), weights);
        assert_eq!(tip("dial graph x.npy --kernel=symmetric"), weights);
        assert_eq!(
            tip("dial new x.npy --reading even"),
            "tip: --reading is now --calibration (even is now on, plain is off)"
        );
        assert_eq!(
            tip("dial settle x.dial"),
            "tip: dial settle is now dial resolve"
        );
        assert_eq!(
            tip("dial class x.dial look a"),
            "tip: dial class look is now dial class style (dial class PROJECT style CLASS COLOUR [KEY])"
        );
        assert!(!tip("dial look x.dial").contains("style"));
        let calibration = tip("dial new x.npy --calibration even");
        assert_eq!(
            calibration,
            "tip: --calibration even is now --calibration on"
        );
        // The usage is that of the verb, not one that clap guessed from a name of similar letters.
        let usage = text("dial new x.npy --kernel symmetric");
        assert!(
            usage.contains("Usage: dial new [OPTIONS] <POOL>"),
            "{usage}"
        );
        assert_eq!(tip("dial --kernel symmetric simulate x.npy"), weights);
        // A verb that never had the option, and names that are only misspelt.
        assert!(!tip("dial status x.dial --kernel symmetric").contains("is now"));
        assert!(tip("dial simulate x.npy --weigths gaussian").contains("'--weights'"));
        assert!(tip("dial simulat x.npy").contains("'simulate'"));
        if cfg!(feature = "research") {
            assert_eq!(tip("dial arena"), "tip: dial arena is now dial lab arena");
        }
    }

    #[test]
    fn old_names_are_gone_and_new_ones_exist() {
        let command = help::command();
        for (old, new, _) in VERBS {
            assert!(at(&command, old).is_none(), "{old:?}");
            let lab = new[0] == "lab" && !cfg!(feature = "research");
            assert!(lab || at(&command, new).is_some(), "{new:?}");
        }
        without_old_options(&command);
    }

    fn without_old_options(verb: &Command) {
        for (old, ..) in OPTIONS {
            let mut longs = verb.get_arguments().filter_map(clap::Arg::get_long);
            assert!(longs.all(|long| long != &old[2..]), "{old}: {verb}");
        }
        verb.get_subcommands().for_each(without_old_options);
    }
}
