//! The recorded command once more, for a page whose user has allowed it with `--allow-run`.
//!
//! The one idea: what is started is this very executable, as `marey record --again RUN --filter FILE -o NEW`, and of these
//! words the page has none: rules come to stand in FILE, which lies beside NEW and tells what NEW was recorded with. One at
//! a time, in a process group of its own that ends when the server does.
//!
//! Deliberately absent: options of the recording, which are those of the first. Who wants others types the command.

use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, PipeReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use marey_serve::host::Again;
use marey_serve::wire::{WireAgain, WireAgainState};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::exit::text_of;
use crate::inherited;
use crate::paint::harmless;
use crate::record::{command_of, is_finished, unusual};
use crate::run::open_archive;

/// What it has said is kept up to so many lines, the last ones, of so many bytes each.
const LINES: usize = 40;
const LINE: u64 = 500;

/// New runs of one name beside each other.
const MOST_NAMES: usize = 10_000;

/// Who is asked to end has so long to do it, when the server ends.
const GRACE: Duration = Duration::from_secs(5);
/// And when it is cancelled: what was recorded is merged then.
const MERGING: Duration = Duration::from_secs(60);
/// Whoever cancels again so much later means it.
const AGAIN: Duration = Duration::from_secs(3);

/// Looks after what is started.
pub(super) struct Runner {
    run: PathBuf,
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    last: Option<Job>,
    /// Runs that there are since: the first has number 1.
    made: Vec<PathBuf>,
}

/// What was started.
struct Job {
    /// While it runs.
    group: Option<Pid>,
    output: PathBuf,
    began: Instant,
    took: Option<Duration>,
    cancelled: Option<Instant>,
    code: Option<i32>,
    lines: Arc<Mutex<VecDeque<String>>>,
    /// Among those that were made.
    number: Option<usize>,
}

/// What would be started.
struct Plan {
    command: String,
    directory: String,
    output: PathBuf,
    rules: PathBuf,
    options: Option<Vec<String>>,
    /// Rules of the first recording.
    former: Vec<String>,
}

impl Runner {
    /// For a run that the user has named.
    pub(super) fn new(run: &Path) -> io::Result<Arc<Self>> {
        let run = std::path::absolute(run)?;
        Ok(Arc::new(Self { run, state: Mutex::default(), ended: Condvar::new() }))
    }

    /// A run that was made, by its number.
    pub(super) fn made(&self, number: usize) -> Option<PathBuf> {
        lock(&self.state).made.get(number.checked_sub(1)?).cloned()
    }

    /// Ends what runs, and waits for that.
    pub(super) fn end(&self) {
        self.cancel();
        let state = lock(&self.state);
        let is_running = |state: &mut State| state.last.as_ref().is_some_and(|job| job.group.is_some());
        let waited = self.ended.wait_timeout_while(state, GRACE, is_running);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if let Some(group) = state.last.as_ref().and_then(|job| job.group) {
            kill_process_group(group, Signal::KILL).ok();
        }
    }

    fn planned(&self) -> anyhow::Result<Plan> {
        let shown = self.run.display();
        if !self.run.exists() {
            bail!("{shown} is not there any more: start `marey view` anew with where it is now")
        }
        if !self.run.is_dir() {
            bail!(
                "{shown} is a packed run, which may have come from elsewhere: `marey record --again` runs its command"
            )
        }
        let archive = open_archive(&self.run)?;
        let facts = &archive.meta().run;
        let command = command_of(facts, &shown.to_string())?;
        if !Path::new(&facts.directory).is_dir() {
            bail!("{}, where it was recorded, is not there any more", harmless(&facts.directory))
        }
        let (output, rules) = free_names(&self.run)?;
        Ok(Plan {
            command: harmless(&command),
            directory: harmless(&facts.directory),
            output,
            rules,
            options: unusual(facts),
            former: facts.rules.clone(),
        })
    }

