//! Bad IDX and MATLAB files.

use super::Case;
use super::build::{element, f64s, good_array, gzip, idx, mat, mat_array, mat_header, packed};

/// Bad IDX files, gzipped or not.
pub fn idx_cases() -> Vec<Case> {
    let file = |name, bytes, code, says| Case::new(name, "a-idx3-ubyte", bytes, code, says);
    let zipped = |name, bytes, code, says| Case::new(name, "a-idx3-ubyte.gz", bytes, code, says);
    let good = || idx(8, &[2, 1, 2], &[1, 2, 3, 4]);
    let half = gzip(&good());
    let mut sum = gzip(&good());
    let end = sum.len();
    sum[end - 8] ^= 1;
    let mut pair = Case::new(
        "idx labels beside",
        "t-images-idx3-ubyte",
        good(),
        "I12",
        "3 labels for 2 rows",
    );
    pair.beside = Some(("t-labels-idx1-ubyte", idx(8, &[3], &[0, 1, 2])));
    vec![
        file(
            "idx not one",
            b"hello".to_vec(),
            "I5",
            "not an IDX file (first bytes 68 65 6C 6C)",
        ),
        file(
            "idx cut in the header",
            good()[..10].to_vec(),
            "I5",
            "ends inside the IDX header",
        ),
        file(
            "idx one byte short",
            good()[..19].to_vec(),
            "I2",
            "header says 2 x 1 x 2 u8 (4 bytes) but the file holds 3 bytes",
        ),
        file(
            "idx one byte long",
            [good(), vec![0]].concat(),
            "I2",
            "but the file holds 5 bytes",
        ),
        file(
            "idx promises 64 GiB",
            idx(8, &[65536, 1024, 1024], &[]),
            "I2",
            "(64.0 GiB) but the file holds 0 bytes",
        ),
        file(
            "idx overflows",
            idx(8, &[u32::MAX; 4], &[]),
            "I3",
            "overflows",
        ),
        file("idx 1-D", idx(8, &[3], &[1, 2, 3]), "I3", "1-D: 3 values"),
        file("idx no rows", idx(8, &[0, 5, 5], &[]), "I3", "no rows"),
        file("idx no pixels", idx(8, &[5, 0, 5], &[]), "I3", "no columns"),
        file(
            "idx unknown type",
            idx(0x0A, &[1], &[1]),
            "I5",
            "not an IDX file",
        ),
        file(
            "idx NaN",
            idx(13, &[1, 1], &[0x7F, 0xC0, 0, 0]),
            "I1",
            "row 0, column 0 (NaN)",
        ),
        zipped(
            "gz of text",
            gzip(b"a,b\n1,2\n"),
            "I5",
            "not an IDX file (first bytes 61 2C 62 0A)",
        ),
        zipped(
            "gz of unknown type",
            gzip(&idx(0x0A, &[1, 1], &[1])),
            "I5",
            "not an IDX file (first bytes 00 00 0A 02)",
        ),
        zipped(
            "gz cut",
            half[..half.len() / 2].to_vec(),
            "I5",
            "a-idx3-ubyte.gz: the gzip data end too early",
        ),
        zipped(
            "gz checksum",
            sum,
            "I5",
            "the gzip data are broken after 20 bytes unpacked (",
        ),
        zipped(
            "gz holds less",
            gzip(&good()[..18]),
            "I2",
            "header says 2 x 1 x 2 u8 (4 bytes) but the file holds 2 bytes",
        ),
        zipped(
            "gz holds more",
            gzip(&[good(), vec![0; 9]].concat()),
            "I2",
            "(4 bytes) but the file holds 13 bytes",
        ),
        zipped(
            "gz impossible promise",
            gzip(&idx(8, &[65536, 1024, 1024], &[])),
            "I2",
            "(64.0 GiB) but the file holds 0 bytes",
        ),
        zipped("gz is not gzip", b"hello".to_vec(), "I5", "not a gzip file"),
        pair,
    ]
}

/// Bad MATLAB files.
pub fn mat_cases() -> Vec<Case> {
    let mut cases = elements();
    cases.extend(variables());
    cases
}

fn doubles(values: &[f64]) -> Vec<u8> {
    element(false, 9, &f64s(values))
}

