//! Estimates the memory that a command will need, before it starts, and refuses what will not fit (N18).
//!
//! ```text
//! reading     file + features                                       features: n d words
//! searching   features + lists 12 n k + copy 4 n (d + 1)
//! building    features + lists + graph      in f64: edges 48 n k, result 12 m + 24 n
//!                                           compact: 16 m + 64 n, of which 8 m + 36 n stay
//! labelling   features + lists + graph + solver: a copy 12 m + 28 n (not if certified), columns and vectors of 8 n
//! ```
//!
//! m, the number of entries, is not known before: 1.4 n k is usual (k = 20). The largest stage counts.

use std::fs;
use std::path::Path;

use dial_data::generate::builtin;
use dial_data::{Buffer, Kind, Pool, RowFile};

use crate::cli::args::{GraphArgs, Size};
use crate::ui::failure::Failure;
use crate::ui::output::Output;

/// Memory is not checked for pools of fewer items, and for needs of fewer bytes.
const LARGE_POOL: usize = 200_000;
const LARGE_NEED: f64 = GIB;
const GIB: f64 = (1u64 << 30) as f64;

/// What a command is going to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Build a graph in f64.
    Build,
    /// Build a compact graph and save it.
    Save,
    /// Build a compact graph of rows read by position, holding this many bytes of rows at a time.
    SaveRows(usize),
    /// Build a graph and label, holding this many columns at a time.
    Label(usize),
    /// Label with a graph from a file, in f64.
    LabelSaved(usize),
    /// Label with a graph from a file as it is, in certified precision.
    Certify(usize),
}

/// The size of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    n: usize,
    dim: usize,
    word: usize,
    k: usize,
}

impl Shape {
    /// Of a pool that was read.
    pub fn of(pool: &Pool, k: usize) -> Shape {
        let word = if matches!(pool.matrix.values, Buffer::F32(_)) {
            4
        } else {
            8
        };
        Shape {
            n: pool.matrix.n,
            dim: pool.matrix.dim,
            word,
            k,
        }
    }
}

