//! Bad files and what must be said about each, for the tests of the readers and of the command.
//!
//! A case is a file (and perhaps a second one beside it), the options to read it with as on the command line, the code
//! of the error and a piece of its text. `--labels` and `--features` name a file in the same folder.

#![allow(dead_code)] // Each test file uses a part of it.

pub mod arrays;
pub mod binary;
pub mod build;
pub mod packed;
pub mod places;
pub mod tables;

/// A bad file.
pub struct Case {
    /// What is wrong, in a word or two; distinct.
    pub name: &'static str,
    /// The name of the file, which matters where the content does not tell the format.
    pub file_name: &'static str,
    /// Its content.
    pub bytes: Vec<u8>,
    /// A second file in the same folder.
    pub beside: Option<(&'static str, Vec<u8>)>,
    /// Options as on the command line.
    pub args: Vec<&'static str>,
    /// The code of the error.
    pub code: &'static str,
    /// A piece of its text.
    pub says: &'static str,
}

impl Case {
    /// A file read without options.
    pub fn new(
        name: &'static str,
        file: &'static str,
        bytes: Vec<u8>,
        code: &'static str,
        says: &'static str,
    ) -> Case {
        Case {
            name,
            file_name: file,
            bytes,
            beside: None,
            args: Vec::new(),
            code,
            says,
        }
    }

    /// The same with options.
    pub fn with(mut self, args: &[&'static str]) -> Case {
        self.args = args.to_vec();
        self
    }

    /// The same with a file of labels beside it, named by `--labels`.
    pub fn labels(mut self, file_name: &'static str, bytes: Vec<u8>) -> Case {
        self.beside = Some((file_name, bytes));
        self.args.extend(["--labels", file_name]);
        self
    }

    /// The same with a file of features, named by `--features`.
    pub fn features(mut self, file_name: &'static str, bytes: Vec<u8>) -> Case {
        self.beside = Some((file_name, bytes));
        self.args.extend(["--features", file_name]);
        self
    }
}

/// All bad files.
pub fn cases() -> Vec<Case> {
    let mut cases = arrays::npy_cases();
    cases.extend(arrays::npz_cases());
    cases.extend(tables::table_cases());
    cases.extend(tables::label_cases());
    cases.extend(binary::idx_cases());
    cases.extend(binary::mat_cases());
    cases.extend(packed::packed_cases());
    cases.extend(places::envi_cases());
    cases.extend(places::picture_cases());
    cases.extend(places::text_cases());
    cases.extend(places::feature_cases());
    cases
}

/// One good file of each format, small enough to cut at every byte.
pub fn good() -> Vec<(&'static str, Vec<u8>)> {
    let gt = build::mat_array(
        false,
        9,
        &[3, 1],
        "y",
        &build::element(false, 2, &[1, 2, 1]),
    );
    let table = "id,a,b,label\r\nx,1,2.5,cat\r\n\"y,\"\"1\"\"\",-3,4e1,dog\r\nz,0,0,\r\n";
    vec![
        ("good.npy", build::good_npy()),
        ("good.npz", build::good_npz()),
        ("good.csv", table.as_bytes().to_vec()),
        ("good.tsv", b"1\t2\n3\t4\n5\t7\n".to_vec()),
        (
            "good-idx3-ubyte",
            build::idx(8, &[3, 2, 2], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 255]),
        ),
        (
            "good-idx3-ubyte.gz",
            build::gzip(&build::idx(13, &[2, 2], &[0; 16])),
        ),
        ("good.csv.gz", build::gzip(table.as_bytes())),
        ("good.jsonl.zst", packed::JSONL_ZST.to_vec()),
        (
            "good.mat",
            build::mat(&[build::good_array("X"), gt.clone()]),
        ),
        (
            "packed.mat",
            build::mat(&[build::packed(&build::good_array("X")), build::packed(&gt)]),
        ),
    ]
}
