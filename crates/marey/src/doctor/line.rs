//! What a command line starts: the launcher, how many ranks, and the programs behind it.
//!
//! The one idea: launchers have more options than anybody can list, so those with values are known by
//! a table, and a word behind an option that the table does not know is the program only if there is
//! such a program.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::shell::find_program;
use crate::launchers::is_launcher;

/// A command line taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    /// The launcher as it was typed, if there is one.
    pub(super) launcher: Option<OsString>,
    /// How many ranks it is asked for.
    pub(super) ranks: Option<u64>,
    /// Whether hosts are named, so that ranks need not run here.
    pub(super) has_hosts: bool,
    /// The programs: several where their command lines are divided by colons.
    pub(super) programs: Vec<OsString>,
}

/// Options with one value. Open MPI takes `-name` for `--name`, so dashes are left out of account.
const ONE_VALUE: [&str; 40] = [
    "n",
    "np",
    "c",
    "N",
    "H",
    "host",
    "hosts",
    "hostfile",
    "machinefile",
    "f",
    "bind-to",
    "map-by",
    "rank-by",
    "npernode",
    "ppn",
    "x",
    "wdir",
    "wd",
    "path",
    "prefix",
    "output-filename",
    "timeout",
    "envlist",
    "genvlist",
    "env-list",
    "rf",
    "rankfile",
    "app",
    "p",
    "partition",
    "A",
    "account",
    "t",
    "time",
    "J",
    "w",
    "nodes",
    "ntasks",
    "cpus-per-task",
    "mpi",
];
/// Options with two.
const TWO_VALUES: [&str; 6] = ["mca", "gmca", "pmixmca", "prtemca", "env", "genv"];
/// Options that never have one: what follows them is the program, there or not.
const NO_VALUE: [&str; 9] = [
    "oversubscribe",
    "allow-run-as-root",
    "v",
    "verbose",
    "q",
    "l",
    "prepend-rank",
    "tag-output",
    "report-bindings",
];

/// Takes a command line apart.
pub(super) fn parse(words: &[OsString]) -> Line {
    parse_with(words, &|name| find_program(name).is_some())
}

fn parse_with(words: &[OsString], exists: &dyn Fn(&OsStr) -> bool) -> Line {
    let mut line = Line::default();
    let words = unwrapped(words);
    let Some(first) = words.first() else { return line };
    if !is_launcher(first) {
        line.programs.push(first.clone());
        return line;
    }
    line.launcher = Some(first.clone());
    for segment in words[1..].split(|word| word == ":") {
        let at = line.options(segment, exists);
        let program = segment.get(at..).map(unwrapped).and_then(<[OsString]>::first);
        line.programs.extend(program.cloned());
    }
    line
}

impl Line {
    /// Reads the options at the beginning of `words`. Where the program stands.
    fn options(&mut self, words: &[OsString], exists: &dyn Fn(&OsStr) -> bool) -> usize {
        let mut at = 0;
        while let Some(word) =
            words.get(at).and_then(|word| word.to_str()).filter(|word| word.starts_with('-'))
        {
            let name = word.trim_start_matches('-');
            let (name, value) = match name.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (name, words.get(at + 1).and_then(|word| word.to_str())),
            };
            self.note(name, value);
            // `-n4`, as srun and Hydra take it.
            let glued = name.strip_prefix('n').filter(|number| number.parse::<u64>().is_ok());
            if glued.is_some() {
                self.note("n", glued);
            }
            at += 1;
            if word.contains('=') || glued.is_some() || NO_VALUE.contains(&name) {
                continue;
            }
            at += match name {
                name if TWO_VALUES.contains(&name) => 2,
                name if ONE_VALUE.contains(&name) => 1,
                _ => usize::from(words.get(at).is_some_and(|next| is_value(next, words.get(at + 1), exists))),
            };
        }
        at
    }

    fn note(&mut self, name: &str, value: Option<&str>) {
        match name {
            "n" | "np" | "ntasks" | "c" if value.is_some_and(|value| value.parse::<u64>().is_ok()) => {
                // Segments of a line with colons start theirs each. For srun `-c` means processors.
                let is_ranks = name != "c"
                    || self
                        .launcher
                        .as_deref()
                        .is_none_or(|name| !name.as_encoded_bytes().ends_with(b"srun"));
                let ranks = value.and_then(|value| value.parse::<u64>().ok()).filter(|_| is_ranks);
                self.ranks =
                    ranks.map_or(self.ranks, |ranks| Some(self.ranks.unwrap_or(0).saturating_add(ranks)));
            }
            "H" | "host" | "hosts" | "hostfile" | "machinefile" | "f" | "N" | "nodes" | "w" | "ppn"
            | "npernode" => {
                self.has_hosts = true;
            }
            _ => {}
        }
    }
}

