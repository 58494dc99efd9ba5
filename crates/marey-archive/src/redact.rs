//! A copy of a run that does not say whose it is.
//!
//! The one idea: nothing stays that is not on a list. A table is copied if it is here or has no texts; a text stays if its
//! column is here, and gets a neutral name or is emptied as the list says. What is new in the schema is left out until
//! somebody has thought about it.
//!
//! Names of functions, regions, communicators and counters stay, and all numbers but those that the operating system gave;
//! of a name that has a path in it, the path goes, and so do names of nodes and of users, as far as they are known.
//!
//! Runs that are looked at together are copied together: what has one name in both has one neutral name.
//!
//! What is deliberately absent: events, which hold what programs say, the environment, and the text of sources.

mod known;
mod words;

use std::collections::BTreeSet;
use std::path::Path;

use rustc_hash::FxHashMap;

use crate::columns::{Column, Columns};
use crate::corrections::{CORRECTIONS_FILE, Corrections};
use crate::meta::{Meta, Part, RunFacts};
use crate::part::PartWriter;
use crate::schema::{self, Kind, Layout, TableSpec};
use crate::store::Store;
use crate::{Archive, Error};
use known::{Known, users_in};
use words::{is_path, words};

/// What was taken away.
#[derive(Debug, Default)]
pub struct Redacted {
    /// Texts of which nothing is left, sorted: names of nodes, paths, command lines and what else was emptied or renamed.
    pub removed: BTreeSet<String>,
}

/// What becomes of a text.
#[derive(Clone, Copy, Debug)]
enum Text {
    /// A word of marey's own.
    Ours,
    /// A name that stays, but for paths and nodes in it.
    Name,
    /// Emptied.
    Gone,
    /// A node: `host-1`.
    Host,
    /// A source file: `file-1.c`.
    Source,
    /// An executable: `program-1`.
    Program,
    /// An executable or library: `module-1`.
    Module,
    /// A thread, which goes by the name of its program as long as that gives it no other: `location-1`.
    Location,
    /// A version, which may say who built it: what stands before the first comma.
    Version,
}

/// Tables with texts that are copied, and what becomes of these. The names of nouns are a matter of their kinds.
const TEXTS: &[(&str, &[(&str, Text)])] = {
    use Text::{Gone, Host, Location, Module, Name, Ours, Program, Source, Version};
    &[
        ("levels", &[("name", Name), ("tier", Ours), ("built_on", Name)]),
        ("nouns", &[("kind", Ours), ("name", Name), ("file", Source)]),
        ("verbs", &[("name", Name), ("role", Ours)]),
        ("regions", &[("level", Name), ("verb", Name), ("noun", Name), ("role", Ours), ("file", Source)]),
        (
            "processes",
            &[
                ("host", Host),
                ("command", Gone),
                ("executable", Program),
                ("outcome", Ours),
                ("library", Version),
                ("thread_level", Ours),
            ],
        ),
        ("locations", &[("name", Location), ("kind", Ours), ("host", Host)]),
        ("modules", &[("path", Module), ("build_id", Gone)]),
        ("frames", &[("function", Name), ("file", Source), ("quality", Ours)]),
        ("communicators", &[("name", Name), ("kind", Ours), ("members", Ours)]),
        ("datatypes", &[("name", Name)]),
        ("counter_kinds", &[("name", Name), ("unit", Name), ("source", Ours)]),
        ("edges", &[("kind", Ours)]),
        ("arrays", &[("kind", Ours), ("element", Name), ("bounds", Ours)]),
        ("shapes", &[("kind", Ours)]),
        ("rma", &[("kind", Ours)]),
        ("accesses", &[("kind", Ours)]),
        ("accessed", &[("kind", Ours)]),
        ("io", &[("kind", Ours)]),
        ("clocks", &[("kind", Ours), ("knots", Ours)]),
        ("problems", &[("kind", Ours), ("detail", Gone)]),
        ("waits", &[("pattern", Ours)]),
        ("delays", &[("activity", Ours)]),
        ("delay_effects", &[("activity", Ours), ("pattern", Ours)]),
        ("activities", &[("activity", Ours)]),
        ("source_modules", &[("problem", Gone)]),
        ("source_files", &[("path", Source), ("state", Ours), ("language", Ours)]),
        ("source_functions", &[("name", Name), ("known_to", Ours), ("kind", Ours), ("attributes", Ours)]),
        ("source_types", &[("name", Name), ("known_to", Ours), ("kind", Ours)]),
        ("source_members", &[("name", Name), ("kind", Ours), ("access", Ours), ("of_type", Name)]),
        ("source_bases", &[("name", Name), ("kind", Ours), ("access", Ours)]),
        ("source_loops", &[("kind", Ours)]),
        ("source_constructs", &[("model", Ours), ("text", Name)]),
        ("source_symbols", &[("end", Ours), ("text", Name), ("value", Ours)]),
        ("source_references", &[("array", Name), ("text", Name), ("image", Name), ("does", Ours)]),
        ("source_dependences", &[("end", Ours), ("text", Name)]),
        ("source_calls", &[("name", Name), ("kind", Ours), ("known_to", Ours)]),
    ]
};

