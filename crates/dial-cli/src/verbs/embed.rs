//! `dial embed`: the features that a model makes of texts or pictures, written to a file for other programs and later runs.

use std::path::PathBuf;

use clap::Args;
use dial_data::write::{Saved, SavedData, write_npz};
use dial_data::{BUILTIN_SEED, Buffer, Show};
use serde_json::json;

use crate::cli::pool_args::PoolArgs;
use crate::plan::checks;
use crate::ui::failure::Failure;
use crate::ui::output::{Output, count};

/// `dial embed`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  dial embed news.csv --embed models/words --out news.npz
  dial label news.csv --features news.npz")]
pub struct EmbedArgs {
    #[command(flatten)]
    pub pool: PoolArgs,
    /// Where to write the features (npz: X, and the ids where there are any)
    #[arg(long, value_name = "FILE.npz")]
    pub out: PathBuf,
}

/// Runs the command.
pub fn run(args: &EmbedArgs, output: &Output) -> Result<(), Failure> {
    let Some(embed) = &args.pool.how.embed else {
        let next = "Name a model: dial embed POOL --embed MODEL --out features.npz.";
        return Err(Failure::settings(format!("--embed is missing. {next}")));
    };
    if args.out.extension().is_none_or(|ending| ending != "npz") {
        let text = format!("--out {}: features are written as npz.", args.out.display());
        return Err(Failure::settings(format!(
            "{text} Use a name that ends in .npz."
        )));
    }
    checks::check(&[&args.out], &args.pool.pool, &args.pool.inputs(None))?;
    let pool = dial_data::open(
        &args.pool.pool,
        &args.pool.options(),
        BUILTIN_SEED,
        &output.control(),
    )?;
    for note in &pool.notes {
        output.note(&format!("note: {note}"));
    }
    let data = match &pool.matrix.values {
        Buffer::F32(values) => SavedData::F32(values),
        Buffer::F64(values) => SavedData::F64(values),
    };
    let mut arrays = vec![("X", Saved::matrix(data, pool.matrix.dim))];
    if let Some(ids) = &pool.ids {
        arrays.push(("ids", Saved::vector(SavedData::Text(ids))));
    }
    write_npz(&args.out, &arrays)?;
    let file = args.out.display().to_string();
    // What stands beside the embeddings is for texts.
    let by = match pool.show {
        Show::Texts(_) => embed.to_string(),
        _ => embed.model.display().to_string(),
    };
    let text = format!(
        "{}: {} of {} columns by {by}\nwrote {file}; use it with --features {file}\n",
        pool.name,
        count(pool.matrix.n, "row", "rows"),
        pool.matrix.dim,
    );
    let json = json!({
        "pool": pool.name,
        "items": pool.matrix.n,
        "dimensions": pool.matrix.dim,
        "model": embed.model,
        "fingerprint": pool.model,
        "file": file,
    });
    output.result(&text, &json);
    Ok(())
}
