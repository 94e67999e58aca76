//! Unpacking with a limit: declared sizes are never trusted, only counted against.
//!
//! Deflate packs at most 1032 bytes into one, so a larger claimed size is false. A true claim of more than 64 MiB
//! that unpacks more than 200-fold is refused as a bomb.

use std::io::Read;

use crate::error::{Fault, size_in_words};

/// Unpacked sizes up to this are never called a bomb.
pub(crate) const HARMLESS_BYTES: u64 = 64 << 20;
/// Beyond that, nothing may unpack to more than so many times its packed bytes.
pub(crate) const MOST_FOLD: u64 = 200;

/// Checks a declared size against the bytes packed by deflate that must yield it.
pub(crate) fn plausible(packed: usize, declared: u64) -> Result<(), Fault> {
    within(packed, declared, 1032)
}

/// The same for any packing that yields at most `most` bytes for one.
pub(crate) fn within(packed: usize, declared: u64, most: u64) -> Result<(), Fault> {
    let packed = packed as u64;
    let words = || {
        format!(
            "{} packed claim to unpack to {}",
            size_in_words(packed),
            size_in_words(declared)
        )
    };
    if declared > packed.saturating_mul(most).saturating_add(1024) {
        return Err(Fault::Size(words()));
    }
    if declared > HARMLESS_BYTES && declared / MOST_FOLD > packed {
        return Err(Fault::Bomb(words()));
    }
    Ok(())
}

/// Up to `limit` bytes of an unpacker, and whether it ended there. Memory grows with what really comes out.
pub(crate) fn first(unpacker: impl Read, limit: u64) -> Result<(Vec<u8>, bool), Fault> {
    let mut out = Vec::new();
    let read = unpacker.take(limit.saturating_add(1)).read_to_end(&mut out);
    read.map_err(|error| Fault::damaged(format!("the packed data are broken ({error})")))?;
    let ended = out.len() as u64 <= limit;
    out.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok((out, ended))
}

/// As [`first`], but keeps the output of a broken stream up to the break.
pub(crate) fn beginning(unpacker: impl Read, limit: u64) -> Vec<u8> {
    let mut out = Vec::new();
    // The reader keeps in `out` what it read before an error, which reading the whole reports later.
    let _ = unpacker.take(limit).read_to_end(&mut out);
    out
}

/// Exactly `declared` bytes, or the fault.
pub(crate) fn exactly(unpacker: impl Read, packed: usize, declared: u64) -> Result<Vec<u8>, Fault> {
    plausible(packed, declared)?;
    let (out, ended) = first(unpacker, declared)?;
    if !ended || out.len() as u64 != declared {
        let found = if ended {
            size_in_words(out.len() as u64)
        } else {
            "more".into()
        };
        return Err(Fault::Size(format!(
            "header says {} but unpacking gives {found}",
            size_in_words(declared)
        )));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_counted() {
        assert_eq!(exactly(&b"abc"[..], 3, 3).unwrap(), b"abc");
        assert!(
            matches!(exactly(&b"abc"[..], 3, 2), Err(Fault::Size(text)) if text.contains("gives more"))
        );
        assert!(
            matches!(exactly(&b"abc"[..], 3, 4), Err(Fault::Size(text)) if text.contains("gives 3 bytes"))
        );
        assert!(matches!(plausible(10, 1 << 30), Err(Fault::Size(_))));
        assert!(matches!(plausible(1 << 20, 1 << 30), Err(Fault::Bomb(_))));
        assert!(plausible(8 << 20, 1 << 30).is_ok());
    }
}
