//! What a database holds.
//!
//! The one idea: rows that refer to each other by number, with every name in one list, so that a program of a million lines
//! is a few vectors.

pub use crate::texts::Text;

/// A place in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Number in [`Database::files`](super::Database::files).
    pub file: u32,
    /// From 1; 0 = somewhere in the file.
    pub line: u32,
}

/// A function or method; an instance of a template is one of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// With the namespaces, modules or types that it lies in.
    pub name: Text,
    /// As linkers know it; empty where that is not said.
    pub linkage: Text,
    /// Where it is defined; where it is declared if no definition is known.
    pub place: Option<Place>,
    /// Number of the type whose method it is.
    pub of: Option<u32>,
    /// Whether other compilation units can name it.
    pub is_external: bool,
    /// Whether the compiler was asked to put it into its callers.
    pub is_inline: bool,
    /// Where its code begins in the file, in ascending order; empty where all of it went into its callers.
    pub entries: Vec<u64>,
    /// Bytes of its code, without what it was put into.
    pub code_bytes: u64,
}

/// What kind of type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TypeKind {
    /// A class of C++.
    Class,
    /// A structure, or a derived type of Fortran.
    Struct,
    /// A union.
    Union,
    /// An enumeration.
    Enum,
    /// A derived type of Fortran.
    Derived,
}

/// A type that the author made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Type {
    /// With the namespaces, modules or types that it lies in.
    pub name: Text,
    /// What kind.
    pub kind: TypeKind,
    /// Where it is defined.
    pub place: Option<Place>,
    /// Its size; `None` = it is only declared, or its size is not fixed.
    pub bytes: Option<u64>,
}

/// Who can name a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Everybody.
    Public,
    /// Types that are derived.
    Protected,
    /// The type alone.
    Private,
}

/// What a member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemberKind {
    /// A value in each object.
    Field,
    /// A value that all objects share.
    StaticField,
    /// A value of an enumeration.
    Value,
    /// A function that is called on an object or on the type.
    Method,
    /// One that is called by an operator.
    Operator,
    /// One that makes an object.
    Constructor,
    /// One that ends an object.
    Destructor,
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
    /// Whether derived types can replace it.
    pub is_virtual: bool,
    /// Whether the compiler was asked to put it into its callers.
    pub is_inline: bool,
    /// The type of a field, or what a method returns; empty = nothing.
    pub type_name: Text,
    /// Where it stands.
    pub place: Option<Place>,
    /// Number of the function of a method, where it has code.
    pub function: Option<u32>,
}

/// A type that another one is derived from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Base {
    /// Number of the type that is derived.
    pub derived: u32,
    /// Number of the type that it is derived from.
    pub base: u32,
    /// Who knows that.
    pub access: Access,
    /// Whether all that are derived share one.
    pub is_virtual: bool,
}

/// Who is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Callee {
    /// A function that debug information describes.
    Function(u32),
    /// One that it does not, by the name that linkers know.
    Named(Text),
    /// Whichever an address leads to that is found when the program runs.
    Unknown,
}

/// How a call is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallKind {
    /// By an instruction.
    Called,
    /// The compiler has put the callee there.
    Inlined,
}

/// A line that calls a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call {
    /// Number of the function that the line belongs to, as the author wrote it.
    pub caller: u32,
    /// Who is called.
    pub callee: Callee,
    /// How.
    pub kind: CallKind,
    /// The line; `None` = no line table tells it.
    pub place: Option<Place>,
    /// How many such there are in the machine code.
    pub times: u32,
}
