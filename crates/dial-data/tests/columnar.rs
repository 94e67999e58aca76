//! Parquet and Arrow files written by other libraries (pyarrow, polars), and what happens when their bytes are changed.
#![cfg(feature = "parquet")]

use std::fs;

use dial_data::{Buffer, Error, Pool, ReadOptions, open};
use proptest::prelude::*;

/// A table of id (a, b), x (1.5, -2) and y2 (3, 4 as int16): `pq.write_table(table, path, compression="none",
/// store_schema=False, write_statistics=False, use_dictionary=False)` of pyarrow 26.0.1.
const PARQUET: &str = "\
504152311500152015202c15041500150615061c000000020000000401010000006101000000621500152c152c2c15041500150615061c00 \
0000020000000401000000000000f83f00000000000000c01500151c151c2c15041500150615061c00000002000000040103000000040000 \
001504194c35001806736368656d61150600150c25021802696425004c1c000000150a250218017800150225021802793225204cac131011 \
0000001604191c193c26001c150c19250600191802696415001604164616462608491c150015001502003c16041906192600040000002600 \
1c150a19250600191801781500160416521652264e491c150015001502003c29061926000400000026001c15021925060019180279321500 \
16041642164226a001491c150015001502003c29061926000400000016da011604260816da01002820706172717565742d6370702d617272 \
6f772076657273696f6e2032362e302e31193c1c00001c00001c000000fc00000050415231";

/// The same table by `pa.ipc.new_stream`.
const ARROW: &str = "\
ffffffffd80000001000000000000a000c000600050008000a000000000104000c0000000800080000000400080000000400000003000000 \
7c0000003c00000004000000a0ffffff00000102100000001c0000000400000000000000020000007932000008000c000800070008000000 \
0000000110000000d4ffffff0000010310000000180000000400000000000000010000007800060008000600060000000000020010001400 \
0800060007000c00000010001000000000000105100000001800000004000000000000000200000069640000040004000400000000000000 \
fffffffff800000014000000000000000c0016000600050008000c000c0000000003040018000000300000000000000000000a0018000c00 \
040008000a0000008c0000001000000002000000000000000000000007000000000000000000000000000000000000000000000000000000 \
0c00000000000000100000000000000002000000000000001800000000000000000000000000000018000000000000001000000000000000 \
2800000000000000000000000000000028000000000000000400000000000000000000000300000002000000000000000000000000000000 \
0200000000000000000000000000000002000000000000000000000000000000000000000100000002000000000000006162000000000000 \
000000000000f83f00000000000000c00300040000000000ffffffff00000000";

/// A file of id (a, b), x (1.5, -2) and y2 (3, 4 as int16) by `write_ipc` of polars 2.1.0: after the mark stands a bare
/// schema, and words are views.
const POLARS: &str = "\
4152524f5731000004000000f2ffffff140000000400010000000a000b0008000a000400f8ffffff0c000000080008000000040003000000 \
6c0000003c000000040000008cffffff2800000010000000080000000102000000000000f4ffffff10000000010000000800090004000800 \
0200000079320000c0ffffff2000000010000000080000000103000000000000faffffff02000600060004000100000078000000ecffffff \
2c00000020000000180000000118000010001200040010001100080000000c0000000000fcffffff04000400020000006964000000000000 \
fffffffff800000004000000ecffffffc00000000000000014000000040003000c001300100012000c000400e6ffffff0200000000000000 \
94000000280000001400000000000e00180004000c0010000000140001000000000000000000000000000000060000000000000000000000 \
0000000000000000000000000000000020000000000000004000000000000000000000000000000040000000000000001000000000000000 \
8000000000000000000000000000000080000000000000000400000000000000000000000300000002000000000000000000000000000000 \
0200000000000000000000000000000002000000000000000000000000000000010000006100000000000000000000000100000062000000 \
00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000f83f00000000000000c0 \
0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000300040000000000 \
0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000 \
ffffffff0000000004000000ecffffff400000003800000014000000040000000c0012001000040008000c0001000000e000000000000000 \
0001000000000000c0000000000000000000000000000000f8ffffff0c0000000800080000000400030000006c0000003c00000004000000 \
8cffffff2800000010000000080000000102000000000000f4ffffff100000000100000008000900040008000200000079320000c0ffffff \
2000000010000000080000000103000000000000faffffff02000600060004000100000078000000ecffffff2c0000002000000018000000 \
0118000010001200040010001100080000000c0000000000fcffffff0400040002000000696400ff0000004152524f5731";

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap() as u8;
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits
        .chunks(2)
        .map(|pair| 16 * digit(pair[0]) + digit(pair[1]))
        .collect()
}

fn read(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Pool, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    open(path.to_str().unwrap(), options, 0, &dial::Control::new())
}

