//! What people have that no format foresees, through the door that everybody uses: `open`.

use std::fs;
use std::path::Path;

use dial::Control;
use dial_data::{Buffer, Error, Pool, ReadOptions, Show, open};

fn read(path: &Path, options: &ReadOptions) -> Result<Pool, Error> {
    open(path.to_str().unwrap(), options, 0, &Control::new())
}

fn none() -> ReadOptions {
    ReadOptions::default()
}

/// A scene of 2 x 2 pixels with 2 bands of bytes.
const SCENE: &str = "ENVI\nsamples = 2\nlines = 2\nbands = 2\ndata type = 1\ninterleave = bip\n";
const SCENE_DATA: [u8; 8] = [1, 9, 2, 8, 3, 5, 4, 2];

#[test]
fn tables_that_begin_like_something_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    for first in ["PAR1", "PARE", "ARROW1", "BZh9", "GIF8", "FEA1"] {
        fs::write(&path, format!("{first},b\n1,2\n3,4\n")).unwrap();
        let pool = read(&path, &none()).unwrap();
        assert_eq!(
            (pool.matrix.values, pool.show),
            (
                Buffer::F64(vec![1.0, 2.0, 3.0, 4.0]),
                Show::Numbers(vec![first.into(), "b".into()])
            )
        );
    }
}

#[test]
fn scenes_whose_files_are_spelt_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    for (header, data) in [("a.Hdr", "a.Img"), ("b.HDR", "b.DAT"), ("c.hdr", "c.Bsq")] {
        fs::write(folder.path().join(header), format!("\u{feff}{SCENE}")).unwrap();
        fs::write(folder.path().join(data), SCENE_DATA).unwrap();
        for name in [header, data] {
            assert_eq!(
                read(&folder.path().join(name), &none()).unwrap().matrix.n,
                4,
                "{name}"
            );
        }
    }
}

#[test]
fn classes_of_one_name_stay_apart() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    fs::write(place("s.hdr"), SCENE).unwrap();
    fs::write(place("s.img"), SCENE_DATA).unwrap();
    fs::write(place("gt.img"), [1, 2, 3, 0]).unwrap();
    let labelled = |names: &str, classes: usize| {
        let header = "ENVI\nsamples = 2\nlines = 2\nbands = 1\ndata type = 1\ninterleave = bsq\nfile type = ENVI Classification\n";
        fs::write(
            place("gt.hdr"),
            format!("{header}classes = {classes}\nclass names = {{{names}}}\n"),
        )
        .unwrap();
        let options = ReadOptions {
            labels_file: Some(place("gt.hdr")),
            ..none()
        };
        let pool = read(&place("s.hdr"), &options).unwrap();
        (pool.truth.unwrap().classes.join("|"), pool.notes.join("; "))
    };
    let (classes, notes) = labelled("Unclassified, grass, road, grass", 4);
    assert_eq!(classes, "grass|grass (class 3)|road");
    assert!(
        notes.contains("several classes of the header have one name (\"grass\")"),
        "{notes}"
    );
    let (classes, notes) = labelled("Unclassified, grass, road, paved, roof", 4);
    assert_eq!(classes, "1|2|3");
    assert!(notes.contains("skipped: 5 names for 4 classes"), "{notes}");
}

#[test]
fn lists_of_pictures_say_which_line_is_bad() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    fs::create_dir(place("p")).unwrap();
    for (at, shade) in [10u8, 200, 90].into_iter().enumerate() {
        image::GrayImage::from_fn(8, 8, |x, _| image::Luma([shade / (1 + x as u8)]))
            .save(place(&format!("p/{at}.png")))
            .unwrap();
    }
    fs::write(place("p/bad.png"), "no picture").unwrap();
    let absolute = place("p/1.png").display().to_string();
    fs::write(
        place("good.csv"),
        format!("image\np/0.png\n{absolute}\np/2.png\n"),
    )
    .unwrap();
    let pool = read(&place("good.csv"), &none()).unwrap();
    let Show::Images(images) = &pool.show else {
        panic!("{:?}", pool.show)
    };
    assert_eq!(images.files, ["p/0.png", "p/1.png", "p/2.png"]);
    fs::write(place("bad.csv"), "image\np/0.png\np/bad.png\np/2.png\n").unwrap();
    let error = read(&place("bad.csv"), &none()).unwrap_err();
    assert_eq!(
        (error.code(), error.place.as_str()),
        ("I5", place("bad.csv").to_str().unwrap())
    );
    let text = error.to_string();
    assert!(
        text.contains(
            "1 of 3 pictures cannot be read: line 3: p/bad.png: not a PNG or JPEG picture"
        ),
        "{text}"
    );
    fs::write(place("out.csv"), "image\n/elsewhere/0.png\n").unwrap();
    let text = read(&place("out.csv"), &none()).unwrap_err().to_string();
    assert!(
        text.contains(
            "1 picture is outside the folder of the table (line 2: \"/elsewhere/0.png\")"
        ),
        "{text}"
    );
}

#[test]
fn an_array_is_named_only_where_there_are_arrays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    fs::write(&path, "a,b\n1,2\n3,4\n").unwrap();
    let named = ReadOptions {
        variable: Some("X".into()),
        ..none()
    };
    let error = read(&path, &named).unwrap_err();
    assert_eq!(error.code(), "U1");
    assert!(
        error
            .to_string()
            .contains("--variable is for the arrays of an npz or mat file"),
        "{error}"
    );
    assert_eq!(
        open("builtin:moons", &named, 0, &Control::new())
            .unwrap_err()
            .code(),
        "U1"
    );
}

#[cfg(feature = "parquet")]
mod ragged {
    use std::sync::Arc;

    use arrow_array::types::Float64Type;
    use arrow_array::{ArrayRef, ListArray, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;

    use super::*;

    #[test]
    fn lists_of_other_lengths_are_bad_rows() {
        let rows = [
            vec![Some(1.0)],
            vec![Some(1.0), Some(2.0)],
            vec![],
            vec![Some(3.0), Some(4.0)],
        ];
        let lists = ListArray::from_iter_primitive::<Float64Type, _, _>(rows.into_iter().map(Some));
        let ids: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c", "d"]));
        let batch =
            RecordBatch::try_from_iter(vec![("id", ids), ("v", Arc::new(lists) as ArrayRef)])
                .unwrap();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        fs::write(&path, writer.into_inner().unwrap()).unwrap();
        let error = read(&path, &none()).unwrap_err();
        assert_eq!(error.code(), "I6");
        let text = error.to_string();
        assert!(
            text.contains("2 bad rows: row 0: v is a list of 1, expected 2; row 2: v has no list."),
            "{text}"
        );
        let pool = read(
            &path,
            &ReadOptions {
                skip_bad: true,
                ..none()
            },
        )
        .unwrap();
        assert_eq!(pool.matrix.values, Buffer::F64(vec![1.0, 2.0, 3.0, 4.0]));
        assert_eq!(pool.ids.unwrap(), ["b", "d"]);
        assert!(
            pool.notes[0].starts_with("left out 2 bad rows: row 0: v is a list of 1"),
            "{:?}",
            pool.notes
        );
    }
}