    /// Starts it, and looks after it until it has ended.
    #[expect(
        clippy::disallowed_methods,
        reason = "tells a user about how long it takes, and measures nothing"
    )]
    fn begin(self: &Arc<Self>, rules: &str) -> anyhow::Result<()> {
        let mut state = lock(&self.state);
        if state.last.as_ref().is_some_and(|job| job.group.is_some()) {
            bail!("it runs already; wait for its end, or cancel it")
        }
        let plan = self.planned()?;
        let (read, write) = io::pipe().context("cannot make a pipe")?;
        let other = write.try_clone().context("cannot share a pipe")?;
        // This executable, even if its file has been replaced meanwhile.
        let mut command = Command::new("/proc/self/exe");
        command.arg0("marey");
        command.arg("record").arg("--again").arg(&self.run).arg("--filter").arg(&plan.rules);
        command.arg("-o").arg(&plan.output).stdin(Stdio::null()).process_group(0);
        command.stdout(other).stderr(write);
        // The program finds signals as this server found them, not as a server has them.
        inherited::hand_on(&mut command);
        inherited::end_with_us(&mut command);
        write_new(&plan.rules, rules).with_context(|| format!("cannot write {}", plan.rules.display()))?;
        let (tell, told) = mpsc::channel();
        let runner = Arc::clone(self);
        // The kernel ends a child with the thread that has started it, so that is the one which waits.
        std::thread::spawn(move || {
            let child = command.spawn();
            // Else the pipe would have no end.
            drop(command);
            match child {
                Ok(child) => {
                    tell.send(Ok(child.id())).ok();
                    runner.look_after(child);
                }
                Err(error) => {
                    tell.send(Err(error)).ok();
                }
            }
        });
        let started = told.recv().context("the thread that starts it has ended")?;
        let group = started.inspect_err(|_| {
            std::fs::remove_file(&plan.rules).ok();
        });
        let group = group.context("cannot start marey")?;
        let lines = Arc::default();
        state.last = Some(Job {
            group: i32::try_from(group).ok().and_then(Pid::from_raw),
            output: plan.output,
            began: Instant::now(),
            took: None,
            cancelled: None,
            code: None,
            lines: Arc::clone(&lines),
            number: None,
        });
        drop(state);
        std::thread::spawn(move || keep_lines(read, &lines));
        Ok(())
    }

    /// Until it has ended.
    fn look_after(&self, mut child: Child) {
        let group = Pid::from_child(&child);
        // It keeps its number until it is waited for below, so that none is killed that has the number later.
        let is_there = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(group), is_there), Err(Errno::INTR)) {}
        let mut state = lock(&self.state);
        let state = &mut *state;
        let Some(job) = &mut state.last else { return };
        if job.cancelled.is_some() {
            // What has not heard of it.
            kill_process_group(group, Signal::KILL).ok();
        }
        job.code = child.wait().ok().and_then(|status| status.code());
        job.took = Some(job.began.elapsed());
        job.group = None;
        if is_finished(&job.output) {
            state.made.push(job.output.clone());
            job.number = Some(state.made.len());
        } else if !job.output.exists() {
            // They would tell of a run that there is not.
            std::fs::remove_file(job.output.with_extension("rules")).ok();
        }
        self.ended.notify_all();
    }
}

/// A shelf's share in a runner.
pub(super) struct Shared(pub(super) Arc<Runner>);

impl Again for Shared {
    fn plan(&self) -> WireAgain {
        let name = |path: &Path| harmless(&path.file_name().unwrap_or_default().to_string_lossy());
        match self.0.planned() {
            Ok(plan) => WireAgain {
                why_not: None,
                command: plan.command,
                directory: plan.directory,
                output: name(&plan.output),
                options: plan.options.map(|words| harmless(&words.join(" "))),
                rules: plan.former.iter().map(|rule| harmless(rule)).collect(),
            },
            Err(error) => WireAgain::not(text_of(&error)),
        }
    }

    fn start(&self, rules: &str) -> Result<(), String> {
        self.0.begin(rules).map_err(|error| text_of(&error))
    }

    fn cancel(&self) {
        self.0.cancel();
        let runner = Arc::clone(&self.0);
        let asked = lock(&runner.state).last.as_ref().and_then(|job| job.group);
        // Who has not ended by then is ended.
        std::thread::spawn(move || {
            std::thread::sleep(MERGING);
            let state = lock(&runner.state);
            let group = state.last.as_ref().and_then(|job| job.group);
            if let Some(group) = group.filter(|group| asked == Some(*group)) {
                kill_process_group(group, Signal::KILL).ok();
            }
        });
    }

