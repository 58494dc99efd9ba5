//! Runs out of traces of other tools, each compared with what the format's own tool says of it.
//!
//! The one idea: the reference is the text that the tool prints, gone through line by line, the slow way. The archives are
//! written by the format's own library, with other content for each number that is given to the program.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "import/chrome.rs"]
mod chrome;
#[path = "import/otf2.rs"]
mod otf2;
#[path = "import/perfetto.rs"]
mod perfetto;
