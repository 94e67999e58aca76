//! `dial tell`: the labels of items, one or many, in one group.

use std::io::{BufRead, Read};

use clap::Args;
use dial::ClassId;
use dial_server::ProjectHandle;
use dial_store::{ClassCount, Decision, Share};
use serde_json::json;

use crate::plan::project::{ProjectArgs, Sender, undo_line, unknown_class};
use crate::ui::failure::Failure;
use crate::ui::items::shortened;
use crate::ui::output::{Output, count};

/// `dial tell`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  dial tell photos.dial cat17.jpg cat
  dial tell photos.dial 81.jpg cat:0.6 dog:0.4 --annotator ann
  dial tell photos.dial 82.jpg=cat 83.jpg=dog
  dial tell photos.dial - < answers.tsv        lines of an id, a tab and a class
  dial tell photos.dial 84.jpg dog --adjudicate  where annotators differ
  dial tell photos.dial -- -x.jpg cat          an id that looks like an option

A label that contradicts an earlier one of the same annotator is stored as a conflict and answered with exit code 6 \
(C3): send it again with --replace if it is the right one, or keep the first with dial resolve.")]
pub struct Tell {
    #[command(flatten)]
    pub project: ProjectArgs,
    /// ITEM CLASS, or ITEM CLASS:WEIGHT CLASS:WEIGHT ..., or ITEM=CLASS ..., or - for lines from stdin
    #[arg(value_name = "LABELS", required = true, allow_negative_numbers = true)]
    pub labels: Vec<String>,
    /// Replace earlier labels of this annotator
    #[arg(long)]
    pub replace: bool,
    /// Decide between differing answers: of all labels of the item only this one counts; includes --replace
    #[arg(long)]
    pub adjudicate: bool,
    /// Add classes that the project does not have yet
    #[arg(long)]
    pub add_classes: bool,
    #[command(flatten)]
    pub sender: Sender,
}

/// The longest line from stdin, in bytes, and how much of one a message shows.
const LONGEST_LINE: usize = 64 << 10;
const LINE_CHARS_SHOWN: usize = 80;

/// An item and the words of its label.
type Typed = (String, Vec<String>);

/// Runs the command.
pub fn run(args: &Tell, output: &Output) -> Result<(), Failure> {
    let typed = typed(&args.labels)?;
    let mut project = args.project.handle_to_change(output)?;
    let decisions = match args.add_classes {
        true => with_new_classes(&mut *project, &typed, &args.sender)?,
        false => decisions(&project.status()?.classes, &typed)?,
    };
    let (decisions, replace) = match args.adjudicate {
        true => (
            decisions.into_iter().map(Decision::adjudicating).collect(),
            true,
        ),
        false => (decisions, args.replace),
    };
    let sent = project.submit(args.sender.submission(decisions, replace)?);
    let sent = sent.map_err(|problem| how_to_keep(problem.into(), &args.project.typed()));
    let receipt = sent?.receipt;
    let (what, one) = match typed.as_slice() {
        [(item, classes)] => (format!("{item} = {}", classes.join(" ")), true),
        many => (count(many.len(), "label", "labels"), many.len() == 1),
    };
    let state = match (receipt.known, receipt.repeated, one) {
        (true, _, true) => "is stored already: nothing changed",
        (true, _, false) => "are stored already: nothing changed",
        (_, true, true) => "was sent before and is stored once",
        (_, true, false) => "were sent before and are stored once",
        (_, _, true) => "is saved",
        (_, _, false) => "are saved",
    };
    let late = match (receipt.late, one) {
        (false, _) => "",
        (true, true) if args.adjudicate => " Of all labels of the item only this one counts.",
        (true, false) if args.adjudicate => " Of all labels of these items only these count.",
        (true, true) => " The item already had a label of another annotator; both are kept.",
        (true, false) => " Some items already had labels of other annotators; all are kept.",
    };
    let undo = undo_line(&receipt, &args.project.typed());
    output.result(&format!("{what} {state}{undo}.{late}\n"), &json!(receipt));
    Ok(())
}

