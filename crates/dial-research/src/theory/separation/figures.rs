//! The figures: ζ and ε against δ, where the sets lie, and the trade-off at one δ.

use super::{Compact, DELTA_SHOWN, SPREADS, Separator, Studied};
use crate::theory::Drawn;
use dial_plot::chart::{Colour, MarkerKind, Stroke};
use dial_plot::colours::{BLUE, GREEN, ORANGE, RED};
use dial_plot::plot::{
    Colouring, Grid, LineChart, LineStyle, Overlay, OverlayKind, Panel, Scatter, Series,
};

pub(super) fn figures(studied: &[Studied], compact: &Compact) -> Vec<Drawn> {
    vec![
        curves(studied),
        sets(studied, compact),
        fronts(studied),
        others(studied),
    ]
}

/// ζ and ε of one kernel on one pool against δ, each with its limit.
fn panel(title: String, one: &Studied) -> LineChart {
    let curve = |name: &str, of: &dyn Fn(usize) -> f64, look: LineStyle| {
        Series::curve(name, &one.deltas, (0..one.deltas.len()).map(of), look)
    };
    let thin = |colour: Colour| colour.dotted().wide(1.3);
    LineChart::new(
        title,
        ["δ allowed", "kernel value"],
        vec![
            curve("ζ reached", &|i| one.found[i].zeta, BLUE.line()),
            curve("ε reached", &|i| one.found[i].epsilon, RED.dashed()),
            curve("no ζ lies above", &|i| one.limits[i].zeta, thin(BLUE)),
            curve("no ε lies below", &|i| one.limits[i].epsilon, thin(RED)),
        ],
    )
    .x_range((0.0, 0.3))
    .y_range((0.0, 1.0))
}

fn of<'a>(studied: &'a [Studied], name: &'a str) -> impl Iterator<Item = &'a Studied> {
    studied.iter().filter(move |one| one.sample.name == name)
}

fn curves(studied: &[Studied]) -> Drawn {
    let shown = ["apart", "touching"]
        .iter()
        .flat_map(|name| of(studied, name));
    let panels = shown.map(|one| panel(format!("{}: {}", one.sample.name, one.spread.name()), one));
    let grid = Grid::new(
        "How well a kernel separates three Gaussians",
        SPREADS.len(),
        panels,
    );
    Drawn::new(
        "separation-curves",
        "Class separators (def:class-separator) of three Gaussians of deviation 1 at the corners of a triangle \
         of side 8 (above) and 4 (below). Solid and dashed: ζ and ε of the sets found with the largest ζ - ε \
         that leave out at most the share δ of each cluster, measured on all pairs. Dotted: no choice of sets \
         has a larger ζ, or a smaller ε. Separation by one threshold is where ζ lies above ε.",
        grid.sized(205.0, 165.0),
    )
}

/// The items of a pool, those outside of the sets in grey.
fn scatter(
    title: String,
    one: &super::Sample,
    kept: &[bool],
    y_range: Option<(f64, f64)>,
) -> Panel {
    let points = one.points();
    let (inside, outside): (Vec<usize>, Vec<usize>) = (0..one.n()).partition(|i| kept[*i]);
    let colouring = Colouring::Classes {
        of: inside.iter().map(|i| one.clusters[*i]).collect(),
        names: ["X₁", "X₂", "X₃"].map(String::from).to_vec(),
    };
    let points = inside.iter().chain(&outside).map(|i| points[*i]).collect();
    Panel::Scatter(Scatter {
        title,
        points,
        colouring,
        y_range,
        radius: 2.6,
        ..Scatter::default()
    })
}

fn sets(studied: &[Studied], compact: &Compact) -> Drawn {
    let one = |name: &'static str, spread: super::Spread| {
        let one = of(studied, name).find(|one| one.spread == spread)?;
        let (found, _) = one.shown();
        let Separator { zeta, epsilon, .. } = found;
        let title = format!("{name}, {}: ζ = {zeta:.2}, ε = {epsilon:.2}", spread.name());
        Some(scatter(title, &one.sample, &found.kept, None))
    };
    let mut panels: Vec<Panel> = Vec::new();
    for name in ["apart", "touching"] {
        panels.extend(
            [one(name, SPREADS[2]), one(name, SPREADS[3])]
                .into_iter()
                .flatten(),
        );
    }
    let Separator { kept, zeta, .. } = &compact.attained;
    panels.push(scatter(
        format!("discs, compact, R = 1: δ = 0, ζ = {zeta:.2}, ε = 0"),
        &compact.sample,
        kept,
        Some((-0.65, 0.65)),
    ));
    Drawn::new(
        "separation-sets",
        format!(
            "Where the sets lie that leave out at most a share of {DELTA_SHOWN} of each cluster; what they leave out is grey. \
             (a, b) Clusters apart, (c, d) touching: what lies between two clusters goes first; the radial kernel must \
             also do without what is far from the middle of its own cluster. (e) A kernel with support of radius 1 separates \
             discs of diameter 0.5 that are farther than 1 apart, and leaves out nothing."
        ),
        Grid::new("The sets of a class separator", 2, panels).sized(300.0, 210.0),
    )
}

fn fronts(studied: &[Studied]) -> Drawn {
    let palette = [BLUE, GREEN, RED, ORANGE];
    let chart = |name: &'static str, title: &str| {
        let series = of(studied, name).zip(palette).map(|(one, colour)| {
            let front = &one.front;
            let (x, y) = (
                front.iter().map(|s| s.epsilon),
                front.iter().map(|s| s.zeta),
            );
            Series::curve(one.spread.name(), x, y, colour.marked(MarkerKind::Circle))
        });
        let stroke = Stroke {
            dash: vec![2.0, 3.5],
            ..Stroke::solid(Colour::AXIS, 1.5)
        };
        let diagonal = OverlayKind::Path {
            points: vec![(0.0, 0.0), (1.0, 1.0)],
            stroke,
        };
        LineChart::new(
            title,
            ["ε (largest across sets)", "ζ (smallest within a set)"],
            series.collect(),
        )
        .x_range((0.0, 1.0))
        .y_range((0.0, 1.0))
        .under(vec![Overlay::named("ζ = ε", diagonal)])
    };
    let panels = vec![
        chart("apart", "Clusters apart"),
        chart("touching", "Clusters touching"),
    ];
    Drawn::new(
        "separation-front",
        format!(
            "The trade-off between ζ and ε found for δ = {DELTA_SHOWN}. Up and to the left is better; above the dotted line one \
             threshold tells pairs of one set from pairs of two."
        ),
        Grid::new("What a smaller ε costs", 2, panels).sized(300.0, 260.0),
    )
}

fn others(studied: &[Studied]) -> Drawn {
    let rest = studied
        .iter()
        .filter(|one| !["apart", "touching"].contains(&one.sample.name));
    let title = |one: &Studied| match one.sample.name {
        "square" => {
            format!(
                "square, a set per {}: {}",
                if one.by_cluster { "cluster" } else { "class" },
                one.spread.name()
            )
        }
        name => format!("{name}: {}", one.spread.name()),
    };
    let panels = rest.map(|one| panel(title(one), one));
    Drawn::new(
        "separation-pools",
        "The same for four Gaussians of two classes at the corners of a square, with a set for each cluster and with one for each class \
         (rem:C-clusters), and for pools of pictures, whose clusters are taken to be their ten classes.",
        Grid::new("Several clusters to a class, and real pools", 2, panels).sized(310.0, 180.0),
    )
}
