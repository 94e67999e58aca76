//! An acquisition of one's own: ask where evidence is thin, but never where the answer is already clear.
//!
//! Run with `cargo run --release -p dial-core --example own_acquisition`.

use std::sync::Arc;

use dial::acquisition::Situation;
use dial::{Acquisition, Config, Control, Engine, Features};

/// Entropy of the mean, divided by one plus the evidence.
struct ThinAndTorn;

impl Acquisition for ThinAndTorn {
    fn scores(&self, now: &Situation<'_>, out: &mut [f64]) -> dial::Result<()> {
        now.field.map(out, |alpha| {
            let total: f64 = alpha.iter().sum();
            let entropy: f64 = alpha
                .iter()
                .map(|a| -(a / total) * libm::log(a / total))
                .sum();
            entropy / (1.0 + total)
        });
        Ok(())
    }
}

fn main() -> dial::Result<()> {
    let x: Vec<f64> = (0..200)
        .map(|i| f64::from(i % 4) * 50.0 + f64::from(i) * 0.1)
        .collect();
    let control = Control::new();
    let config = Config {
        k: 10,
        ..Config::paper()
    };
    let engine = Engine::build(Features::f64(&x, 200, 1)?, &config, &control)?
        .asking_by(Arc::new(ThinAndTorn));
    let mut session = engine.session(&["even", "odd"], &control)?;
    for _ in 0..8 {
        let question = session.ask(1)?.questions.remove(0);
        let class = session.classes()[question.node.index() % 2];
        session.tell(&question.item, class, &control)?;
        println!(
            "asked item {:>3}, score {:.3}",
            question.item, question.score
        );
    }
    Ok(())
}