/// Says how the first of two answers is kept.
fn how_to_keep(failure: Failure, project: &str) -> Failure {
    match (failure.code(), failure.conflict()) {
        ("C3", Some(conflict)) => failure.and(&format!(
            "To keep the first: dial resolve {project} {conflict}."
        )),
        ("C6", Some(conflict)) => failure.and(&format!(
            "To drop this answer: dial resolve {project} {conflict}."
        )),
        _ => failure,
    }
}

/// The labels as typed.
fn typed(words: &[String]) -> Result<Vec<Typed>, Failure> {
    let refuse = |text: String| {
        Failure::settings(format!("{text} Nothing was changed. See dial tell --help."))
    };
    if words == ["-"] {
        let text = text_of(std::io::stdin().lock())?;
        return lines(&text);
    }
    if words.iter().all(|word| word.contains('=')) {
        // An id may hold the sign, a class hardly does.
        let pair = |word: &String| {
            word.rsplit_once('=')
                .map(|(item, class)| (item.to_string(), vec![class.to_string()]))
        };
        return Ok(words.iter().filter_map(pair).collect());
    }
    if words.iter().any(|word| word.contains('=')) {
        let next = "Write ITEM=CLASS for every label, or one ITEM and its classes; lines from stdin (-) may hold any sign.";
        let text = format!(
            "{:?} has labels of both forms. Nothing was changed.",
            words.join(" ")
        );
        return Err(Failure::settings(format!("{text} {next}")));
    }
    match words {
        [item, classes @ ..] if !classes.is_empty() => Ok(vec![(item.clone(), classes.to_vec())]),
        _ => Err(refuse(format!("{:?} has no class.", words.join(" ")))),
    }
}

/// The text that a program sends, whose lines are those of labels: none is long.
fn text_of(mut input: impl BufRead) -> Result<String, Failure> {
    let refuse = |what: String| Failure::input("I6", format!("stdin {what}"));
    let mut text = Vec::new();
    for number in 1.. {
        let (start, most) = (text.len(), LONGEST_LINE as u64 + 1);
        let read = input.by_ref().take(most).read_until(b'\n', &mut text);
        read.map_err(|error| {
            let next = "Nothing was changed. Send the labels again.";
            refuse(format!("cannot be read ({error}). {next}"))
        })?;
        if text.len() - start > LONGEST_LINE {
            let text =
                format!("has a line of more than 64 KiB: line {number}. Nothing was changed.");
            return Err(refuse(format!(
                "{text} Write an id, a tab and a class on each line."
            )));
        }
        if text.len() == start {
            break;
        }
    }
    String::from_utf8(text)
        .map_err(|_| refuse("is not UTF-8. Nothing was changed. Send UTF-8 text.".into()))
}

/// Lines of an id and classes, tabs between.
fn lines(text: &str) -> Result<Vec<Typed>, Failure> {
    let mut found = Vec::new();
    for (number, line) in (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let mut cells = line.split('\t').map(|cell| cell.trim().to_string());
        let (item, classes) = (
            cells.next().unwrap_or_default(),
            cells.filter(|cell| !cell.is_empty()).collect::<Vec<_>>(),
        );
        if classes.is_empty() {
            let shown = shortened(line, LINE_CHARS_SHOWN);
            let text =
                format!("stdin: line {number} has no class: {shown:?}. Nothing was changed.");
            return Err(Failure::input(
                "I6",
                format!("{text} Write an id, a tab and a class."),
            ));
        }
        found.push((item, classes));
    }
    match found.is_empty() {
        true => Err(Failure::input(
            "I6",
            "stdin: no labels. Nothing was changed. Write an id, a tab and a class.".into(),
        )),
        false => Ok(found),
    }
}

