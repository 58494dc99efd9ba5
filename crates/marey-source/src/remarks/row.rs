//! One remark of a compiler, whichever it is.

/// Who made a remark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Compiler {
    /// gcc, g++ or gfortran.
    Gcc,
    /// Clang, or another compiler on LLVM.
    Clang,
    /// rustc.
    Rustc,
}

impl Compiler {
    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gcc => "GCC",
            Self::Clang => "Clang",
            Self::Rustc => "rustc",
        }
    }
}

/// What a remark says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RemarkKind {
    /// The loop was vectorised.
    Vectorised,
    /// It was not.
    NotVectorised,
    /// Some statements were put into vectors, the loop around them was not.
    Statements,
    /// The loop became a call of the library, such as `memset`.
    Replaced,
    /// A call became the code of what it calls.
    Inlined,
    /// It did not.
    NotInlined,
}

/// In what way an iteration needs another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DependenceKind {
    /// What one iteration writes into memory a later one reads or writes.
    Carried,
    /// A value goes from one iteration to the next.
    Value,
    /// The compiler cannot tell whether two places in memory are one.
    Unknown,
}

impl DependenceKind {
    /// Its word in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Carried => "carried",
            Self::Value => "value",
            Self::Unknown => "unknown",
        }
    }

    /// That of a word.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Carried, Self::Value, Self::Unknown].into_iter().find(|it| it.name() == name)
    }
}

/// What keeps iterations in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dependence {
    /// In what way.
    pub kind: DependenceKind,
    /// How many iterations lie between the two; `None` = the compiler does not say.
    pub distance: Option<i64>,
}

/// Where code was put that another function's author wrote.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// The function that it was put into.
    pub function: String,
    /// The source of the call; empty = not told.
    pub file: String,
    /// Its line.
    pub line: u32,
    /// Its column.
    pub column: u32,
}

/// What a compiler said of a place in the source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Remark {
    /// Who said it.
    pub compiler: Compiler,
    /// The source, as the compiler names it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1; 0 = not told.
    pub column: u32,
    /// The function in which the author wrote it; empty = not told.
    pub function: String,
    /// The part of the compiler that says it.
    pub pass: String,
    /// What.
    pub kind: RemarkKind,
    /// Why, in plain words; empty where there is nothing to explain.
    pub reason: String,
    /// The compiler's own words.
    pub said: String,
    /// What keeps iterations in order.
    pub dependence: Option<Dependence>,
    /// Arrays between which that is, where the compiler names them.
    pub arrays: Vec<String>,
    /// Elements in the widest vector that the compiler has for the loop; 0 = not told.
    pub lanes: u32,
    /// Who is called, of calls.
    pub callee: String,
    /// What it was put into, the innermost first; empty = it is where it was written.
    pub chain: Vec<Site>,
}
