//! How the user is told where the viewer is.
//!
//! The one idea: a server that nobody can find is of no use, so the address goes to standard output, else to standard
//! error, and where neither takes it there is no server.

use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::Path;

use marey_serve::host::Entry;

use crate::doctor::quote;
use crate::inherited;
use crate::paint::harmless;

/// Port of the machine with the browser that leads to a socket file here; any that is free there would do.
const AT_THE_BROWSER: u16 = 8080;

/// The address that a browser has to open.
pub(super) fn address(entry: &Entry) -> String {
    match entry.port {
        Some(port) => format!("http://127.0.0.1:{port}{}", entry.path),
        None => format!("http://localhost:{AT_THE_BROWSER}{}", entry.path),
    }
}

/// Says the address on a line of its own.
///
/// # Errors
/// If neither output nor standard error can be written to.
pub(super) fn tell(address: &str) -> io::Result<()> {
    let out = said(&mut io::stdout().lock(), address);
    out.or_else(|_| said(&mut io::stderr().lock(), address))
}

fn said(out: &mut (impl Write + AsRawFd), address: &str) -> io::Result<()> {
    // What was closed has been opened on what takes everything.
    if inherited::was_closed(out.as_raw_fd()) {
        return Err(io::Error::new(io::ErrorKind::NotConnected, "standard output and error are closed"));
    }
    writeln!(out, "{address}")?;
    out.flush()
}

/// How to come to a socket file from the machine with the browser.
pub(super) fn recipe(socket: &Path, address: &str) -> String {
    let socket = socket.canonicalize().unwrap_or_else(|_| socket.to_owned());
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!(
        "where the browser is, type `ssh -L {AT_THE_BROWSER}:{} {}`, and open {address} there; if port \
         {AT_THE_BROWSER} is taken, another one in both",
        quote(&socket.to_string_lossy()),
        harmless(&host),
    )
}
