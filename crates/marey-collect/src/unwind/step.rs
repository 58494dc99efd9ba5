//! Walks a stack by rules, and tells later whether a walk would give the same again.
//!
//! The walk reads the thread's own stack between the entry's rsp and the stack's upper end, nothing else.
//! Frames of MPI libraries and of our own library before the first user frame are left out: who called MPI
//! is the question. Their slots are checks nevertheless, as the walk went through them.

#![expect(unsafe_code, reason = "reads the stack of the calling thread, within its bounds")]

use rustc_hash::FxHashMap;

use super::modules::{ModuleKind, ModuleSerial, Modules, UnwindModule};
use super::rules::{Cfa, Rule, RuleReader, SavedRbp};

/// The most user frames a stack keeps, innermost first.
pub(crate) const MAX_FRAMES: usize = 32;

/// The most slots a walk may depend on: two for each frame, and as many frames of libraries before them.
const MAX_CHECKS: usize = 96;

/// Return addresses with a rule; beyond it the cache starts anew. At about 40 bytes each, 2.5 MiB.
const MAX_RULES: usize = 1 << 16;

/// The registers at the entry of an intercepted function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryRegs {
    /// Where it returns to: the word at `sp`.
    pub(crate) ip: usize,
    /// rsp at its first instruction.
    pub(crate) sp: usize,
    /// rbp, still the caller's.
    pub(crate) rbp: usize,
}

/// A stack slot and what it held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Check {
    address: usize,
    value: usize,
}

/// A walked stack: its frames and all that they depend on.
#[derive(Debug, Clone)]
pub(crate) struct StackCapture {
    entry: EntryRegs,
    uses_rbp: bool,
    n_frames: usize,
    n_checks: usize,
    end: StackEnd,
    checks: [Check; MAX_CHECKS],
    frames: [usize; MAX_FRAMES],
    /// The modules that the frames lie in.
    modules: [ModuleSerial; MAX_FRAMES],
}

/// Frames that are walked through for one that is looked for.
#[cfg(not(feature = "linked"))]
const MOST_WALKED: usize = 256;

/// A frame of the calling thread's stack.
#[cfg(not(feature = "linked"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrameOf {
    /// Where its function goes on.
    pub(crate) pc: usize,
    /// Its canonical address.
    pub(crate) cfa: usize,
    /// The return addresses at both of its ends: as long as they are there, it is.
    checks: [Check; 2],
}

#[cfg(not(feature = "linked"))]
impl FrameOf {
    /// Whether the frame is still there, as seen from a stack pointer.
    ///
    /// # Safety
    /// The stack pointer is the calling thread's, and so was the one that the frame was found from.
    pub(crate) unsafe fn is_there(&self, sp: usize) -> bool {
        // SAFETY: what lies behind the stack pointer is mapped up to the end of the stack, which the frame lies before.
        self.checks.iter().all(|check| sp <= check.address && unsafe { load(check.address) } == check.value)
    }

    /// Whether an address lies in it, behind the return address at its inner end.
    pub(crate) fn contains(&self, address: usize) -> bool {
        (self.checks[0].address + 8..self.cfa).contains(&address)
    }
}

/// Why a walk ended where it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StackEnd {
    /// At the thread's outermost function.
    Complete,
    /// At as many frames as were wanted, or as many checks as fit.
    TooDeep,
    /// At code that no known module holds, or modules have changed: refresh them and try again.
    UnknownModule,
    /// At code whose tables do not say how to go on, or a slot outside the stack.
    Truncated,
}

impl StackCapture {
    /// A capture that matches no entry.
    pub(crate) fn empty() -> Self {
        Self {
            entry: EntryRegs { ip: 0, sp: 0, rbp: 0 },
            uses_rbp: false,
            n_frames: 0,
            n_checks: 0,
            end: StackEnd::Truncated,
            checks: [Check { address: 0, value: 0 }; MAX_CHECKS],
            frames: [0; MAX_FRAMES],
            modules: [ModuleSerial::UNKNOWN; MAX_FRAMES],
        }
    }

