//! One small recorded program under valgrind, which must find nothing: the short form of
//! `cargo xtask soak --only valgrind`, which compares many programs with and without the library.

use std::process::Command;
use std::sync::OnceLock;

use super::*;

/// The library with the C library's allocator, of whose blocks valgrind sees every end, and quickly
/// built: with its own the library reads mapped memory, which is never uninitialised.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let (target, triple) = (target().join("valgrind-target"), "x86_64-unknown-linux-gnu");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["rustc", "--quiet", "--package", "marey-collect", "--lib", "--crate-type", "cdylib"]);
        cargo.args(["--features", "system-allocator", "--target", triple, "--target-dir"]).arg(&target);
        cargo.current_dir(env!("CARGO_MANIFEST_DIR")).env_remove("RUSTFLAGS");
        check(&mut cargo);
        target.join(triple).join("debug/libmarey.so")
    })
}

#[test]
fn valgrind_finds_nothing_in_a_recorded_program() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return marey_testkit::skip("valgrind");
    }
    let place = TempDir::new().unwrap();
    let program = program("programs.c", place.path());
    for name in ["locks", "signals"] {
        let spool = place.path().join(name);
        std::fs::create_dir(&spool).unwrap();
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--quiet", "--trace-children=yes", "--num-callers=40", "--error-exitcode=99"]);
        valgrind.args([
            "--leak-check=full",
            "--show-leak-kinds=definite",
            "--errors-for-leak-kinds=definite",
        ]);
        // Behind `env`, so that valgrind itself is not measured.
        valgrind.args(["env", "MAREY_ALL=1"]).arg(format!("LD_PRELOAD={}", library().display()));
        valgrind
            .arg(format!("MAREY_SPOOL={}", spool.display()))
            .arg("MAREY_FILES=off")
            .arg(&program)
            .arg(name);
        let output = valgrind.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && errors.is_empty(), "{name}: {}\n{errors}", output.status);
        // `env` was recorded too; the program is the one that made threads.
        let processes = spool::read(&spool);
        assert!(processes.iter().any(|process| process.threads.len() > 1), "{name} was not recorded");
    }
}
