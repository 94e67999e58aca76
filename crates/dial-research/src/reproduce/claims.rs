//! What a run says about the paper's claims (`sec:results-discussion`), in plain words.
//!
//! Methods are compared by the area under their accuracy curves, trial by trial (all methods of a trial begin with the
//! same labels), with 95 % confidence intervals of the mean difference; what lies within them is mixed. "Comparable" means
//! at most one point behind the best of the rivals, which is chosen after the fact: a hard test.

use super::lines::*;
use super::method_result::{MethodResult, OWN_CLASSIFIER_SUFFIX};
use super::pools::Dataset;
use super::{Finding, Verdict};
use dial_plot::stats::{Interval, interval};
use dial_plot::words::Listed;

/// How far behind still counts as comparable.
const COMPARABLE_GAP: f64 = 0.01;

/// The findings on one pool; claims about methods that were not run are left out.
pub fn on_pool(dataset: Dataset, standings: &[MethodResult]) -> Vec<Finding> {
    let mut findings = vec![comparable(standings)];
    match dataset {
        Dataset::MnistSmall | Dataset::FashionMnistSmall => {
            findings.push(Some(best_on_small(standings)));
            findings.push(spectral_sigma_beside_full(standings));
        }
        Dataset::Mnist | Dataset::FashionMnist => findings.push(spectral_sigma_on_large(standings)),
        Dataset::SalinasA | Dataset::Pavia => {}
    }
    if dataset == Dataset::FashionMnist {
        findings.push(proportional_best(standings));
    }
    findings.push(laplace_margin_poor(standings));
    if dataset == Dataset::MnistSmall {
        findings.push(land_weak(standings));
    }
    findings.push(land_in_its_own_classifier(standings));
    findings
        .into_iter()
        .flatten()
        .map(|finding| named(standings, finding))
        .collect()
}

/// Over all pools: the mean rank of every method that was run on each of them. Half a rank is within the noise.
pub fn overall(pools: &[Vec<MethodResult>]) -> Option<Finding> {
    if pools.len() < 2 {
        return None;
    }
    let everywhere = |name: &str| {
        pools
            .iter()
            .all(|pool| pool.iter().any(|standing| standing.method == name))
    };
    let candidates = pools[0]
        .iter()
        .map(|s| s.method.as_str())
        .filter(|name| !name.ends_with(OWN_CLASSIFIER_SUFFIX));
    let names: Vec<&str> = candidates.filter(|name| everywhere(name)).collect();
    let rank = |pool: &Vec<MethodResult>, name: &str| {
        let area = |name: &str| find(pool, name).map_or(f64::NAN, |s| s.area().mean);
        1 + names
            .iter()
            .filter(|other| area(other) > area(name))
            .count()
    };
    let mean_rank = |name: &str| {
        pools.iter().map(|pool| rank(pool, name)).sum::<usize>() as f64 / pools.len() as f64
    };
    let mut ranks: Vec<(f64, &str)> = names.iter().map(|&name| (mean_rank(name), name)).collect();
    ranks.sort_by(|a, b| a.0.total_cmp(&b.0));
    let list: Vec<String> = ranks
        .iter()
        .map(|(rank, name)| format!("{name} {rank:.1}"))
        .collect();
    let ours = ranks.iter().find(|(_, name)| *name == DIR_VAR_PROP)?.0;
    let best_other = ranks
        .iter()
        .filter(|(_, name)| *name != DIR_VAR_PROP)
        .map(|(rank, _)| *rank)
        .next()?;
    Some(Finding::new(
        "Proportional sampling by Dirichlet variance performs best over all experiments.",
        match ours - best_other {
            ahead if ahead < 0.0 => Verdict::Supported,
            behind if behind <= 0.5 => Verdict::Mixed,
            _ => Verdict::NotSupported,
        },
        format!(
            "Mean rank by area over {} pools, among the methods run on all of them: {}.",
            pools.len(),
            list.join(", ")
        ),
    ))
}

fn named(standings: &[MethodResult], finding: Finding) -> Finding {
    let pool = standings
        .first()
        .map_or("", |standing| standing.pool.as_str());
    Finding {
        claim: format!("{pool}: {}", finding.claim),
        ..finding
    }
}

fn find<'s>(standings: &'s [MethodResult], name: &str) -> Option<&'s MethodResult> {
    standings.iter().find(|standing| standing.method == name)
}

/// The best by area among some methods, as far as they were run.
fn best<'s>(standings: &'s [MethodResult], names: &[&str]) -> Option<&'s MethodResult> {
    let run = names.iter().filter_map(|name| find(standings, name));
    run.max_by(|a, b| a.area().mean.total_cmp(&b.area().mean))
}

