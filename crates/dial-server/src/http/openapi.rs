//! docs/api.md, generated from the OpenAPI document.

use std::fmt::Write;

use serde_json::{Map, Value};

/// The page, in Markdown.
pub fn page() -> String {
    let document = serde_json::to_value(crate::document()).unwrap_or_default();
    let mut text = format!("{DESCRIPTION}{}{SIGNING}", examples());
    let empty = Map::new();
    let schemas = document["components"]["schemas"]
        .as_object()
        .unwrap_or(&empty);
    for (path, methods) in document["paths"].as_object().unwrap_or(&empty) {
        for (method, operation) in methods.as_object().unwrap_or(&empty) {
            describe(&mut text, &method.to_uppercase(), path, operation, schemas);
        }
    }
    text.push_str("## Data\n");
    for (name, schema) in schemas {
        let _ = write!(text, "\n### {name}\n\n");
        shape(&mut text, schema, schemas);
    }
    text
}

const DESCRIPTION: &str = "\
# The interface of a project

*This page is made from the OpenAPI document of the server (`/api/v1/openapi.json`), which is made from the code.*

A running server (`dial serve PROJECT`, `dial label POOL`) listens on this machine only. Programs of the owner send
`Authorization: Bearer TOKEN`, and with every POST the id of the project as `X-Dial: PROJECT`: a server that has another project
refuses it (`C8`). Address, token and project stand in `PROJECT/server.json`, which only the owner can read; programs that do not
send the token can sign (see [below](#signed-requests-and-proven-answers)). Errors are RFC 9457 problems with the codes of
[errors.md](errors.md).

Members and parameters are required unless they are marked optional. One that is left out has the default that stands there;
where none stands, it is empty, false or null. (A `count` or `weight` is then 1, a `limit` 100, a `side` 2048, a `format` csv.)

";

/// How both ends show who they are.
const SIGNING: &str = r#"## Signed requests and proven answers

Another user of the machine may take a port when a server has ended, and a file or a page may still name it. So neither the
page nor the command sends a secret: they sign requests with it, and believe only answers that are proven with it. The secret of
a program is the token; that of a browser is the key of its session. In these texts `\n` is one byte, and a secret is used
as the text that it is:

```text
exchange  = RUN \n HOST \n METHOD \n TARGET \n NONCE \n hex(SHA256(request body))
signature = hex(HMAC-SHA256(secret, "dial request\n" exchange))
proof     = hex(HMAC-SHA256(secret, "dial answer\n" exchange \n STATUS \n BODY OF THE ANSWER))

Authorization: Dial SESSION.NONCE.hex(SHA256(request body)).signature        sent with the request
X-Dial-Proof: proof                                                          comes with the answer
```

RUN is random for each start of a server; `server.json` and `GET /hello` have it. HOST is the header `Host`, as
`127.0.0.1:8000`. TARGET is the path with its query. NONCE is made by the sender for this request. SESSION is `owner` for a
program. To a program that sends the token the proof is given as well, with an empty NONCE. An answer without
`Content-Length`, which is sent while it is made (events, exports), has the proof of its head, as if its body were empty. Refusals of who is not known (`C7`, `X13`), of other hosts and origins (`X1`, `X2`) and
of other projects (`C8`) have no proof.

What was signed for one run, host or request is good for no other, so what somebody sees who has only taken over a port
opens nothing later. A browser gets its session from a link, `http://ADDRESS/#launch=CODE`: the page sends
`{"code": CODE}` to `POST /sign-in`, which answers once with `session` and `key`. There are no cookies. The files of the page,
`/hello` and `/sign-in` are for everybody on this machine and hold no data.

`/hello` and `server.json` have the ids `project` and `place`. Copies of a project have the same project and different places, so
a change by a browser names both, as `X-Dial` and `X-Dial-Place`; what names another project or place is refused (`C8`).

"#;

/// Bodies of the examples.
const NEXT_EXAMPLE: &str = r#"{"annotator": "ann", "count": 2}"#;
const DECISIONS: &str = r#"{"key": "made-by-you-1", "annotator": "ann", "decisions": [
    {"kind": "label", "item": "cat17.jpg", "classes": [{"class": 0}]},
    {"kind": "label", "item": "81.jpg", "classes": [{"class": 0, "weight": 0.6}, {"class": 1, "weight": 0.4}]}]}"#;
