//! Bad npy and npz files.

use super::Case;
use super::build::{
    deflated, end_record, f64s, good_npy, good_npz, i64s, letters, npy, npy_with, stored, zip,
};

/// Bad npy files.
pub fn npy_cases() -> Vec<Case> {
    let mut cases = headers();
    cases.extend(shapes());
    cases.extend(kinds());
    cases.extend(values());
    cases
}

fn headers() -> Vec<Case> {
    let file = |name, bytes, says| Case::new(name, "a.npy", bytes, "I5", says);
    let text = |name, header: &str, says| file(name, npy_with(header, &[]), says);
    let mut version = good_npy();
    version[6] = 9;
    let mut long = b"\x93NUMPY\x02\x00".to_vec();
    long.extend([0xFF; 4]);
    let mut binary = good_npy();
    binary[12] = 0xFF;
    let deep = format!("{}{}", "(".repeat(9000), ")".repeat(9000));
    vec![
        file("npy empty", vec![], "not a NumPy file (the file is empty)"),
        file(
            "npy cut in the magic",
            good_npy()[..5].to_vec(),
            "not a NumPy file (first bytes 93 4E 55 4D)",
        ),
        file(
            "npy is a picture",
            b"\x89PNG\r\n\x1a\n".to_vec(),
            "first bytes 89 50 4E 47: this looks like a PNG picture",
        ),
        file(
            "npy is a pickle",
            b"\x80\x04\x95.".to_vec(),
            "a Python pickle, which this tool never runs",
        ),
        file("npy version 9", version, "NumPy format 9.0 is unknown"),
        file(
            "npy cut in the header",
            good_npy()[..30].to_vec(),
            "ends inside the NumPy header",
        ),
        file("npy header of 4 GiB", long, "claims 4294967295 bytes"),
        file("npy header not text", binary, "header is not text"),
        text(
            "npy header not a literal",
            "__import__('os')",
            "header cannot be read",
        ),
        text("npy header deep", &deep, "header cannot be read"),
        text(
            "npy no shape",
            "{'descr': '<f8', 'fortran_order': False}",
            "lacks 'shape'",
        ),
        text(
            "npy no descr",
            "{'shape': (1, 1), 'fortran_order': False}",
            "lacks 'descr'",
        ),
        text(
            "npy no order",
            "{'descr': '<f8', 'shape': (1, 1)}",
            "lacks 'fortran_order'",
        ),
        text(
            "npy odd order",
            "{'descr': '<f8', 'fortran_order': 3, 'shape': (1, 1)}",
            "whether the order is Fortran's",
        ),
        file("npy shape a number", npy("'<f8'", "6", &[]), "not a tuple"),
        file(
            "npy shape of words",
            npy("'<f8'", "('a', 'b')", &[]),
            "not made of integers",
        ),
    ]
}

fn shapes() -> Vec<Case> {
    let shape =
        |name, shape: &str, says| Case::new(name, "a.npy", npy("'<f8'", shape, &[]), "I3", says);
    let size = |name, bytes, says| Case::new(name, "a.npy", bytes, "I2", says);
    let many = format!("({})", "1, ".repeat(33));
    let six = f64s(&[1.0; 6]);
    vec![
        size(
            "npy promises 32 GiB",
            npy("'<f8'", "(65536, 65536)", &[]),
            "a.npy: header says 65536 x 65536 f64 (32.0 GiB) but the file holds 0 bytes of data.",
        ),
        size(
            "npy one byte short",
            good_npy()[..good_npy().len() - 1].to_vec(),
            "(48 bytes) but the file holds 47 bytes",
        ),
        size(
            "npy one byte long",
            [good_npy(), vec![0]].concat(),
            "(48 bytes) but the file holds 49 bytes",
        ),
        shape(
            "npy product overflows",
            "(4611686018427387904, 4611686018427387904)",
            "overflows",
        ),
        shape(
            "npy bytes overflow",
            "(4611686018427387904, 1)",
            "overflows",
        ),
        shape(
            "npy dimension of 2^70",
            "(1180591620717411303424, 1)",
            "1180591620717411303424 overflows",
        ),
        shape(
            "npy dimension of 60 digits",
            &format!("({}, 1)", "9".repeat(60)),
            "a dimension overflows",
        ),
        shape("npy negative", "(-1, 2)", "negative dimension -1"),
        shape("npy no rows", "(0, 2)", "a.npy: no rows."),
        shape("npy no columns", "(2, 0)", "a.npy: no columns."),
        shape("npy picture without pixels", "(2, 0, 5)", "no columns"),
        shape("npy 33 dimensions", &many, "33 dimensions"),
        Case::new(
            "npy 0-D",
            "a.npy",
            npy("'<f8'", "()", &[0; 8]),
            "I3",
            "0-D: a single value, not a matrix",
        ),
        Case::new(
            "npy 1-D",
            "a.npy",
            npy("'<f8'", "(6,)", &six),
            "I3",
            "1-D: 6 values, not a matrix",
        ),
        Case::new(
            "npy 4-D",
            "a.npy",
            npy("'<f8'", "(1, 1, 2, 3)", &six),
            "I3",
            "4-D: 1 x 1 x 2 x 3, not a matrix",
        ),
    ]
}

