//! `launch.json`: what was started, where, when and how it ended.
//!
//! The one idea: it holds what no measured process can know by itself. It is written before the
//! program starts and again when it has ended, so a launcher that was killed leaves the first half.
//! The environment is an allow-list: a run is made to be passed on, and secrets live in variables.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use marey_model::Triple;
use serde::Serialize;

use super::clock;
use super::job_step::JobStep;
use super::settings;
use crate::cli::RecordArgs;
use crate::embedded;

/// The content of the file. Names are an interface to the merge.
#[derive(Debug, Serialize)]
pub(crate) struct LaunchFile {
    /// Version of marey that recorded.
    marey: &'static str,
    /// Which build of the recorder was preloaded.
    recorder: &'static str,
    /// The command and its arguments; bytes that are no UTF-8 are replaced.
    argv: Vec<String>,
    /// The working directory.
    cwd: String,
    /// Name of the machine that the launcher ran on.
    host: String,
    /// Process id of the launcher.
    launcher_pid: u32,
    /// The user's title.
    title: Option<String>,
    /// The user's remark.
    memo: Option<String>,
    /// How much was recorded.
    mode: &'static str,
    /// All settings, as words of the command line.
    settings: Vec<String>,
    /// Commit that the working directory was checked out at.
    git_commit: Option<String>,
    /// Variables that change how parallel programs run.
    environment: BTreeMap<String, String>,
    /// The launcher's name for the step that this recorder is one of several of.
    job_step: Option<String>,
    /// Directory that processes record into on each machine, if it is not the spool of the run.
    spool: Option<String>,
    /// Just before the program was started.
    start: Clocks,
    /// Just after it ended; absent while it runs.
    end: Option<Clocks>,
    /// Exit code, if it ended by itself.
    exit_code: Option<i32>,
    /// Number of the signal that killed it.
    exit_signal: Option<i32>,
}

/// [`Triple`] as JSON.
#[derive(Clone, Copy, Debug, Serialize)]
struct Clocks {
    ticks: u64,
    monotonic_ns: u64,
    realtime_ns: u64,
}

impl From<Triple> for Clocks {
    fn from(triple: Triple) -> Self {
        let Triple { ticks, monotonic_ns, realtime_ns } = triple;
        Self { ticks, monotonic_ns, realtime_ns }
    }
}

impl LaunchFile {
    /// Describes the start of the program, now.
    pub(crate) fn start(args: &RecordArgs, step: Option<&JobStep>, spool: Option<&Path>) -> Self {
        let cwd = std::env::current_dir().unwrap_or_default();
        Self {
            marey: env!("CARGO_PKG_VERSION"),
            recorder: embedded::LIBRARY_HASH,
            argv: args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            launcher_pid: std::process::id(),
            title: args.title.clone(),
            memo: args.memo.clone(),
            mode: args.mode.name(),
            settings: settings::words_of(args),
            git_commit: git_commit(&cwd),
            cwd: cwd.to_string_lossy().into_owned(),
            environment: allowed(std::env::vars_os()),
            job_step: step.map(|step| step.id.clone()),
            spool: spool.map(|path| path.to_string_lossy().into_owned()),
            start: clock::now().into(),
            end: None,
            exit_code: None,
            exit_signal: None,
        }
    }

    /// Describes its end, now.
    pub(crate) fn end(&mut self, status: ExitStatus) {
        self.end = Some(clock::now().into());
        self.exit_code = status.code();
        self.exit_signal = status.signal();
    }

    /// The text of the file.
    pub(crate) fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("strings and numbers are always JSON");
        text.push('\n');
        text
    }
}

