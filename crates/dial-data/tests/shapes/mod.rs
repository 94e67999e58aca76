//! A generator of picture folders: coloured discs, squares, triangles and stripes, one sub-folder each.

use std::fs;
use std::path::Path;

use dial::seed::{Purpose, Random};
use image::{Rgb, RgbImage};

/// The names of the sub-folders.
pub const CLASSES: [&str; 4] = ["disc", "square", "stripes", "triangle"];

/// One picture of a class: its own size, colours and place, light on dark.
pub fn draw(class: usize, random: &mut Random) -> RgbImage {
    let mut between = |low: f64, high: f64| low + (high - low) * random.uniform();
    let (width, height) = (between(40.0, 64.0) as u32, between(40.0, 64.0) as u32);
    let (cx, cy, radius) = (
        between(0.42, 0.58),
        between(0.42, 0.58),
        between(0.24, 0.34),
    );
    let mut colour = |low: f64, high: f64| Rgb([0; 3].map(|_: u8| between(low, high) as u8));
    let (back, front) = (colour(0.0, 60.0), colour(150.0, 255.0));
    RgbImage::from_fn(width, height, |x, y| {
        let (dx, dy) = (
            f64::from(x) / f64::from(width) - cx,
            f64::from(y) / f64::from(height) - cy,
        );
        let inside = match class {
            0 => dx * dx + dy * dy < radius * radius,
            1 => dx.abs().max(dy.abs()) < radius,
            2 => dx.abs().max(dy.abs()) < radius && (dy + 1.0) * 10.0 % 2.0 < 1.0,
            _ => dy < radius && dy > -radius && dx.abs() < (dy + radius) / 2.0,
        };
        if inside { front } else { back }
    })
}

/// Writes `each` pictures of every class, PNG and JPEG in turn.
pub fn write(folder: &Path, each: usize) {
    let mut random = Random::new(1, Purpose::User, 0);
    for (class, name) in CLASSES.iter().enumerate() {
        fs::create_dir_all(folder.join(name)).unwrap();
        for i in 0..each {
            let ending = if i % 2 == 0 { "png" } else { "jpg" };
            draw(class, &mut random)
                .save(folder.join(name).join(format!("{i:03}.{ending}")))
                .unwrap();
        }
    }
}