fn kinds() -> Vec<Case> {
    let kind = |name, descr: &str, says| {
        Case::new(name, "a.npy", npy(descr, "(1, 1)", &[0; 16]), "I4", says)
    };
    vec![
        kind(
            "npy objects",
            "'|O'",
            "a.npy contains Python objects; this tool never runs pickles. Save plain float32/float64.",
        ),
        kind(
            "npy records",
            "[('a', '<f8'), ('b', '<f8')]",
            "contains records",
        ),
        kind("npy complex", "'<c16'", "contains complex numbers"),
        kind("npy dates", "'<M8[ns]'", "contains dates or times"),
        kind("npy void", "'|V16'", "contains raw records"),
        kind("npy long doubles", "'<f16'", "unknown type \"f16\""),
        kind("npy unknown letter", "'<z8'", "unknown type \"z8\""),
        kind("npy text of no width", "'<U0'", "unknown type \"U0\""),
        kind(
            "npy features in words",
            "'<U4'",
            "contains text instead of numbers",
        ),
    ]
}

fn values() -> Vec<Case> {
    let with = |position: usize, value: f64| {
        let mut values = [1.0; 6];
        values[position] = value;
        npy("'<f8'", "(3, 2)", &f64s(&values))
    };
    let case = |name, bytes, says| Case::new(name, "a.npy", bytes, "I1", says);
    let narrow: Vec<u8> = [1.0, f32::NAN]
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let big: Vec<u8> = [f64::NAN, f64::INFINITY]
        .iter()
        .flat_map(|value| value.to_be_bytes())
        .collect();
    let all = npy("'<f8'", "(2, 1)", &f64s(&[f64::NAN, f64::INFINITY]));
    let fortran = "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2), }";
    let text = "1 non-finite value in 1 row; first at row 0, column 0 (NaN). \
                Fix the file or pass --drop-nonfinite to leave those rows out (they will be listed).";
    vec![
        case("npy NaN first", with(0, f64::NAN), text),
        case(
            "npy Inf last",
            with(5, f64::INFINITY),
            "first at row 2, column 1 (inf)",
        ),
        case(
            "npy -Inf in the middle",
            with(3, f64::NEG_INFINITY),
            "first at row 1, column 1 (-inf)",
        ),
        case(
            "npy NaN in f32",
            npy("'<f4'", "(1, 2)", &narrow),
            "row 0, column 1 (NaN)",
        ),
        case(
            "npy NaN in half",
            npy("'<f2'", "(2, 1)", &[0, 0, 0, 0x7E]),
            "row 1, column 0 (NaN)",
        ),
        case(
            "npy NaN big-endian",
            npy("'>f8'", "(2, 1)", &big),
            "2 non-finite values in 2 rows; first at row 0, column 0",
        ),
        // Columns (1, 2) and (NaN, 3): the NaN is in row 0, column 1.
        case(
            "npy NaN in Fortran order",
            npy_with(fortran, &f64s(&[1.0, 2.0, f64::NAN, 3.0])),
            "row 0, column 1",
        ),
        Case::new(
            "npy nothing finite",
            "a.npy",
            all,
            "I3",
            "every row holds a non-finite value",
        )
        .with(&["--drop-nonfinite"]),
    ]
}

