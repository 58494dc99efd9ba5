//! The launcher, seen from outside: exit statuses, signals, the environment of the program, and
//! what happens to directories that are already there.
//!
//! The programs are scripts of /bin/sh, which makes no call that is measured; what a recorder
//! leaves behind is the matter of other tests.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rustix::pty::OpenptFlags;
use tempfile::TempDir;

/// A directory of its own to record in.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn marey(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
        command.current_dir(self.0.path()).args(args).env_remove("LD_PRELOAD").stdin(Stdio::null());
        command
    }

    /// Records a script of the shell.
    fn record(&self, options: &[&str], script: &str) -> Output {
        let words = [&["record"], options, &["--", "/bin/sh", "-c", script]].concat();
        self.marey(&words).output().unwrap()
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A run as a merge leaves it, as far as the launcher looks.
fn make_finished(run: &Path) {
    fs::create_dir(run).unwrap();
    fs::write(run.join("meta.json"), "{}").unwrap();
}

#[test]
fn the_exit_status_is_the_program_s() {
    let place = Place::new();
    for (script, expected) in [("true", 0), ("exit 7", 7), ("exit 255", 255), ("kill -9 $$", 137)] {
        assert_eq!(place.record(&[], script).status.code(), Some(expected), "{script}");
    }
}

#[test]
fn a_command_that_cannot_run_is_told_as_a_shell_does() {
    let place = Place::new();
    fs::write(place.path("text"), "no program").unwrap();
    for (command, expected) in [("no-such-program-anywhere", 127), ("./text", 126), ("/", 126)] {
        let output = place.marey(&["record", "--", command]).output().unwrap();
        assert_eq!(output.status.code(), Some(expected), "{command}");
        assert!(stderr(&output).contains(command), "{}", stderr(&output));
        assert!(!place.path("run.marey").exists(), "nothing ran, so nothing is left");
    }
}

#[test]
fn a_recording_that_cannot_begin_leaves_nothing() {
    let marey = env!("CARGO_BIN_EXE_marey");
    let cases = [
        (format!("{marey} record --spool /proc -- echo ran"), "/proc"),
        // The library is longer than that.
        (format!("ulimit -f 100; {marey} record -- echo ran"), "raise `ulimit -f`"),
        (
            format!("ulimit -f 100; PMIX_NAMESPACE=s PMI_SIZE=2 {marey} record -- echo ran"),
            "raise `ulimit -f`",
        ),
    ];
    for (line, hint) in cases {
        let place = Place::new();
        fs::create_dir(place.path("run.marey")).unwrap();
        let inode = fs::metadata(place.path("run.marey")).unwrap().ino();
        let output =
            Command::new("/bin/sh").args(["-c", &line]).current_dir(place.0.path()).output().unwrap();
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), ""), "{line}");
        assert!(stderr(&output).contains(hint), "{line}: {}", stderr(&output));
        let left: Vec<_> =
            fs::read_dir(place.0.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["run.marey"], "{line}");
        assert_eq!(fs::metadata(place.path("run.marey")).unwrap().ino(), inode, "{line}");
        assert!(fs::read_dir(place.path("run.marey")).unwrap().next().is_none(), "{line}");
    }
}

#[test]
fn a_script_without_interpreter_line_runs_in_sh() {
    let place = Place::new();
    fs::write(place.path("script"), "echo $1; exit 4").unwrap();
    fs::set_permissions(place.path("script"), fs::Permissions::from_mode(0o755)).unwrap();
    let output = place.marey(&["record", "--", "./script", "word"]).output().unwrap();
    assert_eq!((stdout(&output).as_str(), output.status.code()), ("word\n", Some(4)));
}