/// A difference of areas in words.
fn points(difference: Interval) -> String {
    let half = 100.0 * difference.half_width;
    // What rounds to nothing has no sign.
    let mean = if difference.mean.abs() < 0.0005 {
        0.0
    } else {
        100.0 * difference.mean
    };
    if difference.count > 1 {
        format!("{mean:+.1} ± {half:.1} points")
    } else {
        format!("{mean:+.1} points")
    }
}

fn area(standing: &MethodResult) -> String {
    format!("{} {:.1} %", standing.method, 100.0 * standing.area().mean)
}

/// Whether a difference is surely below or above zero.
fn surely(difference: Interval) -> Option<bool> {
    (difference.mean.abs() > difference.half_width && difference.count > 1)
        .then_some(difference.mean > 0.0)
}

/// Supported where every difference surely has the sign that is claimed, not supported where every one has the other.
fn all_surely(ahead: bool, differences: &[Interval]) -> Verdict {
    let all = |sign: bool| differences.iter().all(|d| surely(*d) == Some(sign));
    match (all(ahead), all(!ahead)) {
        (true, _) => Verdict::Supported,
        (_, true) => Verdict::NotSupported,
        _ => Verdict::Mixed,
    }
}

/// A method with the difference of another to it.
fn beside(standing: &MethodResult, difference: Interval) -> String {
    format!("{} ({})", area(standing), points(difference))
}

fn comparable(standings: &[MethodResult]) -> Option<Finding> {
    let (small, spectral) = ([VOPT_FULL, SIGMA_FULL], [VOPT, SIGMA, MCVOPT]);
    let rivals = [&[LAND, LAND_AUTHORS][..], &small, &spectral].concat();
    let (rival, prop) = (best(standings, &rivals)?, find(standings, DIR_VAR_PROP)?);
    let dirichlet = best(standings, &[DIR_VAR_PROP, DIR_VAR, DIR_VAR_CALIBRATED])?;
    let (ours, bests) = (prop.ahead_of(rival), dirichlet.ahead_of(rival));
    let beyond = |difference: Interval| {
        surely(Interval {
            mean: difference.mean + COMPARABLE_GAP,
            ..difference
        })
    };
    let verdict = match (beyond(ours), beyond(bests)) {
        (Some(true), _) => Verdict::Supported,
        (Some(false), Some(false)) => Verdict::NotSupported,
        _ => Verdict::Mixed,
    };
    let mut evidence = format!("{}; the best rival is {}.", area(prop), beside(rival, ours));
    if dirichlet.method != prop.method {
        let best = beside(dirichlet, bests);
        evidence += &format!(" The best Dirichlet method here is {best}.");
    }
    Some(Finding::new(
        "Dirichlet variance is comparable to the state of the art (LAND, VOpt, ΣOpt, MCVOpt).",
        verdict,
        evidence,
    ))
}

fn best_on_small(standings: &[MethodResult]) -> Finding {
    let mut shown: Vec<&MethodResult> = standings
        .iter()
        .filter(|s| s.shown && !s.method.ends_with(OWN_CLASSIFIER_SUFFIX))
        .collect();
    shown.sort_by(|a, b| b.area().mean.total_cmp(&a.area().mean));
    let named = |s: &&&MethodResult| [MCVOPT, SIGMA_FULL].contains(&s.method.as_str());
    let rival = shown.iter().find(|s| !named(s));
    let ahead: Vec<Interval> = shown
        .iter()
        .filter(named)
        .filter_map(|s| Some(s.ahead_of(rival?)))
        .collect();
    let verdict = match ahead.len() {
        2 => all_surely(true, &ahead),
        _ => Verdict::Mixed,
    };
    Finding::new(
        "MCVOpt and full ΣOpt gain the most accuracy on the small sets.",
        verdict,
        format!("By area: {}.", shown.iter().map(|s| area(s)).joined(", ")),
    )
}

fn spectral_sigma_beside_full(standings: &[MethodResult]) -> Option<Finding> {
    let (spectral, full) = (find(standings, SIGMA)?, find(standings, SIGMA_FULL)?);
    let difference = spectral.ahead_of(full);
    Some(Finding::new(
        "ΣOpt loses by its spectral approximation.",
        all_surely(false, &[difference]),
        format!(
            "{} with 50 eigenpairs, {}: {} (the sums are over nodes; the authors' tool-chain sums over coordinates).",
            area(spectral),
            area(full),
            points(difference)
        ),
    ))
}

