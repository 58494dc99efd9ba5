//! Sites of tests that call the recorder's inner functions.
#![expect(clippy::unwrap_used, reason = "a test")]

use marey_measure::{Definitions, RegionKey, current_runtime, level};
use marey_model::Role;

/// The site of a region without a stack.
pub(crate) fn site(name: &str) -> u32 {
    let key = RegionKey {
        level: level::SOURCE,
        verb: String::new(),
        role: Role::Work,
        noun_kind: "",
        noun: name.to_owned(),
        file: String::new(),
        line: 0,
    };
    let define = |definitions: &mut Definitions| {
        let region = definitions.region(&key);
        definitions.site(region, None)
    };
    current_runtime().unwrap().define(define).unwrap().0
}
