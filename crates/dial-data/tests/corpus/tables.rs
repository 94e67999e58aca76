//! Bad tables and bad files of labels.

use super::Case;
use super::build::{element, f64s, good_npy, good_npz, i64s, idx, mat, mat_array, npy};

fn case(name: &'static str, text: &[u8], code: &'static str, says: &'static str) -> Case {
    Case::new(name, "a.csv", text.to_vec(), code, says)
}

/// Bad csv and tsv files.
pub fn table_cases() -> Vec<Case> {
    let mut cases = rows();
    cases.extend(ids_and_columns());
    cases.extend(json_cases());
    cases
}

fn rows() -> Vec<Case> {
    let mut long = b"a,b\n1,2\n3,".to_vec();
    long.resize(long.len() + (17 << 20), b'4');
    let many: String = (0..33).map(|_| "1\n").collect();
    vec![
        case("csv empty", b"", "I3", "a.csv: no rows."),
        case("csv blank lines only", b"\n\r\n\n", "I3", "no rows"),
        case("csv header only", b"a,label\n", "I3", "no rows"),
        case(
            "csv short row",
            b"a,b\n1,2\n3\n",
            "I6",
            "1 bad row: line 3: 1 cell, expected 2.",
        ),
        case(
            "csv long row",
            b"a,b\n1,2,3\n4,5\n",
            "I6",
            "line 2: 3 cells, expected 2",
        ),
        case(
            "csv bad number",
            b"a,b\n1,2\n3,x\n",
            "I6",
            "line 3: column b is not a number (\"x\")",
        ),
        case(
            "csv bad number without header",
            b"1,2\n3,x\n",
            "I6",
            "line 2: column 1 is not a number (\"x\")",
        ),
        case(
            "csv missing everywhere",
            b"a,b,label\n,NA,x\nnull,,y\n",
            "I3",
            "no columns of numbers",
        ),
        case(
            "csv decimal comma",
            b"a,b\n1,2\n\"1,5\",2\n",
            "I6",
            "line 3: column a is not a number (\"1,5\": decimals need a point, or --decimal comma)",
        ),
        case(
            "csv decimal comma or thousands",
            b"a;b\n1;2\n1,500;2\n",
            "I6",
            "(\"1,500\": decimals need a point, or",
        ),
        case(
            "csv point among decimal commas",
            b"a;b\n1,5;2,25\n3.5;4\n3,5;4\n",
            "I6",
            "2 bad rows: line 2: column a is not a number",
        ),
        case(
            "csv column of words",
            b"city\nRome\nOslo\n",
            "I6",
            "a.csv: column \"0\" is text in 3 of 3 rows (first: \"city\", line 1). No column can be a feature. \
             Use --text-column 0 if these are texts to label, or give features with --features.",
        ),
        case(
            "csv columns of words",
            b"label,the city,b\n1,Rome,x\n2,,\n3,Oslo,y\n",
            "I6",
            "(first: \"Rome\", line 2). So is \"b\". No column can be a feature. Use --text-column \
             \"the city\" if",
        ),
        case(
            "csv column of words, skipping",
            b"id,city\n1,Rome\n2,Oslo\n",
            "I6",
            "column \"city\" is text",
        )
        .with(&["--skip-bad"]),
        case(
            "csv pictures elsewhere",
            b"image,a\n/etc/a.png,1\n",
            "I5",
            "1 picture is outside the folder of the table (line 2",
        ),
        case(
            "csv pictures missing",
            b"path,a\nx.png,1\ny.png,\n",
            "I6",
            "line 3: there is no picture \"y.png\"",
        ),
        case(
            "csv pictures unnamed",
            b"path,a\nx.png,1\n,\n",
            "I6",
            "line 3: no picture is named",
        ),
        case(
            "csv words in half of the rows",
            b"a\n1\n2\n*\n!\n",
            "I6",
            "2 bad rows: line 4: column a is not a number",
        ),
        case(
            "csv bad UTF-8",
            b"a,b\n1,2\n3,\x81\n",
            "I6",
            "line 3: not valid UTF-8. If it is in another encoding, pass --encoding",
        ),
        case(
            "csv bad UTF-8 in the header",
            b"a,\x81\n1,2\n",
            "I6",
            "line 1: not valid UTF-8",
        ),
        case(
            "csv two columns of labels",
            b"a,label,label\n1,x,y\n",
            "U1",
            "more than one column is named \"label\"",
        ),
        case(
            "csv bad row after sep",
            b"sep=;\na;b\n1;2\n3\n",
            "I6",
            "line 4: 1 cell, expected 2",
        ),
        case(
            "csv NUL",
            b"a,b\n1,2\n3,\x004\n",
            "I6",
            "line 3: a NUL byte",
        ),
        case(
            "csv open quote",
            b"a,b\n1,\"2\n3,4\n",
            "I6",
            "line 2: a quote that is never closed",
        ),
        case(
            "csv text after quote",
            b"a,b\n\"1\"x,2\n",
            "I6",
            "line 2: text after a closing quote",
        ),
        case(
            "csv line of 17 MiB",
            &long,
            "I6",
            "line 3: longer than 16 MiB",
        ),
        case(
            "csv many bad rows",
            format!("a,b\n1,2\n{many}").as_bytes(),
            "I6",
            "33 bad rows: lines 3 to 35: 1 cell, expected 2. Fix",
        ),
        case(
            "csv bad rows counted",
            format!("a,b\n1,2\n{}", many.replace('\n', "\n1,2\n")).as_bytes(),
            "I6",
            "line 41: 1 cell, expected 2; and 13 more",
        ),
        case("csv only bad rows skipped", b"a,b\n1\n2\n", "I3", "no rows").with(&["--skip-bad"]),
        case(
            "csv quoted line ends counted",
            b"id,a\n\"x\ny\",1\nz,!\n",
            "I6",
            "line 4: column a is not a number (\"!\")",
        ),
        case(
            "csv NaN",
            b"a,b\n1,2\n3,nan\n",
            "I1",
            "1 non-finite value in 1 row; first at line 3, column b (NaN)",
        ),
        case(
            "csv Inf",
            b"a,b\n-inf,2\n3,4\n",
            "I1",
            "first at line 2, column a (-inf)",
        ),
        case(
            "csv number too large",
            b"a,b\n1,2\n3,1e999\n",
            "I1",
            "line 3, column b (inf)",
        ),
        case(
            "csv is damaged UTF-16",
            b"\xff\xfea\0,\0b",
            "I5",
            "not valid UTF-16 (byte 7)",
        ),
        case(
            "csv is cut Parquet",
            b"PAR1\x15\x04",
            "I5",
            "cannot be decoded",
        ),
        Case::new(
            "parquet",
            "a.parquet",
            b"1,2\n".to_vec(),
            "I5",
            "not a Parquet file",
        ),
        Case::new(
            "parquet billions of nothing",
            "a.parquet",
            b"PAR1\x1b\xff\xff\xff\xff\x07\x21\0\x08\0\0\0PAR1".to_vec(),
            "I5",
            "the table of contents is broken",
        ),
        Case::new(
            "arrow",
            "a.feather",
            b"1,2\n".to_vec(),
            "I5",
            "not an Arrow file",
        ),
        Case::new(
            "arrow cut",
            "a.feather",
            b"ARROW1\0\0\xff\xff\xff\xff".to_vec(),
            "I2",
            "ends before its last mark",
        ),
        Case::new(
            "old feather",
            "a.feather",
            b"FEA1\0\0\0\0".to_vec(),
            "I5",
            "the first version of Feather",
        ),
    ]
}

