//! Signals while the program runs: what reaches the launcher also reaches the program, once.
//!
//! The one idea: the kernel sends the signals of a terminal (^C, ^\, ^Z, hang-up) to the whole
//! foreground group, so the program has them already and passing them on would deliver them twice
//! — mpirun takes a second ^C as "kill everything at once". What a process sent (`kill`, `timeout`,
//! a batch system) reached the launcher alone and is passed on. The origin that comes with a
//! signal tells the two apart.
//!
//! A signal that was ignored when we started (`nohup`) stays ignored; a handler of ours would turn
//! it into the default for the program.

use std::io;
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin};

use crate::inherited;

const FORWARDED: [i32; 8] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP];
/// Those that end the launcher again once the program has ended.
const ENDING: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];

/// Signals caught since [`Relay::listen`].
pub(crate) struct Relay {
    signals: SignalsInfo<WithOrigin>,
}

impl Relay {
    /// Begins to catch signals. To be called before the program is started, so that none is lost.
    pub(crate) fn listen() -> io::Result<Self> {
        let caught = FORWARDED.into_iter().filter(|signal| !inherited::ignores(*signal));
        let caught: Vec<i32> = caught.chain([SIGCHLD]).collect();
        let signals = SignalsInfo::new(&caught)?;
        // The program keeps those blocked that it is to find blocked; here they are in transit.
        inherited::unblock(&caught);
        Ok(Self { signals })
    }

    /// Waits for the program to end and passes signals on to it meanwhile.
    pub(crate) fn wait(mut self, child: &mut Child) -> io::Result<ExitStatus> {
        // It may have ended before the first look; its SIGCHLD is then waiting in the queue.
        for origin in self.signals.forever() {
            if origin.signal == SIGCHLD {
                if let Some(status) = child.try_wait()? {
                    restore_defaults()?;
                    return Ok(status);
                }
            } else {
                forward(&origin, child);
            }
        }
        child.wait()
    }
}

/// Passes a signal on, if the program does not have it already. The child has not been waited
/// for, so its process id still belongs to it.
fn forward(origin: &Origin, child: &Child) {
    let is_from_terminal = matches!(origin.cause, Cause::Kernel);
    if !is_from_terminal
        && let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw)
        && let Some(signal) = Signal::from_named_raw(origin.signal)
    {
        // It fails if the program has changed its user; a shell would not have reached it either.
        kill_process(pid, signal).ok();
    }
    if origin.signal == SIGTSTP {
        // The shell must see that the job stopped. Going on needs no code: SIGCONT does it.
        signal_hook::low_level::emulate_default_handler(SIGTSTP).ok();
    }
}

/// After the program has ended, ^C means us again: it stops the merge. So does ^Z, as the shell
/// must see.
fn restore_defaults() -> io::Result<()> {
    inherited::block_again();
    for signal in ENDING.into_iter().chain([SIGTSTP]).filter(|signal| !inherited::ignores(*signal)) {
        signal_hook::flag::register_conditional_default(signal, Arc::new(AtomicBool::new(true)))?;
    }
    Ok(())
}