/// Numbers that the operating system gave, and what stands in their place.
const NUMBERS: &[(&str, &str)] = &[("processes", "pid"), ("locations", "os_thread")];

/// Kinds of nouns whose names stay. Files, and what may come, get neutral ones.
const KEPT_NOUNS: &[&str] = &[
    "",
    "function",
    "region",
    "state",
    "communicator",
    "window",
    "coarray",
    "variable",
    "block",
    "frame",
    "view",
    "other",
];

/// Ends of names of source files, which stay.
const SOURCES: &[&str] = &[
    ".c", ".h", ".cc", ".hh", ".cpp", ".hpp", ".cxx", ".hxx", ".inl", ".cu", ".f", ".f77", ".f90", ".f95",
    ".f03", ".f08", ".inc", ".rs", ".py", ".s",
];

/// Variables of the environment that say who somebody is.
const USERS: &[&str] = &["USER", "LOGNAME", "USERNAME", "SLURM_JOB_USER", "PBS_O_LOGNAME"];

/// Writes copies of runs, directories or packed files, each into a directory, which is made. A run that changes meanwhile
/// is not noticed. Names of `users` are taken out of all names, beside those that the runs tell of.
///
/// # Errors
/// If a run cannot be read, or its copy not be written. What is there then is of no use.
pub fn redact(copies: &[(&Path, &Path)], users: &[String]) -> Result<Redacted, Error> {
    let mut names = Names::default();
    users.iter().for_each(|user| names.known.user(user));
    let archives = copies.iter().map(|(run, _)| Archive::open_as_merged(run));
    let archives: Vec<Archive> = archives.collect::<Result<_, _>>()?;
    archives.iter().try_for_each(|archive| names.learn(archive))?;
    for ((run, out), archive) in copies.iter().zip(&archives) {
        copy_run(&mut names, archive, &Store::open(run)?, out)?;
    }
    names.removed.remove("");
    Ok(Redacted { removed: names.removed })
}

