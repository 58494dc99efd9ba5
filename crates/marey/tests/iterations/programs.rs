//! Builds the programs, records them, and reads what they wrote down.
//!
//! The one idea: a recorded run is what marey says of it, beside what the program says.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;
use serde_json::Value;
use tempfile::TempDir;

/// What a program is built and started with.
pub(crate) struct Tools {
    pub(crate) compiler: &'static str,
    launcher: &'static [&'static str],
}

pub(crate) const OPEN_MPI: Tools =
    Tools { compiler: "mpicc.openmpi", launcher: &["mpirun.openmpi", "--oversubscribe", "-n", "2"] };
pub(crate) const MPICH: Tools = Tools { compiler: "mpicc.mpich", launcher: &["mpirun.mpich", "-n", "2"] };
pub(crate) const PLAIN: Tools = Tools { compiler: "cc", launcher: &[] };

pub(crate) struct Built {
    place: TempDir,
    launcher: &'static [&'static str],
}

impl Built {
    /// `None`, said aloud, without the compiler or the launcher.
    pub(crate) fn new(source: &str, tools: &Tools) -> Option<Self> {
        for word in [Some(&tools.compiler), tools.launcher.first()].into_iter().flatten() {
            if Command::new(word).arg("--version").output().is_err() {
                marey_testkit::skip(word);
                return None;
            }
        }
        let place = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/iterations/programs");
        let mut compile = Command::new(tools.compiler);
        compile.args(["-O1", "-g", "-Wall", "-pthread"]).arg(sources.join(source)).args(["-o", "program"]);
        let output = compile.current_dir(place.path()).output().unwrap();
        assert!(output.status.success(), "{compile:?}: {}", String::from_utf8_lossy(&output.stderr));
        Some(Self { place, launcher: tools.launcher })
    }

    /// Records a case.
    pub(crate) fn record(&self, case: &str) -> Recorded {
        let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let run = dir.path().join("run.marey");
        let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
        command.args(["record", "-o"]).arg(&run).arg("--").args(self.launcher);
        command.arg(self.place.path().join("program")).arg(case);
        command.current_dir(dir.path()).stdin(Stdio::null()).env_remove("LD_PRELOAD");
        command.env("TRUTH", dir.path().join("truth"));
        // Tests run as root in containers; Open MPI wants to be told twice.
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        let told = |what: &str| -> Value {
            let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
            let output = command.args([what, "--json"]).arg(&run).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            serde_json::from_slice(&output.stdout).unwrap()
        };
        let (phases, anomalies) = (told("phases"), told("anomalies"));
        Recorded { phases, anomalies, has_ranks: !self.launcher.is_empty(), lines: lines(dir.path()) }
    }
}

/// A line that a program wrote.
#[derive(Debug, Deserialize)]
pub(crate) struct Line {
    what: String,
    pub(crate) who: usize,
    /// The iteration, from 0; -1 = none.
    #[serde(rename = "index")]
    in_iteration: i64,
    #[serde(skip)]
    pub(crate) index: usize,
    pub(crate) began: i64,
    pub(crate) ended: i64,
    pub(crate) longer_ms: i64,
}

/// A run, and what is known of it.
pub(crate) struct Recorded {
    pub(crate) phases: Value,
    pub(crate) anomalies: Value,
    has_ranks: bool,
    lines: Vec<Line>,
}

impl Recorded {
    /// When each iteration began for the first and ended for the last.
    pub(crate) fn iterations(&self) -> Vec<(i64, i64)> {
        let mut all: Vec<(i64, i64)> = Vec::new();
        for line in self.lines.iter().filter(|line| line.what == "iteration") {
            if all.len() <= line.index {
                all.resize(line.index + 1, (i64::MAX, i64::MIN));
            }
            let span = &mut all[line.index];
            *span = (span.0.min(line.began), span.1.max(line.ended));
        }
        all
    }

    /// What was done in iterations.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| line.what == "part" && line.in_iteration >= 0)
    }

    /// Whether a row is of the rank, or of the thread begun by the first one, that is meant.
    pub(crate) fn is_at(&self, row: &Value, who: usize) -> bool {
        let name =
            if self.has_ranks { format!("rank {who}") } else { format!("process 0 thread {}", who + 1) };
        row["location"] == name.as_str()
    }
}

fn lines(dir: &Path) -> Vec<Line> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.file_stem().is_some_and(|stem| stem == "truth")).collect();
    files.sort();
    assert!(!files.is_empty(), "the program wrote nothing down");
    let texts = files.iter().map(|file| std::fs::read_to_string(file).unwrap());
    let mut lines: Vec<Line> = texts
        .flat_map(|text| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Line>>())
        .collect();
    lines.iter_mut().for_each(|line| line.index = usize::try_from(line.in_iteration).unwrap_or(0));
    lines
}
