//! Draws samples of every kind of panel into a folder, to look at: `cargo run --example panels -- FOLDER`.

use std::path::Path;

use dial_plot::chart::{Canvas, Colour, MarkerKind, to_png, to_svg};
use dial_plot::colours;
use dial_plot::plot::{
    ClassMap, Colouring, Grid, HeatMap, LineChart, Overlay, Panel, Scale, Scatter, Series,
    scene_map,
};
use dial_plot::stats::{self, Band};

fn hill(x: f64, y: f64) -> f64 {
    libm::exp(-(x * x + y * y))
        + 0.7 * libm::exp(-((x - 1.5) * (x - 1.5) + (y + 1.0) * (y + 1.0)) / 0.5)
}

fn heat() -> HeatMap {
    HeatMap {
        title: "A hill and its shoulder".into(),
        x_label: "α₁".into(),
        y_label: "α₂".into(),
        value_label: "Height".into(),
        contours: vec![0.2, 0.4, 0.6, 0.8],
        overlays: vec![Overlay::vertical("slice at 0.5", 0.5, colours::RED)],
        ..HeatMap::sampled((-2.0, 3.0), (-2.5, 2.0), 160, 160, hill)
    }
}

fn spiral() -> Vec<(f64, f64)> {
    let turn = |i: u32| (f64::from(i) * 0.05, 0.02 * f64::from(i));
    (0..400)
        .map(turn)
        .map(|(angle, r)| (r * libm::cos(angle), r * libm::sin(angle)))
        .collect()
}

fn by_class() -> Scatter {
    let names = ["inner", "outer"].map(String::from).to_vec();
    let of = (0..400).map(|i| usize::from(i > 200)).collect();
    Scatter {
        title: "By class".into(),
        points: spiral(),
        colouring: Colouring::Classes { of, names },
        ..Scatter::default()
    }
}

fn by_value() -> Scatter {
    let of = (0..400).map(|i| f64::from(i) / 400.0).collect();
    let colouring = Colouring::Values {
        of,
        label: "Share".into(),
        range: Some((0.0, 1.0)),
    };
    let overlays = vec![Overlay::marks(
        "source",
        vec![(0.0, 0.0)],
        MarkerKind::Star,
        colours::RED,
    )];
    Scatter {
        title: "By value".into(),
        points: spiral(),
        colouring,
        overlays,
        ..Scatter::default()
    }
}

fn densities() -> LineChart {
    let x: Vec<f64> = (0..=200).map(|i| f64::from(i) * 0.05 - 5.0).collect();
    let bell = |m: f64| {
        x.iter()
            .map(|x| 0.4 * libm::exp(-(x - m) * (x - m) / 2.0))
            .collect::<Vec<f64>>()
    };
    let low: Vec<f64> = bell(-1.5)
        .iter()
        .zip(bell(1.5))
        .map(|(a, b)| a.min(b))
        .collect();
    LineChart {
        title: "Two densities".into(),
        x_label: "x".into(),
        y_label: "Density".into(),
        series: vec![
            Series::curve("class 0", x.clone(), bell(-1.5), colours::GREEN.area()),
            Series::curve("class 1", x.clone(), bell(1.5), colours::GREY.area()),
            Series::curve("overlap", x.clone(), low, Colour::INK.dashed()),
        ],
        overlays: vec![
            Overlay::rug(
                "queries",
                vec![-1.0, -0.2, 0.0, 0.1, 0.3, 2.0],
                colours::BLUE,
            ),
            Overlay::marks(
                "labelled",
                vec![(-3.0, 0.05), (3.0, 0.05)],
                MarkerKind::Cross,
                colours::BLUE,
            ),
        ],
        ..LineChart::default()
    }
}

fn timing() -> LineChart {
    let n: Vec<f64> = [1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 7e4].to_vec();
    let line = |name: &str, f: fn(f64) -> f64| {
        let trials: Vec<Vec<f64>> = [0.9, 1.0, 1.15]
            .iter()
            .map(|s| n.iter().map(|n| s * f(*n)).collect())
            .collect();
        Series::new(name, n.clone(), stats::band(&trials))
    };
    LineChart {
        title: "Seconds per question".into(),
        x_label: "Number of items".into(),
        y_label: "Seconds".into(),
        x_scale: Scale::Log,
        y_scale: Scale::Log,
        series: vec![
            line("Dirichlet variance", |n| 2e-9 * n),
            line("VOpt (full)", |n| 3e-9 * n * n),
            line("Sigma-Opt (spectral)", |n| 8e-8 * n),
        ],
        ..LineChart::default()
    }
}

fn save(folder: &Path, name: &str, canvas: &Canvas) -> std::io::Result<()> {
    let svg = to_svg(canvas);
    println!("{name}: {} kB", svg.len() / 1024);
    std::fs::write(folder.join(format!("{name}.svg")), svg)?;
    std::fs::write(folder.join(format!("{name}.png")), to_png(canvas, 2.0))
}

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".into());
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let panels = vec![
        Panel::Heat(heat()),
        Panel::Scatter(by_class()),
        Panel::Scatter(by_value()),
        Panel::Lines(densities()),
    ];
    save(
        folder,
        "grid",
        &Grid {
            note: "A note in small print.".into(),
            ..Grid::new("Four kinds", 2, panels)
        }
        .canvas(),
    )?;
    save(
        folder,
        "heat",
        &Grid {
            size: (360.0, 330.0),
            ..Grid::new("One map", 1, vec![Panel::Heat(heat())])
        }
        .canvas(),
    )?;
    save(folder, "timing", &timing().canvas())?;
    let lines = |title: &str| {
        Panel::Lines(LineChart {
            title: title.into(),
            ..timing()
        })
    };
    save(
        folder,
        "six",
        &Grid::new("Six", 3, ["A", "B", "C", "D", "E", "F"].map(lines).to_vec()).canvas(),
    )?;
    let pair = vec![lines("L"), lines("R")];
    let wide = Grid::of("Wide", vec![vec![Panel::Lines(densities())], pair]);
    save(folder, "wide", &wide.canvas())?;
    let class = |i: usize| (i / 86 > 5 && i % 86 > 8).then_some(((i / 86 + i % 86) / 12) % 6);
    let names = (0..6).map(|c| format!("Lettuce, week {c}")).collect();
    save(
        folder,
        "scene",
        &scene_map(ClassMap {
            rows: 83,
            columns: 86,
            classes: (0..83 * 86).map(class).collect(),
            names,
            ..ClassMap::default()
        }),
    )?;
    let one = LineChart {
        series: vec![Series::new("a", vec![1.0], Band::exact(vec![2.0]))],
        x_scale: Scale::Log,
        ..timing()
    };
    save(folder, "one", &one.canvas())
}
