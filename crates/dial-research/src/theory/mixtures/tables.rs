//! Everything that is drawn, as tables.

use dial_data::row;
use dial_data::write::Cell;

use super::Found;
use super::gap::{Coupling, lower, upper};
use super::separator::{Choice, Separator, Version, big_lambda, big_xi};
use crate::output::Tidy;
use dial_plot::words::Listed;

fn promise(c: &Choice, s: &Separator) -> Vec<Cell> {
    row![c.a, c.b, c.sigma, c.t, s.delta, s.zeta, s.epsilon]
}

pub(super) fn tables(found: &Found) -> Vec<Tidy> {
    let sweep = found.sweep.iter().map(|case| {
        let p = &case.p;
        row![
            case.distance,
            p.overlap,
            p.coupling,
            p.coupling_printed,
            p.indivisibility,
            case.gap[0],
            case.gap[1],
            case.square,
            upper(p, Coupling::Squared),
            upper(p, Coupling::Printed),
            lower(p, Coupling::Squared),
            big_lambda(p, Version::Corrected),
            big_lambda(p, Version::Printed),
            big_xi(p, Version::Corrected),
            big_xi(p, Version::Printed),
        ]
    });
    let family = found.family.iter().map(|m| {
        let mut row = row![
            m.distance,
            m.kappa(),
            m.gap.below,
            m.gap.above,
            m.ultra.factor,
            m.ultra.least,
            m.embedding,
        ];
        match &m.best {
            Some((choice, s, (zeta, epsilon))) => {
                row.extend(promise(choice, s));
                row.extend([*zeta, *epsilon].map(Cell::Number));
            }
            None => row.extend(vec![Cell::Empty; 9]),
        }
        let of = |s: Separator| [s.delta, s.zeta, s.epsilon].map(Cell::Number);
        row.extend(m.printed().map_or([const { Cell::Empty }; 3], of));
        row
    });
    let corollary = found.corollary.iter().map(|s| {
        let mut row = row![s.kappa];
        match &s.best {
            Some((choice, s)) => row.extend(promise(choice, s)),
            None => row.extend(vec![Cell::Empty; 7]),
        }
        row.extend(s.remainders.map(Cell::Number));
        row.push(s.failing.iter().joined(", ").into());
        row
    });
    let tails = found.tails.iter().map(|(reach, peak)| row![*reach, *peak]);
    vec![
        Tidy::new(
            "mixtures-gap",
            "distance,overlap,coupling,coupling_printed,indivisibility,lambda_2,lambda_3,lambda_3_square,\
             upper,upper_printed,lower,big_lambda,big_lambda_printed,big_xi,big_xi_printed",
            sweep,
        ),
        Tidy::new(
            "mixtures-gaussians",
            "distance,kappa,lambda_2,lambda_3,norm_factor,norm_time,embedding_error,a,b,sigma,t,\
             delta,zeta,epsilon,zeta_true,epsilon_true,delta_printed,zeta_printed,epsilon_printed",
            family,
        ),
        Tidy::new(
            "mixtures-corollary",
            "kappa,a,b,sigma,t,delta,zeta,epsilon,xi_statement,xi_proof,failing",
            corollary,
        ),
        Tidy::new("mixtures-norms", "reach,sup_k_1", tails),
    ]
}