fn copy_run(names: &mut Names, archive: &Archive, store: &Store, out: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(out).map_err(Error::io(out))?;
    let mut meta = Meta {
        run: names.facts(&archive.meta().run),
        tables: Default::default(),
        counts: archive.meta().counts.clone(),
        ..archive.meta().clone()
    };
    meta.counts.retain(|name, _| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
    let nouns = names.nouns(archive)?;
    for spec in schema::TABLES {
        let parts = archive.parts(spec.name);
        match TEXTS.iter().find(|(table, _)| *table == spec.name) {
            _ if parts.is_empty() => {}
            Some((_, texts)) if spec.layout == Layout::Single => {
                let rows = names.rows(archive.table(spec.name)?, texts, &nouns)?;
                let mut writer = PartWriter::create(&out.join(spec.file(0, 0)), spec)?;
                writer.write(&rows)?;
                meta.add(spec, Part::new(spec, 0, 0, writer.finish()?));
            }
            // Of large tables all texts are ours; who looks into them looks for words that we know.
            Some(_) => copy_parts(store, spec, parts, out, &mut meta)?,
            None if spec.columns.iter().all(|column| column.kind != Kind::Text) => {
                copy_parts(store, spec, parts, out, &mut meta)?;
            }
            None => {}
        }
    }
    if !Corrections::of(store)?.is_empty() {
        copy(store, CORRECTIONS_FILE, &out.join(CORRECTIONS_FILE))?;
    }
    meta.save(out)
}

/// Copies parts under the names that marey gives them.
fn copy_parts(
    store: &Store,
    spec: &'static TableSpec,
    parts: &[Part],
    out: &Path,
    meta: &mut Meta,
) -> Result<(), Error> {
    for part in parts {
        let file = spec.file(part.slab, part.group);
        copy(store, &part.file, &out.join(&file))?;
        meta.add(spec, Part { file, fingerprint: String::new(), ..part.clone() });
    }
    Ok(())
}

fn copy(store: &Store, name: &str, to: &Path) -> Result<(), Error> {
    if let Some(dir) = to.parent() {
        std::fs::create_dir_all(dir).map_err(Error::io(dir))?;
    }
    let mut file = std::fs::File::create(to).map_err(Error::io(to))?;
    std::io::copy(&mut store.section(name)?.reader(0), &mut file).map_err(Error::io(to))?;
    Ok(())
}

/// Neutral names in the place of others: the same for the same.
#[derive(Debug, Default)]
struct Names {
    hosts: FxHashMap<String, String>,
    sources: FxHashMap<String, String>,
    programs: FxHashMap<String, String>,
    modules: FxHashMap<String, String>,
    locations: FxHashMap<String, String>,
    nouns: FxHashMap<String, String>,
    /// Nodes and users, wherever they stand.
    known: Known,
    removed: BTreeSet<String>,
}

impl Names {
    /// These stand in other names, too, so they must be known before the first of those is looked at.
    fn learn(&mut self, archive: &Archive) -> Result<(), Error> {
        for (table, column, what) in [
            ("processes", "host", Text::Host),
            ("locations", "host", Text::Host),
            ("modules", "path", Text::Module),
        ] {
            for text in archive.table(table)?.text(column)? {
                self.of(what, text);
            }
        }
        let facts = &archive.meta().run;
        for host in &facts.hosts {
            self.of(Text::Host, host);
        }
        self.hosts.iter().for_each(|(host, new)| self.known.node(host, new));
        let said = facts.command.iter().chain([&facts.title, &facts.memo, &facts.directory]);
        said.flat_map(|text| users_in(text)).for_each(|user| self.known.user(&user));
        let environment = archive.table("environment")?;
        for (name, value) in environment.text("name")?.iter().zip(environment.text("value")?) {
            if USERS.contains(&name.as_str()) {
                self.known.user(value);
            }
        }
        let small = TEXTS.iter().map(|(table, _)| *table).chain(["environment"]);
        for spec in small.filter_map(schema::table).filter(|spec| spec.layout == Layout::Single) {
            for column in archive.table(spec.name)?.columns() {
                let Column::Text(values) = column else { continue };
                values.iter().flat_map(|text| users_in(text)).for_each(|user| self.known.user(&user));
            }
        }
        Ok(())
    }

    /// What a text becomes.
    fn of(&mut self, what: Text, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        let new = match what {
            Text::Ours => return text.to_owned(),
            Text::Name => return self.name(text),
            Text::Gone => String::new(),
            Text::Version => version(text),
            Text::Host => neutral(&mut self.hosts, text, "host", ""),
            Text::Source => neutral(&mut self.sources, text, "file", source_end(text)),
            Text::Program => neutral(&mut self.programs, text, "program", ""),
            Text::Location => neutral(&mut self.locations, text, "location", ""),
            Text::Module => neutral(&mut self.modules, text, "module", ""),
        };
        if new != text {
            self.removed.insert(text.to_owned());
        }
        new
    }

    /// A name without the paths, nodes and users in it.
    fn name(&mut self, text: &str) -> String {
        let mut kept = String::with_capacity(text.len());
        for word in words(text) {
            if let Some((module, place)) = word.split_once("+0x") {
                // What has no name goes by where it lies: `app+0x11fd`.
                self.removed.insert(module.to_owned());
                kept.extend([self.module(module), "+0x", place]);
            } else if is_path(word) {
                self.removed.insert(word.to_owned());
                kept.push('…');
            } else {
                kept.push_str(word);
            }
        }
        let (kept, gone) = self.known.taken_out(&kept);
        self.removed.extend(gone);
        kept
    }

    /// The new name of a module that goes by the last part of its path.
    fn module(&self, base: &str) -> &str {
        let is_meant = |path: &str| path.rsplit('/').next() == Some(base);
        // Where several are called so, the same of them each time.
        let found = self.modules.iter().filter(|(path, _)| is_meant(path)).map(|(_, new)| new.as_str());
        found.min_by_key(|new| (new.len(), *new)).unwrap_or("module")
    }

    fn facts(&mut self, facts: &RunFacts) -> RunFacts {
        let texts = [
            &facts.launcher,
            &facts.git_commit,
            &facts.title,
            &facts.memo,
            &facts.directory,
            &facts.job_step,
        ];
        self.removed.extend(texts.into_iter().chain(&facts.command).chain(&facts.rules).cloned());
        RunFacts {
            start_realtime_ns: facts.start_realtime_ns,
            duration_ns: facts.duration_ns,
            hosts: facts.hosts.iter().map(|host| self.of(Text::Host, host)).collect(),
            mpi_library: self.of(Text::Version, &facts.mpi_library),
            imported_from: facts.imported_from.clone(),
            without_times: facts.without_times,
            ..RunFacts::default()
        }
    }

    /// The new names of nouns, by number.
    fn nouns(&mut self, archive: &Archive) -> Result<FxHashMap<u32, String>, Error> {
        let rows = archive.table("nouns")?;
        let (ids, kinds, names) = (rows.u32("id")?, rows.text("kind")?, rows.text("name")?);
        let mut found = FxHashMap::default();
        for ((id, kind), name) in ids.iter().zip(kinds).zip(names) {
            let new = if KEPT_NOUNS.contains(&kind.as_str()) {
                self.name(name)
            } else {
                self.removed.insert(name.clone());
                let kind = if kind == "file" { "data-file" } else { "thing" };
                neutral(&mut self.nouns, name, kind, "")
            };
            found.insert(*id, new);
        }
        Ok(found)
    }

    fn rows(
        &mut self,
        rows: Columns,
        texts: &[(&str, Text)],
        nouns: &FxHashMap<u32, String>,
    ) -> Result<Columns, Error> {
        let spec = rows.spec();
        let mut columns = Vec::with_capacity(spec.columns.len());
        for (column, values) in spec.columns.iter().zip(rows.columns()) {
            let noun_ids = match (spec.name, column.name) {
                ("nouns", "name") => Some(rows.u32("id")?),
                ("regions", "noun") => Some(rows.u32("noun_id")?),
                _ => None,
            };
            columns.push(match values {
                Column::Text(values) if let Some(ids) = noun_ids => {
                    let new = |(id, name): (&u32, &String)| match nouns.get(id) {
                        Some(new) => new.clone(),
                        // Of what kind it is nobody knows.
                        None => {
                            self.removed.insert(name.clone());
                            String::new()
                        }
                    };
                    Column::Text(ids.iter().zip(values).map(new).collect())
                }
                Column::Text(values) => {
                    let what = texts.iter().find(|(name, _)| *name == column.name);
                    let what = what.map_or(Text::Gone, |(_, what)| *what);
                    Column::Text(values.iter().map(|text| self.of(what, text)).collect())
                }
                Column::U32(values) if NUMBERS.contains(&(spec.name, column.name)) => {
                    Column::U32(vec![0; values.len()])
                }
                Column::I64(values) if NUMBERS.contains(&(spec.name, column.name)) => {
                    Column::I64(vec![-1; values.len()])
                }
                other => other.clone(),
            });
        }
        Columns::from_columns(spec, columns)
    }
}

fn neutral(names: &mut FxHashMap<String, String>, text: &str, what: &str, end: &str) -> String {
    let number = names.len() + 1;
    names.entry(text.to_owned()).or_insert_with(|| format!("{what}-{number}{end}")).clone()
}

/// The end of the name of a source file, if it is a usual one.
fn source_end(path: &str) -> &'static str {
    let path = path.to_ascii_lowercase();
    SOURCES.iter().find(|end| path.ends_with(**end)).copied().unwrap_or("")
}

