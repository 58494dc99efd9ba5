//! Reading a counter of the processor without asking the kernel.
//!
//! The one idea: the kernel keeps a page for each event, which says in which register the event is counted at the
//! moment, and what was counted before it came there. It changes the page only while the thread does not run, so a
//! thread that reads the page twice alike has read it whole.
//!
//! Source: `perf_event_open(2)`, `struct perf_event_mmap_page`.

use core::sync::atomic::{Ordering, compiler_fence};

use super::Reading;

/// The page's fields, of which the last ones say how the counter of time stamps becomes the time.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Page {
    version: [u32; 2],
    pub(super) lock: u32,
    /// Number of the register plus 1; 0 while the event is not counted.
    pub(super) index: u32,
    pub(super) offset: i64,
    pub(super) enabled: u64,
    pub(super) running: u64,
    pub(super) capabilities: u64,
    /// Bits of the register.
    pub(super) width: u16,
    pub(super) time_shift: u16,
    pub(super) time_mult: u32,
    pub(super) time_offset: u64,
}

/// The register may be read by the program.
const USER_RDPMC: u64 = 1 << 2;
/// The fields about the time are there.
const USER_TIME: u64 = 1 << 3;

impl Page {
    /// Whether the event that the page is of can be read by it.
    pub(super) fn is_readable(&self) -> bool {
        self.capabilities & USER_RDPMC != 0 && (1..=64).contains(&self.width)
    }

    fn time_since(&self, tsc: u64) -> u64 {
        if self.capabilities & USER_TIME == 0 || self.time_shift > 63 {
            return 0;
        }
        let (mult, shift) = (u64::from(self.time_mult), u32::from(self.time_shift));
        let rest = (tsc & ((1 << shift) - 1)).wrapping_mul(mult) >> shift;
        self.time_offset.wrapping_add((tsc >> shift).wrapping_mul(mult)).wrapping_add(rest)
    }

    /// What the event has counted, by what the page says and what `rdpmc` finds in a register.
    fn reading(&self, register: u64, tsc: u64) -> Reading {
        let since = self.time_since(tsc);
        let mut reading = Reading {
            value: self.offset.cast_unsigned(),
            enabled: self.enabled.wrapping_add(since),
            running: self.running,
        };
        if self.index != 0 {
            // Registers are narrower than words, and signed.
            let unused = 64 - u32::from(self.width);
            let counted = (register << unused).cast_signed() >> unused;
            reading.value = reading.value.wrapping_add(counted.cast_unsigned());
            reading.running = reading.running.wrapping_add(since);
        }
        reading
    }
}

/// Reads an event by its page.
///
/// # Safety
/// The page is mapped and [readable](Page::is_readable), `rdpmc` reads a register and `tsc` the counter of time stamps.
pub(super) unsafe fn read(page: *const Page, rdpmc: impl Fn(u32) -> u64, tsc: impl Fn() -> u64) -> Reading {
    loop {
        // SAFETY: the caller's promise. The kernel writes there, but never while the thread is running.
        unsafe {
            let before = (&raw const (*page).lock).read_volatile();
            compiler_fence(Ordering::SeqCst);
            let fields = page.read_volatile();
            let is_counted = fields.index != 0 && fields.is_readable();
            let register = if is_counted { rdpmc(fields.index - 1) } else { 0 };
            let ticks = tsc();
            compiler_fence(Ordering::SeqCst);
            if (&raw const (*page).lock).read_volatile() == before {
                return fields.reading(register, ticks);
            }
        }
    }
}

/// A register of the processor's counters.
///
/// # Safety
/// The page of an event that is counted there says that it may be read.
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(super) unsafe fn rdpmc(register: u32) -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: the caller's promise.
    unsafe {
        core::arch::asm!(
            "rdpmc", in("ecx") register, lateout("eax") low, lateout("edx") high,
            options(nomem, nostack, preserves_flags)
        );
    }
    u64::from(high) << 32 | u64::from(low)
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub(super) unsafe fn rdpmc(_: u32) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;

    fn page(index: u32, offset: i64) -> Page {
        Page {
            version: [0; 2],
            lock: 4,
            index,
            offset,
            enabled: 1000,
            running: 700,
            capabilities: USER_RDPMC | USER_TIME,
            width: 48,
            time_shift: 4,
            time_mult: 8,
            time_offset: 10,
        }
    }

    /// Half a nanosecond a tick and ten more, by the numbers above.
    const SINCE: u64 = 10 + 50;

    #[test]
    fn what_a_register_holds_is_added_to_what_was_counted_before() {
        let read = |page: Page, register| {
            // SAFETY: the page is there.
            unsafe {
                super::read(
                    &raw const page,
                    |number| {
                        assert_eq!(number, 2);
                        register
                    },
                    || 100,
                )
            }
        };
        let counted = read(page(3, 500), 25);
        assert_eq!(counted, Reading { value: 525, enabled: 1000 + SINCE, running: 700 + SINCE });
        // Kernels begin at minus what is left until the next interrupt: of 48 bits, the upper ones are not its.
        let counted = read(page(3, 1 << 40), ((1 << 48) - 24) | (0xabcd << 48));
        assert_eq!(counted.value, (1 << 40) - 24);
        // Not counted at the moment: other events have the registers.
        let counted = read(page(0, 500), 99);
        assert_eq!(counted, Reading { value: 500, enabled: 1000 + SINCE, running: 700 });
        // Without time the page knows only how long it was until then.
        let counted = read(Page { capabilities: USER_RDPMC, ..page(3, 1) }, 1);
        assert_eq!(counted, Reading { value: 2, enabled: 1000, running: 700 });
    }

    #[test]
    fn a_page_that_changes_meanwhile_is_read_again() {
        let mut page = page(3, 500);
        let at = &raw mut page;
        let times = Cell::new(0);
        let rdpmc = |_| {
            times.set(times.get() + 1);
            if times.get() == 1 {
                // SAFETY: the page is there; the reader expects it to change.
                unsafe {
                    (&raw mut (*at).lock).write_volatile(6);
                    (&raw mut (*at).offset).write_volatile(900);
                }
            }
            7
        };
        // SAFETY: as above.
        let counted = unsafe { super::read(at, rdpmc, || 100) };
        assert_eq!((counted.value, times.get()), (907, 2));
    }

    #[test]
    fn an_event_that_may_not_be_read_any_more_ends_no_program() {
        let mut page = page(3, 500);
        let at = &raw mut page;
        let rdpmc = |_| {
            // SAFETY: as above.
            unsafe { (&raw mut (*at).capabilities).write_volatile(0) };
            7
        };
        // SAFETY: as above.
        assert_eq!(unsafe { super::read(at, rdpmc, || 100) }.value, 507);
        let other = |_| unreachable!("the register may not be read");
        // SAFETY: as above.
        assert_eq!(unsafe { super::read(at, other, || 100) }.value, 500);
    }
}