/// Bad npz files.
pub fn npz_cases() -> Vec<Case> {
    let mut cases = archives();
    cases.extend(packings());
    cases.extend(choices());
    cases
}

fn archives() -> Vec<Case> {
    let x = || stored("X.npy", good_npy());
    let case = |name, bytes, says| Case::new(name, "a.npz", bytes, "I5", says);
    let good = good_npz();
    let mut encrypted = x();
    encrypted.flags = 1;
    let mut method = x();
    method.method = 99;
    let mut sizes = x();
    sizes.size += 1;
    let mut renamed = x();
    renamed.local_name = "Y.npy";
    let mut outside = x();
    outside.offset = Some(u32::MAX - 1);
    let mut past = x();
    (past.packed_size, past.size) = (1_000_000, 1_000_000);
    let mut again = x();
    again.offset = Some(0);
    let mut sum = x();
    sum.crc ^= 1;
    let zip64 = [
        b"PK\x03\x04".to_vec(),
        vec![0; 40],
        end_record(u16::MAX, u32::MAX, u32::MAX),
    ]
    .concat();
    let elsewhere = [b"PK\x03\x04".to_vec(), end_record(1, 100, 1000)].concat();
    let garbled = [b"PK\x03\x04".to_vec(), vec![7; 60], end_record(1, 60, 4)].concat();
    vec![
        case(
            "npz not an archive",
            b"hello".to_vec(),
            "not an NPZ file (first bytes 68 65 6C 6C)",
        ),
        case(
            "npz cut",
            good[..good.len() - 30].to_vec(),
            "no directory at its end",
        ),
        case(
            "npz without members",
            end_record(0, 0, 0),
            "a ZIP without arrays",
        ),
        case("npz encrypted", zip(&[encrypted]), "X.npy is encrypted"),
        case(
            "npz method 99",
            zip(&[method]),
            "X.npy is packed by method 99",
        ),
        case(
            "npz stored sizes differ",
            zip(&[sizes]),
            "its two sizes differ",
        ),
        case(
            "npz local name differs",
            zip(&[renamed]),
            "no valid local header",
        ),
        case(
            "npz member outside",
            zip(&[outside]),
            "no valid local header",
        ),
        case("npz member too long", zip(&[past]), "reaches past the data"),
        case("npz members overlap", zip(&[x(), again]), "overlap"),
        case(
            "npz checksum",
            zip(&[sum]),
            "array X: the checksum does not match",
        ),
        case("npz ZIP64 missing", zip64, "ZIP64 directory cannot be read"),
        case(
            "npz directory outside",
            elsewhere,
            "directory lies outside the file",
        ),
        case("npz directory garbled", garbled, "directory cannot be read"),
    ]
}

fn packings() -> Vec<Case> {
    let x = || deflated("X.npy", good_npy());
    let mut garbage = x();
    let end = garbage.packed.len();
    garbage.packed[end / 2..].fill(0xFF);
    let mut more = deflated("X.npy", [good_npy(), vec![0]].concat());
    more.size -= 1;
    let mut fewer = x();
    fewer.packed = deflated("X.npy", good_npy()[..good_npy().len() - 9].to_vec()).packed;
    fewer.packed_size = fewer.packed.len() as u32;
    let claims = |rows: u32, packed: usize| {
        let mut part = deflated("X.npy", npy("'|u1'", &format!("({rows}, 1)"), &[]));
        part.size += rows;
        part.packed.resize(packed, 0);
        part.packed_size = packed as u32;
        zip(&[part])
    };
    let lie = npy("'<f8'", "(65536, 65536)", &[]);
    vec![
        Case::new("npz garbage", "a.npz", zip(&[garbage]), "I5", "array X"),
        Case::new(
            "npz unpacks to more",
            "a.npz",
            zip(&[more]),
            "I2",
            "unpacking gives more",
        ),
        Case::new(
            "npz unpacks to less",
            "a.npz",
            zip(&[fewer]),
            "I2",
            "unpacking gives",
        ),
        Case::new(
            "npz impossible promise",
            "a.npz",
            claims(4_000_000_000, 1000),
            "I2",
            "claim to unpack to 3.7 GiB",
        ),
        Case::new(
            "npz bomb",
            "a.npz",
            claims(300 << 20, 400_000),
            "I14",
            "claim to unpack to 300.0 MiB",
        ),
        Case::new(
            "npz array lies",
            "a.npz",
            zip(&[stored("X.npy", lie)]),
            "I2",
            "array X: header says 65536 x 65536",
        ),
    ]
}

