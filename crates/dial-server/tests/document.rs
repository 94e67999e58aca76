//! The page of the interface is what the code says.

use std::path::Path;

#[test]
fn the_page_is_made_from_the_code() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/api.md");
    let page = dial_server::http::openapi::page();
    if std::env::var_os("DIAL_WRITE_PAGES").is_some() {
        std::fs::write(&file, &page).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(
        kept == page,
        "docs/api.md is old: run this test with DIAL_WRITE_PAGES=1"
    );
}

#[test]
fn every_path_says_what_it_is_for() {
    let document = serde_json::to_value(dial_server::document()).unwrap();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let paths = document["paths"].as_object().unwrap();
    assert!(paths.len() >= 12);
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().unwrap() {
            assert!(
                !operation["summary"].as_str().unwrap_or_default().is_empty(),
                "{method} {path}"
            );
            assert!(operation["responses"]["200"].is_object(), "{method} {path}");
        }
    }
}
