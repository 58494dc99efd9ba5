//! The call stack of a thread that was interrupted anywhere.
//!
//! The one idea: the same rules as for the stacks of calls, but looked up so that a signal handler may do it: the
//! C library tells without a lock which module holds an address, and rules are kept in a table of fixed size.
//! Memory beyond the thread's own stack (coroutines, signal stacks) is read through the kernel, which refuses
//! where a load would end the process.
//!
//! Deliberately absent: guesses. Where the tables end, so does the stack, and says so.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use marey_measure::{SampledFrame, sys};

use crate::unwind::{Cfa, Modules, Rule, RuleReader, SavedRbp, UnwindTables};

/// Rules that a thread remembers.
const KNOWN: usize = 1 << 11;

/// Registers by their numbers in unwind tables.
pub(super) const RBP: usize = 6;
pub(super) const RSP: usize = 7;

/// What a thread was doing when it was interrupted.
#[derive(Clone, Copy)]
pub(super) struct Registers {
    pub(super) ip: usize,
    pub(super) general: [usize; 16],
}

impl Registers {
    /// Where the general registers lie in the kernel's record of a signal, and behind them the address of the
    /// instruction.
    const IN_CONTEXT: [usize; 16] = [13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7];
    const IP_IN_CONTEXT: usize = 16;
    /// Where they begin in it.
    const CONTEXT_BEGIN: usize = 40;

    /// Those in the kernel's record of a signal, whose words `word` gives by their distance from its beginning.
    pub(super) fn from_context(mut word: impl FnMut(usize) -> Option<usize>) -> Option<Self> {
        let mut at = |register: usize| word(Self::CONTEXT_BEGIN + 8 * register);
        let mut general = [0; 16];
        for (register, place) in general.iter_mut().zip(Self::IN_CONTEXT) {
            *register = at(place)?;
        }
        Some(Self { ip: at(Self::IP_IN_CONTEXT)?, general })
    }
}

/// A rule that was looked up. Zeros are none, so that a thread's first pages stay untouched.
#[derive(Clone, Copy)]
struct KnownRule {
    /// The address that it is of; 0 if there is none.
    address: usize,
    rule: MaybeUninit<Rule>,
}

/// The walker of one thread.
pub(super) struct Walker {
    rules: [KnownRule; KNOWN],
    reader: RuleReader,
    memory: Memory,
}

impl Walker {
    /// Makes one, where it is to be: the stack of a thread may have less room than it takes.
    ///
    /// # Safety
    /// `at` is writable, and zeros.
    pub(super) unsafe fn begin(at: *mut Self) {
        // SAFETY: the caller's promise; of rules and of the memory that was read zeros are none.
        unsafe { (&raw mut (*at).reader).write(RuleReader::default()) };
    }

    /// Addresses may mean something else from now on.
    pub(super) fn forget(&mut self) {
        self.rules.iter_mut().for_each(|rule| rule.address = 0);
    }

