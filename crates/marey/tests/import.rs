//! Runs out of traces of other tools, each compared with what the format's own tool says of it.
//!
//! The one idea: the reference is what the format's own tool prints, or a plain parser that holds all of it, gone through the
//! slow way; where there is neither, traces with known numbers.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "import/callgrind.rs"]
mod callgrind;
#[path = "import/chrome.rs"]
mod chrome;
#[path = "import/cube.rs"]
mod cube;
#[path = "import/otf2.rs"]
mod otf2;
#[path = "import/paraver.rs"]
mod paraver;
#[path = "import/perfetto.rs"]
mod perfetto;
#[path = "import/profiles.rs"]
mod profiles;
#[path = "import/speedscope.rs"]
mod speedscope;
#[path = "import/sums.rs"]
mod sums;