fn spectral_sigma_on_large(standings: &[MethodResult]) -> Option<Finding> {
    let sigma = find(standings, SIGMA)?;
    let rivals = [find(standings, VOPT)?, find(standings, MCVOPT)?];
    let differences = rivals.map(|rival| sigma.ahead_of(rival));
    let [vopt, model] = [0, 1].map(|i| beside(rivals[i], differences[i]));
    Some(Finding::new(
        "Spectral ΣOpt falls behind spectral VOpt and MCVOpt on the large sets.",
        all_surely(false, &differences),
        format!("{}; {vopt}; {model}.", area(sigma)),
    ))
}

fn proportional_best(standings: &[MethodResult]) -> Option<Finding> {
    let others: Vec<&str> = standings
        .iter()
        .map(|s| s.method.as_str())
        .filter(|name| *name != DIR_VAR_PROP)
        .collect();
    let (prop, rival) = (find(standings, DIR_VAR_PROP)?, best(standings, &others)?);
    let difference = prop.ahead_of(rival);
    Some(Finding::new(
        "Proportional Dirichlet variance is best of all methods.",
        all_surely(true, &[difference]),
        format!(
            "{}; the best of the others is {}.",
            area(prop),
            beside(rival, difference)
        ),
    ))
}

fn laplace_margin_poor(standings: &[MethodResult]) -> Option<Finding> {
    let (margin, random) = (find(standings, UNC_SM)?, find(standings, RANDOM)?);
    let difference = margin.ahead_of(random);
    Some(Finding::new(
        "Uncertainty sampling in Laplace learning is poor.",
        all_surely(false, &[difference]),
        format!(
            "{}; {}: {}.",
            area(margin),
            area(random),
            points(difference)
        ),
    ))
}

fn land_weak(standings: &[MethodResult]) -> Option<Finding> {
    let land = find(standings, LAND)?;
    let (prop, random) = (find(standings, DIR_VAR_PROP)?, find(standings, RANDOM)?);
    let (to_prop, to_random) = (land.ahead_of(prop), land.ahead_of(random));
    let verdict = match (surely(to_prop), surely(to_random)) {
        (Some(true), _) => Verdict::NotSupported,
        (Some(false), Some(false) | None) => Verdict::Supported,
        _ => Verdict::Mixed,
    };
    let (prop, random) = (beside(prop, to_prop), beside(random, to_random));
    let evidence = format!("{}; {prop}; {random}.", area(land));
    Some(Finding::new(
        "LAND's questions serve poorly.",
        verdict,
        evidence,
    ))
}

