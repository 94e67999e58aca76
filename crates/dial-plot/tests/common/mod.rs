//! A small well-formedness checker for what the crate writes: balanced tags, quoted attributes, escaped text.

/// Names of the elements of `text`, in order; panics where it is not well-formed.
pub fn elements(text: &str) -> Vec<String> {
    let text = text.strip_prefix("<!DOCTYPE html>\n").unwrap_or(text);
    let (mut names, mut open, mut rest) = (Vec::new(), Vec::new(), text);
    while let Some(start) = rest.find('<') {
        check_text(&rest[..start], open.last());
        let end = start + tag_end(&rest[start..]);
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(
                open.pop().as_deref(),
                Some(name),
                "closing tag without its opening one"
            );
            continue;
        }
        let name: String = tag
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric())
            .collect();
        assert!(!name.is_empty(), "a tag without name: {tag:?}");
        check_attributes(tag[name.len()..].trim_end_matches('/'));
        if !tag.ends_with('/') {
            open.push(name.clone());
        }
        names.push(name);
    }
    check_text(rest, None);
    assert!(open.is_empty(), "left open: {open:?}");
    names
}

/// Position of the `>` that ends a tag, outside of quotes.
fn tag_end(tag: &str) -> usize {
    let mut quoted = false;
    for (i, c) in tag.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '>' if !quoted => return i,
            '<' if i > 0 => panic!("a bare < inside a tag: {tag:.80}"),
            _ => {}
        }
    }
    panic!("a tag without end: {tag:.80}");
}

fn check_attributes(attributes: &str) {
    let parts: Vec<&str> = attributes.split('"').collect();
    assert_eq!(parts.len() % 2, 1, "quotes do not pair: {attributes:.80}");
    let mut seen = Vec::new();
    for pair in parts.chunks_exact(2) {
        let name = pair[0]
            .strip_prefix(' ')
            .and_then(|n| n.strip_suffix('='))
            .expect(attributes);
        assert!(
            name.chars()
                .all(|c| c.is_ascii_alphanumeric() || "-:".contains(c)),
            "attribute {name:?}"
        );
        assert!(!seen.contains(&name), "twice {name}");
        seen.push(name);
        check_entities(pair[1]);
    }
    assert_eq!(
        parts[parts.len() - 1],
        "",
        "text after the attributes: {attributes:.80}"
    );
}

fn check_text(text: &str, parent: Option<&String>) {
    if parent.is_none_or(|name| name != "style") {
        assert!(!text.contains('>'), "a bare > in {text:?}");
        check_entities(text);
    }
}

fn check_entities(text: &str) {
    let bad = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{ffff}';
    assert!(!text.contains(bad), "a control character in {text:?}");
    for (i, _) in text.match_indices('&') {
        let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
        assert!(
            known.iter().any(|entity| text[i..].starts_with(entity)),
            "a bare & in {text:?}"
        );
    }
}