    /// A capture that depends on the slots at these distances from the stack pointer, in words.
    #[cfg(test)]
    pub(crate) fn of_slots(entry: EntryRegs, uses_rbp: bool, slots: &[usize]) -> Self {
        let mut capture = Self { entry, uses_rbp, ..Self::empty() };
        for slot in slots {
            capture
                .push_check(Check { address: entry.sp + 8 * slot, value: 0 })
                .expect("tests use few slots");
        }
        capture
    }

    /// Return addresses of the user's frames, innermost first.
    pub(crate) fn frames(&self) -> &[usize] {
        &self.frames[..self.n_frames]
    }

    /// The modules that the frames lie in.
    pub(crate) fn modules(&self) -> &[ModuleSerial] {
        &self.modules[..self.n_frames]
    }

    /// Why there are no more frames.
    pub(crate) fn end(&self) -> StackEnd {
        self.end
    }

    /// The entry it was captured at.
    #[cfg(test)]
    pub(crate) fn entry(&self) -> EntryRegs {
        self.entry
    }

    /// Addresses of the stack slots that the walk depended on, in the order of the walk. A walk from
    /// the same return address and stack pointer (and frame pointer, see [`Self::uses_rbp`]) that
    /// finds the same values in them gives the same frames; modules that were unloaded since, see
    /// [`Modules::generation`], are another matter.
    pub(crate) fn slots(&self) -> impl Iterator<Item = usize> {
        self.checks[..self.n_checks].iter().map(|check| check.address)
    }

    /// Whether a walk from `entry` would find what this one found.
    ///
    /// # Safety
    /// The capture is of the calling thread, and `entry` of a call that has not returned.
    #[cfg(test)]
    pub(crate) unsafe fn still_holds(&self, entry: EntryRegs) -> bool {
        let same = self.entry.ip == entry.ip && self.entry.sp == entry.sp;
        // SAFETY: with the same stack pointer the slots lie between it and the end of the stack.
        let unchanged = |check: &Check| unsafe { load(check.address) == check.value };
        same && (!self.uses_rbp || self.entry.rbp == entry.rbp)
            && self.checks[..self.n_checks].iter().all(unchanged)
    }

    /// Whether the walk depended on the frame pointer at the entry.
    pub(crate) fn uses_rbp(&self) -> bool {
        self.uses_rbp
    }

    fn start(&mut self, entry: EntryRegs) {
        (self.entry, self.uses_rbp) = (entry, false);
        (self.n_frames, self.n_checks) = (0, 0);
    }

    fn push_check(&mut self, check: Check) -> Result<(), StackEnd> {
        *self.checks.get_mut(self.n_checks).ok_or(StackEnd::TooDeep)? = check;
        self.n_checks += 1;
        Ok(())
    }
}

/// The walker of one thread with its cache of rules.
pub(crate) struct Unwinder {
    rules: FxHashMap<usize, KnownRule>,
    generation: u64,
    reader: RuleReader,
    depth: usize,
}

#[derive(Debug, Clone, Copy)]
struct KnownRule {
    rule: Rule,
    module: ModuleSerial,
    is_user: bool,
}

impl Unwinder {
    /// A walker that takes at most `depth` user frames (and never more than [`MAX_FRAMES`]).
    pub(crate) fn with_depth(depth: usize) -> Self {
        let depth = depth.min(MAX_FRAMES);
        Self { rules: FxHashMap::default(), generation: 0, reader: RuleReader::default(), depth }
    }

    /// Walks the stack of the calling thread from `entry` up to `stack_end`, the address behind the
    /// thread's stack, into `out`.
    ///
    /// # Safety
    /// `entry.sp` must be a stack pointer of the calling thread, in a call that has not returned yet, and
    /// the memory from there to `stack_end` must be the mapped rest of its stack.
    pub(crate) unsafe fn unwind(
        &mut self,
        modules: &Modules,
        entry: EntryRegs,
        stack_end: usize,
        out: &mut StackCapture,
    ) {
        out.start(entry);
        out.end = if cfg!(target_arch = "x86_64") {
            self.walk(modules, entry, stack_end, out)
        } else {
            self.take_frame(entry.ip, ModuleSerial::UNKNOWN, out).err().unwrap_or(StackEnd::Truncated)
        };
    }

