//! What `marey source` takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::at_least_one;

/// `marey source`
#[derive(Debug, Args)]
#[command(
    about = "Show what a program consists of, without running it",
    long_about = "Show what a program consists of, without running it.\n\n\
        Two witnesses are asked. The binary: debug information tells functions, types with their members and bases, and \
        which calls the compiler has replaced by what they call; machine code tells who calls whom (on x86-64). Without \
        debug information (-g) functions are the symbols of the file. The text: sources in C, C++, Fortran and Rust, \
        which are read where the binary says that they are, or given by themselves, tell where functions end, loops and \
        their nests, constructs of OpenMP, OpenACC, MPI, coarrays, threads and the like, references to coarrays of other \
        images with what they depend on, and calls as they are written. \
        What both tell is one row. A call through a pointer or of a virtual function has no callee: where it leads is \
        only known when the program runs.\n\n\
        Of a run the loops that its call stacks lead through are told, with what they cost: processor time by samples, calls of \
        libraries that were made from within, their time, data and waiting. Sources are read where debug information says \
        that they are.\n\n\
        With --code a function's machine code is told (x86-64), as gdb and objdump write it: each instruction with the line that it \
        was made of, the function that was inlined there, and the function that it leads to. Of a run the programs and \
        libraries are asked that ran, if they are still there, else what the run kept (`marey record --embed-code`), and samples stand at the very instruction that came next when they \
        were taken.",
    after_long_help = "EXAMPLES\n  \
        marey source ./app                        an overview, and the largest functions\n  \
        marey source src/                         the same of sources, without a program\n  \
        marey source ./app --list types           all types, with what they are derived from\n  \
        marey source ./app --list loops           all loops and what lies in them\n  \
        marey source solver.f90 --list references what is asked of other images, and why\n  \
        marey source run.marey                    which loops took the time of a run\n  \
        marey source ./app --of solver::step      where a function is, whom it calls, and who calls it\n  \
        marey source ./app --of Solver            the members of a type\n  \
        marey source ./app --code solver::step    its machine code, instruction by instruction\n  \
        marey source run.marey --code step        the same, with the samples of each instruction\n  \
        marey source libsolver.so --json | jq '.functions | length'\n\n\
        JSON\n  \
        has_debug_information, has_calls, problems[], files[], texts[{file, language, lines, unclear, \
        first_unclear|null}], functions[{name, linkage, known_to, file|null, line|null, first_line|null, \
        last_line|null, kind|null, attributes[], type|null, external|null, inline, code_bytes, entries[]}], \
        types[{name, known_to, kind, file|null, line|null, last_line|null, bytes|null, members[{name, kind, access, \
        virtual, inline, type, file|null, line|null, function|null}], bases[{type|null, name, kind, access, virtual}]}], \
        calls[{caller|null, callee|null, name|null, kind, known_to, file|null, line|null, times, loop|null}], \
        loops[{kind, file, first_line, last_line, depth, loop|null, function|null}], constructs[{model, text, file, \
        first_line, last_line, function|null, loop|null}], references[{array, text, image, does, file, line, function|null, \
        loop|null, moved_by|null, turned_by|null, subscripts, symbols[{end, subscript, text, value|null}], ends[{end, text, line, carried_by|null, iterations|null}]}]. Files, functions, types and loops are numbered from 0 in \
        their lists, and so are file, type, function, caller, callee and loop. known_to is binary, text or both. In \
        calls name is that of a callee that debug information does not know; both are null where nobody knows who is \
        called. times is how many such calls there are in the machine code. References are to elements that other images have: \
        moved_by is the loop whose variable says which elements, turned_by that which says which image; ends are where the \
        elements are written or read in the same procedure, carried_by the loop of which a later iteration (iterations later) \
        reads them. Addresses are those of the file.\n  \
        Of a run: processor_ns, samples, missing[], newer|null, loops[{kind, file, first_line, last_line, depth, \
        function|null, processor_ns, samples, own_ns, own_samples, calls, calls_ns, bytes, waiting_ns|null}], the most \
        processor time first. Times are sums over all locations.\n  \
        With --code: processor_ns|null, samples|null, problems[], left_out, codes[{name, linkage, module, address, code_bytes, \
        left_out_bytes, instructions[{address, bytes, text, leads_to|null, file|null, line|null, inlined[], own_ns|null, \
        own_samples|null, processor_ns|null, samples|null}]}]. Parts of a function that lie apart are codes of one name; \
        left_out is how many more have it. bytes is the length of an instruction, inlined the functions that were inlined \
        there, the innermost first. Without a run nothing is known of samples; own is what was taken at the instruction itself, \
        the others also what was called from there."
)]
pub(crate) struct SourceArgs {
    /// An executable, a shared library, a source, a directory of sources, or a run
    #[arg(value_name = "FILE|DIR|RUN")]
    pub(crate) file: PathBuf,

    /// Show one list, all of it unless --top says otherwise
    #[arg(long, value_name = "WHAT", value_enum, conflicts_with = "of")]
    pub(crate) list: Option<SourceList>,

    /// Show functions and types of this name; `step` is also found in `solver::step`
    #[arg(long, value_name = "NAME")]
    pub(crate) of: Option<String>,

    /// Show a function's machine code, each instruction with its line; of a run with its samples, too
    #[arg(long, value_name = "NAME", conflicts_with_all = ["list", "of"])]
    pub(crate) code: Option<String>,

    /// Print JSON for other programs
    #[arg(long, conflicts_with_all = ["list", "of"])]
    pub(crate) json: bool,

    /// Rows a table shows at most; 20 unless a list is asked for
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) top: Option<u32>,

    /// Never use colour
    ///
    /// Colour is used on a terminal only, and not if NO_COLOR is set.
    #[arg(long)]
    pub(crate) no_color: bool,
}

/// A list of `marey source`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SourceList {
    /// Functions, those with the most code first
    Functions,
    /// Types and what they are derived from, by name
    Types,
    /// Sources, those with the most code first
    Files,
    /// Loops and what lies in them, in the order of the text
    Loops,
    /// Constructs of parallel programming models, in the order of the text
    Constructs,
    /// References to elements that other images of coarray Fortran have, and where those are written or read
    References,
    /// Calls of the binary, then those that only the text knows
    Calls,
}
