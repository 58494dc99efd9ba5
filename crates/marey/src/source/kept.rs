//! What a program consists of, kept in the archive when a run is merged.
//!
//! The one idea: the program database of `marey source`, of the modules that call stacks lead through and that are the user's.
//! Libraries of the system cost nothing: they are told by where they lie, before anything of them is opened.
//!
//! A source is read only if debug information of the program that ran names it, and if it is not newer than that. Its text
//! is kept only if that was asked for, and if it lies in a directory that was named: not where a link leads out of it.
//!
//! What is deliberately absent: rows about what the user cannot change. Of libraries' functions there are those that the
//! user's call, of their types those that the user's are derived from.

mod code;
mod module;
mod rows;
mod symbols;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use marey_archive::schema::{SOURCE_TEXTS, SYMBOLS};
use marey_archive::{Archive, Columns, Value, add_problems, add_tables};
use marey_model::is_recorder;
use marey_source::ModuleRef;
use marey_source::text::Sources;

pub(super) use self::code::words_of_limits;
use self::module::Module;
use self::rows::Rows;
use crate::busy::Busy;
use crate::exit::{Usage, say, text_of};
use crate::format;
use crate::symbolize::bytes_of_hex;

/// More modules are not looked at: a program has one, or a few.
const MOST_MODULES: usize = 64;
/// A source whose text is longer is not kept.
const MOST_TEXT_BYTES: u64 = 8 << 20;
/// Nor are more of them, together.
const MOST_TEXTS_BYTES: u64 = 128 << 20;

/// Refuses sources of a directory that there is not, before anything is done.
pub(crate) fn check(texts: Option<&Path>) -> anyhow::Result<()> {
    match texts.filter(|root| !root.is_dir()) {
        Some(root) => bail!(Usage(format!(
            "there is no directory {}: --embed-sources=DIR keeps the text of the sources that lie in DIR",
            root.display()
        ))),
        None => Ok(()),
    }
}

/// Whether the machine code of what ran is kept, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MachineCode {
    /// Who asked for it gets it.
    Kept,
    /// Nobody asked.
    LeftOut,
}

/// Adds to a run what its program consists of; `texts` is the directory whose sources are kept with their text.
pub(crate) fn keep(run: &Path, texts: Option<&Path>, machine: MachineCode) -> anyhow::Result<()> {
    let archive = Archive::open_as_merged(run)?;
    let modules = users_modules(&archive)?;
    if modules.is_empty() {
        if texts.is_some() || machine == MachineCode::Kept {
            say(
                "warning: neither sources nor machine code are kept: no module of the program has debug information; compile with -g",
            );
        }
        return Ok(());
    }
    let busy = Busy::with("reading what the program consists of");
    let mut rows = Rows::default();
    for (id, path, build_id) in &modules {
        let made = std::fs::metadata(path).and_then(|it| it.modified()).ok();
        let reference = ModuleRef { path, build_id: build_id.as_deref() };
        rows.add(&Module::read(*id, &reference, made))?;
    }
    let mut tables = rows.tables();
    let mut told = None;
    // Where none was asked for, too: a run that is merged again has none of before.
    let mut kept = Columns::new(&SOURCE_TEXTS);
    if let Some(root) = texts {
        match texts_below(root, &rows.read_files()) {
            Ok((texts, words)) => (kept, told) = (texts, words),
            // All else is kept.
            Err(error) => say(&format!("warning: {}; no text of a source is kept", text_of(&error))),
        }
    }
    tables.push(kept);
    let mut code = (code::none(), Vec::new(), None);
    if machine == MachineCode::Kept {
        match code::keep(&archive, &modules, &rows) {
            Ok(kept) => code = (kept.tables, kept.problems, Some(kept.words)),
            Err(error) => say(&format!("warning: {}; no machine code is kept", text_of(&error))),
        }
    }
    let (of_code, code_problems, told_of_code) = code;
    tables.extend(of_code);
    add_tables(run, &tables)?;
    match symbols::of(run) {
        Ok(kept) => add_tables(run, &[kept])?,
        Err(error) => {
            // A run that is merged again has none of before.
            add_tables(run, &[Columns::new(&SYMBOLS)])?;
            say(&format!("warning: {}; no values of subscripts are kept", text_of(&error)));
        }
    }
    let problems = rows.problems();
    add_problems(run, "source_rows", &problems)?;
    add_problems(run, "source_code", &code_problems)?;
    drop(busy);
    let problems = problems.iter().chain(&code_problems);
    problems.for_each(|problem| say(&format!("warning: {problem}")));
    told.iter().chain(&told_of_code).for_each(|words| say(words));
    Ok(())
}

pub(crate) type Known = (u32, PathBuf, Option<Vec<u8>>);

