//! The key that tells the user from everybody else on the machine.
//!
//! The one idea: it is two secrets. The first stands in the address that the user's browser is opened with, where others
//! might read it over a shoulder or in a list of processes, so it works once; it is exchanged for the second, which is a
//! cookie that no script can read.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// Two secrets of 128 bits.
#[derive(Debug)]
pub struct Key {
    once: String,
    is_used: AtomicBool,
    cookie: String,
    name: String,
}

impl Key {
    /// New ones from the kernel.
    pub(super) fn new() -> io::Result<Self> {
        // Cookies are told apart by host and not by port, so each server has a name of its own.
        let name = format!("marey-{}", &secret()?[..8]);
        Ok(Self { once: secret()?, is_used: AtomicBool::new(false), cookie: secret()?, name })
    }

    /// That for the address.
    pub(super) fn once(&self) -> &str {
        &self.once
    }

    /// Takes the one of an address; what the cookie is to be if it is right and used for the first time.
    pub(super) fn exchange(&self, given: &str, path: &str) -> Option<String> {
        if !is_same(given, &self.once) || self.is_used.swap(true, Ordering::AcqRel) {
            return None;
        }
        Some(format!("{}={}; HttpOnly; SameSite=Strict; Path={path}", self.name, self.cookie))
    }

    /// Whether a header of cookies has ours.
    pub(super) fn is_in(&self, cookies: &str) -> bool {
        let mut pairs = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(name, value)| name == self.name && is_same(value, &self.cookie))
    }
}

fn secret() -> io::Result<String> {
    let mut bytes = [0; 16];
    let mut filled = 0;
    while filled < bytes.len() {
        filled += rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Compares in a time that does not depend on where they differ.
fn is_same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_opens_once_and_its_cookie_ever_after() {
        let key = Key::new().unwrap();
        assert_eq!(key.exchange("00", "/"), None);
        assert_eq!(key.exchange(&"0".repeat(32), "/"), None);
        let once = key.once().to_owned();
        let cookie = key.exchange(&once, "/m/").unwrap();
        assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/m/"), "{cookie}");
        assert_eq!(key.exchange(&once, "/"), None);
        let pair = cookie.split(';').next().unwrap();
        assert!(key.is_in(pair) && key.is_in(&format!("a=b; {pair}")));
        assert!(!key.is_in("") && !key.is_in(&pair.replace('-', "_")) && !key.is_in(&format!("{pair}0")));
        let other = Key::new().unwrap();
        assert!(!other.is_in(pair));
    }
}
