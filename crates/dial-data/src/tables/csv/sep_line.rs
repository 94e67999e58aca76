//! What the first line of a table says about its delimiter.

/// The delimiter of a first line `sep=;`, as spreadsheets write it, and the length of that line.
pub(crate) fn said_delimiter(bytes: &[u8]) -> Option<(u8, usize)> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let (delimiter, end) = match bytes {
        [b's', b'e', b'p', b'=', delimiter, rest @ ..] => (*delimiter, rest),
        [b'"', b's', b'e', b'p', b'=', delimiter, b'"', rest @ ..] => (*delimiter, rest),
        _ => return None,
    };
    let line = match end {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => return None,
    };
    Some((delimiter, bytes.len() - end.len() + line)).filter(|_| b",;\t|".contains(&delimiter))
}

/// The delimiter, judged by the first line alone: the commonest of `,` `;` TAB outside quotes; else blanks between numbers.
pub(crate) fn delimiter(bytes: &[u8]) -> u8 {
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0)];
    let bytes = bytes
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(bytes)
        .trim_ascii_start();
    let mut lines = bytes.split(|&byte| byte == b'\n' || byte == b'\r');
    let line = lines
        .find(|line| !line.is_empty() && !line.starts_with(b"#"))
        .unwrap_or_default();
    let mut inside = false;
    for &byte in line {
        inside ^= byte == b'"';
        for (delimiter, count) in &mut counts {
            *count += usize::from(!inside && byte == *delimiter);
        }
    }
    let most = counts
        .iter()
        .rev()
        .max_by_key(|(_, count)| *count)
        .copied()
        .unwrap_or((b',', 0));
    let words: Vec<&[u8]> = line.split(|&byte| byte == b' ').collect();
    let number = |word: &&[u8]| {
        std::str::from_utf8(word).is_ok_and(|word| word.trim().parse::<f64>().is_ok())
    };
    match most {
        (_, 0) if words.len() > 1 && words.iter().all(number) => b' ',
        (_, 0) => b',',
        (delimiter, _) => delimiter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commonest_delimiter_outside_quotes() {
        for (text, wanted) in [
            ("a;b;c,d\n", b';'),
            ("# a;b;c\n\"x;y;z\",1\n", b','),
            ("1 2.5\n", b' '),
            ("so it\n", b','),
        ] {
            assert_eq!(delimiter(text.as_bytes()), wanted, "{text:?}");
        }
        assert_eq!(said_delimiter(b"\xef\xbb\xbfsep=;\r\na"), Some((b';', 7)));
        assert_eq!(
            (said_delimiter(b"sep=x\n"), said_delimiter(b"sep=;a\n")),
            (None, None)
        );
    }
}