#[test]
fn streams_are_left_alone() {
    let place = Place::new();
    let mut child = place
        .marey(&["record", "--", "/bin/sh", "-c", "cat; echo err >&2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"a\0b\xff").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"a\0b\xff");
    assert!(stderr(&output).starts_with("err\n"), "{}", stderr(&output));
}

#[test]
fn the_program_finds_what_the_recorder_needs() {
    let place = Place::new();
    let script = r#"echo "$LD_PRELOAD|$MAREY_SPOOL|$MAREY_MODE|$MAREY_STACK_DEPTH|$MAREY_THREADS|$MAREY_MAX_MB|$MAREY_ALL"
                    test "$MAREY_PARENT_PID" = "$PPID" && test -x "$MAREY_SPOOL/libmarey.so" && echo ok"#;
    let spool = fs::canonicalize(place.0.path()).unwrap().join("run.marey/spool");
    let spool = spool.display();
    let cases: [(&[&str], String); 2] = [
        (&[], format!("{spool}/libmarey.so|{spool}|trace|32|on|256|\nok\n")),
        (
            &["--mode", "profile", "--depth", "1", "--threads", "off", "--max-mb", "5", "--all"],
            format!("{spool}/libmarey.so|{spool}|profile|1|off|5|1\nok\n"),
        ),
    ];
    for (options, expected) in cases {
        assert_eq!(stdout(&place.record(&[options, &["--force"]].concat(), script)), expected);
    }
}

/// A finished run of that name had been replaced by an empty spool.
#[test]
fn mode_quiet_touches_no_run() {
    let place = Place::new();
    make_finished(&place.path("run.marey"));
    let script = "test -x \"$MAREY_SPOOL/libmarey.so\" && echo $MAREY_MODE; exit 3";
    for mode in ["quiet", "off"] {
        for force in [&["--force"][..], &[]] {
            let output = place.record(&[&["--mode", mode], force].concat(), script);
            assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(3), "quiet\n"), "{mode}");
            assert!(stderr(&output).contains("nothing was recorded"), "{}", stderr(&output));
            let left = |dir: &Path| -> Vec<_> {
                fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect()
            };
            assert_eq!(left(place.0.path()), ["run.marey"], "{mode}");
            assert_eq!(left(&place.path("run.marey")), ["meta.json"], "{mode}");
        }
    }
    let missing =
        place.marey(&["record", "--mode", "quiet", "--", "no-such-program-anywhere"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(127));
    assert_eq!(fs::read_dir(place.0.path()).unwrap().count(), 1);
}

#[test]
fn a_filter_is_read_to_a_bound() {
    let place = Place::new();
    let rule = format!("wrong {}", "x".repeat(100_000));
    fs::write(place.path("binary"), b"count \xff").unwrap();
    fs::write(place.path("long"), &rule).unwrap();
    let cases = [
        (["--filter", "/dev/zero"], "larger than 1.00 MiB"),
        (["--filter", "binary"], "binary is no filter: it is not text"),
        (["--filter", "long"], "long is no filter: line 1"),
        (["--rule", rule.as_str()], "does not begin with"),
    ];
    for (options, expected) in cases {
        let output = place.record(&options, "echo ran");
        let said = stderr(&output);
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""), "{said}");
        assert!(said.contains(expected) && said.len() < 400, "{expected}: {}", &said[..said.len().min(400)]);
    }
}

#[test]
fn the_user_s_libraries_are_kept() {
    let place = Place::new();
    // The dynamic linker of the launcher itself warns of a missing library and goes on.
    for (first, pattern) in [("0", "/users.so:/"), ("1", "/libmarey.so:/users.so")] {
        let output = place
            .marey(&["record", "--", "/bin/sh", "-c", "echo $LD_PRELOAD"])
            .env("LD_PRELOAD", "/users.so")
            .env("MAREY_PRELOAD_FIRST", first)
            .output()
            .unwrap();
        assert!(stdout(&output).contains(pattern), "{}", stdout(&output));
    }
}

#[test]
fn the_library_of_another_recording_is_replaced() {
    let place = Place::new();
    let outer = "/first.so /outer/spool/libmarey.so:/second.so:/elsewhere/libmarey.so";
    for (first, pattern) in [("0", "/first.so:/second.so:/"), ("1", "/libmarey.so:/first.so:/second.so")] {
        let output = place
            .marey(&["record", "--", "/bin/sh", "-c", "echo $LD_PRELOAD"])
            .env("LD_PRELOAD", outer)
            .env("MAREY_PRELOAD_FIRST", first)
            .output()
            .unwrap();
        let list = stdout(&output);
        assert!(list.contains(pattern) && list.matches("libmarey.so").count() == 1, "{list}");
    }
}

