//! Which odd programs there are: a source, its words, and what may be lost of it.
//!
//! The one idea: a row says what is known beforehand; all else is seen by running the program alone.

/// How a program is built and started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    C,
    Cxx,
    Rust,
    Fortran,
    OpenMpi,
    Mpich,
}

/// What a run may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    Nothing,
    /// As much as it says that it lacks.
    Told,
    /// Any number: not a byte can be written, and so nothing be counted either. That is told.
    Uncounted,
}

/// An odd program with its words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) kind: Kind,
    /// Name of the source.
    pub(crate) source: &'static str,
    /// The first word; the last is always the seed.
    pub(crate) name: &'static str,
    /// Words between the two. `plug` and `other` stand for libraries.
    pub(crate) words: &'static [&'static str],
    /// Options that it is recorded with, instead of those that are drawn.
    pub(crate) options: &'static [&'static str],
    /// Which visits may be lost.
    pub(crate) loss: Loss,
    /// Whether what it prints and counts depends on the moment.
    pub(crate) is_random: bool,
    /// Too long for every change.
    pub(crate) is_long: bool,
}

const CASE: Case = Case {
    kind: Kind::C,
    source: "",
    name: "",
    words: &[],
    options: &[],
    loss: Loss::Nothing,
    is_random: false,
    is_long: false,
};

/// Cases of one source that differ in their first word only.
fn each(kind: Kind, source: &'static str, names: &[&'static str]) -> Vec<Case> {
    names.iter().map(|name| Case { kind, source, name, ..CASE }).collect()
}

/// The same, of which something may be lost.
fn lossy(kind: Kind, source: &'static str, names: &[&'static str]) -> Vec<Case> {
    each(kind, source, names).into_iter().map(|case| Case { loss: Loss::Told, ..case }).collect()
}