    fn state(&self) -> Option<WireAgainState> {
        let state = lock(&self.0.state);
        let job = state.last.as_ref()?;
        let elapsed = job.took.unwrap_or_else(|| job.began.elapsed());
        Some(WireAgainState {
            output: harmless(&job.output.file_name().unwrap_or_default().to_string_lossy()),
            is_running: job.group.is_some(),
            is_cancelled: job.cancelled.is_some(),
            elapsed_ms: elapsed.as_secs_f64() * 1e3,
            code: job.code,
            lines: lock(&job.lines).iter().cloned().collect(),
            page: job.number.map(|number| format!("run/0-{number}/")),
        })
    }
}

impl Runner {
    /// Asks what runs to end, once: asked twice, the recorder does not merge what it has. Who asks again later is in earnest.
    #[expect(clippy::disallowed_methods, reason = "a user's patience, and no measurement")]
    fn cancel(&self) {
        let mut state = lock(&self.state);
        if let Some(job) = &mut state.last
            && let Some(group) = job.group
        {
            let signal = match job.cancelled {
                None => Signal::TERM,
                Some(since) if since.elapsed() < AGAIN => return,
                Some(_) => Signal::KILL,
            };
            job.cancelled.get_or_insert_with(Instant::now);
            kill_process_group(group, signal).ok();
        }
    }
}

/// A new run beside another, and the file of its rules: neither is there.
fn free_names(run: &Path) -> anyhow::Result<(PathBuf, PathBuf)> {
    let name =
        if run.extension().is_some_and(|it| it == "marey") { run.file_stem() } else { run.file_name() };
    let name = name.with_context(|| format!("{} has no name", run.display()))?;
    for number in 2..MOST_NAMES {
        let with = |extension: &str| {
            let mut name = name.to_owned();
            name.push(format!("-{number}.{extension}"));
            run.with_file_name(name)
        };
        let both = (with("marey"), with("rules"));
        // What can be looked at is there, also a link that leads nowhere.
        if [&both.0, &both.1].iter().all(|path| path.symlink_metadata().is_err()) {
            return Ok(both);
        }
    }
    bail!("beside {} there are {MOST_NAMES} others already; remove some", run.display())
}

/// A file that is there whole or not at all.
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    let written = file.write_all(text.as_bytes());
    if written.is_err() {
        std::fs::remove_file(path).ok();
    }
    written
}

/// The last lines of what is said, as long as somebody says something.
fn keep_lines(said: PipeReader, lines: &Mutex<VecDeque<String>>) {
    let mut said = BufReader::new(said);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A line that never ends is one of many.
        match said.by_ref().take(LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = harmless(String::from_utf8_lossy(&line).trim_end());
        let mut lines = lock(lines);
        lines.push_back(text);
        if lines.len() > LINES {
            lines.pop_front();
        }
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_run_takes_no_name_that_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let names = |run: &str| free_names(&at(run)).unwrap();
        assert_eq!(names("a.marey"), (at("a-2.marey"), at("a-2.rules")));
        assert_eq!(names("a.b"), (at("a.b-2.marey"), at("a.b-2.rules")));
        std::os::unix::fs::symlink("nowhere", at("a-2.marey")).unwrap();
        std::fs::write(at("a-3.rules"), "").unwrap();
        assert_eq!(names("a.marey"), (at("a-4.marey"), at("a-4.rules")));
    }

    #[test]
    fn of_what_is_said_the_last_lines_are_kept() {
        let (read, mut write) = io::pipe().unwrap();
        let lines = Mutex::default();
        std::thread::scope(|scope| {
            scope.spawn(|| keep_lines(read, &lines));
            write.write_all(&b"x".repeat(1200)).unwrap();
            write.write_all(b"\n\x1b[31mred\n").unwrap();
            drop(write);
        });
        let kept: Vec<String> = lock(&lines).iter().cloned().collect();
        let lengths: Vec<usize> = kept.iter().map(String::len).collect();
        assert_eq!(lengths[..3], [500, 500, 200]);
        assert_eq!(kept[3], "\u{fffd}[31mred");
        let (read, mut write) = io::pipe().unwrap();
        let lines = Mutex::default();
        std::thread::scope(|scope| {
            scope.spawn(|| keep_lines(read, &lines));
            (0..100).for_each(|number| writeln!(write, "{number}").unwrap());
            drop(write);
        });
        let kept: Vec<String> = lock(&lines).iter().cloned().collect();
        assert_eq!((kept.len(), kept[0].as_str(), kept[39].as_str()), (40, "60", "99"));
    }
}
