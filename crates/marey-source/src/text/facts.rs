//! What is known of a program from its text.
//!
//! The one idea: the same flat rows as those of a binary ([`crate::database`]), which refer to each other by number; in
//! addition each says where it ends, for a text has what machine code has not: an end, and what lies between.

use super::language::Language;
pub use crate::database::{Access, MemberKind};
use crate::texts::Text;

/// The first and the last line of something, both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Lines {
    /// Where it begins.
    pub first: u32,
    /// Where it ends.
    pub last: u32,
}

impl Lines {
    /// Whether a line is one of these.
    pub fn has(self, line: u32) -> bool {
        self.first <= line && line <= self.last
    }
}

/// Where something lies in its file: bytes from 0, the first behind it last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes {
    /// The first.
    pub first: u32,
    /// The first that is no longer part of it.
    pub end: u32,
}

impl Bytes {
    /// Whether a byte is one of these.
    pub fn has(self, at: u32) -> bool {
        self.first <= at && at < self.end
    }
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its path as it was given.
    pub path: Text,
    /// What it is written in.
    pub language: Language,
    /// How many lines it has.
    pub lines: u32,
    /// How many parts of it the grammar does not know; what lies in them may be missing or cut.
    pub unclear: u32,
    /// The line of the first such part; 0 = there is none.
    pub first_unclear: u32,
}

/// What kind of function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FunctionKind {
    /// A function that belongs to no object.
    Function,
    /// One that is called on an object.
    Method,
    /// One that makes an object.
    Constructor,
    /// One that ends an object.
    Destructor,
    /// A subroutine of Fortran.
    Subroutine,
    /// The main program of Fortran.
    Program,
}

/// What an author wrote beside a function or a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "each is the word of the language")]
pub enum Attribute {
    Inline,
    Static,
    Virtual,
    Pure,
    Override,
    Final,
    Const,
    Explicit,
    Deleted,
    Defaulted,
    Async,
    Unsafe,
    Recursive,
    Elemental,
    Deferred,
    Abstract,
}

/// All that can be written.
const ATTRIBUTES: [(Attribute, &str); 16] = [
    (Attribute::Inline, "inline"),
    (Attribute::Static, "static"),
    (Attribute::Virtual, "virtual"),
    (Attribute::Pure, "pure"),
    (Attribute::Override, "override"),
    (Attribute::Final, "final"),
    (Attribute::Const, "const"),
    (Attribute::Explicit, "explicit"),
    (Attribute::Deleted, "deleted"),
    (Attribute::Defaulted, "defaulted"),
    (Attribute::Async, "async"),
    (Attribute::Unsafe, "unsafe"),
    (Attribute::Recursive, "recursive"),
    (Attribute::Elemental, "elemental"),
    (Attribute::Deferred, "deferred"),
    (Attribute::Abstract, "abstract"),
];

/// A set of [`Attribute`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attributes(u16);

impl Attributes {
    /// Whether one of them was written.
    pub fn has(self, attribute: Attribute) -> bool {
        self.0 & (1 << attribute as u8) != 0
    }

    /// Their words, in a fixed order.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        ATTRIBUTES.iter().filter(move |(attribute, _)| self.has(*attribute)).map(|(_, word)| *word)
    }

    pub(super) fn add(&mut self, attribute: Attribute) {
        self.0 |= 1 << attribute as u8;
    }

    /// Adds what a word stands for; other words are none of ours.
    pub(super) fn add_word(&mut self, word: &str) {
        let known = ATTRIBUTES.iter().find(|(_, known)| known.eq_ignore_ascii_case(word));
        if let Some((attribute, _)) = known {
            self.add(*attribute);
        }
    }
}

/// A function or method that is defined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// With the namespaces, modules, types and functions that it lies in.
    pub name: Text,
    /// What kind.
    pub kind: FunctionKind,
    /// Number in [`Sources::files`](super::Sources::files).
    pub file: u32,
    /// The line of its name.
    pub line: u32,
    /// From its first word to its last.
    pub lines: Lines,
    /// The same in bytes.
    pub bytes: Bytes,
    /// In C, C++ and Rust: what stands within its braces, behind what must stand first there; `None` = it has none of its
    /// own, as what a macro has made look like a function.
    pub body: Option<Bytes>,
    /// Number of the type whose method it is, where that is known.
    pub of: Option<u32>,
    /// Who can name it.
    pub access: Access,
    /// What is written beside it.
    pub attributes: Attributes,
}

