//! What a program of the corpus measured of itself.
//!
//! The one idea: a line is a sum over one location, and says what was summed; nothing is judged here.

use std::path::Path;

use serde::Deserialize;

use crate::cases::Place;

/// A sum.
#[derive(Debug, Deserialize)]
pub(crate) struct Line {
    /// `delay`: time in a part that makes others wait; `work`: in a part that does not; `wait`: by which calls were held
    /// up; `run`: of the whole.
    pub(crate) what: String,
    /// The rank, 0 without ranks.
    pub(crate) who: u32,
    pub(crate) thread: String,
    /// The call that waited, empty if none did.
    pub(crate) region: String,
    /// The program's own function that waited, or in which the time was spent.
    pub(crate) function: String,
    pub(crate) seconds: f64,
    /// How long the calls took, which includes what they did beside waiting.
    pub(crate) call: f64,
    /// Parts or calls, whether they were held up or not.
    pub(crate) instances: u32,
}

/// All that the locations of one run have written.
#[derive(Debug)]
pub(crate) struct Truth(pub(crate) Vec<Line>);

impl Truth {
    /// From the files in `dir` whose names begin with `prefix`.
    pub(crate) fn read(dir: &Path, prefix: &str) -> Self {
        let paths = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        let is_meant = |path: &std::path::PathBuf| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(prefix))
        };
        let mut paths: Vec<_> = paths.filter(is_meant).collect();
        paths.sort();
        assert!(!paths.is_empty(), "no truth in {}", dir.display());
        let texts = paths.iter().map(|path| std::fs::read_to_string(path).unwrap());
        let lines = texts.flat_map(|text| {
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<_>>()
        });
        Self(lines.collect())
    }

    /// The sums of one thing, of one location, in one region and function; there may be several for threads of one name.
    pub(crate) fn lines(
        &self,
        what: &str,
        place: Place,
        region: &str,
        function: &str,
    ) -> impl Iterator<Item = &Line> {
        self.0.iter().filter(move |line| {
            line.what == what && line.is_of(place) && line.region == region && line.function == function
        })
    }

    /// Seconds that the longest location ran.
    pub(crate) fn run_s(&self) -> f64 {
        self.0.iter().filter(|line| line.what == "run").map(|line| line.seconds).fold(0.0, f64::max)
    }
}

impl Line {
    pub(crate) fn is_of(&self, place: Place) -> bool {
        self.who == place.rank && self.thread == place.thread
    }
}