    /// Walks the stack of the calling thread, which was interrupted with these registers, and whose own stack
    /// lies between the two addresses of `own`. How many frames there are, and whether they are all.
    pub(super) fn walk(
        &mut self,
        registers: &Registers,
        own: (usize, usize),
        frames: &mut [SampledFrame],
    ) -> (usize, bool) {
        let mut now = *registers;
        let sp = now.general[RSP];
        self.memory.begin(if own.0 <= sp && sp < own.1 { (sp, own.1) } else { (0, 0) });
        let mut is_place = true;
        // Whether the registers beyond rsp and rbp are known, and rbp.
        let (mut knows_all, mut knows_rbp) = (true, true);
        for (number, frame) in frames.iter_mut().enumerate() {
            *frame = SampledFrame { address: now.ip, is_place };
            let address = if is_place { now.ip } else { now.ip.wrapping_sub(1) };
            let number = number + 1;
            let (cfa, saved) = match self.rule(address) {
                Rule::End => return (number, true),
                Rule::Unknown => return (number, false),
                Rule::Signal => {
                    let context = now.general[RSP];
                    let memory = &mut self.memory;
                    let Some(before) = Registers::from_context(|at| memory.read(context.wrapping_add(at)))
                    else {
                        return (number, false);
                    };
                    now = before;
                    (is_place, knows_all, knows_rbp) = (true, true, true);
                    continue;
                }
                Rule::Step { cfa, rbp } => (cfa, rbp),
            };
            let Some(cfa) = self.frame_address(cfa, &now, knows_all, knows_rbp) else {
                return (number, false);
            };
            // Frames lie one above the other; anything else would walk in circles.
            if cfa <= now.general[RSP] && !(is_place && cfa == now.general[RSP]) {
                return (number, false);
            }
            let rbp = match saved {
                SavedRbp::Same => Some(now.general[RBP]).filter(|_| knows_rbp),
                SavedRbp::AtCfa(offset) => self.memory.read(add(cfa, offset)),
                SavedRbp::AtRbp(offset) => Some(now.general[RBP])
                    .filter(|_| knows_rbp)
                    .and_then(|rbp| self.memory.read(add(rbp, offset))),
                SavedRbp::Lost => None,
            };
            match self.memory.read(cfa.wrapping_sub(8)) {
                None => return (number, false),
                Some(0) => return (number, true),
                Some(ip) => now.ip = ip,
            }
            now.general[RSP] = cfa;
            knows_rbp = rbp.is_some();
            now.general[RBP] = rbp.unwrap_or(0);
            (is_place, knows_all) = (false, false);
        }
        (frames.len(), false)
    }

    fn frame_address(
        &mut self,
        cfa: Cfa,
        now: &Registers,
        knows_all: bool,
        knows_rbp: bool,
    ) -> Option<usize> {
        let rbp = Some(now.general[RBP]).filter(|_| knows_rbp);
        let rsp = now.general[RSP];
        match cfa {
            Cfa::Rsp(offset) => Some(add(rsp, offset)),
            Cfa::Rbp(offset) => Some(add(rbp?, offset)),
            Cfa::AtRbp(offset) => self.memory.read(add(rbp?, offset)),
            Cfa::Register(register, offset) => {
                let value = *now.general.get(usize::from(register))?;
                knows_all.then(|| add(value, offset))
            }
            Cfa::Stub(behind) => {
                let is_pushed = now.ip & 15 >= usize::from(behind);
                Some(rsp.wrapping_add(8 + 8 * usize::from(is_pushed)))
            }
        }
    }

    fn rule(&mut self, address: usize) -> Rule {
        let place = (address ^ address >> 11).wrapping_mul(0x9E37_79B1) >> 5 & (KNOWN - 1);
        let known = self.rules[place];
        if known.address == address && address != 0 {
            // SAFETY: where there is an address, there is a rule.
            return unsafe { known.rule.assume_init() };
        }
        let rule = match tables_at(address) {
            // SAFETY: the module's code is on the calling thread's stack, so nobody may unload it.
            Some(tables) => unsafe { self.reader.read_at(&tables, address) }.0,
            None => Rule::Unknown,
        };
        self.rules[place] = KnownRule { address, rule: MaybeUninit::new(rule) };
        rule
    }
}

fn add(base: usize, offset: i32) -> usize {
    base.wrapping_add_signed(offset as isize)
}

/// What can be read of the thread's memory.
struct Memory {
    /// The used part of its own stack.
    from: usize,
    to: usize,
    /// A page elsewhere that was read last, and its content.
    page: usize,
    copy: [usize; sys::PAGE / 8],
}

impl Memory {
    fn begin(&mut self, (from, to): (usize, usize)) {
        (self.from, self.to, self.page) = (from, to, 0);
    }