    /// The frame that an address of the calling thread's stack lies in.
    ///
    /// # Safety
    /// As for [`Self::unwind`].
    #[cfg(not(feature = "linked"))]
    pub(crate) unsafe fn frame_of(
        &mut self,
        modules: &Modules,
        entry: EntryRegs,
        stack_end: usize,
        address: usize,
    ) -> Option<FrameOf> {
        let mut modules = MaybeStale { modules, is_current: None };
        let mut walk = Walk {
            ip: entry.ip,
            rsp: entry.sp.wrapping_add(8),
            rbp: Rbp::Entry(entry.rbp),
            stack: Stack { from: entry.sp, to: stack_end },
        };
        let mut checks = StackCapture::empty();
        for _ in 0..MOST_WALKED {
            if address < walk.rsp {
                return None;
            }
            let (pc, from) = (walk.ip, walk.rsp);
            let rule = self.rule(&mut modules, pc)?.rule;
            checks.start(entry);
            walk.step(rule, &mut checks).ok()?;
            if address < walk.rsp {
                let check = |at: usize, value| Check { address: at.wrapping_sub(8), value };
                return Some(FrameOf {
                    pc,
                    cfa: walk.rsp,
                    checks: [check(from, pc), check(walk.rsp, walk.ip)],
                });
            }
        }
        None
    }

    fn walk(
        &mut self,
        modules: &Modules,
        entry: EntryRegs,
        stack_end: usize,
        out: &mut StackCapture,
    ) -> StackEnd {
        if self.generation != modules.generation() {
            self.rules.clear();
            self.generation = modules.generation();
        }
        let mut modules = MaybeStale { modules, is_current: None };
        let mut walk = Walk {
            ip: entry.ip,
            rsp: entry.sp.wrapping_add(8),
            rbp: Rbp::Entry(entry.rbp),
            stack: Stack { from: entry.sp, to: stack_end },
        };
        loop {
            let Some(known) = self.rule(&mut modules, walk.ip) else { return StackEnd::UnknownModule };
            if known.is_user || 0 < out.n_frames {
                if let Err(end) = self.take_frame(walk.ip, known.module, out) {
                    return end;
                }
                // Nothing above the last frame wanted is worth a check.
                if out.n_frames == self.depth && known.rule != Rule::End {
                    return StackEnd::TooDeep;
                }
            }
            if let Err(end) = walk.step(known.rule, out) {
                return end;
            }
        }
    }

    fn take_frame(
        &self,
        return_address: usize,
        module: ModuleSerial,
        out: &mut StackCapture,
    ) -> Result<(), StackEnd> {
        if self.depth <= out.n_frames {
            return Err(StackEnd::TooDeep);
        }
        (out.frames[out.n_frames], out.modules[out.n_frames]) = (return_address, module);
        out.n_frames += 1;
        Ok(())
    }

    fn rule(&mut self, modules: &mut MaybeStale<'_>, return_address: usize) -> Option<KnownRule> {
        if let Some(known) = self.rules.get(&return_address) {
            return Some(*known);
        }
        let module = modules.find(return_address)?;
        // SAFETY: the module's code is on the caller's stack, so it cannot be unloaded before we return.
        let (rule, function) = unsafe { self.reader.read(module, return_address) };
        let is_user = module.kind == ModuleKind::User && !is_of_mpi(function);
        let known = KnownRule { rule, module: module.serial, is_user };
        if MAX_RULES <= self.rules.len() {
            self.rules.clear();
        }
        self.rules.insert(return_address, known);
        Some(known)
    }
}

/// Whether the function at `address` is MPI's own although its module is not.
fn is_of_mpi(address: usize) -> bool {
    #[cfg(feature = "linked")]
    return crate::linked::is_of_mpi(address);
    #[cfg(not(feature = "linked"))]
    {
        // Of a program whose MPI is a library of its own, the module says it.
        _ = address;
        false
    }
}

/// The modules, asked at most once a walk whether they are still the loaded ones: the libraries that were
/// opened and closed meanwhile may have left their addresses to others.
struct MaybeStale<'a> {
    modules: &'a Modules,
    is_current: Option<bool>,
}

impl<'a> MaybeStale<'a> {
    fn find(&mut self, address: usize) -> Option<&'a UnwindModule> {
        let is_current = *self.is_current.get_or_insert_with(|| self.modules.is_current());
        self.modules.find(address).filter(|_| is_current).map(|module| &**module)
    }
}

