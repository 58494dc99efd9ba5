//! Call paths and call stacks put together: the functions between one region and the next.
//!
//! The one idea: the stack of a call holds the functions around the regions it lies in, too. A
//! region that was entered without a stack, as those of the program itself are, finds its place
//! among the functions of what was called inside it: the function of its name, or else the one
//! whose call stands next behind the region's line in the same file.

use std::rc::Rc;

use marey_analyze::{Frame, Region, SampledRow, Trace, caller_on};
use marey_model::{CallPathId, StackId, is_recorder};
use rustc_hash::FxHashMap;

use crate::paint::harmless;
use crate::words;

/// What lies between a call path and the one above it.
#[derive(Debug, Default)]
pub(super) struct Chain {
    /// Functions, outermost first.
    pub(super) functions: Vec<Step>,
    /// Where the region was called or entered.
    pub(super) region_place: String,
}

/// A function and where it was called.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Step {
    /// Its name.
    pub(super) name: String,
    /// `file:line`, of functions without a name the address; empty = unknown.
    pub(super) place: String,
}

/// What lies between the call paths of a run, and between them and where samples were taken.
pub(super) struct Chains {
    around: Vec<Option<Surroundings>>,
    stacks: Stacks,
}

/// The functions of stacks, as far as they have been asked for.
type Stacks = FxHashMap<StackId, Rc<[Caller]>>;

impl Chains {
    pub(super) fn new(trace: &dyn Trace) -> Self {
        let mut stacks = Stacks::default();
        let around = surroundings(trace, &mut stacks);
        Self { around, stacks }
    }

    /// That of a call path, and the one above it.
    pub(super) fn of_path(&self, trace: &dyn Trace, idx: usize) -> Chain {
        let path = &trace.call_paths()[idx];
        let region = trace.regions().get(path.region.idx());
        let above = path.parent.and_then(|parent| self.around.get(parent.idx())?.as_ref());
        match &self.around[idx] {
            Some(here) => here.beneath(above, region),
            None => Chain { functions: Vec::new(), region_place: place_of(region) },
        }
    }

    /// The functions between the innermost open region and where a sample was taken, outermost first.
    pub(super) fn of_sample(&mut self, trace: &dyn Trace, sample: &SampledRow) -> Vec<Step> {
        let Some(stack) = sample.stack else { return Vec::new() };
        let callers = functions_of(trace, stack, &mut self.stacks);
        let above = sample.call_path.and_then(|path| self.around.get(path.idx())?.as_ref());
        let here = Surroundings { depth: callers.len(), callers, origin: Origin::Recorded };
        here.beneath(above, None).functions
    }
}

/// The functions of the program that led to a call path, the caller first, and where each called the next.
pub(super) fn outward(trace: &dyn Trace, path: CallPathId) -> Vec<Step> {
    let stack = trace.call_paths().get(path.idx()).and_then(|path| path.stack);
    let frames = stack.map(|stack| trace.stack(stack)).unwrap_or_default();
    let callers = callers(&frames[caller_on(&frames).unwrap_or(0)..]);
    callers.iter().rev().map(|caller| Step { name: caller.name.clone(), place: caller.calls_at() }).collect()
}

fn functions_of(trace: &dyn Trace, stack: StackId, stacks: &mut Stacks) -> Rc<[Caller]> {
    stacks.entry(stack).or_insert_with(|| callers(&trace.stack(stack))).clone()
}

/// The functions that a region was entered from.
#[derive(Clone, Debug)]
struct Surroundings {
    callers: Rc<[Caller]>,
    /// So many of them lie around the region.
    depth: usize,
    origin: Origin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// Its own call stack.
    Recorded,
    /// That of something called inside it.
    Inferred,
}

impl Surroundings {
    /// What is new compared with the path above.
    fn beneath(&self, above: Option<&Self>, region: Option<&Region>) -> Chain {
        let callers = &self.callers[..self.depth];
        let outer = above.map_or(&[][..], |above| &above.callers[..above.depth]);
        // The same functions, though perhaps at another line of the innermost one.
        let common = callers.iter().zip(outer).take_while(|(a, b)| a.name == b.name).count();
        let place = |idx: usize| idx.checked_sub(1).map_or_else(String::new, |idx| callers[idx].calls_at());
        let step = |idx: usize| Step { name: callers[idx].name.clone(), place: place(idx) };
        // A region named like the function that it lies in stands for the function.
        let innermost = callers.len().saturating_sub(1);
        let is_function = callers.get(innermost).is_some_and(|caller| is_named(caller, region));
        if self.origin == Origin::Inferred && is_function {
            let functions = (common..innermost).map(step).collect();
            return Chain { functions, region_place: place(innermost) };
        }
        let region_place = match self.origin {
            Origin::Recorded => place(callers.len()),
            Origin::Inferred => place_of(region),
        };
        Chain { functions: (common..callers.len()).map(step).collect(), region_place }
    }
}

