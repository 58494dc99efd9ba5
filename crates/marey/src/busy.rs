//! Says on a terminal that something takes its time.
//!
//! The one idea: what is over in a blink says nothing; what is not has a line on standard error until it is done. Nothing
//! is said where standard error is no terminal.
//!
//! What is deliberately absent: how far it is. Work whose length is known has a bar of its own.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Before that nothing is said, and so often the line changes.
const TICK: Duration = Duration::from_millis(300);

/// Something is being done until this is dropped.
pub(crate) struct Busy(Option<(Sender<()>, JoinHandle<()>)>);

impl Busy {
    /// `what` is being done: "explaining".
    pub(crate) fn with(what: &'static str) -> Self {
        let (done, is_done) = channel();
        let telling = std::thread::Builder::new().spawn(move || tell(what, &is_done));
        // Without a thread to spare nothing is said.
        Self(telling.ok().map(|telling| (done, telling)))
    }
}

fn tell(what: &'static str, is_done: &Receiver<()>) {
    let goes_on = || is_done.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout);
    if !goes_on() {
        return;
    }
    let bar = ProgressBar::new_spinner();
    bar.set_style(ProgressStyle::with_template("  {msg} … {elapsed}").expect("the template is well-formed"));
    bar.set_message(what);
    while goes_on() {
        bar.tick();
    }
    bar.finish_and_clear();
}

impl Drop for Busy {
    fn drop(&mut self) {
        if let Some((done, telling)) = self.0.take() {
            drop(done);
            // The line must be gone before anything else is printed.
            telling.join().ok();
        }
    }
}
