//! The Python literals of an npy header: strings, numbers, booleans, tuples, lists and dictionaries. Nothing is run.

/// How deep values may be nested.
const MAX_NESTING: usize = 16;

/// A value of the header.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    Text(String),
    Bool(bool),
    /// `None` if the number does not fit.
    Integer(Option<i128>),
    List(Vec<Literal>),
    Dictionary(Vec<(Literal, Literal)>),
    None,
}

impl Literal {
    /// The value under a key, if this is a dictionary that has it.
    pub fn get(&self, key: &str) -> Option<&Literal> {
        let Literal::Dictionary(pairs) = self else {
            return None;
        };
        pairs
            .iter()
            .find(|(name, _)| matches!(name, Literal::Text(text) if text == key))
            .map(|(_, value)| value)
    }
}

/// The single value that the text holds, or `None` if it is not one.
pub(crate) fn parse(text: &str) -> Option<Literal> {
    let mut parser = Parser { rest: text };
    let value = parser.value(0)?;
    parser.space();
    parser.rest.is_empty().then_some(value)
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, token: &str) -> bool {
        self.space();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn value(&mut self, depth: usize) -> Option<Literal> {
        if depth > MAX_NESTING {
            return None;
        }
        for (word, value) in [
            ("True", Literal::Bool(true)),
            ("False", Literal::Bool(false)),
            ("None", Literal::None),
        ] {
            if self.eat(word) {
                return Some(value);
            }
        }
        match self.rest.chars().next()? {
            '{' => self.dictionary(depth),
            '(' => self.list("(", ")", depth),
            '[' => self.list("[", "]", depth),
            quote @ ('\'' | '"') => self.text(quote),
            _ => self.integer(),
        }
    }

    fn text(&mut self, quote: char) -> Option<Literal> {
        let (text, rest) = self.rest.get(1..)?.split_once(quote)?;
        self.rest = rest;
        (!text.contains('\\')).then(|| Literal::Text(text.to_string()))
    }

    fn integer(&mut self) -> Option<Literal> {
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_digit() && c != '-' && c != '+')
            .unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at_checked(end)?;
        let number = digits.trim_start_matches(['-', '+']);
        if number.is_empty() || number.contains(['-', '+']) || digits.len() > number.len() + 1 {
            return None;
        }
        self.rest = rest.strip_prefix('L').unwrap_or(rest); // Python 2 wrote long integers so.
        Some(Literal::Integer(digits.parse().ok()))
    }

    fn list(&mut self, open: &str, close: &str, depth: usize) -> Option<Literal> {
        self.eat(open);
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(self.value(depth + 1)?);
            if !self.eat(",") {
                return self.eat(close).then_some(Literal::List(items));
            }
        }
        Some(Literal::List(items))
    }

    fn dictionary(&mut self, depth: usize) -> Option<Literal> {
        self.eat("{");
        let mut pairs = Vec::new();
        while !self.eat("}") {
            let key = self.value(depth + 1)?;
            if !self.eat(":") {
                return None;
            }
            pairs.push((key, self.value(depth + 1)?));
            if !self.eat(",") {
                return self.eat("}").then_some(Literal::Dictionary(pairs));
            }
        }
        Some(Literal::Dictionary(pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_of_numpy() {
        let header =
            parse("{'descr': '<f4', 'fortran_order': False, 'shape': (3L, -4), }   \n").unwrap();
        assert_eq!(header.get("descr"), Some(&Literal::Text("<f4".into())));
        assert_eq!(header.get("fortran_order"), Some(&Literal::Bool(false)));
        let sizes = vec![Literal::Integer(Some(3)), Literal::Integer(Some(-4))];
        assert_eq!(header.get("shape"), Some(&Literal::List(sizes)));
        assert_eq!(header.get("missing"), None);
        assert_eq!(parse("()"), Some(Literal::List(vec![])));
        assert_eq!(parse(&"9".repeat(60)), Some(Literal::Integer(None)));
    }

    #[test]
    fn what_is_not_a_literal_is_refused() {
        let deep = format!("{}{}", "(".repeat(5000), ")".repeat(5000));
        for text in [
            "",
            "{",
            "{'a'}",
            "(1",
            "1 2",
            "--1",
            "+-1",
            "-",
            "f()",
            "'a",
            "'\\x00'",
            "{1:2 3:4}",
            "(1 2)",
            &deep,
        ] {
            assert_eq!(parse(text), None, "{text:.20}");
        }
    }
}