fn surroundings(trace: &dyn Trace, stacks: &mut Stacks) -> Vec<Option<Surroundings>> {
    let mut around: Vec<Option<Surroundings>> = Vec::with_capacity(trace.call_paths().len());
    for path in trace.call_paths() {
        around.push(path.stack.map(|stack| {
            let callers = functions_of(trace, stack, stacks);
            Surroundings { depth: callers.len(), callers, origin: Origin::Recorded }
        }));
    }
    // A sample that was taken inside a region tells where that is as well as a call does.
    for sample in trace.samples().iter().filter(|sample| sample.is_complete) {
        let (Some(path), Some(stack)) = (sample.call_path, sample.stack) else { continue };
        if let Some(None) = around.get(path.idx()) {
            let callers = functions_of(trace, stack, stacks);
            around[path.idx()] = inferred(trace, path, &callers, callers.len());
        }
    }
    // Children stand behind their parents, so from the back each is known before it is asked.
    for idx in (0..around.len()).rev() {
        let Some(parent) = trace.call_paths()[idx].parent.filter(|parent| parent.idx() < idx) else {
            continue;
        };
        if around[parent.idx()].is_some() {
            continue;
        }
        around[parent.idx()] =
            around[idx].as_ref().and_then(|inside| inferred(trace, parent, &inside.callers, inside.depth));
    }
    around
}

/// Where a region lies among the first `depth` functions of a stack that was taken inside it.
fn inferred(
    trace: &dyn Trace,
    path: CallPathId,
    callers: &Rc<[Caller]>,
    depth: usize,
) -> Option<Surroundings> {
    let region = trace.regions().get(trace.call_paths().get(path.idx())?.region.idx())?;
    let depth = 1 + holder(&callers[..depth], region)?;
    Some(Surroundings { callers: callers.clone(), depth, origin: Origin::Inferred })
}

/// Which of the callers a region lies in.
fn holder(callers: &[Caller], region: &Region) -> Option<usize> {
    let by_name = callers.iter().rposition(|caller| is_named(caller, Some(region)));
    by_name.or_else(|| {
        let behind = callers.iter().enumerate().filter(|(_, caller)| {
            !region.file.is_empty() && caller.file == region.file && region.line <= caller.line
        });
        behind.min_by_key(|(_, caller)| caller.line).map(|(idx, _)| idx)
    })
}

fn is_named(caller: &Caller, region: Option<&Region>) -> bool {
    // `solve` is also the name of `solver::solve`.
    region.is_some_and(|region| {
        let tail = caller.name.strip_suffix(region.name());
        tail.is_some_and(|tail| tail.is_empty() || tail.ends_with("::"))
    })
}

fn place_of(region: Option<&Region>) -> String {
    region.map_or_else(String::new, |region| words::place(&region.file, region.line))
}

/// Leaves out what a standard library does by itself: of each call into it the first function
/// remains, the one that the program named.
fn without_library<'f>(frames: &'f [&'f Frame]) -> impl Iterator<Item = &'f Frame> {
    let is_library = |frame: &Frame| words::is_of_library(&frame.function);
    // Nobody of the program calls the outermost ones; but where there are no others, they stay.
    let first = frames.iter().position(|frame| !is_library(frame)).unwrap_or(0);
    let named = move |&idx: &usize| idx == first || !is_library(frames[idx]) || !is_library(frames[idx - 1]);
    (first..frames.len()).filter(named).map(|idx| frames[idx])
}

/// A function on a call stack and where it calls the next one.
#[derive(Debug)]
struct Caller {
    name: String,
    file: String,
    line: u32,
    /// Stands for the place where that is not known.
    address: String,
}

impl Caller {
    fn new(frame: &Frame) -> Self {
        let (file, line) = (frame.file.clone(), frame.line);
        match without_offset(&frame.function) {
            // All functions without symbols of a module look the same; only the place differs.
            Some(module) => {
                let address = harmless(&frame.function);
                let module = if is_recorder(&format!("{module}.so")) { "the recorder" } else { module };
                Self { name: format!("({})", words::function(module)), file, line, address }
            }
            None => Self { name: words::function(&frame.function), file, line, address: String::new() },
        }
    }

    fn calls_at(&self) -> String {
        let place = words::place(&self.file, self.line);
        if place.is_empty() { self.address.clone() } else { place }
    }
}

/// The functions of a call stack, outermost first, without what runs before `main`.
fn callers(stack: &[&Frame]) -> Rc<[Caller]> {
    let frames: Vec<&Frame> = stack.iter().rev().copied().collect();
    let startup = frames.iter().rposition(|frame| words::is_startup(&frame.function));
    let own = frames.get(startup.map_or(0, |idx| idx + 1)..).unwrap_or_default();
    let mut callers: Vec<Caller> = without_library(own).map(Caller::new).collect();
    // Whatever the C library calls first is the program's `main`, also without symbols.
    let is_c_main = startup.is_some_and(|idx| frames[idx].function.starts_with("__libc_start_"));
    if let (true, Some(outermost)) = (is_c_main, callers.first_mut()) {
        outermost.name = "main".to_owned();
    }
    // In Fortran the C function `main` only leads to the program's own.
    if callers.get(1).is_some_and(|inner| inner.name == words::FORTRAN_MAIN) {
        callers.remove(0);
    }
    callers.into()
}

/// The module of an address that has no name: `lmp` of `lmp+0x1261`, `libm` of `libm.so.6+0x10`.
fn without_offset(function: &str) -> Option<&str> {
    let (module, offset) = function.rsplit_once("+0x")?;
    let module = module.split_once(".so").map_or(module, |(name, _)| name);
    let module = module.split_once(".cpython-").map_or(module, |(name, _)| name);
    (!offset.is_empty() && offset.bytes().all(|c| c.is_ascii_hexdigit())).then_some(module)
}
