//! Where pages of this user stand on a server of this machine.
//!
//! The one idea: browsers send cookies to every server of a host, whatever its port, and other users of the machine may have
//! servers, too; a path that nobody else knows keeps the cookie from them. It stays the same from one server to the next, so
//! that a page whose server was started again on its port goes on. Where it cannot be kept, each server has another.

use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};

use crate::recent;

/// Letters of a path: 64 bits.
const LETTERS: usize = 16;

/// `/0123456789abcdef/`
pub(super) fn own() -> io::Result<String> {
    let name = match kept() {
        Some(name) => name,
        None => {
            let name = made_by_chance()?;
            // If another viewer keeps one meanwhile, that is the one.
            keep(&name).ok();
            kept().unwrap_or(name)
        }
    };
    Ok(format!("/{name}/"))
}

fn kept() -> Option<String> {
    let text = std::fs::read_to_string(recent::state()?.join("place")).ok()?;
    let name = text.trim();
    let is_one = name.len() == LETTERS && name.bytes().all(|letter| letter.is_ascii_hexdigit());
    is_one.then(|| name.to_owned())
}

fn keep(name: &str) -> io::Result<()> {
    let Some(state) = recent::state() else { return Ok(()) };
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&state)?;
    let mut file =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(state.join("place"))?;
    writeln!(file, "{name}")
}

fn made_by_chance() -> io::Result<String> {
    let mut bytes = [0; LETTERS / 2];
    let mut filled = 0;
    while filled < bytes.len() {
        filled += rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
