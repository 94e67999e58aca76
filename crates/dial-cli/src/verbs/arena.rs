//! `dial lab arena`: many pools, many methods, many seeds, and a league table of accuracy per label.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use dial_research::arena::contestants::{AUTO, Contestant, everybody};
use dial_research::arena::league::{LeagueRow, league};
use dial_research::arena::pools::{self, ArenaPool};
use dial_research::arena::results::PoolResult;
use dial_research::arena::tables::{claims, league_table, to_json};
use dial_research::arena::{ArenaOptions, page, play, publish, read};
use serde_json::json;

use crate::cli::args::positive;
use crate::plan::checks;
use crate::ui::failure::Failure;
use crate::ui::outcomes::{captioned, data_folder};
use crate::ui::output::{Output, table};

/// `dial lab arena`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dial lab arena --quick                                      small generated pools, no data needed
  dial lab arena --data DIR --seeds 5                         all pools, all methods
  dial lab arena --methods margin,variance:prior=1e-4:tau=0.1xdegree --pools optdigits
  dial lab arena --page docs/accuracy.md --out docs/accuracy  tables and figures from results that are there

A killed run goes on where it stopped when the same command is given again; methods and pools can be added later.")]
pub struct Arena {
    /// Pools to run on [default: all available ones that are not held out]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub pools: Vec<String>,
    /// Contestants: names of the list (--list), or METHOD:prior=P:tau=T:policy=NAME:judge=MODEL:batch=N [default: all of
    /// the list]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub methods: Vec<Contestant>,
    /// Number of seeds, from 0; raising it keeps existing results [default: 5, quick: 2]
    #[arg(long, value_name = "N", value_parser = seeds)]
    pub seeds: Option<usize>,
    /// Largest number of seeds for contestants that take long (solves for every class, full covariances) [default: as many]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub slow_seeds: Option<usize>,
    /// Questions of each run [default: 100, quick: 15]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub queries: Option<usize>,
    /// Questions per batch
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = positive)]
    pub batch: usize,
    /// Folder for cells, results, tables and figures [default: dial-arena, quick: dial-arena-quick]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Folder of the data [default: the environment variable DIAL_DATA; without it only generated pools]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Run on the held-out pools as well; they get a separate table
    #[arg(long)]
    pub held_out: bool,
    /// Small generated pools, in seconds
    #[arg(long)]
    pub quick: bool,
    /// Repeat runs that have results already
    #[arg(long)]
    pub fresh: bool,
    /// Run nothing: make tables and figures from the results in --out, and update this page between its marks
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// Print pools and contestants and do nothing
    #[arg(long)]
    pub list: bool,
}

fn seeds(text: &str) -> Result<usize, String> {
    let most = dial_research::arena::matches::MOST_SEEDS;
    positive(text).and_then(|n| {
        if n <= most {
            Ok(n)
        } else {
            Err(format!("use at most {most}"))
        }
    })
}

/// Runs the command.
pub fn run(args: &Arena, output: &Output) -> Result<(), Failure> {
    if args.list {
        list(output);
        return Ok(());
    }
    let settings = settings(args, output)?;
    checks::check_folder(&settings.folder, "--out")?;
    let start = Instant::now();
    if args.page.is_none() {
        play(&settings, &output.control())?;
    }
    let [tuned, aside] = read(&settings.results());
    if args.page.is_some() && tuned.is_empty() {
        let text = format!(
            "{} holds no results. Run the arena first, or choose another --out.",
            settings.folder.display()
        );
        return Err(Failure::input("I12", text));
    }
    let files = publish(&settings.folder)?;
    if let Some(file) = &args.page {
        page::write_page(file, &settings.folder, &tuned, &aside)?;
    }
    let shown = if args.held_out || args.page.is_some() {
        aside
    } else {
        Vec::new()
    };
    report(
        &settings.folder,
        [tuned, shown],
        &files,
        start.elapsed().as_secs_f64(),
        output,
    );
    Ok(())
}

fn settings(args: &Arena, output: &Output) -> Result<ArenaOptions, Failure> {
    let data = data_folder(args.data.as_ref()).filter(|_| !args.quick);
    let waiting: Vec<String> = everybody()
        .into_iter()
        .filter(|one| !one.ready())
        .map(|one| one.name)
        .collect();
    let contestants = match args.methods.as_slice() {
        [] => everybody().into_iter().filter(Contestant::ready).collect(),
        some => distinct(some),
    };
    if args.methods.is_empty() && args.page.is_none() && !waiting.is_empty() {
        output.note(&format!(
            "note: not in this version: {}.",
            waiting.join(", ")
        ));
    }
    let seeds = args.seeds.unwrap_or(if args.quick { 2 } else { 5 });
    Ok(ArenaOptions {
        pools: chosen(args, data.as_deref())?,
        contestants,
        seeds,
        slow_seeds: args.slow_seeds.unwrap_or(seeds),
        queries: args.queries.unwrap_or(if args.quick { 15 } else { 100 }),
        batch: args.batch,
        quick: args.quick,
        data,
        folder: args.out.clone().unwrap_or_else(|| match args.quick {
            true => "dial-arena-quick".into(),
            false => "dial-arena".into(),
        }),
        fresh: args.fresh,
    })
}

