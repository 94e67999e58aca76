//! Pictures: every kind that people have is read, what cannot be read is said briefly, and folders become pools.

mod shapes;

use std::fs;
use std::path::Path;

use dial::Control;
use dial_data::media::images::{Bitmap, load, reason};
use dial_data::{Pool, ReadOptions, Show, open};
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use proptest::prelude::*;

fn encoded(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture.into().write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn read(bytes: &[u8]) -> Result<Bitmap, dial_data::Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("picture.png");
    fs::write(&path, bytes).unwrap();
    load(&path, None)
}

/// A JPEG of one block a component by hand: the tables know category 0 (code 0) only, so that all samples are 128.
fn flat_jpeg(components: u8) -> Vec<u8> {
    let mut bytes = vec![0xff, 0xd8];
    let mut segment = |kind: u8, body: &[u8]| {
        bytes.extend([0xff, kind, 0, body.len() as u8 + 2]);
        bytes.extend(body);
    };
    // Of four components: Adobe's marker, no transform, so ink is stored inverted.
    if components == 4 {
        segment(0xee, b"Adobe\0\x64\0\0\0\0\0");
    }
    segment(0xdb, &[&[0][..], &[1; 64]].concat());
    let each = |tail: &[u8]| {
        (1..=components)
            .flat_map(|id| [&[id][..], tail].concat())
            .collect::<Vec<u8>>()
    };
    segment(
        0xc0,
        &[&[8, 0, 8, 0, 8, components][..], &each(&[0x11, 0])].concat(),
    );
    for table in [0x00, 0x10] {
        segment(0xc4, &[&[table, 1][..], &[0; 15], &[0]].concat());
    }
    segment(
        0xda,
        &[&[components][..], &each(&[0]), &[0, 63, 0]].concat(),
    );
    // Two bits a component, filled up with ones.
    bytes.push(0xffu8 >> (2 * components).min(7) & if components == 4 { 0 } else { 0xff });
    bytes.extend([0xff, 0xd9]);
    bytes
}

/// The header of a PNG and nothing behind it.
fn png_header(width: u32, height: u32) -> Vec<u8> {
    let mut body = b"IHDR".to_vec();
    body.extend(width.to_be_bytes());
    body.extend(height.to_be_bytes());
    body.extend([8, 2, 0, 0, 0]);
    let mut crc = flate2::Crc::new();
    crc.update(&body);
    [
        &b"\x89PNG\r\n\x1a\n\0\0\0\x0d"[..],
        &body,
        &crc.sum().to_be_bytes(),
    ]
    .concat()
}

#[test]
fn depths_alpha_and_single_pixels() {
    let one = |picture: DynamicImage| read(&encoded(picture, ImageFormat::Png)).unwrap().rgb;
    let grey = image::GrayImage::from_raw(1, 1, vec![77]).unwrap();
    assert_eq!(one(grey.into()), [77; 3]);
    // Half covered black over white: 255 - 128 = 127. Fully transparent: white, whatever lies below.
    let half = image::GrayAlphaImage::from_raw(2, 1, vec![0, 128, 50, 0]).unwrap();
    assert_eq!(one(half.into()), [127, 127, 127, 255, 255, 255]);
    let rgba = image::RgbaImage::from_raw(1, 1, vec![255, 0, 10, 255]).unwrap();
    assert_eq!(one(rgba.into()), [255, 0, 10]);
    // 16 bits: 0x8080 is 128 parts of 255, as 0xffff is 255.
    let deep = image::ImageBuffer::<Rgb<u16>, _>::from_raw(1, 1, vec![0x8080, 0xffff, 0]).unwrap();
    assert_eq!(one(DynamicImage::ImageRgb16(deep)), [128, 255, 0]);
}