fn land_in_its_own_classifier(standings: &[MethodResult]) -> Option<Finding> {
    let land = find(standings, LAND)?;
    let own = find(standings, &format!("{LAND}{OWN_CLASSIFIER_SUFFIX}"))?;
    let difference = own.ahead_of(land);
    let end = |standing: &'_ MethodResult| standing.at.last().map_or(Vec::new(), |at| at.1.clone());
    let pairs = end(own).into_iter().zip(end(land));
    let at_end = interval(pairs.map(|(own, land)| own - land));
    Some(Finding::new(
        "LAND's questions do better in Dirichlet Learning than in LAND's own classifier.",
        all_surely(false, &[difference, at_end]),
        format!(
            "{}; {} ({}; after the last question {}). LAND's classifier is made for labels at its own modes, and begins \
             here with random ones like all others.",
            area(land),
            area(own),
            points(difference),
            points(at_end)
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A method whose trials have these areas.
    fn standing(method: &str, areas: [f64; 3]) -> MethodResult {
        MethodResult {
            pool: "pool".into(),
            method: method.into(),
            shown: true,
            areas: areas.to_vec(),
            at: Vec::new(),
            met: Vec::new(),
        }
    }

    fn verdict(standings: &[MethodResult], dataset: Dataset, piece: &str) -> Verdict {
        let findings = on_pool(dataset, standings);
        let found = findings
            .iter()
            .find(|finding| finding.claim.contains(piece));
        found
            .unwrap_or_else(|| panic!("no claim with {piece:?} among {findings:?}"))
            .verdict
    }

    #[test]
    fn comparable_means_at_most_a_point_behind() {
        let judged = |prop: f64, max: f64| {
            let all = [
                standing(DIR_VAR_PROP, [prop; 3]),
                standing(DIR_VAR, [max; 3]),
                standing(VOPT, [0.9; 3]),
            ];
            verdict(&all, Dataset::Pavia, "comparable")
        };
        assert_eq!(judged(0.895, 0.8), Verdict::Supported);
        assert_eq!(judged(0.88, 0.895), Verdict::Mixed);
        assert_eq!(judged(0.88, 0.88), Verdict::NotSupported);
        // Within the noise nothing is said: differences of -0.1, 0 and 0.1.
        let noisy = [
            standing(DIR_VAR_PROP, [0.8, 0.9, 1.0]),
            standing(VOPT, [0.9; 3]),
        ];
        assert_eq!(
            verdict(&noisy, Dataset::Pavia, "comparable"),
            Verdict::Mixed
        );
    }

    #[test]
    fn a_difference_within_the_noise_is_mixed() {
        // Differences -0.1, 0.1 and 0.03: mean 0.01, far within their interval. All -0.1: surely below.
        let random = standing(RANDOM, [0.5, 0.6, 0.7]);
        let judged = |areas| {
            verdict(
                &[standing(UNC_SM, areas), random.clone()],
                Dataset::Pavia,
                "Uncertainty sampling",
            )
        };
        assert_eq!(judged([0.4, 0.7, 0.73]), Verdict::Mixed);
        assert_eq!(judged([0.4, 0.5, 0.6]), Verdict::Supported);
        assert_eq!(judged([0.6, 0.7, 0.8]), Verdict::NotSupported);
    }

    #[test]
    fn the_named_two_of_the_small_sets_must_surely_lead() {
        let judged = |model: [f64; 3], sigma: [f64; 3]| {
            let all = [
                standing(MCVOPT, model),
                standing(SIGMA_FULL, sigma),
                standing(DIR_VAR_PROP, [0.8; 3]),
            ];
            verdict(&all, Dataset::MnistSmall, "gain the most")
        };
        assert_eq!(judged([0.9; 3], [0.85; 3]), Verdict::Supported);
        assert_eq!(judged([0.9; 3], [0.7; 3]), Verdict::Mixed);
        assert_eq!(
            judged([0.9; 3], [0.7, 0.8, 0.95]),
            Verdict::Mixed,
            "within the noise"
        );
        assert_eq!(judged([0.7; 3], [0.7; 3]), Verdict::NotSupported);
    }

    #[test]
    fn spectral_sigma_and_land() {
        let large = |sigma: f64| {
            [
                standing(SIGMA, [sigma; 3]),
                standing(VOPT, [0.9; 3]),
                standing(MCVOPT, [0.8; 3]),
            ]
        };
        let judged = |sigma| verdict(&large(sigma), Dataset::Mnist, "falls behind");
        assert_eq!(
            [0.7, 0.85, 0.95].map(judged),
            [Verdict::Supported, Verdict::Mixed, Verdict::NotSupported]
        );
        let land = |area: f64| {
            [
                standing(LAND, [area; 3]),
                standing(DIR_VAR_PROP, [0.9; 3]),
                standing(RANDOM, [0.7; 3]),
            ]
        };
        let judged = |area| verdict(&land(area), Dataset::MnistSmall, "serve poorly");
        assert_eq!(
            [0.6, 0.8, 0.95].map(judged),
            [Verdict::Supported, Verdict::Mixed, Verdict::NotSupported]
        );
        let own = |area: f64, end: f64| {
            let own = MethodResult {
                at: vec![(100, vec![end; 3])],
                ..standing(&format!("{LAND}{OWN_CLASSIFIER_SUFFIX}"), [area; 3])
            };
            let all = [
                MethodResult {
                    at: vec![(100, vec![0.8; 3])],
                    ..standing(LAND, [0.8; 3])
                },
                own,
            ];
            verdict(&all, Dataset::Pavia, "own classifier")
        };
        assert_eq!(own(0.7, 0.7), Verdict::Supported);
        assert_eq!(
            own(0.7, 0.9),
            Verdict::Mixed,
            "worse on the whole, better in the end"
        );
        assert_eq!(own(0.9, 0.9), Verdict::NotSupported);
    }

    #[test]
    fn ranks_over_pools() {
        let pool = |prop: f64, vopt: f64| {
            vec![standing(DIR_VAR_PROP, [prop; 3]), standing(VOPT, [vopt; 3])]
        };
        assert_eq!(
            overall(&[pool(0.9, 0.8)]),
            None,
            "one pool says nothing over all"
        );
        let first = overall(&[pool(0.9, 0.8), pool(0.9, 0.8)]).unwrap();
        assert_eq!(first.verdict, Verdict::Supported);
        assert!(
            first.evidence.contains("Dir. Var. (Prop) 1.0, VOpt 2.0"),
            "{}",
            first.evidence
        );
        assert_eq!(
            overall(&[pool(0.9, 0.8), pool(0.7, 0.8)]).unwrap().verdict,
            Verdict::Mixed
        );
        assert_eq!(
            overall(&[pool(0.7, 0.8), pool(0.7, 0.8)]).unwrap().verdict,
            Verdict::NotSupported
        );
    }

    #[test]
    fn claims_about_methods_that_were_not_run_are_left_out() {
        assert_eq!(on_pool(Dataset::Pavia, &[standing(RANDOM, [0.5; 3])]), []);
    }
}
