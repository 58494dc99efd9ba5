//! Dependencies run downwards only, and what is linked into a measured process stays small.
//!
//! The tables here are the rules; ARCHITECTURE.md gives the reasons. Development dependencies are
//! free: a test may look at a layer from above.

use super::Finding;
use serde_json::Value;

/// What one crate may depend on.
struct Layer {
    name: &'static str,
    /// Crates of this workspace.
    ours: &'static [&'static str],
    /// Crates of others; `None` is no restriction.
    others: Option<&'static [&'static str]>,
}

const ALL: &[&str] = &[
    "marey-model",
    "marey-measure",
    "marey-macros",
    "marey-collect",
    "marey-analyze",
    "marey-archive",
    "marey-source",
    "marey-formats",
    "marey-serve",
    // Not `marey-page`: what is built of it for a browser is embedded with the viewer, nobody links it.
];

const LAYERS: &[Layer] = &[
    Layer { name: "marey-model", ours: &[], others: Some(&[]) },
    Layer { name: "marey-macros", ours: &[], others: Some(&["proc-macro2", "quote", "syn"]) },
    Layer {
        name: "marey-measure",
        // The attribute macro runs in the compiler; nothing of it is linked.
        ours: &["marey-model", "marey-macros"],
        others: Some(&["libc", "rustc-hash"]),
    },
    // Linked by users' programs, each feature by itself; nothing of the engine links it.
    Layer {
        name: "marey-rust",
        ours: &["marey-model", "marey-measure"],
        others: Some(&["tracing-core", "tracing-subscriber", "rayon", "tokio", "pin-project-lite"]),
    },
    Layer {
        name: "marey-collect",
        ours: &["marey-model", "marey-measure"],
        others: Some(&["libc", "rustc-hash", "gimli", "smallvec"]),
    },
    Layer {
        name: "marey-analyze",
        ours: &["marey-model"],
        others: Some(&["rayon", "rustc-hash", "thiserror"]),
    },
    Layer { name: "marey-archive", ours: &["marey-model", "marey-analyze"], others: None },
    Layer { name: "marey-source", ours: &["marey-model"], others: None },
    // `marey-analyze` for its traits: what is written is a run as analysis sees it.
    Layer { name: "marey-formats", ours: &["marey-model", "marey-analyze"], others: None },
    Layer {
        name: "marey-testkit",
        // `marey-analyze` for its traits: a drawing is a run that analysis reads without a spool between them.
        ours: &["marey-model", "marey-measure", "marey-analyze", "marey-archive"],
        others: None,
    },
    Layer { name: "marey-serve", ours: &["marey-model", "marey-analyze", "marey-archive"], others: None },
    Layer { name: "marey-page", ours: &["marey-archive", "marey-serve"], others: Some(&[]) },
    Layer { name: "marey", ours: ALL, others: None },
    Layer { name: "xtask", ours: &[], others: None },
];

/// Crates of others that only one of ours may know, so that it can be exchanged.
const KNOWN_TO_ONE: &[(&str, &str)] = &[
    ("parquet", "marey-archive"),
    ("arrow", "marey-archive"),
    ("clap", "marey"),
    ("axum", "marey-serve"),
    ("tokio", "marey-serve"),
];

/// The crate whose matter those of others are that it adapts: it may know what else only one may.
const ADAPTER: &str = "marey-rust";

/// Checks every crate of `cargo metadata` against the tables.
pub(super) fn check(metadata: &Value) -> Vec<Finding> {
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    packages.iter().flat_map(check_package).collect()
}

fn check_package(package: &Value) -> Vec<Finding> {
    let name = package["name"].as_str().unwrap_or_default();
    let place =
        format!("{}/Cargo.toml", if name == "xtask" { name.into() } else { format!("crates/{name}") });
    let finding = |what: String, remedy| Finding { what, place: place.clone(), remedy };
    let Some(layer) = LAYERS.iter().find(|layer| layer.name == name) else {
        return vec![finding(
            format!("crate {name} has no place in the layers"),
            "give it a row in LAYERS of xtask/src/check/layers.rs and a paragraph in ARCHITECTURE.md",
        )];
    };
    let mut findings = Vec::new();
    let dependencies = package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
    for dependency in dependencies.iter().filter(|dependency| dependency["kind"].as_str() != Some("dev")) {
        let on = dependency["name"].as_str().unwrap_or_default();
        if !dependency["path"].is_null() {
            if !layer.ours.contains(&on) {
                findings.push(finding(
                    format!("{name} depends on {on}, which does not lie below it"),
                    "move what is needed into a lower crate, or turn the dependency round with a trait",
                ));
            }
        } else if layer.others.is_some_and(|others| !others.contains(&on)) {
            findings.push(finding(
                format!("{name} depends on {on}, which is not on its list"),
                "do without: this crate is linked into measured programs, or must stay pure; \
                 LAYERS in xtask/src/check/layers.rs holds the list",
            ));
        } else if KNOWN_TO_ONE.iter().any(|(known, to)| on == *known && ![*to, ADAPTER].contains(&name)) {
            findings.push(finding(
                format!("{name} depends on {on}, which only one crate may know"),
                "use what that crate offers; KNOWN_TO_ONE in xtask/src/check/layers.rs names it",
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::check;
    use serde_json::json;

    /// `dependencies` is a list of (name, kind, whether it is ours).
    fn check_one(name: &str, dependencies: &[(&str, &str, bool)], expected: &[&str]) {
        let dependencies: Vec<_> = dependencies
            .iter()
            .map(|(name, kind, ours)| {
                json!({
                    "name": name,
                    "kind": if *kind == "normal" { json!(null) } else { json!(kind) },
                    "path": if *ours { json!("somewhere") } else { json!(null) },
                })
            })
            .collect();
        let found = check(&json!({ "packages": [{ "name": name, "dependencies": dependencies }] }));
        let found: Vec<&str> = found.iter().map(|finding| finding.what.as_str()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn dependency_downwards_is_allowed() {
        check_one("marey-collect", &[("marey-measure", "normal", true), ("libc", "normal", false)], &[]);
    }

    #[test]
    fn dependency_upwards_is_found() {
        check_one(
            "marey-model",
            &[("marey-archive", "normal", true)],
            &["marey-model depends on marey-archive, which does not lie below it"],
        );
    }

    #[test]
    fn measured_process_links_nothing_unlisted() {
        check_one(
            "marey-measure",
            &[("regex", "normal", false), ("cc", "build", false), ("proptest", "dev", false)],
            &[
                "marey-measure depends on regex, which is not on its list",
                "marey-measure depends on cc, which is not on its list",
            ],
        );
    }

    #[test]
    fn parquet_is_known_to_the_archive_alone() {
        check_one("marey-archive", &[("parquet", "normal", false)], &[]);
        check_one(
            "marey-source",
            &[("parquet", "normal", false)],
            &["marey-source depends on parquet, which only one crate may know"],
        );
    }

    #[test]
    fn unknown_crate_is_found() {
        check_one("marey-utils", &[], &["crate marey-utils has no place in the layers"]);
    }
}
