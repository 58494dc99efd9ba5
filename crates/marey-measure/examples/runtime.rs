//! A library that records the process it is loaded into: `LD_PRELOAD` it with `MAREY_SPOOL` naming
//! a directory. Tests and benches of the C header and the Fortran module run against it, so that
//! they need nothing of the library that `marey record` preloads.
#![expect(unsafe_code, reason = "exports a C symbol")]

use std::path::PathBuf;
use std::sync::OnceLock;

use marey_measure::{ABI_VERSION, Config, Mode, Runtime, RuntimeTable, TABLE, forget_thread};

/// The table of the process's runtime, which the first call starts. Null if nothing is to be
/// recorded or the caller was compiled for another version.
// SAFETY: nobody else in a process that loads this library defines this name.
#[unsafe(no_mangle)]
pub extern "C" fn marey_runtime(abi: u32) -> *const RuntimeTable {
    static STARTED: OnceLock<bool> = OnceLock::new();
    let started = *STARTED.get_or_init(|| {
        let Some(spool) = std::env::var_os("MAREY_SPOOL").map(PathBuf::from) else { return false };
        let max_bytes = std::env::var("MAREY_MAX_BYTES").ok().and_then(|text| text.parse().ok());
        let config = Config {
            rules: marey_model::Rules::default(),
            spool,
            mode: Mode::Trace,
            is_profile: false,
            max_bytes: max_bytes.unwrap_or(0),
            budget: 0,
            stack_depth: 0,
            skew: None,
        };
        Runtime::start(config, forget_thread).is_some()
    });
    if started && abi == ABI_VERSION { &raw const TABLE } else { core::ptr::null() }
}
