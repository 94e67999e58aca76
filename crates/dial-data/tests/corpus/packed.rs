//! Bad files packed by gzip or zstd.

use super::Case;
use super::build::{gzip, npy, stored, zip, zstd};

/// Three rows of JSON, as `zstd -19` packs them.
pub const JSONL_ZST: &[u8] = b"\x28\xb5\x2f\xfd\x24\x87\x75\x02\x00\xe2\xc3\x0d\x11\x90\x7d\x00\x26\x92\xa8\x01\xcc\x8c\x2b\xa4\
      \x4d\x8a\x64\x6c\x11\x33\x60\x4b\x69\x27\xc9\x90\x3a\x82\x8e\xc0\x60\x7f\x5d\xed\x5d\xbd\x7c\x6c\
      \xc9\xf7\x90\x86\x71\xf5\xec\x3d\x14\x57\xbf\xde\xc3\xdf\x77\xf5\x2e\xbe\x0e\x08\x20\xf0\x2c\x7c\
      \x71\x80\xf2\x25\x0c\x86\x83\x37\x79\x6e\x88\x70\x24\x52\x19\x06\xcf\x66\x51";

/// Packed files that are damaged, misnamed or bombs.
pub fn packed_cases() -> Vec<Case> {
    let table = b"id,a,b\nx,1,2\ny,3,4\nz,5,6\n";
    let half = |bytes: &[u8]| bytes[..bytes.len() / 2].to_vec();
    let mut changed = JSONL_ZST.to_vec();
    *changed.last_mut().expect("it is not empty") ^= 1;
    let zeros = npy("'|u1'", "(2, 1048576)", &[0; 2 << 20]);
    let mut tar = vec![b'x'; 512];
    tar[257..262].copy_from_slice(b"ustar");
    vec![
        Case::new(
            "csv.gz cut",
            "a.csv.gz",
            half(&gzip(table)),
            "I5",
            "the gzip data end too early, after ",
        ),
        Case::new(
            "csv.gz cut in the second member",
            "a.csv.gz",
            [gzip(table), half(&gzip(b"w,7,8\n"))].concat(),
            "I5",
            "the gzip data end too early, after 27 bytes unpacked, in line 5",
        ),
        Case::new(
            "csv.gz with a tail",
            "a.csv.gz",
            [gzip(table), b"and more than a header".to_vec()].concat(),
            "I5",
            "the gzip data are broken after 25 bytes unpacked, in line 5",
        ),
        Case::new(
            "csv.zst cut",
            "a.csv.zst",
            half(&zstd(table)),
            "I5",
            "the zstd data end too early, after 0 bytes unpacked, in line 1",
        ),
        Case::new(
            "jsonl.zst checksum",
            "a.jsonl.zst",
            changed,
            "I5",
            "the zstd data are broken after 135 bytes unpacked, in line 4 (its checksum does not match)",
        ),
        Case::new(
            "zst of a long window",
            "a.csv.zst",
            b"\x28\xb5\x2f\xfd\x00\xa8\x01\0\0".to_vec(),
            "I5",
            "its window of 2.0 GiB is beyond 128.0 MiB: compress it without --long",
        ),
        Case::new(
            "csv.zst is not zstd",
            "a.csv.zst",
            table.to_vec(),
            "I5",
            "not a zstd file (first bytes 69 64 2C 61). Copy it again, or take the ending off",
        ),
        Case::new(
            "csv.gz is zstd with a bad row",
            "a.csv.gz",
            zstd(b"id,a\nx,1\ny\nz,2\n"),
            "I6",
            "line 3",
        ),
        Case::new(
            "packed twice",
            "a.csv.gz",
            gzip(&zstd(table)),
            "I5",
            "this is zstd packed once more by gzip",
        ),
        Case::new(
            "tar.gz",
            "a.tar.gz",
            gzip(&tar),
            "I5",
            "this is a tar archive packed by gzip",
        ),
        Case::new(
            "picture packed",
            "a.gz",
            gzip(b"\x89PNG\r\n\x1a\n"),
            "I5",
            "this looks like a PNG picture, not a pool",
        ),
        Case::new(
            "bomb in npz.gz",
            "a.npz.gz",
            gzip(&zip(&[stored("X.npy", zeros)])),
            "I14",
            "unpack to 2.0 MiB or more, beyond 10 times as much",
        ),
        Case::new(
            "labels.csv.gz cut",
            "a.csv",
            b"a,b\n1,2\n3,4\n".to_vec(),
            "I5",
            "l.csv.gz: the gzip data end too early",
        )
        .labels("l.csv.gz", half(&gzip(b"cat\ndog\n"))),
        Case::new(
            "features.npy.gz of other rows",
            "a.csv",
            b"id,text\na,one two\nb,three four\n".to_vec(),
            "I3",
            "f.npy.gz",
        )
        .features(
            "f.npy.gz",
            gzip(&npy("'|u1'", "(3, 2)", &[1, 2, 3, 4, 5, 6])),
        ),
    ]
}
