//! Writes the table of all MPI functions, `crates/marey-collect/src/mpi/table.rs`, from the headers
//! of Open MPI and MPICH.
//!
//! The one idea: the two headers agree in every arity and return type, so their union can be one
//! table of machine words, and what a call *means* is a class that `classify` gives it by name, and with
//! it the handler that reads its arguments.
//! The table is checked in, so that building marey needs no MPI; this module is only run to renew
//! it and to prove that it is fresh.
//!
//! Deliberately absent: `MPIX_*` (not standard), predefined callbacks such as `MPI_DUP_FN` (their
//! addresses are compared by the libraries) and anything that needs a C compiler.

mod classify;
mod prototype;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use prototype::{Prototype, Return};

/// Where the table lies, relative to the root of the repository.
pub(crate) const TABLE: &str = "crates/marey-collect/src/mpi/table.rs";

/// What [`check_fresh`] found out; a stale table is an error.
#[derive(Debug)]
pub(crate) enum Freshness {
    /// The table is what the headers say.
    Fresh,
    /// It cannot be told without the headers, and which are missing.
    NoHeaders(String),
    /// It cannot be told from the headers of other releases.
    OtherReleases,
}

/// The text of the table, from the two `mpi.h` of this machine.
pub(crate) fn generate() -> Result<String> {
    let headers = [Header::of("mpicc.mpich", "-show")?, Header::of("mpicc.openmpi", "-showme:compile")?];
    let functions = union(&headers)?;
    render(&headers, &functions)
}

/// Whether the checked-in table is what [`generate`] would write. Other releases of the libraries
/// have other functions, so only the releases that the table names are compared.
pub(crate) fn check_fresh() -> Result<Freshness> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(TABLE);
    let on_disk =
        std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let generated = match generate() {
        Ok(text) => text,
        Err(error) => {
            return Ok(Freshness::NoHeaders(format!("both MPI libraries: {error:#}")));
        }
    };
    let releases = |text: &str| text.lines().find(|line| line.starts_with(RELEASES)).map(str::to_owned);
    if releases(&on_disk) != releases(&generated) {
        return Ok(Freshness::OtherReleases);
    }
    if on_disk != generated {
        bail!("{TABLE} is stale; run `cargo xtask generate-mpi`");
    }
    Ok(Freshness::Fresh)
}

const RELEASES: &str = "//! Made from ";

/// The header files of one MPI library.
struct Header {
    release: String,
    prototypes: Vec<Prototype>,
}

impl Header {
    /// The header that a compiler wrapper would find: the wrapper is asked for its flags.
    fn of(wrapper: &str, flag: &str) -> Result<Self> {
        let output =
            Command::new(wrapper).arg(flag).output().with_context(|| format!("cannot run {wrapper}"))?;
        let flags = String::from_utf8_lossy(&output.stdout);
        let dirs: Vec<PathBuf> =
            flags.split_whitespace().filter_map(|word| word.strip_prefix("-I")).map(PathBuf::from).collect();
        let mut text = String::new();
        // MPICH keeps its prototypes in two further files; Open MPI has all in one.
        for file in ["mpi.h", "mpi_proto.h", "mpio.h"] {
            if let Some(path) = dirs.iter().map(|dir| dir.join(file)).find(|path| path.is_file()) {
                text.push_str(
                    &std::fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?,
                );
            }
        }
        let prototypes = prototype::parse(&text);
        if prototypes.is_empty() {
            bail!("{wrapper} names no directory with an mpi.h that declares functions");
        }
        Ok(Self { release: release(&text).context("the header names no release")?, prototypes })
    }
}

/// `Open MPI 4.1.4` or `MPICH 4.0.2`, from the macros that each header defines.
fn release(text: &str) -> Option<String> {
    let value = |name: &str| {
        let line = text
            .lines()
            .find(|line| line.starts_with("#define") && line.split_whitespace().nth(1) == Some(name))?;
        Some(line.split_whitespace().nth(2)?.trim_matches('"').to_owned())
    };
    if let Some(version) = value("MPICH_VERSION") {
        return Some(format!("MPICH {version}"));
    }
    let part = |name| value(&format!("OMPI_{name}_VERSION"));
    Some(format!("Open MPI {}.{}.{}", part("MAJOR")?, part("MINOR")?, part("RELEASE")?))
}

/// All functions by name. Where both headers have one, the spelling of the first wins: MPICH's
/// parameter names are generated from the text of the standard.
fn union(headers: &[Header]) -> Result<BTreeMap<String, Prototype>> {
    let mut functions: BTreeMap<String, Prototype> = BTreeMap::new();
    for prototype in headers.iter().flat_map(|header| &header.prototypes) {
        match functions.get_mut(&prototype.name) {
            None => {
                functions.insert(prototype.name.clone(), prototype.clone());
            }
            Some(known) => known.complete_from(prototype)?,
        }
    }
    Ok(functions)
}

fn render(headers: &[Header], functions: &BTreeMap<String, Prototype>) -> Result<String> {
    let releases: Vec<&str> = headers.iter().map(|header| header.release.as_str()).collect();
    let mut out = format!(
        "//! Every MPI function: the union of what two libraries declare. Generated, do not edit.\n\
         //!\n\
         //! Regenerate with `cargo xtask generate-mpi`; what the classes mean stands in `class.rs`.\n\
         {RELEASES}{}.\n\n\
         use marey_model::Role;\n\n\
         use super::class::{{Class, Function}};\n\n",
        releases.join(" and ")
    );
    out.push_str(
        "/// Calls `$callback!` once per function with: its index, its name, its profiling name, its\n\
         /// handler, what it returns (`i32`, `f64`, or `word` for any other integer or pointer), its parameters.\n\
         macro_rules! for_each_mpi_function {\n    ($callback:ident) => {\n",
    );
    for (index, function) in functions.values().enumerate() {
        let returns = match function.returns {
            Return::Int => "i32",
            Return::Word => "word",
            Return::Double => "f64",
        };
        writeln!(
            out,
            "        $callback! {{ {index}, {name}, P{name}, {handler}, {returns}, ({params}) }}",
            name = function.name,
            handler = classify::handler(&function.name),
            params = function.parameter_names().join(", "),
        )?;
    }
    out.push_str("    };\n}\npub(crate) use for_each_mpi_function;\n\n");
    writeln!(
        out,
        "/// How many functions there are.\npub(crate) const N_FUNCTIONS: usize = {};\n",
        functions.len()
    )?;
    out.push_str(
        "/// What is known of each function, by its index.\n\
         #[rustfmt::skip]\npub(crate) static FUNCTIONS: [Function; N_FUNCTIONS] = [\n",
    );
    for function in functions.values() {
        writeln!(
            out,
            "    Function {{ name: \"{}\", class: Class::{}, role: Role::{}, arity: {}, comm_arg: {:?}, comm_ptr_arg: {:?}, win_arg: {:?}, file_arg: {:?}, large_count: {} }},",
            function.name,
            classify::camel(&classify::class(&function.name)),
            classify::role(&function.name),
            function.parameters.len(),
            function.position("MPI_Comm"),
            function.position("MPI_Comm*"),
            function.position("MPI_Win"),
            function.position("MPI_File"),
            classify::is_large_count(&function.name),
        )?;
    }
    out.push_str("];\n");
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checked_in_table_is_what_the_headers_say() {
        match check_fresh().expect("the table is fresh") {
            Freshness::Fresh => {}
            Freshness::NoHeaders(missing) => marey_testkit::skip(&missing),
            Freshness::OtherReleases => marey_testkit::leave_out("the MPI libraries are other releases"),
        }
    }
}