/// Whether the word behind an unknown option is its value: it is no program, and something follows
/// that could be.
fn is_value(word: &OsString, next: Option<&OsString>, exists: &dyn Fn(&OsStr) -> bool) -> bool {
    let is_option = word.as_encoded_bytes().starts_with(b"-");
    !is_option
        && !exists(word)
        && next.is_some_and(|next| next.as_encoded_bytes().starts_with(b"-") || exists(next))
}

/// Without what only prepares the start of a program: variables, priority, places of memory.
fn unwrapped(words: &[OsString]) -> &[OsString] {
    let name = |word: &OsString| Path::new(word).file_name().map(|name| name.to_string_lossy().into_owned());
    let mut rest = words;
    while let Some(wrapper) = rest.first().and_then(name) {
        let arguments = &rest[1..];
        let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
        let skipped = match wrapper.as_str() {
            "env" => skip(arguments, |word| is_option(word) || word.as_encoded_bytes().contains(&b'=')),
            "numactl" | "time" | "stdbuf" | "setarch" | "nohup" | "exec" => skip(arguments, is_option),
            "nice" | "taskset" => {
                let number = |word: &OsString| {
                    word.to_str().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()))
                };
                skip(arguments, |word| is_option(word) || number(word))
            }
            "marey" if arguments.first().is_some_and(|word| word == "record") => {
                arguments.iter().position(|word| word == "--").map_or(arguments, |at| &arguments[at + 1..])
            }
            _ => return rest,
        };
        if skipped.is_empty() {
            return rest;
        }
        rest = skipped;
    }
    rest
}

fn skip(words: &[OsString], is_meant: impl Fn(&OsString) -> bool) -> &[OsString] {
    let at = words.iter().position(|word| !is_meant(word)).unwrap_or(words.len());
    &words[at..]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The launcher, ranks and programs of a line, where only `./a`, `./b` and `sh` exist.
    fn check(text: &str, launcher: &str, ranks: u64, programs: &str) {
        let words: Vec<OsString> = text.split(' ').map(OsString::from).collect();
        let line = parse_with(&words, &|name| ["./a", "./b", "sh"].iter().any(|known| name == *known));
        let joined = line.programs.join(OsStr::new(" "));
        assert_eq!(line.launcher.unwrap_or_default(), launcher, "{text}");
        assert_eq!((line.ranks.unwrap_or(0), joined.to_str().unwrap()), (ranks, programs), "{text}");
    }

    #[test]
    fn programs_are_found_behind_launchers_and_wrappers() {
        check("./a -n 4", "", 0, "./a");
        check("mpirun -n 4 ./a -n 5 ./b", "mpirun", 4, "./a");
        check("/opt/x/bin/mpiexec -np 2 --mca btl self,vader ./a", "/opt/x/bin/mpiexec", 2, "./a");
        check("mpirun -n 1 ./a : -n 3 ./b", "mpirun", 4, "./a ./b");
        check("mpirun -n 4 ./missing ./a", "mpirun", 4, "./missing");
        check("mpirun --oversubscribe ./missing ./a", "mpirun", 0, "./missing");
        check("mpirun --unheard-of value ./a", "mpirun", 0, "./a");
        check("mpirun --unheard-of ./a x", "mpirun", 0, "./a");
        check("mpirun -x OMP_NUM_THREADS=2 env A=1 numactl -N0 ./a", "mpirun", 0, "./a");
        check("srun -n4 --cpu-bind=cores -c 2 ./a", "srun", 4, "./a");
        check("env A=1 mpirun -n 2 marey record -o x -- ./a y", "mpirun", 2, "./a");
        check("nice -n 10 taskset -c 0-1 ./a", "", 0, "./a");
        check("mpirun -n 4", "mpirun", 4, "");
        check("env", "", 0, "env");
        check("sh -c ./a", "", 0, "sh");
    }
}
