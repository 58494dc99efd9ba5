//! Return address → how to find the caller's frame from there, in twelve bytes.
//!
//! Only what compilers emit for ordinary x86-64 functions is a rule: a frame at a fixed distance from rsp or
//! rbp, or, in functions that realign their stack, at an address saved below rbp. What only a function has that
//! was interrupted (another register, the linker's stubs, the frame of a signal) are rules of their own. Anything
//! else (code generated at run time) ends the walk, visibly.

#![expect(unsafe_code, reason = "reads the unwind tables of mapped modules")]

use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, EndianSlice, NativeEndian, Operation, Pointer, Register,
    RegisterRule, UnwindContext, UnwindContextStorage, UnwindExpression, UnwindSection, UnwindTableRow,
};

use super::modules::{UnwindModule, UnwindTables};

type Slice<'a> = EndianSlice<'a, NativeEndian>;

const RBP: Register = Register(6);
const RSP: Register = Register(7);
const RETURN_ADDRESS: Register = Register(16);

/// How to step out of a function that was left at a known address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// To the caller's frame. The return address lies 8 bytes below it.
    Step {
        /// Where the caller's frame begins (the canonical frame address).
        cfa: Cfa,
        /// What the function has done with the caller's rbp.
        rbp: SavedRbp,
    },
    /// To what a signal has interrupted: all registers lie on the stack.
    Signal,
    /// The outermost function of a thread.
    End,
    /// The tables do not say, or in words that are not supported.
    Unknown,
}

/// The canonical frame address: rsp of the caller after the return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cfa {
    /// rsp + n
    Rsp(i32),
    /// rbp + n
    Rbp(i32),
    /// The word at rbp + n: functions that realign their stack keep it there.
    AtRbp(i32),
    /// Register + n, of functions that are about to realign their stack.
    Register(u8, i32),
    /// rsp + 8, and 8 more behind this many of the 16 bytes of a stub by which functions of other modules are
    /// called.
    Stub(u8),
}

/// Where the caller's rbp is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SavedRbp {
    /// Still in rbp.
    Same,
    /// In the word at CFA + n.
    AtCfa(i32),
    /// In the word at rbp + n, of functions that realign their stack.
    AtRbp(i32),
    /// Not recoverable.
    Lost,
}

/// Parses rules; keeps the working memory of that.
pub(crate) struct RuleReader {
    context: UnwindContext<usize, Small>,
}

/// Rows with room for the rules of the registers that x86-64 has. The library's own have room for any
/// machine's, 6 KiB, and come to lie on the measured program's stack several times over: a thread with
/// the smallest stack that the system allows would not survive that.
struct Small;

const MAX_RULES: usize = 24;
const MAX_REMEMBERED: usize = 4;

impl UnwindContextStorage<usize> for Small {
    type Rules = [(Register, RegisterRule<usize>); MAX_RULES];
    type Stack = Box<[Row; MAX_REMEMBERED]>;
}

type Row = UnwindTableRow<usize, Small>;

impl Default for RuleReader {
    fn default() -> Self {
        Self { context: UnwindContext::new_in() }
    }
}

impl RuleReader {
    /// The rule for a function of `module` that will be returned to at `return_address`, and where the
    /// function begins; 0 if that is not known.
    ///
    /// # Safety
    /// The module must stay loaded meanwhile.
    pub(crate) unsafe fn read(&mut self, module: &UnwindModule, return_address: usize) -> (Rule, usize) {
        // The call lies before its return address, which may already belong to the next function.
        let call = return_address.wrapping_sub(1);
        let Some(tables) = &module.tables else { return (Rule::Unknown, 0) };
        // SAFETY: by contract.
        unsafe { self.read_at(tables, call) }
    }

    /// The rule for a function that was left or interrupted at the instruction that `address` lies in.
    ///
    /// # Safety
    /// The module that the tables are of must stay loaded meanwhile.
    pub(crate) unsafe fn read_at(&mut self, tables: &UnwindTables, address: usize) -> (Rule, usize) {
        // SAFETY: by contract.
        let (header, frames) = unsafe { tables.bytes() };
        self.read_tables(tables, header, frames, address as u64).unwrap_or((Rule::Unknown, 0))
    }

    fn read_tables(
        &mut self,
        tables: &UnwindTables,
        header: &[u8],
        frames: &[u8],
        call: u64,
    ) -> Option<(Rule, usize)> {
        let (header_address, frames_address) = tables.addresses();
        let bases = BaseAddresses::default()
            .set_eh_frame_hdr(header_address as u64)
            .set_eh_frame(frames_address as u64);
        let header = EhFrameHdr::new(header, NativeEndian).parse(&bases, 8).ok()?;
        let frames = EhFrame::new(frames, NativeEndian);
        let entry = header.table()?.fde_for_address(&frames, &bases, call, EhFrame::cie_from_offset).ok()?;
        if entry.cie().return_address_register() != RETURN_ADDRESS {
            return None;
        }
        if entry.is_signal_trampoline() {
            return Some((Rule::Signal, usize::try_from(entry.initial_address()).ok()?));
        }
        let row = entry.unwind_info_for_address(&frames, &bases, &mut self.context, call).ok()?;
        Some((rule(&frames, entry.cie().encoding(), row)?, usize::try_from(entry.initial_address()).ok()?))
    }
}