/// Removes contestants that were typed twice.
fn distinct(contestants: &[Contestant]) -> Vec<Contestant> {
    let mut kept: Vec<Contestant> = Vec::new();
    for one in contestants {
        if !kept.contains(one) {
            kept.push(one.clone());
        }
    }
    kept
}

/// The pools that were named, or all available ones.
fn chosen(args: &Arena, data: Option<&Path>) -> Result<Vec<ArenaPool>, Failure> {
    let all = pools::all();
    if let Some(unknown) = args
        .pools
        .iter()
        .find(|name| all.iter().all(|pool| pool.name != name.as_str()))
    {
        let names: Vec<&str> = all.iter().map(|pool| pool.name).collect();
        return Err(Failure::settings(format!(
            "--pools: there is no pool {unknown:?}. Choose from {}.",
            names.join(", ")
        )));
    }
    let wanted =
        |pool: &ArenaPool| args.pools.is_empty() || args.pools.iter().any(|name| name == pool.name);
    let can =
        |pool: &ArenaPool| !args.pools.is_empty() || data.is_some() || pool.source.generated();
    let aside = |pool: &ArenaPool| pool.held_out && !args.held_out;
    if let Some(pool) = all
        .iter()
        .find(|pool| !args.pools.is_empty() && wanted(pool) && aside(pool))
    {
        let text = format!(
            "{} is held out: nothing may be tuned on it. Add --held-out to play on it.",
            pool.name
        );
        return Err(Failure::settings(text));
    }
    Ok(all
        .into_iter()
        .filter(|pool| wanted(pool) && can(pool) && !aside(pool))
        .collect())
}

fn list(output: &Output) {
    let (pools, everybody) = (pools::all(), everybody());
    let header = "contestant method policy prior tau weights calibration judge";
    let mut rows = vec![header.split(' ').map(String::from).collect()];
    for one in &everybody {
        let later = if one.ready() { "" } else { " (not yet)" };
        rows.push(vec![
            one.name.clone(),
            format!("{}{later}", one.method),
            one.config.policy.to_string(),
            one.config.prior.to_string(),
            one.config.tau.to_string(),
            one.config.weights_word().into(),
            one.config.calibration.to_string(),
            one.judge.clone().unwrap_or_default(),
        ]);
    }
    let one = |pool: &ArenaPool| {
        format!(
            "{}{}",
            pool.name,
            if pool.held_out { " (held out)" } else { "" }
        )
    };
    let names: Vec<String> = pools.iter().map(one).collect();
    let text = format!("{}\npools: {}\n", table(&rows), names.join(", "));
    let contestants: Vec<_> = (everybody.iter())
        .map(|one| json!({ "name": one.name, "ready": one.ready(), "settings": one.settings(1) }))
        .collect();
    let pools: Vec<_> = pools
        .iter()
        .map(|pool| json!({ "name": pool.name, "held_out": pool.held_out }))
        .collect();
    output.result(
        &text,
        &json!({ "contestants": contestants, "pools": pools }),
    );
}

fn report(
    folder: &Path,
    [tuned, aside]: [Vec<PoolResult>; 2],
    files: &[PathBuf],
    seconds: f64,
    output: &Output,
) {
    let mut text = String::new();
    let tables: [Vec<LeagueRow>; 2] = [league(&tuned), league(&aside)];
    for (name, results, standings) in [
        ("Tuning pools", &tuned, &tables[0]),
        ("Held-out pools", &aside, &tables[1]),
    ] {
        if results.is_empty() {
            continue;
        }
        let caption = format!("{name}: {}", results.len());
        let queries = page::queries(results);
        let league = league_table(&caption, standings, queries);
        for table in [Some(league), claims(results, standings, AUTO, queries)] {
            text += &table.map_or(String::new(), |table| captioned(&table) + "\n");
        }
    }
    text += &format!(
        "Done in {seconds:.0} s. Open  {}\n",
        folder.join("league.md").display()
    );
    let json = json!({
        "pools": tuned.iter().chain(&aside).map(|pool| &pool.name).collect::<Vec<_>>(),
        "league": to_json(&tables[0]),
        "held_out": to_json(&tables[1]),
        "files": files,
        "seconds": seconds,
    });
    output.result(&text, &json);
}
