//! What the dynamic loader would load for a program.
//!
//! The one idea: the search for libraries has too many rules (run paths of each library, caches,
//! processor features) to be done twice, so the program's own loader is asked to list what it would
//! load, with the recorder preloaded. In that mode it runs no code of the program or its libraries.

use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::ask;
use crate::embedded;
use crate::record::can_preload_from;

/// What the loader said.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    /// Libraries with their places, in the order of the search for symbols.
    pub(super) libraries: Vec<(String, PathBuf)>,
    /// Libraries that it does not find.
    pub(super) missing: Vec<String>,
    /// What else stands against a start, in its words.
    pub(super) complaints: Vec<String>,
    /// Why it would not preload the recorder, in its words.
    pub(super) refusal: Option<String>,
}

/// The recorder, unpacked for as long as this lives.
#[derive(Debug)]
pub(super) struct Recorder {
    dir: PathBuf,
    library: PathBuf,
}

impl Recorder {
    /// Unpacks it where code may be loaded from. Nothing if there is no such place; the trial has told
    /// of that.
    pub(super) fn unpack() -> Option<Self> {
        let parents = [std::env::temp_dir(), std::env::current_dir().ok()?, PathBuf::from("/dev/shm")];
        parents.iter().filter(|parent| can_preload_from(parent)).find_map(|parent| {
            let dir = parent.join(format!(".marey-doctor-library-{}", std::process::id()));
            // Made by nobody else: `mkdir` and `O_EXCL` fail on what is there, links too.
            fs::DirBuilder::new().mode(0o700).create(&dir).ok()?;
            let recorder = Self { library: dir.join(marey_model::RECORDER_FILE), dir };
            let file = OpenOptions::new().write(true).create_new(true).mode(0o700).open(&recorder.library);
            file.and_then(|mut file| file.write_all(embedded::LIBRARY)).ok()?;
            Some(recorder)
        })
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // What cannot be removed lies in a directory for what is temporary.
        fs::remove_dir_all(&self.dir).ok();
    }
}

/// Asks `loader`. Nothing if it does not answer.
pub(super) fn list(loader: &Path, program: &Path, recorder: Option<&Recorder>) -> Option<Listing> {
    let mut command = Command::new(loader);
    let kind = loader.file_name().map(OsStr::as_encoded_bytes).unwrap_or_default();
    if kind.starts_with(b"ld-linux") {
        // As `ldd` does: with `--list`, the loader of glibc ends at the first library that is missing.
        command.env("LD_TRACE_LOADED_OBJECTS", "1");
    } else if kind.starts_with(b"ld-") {
        command.arg("--list");
    } else {
        // It could run the program.
        return None;
    }
    // Auditors are the one thing that runs in this mode too.
    command.arg(program).env("LC_ALL", "C").env_remove("LD_AUDIT");
    let users = std::env::var_os("LD_PRELOAD").filter(|list| !list.is_empty());
    let ours = recorder.map(|recorder| recorder.library.clone().into_os_string());
    let preload: Vec<OsString> = users.into_iter().chain(ours).collect();
    command.env("LD_PRELOAD", preload.join(":".as_ref()));
    let output = ask::output(&mut command)?;
    let told = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    Some(parse(&told[0], &told[1], recorder.map(|recorder| recorder.library.as_path())))
}

fn parse(out: &str, err: &str, recorder: Option<&Path>) -> Listing {
    let mut listing = Listing::default();
    for line in out.lines().map(str::trim) {
        // Without an arrow: named by its path, as the loader and what is preloaded are.
        let (name, place) = line.split_once(" => ").unwrap_or((line, line));
        if place.starts_with("not found") {
            listing.missing.push(name.to_owned());
            continue;
        }
        let place = Path::new(place.rsplit_once(" (").map_or(place, |(place, _)| place));
        // The kernel's own library has no file.
        if place.is_absolute() && Some(place) != recorder {
            let name = place.file_name().unwrap_or(place.as_os_str()).to_string_lossy().into_owned();
            listing.libraries.push((name, place.to_owned()));
        }
    }
    let is_ours = |line: &str| recorder.is_some_and(|ours| line.contains(&*ours.to_string_lossy()));
    for line in err.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let missing = line.split_once("error while loading shared libraries: ").map(|(_, rest)| rest);
        if let Some((name, _)) = missing.and_then(|rest| rest.split_once(": cannot open shared object file"))
        {
            listing.missing.push(name.to_owned());
        } else if is_ours(line) {
            listing.refusal.get_or_insert(line.trim_start_matches("ERROR: ld.so: ").to_owned());
        } else {
            listing.complaints.push(line.to_owned());
        }
    }
    listing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_is_taken_apart() {
        let out = "\tlinux-vdso.so.1 (0x1)\n\t/tmp/x/libmarey.so (0x2)\n\
            \tlibmpi.so.40 => /usr/lib/libmpi.so.40 (0x3)\n\tlibgone.so.1 => not found\n\
            \t/lib64/ld-linux-x86-64.so.2 (0x4)\n";
        let err = "./a: /lib/libc.so.6: version `GLIBC_2.99' not found (required by ./a)\n\
            ./a: error while loading shared libraries: libtoo.so: cannot open shared object file: No such\n\
            ERROR: ld.so: object '/tmp/x/libmarey.so' from LD_PRELOAD cannot be preloaded (no): ignored.\n";
        let listing = parse(out, err, Some(Path::new("/tmp/x/libmarey.so")));
        let names: Vec<&str> = listing.libraries.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["libmpi.so.40", "ld-linux-x86-64.so.2"]);
        assert_eq!(listing.missing, ["libgone.so.1", "libtoo.so"]);
        assert!(listing.complaints[0].contains("GLIBC_2.99") && listing.complaints.len() == 1);
        assert!(listing.refusal.unwrap().starts_with("object '/tmp/x"));
    }
}
