//! `meta.json`: the facts of a run and the list of its parts.
//!
//! The one idea: it is replaced as a whole — written aside, synced, renamed — so a reader sees the
//! archive as it was at some moment, whatever is being written to it.
//!
//! Its first line has the checksum of all behind that, since numbers that have changed are still JSON. Whoever writes the
//! text in another form, or leaves the line out, does without.
//!
//! Its types are the wire format of the file and nothing else; only `corrections` has others with serde.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Component, Path, PathBuf};

use marey_model::Detail;
use serde::{Deserialize, Serialize};

use crate::part::{PartStats, Tail};
use crate::schema::{SCHEMA_VERSION, TableSpec};
use crate::{Aside, Error};

/// Name of the file in an archive.
pub const META_FILE: &str = "meta.json";

/// More than this is no list of parts: ten million of them would fit.
const MAX_META_BYTES: u64 = 1 << 31;

/// What a text begins with that has a checksum; eight digits and [`SUM_ENDS`] follow.
const SUM_BEGINS: &[u8] = b"{\n  \"crc32\": \"";
const SUM_ENDS: &[u8] = b"\",\n";

/// The content of `meta.json`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Meta {
    /// Version of the schema; see [`SCHEMA_VERSION`].
    pub schema: u32,
    /// Version of marey that wrote the archive.
    pub marey: String,
    /// Whether all parts are there.
    pub state: State,
    /// Facts of the run.
    pub run: RunFacts,
    /// The files of each table, by name of the table, in the order of slab and group.
    pub tables: BTreeMap<String, Vec<Part>>,
    /// Totals by name: `intervals`, `messages`, `events` …
    pub counts: BTreeMap<String, u64>,
}

/// How far an archive is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Parts are still being added.
    Merging,
    /// All parts are there.
    Finished,
}

/// Facts of the run as a whole.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunFacts {
    /// The command line that was recorded, word by word.
    pub command: Vec<String>,
    /// Start of the run, `CLOCK_REALTIME`, ns since 1970.
    pub start_realtime_ns: i64,
    /// From the first to the last measured instant, ns.
    pub duration_ns: i64,
    /// Names of the nodes, sorted.
    pub hosts: Vec<String>,
    /// Name of the launcher; empty = none.
    pub launcher: String,
    /// Version of the MPI library; empty = none.
    pub mpi_library: String,
    /// Commit of the repository that the run was started in; empty = none.
    pub git_commit: String,
    /// Title given by the user.
    pub title: String,
    /// Memo given by the user.
    pub memo: String,
    /// Rules that said of which regions less was to be recorded.
    pub rules: Vec<String>,
    /// Directory that the command was started in; empty = not known.
    pub directory: String,
    /// The launcher's name for the job step that several recorders were of, each for some ranks; empty = there was one.
    pub job_step: String,
    /// Settings that it was recorded with, as words of the command line of the recorder; `None` = not known.
    pub settings: Option<Vec<String>>,
    /// What another tool left that it was imported from, such as `a Paraver trace`; empty = it was recorded.
    pub imported_from: String,
    /// Whether it is a profile that does not say when anything was done, only how often and how long.
    pub without_times: bool,
}

impl RunFacts {
    /// Whether rules left calls out, so that what is not there may have been done.
    #[must_use]
    pub fn leaves_out(&self) -> bool {
        let off = Detail::Off.name();
        self.rules.iter().any(|rule| rule.split_whitespace().next() == Some(off))
    }
}

/// One file of a table.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Part {
    /// Where it lies, relative to the archive, with `/` between directories.
    pub file: String,
    /// Number of rows.
    pub rows: u64,
    /// Size, bytes.
    pub bytes: u64,
    /// What stands behind its pages.
    pub tail: Tail,
    /// Earliest begin of its rows, ns since the start of the run; `None` = rows have no times.
    pub min_time: Option<i64>,
    /// Latest end of its rows, ns since the start of the run.
    pub max_time: Option<i64>,
    /// Number of the slab of time.
    pub slab: u32,
    /// Number of the group of locations.
    pub group: u32,
    /// Fingerprint of the input that it was made from, hexadecimal: a restarted merge keeps the
    /// part if the input still has this one. Empty = none.
    pub fingerprint: String,
}

impl Part {
    /// The entry of a file that was just written.
    pub fn new(spec: &TableSpec, slab: u32, group: u32, stats: PartStats) -> Self {
        Self {
            file: spec.file(slab, group),
            rows: stats.rows,
            bytes: stats.bytes,
            tail: stats.tail,
            min_time: stats.span.map(|span| span.0),
            max_time: stats.span.map(|span| span.1),
            slab,
            group,
            fingerprint: String::new(),
        }
    }
}

impl Meta {
    /// An archive without parts.
    pub fn new(run: RunFacts) -> Self {
        Self {
            schema: SCHEMA_VERSION,
            marey: env!("CARGO_PKG_VERSION").to_owned(),
            state: State::Merging,
            run,
            tables: BTreeMap::new(),
            counts: BTreeMap::new(),
        }
    }

    /// Adds a part, in the place of one with the same file if there is one.
    pub fn add(&mut self, spec: &TableSpec, part: Part) {
        let parts = self.tables.entry(spec.name.to_owned()).or_default();
        match parts.binary_search_by_key(&(part.slab, part.group), |part| (part.slab, part.group)) {
            Ok(place) => parts[place] = part,
            Err(place) => parts.insert(place, part),
        }
    }

