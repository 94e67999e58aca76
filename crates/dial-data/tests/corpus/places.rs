//! Bad scenes, pictures, files of texts, and files of features beside a pool.

use super::Case;
use super::build::{f64s, good_npy, npy};

/// A header of 2 x 3 pixels with 4 bands of one byte, with other lines in place of its own.
fn header(changes: &[(&str, &str)]) -> Vec<u8> {
    let keys = [
        ("samples", "3"),
        ("lines", "2"),
        ("bands", "4"),
        ("data type", "1"),
        ("interleave", "bsq"),
    ];
    let mut text = String::from("ENVI\n");
    for (key, value) in keys {
        match changes.iter().find(|(changed, _)| *changed == key) {
            Some((_, "")) => {}
            Some((_, other)) => text += &format!("{key} = {other}\n"),
            None => text += &format!("{key} = {value}\n"),
        }
    }
    let more = changes
        .iter()
        .filter(|(key, _)| keys.iter().all(|(own, _)| own != key));
    more.for_each(|(key, value)| text += &format!("{key} = {value}\n"));
    text.into_bytes()
}

/// A scene whose header has these lines, beside 24 bytes of data.
fn scene(
    name: &'static str,
    changes: &[(&str, &str)],
    code: &'static str,
    says: &'static str,
) -> Case {
    let data = (1..=24).collect();
    Case {
        beside: Some(("s.img", data)),
        ..Case::new(name, "s.hdr", header(changes), code, says)
    }
}

/// Bad ENVI scenes.
pub fn envi_cases() -> Vec<Case> {
    let alone = |name, bytes: Vec<u8>, code, says| Case::new(name, "s.hdr", bytes, code, says);
    let huge = "99999999999999999999";
    vec![
        alone(
            "envi no data file",
            header(&[]),
            "I5",
            "the data file of this ENVI header is missing",
        ),
        alone(
            "envi only its mark",
            b"ENVI\n".to_vec(),
            "I5",
            "the ENVI header lacks",
        ),
        scene(
            "envi no samples",
            &[("samples", "")],
            "I5",
            "the ENVI header lacks \"samples\"",
        ),
        scene(
            "envi no lines",
            &[("lines", "")],
            "I5",
            "the ENVI header lacks \"lines\"",
        ),
        scene(
            "envi no bands",
            &[("bands", "")],
            "I5",
            "the ENVI header lacks \"bands\"",
        ),
        scene(
            "envi no type",
            &[("data type", "")],
            "I5",
            "the ENVI header lacks \"data type\"",
        ),
        scene(
            "envi no interleave",
            &[("interleave", "")],
            "I5",
            "the ENVI header lacks \"interleave\"",
        ),
        scene("envi zero bands", &[("bands", "0")], "I3", "bands = 0"),
        scene(
            "envi words for a size",
            &[("lines", "two")],
            "I5",
            "lines is \"two\", not a whole number",
        ),
        scene(
            "envi negative size",
            &[("lines", "-2")],
            "I5",
            "not a whole number",
        ),
        scene(
            "envi size beyond all",
            &[("lines", huge)],
            "I5",
            "not a whole number",
        ),
        scene(
            "envi sizes overflow",
            &[("lines", "4294967295"), ("samples", "4294967295")],
            "I3",
            "overflows",
        ),
        scene("envi data too short", &[("lines", "3")], "I2", "s.img: "),
        scene(
            "envi terabytes promised",
            &[("lines", "1000000"), ("bands", "1000000")],
            "I2",
            "s.img: ",
        ),
        scene(
            "envi offset beyond the file",
            &[("header offset", "100")],
            "I2",
            "s.img: ",
        ),
        scene(
            "envi offset beyond any file",
            &[("header offset", "18446744073709551615")],
            "I2",
            "beyond any file",
        ),
        scene(
            "envi complex",
            &[("data type", "6")],
            "I4",
            "complex numbers (ENVI data type 6)",
        ),
        scene(
            "envi unknown type",
            &[("data type", "7")],
            "I4",
            "the unknown ENVI data type 7",
        ),
        scene(
            "envi unknown order",
            &[("interleave", "bqs")],
            "I5",
            "interleave = \"bqs\", not bsq, bil or bip",
        ),
        scene(
            "envi unknown byte order",
            &[("byte order", "2")],
            "I5",
            "byte order = 2, not 0 or 1",
        ),
        scene(
            "envi two sizes",
            &[("samples", "3\nsamples = 4")],
            "I5",
            "samples is \"3\" on line 2 and \"4\" on line 3",
        ),
        scene(
            "envi open braces",
            &[("wavelength", "{1, 2, 3")],
            "I5",
            "the braces of \"wavelength\"",
        ),
        scene(
            "envi words for a wavelength",
            &[("wavelength", "{1, x, 3, 4}")],
            "I5",
            "in the list \"wavelength\"",
        ),
        scene(
            "envi compressed",
            &[("file compression", "1")],
            "I5",
            "compressed",
        ),
        scene(
            "envi spectral library",
            &[("file type", "ENVI Spectral Library")],
            "I5",
            "spectral library",
        ),
        scene(
            "envi classification",
            &[("file type", "ENVI Classification")],
            "I5",
            "not a scene",
        ),
        scene(
            "envi words for no data",
            &[("data ignore value", "none")],
            "I5",
            "data ignore value is \"none\"",
        ),
        Case {
            beside: Some(("s.img", vec![0; 24])),
            ..alone(
                "envi without a pixel",
                header(&[]),
                "I3",
                "a scene of 2 x 3 pixels in which",
            )
        },
        Case::new(
            "envi data without header",
            "s.bsq",
            vec![1; 24],
            "I5",
            "its header (.hdr) beside it",
        ),
    ]
}