#[test]
fn a_run_is_closed_to_others() {
    let place = Place::new();
    let output = place.record(&[], "stat -c %a $MAREY_SPOOL $MAREY_SPOOL/.. $MAREY_SPOOL/libmarey.so");
    assert_eq!(stdout(&output), "700\n700\n700\n");
}

#[test]
fn the_library_is_loadable_from_a_path_that_the_linker_would_split() {
    let place = Place::new();
    let output = place.record(&["-o", "a b:c.marey"], "test -x \"$LD_PRELOAD\" && echo \"$LD_PRELOAD\"");
    let library = stdout(&output);
    assert!(library.ends_with("libmarey.so\n") && !library.contains("a b"), "{library}");
    assert!(!Path::new(library.trim_end()).exists(), "the copy is removed afterwards");
    assert!(place.path("a b:c.marey/spool/launch.json").exists());
}

#[test]
fn a_finished_run_is_overwritten_by_force_only() {
    let place = Place::new();
    let run = place.path("run.marey");
    make_finished(&run);
    let inode = fs::metadata(&run).unwrap().ino();

    let refused = place.record(&[], "echo ran");
    assert_eq!((refused.status.code(), stdout(&refused).as_str()), (Some(2), ""));
    assert!(stderr(&refused).contains("--force"), "{}", stderr(&refused));
    assert_eq!(fs::metadata(&run).unwrap().ino(), inode);

    let missing = place.marey(&["record", "--force", "--", "no-such-program-anywhere"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(127));
    assert_eq!(fs::metadata(&run).unwrap().ino(), inode, "a program that never ran replaces nothing");

    let replaced = place.record(&["--force"], "echo ran");
    assert_eq!((replaced.status.code(), stdout(&replaced).as_str()), (Some(0), "ran\n"));
    assert!(!run.join("meta.json").exists());
    let left: Vec<_> =
        fs::read_dir(place.0.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["run.marey"], "what was moved aside is gone");
}

#[test]
fn what_is_not_a_disposable_run_stays() {
    type Occupy = fn(&Path);
    let occupy: [(&str, Occupy); 4] = [
        ("a file", |run| fs::write(run, "text").unwrap()),
        ("a directory of the user's", |run| {
            fs::create_dir(run).unwrap();
            fs::write(run.join("thesis.tex"), "text").unwrap();
        }),
        ("a link to a directory", |run| {
            let target = run.with_extension("target");
            fs::create_dir(&target).unwrap();
            symlink(target, run).unwrap();
        }),
        ("a link to nothing", |run| symlink("/no/such/place", run).unwrap()),
    ];
    for (name, occupy) in occupy {
        let place = Place::new();
        let run = place.path("run.marey");
        occupy(&run);
        let inode = fs::symlink_metadata(&run).unwrap().ino();
        let output = place.record(&["--force"], "echo ran");
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""), "{name}");
        assert_eq!(fs::symlink_metadata(&run).unwrap().ino(), inode, "{name}");
    }
}

#[test]
fn an_unmerged_recording_is_not_lost_by_accident() {
    let place = Place::new();
    let recorded = place.record(&["--no-merge"], "touch $MAREY_SPOOL/left-by-a-process");
    assert!(stderr(&recorded).contains("marey merge run.marey"), "{}", stderr(&recorded));
    let refused = place.record(&[], "true");
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("marey merge run.marey"), "{}", stderr(&refused));
    assert_eq!(place.record(&["--force"], "true").status.code(), Some(0));
}

/// Seen in a review: the next recording of the same name replaced it without a word.
#[test]
fn a_recording_whose_launcher_was_killed_is_not_lost_by_accident() {
    let place = Place::new();
    let killed = place.record(&[], "touch $MAREY_SPOOL/left-by-a-process; kill -9 $PPID");
    assert_eq!(killed.status.code(), None);
    let refused = place.record(&[], "true");
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("marey merge run.marey"), "{}", stderr(&refused));
    assert!(place.path("run.marey/spool/left-by-a-process").exists());
}

#[test]
fn two_recordings_do_not_share_a_run() {
    let place = Place::new();
    let inner = format!("{} record --force -- true; echo inner $?", env!("CARGO_BIN_EXE_marey"));
    let output = place.record(&[], &inner);
    assert_eq!(stdout(&output), "inner 2\n", "{}", stderr(&output));
}

