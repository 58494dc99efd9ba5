//! Decoding of windows, records and definitions: any bytes give something or nothing, no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use marey_model::spool::{Definition, Record, view};

fuzz_target!(|bytes: &[u8]| {
    if let Some(window) = view(bytes) {
        assert!(window.records.len() <= bytes.len());
    }
    let mut at = 0;
    while let Some(_record) = Record::decode(bytes, &mut at) {}
    let mut at = 0;
    while let Some(_definition) = Definition::decode(bytes, &mut at) {}
});
