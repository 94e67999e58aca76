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
  dial class photos.dial merge kitten dog
  dial class photos.dial delete owl       its labels go with it, and those items are asked again
  dial class photos.dial order dog cat    as people see them on the page")]
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
    /// Merge a class into another: its labels count for that one from now on
    Merge {
        /// The class to remove
        from: String,
        /// The class that takes its labels
        into: String,
    },
    /// Delete a class and its labels; items without another label are asked again (to keep the labels, merge it)
    Delete {
        /// The class
        class: String,
    },
    /// Change the order in which people see the classes
    Order {
        /// The classes that come first, in their order
        #[arg(required = true)]
        classes: Vec<String>,
    },
    /// Give a class another colour and key on the page
    Style {
        /// The class
        class: String,
        /// Its colour, as #rrggbb
        colour: String,
        /// The key that labels with it [default: none]
        #[arg(default_value = "")]
        key: String,
    },
}

/// `dial weight`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  dial weight photos.dial expert 3        counts three times as much as others
  dial weight photos.dial expert 1        counts as much as others

Weights matter where several people labelled one item: they share one observation by weight.")]
pub struct Weight {
    #[command(flatten)]
    pub project: ProjectArgs,
    /// The annotator
    #[arg(value_name = "NAME")]
    pub name: String,
    /// The weight of their labels, a number above 0; 1 is usual
    #[arg(value_name = "WEIGHT", allow_negative_numbers = true)]
    pub weight: f64,
    #[command(flatten)]
    pub sender: Sender,
}

/// Whether a group is undone or redone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Undo it.
    Undo,
    /// Redo it.
    Redo,
}

/// How an item is skipped.
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
    // A group that is named is undone whoever made it: the user chose it.
    let sent = project.submit(
        args.sender
            .submission(vec![decision], args.group.is_some())?,
    );
    let sent = sent.map_err(Failure::from);
    let stored = sent.map_err(|failure| match (failure.code(), args.group) {
        ("C5", None) => {
            let considered = match args.sender.annotator.as_str() {
                "" => "without an annotator".to_string(),
                name => format!("of {name}"),
            };
            failure.and(&format!(
                "Only decisions {considered} are considered. Choose an annotator with --annotator, or a group with --group (dial log lists them)."
            ))
        }
        _ => failure,
    })?;
    let text = match way {
        Way::Undo => "Undone",
        Way::Redo => "Redone",
    };
    let mut json = json!(stored.receipt);
    let text = match log::undone(&mut *project, &stored.receipt) {
        Some((group, decisions)) => {
            (json["of"], json["decisions"]) = (json!(group), json!(decisions));
            let all = stored.turned.max(decisions.len());
            format!("{text}: {}.\n", log::named(group, &decisions, all))
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
        ClassAction::Delete { class } => {
            let delete = Decision::DeleteClass {
                class: find(class)?,
            };
            (vec![delete], format!("{class} is deleted with its labels"))
        }
        ClassAction::Order { classes } => {
            let classes = classes.iter().map(|name| find(name));
            let order = Decision::OrderClasses {
                classes: classes.collect::<Result<_, Failure>>()?,
            };
            (vec![order], "The classes have another order".into())
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
    let text = format!("Labels of {} now count with weight {weight}", who(name));
    let project = args.project.handle_to_change(output)?;
    finish(
        project,
        (&args.project, &args.sender),
        vec![decision],
        text,
        output,
    )
}

/// Sends decisions and says how to undo them.
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
        true => format!("{text}, as before: nothing changed"),
        false => text,
    };
    output.result(&format!("{text}{undo}.\n"), &json!(receipt));
    Ok(())
}