/// `mpirun -n 3 marey record -- ./app`, as far as the recorders can tell.
#[test]
fn recorders_of_one_job_step_share_a_run() {
    let place = Place::new();
    make_finished(&place.path("run.marey"));
    let ranks = format!(
        "for rank in 1 2 3; do {} record --force --no-merge -- /bin/sh -c 'touch $MAREY_SPOOL/'$rank'; exit '$rank &
         pids=\"$pids $!\"; done; for pid in $pids; do wait $pid; echo $?; done; ls run.marey/spool; ls -d *",
        env!("CARGO_BIN_EXE_marey")
    );
    let output = Command::new("/bin/sh")
        .args(["-c", &ranks])
        .current_dir(place.0.path())
        .envs([("PMIX_NAMESPACE", "step"), ("OMPI_COMM_WORLD_SIZE", "3")])
        .output()
        .unwrap();
    assert_eq!(stdout(&output), "1\n2\n3\n1\n2\n3\nlaunch.json\nrun.marey\n", "{}", stderr(&output));
    assert_eq!(stderr(&output).matches("recorded, not merged").count(), 1, "the last one tells");
}

#[test]
fn what_is_recorded_elsewhere_comes_to_the_run() {
    let place = Place::new();
    fs::create_dir(place.path("disk")).unwrap();
    let script = "echo $MAREY_SPOOL; echo all > $MAREY_SPOOL/left.events; test -x $LD_PRELOAD";
    let output = place.record(&["--spool", "disk", "--no-merge"], script);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let spool = PathBuf::from(stdout(&output).trim_end());
    assert!(spool.starts_with(fs::canonicalize(place.path("disk")).unwrap()), "{}", spool.display());
    assert_eq!(fs::read(place.path("run.marey/spool/left.events")).unwrap(), b"all\n");
    assert!(place.path("run.marey/spool/launch.json").exists());
    assert!(fs::read_dir(place.path("disk")).unwrap().next().is_none());
}

#[test]
fn an_empty_recording_is_said_to_be_one() {
    let place = Place::new();
    let output = place.record(&[], "true");
    assert_eq!(output.status.code(), Some(0));
    for hint in ["nothing was measured", "--all", "static", "setuid"] {
        assert!(stderr(&output).contains(hint), "{hint}: {}", stderr(&output));
    }
}

#[test]
fn the_launch_file_tells_what_ran() {
    let place = Place::new();
    place.record(&["--title", "T", "--memo", "M"], "exit 3");
    let text = fs::read_to_string(place.path("run.marey/spool/launch.json")).unwrap();
    let launch: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(launch["argv"], serde_json::json!(["/bin/sh", "-c", "exit 3"]));
    assert_eq!(launch["title"], "T");
    assert_eq!(launch["memo"], "M");
    assert_eq!(launch["exit_code"], 3);
    for clock in ["ticks", "monotonic_ns", "realtime_ns"] {
        let at = |end: &str| launch[end][clock].as_u64().unwrap();
        assert!(at("start") < at("end"), "{clock}");
    }
}

#[test]
fn signals_that_reach_the_launcher_alone_are_passed_on() {
    let place = Place::new();
    for signal in ["TERM", "HUP", "INT", "QUIT", "USR1", "USR2", "CONT"] {
        // The script goes on until its trap ends it, so a signal that is lost hangs the test.
        let script = format!("trap 'exit 42' {signal}; kill -{signal} $PPID; while :; do :; done");
        assert_eq!(place.record(&[], &script).status.code(), Some(42), "{signal}");
    }
}

#[test]
fn a_program_that_dies_of_a_signal_gives_its_status() {
    let place = Place::new();
    let output = place.record(&[], "kill -TERM $PPID; while :; do :; done");
    assert_eq!(output.status.code(), Some(143));
    assert!(place.path("run.marey/spool/launch.json").exists());
}

