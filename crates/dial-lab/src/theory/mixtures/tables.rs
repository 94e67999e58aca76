//! Everything that is drawn, as tables.

use dial_data::write::Cell;

use super::Found;
use super::gap::{Coupling, lower, upper};
use super::separator::{Separator, Version, big_lambda, big_xi};
use super::telling::listed;
use crate::written::Tidy;

pub(super) fn tables(found: &Found) -> Vec<Tidy> {
    let cell = |value: Option<f64>| value.map_or(Cell::Empty, Cell::Number);
    let sweep = found.sweep.iter().map(|case| {
        let p = &case.p;
        let plain = [
            case.distance,
            p.overlap,
            p.coupling,
            p.coupling_printed,
            p.indivisibility,
            case.gap[0],
            case.gap[1],
            case.square,
        ];
        let mut row = plain.map(Cell::Number).to_vec();
        row.extend([
            cell(upper(p, Coupling::Squared)),
            cell(upper(p, Coupling::Printed)),
            cell(lower(p, Coupling::Squared)),
            cell(big_lambda(p, Version::Corrected)),
            cell(big_lambda(p, Version::Printed)),
            cell(big_xi(p, Version::Corrected)),
            cell(big_xi(p, Version::Printed)),
        ]);
        row
    });
    let family = found.family.iter().map(|m| {
        let mut row = [
            m.distance,
            m.kappa(),
            m.gap.below,
            m.gap.above,
            m.ultra.factor,
            m.ultra.least,
            m.embedding,
        ]
        .map(Cell::Number)
        .to_vec();
        match &m.best {
            Some((c, s, (zeta, epsilon))) => {
                row.extend(
                    [
                        c.a, c.b, c.sigma, c.t, s.delta, s.zeta, s.epsilon, *zeta, *epsilon,
                    ]
                    .map(Cell::Number),
                );
            }
            None => row.extend((0..9).map(|_| Cell::Empty)),
        }
        let of = |s: Separator| [s.delta, s.zeta, s.epsilon].map(Some);
        row.extend(m.printed().map_or([None; 3], of).map(cell));
        row
    });
    let corollary = found.corollary.iter().map(|s| {
        let mut row = vec![Cell::Number(s.kappa)];
        match &s.best {
            Some((c, s)) => {
                row.extend([c.a, c.b, c.sigma, c.t, s.delta, s.zeta, s.epsilon].map(Cell::Number))
            }
            None => row.extend((0..7).map(|_| Cell::Empty)),
        }
        row.extend(s.remainders.map(Cell::Number));
        row.push(Cell::Text(listed(s.failing.iter().map(|c| c.to_string()))));
        row
    });
    let tails = found
        .tails
        .iter()
        .map(|(reach, peak)| [*reach, *peak].map(Cell::Number).to_vec());
    let tidy = |stem: &str, header: &[&'static str], rows| Tidy {
        stem: stem.into(),
        header: header.to_vec(),
        rows,
    };
    vec![
        tidy(
            "mixtures-gap",
            &[
                "distance",
                "overlap",
                "coupling",
                "coupling_printed",
                "indivisibility",
                "lambda_2",
                "lambda_3",
                "lambda_3_square",
                "upper",
                "upper_printed",
                "lower",
                "big_lambda",
                "big_lambda_printed",
                "big_xi",
                "big_xi_printed",
            ],
            sweep.collect(),
        ),
        tidy(
            "mixtures-gaussians",
            &[
                "distance",
                "kappa",
                "lambda_2",
                "lambda_3",
                "norm_factor",
                "norm_time",
                "embedding_error",
                "a",
                "b",
                "sigma",
                "t",
                "delta",
                "zeta",
                "epsilon",
                "zeta_true",
                "epsilon_true",
                "delta_printed",
                "zeta_printed",
                "epsilon_printed",
            ],
            family.collect(),
        ),
        tidy(
            "mixtures-corollary",
            &[
                "kappa",
                "a",
                "b",
                "sigma",
                "t",
                "delta",
                "zeta",
                "epsilon",
                "xi_statement",
                "xi_proof",
                "failing",
            ],
            corollary.collect(),
        ),
        tidy("mixtures-norms", &["reach", "sup_k_1"], tails.collect()),
    ]
}