const IMPORT: &str = r#"{"key": "made-by-you-2", "source": "gold.csv", "annotator": "expert", "add_classes": true, "labels": [
    {"item": {"id": "cat17.jpg"}, "content": {"kind": "label", "classes": [["cat", 1.0]]}, "place": "line 2"},
    {"item": {"row": 81, "rows": 2000}, "content": {"kind": "mark", "mark": "skipped"}, "place": "line 3"}]}"#;

fn examples() -> String {
    let curl = |path: &str, body: &str| {
        format!(
            "```text\ncurl http://ADDRESS/api/v1/{path} -H 'Authorization: Bearer TOKEN' \\\n  \
             -H 'X-Dial: PROJECT' -H 'Content-Type: application/json' -d '{body}'\n```\n"
        )
    };
    format!(
        "## Examples

Two items for ann, who has them for a while:

{next}
Her answers, one of them shared between two classes. The ids of the classes are those of `/api/v1/project`. Sent again under the
same `key`, they are stored once:

{decide}
Labels from elsewhere. Each of `labels` names its item by `id`, or by `row` where there is one for each row of the pool:

{import}
The same from Python, without any package:

```python
import json, urllib.request, uuid

server = json.load(open(\"photos.dial/server.json\"))

def call(path, body=None):
    head = {{\"Authorization\": \"Bearer \" + server[\"token\"], \"X-Dial\": server[\"project\"],
            \"Content-Type\": \"application/json\"}}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f\"http://{{server['address']}}/api/v1/{{path}}\", data, head)
    return json.load(urllib.request.urlopen(request))

classes = {{one[\"name\"]: one[\"id\"] for one in call(\"project\")[\"classes\"]}}
item = call(\"next\", {{\"annotator\": \"ann\"}})[\"items\"][0]
label = {{\"kind\": \"label\", \"item\": item[\"id\"], \"classes\": [{{\"class\": classes[\"cat\"]}}]}}
call(\"decisions\", {{\"key\": str(uuid.uuid4()), \"annotator\": \"ann\", \"decisions\": [label]}})
```

",
        next = curl("next", NEXT_EXAMPLE),
        decide = curl("decisions", DECISIONS),
        import = curl("import", IMPORT),
    )
}

type Schemas = Map<String, Value>;

fn describe(text: &mut String, method: &str, path: &str, operation: &Value, schemas: &Schemas) {
    let said = [&operation["summary"], &operation["description"]];
    let words: Vec<&str> = said.iter().filter_map(|value| value.as_str()).collect();
    let _ = write!(text, "## {method} {path}\n\n{}\n\n", words.join("\n\n"));
    for parameter in list(&operation["parameters"]) {
        let name = parameter["name"].as_str().unwrap_or_default();
        let facts = facts(&parameter["schema"], parameter["required"] == true, schemas);
        let _ = writeln!(text, "- `{name}` ({facts}){}", said_of(parameter));
    }
    if let Some(body) = operation["requestBody"]["content"]["application/json"].get("schema") {
        let _ = writeln!(text, "- body: {}", kind(body, schemas));
    }
    let answer = &operation["responses"]["200"];
    for (media, content) in answer["content"].as_object().unwrap_or(&Map::new()) {
        let kind = match media.as_str() {
            "application/json" | "text/event-stream" => kind(&content["schema"], schemas),
            _ => "bytes".into(),
        };
        let _ = writeln!(text, "- answer: {kind} (`{media}`){}", said_of(answer));
    }
    text.push('\n');
}