/// A table that lists one picture, beside that picture.
fn picture(
    name: &'static str,
    file: &'static str,
    bytes: Vec<u8>,
    code: &'static str,
    says: &'static str,
) -> Case {
    let table = format!("image,label\n{file},a\n").into_bytes();
    Case {
        beside: Some((file, bytes)),
        ..Case::new(name, "list.csv", table, code, says)
    }
}

/// A PNG as far as its header, of this size and colour type.
fn png(width: u32, height: u32, colours: u8) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, colours, 0, 0, 0, 0, 0, 0, 0]);
    bytes
}

/// Bad pictures.
pub fn picture_cases() -> Vec<Case> {
    vec![
        picture(
            "picture empty",
            "p.png",
            Vec::new(),
            "I5",
            "p.png: the file is empty",
        ),
        picture(
            "picture of words",
            "p.jpg",
            b"hello".to_vec(),
            "I5",
            "p.jpg: not a PNG or JPEG picture",
        ),
        picture(
            "picture is a GIF",
            "p.png",
            b"GIF89a\x01\0\x01\0".to_vec(),
            "I5",
            "not PNG or JPEG",
        ),
        picture(
            "picture is an SVG",
            "p.png",
            b"<svg xmlns='x'/>".to_vec(),
            "I5",
            "not PNG or JPEG",
        ),
        picture(
            "png only its mark",
            "p.png",
            b"\x89PNG\r\n\x1a\n".to_vec(),
            "I5",
            "a PNG without its header",
        ),
        picture(
            "png of 60000 x 60000",
            "p.png",
            png(60_000, 60_000, 2),
            "I14",
            "too large to show (60000 x 60000)",
        ),
        picture(
            "png of 20001 x 1",
            "p.png",
            png(20_001, 1, 0),
            "I14",
            "too large to show (20001 x 1)",
        ),
        picture(
            "png of no pixels",
            "p.png",
            png(0, 5, 2),
            "I5",
            "a picture of 0 x 5 pixels",
        ),
        picture(
            "png larger than its file",
            "p.png",
            png(9_000, 9_000, 2),
            "I5",
            "cannot be in a file of",
        ),
        picture(
            "png of an unknown kind",
            "p.png",
            png(4, 4, 9),
            "I5",
            "p.png: ",
        ),
        picture(
            "jpeg only its mark",
            "p.jpg",
            b"\xff\xd8\xff\xe0".to_vec(),
            "I5",
            "p.jpg: ",
        ),
        picture(
            "jpeg without a picture",
            "p.jpeg",
            b"\xff\xd8\xff\xd9".to_vec(),
            "I5",
            "a JPEG without a picture",
        ),
    ]
}

