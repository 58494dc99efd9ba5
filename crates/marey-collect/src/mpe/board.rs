//! Where the ranks of a world tell each other what they have described.
//!
//! The one idea: as a rule a single rank describes the states that all of them log, and MPE puts the two
//! together when it has all ranks' events in one file. Here each process needs the names itself. So
//! descriptions are lines of a file in the spool, and a process that meets a number without a
//! meaning looks there. No message is sent and nobody waits: a name that comes later is put in later.
//!
//! Each process has a file of its own, and everybody reads them all: lines that machines append to one file
//! behind a network overwrite each other. Where spools lie on disks of different machines, the files lie in
//! the directory that all of them see, if there is one; otherwise numbers keep standing for themselves.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use marey_measure::{Runtime, sys};
use rustc_hash::FxHashMap;
use std::hash::Hasher;

/// No program describes more; what lies beyond is not read.
const MAX_BYTES: u64 = 1 << 20;

/// A directory may change again without looking younger, for as long as its file system's clock ticks.
const TICK: Duration = Duration::from_secs(2);

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

/// The files of a world, and how far they have been read.
pub(super) struct Board {
    /// What the names of the files begin with, with their directory.
    stem: Option<PathBuf>,
    /// The own file, once something has been said.
    own: Option<PathBuf>,
    /// The files that are known, and the bytes of each that have been read.
    seen: FxHashMap<OsString, u64>,
    /// When the directory had changed last, as far as all files of then are known.
    looked: Option<SystemTime>,
}

impl Board {
    /// The world's files. Only processes of a launcher have some, by the name it has given them all.
    pub(super) fn of_world(runtime: &Runtime) -> Self {
        let stem = crate::mpi::world::world_key().map(|world| {
            let mut hasher = rustc_hash::FxHasher::default();
            hasher.write(world.as_bytes());
            let common = std::env::var_os("MAREY_BOARD").map(PathBuf::from);
            let directory = common.as_ref().unwrap_or(&runtime.config().spool);
            directory.join(format!("world-{:016x}.mpe-", hasher.finish()))
        });
        Self::at(stem)
    }

    fn at(stem: Option<PathBuf>) -> Self {
        Self { stem, own: None, seen: FxHashMap::default(), looked: None }
    }

    /// Tells the others.
    pub(super) fn say(&mut self, described: &Described) {
        let Some(stem) = &self.stem else { return };
        let own = self.own.get_or_insert_with(|| {
            let mut random = [0; 8];
            // Without random numbers there is the process's: ranks of two machines may then share a file.
            if !sys::random(&mut random) {
                random = u64::from(sys::process_id()).to_ne_bytes();
            }
            let mut own = stem.clone().into_os_string();
            own.push(format!("{:016x}", u64::from_ne_bytes(random)));
            PathBuf::from(own)
        });
        let mut options = std::fs::OpenOptions::new();
        options.append(true).create(true).mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC);
        // What cannot be said leaves the others with the number.
        options.open(own).and_then(|mut file| file.write_all(line_of(described).as_bytes())).ok();
    }

    /// What has been said, of those who have said more than the last time.
    pub(super) fn news(&mut self) -> Vec<Described> {
        let Some(stem) = self.stem.clone() else { return Vec::new() };
        let Some(directory) = stem.parent() else { return Vec::new() };
        self.find_files(&stem, directory);
        let mut names: Vec<_> = self.seen.iter_mut().collect();
        names.sort();
        let mut news = Vec::new();
        for (name, seen) in names {
            let path = directory.join(name);
            let len = std::fs::symlink_metadata(&path).map_or(0, |data| data.len());
            if *seen < len {
                let text = read(&path);
                *seen = text.as_ref().map_or(len, |text| text.len() as u64);
                // A line that is being written is read the next time.
                let text = text.unwrap_or_default();
                let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
                news.extend(String::from_utf8_lossy(&text[..whole]).lines().filter_map(described_in));
            }
        }
        news
    }

    /// Gets to know files that have come. An event that nobody describes asks each time it is logged, so
    /// the directory is read only if it has changed.
    fn find_files(&mut self, stem: &Path, directory: &Path) {
        let changed = std::fs::metadata(directory).and_then(|data| data.modified()).ok();
        if changed.is_some() && changed == self.looked {
            return;
        }
        let begin = stem.file_name().unwrap_or_default().as_bytes();
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name.as_bytes().starts_with(begin) {
                self.seen.entry(name).or_insert(0);
            }
        }
        self.looked = changed.filter(|changed| changed.elapsed().is_ok_and(|age| TICK < age));
    }
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK);
    let mut text = Vec::new();
    options.open(path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut text)).ok()?;
    Some(text)
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
    fn descriptions_come_through_the_files() {
        let place = tempfile::tempdir().unwrap();
        let open = || Board::at(Some(place.path().join("world-1.mpe-")));
        let (mut teller, mut other, mut reader) = (open(), open(), open());
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
        // Of a world of another name.
        Board::at(Some(place.path().join("world-2.mpe-"))).say(&all[0]);
        assert_eq!(reader.news(), []);
        other.say(&all[2]);
        assert_eq!(reader.news(), all[2..]);
        let own = teller.own.unwrap();
        let mut file = std::fs::OpenOptions::new().append(true).open(&own).unwrap();
        file.write_all(b"no line\n5\t6\thalf").unwrap();
        assert_eq!(reader.news(), all[..2]);
        std::fs::write(&own, "").unwrap();
        assert_eq!(open().news(), all[2..]);
    }

    /// As behind a network, where all write where they found the end: nothing that others have said is in the
    /// way.
    #[test]
    fn nobody_writes_into_a_file_of_another() {
        let place = tempfile::tempdir().unwrap();
        let described = |start| Described {
            start,
            end: start,
            name: start.to_string(),
            color: String::new(),
            format: String::new(),
        };
        let mut boards: Vec<_> = (0..4).map(|_| Board::at(Some(place.path().join("world-1.mpe-")))).collect();
        for (start, board) in (0..).zip(&mut boards) {
            board.say(&described(start));
            board.say(&described(start + 10));
        }
        let mut texts: Vec<String> = std::fs::read_dir(place.path())
            .unwrap()
            .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
            .collect();
        texts.sort();
        let expected: Vec<String> =
            (0..4).map(|start| line_of(&described(start)) + &line_of(&described(start + 10))).collect();
        assert_eq!(texts, expected);
    }

    /// A directory that has not changed for long is not read again, and one that has is.
    #[test]
    fn files_that_come_later_are_found() {
        let place = tempfile::tempdir().unwrap();
        let stem = place.path().join("world-1.mpe-");
        let mut reader = Board::at(Some(stem.clone()));
        let set_time = |time| std::fs::File::open(place.path()).unwrap().set_modified(time).unwrap();
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1000);
        set_time(long_ago);
        assert_eq!(reader.news(), []);
        assert_eq!(reader.looked, Some(long_ago));
        let line = "1\t2\ta\tb\tc\n";
        std::fs::write(place.path().join("world-1.mpe-0"), line).unwrap();
        set_time(long_ago);
        assert_eq!(reader.news(), [], "the directory was read though it looks the same");
        set_time(long_ago + TICK);
        assert_eq!(reader.news().len(), 1);
        // Just now: what comes next may not be seen by the time.
        std::fs::write(place.path().join("world-1.mpe-1"), line).unwrap();
        assert_eq!((reader.news().len(), reader.looked), (1, None));
    }
}
