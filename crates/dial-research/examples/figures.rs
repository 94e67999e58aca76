//! Runs the small experiments and writes their figures into a folder, to look at:
//! `cargo run --release --example figures -- FOLDER [SEED] [TRIALS]`.

use std::path::Path;

use dial::Control;
use dial_plot::chart::{to_png, to_svg};
use dial_research::reproduce::{Outcome, ReproduceOptions, alignment, moons, one_d, variance};

type Run = fn(&ReproduceOptions, &Control) -> dial::Result<Outcome>;

const ALL: [(&str, Run); 4] = [
    ("variance", variance::run),
    ("alignment", alignment::run),
    ("propagation-2d", moons::run),
    ("uncertainty-1d", one_d::run),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let folder = Path::new(arguments.get(1).map_or(".", String::as_str));
    let number = |place: usize, otherwise: u64| {
        arguments
            .get(place)
            .map_or(Ok(otherwise), |text| text.parse())
    };
    let settings = ReproduceOptions {
        seed: number(2, 1)?,
        trials: number(3, 10)? as usize,
        ..ReproduceOptions::default()
    };
    std::fs::create_dir_all(folder)?;
    for (name, run) in ALL {
        println!("{name}");
        let outcome = run(&settings, &Control::new())?;
        for figure in &outcome.figures {
            let svg = to_svg(&figure.canvas);
            println!(
                "  {}: {} kB. {}",
                figure.stem,
                svg.len() / 1024,
                figure.caption
            );
            std::fs::write(folder.join(format!("{}.svg", figure.stem)), svg)?;
            std::fs::write(
                folder.join(format!("{}.png", figure.stem)),
                to_png(&figure.canvas, 2.0),
            )?;
        }
        for finding in &outcome.findings {
            println!(
                "  {:?}: {} {}",
                finding.verdict, finding.claim, finding.evidence
            );
        }
    }
    Ok(())
}
