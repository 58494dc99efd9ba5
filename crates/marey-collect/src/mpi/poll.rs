//! Calls that ask whether something has come, and return at once.
//!
//! The one idea: a program that waits this way asks by the hundred thousand, mostly in vain. So such a call is
//! announced when it begins, as a send is; what has come is recorded inside it, and if nothing has, it is
//! written down when it is over, together with those before it ([`marey_measure::write_poll`]).
//!
//! Deliberately absent: what has come. Where it matters it is told by [`super::complete`] and
//! [`super::probe`].

use marey_measure::{existing_thread, leave_with};

use super::call::{Open, Passing, Real, announced_site};
use super::communicator::communicator_noun;

impl<const N: usize, F: Real<N>> Passing<N, F> {
    /// Makes a call that acts on communicator `comm`, or on none if that is 0: `ask` passes it on and says
    /// what has come, and if something has, `tell` records it. What the real function returned.
    ///
    /// # Safety
    /// As for [`Self::record`].
    #[inline(always)]
    pub(super) unsafe fn poll<S, T>(
        &mut self,
        comm: usize,
        mut state: S,
        ask: impl Fn(&mut Self, &mut S) -> Option<T>,
        tell: impl Fn(&Open, &S, T),
    ) -> usize {
        let (call, thread) = (self.call, existing_thread());
        // SAFETY: the caller's promise; the descriptor is the calling thread's. The words are those that
        // `announced_site` takes them for.
        unsafe {
            let Some((runtime, brief)) = call.announceable(thread) else {
                return self.record(communicator_noun(comm), |p, open| {
                    if let Some(came) = ask(p, &mut state) {
                        tell(&open, &state, came);
                    }
                    open.finish_plain();
                });
            };
            if !call.entry.go_inside() {
                self.pass();
                return self.result();
            }
            let words = [call.entry.sp, call.entry.bp, call.index, comm];
            marey_measure::announce(thread, brief, words, announced_site);
            if let Some(came) = ask(self, &mut state) {
                marey_measure::enter_announced(thread);
                let open = Open { runtime, thread, entry: call.entry, kept: None };
                tell(&open, &state, came);
                open.finish_plain();
                return self.result();
            }
            let ended = marey_measure::now(thread);
            match marey_measure::settle(thread) {
                None => leave_with(thread, |_, _| ()),
                Some(began) => match call.site(communicator_noun(comm), thread) {
                    Some(site) => marey_measure::write_poll(thread, site.0, began, ended),
                    None => marey_measure::withdraw(thread),
                },
            }
            call.entry.come_out();
        }
        self.result()
    }

    /// Whether the flag that argument `at` points to has been set.
    ///
    /// # Safety
    /// The call has been passed on, and that argument points to a flag.
    #[inline(always)]
    pub(super) unsafe fn is_set(&self, at: usize) -> bool {
        // SAFETY: the caller's promise.
        unsafe { *(self.args[at] as *const i32) != 0 }
    }
}

/// Passes on a call whose argument `flag` points to one, of which only the time is recorded.
#[inline(always)]
unsafe fn flagged<const N: usize>(mut p: Passing<N, impl Real<N>>, flag: usize) -> usize {
    let comm = p.comm();
    // SAFETY: the caller says where its class has what.
    unsafe { p.poll(comm, (), |p, ()| (!p.pass() || p.is_set(flag)).then_some(()), |_, (), ()| ()) }
}

/// `(source, tag, comm, flag, status)`: what is found stays where it is.
pub(crate) unsafe fn iprobe(p: Passing<5, impl Real<5>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe { flagged(p, 3) }
}

/// `(request, flag, status)`: the request stays, even if it is complete.
pub(crate) unsafe fn request_get_status(p: Passing<3, impl Real<3>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe { flagged(p, 1) }
}

/// `(request, partition, flag)`.
pub(crate) unsafe fn parrived(p: Passing<3, impl Real<3>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe { flagged(p, 2) }
}
