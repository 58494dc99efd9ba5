//! What the `addr2line` of binutils says of many addresses, as chains that ours can be compared with.

mod rules;

mod spelling;

mod symbols;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

pub use rules::{Rule, explain};
pub use spelling::plain;
pub use symbols::{Symbol, Symbols};

/// One function of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its name in the spelling of [`plain`].
    pub function: String,
    pub file: Option<String>,
    pub line: Option<u32>,
}

/// Innermost inlined function first.
pub type Chain = Vec<Place>;

/// What binutils says of one address.
#[derive(Debug)]
pub struct Answer {
    pub chain: Chain,
    /// The names in the chain as linkers know them, which tells where a name was taken from.
    pub linkage_names: Vec<String>,
}

/// Names and places of one address, as they were said.
type Said = Vec<(String, String)>;

/// The answers for `addresses` of `file`.
pub fn answers(file: &Path, addresses: &[u64]) -> Vec<Answer> {
    let readable = ask(file, &["-C"], addresses);
    let raw = ask(file, &[], addresses);
    let answer = |(readable, raw): (Said, Said)| Answer {
        chain: readable.iter().map(|(name, at)| place(name, at)).collect(),
        linkage_names: raw.into_iter().map(|(name, _)| name).collect(),
    };
    readable.into_iter().zip(raw).map(answer).collect()
}

fn ask(file: &Path, flags: &[&str], addresses: &[u64]) -> Vec<Said> {
    let mut command = Command::new("addr2line");
    // -a repeats the address, which tells where an answer begins.
    command.args(["-a", "-f", "-i"]).args(flags).arg("-e").arg(file);
    let questions = addresses.iter().map(|vaddr| format!("{vaddr:#x}\n")).collect();
    parse(&filter(command, questions), addresses)
}

/// What a program makes of `input`.
fn filter(mut command: Command, input: String) -> String {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // Pipes hold little: who writes everything before reading waits for ever.
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The address begins an answer; then two lines stand for each function.
fn parse(said: &str, addresses: &[u64]) -> Vec<Said> {
    let mut answers: Vec<Said> = Vec::new();
    let mut lines = said.lines();
    while let Some(line) = lines.next() {
        if let Some(vaddr) = line.strip_prefix("0x") {
            let vaddr = u64::from_str_radix(vaddr, 16).unwrap();
            assert_eq!(addresses.get(answers.len()), Some(&vaddr), "answers come in the order of questions");
            answers.push(Vec::new());
        } else {
            let answer = answers.last_mut().unwrap();
            answer.push((line.to_owned(), lines.next().unwrap().to_owned()));
        }
    }
    assert_eq!(answers.len(), addresses.len());
    answers
}

/// `name` and `file:12 (discriminator 3)`; what is not known is `??`, `?` or 0.
fn place(name: &str, at: &str) -> Place {
    let at = at.split(" (discriminator ").next().unwrap();
    let (file, line) = at.rsplit_once(':').unwrap();
    Place {
        function: plain(name),
        file: (file != "??").then(|| lexical(file)),
        line: line.parse().ok().filter(|line| *line != 0),
    }
}

/// The path without `.`, `..` and doubled slashes: compilers write them, and readers keep or resolve them.
pub fn lexical(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if kept.last().is_some_and(|last| *last != "..") => {
                kept.pop();
            }
            _ => kept.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", kept.join("/"))
}
