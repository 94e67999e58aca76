//! Text in any encoding of the web as UTF-8.
//!
//! A mark at the beginning of the file (UTF-8, UTF-16) says what it is; else what was asked for; else it is UTF-8, or, in
//! tables and lines of text that are not, Windows-1252 where nothing speaks against that.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use encoding_rs::{DecoderResult, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use serde::{Deserialize, Serialize};

use crate::error::Fault;

/// An encoding by any of its names on the web: `shift_jis`, `gbk`, `koi8-r`, `latin1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Encoding(&'static encoding_rs::Encoding);

impl FromStr for Encoding {
    type Err = String;

    fn from_str(name: &str) -> Result<Encoding, String> {
        encoding_rs::Encoding::for_label_no_replacement(name.as_bytes())
            .map(Encoding)
            .ok_or_else(|| "use the name of a web encoding, such as utf-8, latin1, shift_jis, gbk, big5, euc-kr or koi8-r".into())
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

/// Text in UTF-8, guessed to be in Windows-1252 where it cannot be anything else; what was guessed is said.
pub(crate) fn decoded(
    bytes: &[u8],
    asked: Option<Encoding>,
) -> Result<(Cow<'_, [u8]>, Option<String>), Fault> {
    let text = utf8(bytes, asked)?;
    if asked.is_some() || std::str::from_utf8(&text).is_ok() || !may_be_windows(&text) {
        return Ok((text, None));
    }
    let (windows, _) = WINDOWS_1252.decode_without_bom_handling(&text);
    let note = "not valid UTF-8: read as Windows-1252 (Latin-1)";
    Ok((
        Cow::Owned(windows.into_owned().into_bytes()),
        Some(note.into()),
    ))
}

/// Whether there are neither bytes that mean nothing in Windows-1252 nor any letter in UTF-8.
fn may_be_windows(bytes: &[u8]) -> bool {
    let nothing =
        |byte: &u8| matches!(byte, 0..=8 | 14..=31 | 127 | 0x81 | 0x8d | 0x8f | 0x90 | 0x9d);
    !bytes.iter().any(nothing) && bytes.utf8_chunks().all(|chunk| chunk.valid().is_ascii())
}

/// Text in UTF-8: what says by its mark or was said to be in another encoding is turned into it, anything else stays.
pub(crate) fn utf8(bytes: &[u8], asked: Option<Encoding>) -> Result<Cow<'_, [u8]>, Fault> {
    let marked = encoding_rs::Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
    let encoding = marked
        .or(asked.map(|Encoding(asked)| asked))
        .unwrap_or(UTF_8);
    if encoding == UTF_8 {
        return Ok(Cow::Borrowed(bytes));
    }
    let wide = encoding == UTF_16LE || encoding == UTF_16BE;
    let bad = |at: usize| {
        let name = if wide { "UTF-16" } else { encoding.name() };
        Fault::format(
            format!("not valid {name} (byte {at})"),
            "Save the file as UTF-8.",
        )
    };
    if wide && bytes.len() % 2 == 1 {
        return Err(bad(bytes.len()));
    }
    let mut decoder = encoding.new_decoder_with_bom_removal();
    let most = decoder.max_utf8_buffer_length_without_replacement(bytes.len());
    let mut text = String::with_capacity(most.unwrap_or(0));
    match decoder.decode_to_string_without_replacement(bytes, &mut text, true) {
        (DecoderResult::InputEmpty, _) => Ok(Cow::Owned(text.into_bytes())),
        (DecoderResult::Malformed(length, after), read) => {
            Err(bad(read - usize::from(length) - usize::from(after)))
        }
        (DecoderResult::OutputFull, _) => unreachable!("there is room for all of it"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_1252_becomes_utf8() {
        let (text, note) = decoded(b"caf\xe9;5 \x80\n", None).unwrap();
        assert_eq!((&*text, note.is_some()), ("café;5 €\n".as_bytes(), true));
        for kept in [&b"a\x81"[..], b"\xc3\xa9 \xe9", b"\xe9\0", "é".as_bytes()] {
            assert_eq!(decoded(kept, None).unwrap(), (Cow::Borrowed(kept), None));
        }
        // What was said is not guessed.
        let utf8 = decoded(b"caf\xe9", "utf-8".parse().ok()).unwrap();
        assert_eq!(utf8, (Cow::Borrowed(&b"caf\xe9"[..]), None));
    }

    #[test]
    fn utf16_becomes_utf8() {
        // "é" is U+00E9; U+1D11E is the pair D834 DD1E.
        let utf8 = |bytes| utf8(bytes, None);
        assert_eq!(utf8(b"\xff\xfe\xe9\0,\0").unwrap(), "é,".as_bytes());
        assert_eq!(
            utf8(b"\xfe\xff\xd8\x34\xdd\x1e").unwrap(),
            "\u{1d11e}".as_bytes()
        );
        assert!(
            utf8(b"\xff\xfea")
                .unwrap_err()
                .to_string()
                .starts_with("not valid UTF-16 (byte 3).")
        );
        assert!(
            utf8(b"\xff\xfea\0\x34\xd8b\0")
                .unwrap_err()
                .to_string()
                .starts_with("not valid UTF-16 (byte 4).")
        );
    }

    #[test]
    fn a_mark_counts_more_than_what_was_asked() {
        let gbk: Encoding = "gb2312".parse().unwrap();
        assert_eq!(gbk.to_string(), "GBK");
        // The characters B5D8 and B5E3 of GB 2312 are U+5730 and U+70B9.
        assert_eq!(
            utf8(b"\xb5\xd8\xb5\xe3", Some(gbk)).unwrap(),
            "地点".as_bytes()
        );
        let marked = "\u{feff}地".as_bytes();
        assert_eq!(utf8(marked, Some(gbk)).unwrap(), marked);
        let error = utf8(b"a\xb5\xd8\xff", Some(gbk)).unwrap_err().to_string();
        assert!(error.starts_with("not valid GBK (byte 3)."), "{error}");
        for unknown in ["klingon", "hz-gb-2312", ""] {
            assert!(unknown.parse::<Encoding>().is_err(), "{unknown}");
        }
        assert_eq!(serde_json::to_string(&gbk).unwrap(), "\"GBK\"");
        assert_eq!(serde_json::from_str::<Encoding>("\"GBK\"").unwrap(), gbk);
    }
}