/// `Open MPI v4.1.4` of `Open MPI v4.1.4, package: Open MPI somebody@somewhere Distribution, …`.
fn version(text: &str) -> String {
    let first = text.split([',', '\n', ';', '@', '/']).next().unwrap_or_default().trim();
    first.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_nodes_go_from_names_and_nothing_else_does() {
        let mut names = Names::default();
        for host in ["login7", "fat1.cluster.example", "10.0.0.3"] {
            let new = names.of(Text::Host, host);
            names.known.node(host, &new);
        }
        ["ada", "root"].iter().for_each(|user| names.known.user(user));
        names.of(Text::Module, "/opt/ada/secret_app");
        let cases = [
            ("void solve<double>(int const*)", "void solve<double>(int const*)"),
            ("operator/(vec const&, vec)", "operator/(vec const&, vec)"),
            ("a / b", "a / b"),
            ("step/solve", "step/solve"),
            ("'lambda at /home/ada/x.cpp:12'", "'lambda at …:12'"),
            ("include <../ada/x.h>", "include <…>"),
            ("src/x.cpp", "…"),
            ("/scratch", "…"),
            ("secret_app+0x11fd", "module-1+0x11fd"),
            ("_start (libx.so.1+0x7)", "_start (module+0x7)"),
            ("on login7, not on login70", "on host-1, not on login70"),
            ("at login7.cluster or LOGIN7_x", "at host-1.cluster or LOGIN7_x"),
            ("from fat1 to fat1.cluster.example in 10 steps", "from host-2 to host-2 in 10 steps"),
            ("Ada's step, adaptive, ada-2, of root", "user-1's step, adaptive, user-1-2, of root"),
            (r"C:\Users\ada\grid.cpp:12", "…:12"),
            (r"'lambda at D:/src/x.cpp:1'", "'lambda at …:1'"),
            (r"read(C:\Program Files\My Own\a b.dat)", "read(…)"),
            (r"\\server\share\x, and src\y.c", "…, and …"),
            ("std::map<a::b, c>::at", "std::map<a::b, c>::at"),
        ];
        for (before, expected) in cases {
            assert_eq!(names.name(before), expected);
        }
    }

    #[test]
    fn of_a_version_stays_what_says_nothing_of_who_built_it() {
        let version_of = |text| Names::default().of(Text::Version, text);
        let open = "Open MPI v4.1.4, package: Open MPI ada@login7 Distribution, ident: 4.1.4";
        assert_eq!(version_of(open), "Open MPI v4.1.4");
        assert_eq!(
            version_of("MPICH Version:\t4.0.2\nMPICH configure:\t--prefix=/home/ada"),
            "MPICH Version:\t4.0.2"
        );
    }

    #[test]
    fn every_text_of_a_table_that_is_copied_was_thought_about() {
        for (table, texts) in TEXTS {
            let spec = schema::table(table).expect("the list names tables");
            let there: Vec<&str> =
                spec.columns.iter().filter(|it| it.kind == Kind::Text).map(|it| it.name).collect();
            let listed: Vec<&str> = texts.iter().map(|(name, _)| *name).collect();
            assert_eq!(there, listed, "{table}");
            let are_ours = texts.iter().all(|(_, what)| matches!(what, Text::Ours));
            assert!(spec.layout == Layout::Single || are_ours, "{table} is copied as it is");
        }
    }
}
