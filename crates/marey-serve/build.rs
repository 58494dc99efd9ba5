//! Puts what `cargo xtask ui` has built in `ui/dist` into the library, if it has.
//!
//! Not used: a crate that embeds a directory; it wants the directory to be there, and a plain `cargo build` has none.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The engine of exported pages is built when the page is there, and must not be built anew each time.
    if env::var_os("CARGO_FEATURE_HTTP").is_none() {
        return;
    }
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"))
        .join("../..");
    let dist = root.join("ui/dist");
    // The sources have it, empty, so that cargo can watch it.
    if dist.exists() {
        println!("cargo::rerun-if-changed={}", dist.display());
    }
    let mut paths = Vec::new();
    find(&dist, &mut paths);
    paths.sort();
    let mut table = String::from("&[\n");
    for path in paths {
        let name = path.strip_prefix(&dist).expect("found beneath it").to_string_lossy().replace('\\', "/");
        let Some(media_type) = media_type(&name) else { continue };
        println!("cargo::rerun-if-changed={}", path.display());
        let path = path.canonicalize().expect("just found");
        writeln!(
            table,
            "    File {{ path: {name:?}, media_type: {media_type:?}, content: include_bytes!({path:?}) }},"
        )
        .expect("texts can be written to");
    }
    table.push_str("]\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("viewer.rs");
    fs::write(out, table).expect("OUT_DIR is writable");
}

fn find(dir: &Path, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() { find(&path, paths) } else { paths.push(path) }
    }
}

fn media_type(name: &str) -> Option<&'static str> {
    Some(match name.rsplit_once('.')?.1 {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "woff2" => "font/woff2",
        // The engine of exported pages.
        "gz" => "application/gzip",
        _ => return None,
    })
}