/// What kind of type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TypeKind {
    /// A class of C++.
    Class,
    /// A structure of C, C++ or Rust.
    Struct,
    /// A union.
    Union,
    /// An enumeration.
    Enum,
    /// A trait of Rust.
    Trait,
    /// A derived type of Fortran.
    Derived,
    /// An interface of Fortran that has a name.
    Interface,
}

/// A type that is defined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Type {
    /// With the namespaces, modules or types that it lies in.
    pub name: Text,
    /// What kind.
    pub kind: TypeKind,
    /// Number in [`Sources::files`](super::Sources::files).
    pub file: u32,
    /// The line of its name.
    pub line: u32,
    /// From its first word to its last.
    pub lines: Lines,
}

/// A member of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Number of the type.
    pub of: u32,
    /// Its name in the type.
    pub name: Text,
    /// What it is.
    pub kind: MemberKind,
    /// Who can name it.
    pub access: Access,
    /// What is written beside it.
    pub attributes: Attributes,
    /// The type of a field, as written; empty = not told.
    pub type_name: Text,
    /// The file of the type's definition, or of the method's.
    pub file: u32,
    /// The line of its name.
    pub line: u32,
    /// Number of the function of a method, where it is defined in what was read.
    pub function: Option<u32>,
}

/// How a type stands to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BaseKind {
    /// Is derived from it, extends it, or demands it (a trait of Rust).
    Derived,
    /// Is a trait of Rust for it.
    Implements,
}

/// A type, and what it is derived from or implements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// The type, as written.
    pub derived_name: Text,
    /// Its number, where it is one of those that were read and no other has the name.
    pub derived: Option<u32>,
    /// The other, as written.
    pub base_name: Text,
    /// Its number.
    pub base: Option<u32>,
    /// How one stands to the other.
    pub kind: BaseKind,
    /// Who knows that.
    pub access: Access,
    /// Whether all that are derived share one.
    pub is_virtual: bool,
    /// Number in [`Sources::files`](super::Sources::files).
    pub file: u32,
    /// Where it says so.
    pub line: u32,
}

/// What kind of loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LoopKind {
    /// `for (;;)`.
    For,
    /// `for (x : range)`, or any `for` of Rust.
    ForEach,
    /// `while`, `do while` of Fortran.
    While,
    /// `do … while`.
    DoWhile,
    /// `do i = 1, n`.
    Do,
    /// `do concurrent`.
    DoConcurrent,
    /// `do` or `loop` without an end of its own.
    Endless,
    /// `forall`.
    Forall,
    /// `where`.
    Where,
    /// A method that goes over all items, such as `for_each`.
    Iterator,
}

/// A loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loop {
    /// What kind.
    pub kind: LoopKind,
    /// Number in [`Sources::files`](super::Sources::files).
    pub file: u32,
    /// From its first word to its last.
    pub lines: Lines,
    /// In C, C++ and Rust, if it is a statement or an expression of the language: the same in bytes.
    pub bytes: Option<Bytes>,
    /// How many loops it lies in, itself among them.
    pub depth: u32,
    /// Number of the loop around it.
    pub parent: Option<u32>,
    /// Number of the function that it lies in.
    pub function: Option<u32>,
}

/// A call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The callee as written, without arguments of templates; empty where an expression says who is called.
    pub name: Text,
    /// How it is named.
    pub kind: CallKind,
    /// Number in [`Sources::files`](super::Sources::files).
    pub file: u32,
    /// The line of the callee's name.
    pub line: u32,
    /// Number of the function that it lies in.
    pub caller: Option<u32>,
    /// Number of the innermost loop around it.
    pub within: Option<u32>,
}

/// How a callee is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallKind {
    /// By its name.
    Direct,
    /// By the name of a member; which function that is, the object says.
    Member,
    /// By the name of a macro, of Rust.
    Macro,
    /// By an expression: nobody knows before the program runs.
    Unknown,
}

