//! The command that puts guards into a copy of a source tree: `instrument`.

use std::path::PathBuf;

use clap::Args;

/// `marey instrument`
#[derive(Debug, Args)]
#[command(
    about = "Copy a source tree with its functions instrumented",
    long_about = "Copy a source tree with its functions instrumented.\n\n\
        In COPY every function of C, C++ and Rust that has a body, or those that rules choose, has a guard behind its opening \
        brace: when it is entered and left, `marey record` hears of it. Lines stay as they are. Build COPY as you build SRC; \
        the program needs no library for it, and does what it did. Run alone it records nothing.\n\n\
        SRC is never written to. Links that lead out of it lead to the same place from COPY. Left out are .git, .hg and .svn, \
        what cargo and CMake have built, and objects. Manifests of cargo get a dependency on a small crate that lies in COPY; \
        no other file of a build is changed.",
    after_long_help = "EXAMPLES\n  \
        marey instrument src -o copy                  all functions\n  \
        marey instrument . --list                     which those are, and which cannot be and why\n  \
        marey instrument . -o ../copy --rule 'off *' --rule 'trace solver::*'\n  \
        marey instrument . -o ../copy --rule 'trace loops:solver::step'    and the loops of that function\n  \
        cd ../copy && make && marey record -- mpirun -n 4 ./app\n\n\
        RULES\n  \
        off    *                     no guard\n  \
        trace  solver::*             a guard; so do count and time\n  \
        off    file:*/io/*           functions of a source file\n  \
        trace  loops:solver::step    a guard around each visit of a loop of these functions; without such a rule loops have \
        none\n  \
        The last rule that fits counts; what none fits has a guard. The same file is for `marey record --filter`, which \
        follows count and time; a rule there can leave out what has a guard, and not bring back what has none. A function \
        of Rust is called by crate, modules, type and name; a loop solver::step:loop at FILE:LINE.\n\n\
        NOT INSTRUMENTED, and listed\n  \
        const and constexpr functions, async functions and coroutines, functions within macros, inline functions of C that \
        are not static, allocators, code for other devices, Fortran (compile it with -finstrument-functions), build \
        scripts, crates of procedural macros, vendored crates with checksums. Closures and lambdas belong to the functions \
        that they stand in.\n\n\
        JSON\n  \
        source, copy|null, guards, files[{path, language, guards}], functions[{name, file, line, guard, reason|null}], \
        loops[{name, file, line, guard, reason|null}], left_out[{path, reason}], problems[]. file is a path in SRC; reason \
        says why there is no guard."
)]
pub(crate) struct InstrumentArgs {
    /// A directory of sources, or one source
    #[arg(value_name = "SRC")]
    pub(crate) source: PathBuf,

    /// Directory to write the copy to
    #[arg(short, long, value_name = "COPY", required_unless_present = "list")]
    pub(crate) output: Option<PathBuf>,

    /// Choose functions and loops as FILE says, a rule a line
    #[arg(long, value_name = "FILE")]
    pub(crate) filter: Option<PathBuf>,

    /// Choose functions and loops as RULE says: `off file:*/io/*`
    ///
    /// May be given several times; such rules count before those of --filter.
    #[arg(long, value_name = "RULE")]
    pub(crate) rule: Vec<String>,

    /// Only list what would be instrumented, and what would not and why
    #[arg(long, conflicts_with_all = ["output", "force"])]
    pub(crate) list: bool,

    /// Write into COPY even if there is something in it
    ///
    /// Files of the same names are replaced, others stay.
    #[arg(long)]
    pub(crate) force: bool,

    /// Print JSON for other programs
    #[arg(long)]
    pub(crate) json: bool,

    /// Never use colour
    ///
    /// Colour is used on a terminal only, and not if NO_COLOR is set.
    #[arg(long)]
    pub(crate) no_color: bool,
}
