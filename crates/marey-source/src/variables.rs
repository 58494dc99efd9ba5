//! From an address of data to the variable of the source.
//!
//! The one idea: what an address means is asked of the debug information only when it is asked. A module is gone through once
//! for where its variables lie; names, types and members are read of those alone that somebody wants to know.
//!
//! Without debug information the symbol table still has names. What lies in registers, what belongs to each thread and what
//! has no fixed place in its frame is not known here, and nothing is said of it. The memory of a process is never read, so
//! what a pointer points to is the caller's to find out.

mod debug;
mod entries;
mod frames;
mod location;
mod members;
mod objects;
mod scope;
mod shape;
mod tokens;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::OnceLock;

use self::debug::{Debug, Die, View};
use self::entries::Statics;
use self::frames::{Frames, Function};
use self::members::Part;
use self::objects::Objects;
use crate::dwarf::guarded;
use crate::module::Files;
use crate::problem::{BuildId, Problem, Problems};
use crate::symbolizer::{ModuleRef, Quality, SymbolizerConfig};

/// Variables that are gone through for what they hold, at most; beyond are tables that programs were made from.
const MOST_HOLDERS: usize = 1 << 20;

/// The variables of one module.
pub struct Variables {
    path: PathBuf,
    debug: Option<Debug>,
    statics: Statics,
    objects: Objects,
    frames: Frames,
    /// By unit, the functions that debug information has.
    functions: Vec<OnceLock<Vec<Function>>>,
    /// Tokens of coarrays, and the variables that they belong to.
    tokens: Vec<(Range<u64>, u64)>,
}

/// A variable of the source, or the member of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// As the source says it, with the members that lead to what was asked for and without indices: `field`, `c%v`,
    /// `parts.x`.
    pub name: String,
    /// What it lies in: module, namespace, type, function, or `/block/` for a common block. Empty for a file's own.
    pub scope: String,
    /// File of the declaration; empty when it is not known.
    pub file: String,
    /// Line of the declaration; 0 when it is not known.
    pub line: u32,
    /// Bytes from the beginning of the variable, or of the member, to the address that was asked for.
    pub offset: u64,
    /// Size of its storage; 0 when it is not known.
    pub bytes: u64,
    /// Whether the data lie here or elsewhere.
    pub holder: Holder,
    /// Whether it is a parameter of a function, and so holds what callers say.
    pub is_parameter: bool,
    /// Type of an element: `real(4)`, `double`, `struct particle`. Empty when it is not known.
    pub element: String,
    /// Size of an element; 0 when it is not known.
    pub element_bytes: u64,
    /// Lower bound and extent of each dimension, as far as the program says them before it runs.
    pub bounds: Vec<(i64, Option<u64>)>,
    /// How much is known: [`Quality::Symbols`] is a name alone.
    pub quality: Quality,
}

/// Where the data of a variable lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Holder {
    /// Here.
    Storage,
    /// Where it points to.
    Pointer,
    /// Where the descriptor says: a Fortran array that is a pointer or of assumed shape. The address of the data is its first
    /// word.
    Descriptor,
    /// The same of one that is allocatable: the first word is null when the data are given back.
    Allocatable,
}

impl Variables {
    /// Reads where the variables of a module lie. What kept it from being complete comes beside.
    pub fn open(module: &ModuleRef<'_>, config: &SymbolizerConfig) -> (Self, Vec<Problem>) {
        let mut problems = Problems::default();
        let recorded = module.build_id.filter(|id| !id.is_empty()).map(|id| BuildId(id.to_vec()));
        let files = Files::of(module.path, recorded.as_ref(), config, &mut problems);
        let name = module.path.file_name().unwrap_or_default().to_string_lossy();
        let objects = Objects::read(&files, module.path, &mut problems);
        let frames = if files.head.is_some() { Frames::read(module.path, config) } else { Frames::default() };
        let debug = (!config.is_only_symbols(&name))
            .then(|| Debug::open(&files, module.path, config, &mut problems))
            .flatten();
        let mut variables = Self {
            path: module.path.to_owned(),
            debug,
            statics: Statics::default(),
            objects,
            frames,
            functions: Vec::new(),
            tokens: Vec::new(),
        };
        if let Some(debug) = &variables.debug {
            let read = guarded(|| entries::read(debug, &variables.objects));
            match read {
                Some((statics, errors)) => {
                    variables.statics = statics;
                    let damaged = |error| Problem::DamagedDwarf { path: module.path.to_owned(), error };
                    errors.into_iter().for_each(|error| problems.report(damaged(error)));
                }
                None => problems.report(Problem::ReaderFailed { path: module.path.to_owned() }),
            }
            variables.functions = std::iter::repeat_with(OnceLock::new).take(debug.units()).collect();
            variables.tokens = tokens::pairs(&variables.objects, &variables.statics, module.path);
        }
        (variables, problems.list().to_vec())
    }