/// The members of a schema.
fn shape(text: &mut String, schema: &Value, schemas: &Schemas) {
    if let Some(words) = schema["description"].as_str() {
        let _ = write!(text, "{words}\n\n");
    }
    if let Some(values) = values(schema) {
        let _ = writeln!(text, "{values}");
    }
    for part in list(&schema["allOf"]) {
        let named = part["$ref"]
            .as_str()
            .and_then(|name| name.rsplit('/').next());
        members(text, named.map_or(part, |name| &schemas[name]), schemas);
    }
    for choice in list(&schema["oneOf"]) {
        // A choice of a tagged enum has a member with one value, which is its name.
        let none = Map::new();
        let members = choice["properties"].as_object().unwrap_or(&none);
        let tag = members
            .iter()
            .find_map(|(name, inside)| Some((name, inside["enum"][0].as_str()?)));
        let untagged = || {
            // One that is told by its members.
            let names: Vec<&str> = members.keys().map(String::as_str).collect();
            format!("{{{}}}", names.join(", "))
        };
        let value = || choice["enum"][0].as_str().map(String::from);
        let name = tag.map_or_else(
            || format!("`{}`", value().unwrap_or_else(untagged)),
            |(name, value)| format!("`\"{name}\": \"{value}\"`"),
        );
        let _ = writeln!(text, "- {name}{}", said_of(choice));
        let others = members
            .iter()
            .filter(|(name, _)| Some(*name) != tag.map(|(tag, _)| tag));
        others.for_each(|(name, inside)| member(text, "  ", name, inside, choice, schemas));
    }
    members(text, schema, schemas);
}

fn members(text: &mut String, schema: &Value, schemas: &Schemas) {
    for (name, inside) in schema["properties"].as_object().unwrap_or(&Map::new()) {
        member(text, "", name, inside, schema, schemas);
    }
}

fn member(
    text: &mut String,
    indent: &str,
    name: &str,
    inside: &Value,
    of: &Value,
    schemas: &Schemas,
) {
    let required = list(&of["required"]).iter().any(|other| other == name);
    // A description of a reference stands beside it, or in one of its choices.
    let said = said_of(inside);
    let _ = writeln!(
        text,
        "{indent}- `{name}` ({}){said}",
        facts(inside, required, schemas)
    );
}

/// Kind, limits, values and default of a member.
fn facts(schema: &Value, required: bool, schemas: &Schemas) -> String {
    let mut facts = vec![kind(schema, schemas)];
    facts.extend(values(schema));
    let number = |name: &str| {
        schema
            .get(name)
            .filter(|value| value.is_number())
            .map(Value::to_string)
    };
    match (number("minimum"), number("maximum")) {
        (Some(least), Some(most)) => facts.push(format!("{least} to {most}")),
        // A count is never below 0.
        (Some(least), None) if least != "0" => facts.push(format!("at least {least}")),
        (None, Some(most)) => facts.push(format!("at most {most}")),
        _ => {}
    }
    let counted = [
        ("minLength", "at least", "characters"),
        ("maxLength", "at most", "characters"),
        ("minItems", "at least", "of them"),
        ("maxItems", "at most", "of them"),
    ];
    let words = |number: String, word: &str, what: &str| match number.as_str() {
        "1" => format!("{word} 1 {}", what.replace("characters", "character")),
        many => format!("{word} {many} {what}"),
    };
    facts.extend(
        counted
            .iter()
            .filter_map(|(name, word, what)| Some(words(number(name)?, word, what))),
    );
    facts.extend(
        schema["pattern"]
            .as_str()
            .map(|pattern| format!("`{pattern}`")),
    );
    match (required, schema.get("default")) {
        (true, _) => {}
        (false, None) => facts.push("optional".into()),
        (false, Some(default)) => facts.push(format!("optional, default `{default}`")),
    }
    facts.join(", ")
}

/// The values that an enum allows.
fn values(schema: &Value) -> Option<String> {
    let values: Vec<String> = list(&schema["enum"])
        .iter()
        .map(|value| format!("`{value}`"))
        .collect();
    (!values.is_empty()).then(|| format!("one of {}", values.join(", ")))
}

