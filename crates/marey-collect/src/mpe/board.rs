//! Where the ranks of a world tell each other what they have described.
//!
//! The one idea: as a rule a single rank describes the states that all of them log, and MPE puts the two
//! together when it has all ranks' events in one file. Here each process needs the names itself. So
//! descriptions are lines of a file in the spool, and a process that meets a number without a
//! meaning looks there. No message is sent and nobody waits: a name that comes later is put in later.
//!
//! Where spools lie on disks of different machines, the file lies in the directory that all of them see, if
//! there is one; otherwise numbers keep standing for themselves.

use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use marey_measure::Runtime;
use std::hash::Hasher;

/// No program describes more; what lies beyond is not read.
const MAX_BYTES: u64 = 1 << 20;

/// A description as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Described {
    pub(super) start: i32,
    /// That of the end; the same for an event that stands alone.
    pub(super) end: i32,
    pub(super) name: String,
    pub(super) color: String,
    pub(super) format: String,
}

/// The file, and how far it has been read.
pub(super) struct Board {
    path: Option<PathBuf>,
    seen: u64,
}

impl Board {
    /// The world's file. Only processes of a launcher have one, by the name it has given them all.
    pub(super) fn of_world(runtime: &Runtime) -> Self {
        let path = crate::mpi::world::world_key().map(|world| {
            let mut hasher = rustc_hash::FxHasher::default();
            hasher.write(world.as_bytes());
            let common = std::env::var_os("MAREY_BOARD").map(PathBuf::from);
            let directory = common.as_ref().unwrap_or(&runtime.config().spool);
            directory.join(format!("world-{:016x}.mpe", hasher.finish()))
        });
        Self { path, seen: 0 }
    }

    /// Tells the others. One write, so that lines of different ranks do not mix.
    pub(super) fn say(&self, described: &Described) {
        let Some(path) = &self.path else { return };
        let mut options = std::fs::OpenOptions::new();
        options.append(true).create(true).mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC);
        // What cannot be said leaves the others with the number.
        options.open(path).and_then(|mut file| file.write_all(line_of(described).as_bytes())).ok();
    }

    /// What has been said, if that is more than the last time.
    pub(super) fn news(&mut self) -> Vec<Described> {
        let Some(path) = &self.path else { return Vec::new() };
        let len = std::fs::symlink_metadata(path).map_or(0, |data| data.len());
        if len <= self.seen {
            return Vec::new();
        }
        let mut options = std::fs::OpenOptions::new();
        options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC);
        let mut text = Vec::new();
        let read = options.open(path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut text));
        self.seen = if read.is_ok() { text.len() as u64 } else { len };
        // A line that is being written is read the next time.
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        String::from_utf8_lossy(&text[..whole]).lines().filter_map(described_in).collect()
    }
}

/// Numbers, then texts, with tabs between them.
fn line_of(described: &Described) -> String {
    let Described { start, end, name, color, format } = described;
    let [name, color, format] = [name, color, format].map(|text| escaped(text));
    format!("{start}\t{end}\t{name}\t{color}\t{format}\n")
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let c = if c == '\\' {
            rest.next().unwrap_or(c)
        } else {
            out.push(c);
            continue;
        };
        out.push(match c {
            't' => '\t',
            'n' => '\n',
            'r' => '\r',
            c => c,
        });
    }
    out
}

fn described_in(line: &str) -> Option<Described> {
    let mut words = line.split('\t');
    let start = words.next()?.parse().ok()?;
    let end = words.next()?.parse().ok()?;
    let mut text = || words.next().map(unescaped);
    Some(Described { start, end, name: text()?, color: text()?, format: text()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_come_through_the_file() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("world-1.mpe");
        let open = || Board { path: Some(path.clone()), seen: 0 };
        let (teller, mut reader) = (open(), open());
        assert_eq!(reader.news(), []);
        let described = |start: i32, name: &str| Described {
            start,
            end: start + 1,
            name: name.to_owned(),
            color: "red:vlines3".to_owned(),
            format: "a\tb=%d\\n".to_owned(),
        };
        let all = [described(1, "Broadcast\t\\"), described(-3, "zwei\nZeilen \u{e4}"), described(7, "")];
        teller.say(&all[0]);
        teller.say(&all[1]);
        assert_eq!(reader.news(), all[..2]);
        assert_eq!(reader.news(), []);
        std::fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap()
            .write_all(b"no line\n5\t6\thalf")
            .unwrap();
        assert_eq!(reader.news(), all[..2]);
        std::fs::write(&path, "").unwrap();
        teller.say(&all[2]);
        assert_eq!(open().news(), all[2..]);
    }
}