#[test]
fn flat_jpegs_by_hand() {
    let near = |bytes: &[u8], wanted: u8| {
        let bitmap = read(bytes).unwrap();
        assert_eq!((bitmap.width, bitmap.height, bitmap.rgb.len()), (8, 8, 192));
        assert!(
            bitmap.rgb.iter().all(|&value| value.abs_diff(wanted) <= 1),
            "{:?}",
            &bitmap.rgb[..3]
        );
    };
    near(&flat_jpeg(1), 128);
    near(&flat_jpeg(3), 128);
    // CMYK: 128 of 255 of the light passes the colours, and 128 of 255 of that the black: 64.
    near(&flat_jpeg(4), 64);
}

#[test]
fn all_eight_orientations() {
    // Stored corners: red, green / blue, white.
    let corners = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]].map(Rgb);
    let stored = RgbImage::from_fn(32, 16, |x, y| corners[(2 * (y / 8) + x / 16) as usize]);
    let plain = encoded(stored, ImageFormat::Jpeg);
    let turned = [
        "RGBW", "GRWB", "WBGR", "BWRG", "RBGW", "BRWG", "WGBR", "GWRB",
    ];
    for (tag, wanted) in (1u8..).zip(turned) {
        let exif = [
            &b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0"[..],
            &[tag, 0, 0, 0, 0, 0, 0],
        ]
        .concat();
        let length = (exif.len() as u16 + 2).to_be_bytes();
        let bytes = [&plain[..2], &[0xff, 0xe1], &length, &exif, &plain[2..]].concat();
        let bitmap = read(&bytes).unwrap();
        assert_eq!(
            (bitmap.width, bitmap.height),
            if tag < 5 { (32, 16) } else { (16, 32) }
        );
        let name = |x: u32, y: u32| {
            let at = 3 * (y * bitmap.width + x) as usize;
            let bright = |i: usize| bitmap.rgb[at + i] > 128;
            match (bright(0), bright(1), bright(2)) {
                (true, false, false) => 'R',
                (false, true, false) => 'G',
                (false, false, true) => 'B',
                _ => 'W',
            }
        };
        let (right, low) = (bitmap.width - 2, bitmap.height - 2);
        let found: String = [name(1, 1), name(right, 1), name(1, low), name(right, low)]
            .iter()
            .collect();
        assert_eq!(found, wanted, "orientation {tag}");
    }
}

#[test]
fn what_cannot_be_read_says_why() {
    let jpeg = encoded(
        RgbImage::from_pixel(40, 40, Rgb([9, 99, 199])),
        ImageFormat::Jpeg,
    );
    let png = encoded(
        RgbImage::from_pixel(40, 40, Rgb([9, 99, 199])),
        ImageFormat::Png,
    );
    // By content: this JPEG has the ending .png.
    assert_eq!(read(&jpeg).unwrap().width, 40);
    let cases: [(&[u8], &str, &str); 9] = [
        (
            &png_header(60_000, 60_000),
            "I14",
            "image too large to show (60000 x 60000)",
        ),
        (
            &png_header(12_000, 12_000),
            "I14",
            "image too large to show (12000 x 12000)",
        ),
        (
            &png_header(9_000, 9_000),
            "I5",
            "9000 x 9000 pixels cannot be in a file of 33 bytes",
        ),
        (&png_header(0, 4), "I5", "a picture of 0 x 4 pixels"),
        (b"", "I5", "the file is empty"),
        (b"GIF89a", "I5", "a GIF picture, not PNG or JPEG"),
        (b"\n <svg xmlns=", "I5", "an SVG drawing, not PNG or JPEG"),
        (
            b"text",
            "I5",
            "not a PNG or JPEG picture (first bytes 74 65 78 74)",
        ),
        (&jpeg[..jpeg.len() - 3], "I5", "the JPEG picture ends early"),
    ];
    for (bytes, code, why) in cases {
        let error = read(bytes).unwrap_err();
        assert_eq!(
            (error.code(), reason(&error).as_str()),
            (code, why),
            "{error}"
        );
    }
    for length in 0..png.len() - 12 {
        assert_eq!(
            read(&png[..length]).unwrap_err().code(),
            "I5",
            "cut at {length}"
        );
    }
    for length in 0..jpeg.len() - 2 {
        assert_eq!(
            read(&jpeg[..length]).unwrap_err().code(),
            "I5",
            "cut at {length}"
        );
    }
    assert_eq!(
        reason(&load("no/such.png", None).unwrap_err()),
        "no such file"
    );
}

