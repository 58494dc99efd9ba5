//! Tables of what the program consists of: files, functions, types, loops, calls, as its binary and its sources tell them.
//!
//! The one idea: rows of the program database (`docs/source.md`) as they were when the run was merged, so that who looks at
//! the run needs neither the binary nor the sources. They are made when all else is there: a run without them is whole.

use super::{ColumnSpec, Layout, TableSpec, i64, text, u32};

/// Version of the definitions that these tables follow.
pub const SOURCE_VERSION: u32 = 1;

const fn source(name: &'static str, doc: &'static str, columns: &'static [ColumnSpec]) -> TableSpec {
    TableSpec { name, doc, columns, layout: Layout::Single, times: &[] }
}

const KNOWN_TO: &str = "Who tells of it: `binary`, `text` (the source) or `both`.";
const FILE: &str = "Where it stands; 4294967295 = unknown.";
const LINE: &str = "The line; 0 = unknown.";
const FIRST: &str = "Its first line.";
const LAST: &str = "Its last line.";
const FUNCTION: &str = "The function that it lies in; 4294967295 = none.";
const LOOP: &str = "The innermost loop around it; 4294967295 = none.";

/// Modules of which the rows of the other tables are.
pub static SOURCE_MODULES: TableSpec = source(
    "source_modules",
    "Modules of the user's that call stacks lead through: the tables behind this one say what they consist of \
     (`docs/source.md`). Libraries of the system are left out. Archives of before version 10 have none of these tables.",
    &[
        u32("module", "modules.id", "The module."),
        u32(
            "version",
            "",
            "Version of the definitions that were followed; rows of another one are passed over.",
        ),
        u32("has_debug_information", "", "1 = there was; 0 = functions are the symbols of the file."),
        u32("has_calls", "", "1 = calls were read from its machine code."),
        text("problem", "The first reason why something is missing, in words; empty = nothing is."),
    ],
);

/// Sources.
pub static SOURCE_FILES: TableSpec = source(
    "source_files",
    "Sources that modules of the user's were made of.",
    &[
        u32("id", "id", "The file."),
        text("path", "Its path, as the compiler wrote it."),
        text(
            "state",
            "`read`; `newer`: it was changed after the module was made, so it was not read; `missing`: it could not be \
             read; `left out`: it lies where systems and compilers keep theirs.",
        ),
        text("language", "What it is written in; empty = it was not read."),
        u32("lines", "", "How many lines it has; 0 = it was not read."),
        u32("unclear", "", "How many parts of it could not be parsed."),
        u32("system", "", "1 = it lies where systems and compilers keep theirs; 0 = it is the user's."),
    ],
);

/// Functions.
pub static SOURCE_FUNCTIONS: TableSpec = source(
    "source_functions",
    "Functions and methods, instances of a template each by itself.",
    &[
        u32("id", "id", "The function."),
        u32("module", "modules.id", "The module."),
        text("name", "With the namespaces, modules or types that it lies in."),
        text("known_to", KNOWN_TO),
        text("kind", "`function`, `method`, `constructor` …; empty = no source tells it."),
        text("attributes", "What its author wrote beside it: `inline`, `virtual` …, separated by commas."),
        u32("type", "source_types.id", "The type whose method it is; 4294967295 = none."),
        u32("file", "source_files.id", FILE),
        u32("line", "", LINE),
        u32("first", "", "Its first line; 0 = unknown."),
        u32("last", "", "Its last line; 0 = unknown."),
        u32("inline", "", "1 = the compiler was asked to put it into its callers."),
        i64("code", "bytes", "Of its code, without what was inlined elsewhere; 0 = there is none."),
    ],
);

/// Types.
pub static SOURCE_TYPES: TableSpec = source(
    "source_types",
    "Types that authors made.",
    &[
        u32("id", "id", "The type."),
        u32("module", "modules.id", "The module."),
        text("name", "With the namespaces, modules or types that it lies in."),
        text("known_to", KNOWN_TO),
        text("kind", "`class`, `struct`, `union`, `enum`, `trait`, `derived type` or `interface`."),
        u32("file", "source_files.id", FILE),
        u32("line", "", LINE),
        u32("last", "", "Its last line; 0 = unknown."),
        i64("size", "bytes", "Of one; −1 = unknown."),
    ],
);

