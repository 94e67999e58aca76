//! `dial undo`, `redo`, `skip`, `exclude` and `class`: decisions that are not labels.

use clap::{Args, Subcommand};
use dial_server::ProjectHandle;
use dial_store::Decision;
use serde_json::json;

use crate::plan::project::{ProjectArgs, Sender, undo_line};
use crate::ui::failure::Failure;
use crate::ui::output::{Output, count, who};
use crate::verbs::log;

/// `dial undo` and `dial redo`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  dial undo photos.dial --annotator ann
  dial undo photos.dial --group 12        a whole import, say")]
pub struct Undo {
    #[command(flatten)]
    pub project: ProjectArgs,
    /// The group, as tell, import and log name it [default: the latest of this annotator]
    #[arg(long, value_name = "G")]
    pub group: Option<u64>,
    #[command(flatten)]
    pub sender: Sender,
}

/// `dial skip` and `dial exclude`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  dial skip photos.dial 81.jpg            not asked again
  dial exclude photos.dial 82.jpg         not asked, and its labels do not count")]
pub struct Pass {
    #[command(flatten)]
    pub project: ProjectArgs,
    /// The items, by id
    #[arg(value_name = "ITEM", required = true)]
    pub items: Vec<String>,
    #[command(flatten)]
    pub sender: Sender,
}

/// `dial class`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  dial class photos.dial add cat dog
  dial class photos.dial rename cat kitten
  dial class photos.dial merge kitten dog")]
pub struct Class {
    #[command(flatten)]
    pub project: ProjectArgs,
    /// What to do with classes.
    #[command(subcommand)]
    pub action: ClassAction,
    #[command(flatten)]
    pub sender: Sender,
}

/// What can be done with classes.
#[derive(Debug, Subcommand)]
pub enum ClassAction {
    /// Add classes
    Add {
        /// Their names
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Give a class another name; its labels stay
    Rename {
        /// The class
        old: String,
        /// Its new name
        new: String,
    },
    /// Let the labels of one class count for another from now on
    Merge {
        /// The class that ends
        from: String,
        /// The class that takes its labels
        into: String,
    },
    /// Give a class another colour and key on the page
    Style {
        /// The class
        class: String,
        /// Its colour, as #rrggbb
        colour: String,
        /// The key that labels with it; none, if left out
        #[arg(default_value = "")]
        key: String,
    },
}

/// `dial weight`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  dial weight photos.dial expert 3        counts three times as much beside others
  dial weight photos.dial expert 1        as everybody

Weights matter where several people labelled one item: they share one observation by weight.")]
pub struct Weight {
    #[command(flatten)]
    pub project: ProjectArgs,
    /// The annotator
    #[arg(value_name = "NAME")]
    pub name: String,
    /// How much their labels count beside those of others: a number above 0
    #[arg(value_name = "WEIGHT", allow_negative_numbers = true)]
    pub weight: f64,
    #[command(flatten)]
    pub sender: Sender,
}

/// Which way a group goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Taken back.
    Undo,
    /// Brought back.
    Redo,
}

/// Which way an item is passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// Not asked again.
    Skip,
    /// Left out.
    Exclude,
}

/// Runs `dial undo` or `dial redo`.
pub fn undo(args: &Undo, way: Way, output: &Output) -> Result<(), Failure> {
    let decision = match way {
        Way::Undo => Decision::Undo { group: args.group },
        Way::Redo => Decision::Redo { group: args.group },
    };
    let mut project = args.project.handle_to_change(output)?;
    // Who names a group means it, whoever it is from.
    let sent = project.submit(
        args.sender
            .submission(vec![decision], args.group.is_some())?,
    );
    let sent = sent.map_err(Failure::from);
    let receipt = sent.map_err(|failure| match (failure.code(), args.group) {
        ("C5", None) => failure.and(&format!(
            "Only what {} did was looked at: --annotator names somebody else, --group a group of dial log.",
            who(&args.sender.annotator)
        )),
        _ => failure,
    })?.receipt;
    let text = match way {
        Way::Undo => "Taken back",
        Way::Redo => "Brought back",
    };
    let mut json = json!(receipt);
    let text = match log::undone(&mut *project, &receipt) {
        Some((group, decisions)) => {
            (json["of"], json["decisions"]) = (json!(group), json!(decisions));
            format!("{text}: {}.\n", log::named(group, &decisions))
        }
        None => format!("{text}.\n"),
    };
    output.result(&text, &json);
    Ok(())
}