/// Bad files of JSON.
fn json_cases() -> Vec<Case> {
    let json =
        |name, file, text: &[u8], code, says| Case::new(name, file, text.to_vec(), code, says);
    vec![
        json("json empty", "a.jsonl", b"", "I3", "no rows"),
        json("json blank lines", "a.jsonl", b"\n\n", "I3", "no rows"),
        json(
            "json cut line",
            "a.jsonl",
            b"{\"a\":1}\n{\"a\":",
            "I6",
            "line 2: not a JSON object (EOF",
        ),
        json(
            "json not UTF-8",
            "a.jsonl",
            b"{\"a\":1}\n{\"\xff\":1}\n",
            "I6",
            "line 2: not a JSON object (invalid unicode",
        ),
        json(
            "json words among numbers",
            "a.ndjson",
            b"{\"a\":1}\n{\"a\":2}\n{\"a\":\"x\"}\n",
            "I6",
            "line 3: a is not a number",
        ),
        json(
            "json number too large",
            "a.jsonl",
            b"{\"a\":1}\n{\"a\":1e999}\n",
            "I6",
            "line 2: not a JSON object (number out",
        ),
        json(
            "json double id",
            "a.jsonl",
            b"{\"id\":1,\"a\":1}\n{\"id\":\"1\",\"a\":2}\n",
            "I7",
            "appears on lines 1 and 2",
        ),
        json(
            "json no features",
            "a.jsonl",
            b"{\"id\":1}\n{\"id\":2}\n",
            "I3",
            "no columns of numbers",
        ),
        json(
            "json empty objects",
            "a.jsonl",
            b"{}\n{}\n",
            "I3",
            "no columns of numbers",
        ),
        json(
            "json cut array",
            "a.json",
            b"[{\"a\":1},",
            "I5",
            "a.json: not an array of objects: EOF",
        ),
        json(
            "json array of numbers",
            "a.json",
            b"[1,2]",
            "I6",
            "2 bad rows: line 1: not a JSON object",
        ),
        json(
            "json object",
            "a.json",
            b"{\n\"a\":1}\n",
            "I5",
            "Write one object per line, or an array of objects",
        ),
        json(
            "json data",
            "a.json",
            b"{\"data\":[{\"a\":1}],\"n\":1}",
            "I5",
            "a single object of nested values",
        ),
        json(
            "json by columns",
            "a.json",
            b"{\"a\":{\"0\":1,\"1\":2}}",
            "I5",
            "a single object of nested values",
        ),
        json(
            "json two lists",
            "a.jsonl",
            b"{\"u\":[1],\"v\":[2]}\n",
            "U1",
            "2 columns hold lists of numbers: u, v.",
        ),
        json(
            "json is something else",
            "a.jsonl",
            b"\x89PNG",
            "I5",
            "this looks like a PNG picture",
        ),
    ]
}