/// Members of types.
pub static SOURCE_MEMBERS: TableSpec = source(
    "source_members",
    "Members of types, in the order in which they stand.",
    &[
        u32("type", "source_types.id", "The type."),
        text("name", "Its name in the type."),
        text(
            "kind",
            "`field`, `static field`, `value`, `method`, `operator`, `constructor` or `destructor`.",
        ),
        text("access", "`public`, `protected` or `private`."),
        u32("virtual", "", "1 = derived types can replace it."),
        u32("inline", "", "1 = the compiler was asked to put it into its callers."),
        text("of_type", "The type of a field, or what a method returns; empty = nothing, or not told."),
        u32("file", "source_files.id", FILE),
        u32("line", "", LINE),
        u32("function", "source_functions.id", "The method's function; 4294967295 = none."),
    ],
);

/// Bases of types.
pub static SOURCE_BASES: TableSpec = source(
    "source_bases",
    "What types are derived from or implement.",
    &[
        u32("type", "source_types.id", "The type that is derived."),
        u32(
            "base",
            "source_types.id",
            "What it is derived from; 4294967295 = a type that is not among these.",
        ),
        text("name", "The name of that."),
        text("kind", "`base` or `implements`."),
        text("access", "`public`, `protected` or `private`."),
        u32("virtual", "", "1 = all that are derived share one."),
    ],
);

/// Loops.
pub static SOURCE_LOOPS: TableSpec = source(
    "source_loops",
    "Loops as sources have them; what lies in another one stands behind it.",
    &[
        u32("id", "id", "The loop."),
        text("kind", "`for`, `while`, `do` …"),
        u32("file", "source_files.id", FILE),
        u32("first", "", FIRST),
        u32("last", "", LAST),
        u32("depth", "", "How many loops it lies in, itself among them."),
        u32("parent", "source_loops.id", "The loop around it; 4294967295 = none."),
        u32("function", "source_functions.id", FUNCTION),
    ],
);

/// Constructs of parallel programming models.
pub static SOURCE_CONSTRUCTS: TableSpec = source(
    "source_constructs",
    "Where sources say that something is done in parallel, or with others.",
    &[
        text("model", "`MPI`, `OpenMP` …"),
        text("text", "The directive, or the name of what is called."),
        u32("file", "source_files.id", FILE),
        u32("first", "", FIRST),
        u32("last", "", "The last line of what it governs."),
        u32("function", "source_functions.id", FUNCTION),
        u32("loop", "source_loops.id", LOOP),
    ],
);

/// References to elements that other images have.
pub static SOURCE_REFERENCES: TableSpec = source(
    "source_references",
    "Where sources refer to elements of a coarray by the image that has them, in the order in which they stand.",
    &[
        u32("id", "id", "The reference."),
        text("array", "The array, with components (`field%values`), in small letters."),
        text("text", "The reference as written, on one line."),
        text("image", "What says which image."),
        text("does", "`read`, `write`, or `either` where it is given to a procedure."),
        u32("file", "source_files.id", FILE),
        u32("line", "", LINE),
        u32("function", "source_functions.id", FUNCTION),
        u32("loop", "source_loops.id", LOOP),
        u32(
            "moved_by",
            "source_loops.id",
            "The innermost loop whose variable says which elements; 4294967295 = the same in each iteration, as far as \
             the text shows.",
        ),
        u32(
            "turned_by",
            "source_loops.id",
            "The innermost loop whose variable says which image; 4294967295 = none.",
        ),
    ],
);

/// What stands at the other ends of references to other images.
pub static SOURCE_DEPENDENCES: TableSpec = source(
    "source_dependences",
    "Where elements that a reference to another image reads are written, and where those that it writes are read, in the \
     same procedure; the nearest first. What the text does not decide is told as a dependence that may be.",
    &[
        u32("reference", "source_references.id", "The reference."),
        text("end", "What the other end does: `written` or `read`."),
        text("text", "The other end as written."),
        u32("line", "", "Its line."),
        u32(
            "carried",
            "source_loops.id",
            "The loop of which a later iteration reads; 4294967295 = the same iteration of all loops around both.",
        ),
        i64("distance", "", "How many iterations later; 0 = the text does not say, or no loop carries it."),
    ],
);

