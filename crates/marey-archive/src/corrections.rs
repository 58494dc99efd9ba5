//! Corrections of clocks that were made after the merge, and are applied when an archive is read.
//!
//! The one idea: tables are never rewritten. A small file beside them, `corrections.json`, says what is to
//! be added to the times of each process, and whoever reads the archive through this crate gets times with
//! that added. Without the file everything is as it was merged.
//!
//! A run starts at 0, and negative times mean that there is none; so where something would have to be
//! earlier than that, everything else is moved to later instead, and the run begins earlier.
//!
//! What is deliberately absent: sums. Profile and histogram stay as they were merged; buckets of the level of detail are
//! moved as a whole (`detail.rs`).

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::store::Store;
use crate::{Archive, Aside, Error};

mod apply;
#[cfg(unix)]
mod fit;

pub(crate) use apply::Applied;
#[cfg(unix)]
pub use fit::{Refit, refit};

/// Name of the file in an archive.
pub const CORRECTIONS_FILE: &str = "corrections.json";

/// Version of the file that is written.
const VERSION: u32 = 1;
/// More than this is no such file.
const MAX_BYTES: u64 = 64 << 20;
/// Corrections beyond this are nonsense, ns: 104 days, as for all times that are typed.
pub const MAX_OFFSET_NS: i64 = 1 << 53;

/// What is to be added to times of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Corrections {
    /// Version of the file.
    pub version: u32,
    /// Given by the user: what is added to all times of a process, ns, by number of the process.
    pub offsets: BTreeMap<u32, i64>,
    /// Found by fitting clocks again.
    pub fits: Vec<Fit>,
    /// Messages that arrive before they are sent, with all this added; `None` = not counted.
    pub violations: Option<u64>,
}

/// What is added to times of processes that share a clock.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fit {
    /// Numbers of the processes.
    pub processes: Vec<u32>,
    /// In the order of time; what is added is linear in between, and as at the ends beyond them.
    pub knots: Vec<FitKnot>,
}

/// What is added at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FitKnot {
    /// When, as it was merged, ns since the start of the run.
    pub time: i64,
    /// What is added, ns.
    pub add: i64,
    /// Bound on the error that remains, ns; −1 = unknown.
    pub uncertainty: i64,
}

impl Corrections {
    /// Whether nothing is to be added.
    pub fn is_empty(&self) -> bool {
        self.offsets.values().all(|&ns| ns == 0) && self.fits.is_empty()
    }

    /// Those of an archive; none if it has no such file.
    pub(crate) fn of(store: &Store) -> Result<Self, Error> {
        let path = store.path_of(CORRECTIONS_FILE);
        let section = match store.section(CORRECTIONS_FILE) {
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            section => section?,
        };
        let bytes = section.len();
        if bytes > MAX_BYTES {
            return Err(Error::TooLarge { path, bytes, limit: MAX_BYTES });
        }
        let text = section.read_all().map_err(Error::io(&path))?;
        let found = Self::parse(&text).map_err(|source| Error::Meta { path: path.clone(), source })?;
        if found.version > VERSION {
            return Err(Error::UnknownSchema { path, found: found.version, known: VERSION });
        }
        Ok(found)
    }

    /// Reads the content of the file. Lists in the place of objects would be taken for ones of which nothing is
    /// said, since everything may be missing.
    fn parse(text: &[u8]) -> Result<Self, serde_json::Error> {
        let value: serde_json::Value = serde_json::from_slice(text)?;
        let items = |value: &serde_json::Value, name: &str| {
            value.get(name).and_then(serde_json::Value::as_array).cloned().unwrap_or_default()
        };
        let fits = items(&value, "fits");
        let knots = fits.iter().flat_map(|fit| items(fit, "knots"));
        if ![&value].into_iter().chain(&fits).all(serde_json::Value::is_object)
            || !knots.into_iter().all(|knot| knot.is_object())
        {
            return Err(serde::de::Error::custom("a list where an object should be"));
        }
        serde_json::from_value(value)
    }

    /// Writes them into the archive in directory `run` in one step, or takes the file away if there is
    /// nothing to add.
    pub fn save(&self, run: &Path) -> Result<(), Error> {
        if self.is_empty() {
            return Self::remove(run);
        }
        let path = run.join(CORRECTIONS_FILE);
        let written = Self { version: VERSION, ..self.clone() };
        let mut text = serde_json::to_vec_pretty(&written)
            .map_err(|source| Error::Meta { path: path.clone(), source })?;
        text.push(b'\n');
        let (aside, mut file) = Aside::new(&path).map_err(Error::io(&path))?;
        file.write_all(&text).map_err(Error::io(aside.path()))?;
        file.sync_all().map_err(Error::io(aside.path()))?;
        aside.put(&path).map_err(Error::io(&path))
    }

    /// Takes the file away, if there is one.
    pub fn remove(run: &Path) -> Result<(), Error> {
        let path = run.join(CORRECTIONS_FILE);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io(path)(error)),
            _ => Ok(()),
        }
    }
}

/// Messages of an archive that arrive before they are sent, as it is read.
pub fn violations(archive: &Archive) -> Result<u64, Error> {
    let mut found = 0;
    let scanned = archive.scan("messages", &["send_time", "recv_time"], &[], |rows| {
        if let (Ok(sent), Ok(received)) = (rows.i64("send_time"), rows.i64("recv_time")) {
            let pairs = sent.iter().zip(received);
            found += pairs.filter(|&(&sent, &received)| 0 <= received && received < sent).count() as u64;
        }
    })?;
    scanned.damage.into_iter().next().map_or(Ok(found), Err)
}