/// Picks the variables that tell how a parallel program was run.
fn allowed(variables: impl Iterator<Item = (OsString, OsString)>) -> BTreeMap<String, String> {
    const PREFIXES: [&str; 6] = ["OMP_", "GOMP_", "KMP_", "OMPI_MCA_", "MPICH_", "MPIR_CVAR_"];
    const NAMES: [&str; 8] = [
        "SLURM_JOB_ID",
        "SLURM_JOB_NAME",
        "SLURM_JOB_NUM_NODES",
        "SLURM_NNODES",
        "SLURM_NTASKS",
        "SLURM_NTASKS_PER_NODE",
        "SLURM_CPUS_PER_TASK",
        "SLURM_JOB_PARTITION",
    ];
    // Open MPI passes addresses and keys of its own daemons in variables of the same prefix.
    const SECRET: [&str; 6] = ["uri", "key", "token", "secret", "password", "cred"];
    variables
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| {
            let is_listed = NAMES.contains(&name.as_str()) || PREFIXES.iter().any(|p| name.starts_with(p));
            let lower = name.to_ascii_lowercase();
            is_listed && !SECRET.iter().any(|word| lower.contains(word))
        })
        .collect()
}

/// The commit that `dir` is checked out at, read from the files of its repository. Not by running
/// `git`: that may not be there, and what it runs is up to the configuration of the repository.
fn git_commit(dir: &Path) -> Option<String> {
    let git = dir.ancestors().map(|dir| dir.join(".git")).find(|git| git.exists())?;
    let git = git_dir(&git)?;
    let head = read_line(&git.join("HEAD"))?;
    let Some(reference) = head.strip_prefix("ref: ") else { return as_commit(&head) };
    // A linked work tree keeps its branches in the repository it belongs to.
    let common = read_line(&git.join("commondir")).map_or_else(|| git.clone(), |path| git.join(path));
    let loose = [&git, &common].iter().find_map(|dir| read_line(&dir.join(reference)));
    if let Some(commit) = loose {
        return as_commit(&commit);
    }
    let packed = std::fs::read_to_string(common.join("packed-refs")).ok()?;
    let commit = packed.lines().find_map(|line| line.strip_suffix(reference)?.strip_suffix(' '))?;
    as_commit(commit)
}

/// `.git` is the repository itself, or a file that names it.
fn git_dir(git: &Path) -> Option<PathBuf> {
    if git.is_dir() {
        return Some(git.to_owned());
    }
    let line = read_line(git)?;
    let named = Path::new(OsStr::new(line.strip_prefix("gitdir: ")?)).to_owned();
    Some(git.parent()?.join(named))
}

fn read_line(path: &Path) -> Option<String> {
    Some(std::fs::read_to_string(path).ok()?.lines().next()?.trim_end().to_owned())
}

fn as_commit(text: &str) -> Option<String> {
    let is_commit = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_commit.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_variables_are_kept() {
        let given = [
            "OMP_NUM_THREADS",
            "OMPI_MCA_btl",
            "OMPI_MCA_orte_hnp_uri",
            "SLURM_NTASKS",
            "PATH",
            "AWS_SECRET",
        ];
        let kept = allowed(given.iter().map(|name| (name.into(), "1".into())));
        let names: Vec<_> = kept.keys().map(String::as_str).collect();
        assert_eq!(names, ["OMPI_MCA_btl", "OMP_NUM_THREADS", "SLURM_NTASKS"]);
    }

    #[test]
    fn the_commit_is_found_however_git_stores_it() {
        let commit = "0123456789abcdef0123456789abcdef01234567";
        let cases: [&[(&str, &str)]; 4] = [
            &[(".git/HEAD", commit)],
            &[(".git/HEAD", "ref: refs/heads/main"), (".git/refs/heads/main", commit)],
            &[
                (".git/HEAD", "ref: refs/heads/main"),
                (".git/packed-refs", "# x\n0123456789abcdef0123456789abcdef01234567 refs/heads/main\n"),
            ],
            &[
                (".git", "gitdir: repo/worktrees/w"),
                ("repo/worktrees/w/HEAD", "ref: refs/heads/b"),
                ("repo/worktrees/w/commondir", "../.."),
                ("repo/refs/heads/b", commit),
            ],
        ];
        for files in cases {
            let root = tempfile::tempdir().unwrap();
            for (path, text) in files {
                let path = root.path().join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            let below = root.path().join("a/b");
            std::fs::create_dir_all(&below).unwrap();
            assert_eq!(git_commit(&below).as_deref(), Some(commit), "{files:?}");
        }
    }
}
