//! Copies are found, and what is no copy is not taken for one.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use dial::Control;
use dial_data::{Copies, Pool, ReadOptions, Show, open};
use image::codecs::jpeg::JpegEncoder;
use image::imageops::{FilterType, resize};
use image::{ImageFormat, RgbImage};

fn read(place: &Path, options: &ReadOptions) -> Pool {
    open(&place.display().to_string(), options, 0, &Control::new())
        .unwrap_or_else(|error| panic!("{error}"))
}

fn copies(pool: &Pool, which: Copies) -> Vec<Vec<usize>> {
    pool.copies(which, &Control::new()).unwrap()
}

/// Drawn digits as coloured pictures of 112 x 112 pixels.
fn drawn(count: usize) -> Vec<RgbImage> {
    let name = format!("builtin:digits:{count}");
    let pool = open(&name, &ReadOptions::default(), 0, &Control::new()).unwrap();
    let Show::Picture(picture) = pool.show else {
        panic!("digits are pictures")
    };
    let shown = pool.shown();
    let one = |row: usize| {
        let small = RgbImage::from_fn(picture.width as u32, picture.height as u32, |x, y| {
            let at = y as usize * picture.width + x as usize;
            let grey = (shown.get(row, at) - picture.lowest) / (picture.highest - picture.lowest);
            let of = |low: f64, high: f64| (low + (high - low) * grey) as u8;
            image::Rgb([
                of(230.0, 20.0),
                of(220.0, 40.0 + row as f64 % 60.0),
                of(200.0, 90.0),
            ])
        });
        resize(&small, 112, 112, FilterType::CatmullRom)
    };
    (0..count).map(one).collect()
}

fn png(picture: &RgbImage) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    picture.write_to(&mut out, ImageFormat::Png).unwrap();
    out.into_inner()
}

fn jpeg(picture: &RgbImage, quality: u8) -> Vec<u8> {
    let mut out = Vec::new();
    JpegEncoder::new_with_quality(&mut out, quality)
        .encode_image(picture)
        .unwrap();
    out
}

/// The share of pictures that are in a group with their variant, and how many are in one with another picture.
fn found(
    pictures: &[RgbImage],
    variant: impl Fn(&RgbImage) -> (Vec<u8>, &'static str),
) -> (f64, usize) {
    let folder = tempfile::tempdir().unwrap();
    for (number, picture) in pictures.iter().enumerate() {
        let at = |name: String| folder.path().join(name);
        let (bytes, ending) = variant(picture);
        fs::write(at(format!("{number:04}a.png")), png(picture)).unwrap();
        fs::write(at(format!("{number:04}b.{ending}")), bytes).unwrap();
    }
    let pool = read(folder.path(), &ReadOptions::default());
    let groups = copies(&pool, Copies::Near);
    let right = groups
        .iter()
        .filter(|group| matches!(group[..], [a, b] if a / 2 == b / 2))
        .count();
    (right as f64 / pictures.len() as f64, groups.len() - right)
}

#[test]
fn scaled_and_recompressed_pictures_are_found() {
    let pictures = drawn(200);
    let scaled = |picture: &RgbImage, side: u32| resize(picture, side, side, FilterType::Triangle);
    type Variant<'a> = &'a dyn Fn(&RgbImage) -> (Vec<u8>, &'static str);
    let cases: [(&str, f64, Variant<'_>); 6] = [
        ("jpeg 90", 0.99, &|picture| (jpeg(picture, 90), "jpg")),
        ("jpeg 50", 0.99, &|picture| (jpeg(picture, 50), "jpg")),
        ("half", 0.99, &|picture| (png(&scaled(picture, 56)), "png")),
        // Much of so few pixels is what JPEG adds.
        ("a third, jpeg 75", 0.8, &|picture| {
            (jpeg(&scaled(picture, 37), 75), "jpg")
        }),
        ("double", 0.99, &|picture| {
            (png(&scaled(picture, 224)), "png")
        }),
        ("1.7, jpeg 60", 0.99, &|picture| {
            (jpeg(&scaled(picture, 190), 60), "jpg")
        }),
    ];
    for (name, least, variant) in cases {
        let (share, mistaken) = found(&pictures, variant);
        println!("{name}: {share}, {mistaken} mistaken");
        assert!(
            share >= least && mistaken == 0,
            "{name}: {share}, {mistaken}"
        );
    }
}

/// The same pixels in another file are an exact copy; one pixel of another colour, or other sides, make it a near one.
#[test]
fn exact_copies_are_the_same_pixels() {
    let mut pictures = drawn(10);
    let (other, picture) = (pictures.remove(1), pictures.remove(1));
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    let mut touched = picture.clone();
    touched.put_pixel(3, 3, image::Rgb([0, 0, 0]));
    let mut blue = picture.clone();
    blue.pixels_mut().for_each(|pixel| pixel.0.swap(0, 2));
    put("a.png", &png(&picture));
    put("b.png", &png(&touched));
    put("c.png", &png(&blue));
    put("d.png", &png(&picture));
    put("e.png", &png(&other));
    // The same pixels in a file of other bytes: a comment after the header.
    let mut file = png(&picture);
    let comment = b"\0\0\0\x03tEXta\0b\xed\x9b\x8b\xa5";
    let sum = {
        let mut sum = flate2::Crc::new();
        sum.update(&comment[4..11]);
        sum.sum().to_be_bytes()
    };
    let chunk = [&comment[..11], &sum[..]].concat();
    file.splice(33..33, chunk);
    put("f.png", &file);
    let pool = read(folder.path(), &ReadOptions::default());
    assert_eq!(copies(&pool, Copies::Exact), [[0, 3, 5]]);
    assert_eq!(copies(&pool, Copies::Near), [[0, 1, 3, 5]]);
    assert!(copies(&pool, Copies::None).is_empty());
}

/// Nobody scaled or compressed the digits of MNIST: what is grouped there is a mistake, and bad where the labels differ.
#[test]
fn digits_of_many_hands_are_no_copies() {
    let Some(data) = std::env::var_os("DIAL_DATA") else {
        eprintln!("SKIPPED: no real data (set DIAL_DATA to its folder)");
        return;
    };
    for (name, most, most_torn) in [("mnist", 30, 0), ("fashion-mnist", 200, 0)] {
        let file = Path::new(&data)
            .join("images")
            .join(name)
            .join("train-images-idx3-ubyte.gz");
        let pool = read(&file, &ReadOptions::default());
        let truth = pool.truth.as_ref().unwrap();
        let groups = copies(&pool, Copies::Near);
        let items: usize = groups.iter().map(|group| group.len() - 1).sum();
        let torn = |group: &&Vec<usize>| {
            group
                .iter()
                .any(|&row| truth.labels[row] != truth.labels[group[0]])
        };
        let torn = groups.iter().filter(torn).count();
        let exact: usize = copies(&pool, Copies::Exact)
            .iter()
            .map(|group| group.len() - 1)
            .sum();
        println!(
            "{name}: {} of {} in {} groups, {torn} of several classes; exact {exact}",
            items,
            pool.matrix.n,
            groups.len()
        );
        assert!(
            items <= most && torn <= most_torn,
            "{name}: {items}, {torn}"
        );
    }
}
