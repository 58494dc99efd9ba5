//! The page: what `cargo xtask ui` has built, with a run in it.
//!
//! The one idea: everything of the run is Base64 of gzip in elements that no browser runs or shows, so whatever names it
//! has, they are letters to the page. `ui/src/wire/worker.ts` reads what is written here.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use flate2::Compression;
use flate2::write::GzEncoder;
use marey_archive::Aside;
use marey_serve::viewer;

/// Where in the page the run goes.
const HERE: &str = "<!--run-->";

/// Bytes of an element: texts that are much longer some browsers refuse. A multiple of three, so that each stands alone.
const PIECE: usize = 12 << 20;

/// What the page is about.
pub(super) struct Page {
    pub(super) name: String,
    /// In JSON.
    pub(super) report: Vec<u8>,
    /// Packed.
    pub(super) run: Vec<u8>,
    /// The run beside it.
    pub(super) beside: Option<Beside>,
}

/// Another run, and what is known of both.
pub(super) struct Beside {
    pub(super) name: String,
    pub(super) report: Vec<u8>,
    pub(super) run: Vec<u8>,
    /// Answers of the engine.
    pub(super) compare: Vec<u8>,
    pub(super) iterations: Vec<u8>,
}

/// What was built for it.
pub(super) struct Viewer {
    before: &'static str,
    behind: &'static str,
    /// Gzipped WebAssembly.
    engine: &'static [u8],
}

impl Viewer {
    /// What this marey carries.
    pub(super) fn built() -> anyhow::Result<Self> {
        let page = viewer::file("exported.html").and_then(|file| std::str::from_utf8(file.content).ok());
        let engine = viewer::file("engine.wasm.gz").map(|file| file.content);
        let (before, behind) = page.and_then(|page| page.split_once(HERE)).context(
            "this marey was built without its viewer: in its sources `cargo xtask ui` builds it, and `cargo build` puts it \
             in",
        )?;
        let engine = engine.filter(|engine| engine.len() > 18).context(
            "this marey was built without the engine of exported pages: in its sources `cargo xtask ui` builds it where \
             `rustup target add wasm32-unknown-unknown` was typed, and `cargo build` puts it in",
        )?;
        Ok(Self { before, behind, engine })
    }
}

impl Page {
    /// Writes it. The file appears when it is complete.
    pub(super) fn write(&self, viewer: &Viewer, path: &Path) -> io::Result<()> {
        let (aside, file) = Aside::new(path)?;
        self.write_to(viewer, file)?;
        aside.put(path)
    }

    fn write_to(&self, viewer: &Viewer, file: File) -> io::Result<()> {
        let mut out = BufWriter::new(file);
        out.write_all(viewer.before.as_bytes())?;
        put(&mut out, "name", self.name.len(), &packed(self.name.as_bytes())?)?;
        put(&mut out, "report", self.report.len(), &packed(&self.report)?)?;
        // Its last bytes say how long it is.
        let length = viewer.engine.last_chunk().map_or(0, |length| u32::from_le_bytes(*length));
        put(&mut out, "engine", length as usize, viewer.engine)?;
        put(&mut out, "run", self.run.len(), &packed(&self.run)?)?;
        if let Some(beside) = &self.beside {
            let parts = [
                ("other-name", beside.name.as_bytes()),
                ("other-report", &beside.report),
                ("other-run", &beside.run),
                ("compare", &beside.compare),
                ("iterations", &beside.iterations),
            ];
            for (part, bytes) in parts {
                put(&mut out, part, bytes.len(), &packed(bytes)?)?;
            }
        }
        out.write_all(viewer.behind.as_bytes())?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }
}

fn packed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Puts a part into the page that is so long when it is unpacked.
fn put(out: &mut impl Write, part: &str, length: usize, packed: &[u8]) -> io::Result<()> {
    for piece in packed.chunks(PIECE) {
        write!(
            out,
            "\n    <script type=\"application/octet-stream\" data-marey=\"{part}\" data-bytes=\"{length}\">"
        )?;
        base64(out, piece)?;
        out.write_all(b"</script>")?;
    }
    Ok(())
}

/// Base64 of RFC 4648, padded.
fn base64(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letter = |bits: u32| LETTERS[(bits & 63) as usize];
    for three in bytes.chunks(3) {
        let byte = |place: usize| u32::from(three.get(place).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        let mut four = [letter(bits >> 18), letter(bits >> 12), letter(bits >> 6), letter(bits)];
        four[three.len() + 1..].fill(b'=');
        out.write_all(&four)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_is_that_of_the_standard() {
        let cases = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (bytes, expected) in cases {
            let mut text = Vec::new();
            base64(&mut text, bytes.as_bytes()).unwrap();
            assert_eq!(String::from_utf8(text).unwrap(), expected);
        }
    }
}