/// Where `.eh_frame` begins, according to its index `.eh_frame_hdr` at `header_address`.
pub(super) fn frames_address(header: &[u8], header_address: usize) -> Option<usize> {
    let bases = BaseAddresses::default().set_eh_frame_hdr(header_address as u64);
    match EhFrameHdr::new(header, NativeEndian).parse(&bases, 8).ok()?.eh_frame_ptr() {
        Pointer::Direct(address) => usize::try_from(address).ok(),
        Pointer::Indirect(_) => None,
    }
}

fn rule(frames: &EhFrame<Slice<'_>>, encoding: gimli::Encoding, row: &Row) -> Option<Rule> {
    match row.register(RETURN_ADDRESS) {
        Some(RegisterRule::Undefined) => return Some(Rule::End),
        Some(RegisterRule::Offset(-8)) => {}
        _ => return None,
    }
    let cfa = match row.cfa() {
        CfaRule::RegisterAndOffset { register: RSP, offset } => Cfa::Rsp(i32::try_from(*offset).ok()?),
        CfaRule::RegisterAndOffset { register: RBP, offset } => Cfa::Rbp(i32::try_from(*offset).ok()?),
        CfaRule::RegisterAndOffset { register, offset } => {
            let register =
                u8::try_from(register.0).ok().filter(|&register| u16::from(register) < RETURN_ADDRESS.0)?;
            Cfa::Register(register, i32::try_from(*offset).ok()?)
        }
        CfaRule::Expression(expression) => match rbp_expression(frames, encoding, expression) {
            Some((offset, Deref::Once)) => Cfa::AtRbp(offset),
            Some((offset, Deref::Never)) => Cfa::Rbp(offset),
            None => Cfa::Stub(stub_expression(frames, encoding, expression)?),
        },
    };
    let rbp = match row.register(RBP) {
        None | Some(RegisterRule::SameValue) => SavedRbp::Same,
        Some(RegisterRule::Offset(offset)) => SavedRbp::AtCfa(i32::try_from(offset).ok()?),
        Some(RegisterRule::Expression(expression)) => match rbp_expression(frames, encoding, &expression) {
            Some((offset, Deref::Never)) => SavedRbp::AtRbp(offset),
            _ => SavedRbp::Lost,
        },
        Some(_) => SavedRbp::Lost,
    };
    Some(Rule::Step { cfa, rbp })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deref {
    Never,
    Once,
}

/// `rbp + n` or `*(rbp + n)`; other expressions are not supported.
fn rbp_expression(
    frames: &EhFrame<Slice<'_>>,
    encoding: gimli::Encoding,
    expression: &UnwindExpression<usize>,
) -> Option<(i32, Deref)> {
    let mut operations = expression.get(frames).ok()?.operations(encoding);
    let Operation::RegisterOffset { register: RBP, offset, .. } = operations.next().ok()?? else {
        return None;
    };
    let offset = i32::try_from(offset).ok()?;
    match operations.next().ok()? {
        None => Some((offset, Deref::Never)),
        Some(Operation::Deref { size: 8, space: false, .. }) if operations.next().ok()?.is_none() => {
            Some((offset, Deref::Once))
        }
        Some(_) => None,
    }
}

/// What linkers say of all their stubs at once: `rsp + 8 + ((rip & 15) >= n) * 8`. The n.
fn stub_expression(
    frames: &EhFrame<Slice<'_>>,
    encoding: gimli::Encoding,
    expression: &UnwindExpression<usize>,
) -> Option<u8> {
    let mut operations = expression.get(frames).ok()?.operations(encoding);
    let mut next = || operations.next().ok()?;
    let Operation::RegisterOffset { register: RSP, offset: 8, .. } = next()? else { return None };
    let Operation::RegisterOffset { register: RETURN_ADDRESS, offset: 0, .. } = next()? else { return None };
    let Operation::UnsignedConstant { value: 15 } = next()? else { return None };
    let Operation::And = next()? else { return None };
    let Operation::UnsignedConstant { value: behind } = next()? else { return None };
    let Operation::Ge = next()? else { return None };
    let Operation::UnsignedConstant { value: 3 } = next()? else { return None };
    let Operation::Shl = next()? else { return None };
    let Operation::Plus = next()? else { return None };
    u8::try_from(behind).ok()
}
