//! Prints the OpenAPI document of the interface: the types of the page are made from it.

fn main() {
    let document = serde_json::to_string_pretty(&dial_server::document());
    println!("{}", document.expect("a document is plain data"));
}