/// The state of a walk between two frames.
struct Walk {
    ip: usize,
    rsp: usize,
    rbp: Rbp,
    stack: Stack,
}

/// The value of rbp in the current frame, and what it rests on.
#[derive(Clone, Copy)]
enum Rbp {
    /// As it was at the entry.
    Entry(usize),
    /// Loaded from a slot, which becomes a check when the value is used.
    Slot(Check),
    /// Known and already among the checks.
    Checked(usize),
    Lost,
}

impl Walk {
    fn step(&mut self, rule: Rule, out: &mut StackCapture) -> Result<(), StackEnd> {
        let (cfa, saved_rbp) = match rule {
            Rule::Step { cfa, rbp } => (cfa, rbp),
            Rule::End => return Err(StackEnd::Complete),
            Rule::Signal | Rule::Unknown => return Err(StackEnd::Truncated),
        };
        let cfa = match cfa {
            // Only functions that were interrupted have these, and what lies here was called.
            Cfa::Register(..) | Cfa::Stub(_) => return Err(StackEnd::Truncated),
            Cfa::Rsp(offset) => add(self.rsp, offset),
            Cfa::Rbp(offset) => add(self.use_rbp(out)?, offset),
            Cfa::AtRbp(offset) => {
                let rbp = self.use_rbp(out)?;
                let slot = self.stack.read(add(rbp, offset))?;
                out.push_check(slot)?;
                slot.value
            }
        };
        // Frames lie one above the other; anything else would walk in circles.
        if cfa <= self.rsp {
            return Err(StackEnd::Truncated);
        }
        let rbp = match saved_rbp {
            SavedRbp::Same => self.rbp,
            SavedRbp::AtCfa(offset) => self.saved_at(add(cfa, offset)),
            SavedRbp::AtRbp(offset) => {
                let rbp = self.use_rbp(out)?;
                self.saved_at(add(rbp, offset))
            }
            SavedRbp::Lost => Rbp::Lost,
        };
        let return_address = self.stack.read(cfa.wrapping_sub(8))?;
        out.push_check(return_address)?;
        if return_address.value == 0 {
            return Err(StackEnd::Complete);
        }
        (self.ip, self.rsp, self.rbp) = (return_address.value, cfa, rbp);
        Ok(())
    }

    /// A slot outside the stack only matters when a later frame needs its value.
    fn saved_at(&self, address: usize) -> Rbp {
        self.stack.read(address).map_or(Rbp::Lost, Rbp::Slot)
    }

    /// The value of rbp, from now on something that the capture depends on.
    fn use_rbp(&mut self, out: &mut StackCapture) -> Result<usize, StackEnd> {
        let value = match self.rbp {
            Rbp::Entry(value) => {
                out.uses_rbp = true;
                value
            }
            Rbp::Slot(check) => {
                out.push_check(check)?;
                check.value
            }
            Rbp::Checked(value) => value,
            Rbp::Lost => return Err(StackEnd::Truncated),
        };
        self.rbp = Rbp::Checked(value);
        Ok(value)
    }
}

/// The readable part of the thread's stack.
struct Stack {
    from: usize,
    to: usize,
}

impl Stack {
    fn read(&self, address: usize) -> Result<Check, StackEnd> {
        let is_inside = self.from <= address && address < self.to && 8 <= self.to - address;
        if !is_inside || !address.is_multiple_of(8) {
            return Err(StackEnd::Truncated);
        }
        // SAFETY: aligned and inside the bounds that the caller of `unwind` vouched for.
        Ok(Check { address, value: unsafe { load(address) } })
    }
}

fn add(base: usize, offset: i32) -> usize {
    base.wrapping_add_signed(offset as isize)
}

/// One word of the stack.
///
/// # Safety
/// `address` must be aligned and lie in the mapped stack of the calling thread.
#[inline]
unsafe fn load(address: usize) -> usize {
    // SAFETY: by contract. Volatile, because the compiler knows nothing of the frames that own the word.
    unsafe { std::ptr::with_exposed_provenance::<usize>(address).read_volatile() }
}
