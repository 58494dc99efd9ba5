//! Asking another program, with a deadline.
//!
//! The one idea: a doctor never hangs. A program that does not answer in time is ended, and counts as
//! one that has nothing to say.

use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// Long enough for a launcher on a busy network file system.
const DEADLINE: Duration = Duration::from_secs(10);

/// What `command` prints, or nothing if it cannot be started or does not end in time.
pub(super) fn output(command: &mut Command) -> Option<Output> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().ok()?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw)?;
    let (tell, told) = mpsc::channel();
    // Nobody listens after the deadline; then there is nothing to tell.
    std::thread::spawn(move || tell.send(child.wait_with_output()).ok());
    match told.recv_timeout(DEADLINE) {
        Ok(output) => output.ok(),
        Err(_) => {
            // It may just have ended by itself.
            kill_process(pid, Signal::KILL).ok();
            None
        }
    }
}

/// Both of its streams as text.
pub(super) fn text(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{out}{err}")
}