/// What a construct is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Model {
    /// OpenMP.
    OpenMp,
    /// OpenACC.
    OpenAcc,
    /// MPI.
    Mpi,
    /// OpenSHMEM.
    Shmem,
    /// Coarrays of Fortran.
    Coarray,
    /// POSIX threads.
    Pthread,
    /// Threads of the standard library of the language.
    Thread,
    /// Execution policies of C++.
    Std,
    /// Rayon.
    Rayon,
    /// Tokio.
    Tokio,
    /// Threading Building Blocks.
    Tbb,
    /// Kokkos.
    Kokkos,
}

/// A place that says how a function or a loop can be entered or left, for who puts code into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// What stands there.
    pub kind: MarkKind,
    /// Number in [`Sources::files`](super::Sources::files).
    pub file: u32,
    /// Its first byte.
    pub at: u32,
    /// Its line.
    pub line: u32,
}

/// What a [`Mark`] is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarkKind {
    /// A label of C or C++.
    Label(Text),
    /// A jump to a label.
    Jump(Text),
    /// A `case` or `default` of C or C++, with the first byte of its `switch`.
    Case(u32),
    /// The function may go on later, and on another thread: `await`, `co_await` and their like.
    Pause,
    /// What runs in the compiler of Rust, though it stands in a function: a constant, a static place, the length of an
    /// array; with the first byte behind it.
    Constant(u32),
    /// A function of Rust in what is given to a macro, by its name.
    InMacro(Text),
    /// A function of Rust in the definition of a macro, by its name.
    InPattern(Text),
}

/// A place where the text says that something is done in parallel, or who does it with others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Construct {
    /// What it is part of.
    pub model: Model,
    /// The directive, or the name of what is called.
    pub text: Text,
    /// Number in [`Sources::files`](super::Sources::files).
    pub file: u32,
    /// The construct with the region that it governs.
    pub lines: Lines,
    /// Number of the function that it lies in.
    pub function: Option<u32>,
    /// Number of the innermost loop around it.
    pub within: Option<u32>,
}

/// A reference to elements of a coarray by the image that has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The array, with components (`field%values`), in small letters.
    pub array: Text,
    /// The reference as written, on one line.
    pub text: Text,
    /// What says which image.
    pub image: Text,
    /// Whether it takes values; one that is given to a procedure may take and give.
    pub reads: bool,
    /// Whether it gives values.
    pub writes: bool,
    /// Number in [`Sources::files`](super::Sources::files).
    pub file: u32,
    /// Its line.
    pub line: u32,
    /// Number of the function that it lies in.
    pub function: Option<u32>,
    /// Number of the innermost loop around it.
    pub within: Option<u32>,
    /// Number of the innermost loop whose variable says which elements; `None` = the same in each iteration, as far as
    /// the text shows.
    pub moved_by: Option<u32>,
    /// Number of the innermost loop whose variable says which image.
    pub turned_by: Option<u32>,
    /// How many subscripts it has, those of all its components.
    pub subscripts: u32,
    /// The expressions that say which elements, and which image, in the order of the text.
    pub symbols: Vec<Symbol>,
    /// Where its elements are written or read in the same procedure, the nearest first; eight at most.
    pub dependences: Vec<Dependence>,
}

/// What an expression of a reference says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SymbolEnd {
    /// The one subscript of a dimension.
    Subscript,
    /// The first of a section.
    Lower,
    /// Where it ends at the latest.
    Upper,
    /// The distance of one from the next.
    Step,
    /// Which image.
    Image,
}

/// An expression whose value says which elements a reference means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// What it says.
    pub end: SymbolEnd,
    /// Of which subscript, from 0; of the image 0.
    pub subscript: u32,
    /// The expression as written.
    pub text: Text,
    /// Its value, if the text says that.
    pub value: Option<i64>,
}

/// The other end of a reference to another image: what is written at one is read at the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependence {
    /// Whether the reference is where they are read; else it is where they are written.
    pub is_sink: bool,
    /// The other end as written.
    pub other: Text,
    /// Its line.
    pub line: u32,
    /// Number of the loop of which a later iteration reads; `None` = the same iteration of all loops around both.
    pub carried: Option<u32>,
    /// How many iterations later; `None` = the text does not say, or no loop carries it.
    pub distance: Option<i64>,
}
