//! `dial undo`, `redo`, `skip`, `exclude` and `class`: decisions that are not labels.

use clap::{Args, Subcommand};
use dial::Change;
use dial_store::Decision;
use serde_json::json;

use crate::failure::Failure;
use crate::history;
use crate::output::{Output, count, who};
use crate::project::{Access, ProjectArgs, Sender, undo_line};

/// `dial undo` and `dial redo`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  dial undo photos.dial --annotator ann
  dial undo photos.dial --group 12        a whole import, say")]
pub struct Undo {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub project: ProjectArgs,
    /// The group, as tell, import and log name it [default: the latest of this annotator]
    #[arg(long, value_name = "G")]
    pub group: Option<u64>,
    #[command(flatten)]
    #[allow(missing_docs)]
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
    #[allow(missing_docs)]
    pub project: ProjectArgs,
    /// The items, by id
    #[arg(value_name = "ITEM", required = true)]
    pub items: Vec<String>,
    #[command(flatten)]
    #[allow(missing_docs)]
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
    #[allow(missing_docs)]
    pub project: ProjectArgs,
    /// What to do with classes.
    #[command(subcommand)]
    pub deed: Deed,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub sender: Sender,
}

/// What can be done with classes.
#[derive(Debug, Subcommand)]
pub enum Deed {
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
    let decision = match (way, args.group) {
        (Way::Undo, None) => Decision::UndoLast,
        (Way::Redo, None) => Decision::RedoLast,
        (Way::Undo, Some(group)) => Decision::Change(Change::Undo { group }),
        (Way::Redo, Some(group)) => Decision::Change(Change::Redo { group }),
    };
    let mut access = args.project.access_to_change(output)?;
    // Who names a group means it, whoever it is from.
    let sent = access.send(
        args.sender
            .submission(vec![decision], args.group.is_some())?,
    );
    let receipt = sent.map_err(|failure| match (failure.code(), args.group) {
        ("C5", None) => failure.and(&format!(
            "Only what {} did was looked at: --annotator names somebody else, --group a group of dial log.",
            who(&args.sender.annotator)
        )),
        _ => failure,
    })?;
    let text = match way {
        Way::Undo => "Taken back",
        Way::Redo => "Brought back",
    };
    let mut json = json!(receipt);
    let text = match history::undone(&access, &receipt) {
        Some((group, decisions)) => {
            (json["of"], json["decisions"]) = (json!(group), json!(decisions));
            format!("{text}: {}.\n", history::named(group, &decisions))
        }
        None => format!("{text}.\n"),
    };
    output.result(&text, &json);
    Ok(())
}

/// Runs `dial skip` or `dial exclude`.
pub fn pass(args: &Pass, way: Passing, output: &Output) -> Result<(), Failure> {
    let decision = |item: &String| {
        Decision::Change(match way {
            Passing::Skip => Change::Skip { item: item.clone() },
            Passing::Exclude => Change::Exclude { item: item.clone() },
        })
    };
    let items = count(args.items.len(), "item", "items");
    let text = match way {
        Passing::Skip => format!("{items} skipped"),
        Passing::Exclude => format!("{items} excluded"),
    };
    let access = args.project.access_to_change(output)?;
    finish(
        access,
        (&args.project, &args.sender),
        args.items.iter().map(decision).collect(),
        text,
        output,
    )
}

/// Runs `dial class`.
pub fn class(args: &Class, output: &Output) -> Result<(), Failure> {
    let find = |access: &Access, name: &str| access.class(name);
    let access = args.project.access_to_change(output)?;
    let (decisions, text) = match &args.deed {
        Deed::Add { names } => {
            let add = names
                .iter()
                .map(|name| Decision::AddClass { name: name.clone() })
                .collect();
            (
                add,
                format!("{} added", count(names.len(), "class", "classes")),
            )
        }
        Deed::Rename { old, new } => {
            let change = Change::RenameClass {
                class: find(&access, old)?,
                name: new.clone(),
            };
            (
                vec![Decision::Change(change)],
                format!("{old} is now {new}"),
            )
        }
        Deed::Merge { from, into } => {
            let change = Change::MergeClass {
                from: find(&access, from)?,
                into: find(&access, into)?,
            };
            (
                vec![Decision::Change(change)],
                format!("The labels of {from} now count for {into}"),
            )
        }
    };
    finish(
        access,
        (&args.project, &args.sender),
        decisions,
        text,
        output,
    )
}

/// Sends decisions and says how they are taken back.
fn finish(
    mut access: Access,
    (project, sender): (&ProjectArgs, &Sender),
    decisions: Vec<Decision>,
    text: String,
    output: &Output,
) -> Result<(), Failure> {
    let receipt = access.send(sender.submission(decisions, false)?)?;
    let text = match receipt.known {
        true => format!("{text}, as before: nothing new is stored"),
        false => text,
    };
    output.result(
        &format!("{text}{}.\n", undo_line(&receipt, &project.typed())),
        &json!(receipt),
    );
    Ok(())
}
