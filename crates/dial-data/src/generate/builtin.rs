//! The pools that need no file: `builtin:NAME`, or `builtin:NAME:N` for N items.

use dial::Control;

use crate::error::Fault;
use crate::generate::{self, digits, scene, texts};
use crate::pool::Pool;

/// The most items a built-in pool may have.
const MAX_ITEMS: usize = 1_000_000;

/// A built-in pool: its name, what it is, how many items it has by default, and how many features.
const BUILTIN_POOLS: [(&str, &str, usize, usize); 7] = [
    (
        "moons",
        "two interleaved half circles in the plane, 2 classes",
        1500,
        2,
    ),
    (
        "blobs",
        "eight Gaussian clusters in the plane, 2 classes",
        2400,
        2,
    ),
    (
        "mixture-1d",
        "four Gaussian clusters on a line, large, small, small, large, 2 classes",
        1000,
        1,
    ),
    (
        "circles",
        "two concentric circles in the plane, 2 classes",
        1500,
        2,
    ),
    (
        "scene",
        "a synthetic hyperspectral scene of 64 x 64 pixels and 60 bands, 6 crops",
        64 * 64,
        60,
    ),
    (
        "digits",
        "drawn digits, grey pictures of 28 x 28 pixels, 10 classes",
        2000,
        784,
    ),
    (
        "texts",
        "one to three sentences about 6 topics, with typing errors",
        1800,
        100,
    ),
];

/// The names of the built-in pools, each with a line on what it is.
pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    BUILTIN_POOLS.iter().map(|(name, text, ..)| (*name, *text))
}

pub(crate) fn list() -> String {
    names().map(|(name, _)| name).collect::<Vec<_>>().join(", ")
}

/// Makes the pool `NAME` or `NAME:N`.
pub(crate) fn make(text: &str, seed: u64, control: &Control) -> Result<Pool, Fault> {
    let (name, n, _) = parse(text)?;
    Ok(match name {
        "moons" => generate::moons(n, 0.15, seed),
        "blobs" => generate::blobs(n, seed),
        "mixture-1d" => generate::mixture_1d(n, seed),
        "circles" => generate::circles(n, 0.08, seed),
        "scene" => scene::scene(side(n)?, seed),
        "texts" => texts::texts(n, seed, control)?,
        _ => digits::digits(n, seed),
    })
}

/// How many items and features the pool `builtin:NAME` or `builtin:NAME:N` has, before it is made. `None` if there is no
/// such pool.
///
/// ```
/// assert_eq!(dial_data::generate::builtin::size("builtin:moons:100"), Some((100, 2)));
/// ```
pub fn size(pool: &str) -> Option<(usize, usize)> {
    let (_, n, dim) = parse(pool.strip_prefix("builtin:")?).ok()?;
    Some((n, dim))
}

/// Name, items and features of `NAME` or `NAME:N`.
fn parse(text: &str) -> Result<(&str, usize, usize), Fault> {
    let (name, size) = text
        .split_once(':')
        .map_or((text, None), |(name, size)| (name, Some(size)));
    let Some((_, _, default, dim)) = BUILTIN_POOLS.iter().find(|(known, ..)| *known == name) else {
        let what = format!("there is no built-in pool {name:?}");
        return Err(Fault::format(what, format!("Use one of {}.", list())));
    };
    let wrong = |size: &str| {
        Fault::Setting(format!(
            "{size:?} is not a number of items from 10 to {MAX_ITEMS}."
        ))
    };
    let n = match size {
        Some(size) => size
            .parse()
            .ok()
            .filter(|n| (10..=MAX_ITEMS).contains(n))
            .ok_or_else(|| wrong(size))?,
        None => *default,
    };
    Ok((name, n, *dim))
}

fn side(n: usize) -> Result<usize, Fault> {
    let side = n.isqrt();
    match side * side == n {
        true => Ok(side),
        false => Err(Fault::Setting(format!(
            "the scene is a square: {n} is not a square number of pixels."
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(text: &str, seed: u64) -> Result<Pool, Fault> {
        super::make(text, seed, &Control::new())
    }

    #[test]
    fn every_pool_has_its_default_size_and_truth() {
        for (name, _, n, dim) in BUILTIN_POOLS {
            let pool = make(name, 1).unwrap();
            assert_eq!(
                (pool.name.as_str(), pool.matrix.n, pool.matrix.dim),
                (name, n, dim)
            );
            assert_eq!(size(&format!("builtin:{name}")), Some((n, dim)));
            assert_eq!(pool.truth.map(|truth| truth.labels.len()), Some(n));
            assert_eq!(pool.matrix.values.len(), n * pool.matrix.dim);
            assert_eq!(pool.matrix.nonfinite_rows(), [0usize; 0]);
        }
    }

    #[test]
    fn sizes_and_names_are_checked() {
        assert_eq!(make("moons:50", 1).unwrap().matrix.n, 50);
        for text in [
            "moons:",
            "moons:9",
            "moons:-1",
            "moons:1e3",
            "moons:99999999",
            "scene:50",
        ] {
            assert!(matches!(make(text, 1), Err(Fault::Setting(_))), "{text}");
        }
        assert!(
            matches!(make("moon", 1), Err(Fault::Format { next, .. }) if next.contains("mixture-1d"))
        );
    }

    #[test]
    fn the_seed_is_the_only_source_of_chance() {
        for (name, ..) in BUILTIN_POOLS {
            let text = format!("{name}:100");
            assert_eq!(make(&text, 7).unwrap(), make(&text, 7).unwrap());
            assert_ne!(
                make(&text, 7).unwrap().matrix,
                make(&text, 8).unwrap().matrix
            );
        }
    }
}