/// Bad files of texts.
pub fn text_cases() -> Vec<Case> {
    let mut long = b"a text\n".to_vec();
    long.resize(long.len() + (17 << 20), b'x');
    let text = |name, bytes: Vec<u8>, code, says| Case::new(name, "t.txt", bytes, code, says);
    vec![
        text(
            "pictures listed outside",
            b"a.png\nb/c.jpg\n/d.png\n".to_vec(),
            "I5",
            "folder of the table (line 3: ",
        ),
        text(
            "pictures listed, one missing",
            b"a.png\nb.gif\nc.jpg\n".to_vec(),
            "I6",
            "3 bad rows: line 1: there is no",
        ),
        text("texts none", Vec::new(), "I3", "no rows"),
        text("texts blank", b" \n\r\n\t\n".to_vec(), "I3", "no rows"),
        text(
            "texts in no encoding",
            b"a caf\x81 today\nand again\n".to_vec(),
            "I6",
            "line 1: not valid UTF-8",
        ),
        text(
            "texts with a NUL",
            b"one thing\nand \0 another\n".to_vec(),
            "I6",
            "line 2",
        ),
        text(
            "texts with a line of 17 MiB",
            long,
            "I6",
            "line 2: longer than 16 MiB",
        ),
        Case::new(
            "texts in a column that is not there",
            "t.csv",
            b"a,b\n1,2\n".to_vec(),
            "U1",
            "no column \"c\"",
        )
        .with(&["--text-column", "c"]),
        Case::new(
            "pictures in a column that is not there",
            "t.csv",
            b"a,b\n1,2\n".to_vec(),
            "U1",
            "no column \"c\"",
        )
        .with(&["--image-column", "c"]),
        Case::new(
            "one column for ids and texts",
            "t.csv",
            b"a,b\nx,2\n".to_vec(),
            "U1",
            "same column",
        )
        .with(&["--text-column", "a", "--id-column", "a"]),
    ]
}

/// A pool of two texts with ids beside a file of features.
fn features(
    name: &'static str,
    file: &'static str,
    bytes: Vec<u8>,
    code: &'static str,
    says: &'static str,
) -> Case {
    let pool = b"id,text\na,one thing\nb,another thing\n".to_vec();
    let case = Case {
        beside: Some((file, bytes)),
        ..Case::new(name, "t.csv", pool, code, says)
    };
    Case {
        args: vec!["--features", file],
        ..case
    }
}

/// Bad files of features.
pub fn feature_cases() -> Vec<Case> {
    let three = npy("'<f8'", "(3, 1)", &f64s(&[1.0, 2.0, 3.0]));
    vec![
        features(
            "features too few",
            "x.npy",
            npy("'<f8'", "(1, 1)", &f64s(&[1.0])),
            "I3",
            "x.npy: 1 row of features for 2 items. Make features for exactly these items",
        ),
        features(
            "features too many",
            "x.npy",
            three,
            "I3",
            "x.npy: 3 rows of features for 2 items",
        ),
        features(
            "features for others",
            "x.csv",
            b"id,v\na,1\nc,2\n".to_vec(),
            "I7",
            "no features for 1 item: \"b\"",
        ),
        features(
            "features of words",
            "x.csv",
            b"id,text\na,x\nb,y\n".to_vec(),
            "I6",
            "x.csv: ",
        ),
        features(
            "features in no file",
            "x.npy",
            good_npy()[..60].to_vec(),
            "I5",
            "x.npy: ",
        ),
        features(
            "features with NaN",
            "x.csv",
            b"id,v\na,1\nb,nan\n".to_vec(),
            "I1",
            "1 non-finite value in 1 row",
        ),
    ]
}