fn ids_and_columns() -> Vec<Case> {
    vec![
        case(
            "csv double id",
            b"id,a\na17,1\nb,2\na17,3\n",
            "I7",
            "a.csv: id \"a17\" appears on lines 2 and 4.",
        ),
        case(
            "csv double id after NFC",
            "id,a\ncaf\u{e9},1\ncafe\u{301},2\n".as_bytes(),
            "I7",
            "appears on lines 2 and 3.",
        ),
        case(
            "csv missing id",
            b"id,a\nx,1\n,2\n",
            "I7",
            "line 3 has no id",
        ),
        case(
            "csv no such id column",
            b"a,b\n1,2\n",
            "U1",
            "no column \"name\"; the columns are \"a\", \"b\"",
        )
        .with(&["--id-column", "name"]),
        case(
            "csv no such label column",
            b"a,b\n1,2\n",
            "U1",
            "no column \"c\"",
        )
        .with(&["--label-column", "c"]),
        case(
            "csv label column by number",
            b"1,2\n3,4\n",
            "U1",
            "no column \"2\"",
        )
        .with(&["--label-column", "2"]),
        case(
            "csv one column for two things",
            b"a,b\n1,2\n",
            "U1",
            "cannot be the same column",
        )
        .with(&["--label-column", "a", "--id-column", "a"]),
        case(
            "csv no such column to drop",
            b"a,b\n1,2\n",
            "U1",
            "no column \"c\"; the columns are \"a\", \"b\"",
        )
        .with(&["--drop-column", "a", "--drop-column", "c"]),
        case(
            "csv label column dropped",
            b"a,b\n1,2\n",
            "U1",
            "column \"b\" cannot be used and left out",
        )
        .with(&["--label-column", "b", "--drop-column", "b"]),
        case(
            "csv nothing but labels",
            b"label\ncat\n",
            "I3",
            "no columns of numbers",
        ),
        case(
            "csv nothing finite",
            b"a\nnan\ninf\n",
            "I3",
            "every row holds a non-finite value",
        )
        .with(&["--drop-nonfinite"]),
        case(
            "csv double id kept by skip-bad",
            b"id,a\nx,1\ny,?\nx,2\n",
            "I7",
            "lines 2 and 4.",
        )
        .with(&["--skip-bad"]),
        case(
            "csv too many classes",
            &too_many_classes(),
            "I12",
            "65536 different labels, at most 65535 are allowed",
        ),
    ]
}

