//! `marey link`: the recorder as part of a program that cannot be preloaded.
//!
//! The one idea: the object that this executable carries has everything but the names that programs call;
//! those are stubs, written here for what is asked for, in which the linker joins the program's calls, the
//! recorder's wrappers and the real functions. What the recorder does with them is told in
//! `crates/marey-collect/src/linked.rs`.
//!
//! Nothing is asked of the program or its MPI: which of them it is shows when it runs.

use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::Context;
use marey_archive::Aside;

use crate::cli::{LinkArgs, Switch};
use crate::embedded;
use crate::exit::{Usage, say};

mod archive;
mod functions;
mod stubs;

use functions::Functions;

/// Runs the command.
pub(crate) fn run(args: &LinkArgs) -> anyhow::Result<ExitCode> {
    let directory = args.directory.clone().map_or_else(cache, Ok)?;
    let directory = std::path::absolute(directory).context("the current directory is gone")?;
    check(&directory)?;
    let words = match (args.shared, args.coarrays) {
        (true, _) => shared(&directory)?,
        (_, true) => coarrays(&directory)?,
        _ => linked(&directory, args)?,
    };
    if args.command.is_empty() {
        writeln!(std::io::stdout(), "{}", words.join(" ")).context("cannot write to standard output")?;
        return Ok(ExitCode::SUCCESS);
    }
    let (program, arguments) = args.command.split_first().expect("it was looked whether there is a word");
    match Command::new(program).args(arguments).args(&words).status() {
        Ok(status) => {
            let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
            Ok(ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
        }
        Err(error) => {
            say(&format!("error: cannot run {}: {error}", program.display()));
            Ok(ExitCode::from(if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 }))
        }
    }
}

/// Where files of ours lie that can be made again.
fn cache() -> anyhow::Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    let cache = cache.ok_or_else(|| Usage("no HOME to keep files in: say --directory DIR".to_owned()))?;
    Ok(cache.join("marey").join("link"))
}

/// The words are taken apart by a shell at blanks, and by compilers at commas.
fn check(directory: &Path) -> anyhow::Result<()> {
    let text = directory.to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=%+".contains(c);
    if text.chars().all(is_plain) {
        return Ok(());
    }
    let why = "has characters in its name that a compiler's command line cannot hold";
    Err(Usage(format!("{} {why}: say --directory DIR", directory.display())).into())
}

/// Writes the library, and gives the words that link a program with it.
fn shared(directory: &Path) -> anyhow::Result<Vec<String>> {
    let directory = directory.join(embedded::LIBRARY_HASH);
    let library = put(&directory, marey_model::RECORDER_FILE, embedded::LIBRARY)?;
    // Nobody calls it by name, so without the first word the linker could leave it out. It has no name of
    // its own, so that the program remembers where it lies.
    Ok(vec!["-Wl,--push-state,--no-as-needed".into(), library, "-Wl,--pop-state".into()])
}

/// Writes stubs in front of a library of coarrays that is linked statically, and gives the words that link them into a
/// program. The recorder itself is loaded.
fn coarrays(directory: &Path) -> anyhow::Result<Vec<String>> {
    let directory = directory.join(format!("{}-coarrays", embedded::LIBRARY_HASH));
    let names = functions::of_coarrays(embedded::LIBRARY);
    let table = marey_model::COARRAY_STUBS.to_string_lossy();
    let exported = put(&directory, "exported", format!("{{ {table}; }};\n").as_bytes())?;
    let mut options = format!("--dynamic-list={exported}\n");
    for name in &names {
        options.push_str(&format!("--wrap={name}\n"));
    }
    let stubs = put(&directory, "stubs.o", &stubs::of_coarrays(&names))?;
    let options = put(&directory, "options", options.as_bytes())?;
    Ok(vec![stubs, format!("-Wl,@{options}")])
}

/// Writes the recorder and its stubs, and gives the words that link them into a program.
fn linked(directory: &Path, args: &LinkArgs) -> anyhow::Result<Vec<String>> {
    let mut name = embedded::OBJECT_HASH.to_owned();
    for (switch, left_out) in [(args.mpi, "-no-mpi"), (args.threads, "-no-threads")] {
        if switch == Switch::Off {
            name.push_str(left_out);
        }
    }
    let directory = directory.join(name);
    let functions = Functions::of(embedded::OBJECT);
    let mpi: &[&str] = if args.mpi == Switch::On { &functions.mpi } else { &[] };
    let threads: &[&str] = if args.threads == Switch::On { &functions.threads } else { &[] };

    let (rare, common): (Vec<&str>, Vec<&str>) = mpi.iter().partition(|name| functions::is_rare(name));
    let mut stubs: Vec<stubs::Stub> = Vec::new();
    stubs.extend(functions.endings.iter().map(|name| stubs::Stub::around("ending", name)));
    stubs.extend(threads.iter().map(|name| stubs::Stub::around("thread", name)));
    stubs.extend(common.iter().flat_map(|name| stubs::Stub::both_of_mpi(name)));
    // Without tables of them, stacks could not be taken: compilers leave the index out of what is static.
    let mut options = "--eh-frame-hdr\n".to_owned();
    // Shared libraries of the program find the runtime by its name.
    let exported = put(&directory, "exported", b"{ marey_runtime; };\n")?;
    options.push_str(&format!("--dynamic-list={exported}\n"));
    for name in stubs.iter().filter_map(stubs::Stub::wrapped) {
        options.push_str(&format!("--wrap={name}\n"));
    }
    for name in functions::ALL_OR_NONE {
        options.push_str(&format!("--undefined={name}\n"));
    }
    let object = stubs::object(&stubs, &stubs::layers(&common));
    let members = rare.iter().map(|name| (*name, stubs::object(&[stubs::Stub::in_front_of(name)], &[])));

    let recorder = put(&directory, "marey.o", embedded::OBJECT)?;
    let stubs = put(&directory, "stubs.o", &object)?;
    let options = put(&directory, "options", options.as_bytes())?;
    let mut words = vec![recorder, stubs];
    if !rare.is_empty() {
        words.push(put(&directory, "libstubs.a", &archive::of(members))?);
    }
    // Before glibc 2.34, threads are in a library of their own.
    words.extend([format!("-Wl,@{options}"), "-lpthread".into()]);
    Ok(words)
}

/// Writes a file, unless it is there, and gives its path. Whoever links at the same time never sees half of it.
fn put(directory: &Path, name: &str, content: &[u8]) -> anyhow::Result<String> {
    let path = directory.join(name);
    // Its directory was checked for what is no text.
    let word = || path.to_string_lossy().into_owned();
    if fs::read(&path).is_ok_and(|there| there == content) {
        return Ok(word());
    }
    let write = || {
        fs::create_dir_all(directory)?;
        let (aside, mut file) = Aside::new(&path)?;
        file.write_all(content)?;
        aside.put(&path)
    };
    write().with_context(|| format!("cannot write {}", path.display()))?;
    Ok(word())
}