/// Expressions of references to other images.
pub static SOURCE_SYMBOLS: TableSpec = source(
    "source_symbols",
    "The expressions that say which elements, and which image, a reference to another image means.",
    &[
        u32("id", "id", "The expression."),
        u32("reference", "source_references.id", "The reference."),
        u32("subscripts", "", "How many subscripts the reference has, those of all its components."),
        text(
            "end",
            "What it says: `subscript` of one element, `lower`, `upper` or `step` of a section, or the `image`.",
        ),
        u32("subscript", "", "Of which subscript, from 0; of the image 0."),
        text("text", "The expression as written, on one line."),
        text(
            "value",
            "What it is worth, where the text says so: a number, or made of named constants; empty = that it is not \
             known from the text, so that `symbols` tells.",
        ),
    ],
);

/// What those were worth when the program ran.
pub static SYMBOLS: TableSpec = source(
    "symbols",
    "What expressions of `source_symbols` were worth when the program ran: a row whenever that changed, for each location \
     the first 32 of each. Only of expressions whose value the text does not say, from accesses of which it is certain \
     which reference of a line made them. Subscripts are counted as the array was made, images as the first team has \
     them.",
    &[
        u32("symbol", "source_symbols.id", "The expression."),
        u32("location", "locations.id", "Who made the accesses."),
        i64("from", "ns", "Enter of the first access with this value."),
        i64("least", "", "The value; the least where later values are one row."),
        i64("greatest", "", "The same; the greatest where later values are one row."),
        i64(
            "changes",
            "",
            "How often it was worth something else than before; 1 but where later values are one row.",
        ),
        i64("accesses", "", "How many accesses had it."),
    ],
);

/// Calls.
pub static SOURCE_CALLS: TableSpec = source(
    "source_calls",
    "Lines that call functions.",
    &[
        u32("caller", "source_functions.id", "Who calls; 4294967295 = unknown."),
        u32(
            "callee",
            "source_functions.id",
            "Who is called; 4294967295 = none of these functions, or unknown.",
        ),
        text("name", "Its name, if it is none of these; empty = what an address says when the program runs."),
        text(
            "kind",
            "Of the binary `called` or `inlined`; of the text `by name`, `by member`, `by macro` or `by expression`.",
        ),
        text("known_to", KNOWN_TO),
        u32("file", "source_files.id", FILE),
        u32("line", "", LINE),
        u32("times", "", "How many such there are in the machine code; 1 of the text."),
        u32("loop", "source_loops.id", LOOP),
    ],
);

/// The text of sources.
pub static SOURCE_TEXTS: TableSpec = source(
    "source_texts",
    "The text of sources, where `--embed-sources` asked for it; a redacted copy never has it.",
    &[u32("file", "source_files.id", "The file."), text("text", "All of it.")],
);

/// Stretches of machine code.
pub static SOURCE_CODES: TableSpec = source(
    "source_codes",
    "Machine code of functions of the user's that call stacks lead through, where `--embed-code` asked for it, those with most \
     samples first; a redacted copy never has it. A part of a function that lies elsewhere is a row of its own.",
    &[
        u32("id", "id", "The stretch of code."),
        u32("module", "modules.id", "The module."),
        text("name", "The function; `.cold` behind it is a part that hardly ever runs."),
        i64("vaddr", "", "Virtual address of its first byte within the module as linked."),
        i64("size", "bytes", "Of it."),
        i64(
            "left_out",
            "bytes",
            "Of it at the end that are not in `source_instructions`, for there were too many.",
        ),
    ],
);

/// Instructions.
pub static SOURCE_INSTRUCTIONS: TableSpec = source(
    "source_instructions",
    "The instructions of `source_codes`, in the order of their addresses.",
    &[
        u32("code", "source_codes.id", "The stretch of code that it belongs to."),
        i64("vaddr", "", "Virtual address of its first byte within the module as linked."),
        u32("size", "bytes", "Of it."),
        text("text", "The instruction as assemblers write it (AT&T); `(bad)` = none."),
        text(
            "leads_to",
            "The function that it calls or jumps to, if that is another one; empty = none, or not known.",
        ),
        u32("file", "source_files.id", "The source that it was made of; 4294967295 = unknown."),
        u32("line", "", LINE),
        text("inlined", "The function that was inlined there, the innermost; empty = none."),
    ],
);