fn elements() -> Vec<Case> {
    let file = |name, bytes, code, says| Case::new(name, "a.mat", bytes, code, says);
    let good = || mat(&[good_array("X")]);
    let mut hdf5 = b"MATLAB 7.3 MAT-file".to_vec();
    hdf5.resize(512, b' ');
    hdf5.extend(b"\x89HDF\r\n\x1a\n");
    let promise = [mat_header(false), vec![14, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0x7F]].concat();
    // A short element that claims 9 bytes in its 4.
    let short = [
        mat_header(false),
        element(false, 14, &[6, 0, 9, 0, 0, 0, 0, 0]),
    ]
    .concat();
    let mut broken = packed(&good_array("X"));
    let middle = broken.len() / 2;
    broken[middle..].fill(0xFF);
    let mut lie = good_array("X");
    lie[4] = lie[4].wrapping_add(8);
    let mut bomb = good_array("X");
    bomb[4..8].copy_from_slice(&(2_000_000_000u32).to_le_bytes());
    let count = mat_array(false, 6, &[3, 3], "X", &doubles(&[1.0; 6]));
    let huge = mat_array(false, 6, &[i32::MAX, i32::MAX], "X", &doubles(&[]));
    vec![
        file(
            "mat cut",
            mat_header(false)[..100].to_vec(),
            "I5",
            "not a MATLAB v5/v7 file (first bytes 4D 41 54 4C: this looks",
        ),
        file(
            "mat is text",
            b"x = 1;".to_vec(),
            "I5",
            "not a MATLAB v5/v7 file",
        ),
        file("mat version 7.3", hdf5, "I5", "-v7"),
        file(
            "mat is HDF5",
            b"\x89HDF\r\n\x1a\n0000".to_vec(),
            "I5",
            "HDF5 (MATLAB v7.3)",
        ),
        file(
            "mat promises 2 GiB",
            promise,
            "I2",
            "an element says 2.0 GiB but the file holds 0 bytes",
        ),
        file(
            "mat cut in a tag",
            [mat_header(false), vec![14, 0]].concat(),
            "I5",
            "ends inside an element",
        ),
        file(
            "mat cut in the values",
            good()[..good().len() - 8].to_vec(),
            "I2",
            "an element says",
        ),
        file(
            "mat short element too long",
            short,
            "I5",
            "a short element is too long",
        ),
        file(
            "mat packed garbage",
            [mat_header(false), broken].concat(),
            "I5",
            "packed",
        ),
        file(
            "mat packed size lies",
            mat(&[packed(&lie)]),
            "I2",
            "unpacking gives",
        ),
        file(
            "mat impossible promise",
            mat(&[packed(&bomb)]),
            "I2",
            "claim to unpack to 1.9 GiB",
        ),
        file(
            "mat values missing",
            mat(&[count]),
            "I2",
            "array X: header says 3 x 3 f64 but the array holds 48 bytes",
        ),
        file(
            "mat 2^62 values",
            mat(&[huge]),
            "I2",
            "header says 2147483647 x 2147483647",
        ),
        file(
            "mat overflows",
            mat(&[mat_array(false, 6, &[i32::MAX; 4], "X", &doubles(&[]))]),
            "I3",
            "overflows",
        ),
    ]
}

fn variables() -> Vec<Case> {
    let file =
        |name, arrays: &[Vec<u8>], code, says| Case::new(name, "a.mat", mat(arrays), code, says);
    let array =
        |class, shape: &[i32], name, values: &[u8]| mat_array(false, class, shape, name, values);
    let numbers = |values: &[u8]| element(false, 2, values);
    let kind = array(6, &[3, 2], "X", &element(false, 99, &[0; 48]));
    vec![
        file("mat nothing", &[], "I5", "no numeric matrix; found nothing"),
        file(
            "mat cells",
            &[array(1, &[1, 1], "c", &[])],
            "I5",
            "no numeric matrix; found c (cells)",
        ),
        file(
            "mat structure and text",
            &[array(2, &[1, 1], "s", &[]), array(4, &[1, 1], "t", &[])],
            "I5",
            "s (a structure), t (text)",
        ),
        file(
            "mat sparse",
            &[array(5, &[3, 3], "W", &[])],
            "I5",
            "W (a sparse matrix)",
        ),
        file(
            "mat complex",
            &[array(6 | 0x800, &[1, 1], "z", &[])],
            "I5",
            "z (complex numbers)",
        ),
        file(
            "mat several",
            &[good_array("a"), good_array("b")],
            "I5",
            "several arrays are possible: a (3 x 2), b (3 x 2)",
        ),
        file(
            "mat no such variable",
            &[good_array("a")],
            "U1",
            "no variable \"q\"; found a (3 x 2)",
        )
        .with(&["--variable", "q"]),
        file(
            "mat no such labels",
            &[good_array("a")],
            "U1",
            "no variable \"kind\"; found a (3 x 2)",
        )
        .with(&["--label-column", "kind"]),
        file(
            "mat features as labels",
            &[good_array("a")],
            "U1",
            "cannot be the same array",
        )
        .with(&["--label-column", "a"]),
        file(
            "mat variable is text",
            &[array(4, &[1, 1], "t", &[])],
            "I4",
            "text instead of numbers in t",
        )
        .with(&["--variable", "t"]),
        file(
            "mat no rows",
            &[array(6, &[0, 3], "X", &doubles(&[]))],
            "I3",
            "array X: no rows",
        ),
        file(
            "mat negative",
            &[array(6, &[-3, 2], "X", &[])],
            "I3",
            "negative dimension -3",
        ),
        file(
            "mat 33 dimensions",
            &[array(6, &[1; 33], "X", &[])],
            "I3",
            "33 dimensions",
        ),
        file(
            "mat 4-D",
            &[array(9, &[1, 1, 2, 2], "X", &numbers(&[0; 4]))],
            "I3",
            "4-D: 1 x 1 x 2 x 2",
        ),
        file(
            "mat unknown values",
            &[kind],
            "I5",
            "unknown MATLAB type 99",
        ),
        file(
            "mat NaN",
            &[array(6, &[2, 1], "X", &doubles(&[0.0, f64::NAN]))],
            "I1",
            "row 1, column 0 (NaN)",
        ),
        file(
            "mat too few labels",
            &[good_array("X"), array(9, &[1, 2], "gt", &numbers(&[0, 1]))],
            "I12",
            "array gt: 2 labels for 3 rows",
        ),
    ]
}