/// All cases.
pub(crate) fn all() -> Vec<Case> {
    use Kind::{C, Cxx, Fortran, Rust};
    let mut cases =
        each(C, "fork.c", &["fork", "raw", "clone", "tree", "inside", "handler", "vfork", "spawn", "orphan"]);
    // A child that was forked while another thread made definitions is not recorded, and says so.
    cases.extend(lossy(C, "fork.c", &["threads", "rawthreads"]));
    for name in [
        "execv", "execve", "execvp", "execl", "execlp", "execvpe", "execle", "fexecve", "execveat", "region",
        "fails", "shell", "bare", "vfork",
    ] {
        let left = if matches!(name, "fails" | "shell" | "bare" | "vfork") { "1" } else { "4" };
        let words: &[&str] = if left == "1" { &["1"] } else { &["4"] };
        cases.push(Case { kind: C, source: "exec.c", name, words, ..CASE });
    }
    cases.push(Case { source: "exec.c", name: "thread", words: &["4"], ..CASE });
    cases.extend(each(C, "handlers.c", &["visits", "segv", "contexts"]));
    cases.extend(lossy(C, "handlers.c", &["first", "nested", "pestered", "jumps", "altstack"]));
    let ends = [
        "return", "_exit", "group", "quick", "_Exit", "amid", "thread", "main", "atexit", "abort", "aborts",
        "fault", "self", "killed", "ended", "defining",
    ];
    cases.extend(each(C, "ends.c", &ends));
    for name in ["again", "other", "threads", "fork"] {
        cases.push(Case { source: "library.c", name, words: &["plug", "other"], ..CASE });
    }
    cases.extend(each(Cxx, "late.cc", &["threads", "throws", "cancels", "exit", "terminate", "nothing"]));
    cases.extend(each(C, "threads.c", &["many", "detached", "waits", "tests", "leaves"]));
    cases.push(Case { source: "threads.c", name: "tenthousand", is_long: true, ..CASE });
    // A thread that is cancelled in the middle of a record has not made it.
    cases.extend(each(C, "threads.c", &["async"]));
    let filters = [
        "clock",
        "midway-clock",
        "clock-syscall",
        "midway-clock-syscall",
        "strict",
        "midway-strict",
        "few-eperm",
        "few-kill",
        "files-enosys",
        "files-eperm",
        "files-kill",
        "files-trap",
        "midway-files-eperm",
        "midway-files-kill",
        "memory-eperm",
        "memory-enosys",
        "memory-kill",
        "midway-memory-kill",
        "midway-memory-eperm",
        "midway-memory-kill-listener",
        "rest-enosys",
        "rest-eperm",
        "rest-kill",
        "midway-rest-kill",
        "rest-trap",
    ];
    cases.extend(lossy(C, "seccomp.c", &filters));
    for name in [
        "files",
        "full",
        "memory",
        "data",
        "processes",
        "stack",
        "core",
        "size",
        "nosize",
        "locked",
        "closed",
    ] {
        for words in [&["start"][..], &["midway"]] {
            // Of a process without a file, or without memory for a recorder, nothing is counted.
            let is_mute = matches!((name, words), ("nosize" | "size" | "data" | "memory", ["start"]));
            let loss = if is_mute { Loss::Uncounted } else { Loss::Told };
            cases.push(Case { source: "limits.c", name, words, loss, ..CASE });
        }
    }
    let leaves = ["daemon", "byhand", "closefrom", "closerange", "unshare", "pids", "users", "chdir"];
    cases.extend(each(C, "daemon.c", &leaves));
    cases.extend(lossy(C, "daemon.c", &["chroot", "user"]));
    cases.extend(each(C, "maps.c", &["fixed", "words", "environment", "noenvironment", "nodump"]));
    cases.extend(lossy(C, "maps.c", &["many", "locked"]));
    cases.extend(each(C, "traced.c", &["calls", "signals", "execs"]));
    let interrupted = [
        "waits",
        "timers",
        "blocks",
        "resets",
        "takes",
        "receives",
        "coroutines",
        "jumps",
        "deep",
        "corrupt",
        "altstack",
        "generated",
        "forks",
        "threads",
        "cancels",
        "loaded",
        "suspends",
        "shares",
        "awaits",
        "wakes",
        "ignores",
    ];
    for case in each(C, "interrupted.c", &interrupted) {
        cases.push(Case { options: &["--sample", "1000"], ..case });
    }
    cases.push(Case { options: &["--sample", "1000"], ..each(Cxx, "late.cc", &["throwing"])[0] });
    let files =
        ["closes", "duplicates", "shares", "threads", "cancels", "handlers", "interrupted", "odd", "many"];
    cases.extend(each(C, "files.c", &files));
    // A handler that comes while the recorder is at work is not recorded.
    cases.push(Case {
        loss: Loss::Told,
        source: "files.c",
        name: "unloads",
        words: &["plug", "other"],
        ..CASE
    });
    let blocked = [
        "cancels",
        "asynchronous",
        "hurried",
        "torn",
        "jumps",
        "altstack",
        "anywhere",
        "handlers",
        "restarts",
        "forks",
        "vforks",
        "inside",
        "asks",
        "contexts",
        "small",
        "names",
        "own",
        "exits",
    ];
    cases.extend(each(C, "blocked.c", &blocked));
    // What a handler allocates may fall into a moment of the recorder's, and is missing then.
    let heap = ["handlers", "jumps", "deep", "small", "coroutines", "late", "forks", "any"];
    for options in [&[][..], &["--heap", "1"]] {
        cases.extend(lossy(C, "heap.c", &heap).into_iter().map(|case| Case { options, ..case }));
        cases.push(Case { source: "heap.c", name: "plugs", words: &["plug", "other"], options, ..CASE });
    }
    // Such a program has no heap that could be recorded, and the run says so.
    cases.extend(lossy(C, "own_heap.c", &["own"]));
    cases.extend(each(Rust, "rust.rs", &["panics", "channels", "spawns", "exits", "aborts"]));
    cases.extend(each(Fortran, "fortran.f90", &["stops", "fails", "reads", "returns"]));
    for case in &mut cases {
        case.is_random = matches!(
            (case.source, case.name),
            ("exec.c", "thread") | ("ends.c", "amid" | "thread" | "killed" | "ended" | "defining")
        );
    }
    cases
}

/// Those with two ranks, which run one at a time.
pub(crate) fn with_ranks() -> Vec<Case> {
    let mut cases = Vec::new();
    for kind in [Kind::OpenMpi, Kind::Mpich] {
        let names = ["plain", "fork", "handlers", "atexit", "threads", "exit"];
        cases.extend(each(kind, "mpi.c", &names));
        cases.push(Case { kind, source: "mpi.c", name: "plug", words: &["plug"], ..CASE });
        let full: &[&str] = &["--mode", "full"];
        cases.push(Case { kind, source: "mpi.c", name: "shut", options: full, ..CASE });
    }
    for case in &mut cases {
        if case.name == "handlers" {
            case.loss = Loss::Told;
        }
    }
    cases
}