    /// A word.
    fn read(&mut self, address: usize) -> Option<usize> {
        if !address.is_multiple_of(8) {
            return None;
        }
        if self.from <= address && address < self.to && 8 <= self.to - address {
            // SAFETY: aligned, and in the used part of the thread's stack. Volatile, because the compiler knows
            // nothing of the frames that own the word.
            return Some(unsafe { (address as *const usize).read_volatile() });
        }
        let page = address & !(sys::PAGE - 1);
        if page != self.page || page == 0 {
            self.page = 0;
            // SAFETY: the words of the copy are a page of bytes.
            let copy = unsafe { core::slice::from_raw_parts_mut(self.copy.as_mut_ptr().cast(), sys::PAGE) };
            let read = sys::copy_own(page, copy);
            if read != sys::PAGE.cast_signed() {
                return None;
            }
            self.page = page;
        }
        Some(self.copy[(address - page) / 8])
    }
}

/// What the C library says of the module that holds an address.
#[repr(C)]
struct Found {
    flags: u64,
    start: usize,
    end: usize,
    link_map: *mut c_void,
    header: usize,
    reserved: [u64; 7],
}

/// The function of the C library that needs no lock (since 2.35); 0 without it.
static FIND: AtomicUsize = AtomicUsize::new(0);

/// A module that is known beforehand.
struct Mapped {
    start: usize,
    end: usize,
    tables: Option<UnwindTables>,
}

/// Modules that are known, sorted by their start, and since when.
struct Known {
    modules: Vec<Mapped>,
    closings: u64,
}

static KNOWN_MODULES: AtomicPtr<Known> = AtomicPtr::new(core::ptr::null_mut());

/// To be called once, before any walk.
pub(super) fn prepare() {
    // SAFETY: the name ends with a zero byte.
    let find = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_dl_find_object".as_ptr()) };
    FIND.store(find as usize, Ordering::Relaxed);
}

/// Says what is loaded. What was said before is not freed, since a handler may be looking at it; it is little, and
/// happens only when a library has been opened or closed.
pub(super) fn publish(modules: &Modules) {
    let mapped = modules.list().iter().map(|it| Mapped { start: it.start, end: it.end, tables: it.tables });
    let closings = crate::site::CLOSINGS.load(Ordering::Relaxed);
    let known = Box::leak(Box::new(Known { modules: mapped.collect(), closings }));
    KNOWN_MODULES.store(known, Ordering::Release);
}

/// Whether what was said last is still so, as far as closing libraries goes.
pub(super) fn is_published() -> bool {
    // SAFETY: whatever was published stays.
    let known = unsafe { KNOWN_MODULES.load(Ordering::Acquire).as_ref() };
    known.is_some_and(|known| known.closings == crate::site::CLOSINGS.load(Ordering::Relaxed))
}

/// The unwind tables of the code at an address.
fn tables_at(address: usize) -> Option<UnwindTables> {
    // SAFETY: whatever was published stays.
    let known = unsafe { KNOWN_MODULES.load(Ordering::Acquire).as_ref() }?;
    let is_current = known.closings == crate::site::CLOSINGS.load(Ordering::Relaxed);
    let after = known.modules.partition_point(|module| module.start <= address);
    let module = known.modules[..after].last().filter(|module| address < module.end);
    if let Some(module) = module
        && is_current
    {
        return module.tables;
    }
    super::SAW_NEW_MODULE.store(true, Ordering::Relaxed);
    let find = FIND.load(Ordering::Relaxed);
    if find == 0 {
        return None;
    }
    let mut found =
        Found { flags: 0, start: 0, end: 0, link_map: core::ptr::null_mut(), header: 0, reserved: [0; 7] };
    // SAFETY: the function has this type and may be called in signal handlers; a module that it finds is mapped.
    unsafe {
        let find: unsafe extern "C" fn(usize, *mut Found) -> c_int = core::mem::transmute(find);
        if find(address, &mut found) != 0 || found.header == 0 {
            return None;
        }
        UnwindTables::at(found.header, found.end)
    }
}
