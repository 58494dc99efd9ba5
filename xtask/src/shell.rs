//! Running other programs, and saying so: every command is printed before it runs.
//!
//! Children get no standard input, so no task can ever wait for somebody to type.

use anyhow::{Context, Result, bail};
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The directory of the checkout.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the root of the workspace")
}

/// The target directory of the workspace.
pub(crate) fn target() -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => root().join(dir),
        None => root().join("target"),
    }
}

/// A program to be run in the root of the checkout.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root()).stdin(Stdio::null());
    // `cargo run` puts its own directories in front; measured programs must not find libraries there.
    match env::var("LD_LIBRARY_PATH") {
        Ok(paths) => match foreign_paths(&paths) {
            paths if paths.is_empty() => command.env_remove("LD_LIBRARY_PATH"),
            paths => command.env("LD_LIBRARY_PATH", paths),
        },
        Err(_) => &mut command,
    };
    command
}

/// The cargo that runs this task, in the root of the checkout.
pub(crate) fn cargo<'a>(args: impl IntoIterator<Item = &'a str>) -> Command {
    let mut cargo = command(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(args);
    cargo
}

fn foreign_paths(paths: &str) -> String {
    let target = target();
    let foreign = |path: &&str| {
        !Path::new(path).starts_with(&target) && !path.contains("/rustlib/") && !is_toolchain(path)
    };
    paths.split(':').filter(foreign).collect::<Vec<_>>().join(":")
}

/// A library directory of a Rust tool chain holds the standard library as a shared object.
fn is_toolchain(path: &str) -> bool {
    Path::new(path).join("rustlib").is_dir()
}

/// Prints the command, runs it, and fails if it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    println!("$ {}", typed(command));
    let status = command.status().with_context(|| format!("cannot start {}", typed(command)))?;
    if !status.success() {
        bail!("{} failed: {status}", typed(command));
    }
    Ok(())
}

/// What a command prints to standard output; fails if it fails.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start {}", typed(command)))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("{} failed: {}\n{}", typed(command), output.status, errors.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a command can be started and ends well; it prints nothing.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Where a program lies, if `PATH` has it.
pub(crate) fn which(program: &str) -> Option<PathBuf> {
    let paths = env::var_os("PATH")?;
    env::split_paths(&paths).map(|dir| dir.join(program)).find(|path| path.is_file())
}

/// The command line as one would type it in the root of the checkout.
pub(crate) fn typed(command: &Command) -> String {
    let program = Path::new(command.get_program());
    // Programs that PATH finds are typed by their names, our own by their relative paths.
    let program = match program.strip_prefix(root()) {
        Ok(relative) => relative.display().to_string(),
        Err(_) => match program.file_name().and_then(OsStr::to_str) {
            // Cargo is started by the full path of the tool chain that runs us.
            Some(name) if name == "cargo" || which(name).as_deref() == Some(program) => name.to_owned(),
            _ => program.display().to_string(),
        },
    };
    let words = command.get_args().map(|word| {
        let path = Path::new(word);
        quoted(&path.strip_prefix(root()).unwrap_or(path).to_string_lossy())
    });
    let set = command.get_envs().filter_map(|(name, value)| {
        let value = value.filter(|_| name != "LD_LIBRARY_PATH")?;
        Some(format!("{}={}", name.to_string_lossy(), quoted(&value.to_string_lossy())))
    });
    set.chain([program]).chain(words).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
