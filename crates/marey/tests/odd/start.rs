//! One start of an odd program: alone, then recorded, then what the run says.
//!
//! The one idea: the program's own output, ending and counts, seen without a recorder, are what a recorded
//! start must give. Nothing is waited for that may never come: a start has a deadline.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

use crate::cases::{Case, Kind, Loss};
use crate::truth::Truth;

/// Many times what a start takes on a loaded machine.
const DEADLINE: Duration = Duration::from_secs(120);

/// Programs and libraries, built before.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) program: PathBuf,
    pub(crate) plug: PathBuf,
    pub(crate) other: PathBuf,
}

/// How a command ended: what a shell would say, and what was printed.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    code: i32,
    output: String,
}

/// Runs `command` in `place` with its standard output in a file, for daemons keep pipes open. `None` if it
/// does not end.
fn finish(mut command: Command, place: &Path) -> Option<(Outcome, String)> {
    let file = |name: &str| std::fs::File::create(place.join(name)).unwrap();
    command.current_dir(place).stdin(Stdio::null()).stdout(file("stdout")).stderr(file("stderr"));
    // A group of its own, so that a start that hangs can be ended with all of its children.
    command.process_group(0);
    let mut child = command.spawn().unwrap();
    let group = child.id();
    let (ended, waits) = mpsc::channel();
    let waiter = std::thread::spawn(move || {
        let status = child.wait().unwrap();
        // Nobody listens after the deadline.
        ended.send(status).unwrap_or_default();
    });
    let status = waits.recv_timeout(DEADLINE).ok();
    if status.is_none() {
        Command::new("kill").args(["-9", "--", &format!("-{group}")]).status().unwrap();
    }
    waiter.join().unwrap();
    let text = |name: &str| {
        String::from_utf8_lossy(&std::fs::read(place.join(name)).unwrap_or_default()).into_owned()
    };
    let status = status?;
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    Some((Outcome { code, output: text("stdout") }, text("stderr")))
}

/// Starts `case` alone and recorded. What failed, in words.
pub(crate) fn start(case: &Case, built: &Built, seed: u32, options: &[&str]) -> Result<(), String> {
    let place = tempfile::TempDir::new().unwrap();
    let dir = |name: &str| {
        let dir = place.path().join(name);
        std::fs::create_dir(&dir).unwrap();
        dir
    };
    let (alone, recorded) = (dir("alone"), dir("recorded"));
    let plain = finish(words(case, built, seed, None, &alone), &alone).ok_or("hangs even alone")?;
    if plain.0.code == 99 {
        return Err(format!("fails even alone: {plain:?}"));
    }
    let record = words(case, built, seed, Some(options), &recorded);
    let wrong = match finish(record, &recorded) {
        None => Some("it hangs".to_owned()),
        Some((outcome, told)) => judge(case, (&plain.0, &outcome), &told, &alone, &recorded),
    };
    wrong.map_or(Ok(()), |wrong| Err(keep(place, wrong)))
}

/// Leaves the files of a failed start for whoever looks.
fn keep(place: tempfile::TempDir, wrong: String) -> String {
    format!("{wrong}\nleft in {}", place.keep().display())
}

/// What is wrong with a recorded start.
fn judge(
    case: &Case,
    (plain, outcome): (&Outcome, &Outcome),
    told: &str,
    alone: &Path,
    recorded: &Path,
) -> Option<String> {
    let sorted = |text: &str| {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    if plain.code != outcome.code || sorted(&plain.output) != sorted(&outcome.output) {
        return Some(format!("alone: {plain:?}\nrecorded: {outcome:?}\n{told}"));
    }
    if told.contains("panicked") {
        return Some("a panic".to_owned());
    }
    let (before, truth) = (Truth::read(&alone.join("truth")), Truth::read(&recorded.join("truth")));
    if !case.is_random && !counts_match(case, &before, &truth) {
        return Some(format!("alone it counted {before:?}, recorded {truth:?}"));
    }
    let run = recorded.join("run.marey");
    let files = count_definitions(&run.join("spool"));
    let most = truth.images + u64::from(!matches!(case.kind, Kind::OpenMpi | Kind::Mpich));
    if files > most {
        return Some(format!("{files} processes in the spool, {} made visits", truth.images));
    }
    if files == 0 {
        let is_told = case.loss != Loss::Nothing && told.contains("nothing was measured");
        return (!is_told).then(|| format!("nothing was recorded: {told}"));
    }
    let merged = marey(&["merge"], &run);
    if let Err(error) = merged {
        return Some(format!("merge: {error}"));
    }
    let json = |command: &str| -> Result<Value, String> {
        let text = marey(&[command, "--json"], &run)?;
        serde_json::from_str(&text).map_err(|error| error.to_string())
    };
    match (json("report"), json("info")) {
        (Ok(report), Ok(info)) => truth.differs(&report, &info, case.loss),
        (Err(error), _) | (_, Err(error)) => Some(error),
    }
}

/// Whether the program did the same. What handlers do depends on the moment.
fn counts_match(case: &Case, before: &Truth, after: &Truth) -> bool {
    if matches!(case.source, "handlers.c")
        || matches!((case.source, case.name), ("files.c", "handlers"))
        || matches!(case.name, "tests" | "async" | "threads" | "rawthreads" | "handlers")
    {
        return true;
    }
    let sorted = |truth: &Truth| {
        let mut visits = truth.visits.clone();
        visits.sort();
        visits
    };
    sorted(before) == sorted(after)
}

fn count_definitions(spool: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(spool) else { return 0 };
    let files = entries.map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|kind| kind == "definitions")).count() as u64
}

/// What `marey` says of the run.
fn marey(words: &[&str], run: &Path) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
    let output = command.args(&words[..1]).arg(run).args(&words[1..]).output().unwrap();
    if !output.status.success() {
        return Err(format!("{}: {}", words[0], String::from_utf8_lossy(&output.stderr)));
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

/// The command line of a start, recorded with `options` or alone.
fn words(case: &Case, built: &Built, seed: u32, options: Option<&[&str]>, place: &Path) -> Command {
    let mut line: Vec<String> = Vec::new();
    if let Some(options) = options {
        line.extend([env!("CARGO_BIN_EXE_marey"), "record", "--no-merge"].map(str::to_owned));
        line.extend(options.iter().map(|&word| word.to_owned()));
        line.push("--".to_owned());
    }
    let launcher: &[&str] = match case.kind {
        Kind::OpenMpi => &["mpirun.openmpi", "--oversubscribe", "-n", "2"],
        Kind::Mpich => &["mpirun.mpich", "-n", "2"],
        _ => &[],
    };
    line.extend(launcher.iter().map(|&word| word.to_owned()));
    line.push(built.program.display().to_string());
    line.push(case.name.to_owned());
    line.extend(case.words.iter().map(|&word| match word {
        "plug" => built.plug.display().to_string(),
        "other" => built.other.display().to_string(),
        word => word.to_owned(),
    }));
    line.push(seed.to_string());
    let mut command = Command::new(&line[0]);
    command.args(&line[1..]).env_remove("LD_PRELOAD").env("ODD_TRUTH", place.join("truth"));
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command
}