/// The parts of what is held at one time, in bytes.
type Stage = Vec<(&'static str, f64)>;

/// What is held, stage by stage.
pub fn stages(shape: Shape, work: Work) -> Vec<Stage> {
    // A k beyond the pool is refused for another reason.
    let k = shape.k.min(shape.n);
    let [n, dim, word, k] = [shape.n, shape.dim, shape.word, k].map(|size| size as f64);
    let (features, lists, entries) = (
        ("features", n * dim * word),
        ("neighbours", 12.0 * n * k),
        1.4 * n * k,
    );
    let reading = vec![("file", n * dim * word), features];
    let searching = vec![
        features,
        lists,
        ("search", 4.0 * n * (dim + 1.0) + 16.0 * n),
    ];
    let wide = ("graph", 12.0 * entries + 24.0 * n);
    let joining = vec![features, lists, ("graph", 48.0 * n * k + wide.1)];
    let solver = |columns: usize| {
        (
            "solver",
            12.0 * entries + 28.0 * n + 8.0 * n * (columns as f64 + 24.0),
        )
    };
    match work {
        Work::Build => vec![reading, searching, joining],
        Work::Save => vec![
            reading,
            searching,
            vec![features, lists, ("graph", 16.0 * entries + 64.0 * n)],
        ],
        Work::SaveRows(held) => vec![
            vec![("features", held as f64), lists, ("search", 48.0 * n)],
            vec![lists, ("graph", 16.0 * entries + 64.0 * n)],
        ],
        Work::Label(columns) => vec![
            reading,
            searching,
            joining,
            vec![features, lists, wide, solver(columns)],
        ],
        Work::LabelSaved(columns) => {
            let widening = ("graph", (8.0 + 16.0 + 12.0) * entries + 60.0 * n);
            vec![
                reading,
                vec![features, widening],
                vec![features, wide, solver(columns)],
            ]
        }
        Work::Certify(columns) => {
            let compact = ("graph", 8.0 * entries + 36.0 * n);
            vec![
                reading,
                vec![
                    features,
                    compact,
                    ("solver", 8.0 * n * (columns as f64 + 24.0)),
                ],
            ]
        }
    }
}

/// The largest stage.
pub fn peak(shape: Shape, work: Work) -> Stage {
    let largest = |a: &Stage, b: &Stage| total(a).total_cmp(&total(b));
    stages(shape, work)
        .into_iter()
        .max_by(largest)
        .unwrap_or_default()
}

/// The bytes of a stage.
pub fn total(stage: &Stage) -> f64 {
    stage.iter().map(|(_, bytes)| bytes).sum()
}

/// Reports what a pool will need before it is read or made, where its name or its header tells; returns whether the report
/// is complete. Where only a lower bound is known (`kind` makes other rows of a file), only that is checked.
pub fn before_reading(
    pool: &str,
    kind: Option<Kind>,
    args: &GraphArgs,
    work: Work,
    output: &Output,
) -> Result<bool, Failure> {
    let quiet = Output {
        quiet: true,
        ..*output
    };
    if let Some((n, dim)) = builtin::size(pool) {
        check(
            Shape {
                n,
                dim,
                word: 4,
                k: args.neighbours(n),
            },
            args.memory_limit,
            work,
            &quiet,
        )?;
        return Ok(false);
    }
    // A fault of the file is reported by its reader.
    let Some(file) = Some(pool)
        .filter(|pool| pool.ends_with(".npy"))
        .and_then(|pool| RowFile::open(pool).ok())
    else {
        return Ok(false);
    };
    let word = if file.is_wide() { 8 } else { 4 };
    let shape = Shape {
        n: file.n,
        dim: file.dim,
        word,
        k: args.neighbours(file.n),
    };
    check(
        shape,
        args.memory_limit,
        work,
        if kind.is_none() { output } else { &quiet },
    )?;
    Ok(kind.is_none())
}

/// The bytes of rows that may be held while their graph is built: what is left beside everything else.
pub fn for_rows(
    file: &RowFile,
    k: usize,
    limit: Option<Size>,
    output: &Output,
) -> Result<usize, Failure> {
    let shape = Shape {
        n: file.n,
        dim: file.dim,
        word: 4,
        k,
    };
    let (n, lists) = (file.n as f64, 12.0 * file.n as f64 * k as f64);
    let beside = lists + 48.0 * n;
    let room = limit
        .map_or_else(available, |Size(bytes)| Some(bytes as f64))
        .map_or(f64::MAX, |all| 0.9 * all - beside);
    let least = (4096 * 4 * file.dim) as f64;
    check(
        shape,
        limit,
        Work::SaveRows(room.max(least).min(n * file.dim as f64 * 4.0) as usize),
        output,
    )?;
    Ok(room.max(least) as usize)
}

/// Reports what a pool will need, if it is large, and refuses it if that will not fit.
pub fn check(
    shape: Shape,
    limit: Option<Size>,
    work: Work,
    output: &Output,
) -> Result<(), Failure> {
    let stage = peak(shape, work);
    let need = total(&stage);
    let available = limit.map_or_else(available, |Size(bytes)| Some(bytes as f64));
    let parts: Vec<String> = stage
        .iter()
        .map(|(name, bytes)| format!("{name} {}", short(bytes / GIB)))
        .collect();
    let needs = format!(
        "needs about {} GiB ({})",
        short(need / GIB),
        parts.join(", ")
    );
    let whose = if limit.is_some() {
        "allowed by --memory-limit"
    } else {
        "available"
    };
    let has = available.map_or(String::new(), |bytes| {
        format!(", {} GiB {whose}", short(bytes / GIB))
    });
    if available.is_some_and(|bytes| need > bytes) {
        let next = match shape.k {
            0 | 1 => "Use fewer items or columns".to_string(),
            k => format!("Use --k {}, fewer items or fewer columns", k / 2),
        };
        return Err(Failure::resource(format!(
            "{needs}{has}. {next}, or --memory-limit to override."
        )));
    }
    if shape.n > LARGE_POOL || need > LARGE_NEED {
        output.note(&format!("note: {needs}{has}."));
    }
    Ok(())
}

/// `38`, `3.2`, `0.01`: two digits.
fn short(number: f64) -> String {
    match number {
        0.095..0.995 => format!("{number:.1}"),
        ..0.095 => format!("{number:.3}"),
        ..9.95 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

/// The bytes that this process may still take, as far as the system tells.
fn available() -> Option<f64> {
    let machine = fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| field(&text, "MemAvailable:"));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = groups.lines().filter_map(left_in_group);
    machine
        .map(|kibibytes| kibibytes * 1024.0)
        .into_iter()
        .chain(limits)
        .min_by(f64::total_cmp)
}

/// The number after a word, in lines of words and numbers.
fn field(text: &str, word: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(word))?;
    line.split_whitespace().next()?.parse().ok()
}

/// What the limits of a control group and of those above it leave, given its line in /proc/self/cgroup. Pages of files
/// count as free: they can be dropped.
fn left_in_group(line: &str) -> Option<f64> {
    let mut parts = line.splitn(3, ':');
    let (_, controllers, group) = (parts.next()?, parts.next()?, parts.next()?);
    let (root, limit, used, files) = match controllers {
        "" => (
            "/sys/fs/cgroup",
            "memory.max",
            "memory.current",
            "inactive_file ",
        ),
        "memory" => (
            "/sys/fs/cgroup/memory",
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            "total_inactive_file ",
        ),
        _ => return None,
    };
    let number = |folder: &Path, file: &str| {
        fs::read_to_string(folder.join(file))
            .ok()?
            .trim()
            .parse::<f64>()
            .ok()
    };
    let left = |folder: &Path| {
        let statistics = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
        let held = number(folder, used)? - field(&statistics, files).unwrap_or(0.0);
        Some((number(folder, limit)? - held).max(0.0))
    };
    let start = Path::new(root).join(group.trim_start_matches('/'));
    let folders = start
        .ancestors()
        .take_while(|folder| folder.starts_with(root));
    folders.filter_map(left).min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_million_items_by_hand() {
        // 1e7 x 32 in f32: features 1.28e9, lists of 20 2.4e9, entries 2.8e8: compact 16 x 2.8e8 + 64e7 = 5.12e9.
        let shape = Shape {
            n: 10_000_000,
            dim: 32,
            word: 4,
            k: 20,
        };
        assert_eq!(total(&peak(shape, Work::Save)), 1.28e9 + 2.4e9 + 5.12e9);
        // In f64: edges 9.6e9, result 3.36e9 + 2.4e8.
        let build = total(&peak(shape, Work::Build));
        assert!((build / (1.28e9 + 2.4e9 + 9.6e9 + 3.36e9 + 0.24e9) - 1.0).abs() < 1e-12);
        assert!(total(&peak(shape, Work::Label(256))) > build);
    }

    #[test]
    fn numbers_in_two_digits() {
        assert_eq!(
            [38.4, 3.21, 0.51, 0.0104, 0.0].map(short),
            ["38", "3.2", "0.5", "0.010", "0.000"]
        );
    }

    #[test]
    fn fields_of_system_files() {
        assert_eq!(
            field("MemTotal: 5 kB\nMemAvailable:   123 kB\n", "MemAvailable:"),
            Some(123.0)
        );
        assert_eq!(field("MemTotal: 5 kB\n", "MemAvailable:"), None);
        assert!(left_in_group("3:cpu:/").is_none() && left_in_group("nonsense").is_none());
    }
}