/// The labels as decisions.
fn decisions(classes: &[ClassCount], typed: &[Typed]) -> Result<Vec<Decision>, Failure> {
    let label = |(item, words): &Typed| {
        let class = |word: &String| {
            let (name, weight) = share(word, classes, words.len());
            match classes.iter().find(|class| class.name == name) {
                Some(class) => Ok(Share {
                    class: ClassId(class.id),
                    weight,
                }),
                None => Err(unknown_class(&name, classes)),
            }
        };
        let classes = words.iter().map(class).collect::<Result<_, Failure>>()?;
        Ok(Decision::Label {
            item: item.clone(),
            classes,
            adjudicates: false,
        })
    };
    typed.iter().map(label).collect()
}

/// The labels. Classes that are not there yet are sent first, on their own: others may add classes meanwhile, so their
/// ids are not known before.
fn with_new_classes(
    project: &mut dyn ProjectHandle,
    typed: &[Typed],
    sender: &Sender,
) -> Result<Vec<Decision>, Failure> {
    let classes = project.status()?.classes;
    let mut new: Vec<String> = Vec::new();
    for (_, words) in typed {
        for word in words {
            let (name, _) = share(word, &classes, words.len());
            if classes.iter().all(|class| class.name != name) && !new.contains(&name) {
                new.push(name);
            }
        }
    }
    if new.is_empty() {
        return decisions(&classes, typed);
    }
    let add = |name: String| Decision::AddClass { name };
    let mut sent = sender.submission(new.into_iter().map(add).collect(), false)?;
    sent.key += "-classes";
    project.submit(sent)?;
    decisions(&project.status()?.classes, typed)
}

/// `cat`, or `cat:0.6`. A class whose name holds the sign is itself.
fn share(word: &str, classes: &[ClassCount], of: usize) -> (String, f64) {
    let whole = || (word.to_string(), 1.0);
    if of == 1 && classes.iter().any(|class| class.name == word) {
        return whole();
    }
    let split = word
        .rsplit_once(':')
        .and_then(|(name, weight)| Some((name.to_string(), weight.parse().ok()?)));
    split.unwrap_or_else(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(String::from).collect()
    }

    #[test]
    fn labels_as_typed() {
        let pair = |item: &str, classes: &str| (item.to_string(), words(classes));
        assert_eq!(typed(&words("a cat")).unwrap(), [pair("a", "cat")]);
        assert_eq!(
            typed(&words("a cat:0.6 dog:0.4")).unwrap(),
            [pair("a", "cat:0.6 dog:0.4")]
        );
        assert_eq!(
            typed(&words("a=cat b=c=dog")).unwrap(),
            [pair("a", "cat"), pair("b=c", "dog")]
        );
        for refused in ["a", "a=b cat", "3=pos 4", "3 pos=neg"] {
            assert!(typed(&words(refused)).is_err(), "{refused}");
        }
        assert_eq!(
            lines("a\tcat\n\nb \t dog:0.5\tcat:0.5\r\n").unwrap(),
            [pair("a", "cat"), pair("b", "dog:0.5 cat:0.5")]
        );
        assert!(lines("a cat\n").is_err() && lines("\n").is_err());
    }

    #[test]
    fn a_long_line_is_refused_before_all_of_it_is_read() {
        let sent = |length: u64| {
            let input = b"a\tcat\n".chain(std::io::repeat(b'x').take(length));
            text_of(std::io::BufReader::new(input))
        };
        assert_eq!(sent(LONGEST_LINE as u64).unwrap().len(), 6 + LONGEST_LINE);
        let endless = sent(u64::MAX).unwrap_err();
        assert_eq!(endless.code(), "I6");
        let text = text_of(&b"a\t\xff\n"[..]).unwrap_err();
        assert_eq!(text.code(), "I6");
    }

    #[test]
    fn shares_as_typed() {
        let class = |id, name: &str| ClassCount {
            id,
            name: name.into(),
            labels: 0,
        };
        let classes = [class(0, "cat"), class(1, "16:9")];
        assert_eq!(share("cat", &classes, 1), ("cat".into(), 1.0));
        assert_eq!(share("16:9", &classes, 1), ("16:9".into(), 1.0));
        assert_eq!(share("16:9:0.5", &classes, 2), ("16:9".into(), 0.5));
        assert_eq!(share("new:x", &classes, 1), ("new:x".into(), 1.0));
    }
}
