//! Where pages of this user stand on a server of this machine.
//!
//! The one idea: browsers send cookies to every server of a host, whatever its port, and other users of the machine may have
//! servers, too; a path that nobody else knows keeps the cookie from them. Each port has a path of its own, or who takes the
//! port of a server that has ended would learn those of the others. It is the same from one server on a port to the next, so
//! that a page whose server was started again goes on. Where it cannot be kept, each server has another.

use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};

use crate::recent;

/// Letters of a path: 64 bits.
const LETTERS: usize = 16;

/// Paths of more ports are forgotten.
const MOST: usize = 100;

/// A word made by chance.
pub(super) fn new() -> io::Result<String> {
    let mut bytes = [0; LETTERS / 2];
    let mut filled = 0;
    while filled < bytes.len() {
        filled += rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// `/0123456789abcdef/`: the path of a port, or of socket files; `new`, which is kept, if it had none.
pub(super) fn of(port: Option<u16>, new: String) -> String {
    let port = port.unwrap_or(0);
    let known = kept();
    let word = match known.iter().find(|(it, _)| *it == port) {
        Some((_, word)) => word.clone(),
        None => {
            // Whoever keeps another meanwhile has that; and a page that knows neither is opened anew.
            keep(&known, (port, &new)).ok();
            new
        }
    };
    format!("/{word}/")
}

/// Ports and their words, the latest first.
fn kept() -> Vec<(u16, String)> {
    // What is no file, a pipe for one, might keep us waiting.
    let text = recent::state().map(|state| state.join("places")).filter(|file| file.is_file());
    let text = text.and_then(|file| std::fs::read_to_string(file).ok());
    let is_one = |word: &str| word.len() == LETTERS && word.bytes().all(|letter| letter.is_ascii_hexdigit());
    let of_line = |line: &str| {
        let (port, word) = line.split_once(' ')?;
        is_one(word).then_some((port.parse().ok()?, word.to_owned()))
    };
    text.unwrap_or_default().lines().filter_map(of_line).take(MOST).collect()
}

fn keep(known: &[(u16, String)], (port, word): (u16, &str)) -> io::Result<()> {
    let Some(state) = recent::state() else { return Ok(()) };
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&state)?;
    let file = state.join("places");
    let before = known.iter().take(MOST - 1).map(|(port, word)| format!("{port} {word}\n"));
    let text: String = std::iter::once(format!("{port} {word}\n")).chain(before).collect();
    // Whoever reads meanwhile reads the old list or the new one.
    let (aside, mut new) = marey_archive::Aside::new(&file)?;
    new.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    new.write_all(text.as_bytes())?;
    aside.put(&file)
}
