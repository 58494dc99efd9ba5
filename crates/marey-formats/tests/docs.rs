//! The documentation of formats is made from the tables of their readers.

use std::path::Path;

#[test]
fn the_documentation_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md");
    let text = marey_formats::document();
    if std::env::var_os("MAREY_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap();
    assert!(there == text, "docs/formats.md is stale; MAREY_UPDATE_DOCS=1 renews it");
}