fn choices() -> Vec<Case> {
    let x = |name| stored(name, good_npy());
    let labels = |labels: Vec<u8>| zip(&[x("X.npy"), stored("labels.npy", labels)]);
    let ids = |ids: Vec<u8>| zip(&[x("X.npy"), stored("ids.npy", ids)]);
    let case = |name, bytes, code, says| Case::new(name, "a.npz", bytes, code, says);
    let vector = || npy("'<i8'", "(2,)", &i64s(&[1, 2]));
    let object = npy("'|O'", "(3, 1)", b"\x80\x04.");
    let fractions = npy("'<f8'", "(3,)", &f64s(&[0.0, 1.0, 0.5]));
    vec![
        case(
            "npz two matrices",
            zip(&[x("a.npy"), x("b.npy")]),
            "I5",
            "several arrays could be the features: a (3 x 2), b",
        ),
        case(
            "npz no matrix",
            zip(&[stored("a.npy", vector()), stored("b.npy", vector())]),
            "I5",
            "no array X and no matrix",
        ),
        case(
            "npz other members",
            zip(&[stored("readme.txt", b"hi".to_vec())]),
            "I5",
            "a ZIP without arrays",
        ),
        case(
            "xlsx",
            zip(&[stored("xl/workbook.xml", b"hi".to_vec())]),
            "I5",
            "an Excel workbook",
        ),
        case(
            "npz no such array",
            zip(&[x("X.npy")]),
            "U1",
            "no array \"Z\"; found X (3 x 2)",
        )
        .with(&["--variable", "Z"]),
        case(
            "npz no such array of labels",
            zip(&[x("X.npy")]),
            "U1",
            "no array \"species\"; found X (3 x 2)",
        )
        .with(&["--label-column", "species"]),
        case(
            "npz features as labels",
            zip(&[x("X.npy")]),
            "U1",
            "cannot be the same array",
        )
        .with(&["--label-column", "X"]),
        case(
            "npz column to drop",
            zip(&[x("X.npy")]),
            "U1",
            "only the columns of a table have names",
        )
        .with(&["--drop-column", "a"]),
        case(
            "npz objects",
            zip(&[stored("X.npy", object)]),
            "I4",
            "array X contains Python objects; this tool never",
        ),
        case(
            "npz too few labels",
            labels(vector()),
            "I12",
            "array labels: 2 labels for 3 rows",
        ),
        case(
            "npz labels in fractions",
            labels(fractions),
            "I12",
            "the label of row 2 is 0.5",
        ),
        case(
            "npz too few ids",
            ids(letters("ab")),
            "I7",
            "array ids: 2 ids for 3 rows",
        ),
        case(
            "npz double id",
            ids(letters("aba")),
            "I7",
            "id \"a\" appears at rows 0 and 2.",
        ),
        case(
            "npz empty id",
            ids(letters("a\0b")),
            "I7",
            "row 1 has no id",
        ),
        case(
            "npz ids in fractions",
            ids(npy("'<f8'", "(3,)", &f64s(&[0.5; 3]))),
            "I7",
            "neither text nor integers",
        ),
        case(
            "npz broken text",
            ids(npy("'<U1'", "(1,)", &[0xFF; 4])),
            "I5",
            "text of entry 0 is not valid",
        ),
    ]
}