#[test]
fn thumbnails_and_round_trips() {
    let picture = RgbImage::from_fn(100, 50, |x, _| {
        if x < 50 {
            Rgb([0; 3])
        } else {
            Rgb([200, 100, 0])
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.png");
    picture.save(&path).unwrap();
    let small = load(&path, Some(10)).unwrap();
    assert_eq!((small.width, small.height), (10, 5));
    assert_eq!(
        (&small.rgb[..3], &small.rgb[27..30]),
        (&[0, 0, 0][..], &[200, 100, 0][..])
    );
    fs::write(&path, small.to_png()).unwrap();
    assert_eq!(load(&path, Some(10)).unwrap(), small);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn no_bytes_make_it_panic(
        kind in 0usize..3,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let picture = RgbImage::from_fn(24, 17, |x, y| Rgb([(x * 9) as u8, (y * 13) as u8, (x * y) as u8]));
        let mut bytes = match kind {
            0 => encoded(picture, ImageFormat::Png),
            1 => encoded(picture, ImageFormat::Jpeg),
            _ => flat_jpeg(4),
        };
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Ok(bitmap) = read(&bytes) {
            prop_assert_eq!(bitmap.rgb.len() as u64, 3 * u64::from(bitmap.width) * u64::from(bitmap.height));
        }
    }
}

fn pool_of(folder: &Path, options: &ReadOptions) -> Result<Pool, dial_data::Error> {
    open(folder.to_str().unwrap(), options, 0, &Control::new())
}

/// The share of items whose nearest other has the same label.
fn nearest_agree(pool: &Pool) -> f64 {
    let (m, labels) = (&pool.matrix, &pool.truth.as_ref().unwrap().labels);
    let distance = |i: usize, j: usize| {
        (0..m.dim)
            .map(|c| (m.get(i, c) - m.get(j, c)).powi(2))
            .sum::<f64>()
    };
    let nearest = |i: usize| {
        let others = (0..m.n).filter(move |&j| j != i);
        others
            .min_by(|&a, &b| distance(i, a).total_cmp(&distance(i, b)))
            .unwrap()
    };
    (0..m.n)
        .filter(|&i| labels[i] == labels[nearest(i)])
        .count() as f64
        / m.n as f64
}

#[test]
fn a_folder_is_a_pool() {
    let folder = tempfile::tempdir().unwrap();
    shapes::write(folder.path(), 25);
    let options = ReadOptions {
        folder_labels: true,
        ..ReadOptions::default()
    };
    let pool = pool_of(folder.path(), &options).unwrap();
    assert_eq!((pool.matrix.n, pool.matrix.dim), (100, 64));
    assert_eq!(pool.ids.as_ref().unwrap()[1], "disc/001.jpg");
    assert_eq!(pool.truth.as_ref().unwrap().classes, shapes::CLASSES);
    assert!(
        pool.notes
            .iter()
            .any(|note| note.starts_with("features are 64 principal components")),
        "{:?}",
        pool.notes
    );
    let share = nearest_agree(&pool);
    assert!(share > 0.8, "{share}");
    // The same bits with one thread.
    let single = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    assert_eq!(
        single.install(|| pool_of(folder.path(), &options)).unwrap(),
        pool
    );
    let cancelled = Control::new();
    cancelled.cancel();
    assert!(open(folder.path().to_str().unwrap(), &options, 0, &cancelled).is_err());
}

/// However a camera was held, the features are those of the picture as people see it.
#[test]
fn features_see_pictures_upright() {
    let folder = tempfile::tempdir().unwrap();
    // Light above, dark below, a disc on the left: no turn or mirror image of it is like it.
    let upright = RgbImage::from_fn(96, 64, |x, y| {
        let disc = (x as i32 - 24).pow(2) + (y as i32 - 40).pow(2) < 200;
        if disc {
            Rgb([210, 60, 40])
        } else {
            Rgb([230 - 3 * y as u8, 200 - 2 * y as u8, 90])
        }
    });
    let write = |name: &str, picture: RgbImage, tag: u8| {
        let plain = encoded(picture, ImageFormat::Jpeg);
        let exif = [
            &b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0"[..],
            &[tag, 0, 0, 0, 0, 0, 0],
        ]
        .concat();
        let length = (exif.len() as u16 + 2).to_be_bytes();
        let bytes = [&plain[..2], &[0xff, 0xe1], &length, &exif, &plain[2..]].concat();
        fs::write(folder.path().join(name), bytes).unwrap();
    };
    // Tag 6 says: turn by 90 degrees clockwise. So the camera stored it turned the other way; and so on.
    use image::imageops::{flip_horizontal, rotate90, rotate180, rotate270};
    write("1-upright.jpg", upright.clone(), 1);
    write("2-mirrored.jpg", flip_horizontal(&upright), 2);
    write("3-upside-down.jpg", rotate180(&upright), 3);
    write("6-left.jpg", rotate270(&upright), 6);
    write("8-right.jpg", rotate90(&upright), 8);
    write("9-really-upside-down.jpg", rotate180(&upright), 1);
    write("9-really-turned.jpg", rotate90(&upright), 1);
    let pool = pool_of(folder.path(), &ReadOptions::default()).unwrap();
    let m = &pool.matrix;
    let ids = pool.ids.as_ref().unwrap();
    let to_upright = |i: usize| {
        let square = |c| (m.get(i, c) - m.get(0, c)).powi(2);
        (0..m.dim).map(square).sum::<f64>().sqrt()
    };
    assert_eq!(ids[0], "1-upright.jpg");
    let (tagged, really): (Vec<usize>, Vec<usize>) =
        (1..m.n).partition(|&i| !ids[i].starts_with('9'));
    let far = really
        .iter()
        .map(|&i| to_upright(i))
        .fold(f64::INFINITY, f64::min);
    for i in tagged {
        // Only what JPEG loses differs.
        assert!(
            to_upright(i) < 0.1 * far,
            "{}: {} of {far}",
            ids[i],
            to_upright(i)
        );
    }
}

#[test]
fn bad_pictures_are_listed_together_or_left_out() {
    let folder = tempfile::tempdir().unwrap();
    shapes::write(folder.path(), 2);
    fs::write(folder.path().join("a.png"), png_header(60_000, 60_000)).unwrap();
    let error = pool_of(folder.path(), &ReadOptions::default()).unwrap_err();
    assert_eq!(error.code(), "I14");
    for i in 0..21 {
        fs::write(folder.path().join(format!("b{i:02}.jpg")), b"").unwrap();
    }
    let error = pool_of(folder.path(), &ReadOptions::default()).unwrap_err();
    assert_eq!((error.code(), error.kind().exit_code()), ("I5", 3));
    let text = error.to_string();
    let listed = "a.png: image too large to show (60000 x 60000); b00.jpg: the file is empty; ";
    assert!(
        text.contains(&format!("22 of 30 pictures cannot be read: {listed}")),
        "{text}"
    );
    assert!(
        text.contains("b18.jpg: the file is empty; and 2 more."),
        "{text}"
    );
    let pool = pool_of(
        folder.path(),
        &ReadOptions {
            skip_bad: true,
            ..ReadOptions::default()
        },
    )
    .unwrap();
    assert_eq!(
        (pool.matrix.n, pool.ids.unwrap()[0].as_str()),
        (8, "disc/000.png")
    );
    assert!(
        pool.notes[0].starts_with("left out 22 pictures that cannot be read: a.png: "),
        "{:?}",
        pool.notes
    );
    let Show::Images(images) = pool.show else {
        panic!("not shown as pictures")
    };
    assert_eq!(images.files[0], "disc/000.png");
    // With features of their own pictures need not be readable.
    let features = folder.path().join("features.csv");
    fs::write(&features, "x,y\n".to_string() + &"1,2\n3,4\n".repeat(15)).unwrap();
    let given = ReadOptions {
        features_file: Some(features),
        ..ReadOptions::default()
    };
    assert_eq!(pool_of(folder.path(), &given).unwrap().matrix.n, 30);
}

#[test]
fn pixels_of_arrays_are_described_if_asked() {
    // Three pictures of 2 x 3 bytes, the last blank.
    let mut idx = vec![0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 3];
    idx.extend([
        0, 100, 200, 0, 100, 200, 255, 255, 255, 0, 0, 0, 7, 7, 7, 7, 7, 7,
    ]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.idx");
    fs::write(&path, &idx).unwrap();
    let options = ReadOptions {
        describe: true,
        ..ReadOptions::default()
    };
    let pool = open(path.to_str().unwrap(), &options, 0, &Control::new()).unwrap();
    // Three points have at most two directions.
    assert_eq!((pool.matrix.n, pool.matrix.dim), (3, 2));
    assert_eq!((pool.shown().dim, pool.shown().get(0, 2)), (6, 200.0));
    assert!(matches!(pool.show, Show::Picture(_)));
    let error = open("builtin:moons:50", &options, 0, &Control::new()).unwrap_err();
    assert_eq!(error.code(), "U1");
}

/// The share of the ten nearest neighbours of an item that have its label.
fn purity(pool: &Pool) -> f64 {
    let (m, labels) = (&pool.matrix, &pool.truth.as_ref().unwrap().labels);
    let rows: Vec<Vec<f64>> = (0..m.n)
        .map(|i| (0..m.dim).map(|c| m.get(i, c)).collect())
        .collect();
    let mut same = 0;
    for (i, row) in rows.iter().enumerate() {
        let distance = |other: &[f64]| {
            row.iter()
                .zip(other)
                .map(|(a, b)| (a - b) * (a - b))
                .sum::<f64>()
        };
        let mut near: Vec<(f64, usize)> = (0..m.n)
            .filter(|&j| j != i)
            .map(|j| (distance(&rows[j]), j))
            .collect();
        near.select_nth_unstable_by(9, |a, b| a.0.total_cmp(&b.0));
        same += near[..10]
            .iter()
            .filter(|&&(_, j)| labels[j] == labels[i])
            .count();
    }
    same as f64 / (10 * m.n) as f64
}

#[test]
fn descriptors_beat_pixels_on_real_images() {
    let named = std::env::var_os("DIAL_DATA").map(std::path::PathBuf::from);
    let Some(folder) = named.filter(|folder| folder.join("images").is_dir()) else {
        eprintln!("SKIPPED: no real data (set DIAL_DATA to its folder)");
        return;
    };
    for set in ["mnist", "fashion-mnist"] {
        let path = folder
            .join("images")
            .join(set)
            .join("t10k-images-idx3-ubyte.gz");
        let share = |describe: bool| {
            let options = ReadOptions {
                describe,
                ..ReadOptions::default()
            };
            let mut pool = open(path.to_str().unwrap(), &options, 0, &Control::new()).unwrap();
            pool.select_rows(&(0..1500).collect::<Vec<usize>>());
            purity(&pool)
        };
        let (pixels, described) = (share(false), share(true));
        assert!(
            described > pixels + 0.03,
            "{set}: {described} against {pixels}"
        );
    }
}
