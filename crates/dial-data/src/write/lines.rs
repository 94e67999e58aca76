//! Rows as JSON Lines: an object a line, its keys in the order of the columns, nothing as null.

use std::io;

use super::Cell;

/// Writes rows to a stream. Floats are in the shortest form that reads back to the same bits; what is not finite is null.
pub fn jsonl_to(
    out: &mut dyn io::Write,
    header: &[&str],
    rows: impl IntoIterator<Item = Vec<Cell>>,
) -> io::Result<()> {
    let keys: Vec<String> = header.iter().map(|name| quoted(name)).collect();
    for row in rows {
        let cells: Vec<String> = keys
            .iter()
            .zip(&row)
            .map(|(key, cell)| format!("{key}:{}", value(cell)))
            .collect();
        writeln!(out, "{{{}}}", cells.join(","))?;
    }
    Ok(())
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn value(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => quoted(text),
        Cell::Json(text) => text.clone(),
        Cell::Number(value) => serde_json::Value::from(*value).to_string(),
        Cell::Integer(value) => value.to_string(),
        Cell::Truth(truth) => truth.to_string(),
        Cell::Empty => "null".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_by_hand() {
        let row = vec![
            Cell::Text("=\"a\"\n".into()),
            Cell::Number(0.1),
            Cell::Number(f64::NAN),
            Cell::Integer(-3),
            Cell::Truth(true),
            Cell::Json("[1,{}]".into()),
            Cell::Empty,
        ];
        let mut out = Vec::new();
        jsonl_to(
            &mut out,
            &["a", "b", "c", "d", "e", "f", "g h"],
            [row.clone(), row],
        )
        .unwrap();
        let line = r#"{"a":"=\"a\"\n","b":0.1,"c":null,"d":-3,"e":true,"f":[1,{}],"g h":null}"#;
        assert_eq!(String::from_utf8(out).unwrap(), format!("{line}\n{line}\n"));
    }
}