fn too_many_classes() -> Vec<u8> {
    let rows: String = (0..65_536).map(|row| format!("0,c{row}\n")).collect();
    format!("a,label\n{rows}").into_bytes()
}

/// Good pools with bad labels.
pub fn label_cases() -> Vec<Case> {
    let pool = |name, says| case(name, b"id,a\nx,1\ny,2\nz,3\n", "I12", says);
    let array = |name, code, says| Case::new(name, "a.npy", good_npy(), code, says);
    let square = mat(&[mat_array(
        false,
        9,
        &[2, 2],
        "gt",
        &element(false, 2, &[1, 2, 3, 4]),
    )]);
    vec![
        pool("labels too few", "labels.csv: 2 labels for 3 rows.")
            .labels("labels.csv", b"label\ncat\ndog\n".to_vec()),
        pool(
            "labels for unknown ids",
            "2 ids are not in the pool: \"u\" (line 3), \"v\" (line 4) (--on-unknown skip",
        )
        .labels("labels.csv", b"id,label\nx,cat\nu,cat\nv,dog\n".to_vec()),
        pool(
            "labels twice",
            "two classes for one id: \"x\" is \"cat\" (line 2) and \"dog\" (line 4).",
        )
        .labels("labels.csv", b"id,label\nx,cat\ny,cat\nx,dog\n".to_vec()),
        pool("labels unnamed", "3 columns and none named label")
            .labels("labels.csv", b"a,b,c\n1,2,3\n".to_vec()),
        array(
            "labels ragged",
            "I6",
            "labels.csv: 1 bad row: line 3: 1 cell, expected 2",
        )
        .labels("labels.csv", b"id,label\n0,cat\n1\n".to_vec()),
        array(
            "labels for rows that are not there",
            "I12",
            "1 id is not in the pool: \"3\" (line 2)",
        )
        .labels("labels.csv", b"id,label\n3,cat\n".to_vec()),
        array(
            "labels too many in npy",
            "I12",
            "labels.npy: 4 labels for 3 rows",
        )
        .labels("labels.npy", npy("'<i8'", "(4,)", &i64s(&[0, 1, 0, 1]))),
        array(
            "labels in fractions in npy",
            "I12",
            "label of row 1 is 0.25",
        )
        .labels("labels.npy", npy("'<f8'", "(3,)", &f64s(&[0.0, 0.25, 1.0]))),
        array(
            "labels as objects",
            "I4",
            "labels.npy contains Python objects",
        )
        .labels("labels.npy", npy("'|O'", "(3,)", b"\x80\x04.")),
        array(
            "labels of another image",
            "I12",
            "labels.mat: 4 labels for 3 rows",
        )
        .labels("labels.mat", square),
        array("labels too few in IDX", "I12", "2 labels for 3 rows")
            .labels("labels.idx", idx(8, &[2], &[0, 1])),
        array(
            "labels cut",
            "I5",
            "labels.npz: the ZIP archive has no directory",
        )
        .labels("labels.npz", good_npz()[..200].to_vec()),
        array("labels missing", "I5", "nowhere.csv: no such file")
            .with(&["--labels", "nowhere.csv"]),
    ]
}