/// What is said of something, after a colon.
fn said_of(schema: &Value) -> String {
    let choices = list(&schema["oneOf"]).iter().chain(list(&schema["allOf"]));
    let words = schema["description"].as_str().or_else(|| {
        choices
            .into_iter()
            .find_map(|one| one["description"].as_str())
    });
    words.map_or(String::new(), |words| {
        format!(": {}", words.replace('\n', " "))
    })
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The kind of a value in words.
fn kind(schema: &Value, schemas: &Schemas) -> String {
    let link = |name: &str| format!("[{name}](#{})", name.to_lowercase());
    if let Some(name) = schema["$ref"].as_str() {
        return link(name.rsplit('/').next().unwrap_or(name));
    }
    // Some are written out where they are used.
    let same = |(_, other): &(&String, &Value)| other["properties"] == schema["properties"];
    if let Some((name, _)) = schemas
        .iter()
        .find(same)
        .filter(|_| schema["properties"].is_object())
    {
        return link(name);
    }
    let choices = ["oneOf", "anyOf", "allOf"]
        .iter()
        .find_map(|name| schema[*name].as_array());
    if let Some(choices) = choices {
        let mut kinds: Vec<String> = choices.iter().map(|choice| kind(choice, schemas)).collect();
        kinds.dedup();
        return kinds.join(" or ");
    }
    let each = list(&schema["prefixItems"]).iter();
    let each: Vec<String> = each.map(|one| kind(one, schemas)).collect();
    let word = |word: &str| match word {
        "array" if each.len() == 2 => format!("pair of {}", each.join(" and ")),
        "array" if !each.is_empty() => format!("list of {}", each.join(", then ")),
        "array" if !schema["items"].is_null() => {
            format!("list of {}", kind(&schema["items"], schemas))
        }
        "object" if !schema["additionalProperties"].is_null() => {
            format!(
                "object of {} by name",
                kind(&schema["additionalProperties"], schemas)
            )
        }
        word => word.to_string(),
    };
    match &schema["type"] {
        Value::String(one) => word(one),
        Value::Array(words) => words
            .iter()
            .filter_map(Value::as_str)
            .map(word)
            .collect::<Vec<_>>()
            .join(" or "),
        _ => "any".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::wire::{ImportRequest, Next, Share, Submission};
    use serde_json::json;

    #[test]
    fn the_examples_are_what_the_interface_takes() {
        assert_eq!(serde_json::from_str::<Next>(NEXT_EXAMPLE).unwrap().count, 2);
        assert_eq!(
            serde_json::from_str::<Next>("{}").unwrap().count,
            1,
            "as the head of the page says"
        );
        assert_eq!(
            serde_json::from_str::<Share>(r#"{"class": 0}"#)
                .unwrap()
                .weight,
            1.0
        );
        assert_eq!(
            serde_json::from_str::<Submission>(DECISIONS)
                .unwrap()
                .decisions
                .len(),
            2
        );
        assert_eq!(
            serde_json::from_str::<ImportRequest>(IMPORT)
                .unwrap()
                .labels
                .len(),
            2
        );
    }

    #[test]
    fn members_by_hand() {
        let schemas = json!({ "Share": { "properties": { "class": { "type": "integer" } } } });
        let schemas = schemas.as_object().unwrap();
        let schema = json!({
            "required": ["name"],
            "properties": {
                "count": { "type": "integer", "minimum": 1, "maximum": 50, "default": 1, "description": "How many." },
                "name": { "type": "string", "minLength": 1, "maxLength": 9 },
                "order": { "type": "string", "enum": ["row", "certain"] },
                "shares": { "type": ["array", "null"], "items": { "properties": { "class": { "type": "integer" } } } },
            },
        });
        let mut text = String::new();
        shape(&mut text, &schema, schemas);
        let lines = [
            "- `count` (integer, 1 to 50, optional, default `1`): How many.",
            "- `name` (string, at least 1 character, at most 9 characters)",
            "- `order` (string, one of `\"row\"`, `\"certain\"`, optional)",
            "- `shares` (list of [Share](#share) or null, optional)",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn parts_and_pairs_are_written_out() {
        let receipt =
            json!({ "required": ["seq"], "properties": { "seq": { "type": "integer" } } });
        let schemas = json!({ "Receipt": receipt });
        let own = json!({ "properties": { "pair": {
            "type": ["array", "null"], "items": false, "prefixItems": [{ "type": "string" }, { "type": "integer" }],
        } } });
        let schema = json!({ "allOf": [{ "$ref": "#/components/schemas/Receipt" }, own] });
        let mut text = String::new();
        shape(&mut text, &schema, schemas.as_object().unwrap());
        let lines = [
            "- `seq` (integer)",
            "- `pair` (pair of string and integer or null, optional)",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn choices_name_their_tag() {
        let choice = json!({
            "description": "Do not ask.", "required": ["item", "kind"],
            "properties": { "item": { "type": "string" }, "kind": { "type": "string", "enum": ["skip"] } },
        });
        let mut text = String::new();
        shape(&mut text, &json!({ "oneOf": [choice] }), &Map::new());
        assert_eq!(
            text,
            "- `\"kind\": \"skip\"`: Do not ask.\n  - `item` (string)\n"
        );
    }
}
