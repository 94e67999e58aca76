//! Draws sample figures and a sample report into a folder, to look at: `cargo run --example gallery -- FOLDER`.

use std::path::Path;

use dial_plot::chart::{Canvas, to_png, to_svg};
use dial_plot::picture::{GreyPicture, sparkline};
use dial_plot::plot::{LineChart, Series, side_by_side};
use dial_plot::report::{self, Confusion, Figure, Gallery, GalleryItem, Report, Step, Table};
use dial_plot::sheet::contact_sheet;
use dial_plot::stats::{self, Band};

/// Small deterministic noise between -1 and 1.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

/// Name, final accuracy, half-way label count of a made-up method.
type Method = (&'static str, f64, f64);

const METHODS: [Method; 5] = [
    ("DiAL", 0.955, 9.0),
    ("Variance of the field", 0.945, 12.0),
    ("Margin", 0.93, 19.0),
    ("Entropy", 0.925, 23.0),
    ("Random", 0.905, 24.0),
];

fn trials(method: Method, count: usize, height: f64) -> Vec<Vec<f64>> {
    let mut noise = Noise(method.1.to_bits() ^ method.2.to_bits());
    let mut trial = |_| {
        let (half, drift) = (method.2 * (1.0 + 0.25 * noise.next()), 0.02 * noise.next());
        let rise = |x: f64| 0.1 + (method.1 - 0.1) * x / (x + half) * (1.0 + half / 100.0);
        (0..=100)
            .map(|x| {
                ((rise(f64::from(x)) + drift + 0.012 * noise.next()) * height).clamp(0.0, height)
            })
            .collect()
    };
    (0..count).map(&mut trial).collect()
}

fn labels() -> Vec<f64> {
    (0..=100).map(f64::from).collect()
}

fn chart(title: &str, y_label: &str, percent: bool, series: Vec<Series>) -> LineChart {
    let (title, x_label, y_label) = (title.into(), "Number of labels".into(), y_label.into());
    LineChart {
        title,
        x_label,
        y_label,
        percent,
        series,
        ..LineChart::default()
    }
}

fn learning() -> LineChart {
    let series = METHODS.map(|m| Series::new(m.0, labels(), stats::band(trials(m, 10, 1.0))));
    chart(
        "Accuracy on the digits, ten trials",
        "Accuracy",
        true,
        series.to_vec(),
    )
}

fn exploration() -> LineChart {
    let series = METHODS.map(|m| Series::new(m.0, labels(), stats::band(trials(m, 10, 20.0))));
    chart(
        "Clusters met so far",
        "Clusters with a label",
        false,
        series.to_vec(),
    )
}

/// Charts that are easy to get wrong.
fn odd_charts() -> Vec<(&'static str, LineChart)> {
    let flat = |name: &str, value: f64| Series::new(name, labels(), Band::exact(vec![value; 101]));
    let twelve = (0..12_u32).map(|i| {
        let method = ("", 0.8 + 0.013 * f64::from(i), 8.0 + 2.0 * f64::from(i));
        let name = format!("A method with a rather long name that cannot fit, version {i}");
        Series::new(name, labels(), stats::band(trials(method, 6, 1.0)))
    });
    let twenty = (0..20_u32).map(|i| flat(&format!("Method {i}"), f64::from(i) * 1234.5));
    let short = Series::new(
        "Stopped early",
        labels(),
        stats::band(
            trials(METHODS[2], 3, 1.0)
                .iter()
                .map(|t| t[..60].to_vec())
                .collect::<Vec<_>>(),
        ),
    );
    let mut cut = learning();
    (cut.x_range, cut.y_range, cut.title) = (
        Some((10.0, 40.0)),
        Some((0.6, 0.8)),
        "A window into the curves".into(),
    );
    let few = Series::new(
        "Eight points",
        (1..9).map(f64::from),
        stats::band([
            vec![1.0, 2.0, 2.5, f64::NAN, 3.0, 5.0, f64::NAN, 4.0],
            vec![1.5, 2.2, 2.0, 4.0, 3.2, 5.5, f64::NAN, 4.4],
        ]),
    );
    vec![
        (
            "constant",
            chart(
                "All values are 1.0",
                "Accuracy",
                true,
                vec![flat("Perfect", 1.0), flat("Also perfect", 1.0)],
            ),
        ),
        (
            "zero",
            chart(
                "All values are 0",
                "Clusters",
                false,
                vec![flat("Nothing", 0.0)],
            ),
        ),
        (
            "single",
            chart(
                "A single point",
                "Accuracy",
                true,
                vec![Series::new("Once", vec![20.0], Band::exact(vec![0.83]))],
            ),
        ),
        (
            "empty",
            chart(
                "An empty series",
                "Accuracy",
                true,
                vec![Series::new("Never ran", Vec::<f64>::new(), Band::default())],
            ),
        ),
        ("none", chart("No series at all", "Accuracy", true, vec![])),
        (
            "one-trial",
            chart(
                "One trial, no band",
                "Accuracy",
                true,
                vec![
                    Series::new("DiAL", labels(), stats::band(trials(METHODS[0], 1, 1.0))),
                    short,
                ],
            ),
        ),
        (
            "twelve",
            chart(
                "Twelve methods with long names and a title that is much too long for a single line, so that it has to be broken into two of them somewhere",
                "Accuracy of the harmonic labels on the items without a label",
                true,
                twelve.collect(),
            ),
        ),
        (
            "twenty",
            chart(
                "Twenty methods, large values",
                "Seconds",
                false,
                twenty.collect(),
            ),
        ),
        ("window", cut),
        (
            "few",
            chart(
                "Few points, with gaps <&> \u{202e}tricks",
                "Value",
                false,
                vec![few],
            ),
        ),
    ]
}

/// Something like a handwritten digit: a ring, a stroke, or both.
fn digit(kind: usize, seed: u64) -> GreyPicture {
    let mut noise = Noise(seed.wrapping_mul(977) + kind as u64);
    let (cx, cy, lean) = (
        13.5 + noise.next(),
        13.5 + noise.next(),
        0.25 * noise.next(),
    );
    let ink = |row: usize, column: usize| {
        let (x, y) = (column as f64 - cx, row as f64 - cy);
        let x = x + lean * y;
        let ring = |cy: f64, r: f64| ((x * x + (y - cy) * (y - cy)).sqrt() - r).abs();
        let stroke = if y.abs() < 9.0 { x.abs() } else { 9.0 };
        let distance = match kind % 4 {
            0 => ring(0.0, 7.5),
            1 => stroke,
            2 => ring(-4.0, 3.8).min(ring(4.2, 4.4)),
            _ => ring(-3.5, 4.5).min(if y > -3.5 && y < 9.0 {
                (x - 4.0).abs()
            } else {
                9.0
            }),
        };
        (1.8 - distance).clamp(0.0, 1.0)
    };
    let values = (0..784)
        .map(|i| (ink(i / 28, i % 28) + 0.04 * noise.next()).clamp(0.0, 1.0))
        .collect();
    GreyPicture::new(28, 28, values)
}

const NAMES: [&str; 4] = ["0", "1", "8", "9"];

fn sample_report() -> Report {
    let items = (0..10).map(|i| GalleryItem {
        png: Some(digit(i * 7 % 4, i as u64).to_png(4)),
        text: String::new(),
        title: format!("Item {}", 4810 + 37 * i),
        detail: format!(
            "given {}, true {}",
            NAMES[i * 7 % 4],
            NAMES[(i * 7 + 3) % 4]
        ),
    });
    let rows: Vec<Vec<f64>> = (0..5_u64)
        .map(|s| {
            let mut n = Noise(s + 3);
            (0..40).map(|i| n.next() + f64::from(i) * 0.05).collect()
        })
        .collect();
    let sparks = rows.iter().enumerate().map(|(i, row)| GalleryItem {
        png: Some(to_png(&sparkline(row, 120.0, 120.0), 2.0)),
        text: String::new(),
        title: format!("Row {}", 12 + 5 * i),
        detail: "uncertainty 0.41".into(),
    });
    let hostile = GalleryItem {
        png: None,
        text: String::new(),
        title: "<script>alert(1)</script>".into(),
        detail: "an item without a picture".into(),
    };
    let row = |m: &Method| {
        let band = stats::band(trials(*m, 10, 1.0));
        let reach = stats::first_reaching(&labels(), &band.mean, 0.85)
            .map_or("not reached".into(), |x| format!("{x:.0}"));
        let last = 100.0 * band.mean[100];
        vec![
            m.0.to_owned(),
            format!(
                "{last:.1} ± {:.1}",
                100.0 * (band.high[100] - band.mean[100])
            ),
            format!("{:.3}", stats::mean_height(&labels(), &band.mean)),
            reach,
        ]
    };
    Report {
        parts: Vec::new(),
        title: "DiAL on handwritten digits".into(),
        lead: "After 100 labels, DiAL names 95 % of 10,000 digits correctly. Asking at random needs nearly twice as many labels to get to 85 %.\nAll numbers are means over ten trials.".into(),
        facts: [("Items", "10,000"), ("Classes", "4"), ("Labels given", "100"), ("Accuracy", "95.2 %"), ("Clusters met", "19 of 20")].map(|(a, b)| (a.to_owned(), b.to_owned())).to_vec(),
        figures: vec![
            Figure { caption: "Accuracy on the items without a label, against the number of labels given.".into(), svg: to_svg(&learning().canvas()) },
            Figure { caption: "Both views side by side: what is known, and what has been seen.".into(), svg: to_svg(&side_by_side("Learning and exploring", &[learning(), exploration()])) },
        ],
        tables: vec![Table {
            caption: "Methods, best first. The area is the mean height of the curve over 100 labels.".into(),
            header: ["Method", "Accuracy at 100 (%)", "Area", "Labels to 85 %"].map(String::from).to_vec(),
            rows: METHODS.iter().map(row).collect(),
            numeric: vec![false, true, true, true],
        }],
        confusion: Some(Confusion {
            classes: ["zero", "one", "<script>alert(1)</script>", "nine"].map(String::from).to_vec(),
            counts: vec![vec![2430, 2, 41, 12], vec![0, 2701, 9, 88], vec![55, 14, 2190, 160], vec![9, 31, 402, 1856]],
        }),
        galleries: vec![
            Gallery { title: "Confident and wrong".into(), caption: "Items whose given class is wrong although the field is sure.".into(), items: items.collect() },
            Gallery { title: "LineStyle at these next".into(), caption: "Items that are no images show their features as a line.".into(), items: sparks.chain([hostile]).collect() },
        ],
        next: vec![
            Step { what: "Answer twenty more questions.".into(), command: "dial label digits.csv --queries 20 --seed 7 --save session.json".into() },
            Step { what: "LineStyle at the mistakes above, and correct labels that are wrong.".into(), command: String::new() },
        ],
    }
}

fn save(folder: &Path, name: &str, canvas: &Canvas) -> std::io::Result<()> {
    std::fs::write(folder.join(format!("{name}.svg")), to_svg(canvas))?;
    std::fs::write(folder.join(format!("{name}.png")), to_png(canvas, 2.0))
}

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".into());
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    save(folder, "learning", &learning().canvas())?;
    save(
        folder,
        "both",
        &side_by_side("Learning and exploring", &[learning(), exploration()]),
    )?;
    for (name, chart) in odd_charts() {
        save(folder, name, &chart.canvas())?;
    }
    let pictures: Vec<GreyPicture> = (0..12).map(|i| digit(i, i as u64)).collect();
    let captions: Vec<String> = (0..12)
        .map(|i| format!("Item {} looks like a {}", i * 31, NAMES[i % 4]))
        .collect();
    save(folder, "sheet", &contact_sheet(&pictures, &captions, 6))?;
    std::fs::write(folder.join("report.html"), report::render(&sample_report()))
}