#[test]
fn ignored_signals_stay_ignored() {
    let place = Place::new();
    let script = format!(
        "trap '' HUP; {} record -- /bin/sh -c 'kill -HUP $PPID; kill -HUP $$; echo alive'",
        env!("CARGO_BIN_EXE_marey")
    );
    let output = Command::new("/bin/sh").args(["-c", &script]).current_dir(place.0.path()).output().unwrap();
    assert_eq!((stdout(&output).as_str(), output.status.code()), ("alive\n", Some(0)));
}

/// What each start changes in signals and standard streams reaches the program, and nothing else.
#[test]
fn a_program_inherits_what_the_launcher_did() {
    let look = "grep -E '^Sig(Ign|Blk)' /proc/self/status
                for fd in 0 1 2 3 4; do test -e /proc/self/fd/$fd && echo $fd; done; true";
    let starts = [
        "exec \"$@\"",
        "trap '' PIPE; exec \"$@\"",
        "trap '' CHLD USR1 XFSZ; exec \"$@\"",
        "exec \"$@\" <&-",
        "exec \"$@\" <&- 2>&-",
        "exec env --block-signal=CHLD,TERM,PIPE \"$@\"",
    ];
    for start in starts {
        let place = Place::new();
        let seen = |launcher: &[&str]| {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", start, "sh"]).args(launcher).args(["/bin/sh", "-c", look]);
            // Setting the user who it is already makes the standard library fork by itself, and that
            // leaves two signals alone that the C library's way ignores in every child.
            command.uid(rustix::process::getuid().as_raw()).env_remove("LD_PRELOAD");
            stdout(&command.current_dir(place.0.path()).output().unwrap())
        };
        let alone = seen(&[]);
        assert!(alone.contains("SigIgn"), "{start}: {alone}");
        assert_eq!(seen(&[env!("CARGO_BIN_EXE_marey"), "record", "--"]), alone, "{start}");
    }
}

/// A program that is killed with its launcher would be a program changed by being measured.
#[test]
fn the_program_outlives_a_killed_launcher() {
    let place = Place::new();
    let mut launcher = place
        .marey(&["record", "--", "/bin/sh", "-c", "kill -9 $PPID; read line; echo got $line"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = launcher.stdin.take().unwrap();
    let mut output = BufReader::new(launcher.stdout.take().unwrap());
    assert_eq!(launcher.wait().unwrap().code(), None);
    input.write_all(b"word\n").unwrap();
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "got word\n");
}

/// The terminal itself sends ^C to the program, and mpirun takes a second one as "kill everything
/// at once". Here the program has left the terminal's session, so all it could get is the second.
#[test]
fn an_interrupt_from_the_terminal_is_not_passed_on() {
    let place = Place::new();
    // Closed on exec: what other tests start meanwhile must not find it open.
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = rustix::pty::openpt(flags).unwrap();
    rustix::pty::grantpt(&master).unwrap();
    rustix::pty::unlockpt(&master).unwrap();
    let name = rustix::pty::ptsname(&master, Vec::new()).unwrap();
    let slave = fs::File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let mut terminal = fs::File::from(master);

    let script = "n=0; trap 'n=$((n+1))' INT; trap 'echo count $n; exit 0' USR1; echo pid $PPID
                  while :; do :; done";
    let mut launcher = Command::new("setsid")
        .args(["--ctty", "--wait", env!("CARGO_BIN_EXE_marey"), "record", "--"])
        .args(["setsid", "/bin/sh", "-c", script])
        .current_dir(place.0.path())
        .stdin(slave.try_clone().unwrap())
        .stdout(slave.try_clone().unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(slave);
    let mut output = BufReader::new(terminal.try_clone().unwrap());
    let mut next_line = move |end: u8| {
        let mut text = Vec::new();
        output.read_until(end, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    };
    let first = next_line(b'\n');
    let pid = first.strip_prefix("pid ").unwrap().trim().parse().unwrap();
    terminal.write_all(b"\x03").unwrap();
    // The terminal echoes the key when it has sent the signal. One of a process follows it; when
    // that has come through, the launcher is done with the first.
    assert_eq!(next_line(b'C'), "^C");
    let launcher_pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(launcher_pid, rustix::process::Signal::USR1).unwrap();
    assert_eq!(next_line(b'\n').trim(), "count 0");
    assert!(launcher.wait().unwrap().success());
}