/// Modules of the user's: those with lines of which one can be read, and elsewhere than where systems keep theirs those with lines.
pub(crate) fn users_modules(archive: &Archive) -> anyhow::Result<Vec<Known>> {
    let (frames, modules) = (archive.table("frames")?, archive.table("modules")?);
    // By module, whether one of its sources is there.
    let mut with_lines: BTreeMap<u32, bool> = BTreeMap::new();
    let mut looked_at: BTreeMap<&str, bool> = BTreeMap::new();
    let (of, files, lines) = (frames.u32("module")?, frames.text("file")?, frames.u32("line")?);
    for ((module, file), line) in of.iter().zip(files).zip(lines) {
        let is_source = *line != 0 && Sources::has_source_name(Path::new(file));
        if is_source && !is_of_system(file) {
            let is_there = looked_at.entry(file).or_insert_with(|| Path::new(file).is_file());
            *with_lines.entry(*module).or_default() |= *is_there;
        }
    }
    let rows = modules.u32("id")?.iter().zip(modules.text("path")?).zip(modules.text("build_id")?);
    let of_user = rows.filter(|((id, path), _)| {
        with_lines.get(id).is_some_and(|is_there| *is_there || !is_of_system(path)) && !is_recorder(path)
    });
    let known = of_user.map(|((id, path), build_id)| (*id, PathBuf::from(path), bytes_of_hex(build_id)));
    let mut known: Vec<Known> = known.collect();
    if let Some((_, path, _)) = known.get(MOST_MODULES) {
        let number = format::counted((known.len() - MOST_MODULES) as u64, "module");
        say(&format!("warning: of {number}, {} and what follows, sources are not read", path.display()));
        known.truncate(MOST_MODULES);
    }
    Ok(known)
}

/// Whether a file is where systems and compilers keep theirs, or where those were made.
pub(crate) fn is_of_system(path: &str) -> bool {
    const BENEATH: [&str; 8] = [
        "/usr/include/",
        "/usr/lib",
        "/usr/src/",
        "/lib",
        "/build/",
        "/rustc/",
        "/usr/bin/",
        "/usr/local/include/",
    ];
    const WITHIN: [&str; 3] = ["/.cargo/registry/", "/rustlib/", "/.rustup/"];
    // Paths that compilers write may lead up and down again.
    let path = plain(path);
    // `<built-in>` and its like are no files at all.
    let is_made_up = path.ends_with('>') && path.rsplit('/').next().is_some_and(|it| it.starts_with('<'));
    is_made_up || BENEATH.iter().any(|it| path.starts_with(it)) || WITHIN.iter().any(|it| path.contains(it))
}

/// A path without steps that lead back.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            ".." if parts.last().is_some_and(|it| !it.is_empty()) => drop(parts.pop()),
            "." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The texts of files that lie in a directory, and what is to be said of them.
fn texts_below(root: &Path, files: &[(u32, &str)]) -> anyhow::Result<(Columns, Option<String>)> {
    let mut kept = Columns::new(&SOURCE_TEXTS);
    let cannot = || format!("cannot open the directory {}", root.display());
    let root = std::fs::canonicalize(root).with_context(cannot)?;
    let (mut bytes, mut too_large) = (0, 0_u64);
    for (id, path) in files {
        let Ok(real) = std::fs::canonicalize(path) else { continue };
        let Some(length) = std::fs::metadata(&real).ok().filter(|it| it.is_file()).map(|it| it.len()) else {
            continue;
        };
        if !real.starts_with(&root) {
            continue;
        }
        if length > MOST_TEXT_BYTES || bytes + length > MOST_TEXTS_BYTES {
            too_large += 1;
            continue;
        }
        let Ok(text) = std::fs::read(&real) else { continue };
        bytes += text.len() as u64;
        kept.push(&[Value::U32(*id), Value::Text(&String::from_utf8_lossy(&text))])?;
    }
    let mut words = format!(
        "the text of {} is kept ({}): who gets the run gets it, too; a redacted copy has none",
        format::counted(kept.len() as u64, "source"),
        format::bytes(bytes)
    );
    if kept.is_empty() {
        words =
            format!("warning: no source of the program lies in {}; say --embed-sources=DIR", root.display());
    } else if too_large > 0 {
        words += &format!("; {} are too large", format::count(too_large));
    }
    Ok((kept, Some(words)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_systems_is_told_by_its_place() {
        for path in
            ["/usr/include/c++/12/vector", "/usr/lib/x/../libmpi.so", "/lib64/libc.so.6", "/rustc/90b35/a.rs"]
        {
            assert!(is_of_system(path), "{path}");
        }
        for path in ["/home/ada/solver.c", "/opt/code/usr/include/a.h", "/usr/local/code/x.c", "src/main.rs"]
        {
            assert!(!is_of_system(path), "{path}");
        }
        assert!(is_of_system("/home/ada/../../usr/include/math.h"));
        assert!(is_of_system("/home/ada/code/<built-in>"));
    }

    #[test]
    fn texts_are_kept_of_files_in_the_directory_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (inside, outside) = (dir.path().join("in"), dir.path().join("out"));
        [&inside, &outside].iter().for_each(|dir| std::fs::create_dir(dir).unwrap());
        std::fs::write(inside.join("a.c"), "int a;\n").unwrap();
        std::fs::write(outside.join("b.c"), "secret\n").unwrap();
        std::os::unix::fs::symlink(outside.join("b.c"), inside.join("link.c")).unwrap();
        let paths = ["in/a.c", "out/b.c", "in/link.c", "in/../out/b.c", "in/none.c"]
            .map(|path| dir.path().join(path).to_string_lossy().into_owned());
        let files: Vec<(u32, &str)> = (0..).zip(paths.iter().map(String::as_str)).collect();
        let (kept, _) = texts_below(&inside, &files).unwrap();
        assert_eq!(kept.u32("file").unwrap(), [0]);
        assert_eq!(kept.text("text").unwrap(), ["int a;\n"]);
    }
}