    /// The variable with static storage that holds the byte at `vaddr`, and of it the smallest member that holds as many
    /// `bytes` from there as lie in it: what a call that was given both was most likely given. Of two variables that share
    /// their place it is the one that begins last.
    pub fn at(&self, vaddr: u64, bytes: u64) -> Option<Variable> {
        let of_token = self.tokens.iter().find(|(token, _)| token.contains(&vaddr));
        if let Some((token, of)) = of_token {
            let array = self.in_statics(*of, 1)?;
            return Some(Variable { offset: vaddr - token.start, ..array });
        }
        self.in_statics(vaddr, bytes).or_else(|| self.objects.variable(vaddr))
    }

    /// What the variable at `vaddr` holds elsewhere, a pointer or descriptor or the token of a coarray: the member
    /// `offsets[0]` bytes behind the beginning of that; then of what this member holds elsewhere, and so on.
    pub fn member(&self, vaddr: u64, offsets: &[u64]) -> Option<Variable> {
        let of_token = self.tokens.iter().find(|(token, _)| token.contains(&vaddr));
        let found = self.statics.find(of_token.map_or(vaddr, |(_, of)| *of))?;
        let debug = self.debug.as_ref()?;
        let part = Part { die: found.die, is_indirect: found.is_indirect, bytes: found.bytes };
        guarded(|| members::held(&View::new(debug), part, offsets)).flatten()
    }

    fn in_statics(&self, vaddr: u64, bytes: u64) -> Option<Variable> {
        let found = self.statics.find(vaddr)?;
        let debug = self.debug.as_ref()?;
        let part = Part { die: found.die, is_indirect: found.is_indirect, bytes: found.bytes };
        // A unit that cannot be read has no say; the symbol has.
        guarded(|| members::variable(&View::new(debug), part, vaddr - found.start, bytes)).flatten()
    }

    /// The variable in the frame of a function that lies `from_cfa` bytes from the canonical frame address, and of it the
    /// smallest member as of [`at`](Self::at). `pc` is where the function is to be returned to.
    pub fn in_frame(&self, pc: u64, from_cfa: i64, bytes: u64) -> Option<Variable> {
        let debug = self.debug.as_ref()?;
        let pc = pc.checked_sub(1)?;
        guarded(|| {
            let view = View::new(debug);
            let unit = debug.unit_of(&view, pc)?;
            let functions = self.functions.get(unit as usize)?;
            let functions = functions.get_or_init(|| frames::functions(&view, unit));
            let (part, start) = self.frames.find(&view, functions, pc, from_cfa)?;
            members::variable(&view, part, from_cfa.abs_diff(start), bytes)
        })
        .flatten()
    }

    /// All cells with static storage that say where data lie, by their address: pointers, and descriptors of Fortran's
    /// arrays, those in members of variables too. Who can read the memory of the process finds by these which variable holds
    /// a block of the heap.
    pub fn holders(&self) -> Vec<u64> {
        let Some(debug) = &self.debug else { return Vec::new() };
        let found = guarded(|| {
            let view = View::new(debug);
            let mut cells = Vec::new();
            for place in self.statics.list() {
                if MOST_HOLDERS <= cells.len() {
                    break;
                }
                let part = Part { die: place.die, is_indirect: place.is_indirect, bytes: place.bytes };
                members::holders(&view, part, place.start, &mut cells);
            }
            cells
        });
        let mut cells = found.unwrap_or_default();
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    /// Path of the module.
    pub fn path(&self) -> &std::path::Path {
        &self.path
    }
}

/// A variable with a fixed place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Static {
    start: u64,
    bytes: u64,
    die: Die,
    /// What lies there is the address of the variable.
    is_indirect: bool,
}