    /// The parts of a table; none if the archive has no rows of it.
    pub fn parts(&self, table: &str) -> &[Part] {
        self.tables.get(table).map_or(&[], Vec::as_slice)
    }

    /// Rows of a table, over all its parts.
    pub fn rows(&self, table: &str) -> u64 {
        self.parts(table).iter().fold(0, |rows, part| rows.saturating_add(part.rows))
    }

    /// Rows of a table that were left out where the run was exported.
    pub fn left_out(&self, table: &str) -> u64 {
        self.counts.get(&left_out_name(table)).copied().unwrap_or(0)
    }

    /// Leaves the parts of a table out.
    pub(crate) fn leave_out(&mut self, table: &str) {
        let rows = self.rows(table);
        // Who asks how many were recorded is told so all the same.
        self.counts.entry(table.to_owned()).or_insert(rows);
        self.counts.insert(left_out_name(table), rows);
        self.tables.remove(table);
    }

    /// Since when, in ns, some locations have sums only; `None` = all have their events to the end.
    pub fn summed_since_ns(&self) -> Option<i64> {
        let total = |name: &str| self.counts.get(name).copied().unwrap_or(0);
        let since = i64::try_from(total("summed_since_ns")).unwrap_or(i64::MAX);
        (total("summed_locations") > 0 && since < self.run.duration_ns).then_some(since)
    }

    /// Writes `dir/meta.json` in one step: a reader sees the old one or the new one.
    pub fn save(&self, dir: &Path) -> Result<(), Error> {
        let path = dir.join(META_FILE);
        let text = self.text(&path)?;
        let (aside, mut file) = Aside::alone(&path).map_err(Error::io(&path))?;
        file.write_all(&text).map_err(Error::io(aside.path()))?;
        // Before the rename, or a power failure could leave a new name with nothing in it.
        file.sync_all().map_err(Error::io(aside.path()))?;
        aside.put(&path).map_err(Error::io(&path))
    }

    /// The content of the file; the path is for messages.
    pub(crate) fn text(&self, path: &Path) -> Result<Vec<u8>, Error> {
        let plain = serde_json::to_vec_pretty(self)
            .map_err(|source| Error::Meta { path: path.to_owned(), source })?;
        let rest = plain.strip_prefix(b"{\n").unwrap_or(&plain);
        let rest = [rest, b"\n"].concat();
        let sum = format!("{:08x}", crc32fast::hash(&rest));
        Ok([SUM_BEGINS, sum.as_bytes(), SUM_ENDS, &rest].concat())
    }

    /// Reads `dir/meta.json`.
    pub fn load(dir: &Path) -> Result<Self, Error> {
        let path = dir.join(META_FILE);
        let bytes = std::fs::metadata(&path).map_err(Error::io(&path))?.len();
        Self::check_size(&path, bytes)?;
        Self::parse(&path, &std::fs::read(&path).map_err(Error::io(&path))?)
    }

    /// Refuses to read a file that is too large to be what it should be.
    pub(crate) fn check_size(path: &Path, bytes: u64) -> Result<(), Error> {
        if bytes <= MAX_META_BYTES {
            return Ok(());
        }
        Err(Error::TooLarge { path: path.to_owned(), bytes, limit: MAX_META_BYTES })
    }

    /// Reads the content of a `meta.json`; the path is for messages.
    pub(crate) fn parse(path: &Path, text: &[u8]) -> Result<Self, Error> {
        if is_changed(text) {
            return Err(Error::ChangedMeta { path: path.to_owned() });
        }
        let meta: Self =
            serde_json::from_slice(text).map_err(|source| Error::Meta { path: path.to_owned(), source })?;
        if meta.schema > SCHEMA_VERSION {
            let (found, known) = (meta.schema, SCHEMA_VERSION);
            return Err(Error::UnknownSchema { path: path.to_owned(), found, known });
        }
        // A run may come from anywhere; it must not make us open what lies outside of it.
        let mut files = meta.tables.values().flatten().map(|part| &part.file);
        match files.find(|file| !lies_inside(file)) {
            Some(file) => Err(Error::OutsideArchive { path: PathBuf::from(file) }),
            None => Ok(meta),
        }
    }

    /// The files of all tables, sorted.
    pub(crate) fn files(&self) -> Vec<&str> {
        let mut files: Vec<&str> = self.tables.values().flatten().map(|part| part.file.as_str()).collect();
        files.sort_unstable();
        files.dedup();
        files
    }
}

/// Whether a text has a checksum, and that of another one.
fn is_changed(text: &[u8]) -> bool {
    let Some((sum, rest)) = text.strip_prefix(SUM_BEGINS).and_then(|text| text.split_at_checked(8)) else {
        return false;
    };
    rest.strip_prefix(SUM_ENDS).is_some_and(|rest| format!("{:08x}", crc32fast::hash(rest)).as_bytes() != sum)
}

fn left_out_name(table: &str) -> String {
    format!("{table}_left_out")
}

fn lies_inside(file: &str) -> bool {
    let mut components = Path::new(file).components();
    !file.is_empty() && components.all(|component| matches!(component, Component::Normal(_)))
}
