//! The document of the interface as a page for people: made from the OpenAPI document, which is made from the code.

use std::fmt::Write;

use serde_json::{Map, Value};

/// The page, in Markdown.
pub fn page() -> String {
    let document = serde_json::to_value(crate::document()).unwrap_or_default();
    let mut text = String::from(HEAD);
    let empty = Map::new();
    for (path, methods) in document["paths"].as_object().unwrap_or(&empty) {
        for (method, operation) in methods.as_object().unwrap_or(&empty) {
            describe(&mut text, &method.to_uppercase(), path, operation);
        }
    }
    text.push_str("## Data\n");
    for (name, schema) in document["components"]["schemas"].as_object().unwrap_or(&empty) {
        let _ = write!(text, "\n### {name}\n\n");
        shape(&mut text, schema);
    }
    text
}

const HEAD: &str = "\
# The interface of a project

*This page is made from the OpenAPI document of the server (`/api/v1/openapi.json`), which is made from the code.*

A running server (`dial serve PROJECT`, `dial label POOL`) listens on this machine only. Programs of the owner send
`Authorization: Bearer TOKEN`; address and token stand in `PROJECT/server.json`, which only the owner can read. Browsers sign in
with a link that is good once. Errors are RFC 9457 problems with the codes of [errors.md](errors.md).

";

fn describe(text: &mut String, method: &str, path: &str, operation: &Value) {
    let said = [&operation["summary"], &operation["description"]];
    let words: Vec<&str> = said.iter().filter_map(|value| value.as_str()).collect();
    let _ = write!(text, "## {method} {path}\n\n{}\n\n", words.join("\n\n"));
    for parameter in operation["parameters"].as_array().map_or(&[][..], Vec::as_slice) {
        let name = parameter["name"].as_str().unwrap_or_default();
        let needed = if parameter["required"] == true { ", required" } else { "" };
        let words = parameter["description"].as_str().unwrap_or_default();
        let _ = writeln!(text, "- `{name}` ({}{needed}): {words}", kind(&parameter["schema"]));
    }
    if let Some(body) = operation["requestBody"]["content"]["application/json"].get("schema") {
        let _ = writeln!(text, "- body: {}", kind(body));
    }
    let answer = &operation["responses"]["200"]["content"];
    for (media, content) in answer.as_object().unwrap_or(&Map::new()) {
        let _ = writeln!(text, "- answer: {} (`{media}`)", kind(&content["schema"]));
    }
    text.push('\n');
}

/// The members of a schema.
fn shape(text: &mut String, schema: &Value) {
    if let Some(words) = schema["description"].as_str() {
        let _ = write!(text, "{words}\n\n");
    }
    for choice in schema["oneOf"].as_array().map_or(&[][..], Vec::as_slice) {
        let name = choice["properties"]["kind"]["enum"][0].as_str().or(choice["enum"][0].as_str()).unwrap_or("");
        let words = choice["description"].as_str().unwrap_or_default().replace('\n', " ");
        let _ = writeln!(text, "- `{name}`: {words}");
        for (member, inside) in choice["properties"].as_object().unwrap_or(&Map::new()) {
            if member != "kind" {
                let words = inside["description"].as_str().unwrap_or_default().replace('\n', " ");
                let _ = writeln!(text, "  - `{member}` ({}): {words}", kind(inside));
            }
        }
    }
    for (member, inside) in schema["properties"].as_object().unwrap_or(&Map::new()) {
        let words = inside["description"].as_str().unwrap_or_default().replace('\n', " ");
        let _ = writeln!(text, "- `{member}` ({}): {words}", kind(inside));
    }
}

/// The kind of a value in words.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.rsplit('/').next().unwrap_or(name);
        return format!("[{name}](#{})", name.to_lowercase());
    }
    let choices = schema["oneOf"].as_array().or(schema["anyOf"].as_array()).or(schema["allOf"].as_array());
    if let Some(choices) = choices {
        let mut kinds: Vec<String> = choices.iter().map(kind).collect();
        kinds.dedup();
        return kinds.join(" or ");
    }
    match &schema["type"] {
        Value::String(word) if word == "array" => format!("list of {}", kind(&schema["items"])),
        Value::String(word) => word.clone(),
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => "any".into(),
    }
}