/// Runs `dial skip` or `dial exclude`.
pub fn pass(args: &Pass, way: Passing, output: &Output) -> Result<(), Failure> {
    let decision = |item: &String| match way {
        Passing::Skip => Decision::Skip { item: item.clone() },
        Passing::Exclude => Decision::Exclude { item: item.clone() },
    };
    let items = count(args.items.len(), "item", "items");
    let text = match way {
        Passing::Skip => format!("{items} skipped"),
        Passing::Exclude => format!("{items} excluded"),
    };
    let project = args.project.handle_to_change(output)?;
    let decisions = args.items.iter().map(decision).collect();
    finish(
        project,
        (&args.project, &args.sender),
        decisions,
        text,
        output,
    )
}

/// Runs `dial class`.
pub fn class(args: &Class, output: &Output) -> Result<(), Failure> {
    let mut project = args.project.handle_to_change(output)?;
    let mut find = |name: &str| crate::plan::project::class(&mut *project, name);
    let (decisions, text) = match &args.action {
        ClassAction::Add { names } => {
            let add = names
                .iter()
                .map(|name| Decision::AddClass { name: name.clone() });
            (
                add.collect(),
                format!("{} added", count(names.len(), "class", "classes")),
            )
        }
        ClassAction::Rename { old, new } => {
            let rename = Decision::RenameClass {
                class: find(old)?,
                name: new.clone(),
            };
            (vec![rename], format!("{old} is now {new}"))
        }
        ClassAction::Merge { from, into } => {
            let merge = Decision::MergeClass {
                from: find(from)?,
                into: find(into)?,
            };
            (
                vec![merge],
                format!("The labels of {from} now count for {into}"),
            )
        }
        ClassAction::Style { class, colour, key } => {
            let (colour, key) = (colour.clone(), key.clone());
            let look = Decision::StyleClass {
                class: find(class)?,
                colour,
                key,
            };
            (vec![look], format!("{class} has its new colour and key"))
        }
    };
    finish(
        project,
        (&args.project, &args.sender),
        decisions,
        text,
        output,
    )
}

/// Runs `dial weight`.
pub fn weight(args: &Weight, output: &Output) -> Result<(), Failure> {
    let Weight { name, weight, .. } = args;
    let decision = Decision::Weight {
        annotator: name.clone(),
        weight: *weight,
    };
    let text = format!(
        "The labels of {} now count {weight} beside those of others",
        who(name)
    );
    let project = args.project.handle_to_change(output)?;
    finish(
        project,
        (&args.project, &args.sender),
        vec![decision],
        text,
        output,
    )
}

/// Sends decisions and says how they are taken back.
fn finish(
    mut handle: Box<dyn ProjectHandle>,
    (project, sender): (&ProjectArgs, &Sender),
    decisions: Vec<Decision>,
    text: String,
    output: &Output,
) -> Result<(), Failure> {
    // Colours and keys are set again, not undone.
    let undoable = decisions
        .iter()
        .any(|decision| !matches!(decision, Decision::StyleClass { .. }));
    let receipt = handle.submit(sender.submission(decisions, false)?)?.receipt;
    let undo = match undoable {
        true => undo_line(&receipt, &project.typed()),
        false => String::new(),
    };
    let text = match receipt.known {
        true => format!("{text}, as before: nothing new is stored"),
        false => text,
    };
    output.result(&format!("{text}{undo}.\n"), &json!(receipt));
    Ok(())
}