#[test]
fn tables_of_another_library() {
    for (name, hex) in [
        ("a.parquet", PARQUET),
        ("a.arrow", ARROW),
        ("a", PARQUET),
        ("a", ARROW),
        ("a", POLARS),
    ] {
        let pool = read(name, &bytes(hex), &ReadOptions::default()).unwrap();
        assert_eq!(
            pool.matrix.values,
            Buffer::F64(vec![1.5, 3.0, -2.0, 4.0]),
            "{name}"
        );
        assert_eq!(pool.ids.unwrap(), ["a", "b"]);
        assert_eq!((pool.name.as_str(), pool.notes.len()), ("a", 0));
        let drop = ReadOptions {
            drop_columns: vec!["x".into()],
            ..ReadOptions::default()
        };
        assert_eq!(
            read(name, &bytes(hex), &drop).unwrap().matrix.values,
            Buffer::F64(vec![3.0, 4.0])
        );
        let label = ReadOptions {
            label_column: Some("y2".into()),
            ..ReadOptions::default()
        };
        assert_eq!(
            read(name, &bytes(hex), &label)
                .unwrap()
                .truth
                .unwrap()
                .classes,
            ["3", "4"]
        );
        let none = ReadOptions {
            label_column: Some("z".into()),
            ..ReadOptions::default()
        };
        assert_eq!(read(name, &bytes(hex), &none).unwrap_err().code(), "U1");
    }
}

#[test]
fn labels_and_features_from_such_files() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let (features, labels) = (
        write("f.parquet", &bytes(PARQUET)),
        write("l.arrow", &bytes(ARROW)),
    );
    let pool = write(
        "p.jsonl",
        b"{\"id\":\"b\",\"text\":\"two\"}\n{\"id\":\"a\",\"text\":\"one\"}\n",
    );
    let options = ReadOptions {
        features_file: Some(features),
        labels_file: Some(labels),
        label_column: Some("y2".into()),
        ..ReadOptions::default()
    };
    // The pool itself has no column y2; labels come from the file of labels.
    let own = ReadOptions {
        label_column: None,
        ..options.clone()
    };
    assert_eq!(
        open(pool.to_str().unwrap(), &own, 0, &dial::Control::new())
            .unwrap_err()
            .code(),
        "I12"
    );
    let table = write("p.csv", b"id,y2,text\nb,,two\na,,one\n");
    let read = open(table.to_str().unwrap(), &options, 0, &dial::Control::new()).unwrap();
    assert_eq!(read.matrix.values, Buffer::F64(vec![-2.0, 4.0, 1.5, 3.0]));
    assert_eq!(read.truth.unwrap().labels, [Some(1), Some(0)]);
}

#[test]
fn labels_are_joined_alike_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let csv: &[u8] = b"name,label\nb,two\na,one\n";
    let json: &[u8] = b"{\"name\":\"b\",\"label\":\"two\"}\n{\"name\":\"a\",\"label\":\"one\"}\n";
    for (name, bytes) in [("l.csv", csv), ("l.jsonl", json)] {
        let labels_file = Some(folder.path().join(name));
        fs::write(labels_file.as_ref().unwrap(), bytes).unwrap();
        let options = ReadOptions {
            labels_file,
            ..ReadOptions::default()
        };
        let pool = read("p.csv", b"id,x\na,1\nb,2\n", &options).unwrap();
        assert_eq!(pool.truth.unwrap().labels, [Some(0), Some(1)], "{name}");
        assert_eq!(
            pool.notes,
            ["labels are the column label, joined by id (the column name)"],
            "{name}"
        );
    }
    // The label column of the options counts even where the id column of the pool is not there.
    let labels_file = Some(folder.path().join("l.parquet"));
    fs::write(labels_file.as_ref().unwrap(), bytes(PARQUET)).unwrap();
    let (id_column, label_column) = (Some("key".into()), Some("y2".into()));
    let options = ReadOptions {
        labels_file,
        id_column,
        label_column,
        ..ReadOptions::default()
    };
    let pool = read("p.csv", b"key,x,y2\na,1,\nb,2,\n", &options).unwrap();
    assert_eq!(pool.truth.unwrap().classes, ["3", "4"]);
}

#[test]
fn every_truncation_is_refused() {
    for hex in [PARQUET, ARROW, POLARS] {
        let whole = bytes(hex);
        for end in 8..whole.len() {
            match read("a.dat", &whole[..end], &ReadOptions::default()) {
                Err(error) => assert!(["I2", "I3", "I5"].contains(&error.code()), "{end}: {error}"),
                // The stream is whole where only the mark of its end is missing.
                Ok(pool) => assert!(
                    hex == ARROW && end + 8 == whole.len() && pool.matrix.n == 2,
                    "{end}"
                ),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn changed_bytes_never_panic(
        file in prop::sample::select(&[PARQUET, ARROW, POLARS][..]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = bytes(file);
        for (place, value) in changes {
            let at = place.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok(pool) = read("a.dat", &bytes, &ReadOptions::default()) {
            prop_assert!(pool.matrix.features().is_ok());
            prop_assert!(pool.ids.is_none_or(|ids| ids.len() == pool.matrix.n));
        }
    }
}
