//! Records of compilers in each of their three forms: whatever the bytes are, there are rows within the bounds, or none.
//! The first byte says which form; what GCC writes is compressed here, for a fuzzer would never find its sum.
#![no_main]

use std::path::Path;

use flate2::{Compression, write::GzEncoder};
use libfuzzer_sys::fuzz_target;
use marey_source::remarks::{Format, RemarkConfig, Remarks, join};
use marey_source::text::Sources;
use std::io::Write;

fuzz_target!(|bytes: &[u8]| {
    let Some((form, bytes)) = bytes.split_first() else { return };
    let config = RemarkConfig { max_file_bytes: 1 << 20, max_rows: 1000 };
    let read = |bytes: &[u8], format| Remarks::read(bytes, Path::new("fuzzed"), format, &config);
    let remarks = match form % 4 {
        0 => {
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(bytes).expect("memory takes all");
            read(&packed.finish().expect("memory takes all"), Format::Gcc)
        }
        1 => read(bytes, Format::Llvm),
        2 => read(bytes, Format::Printed),
        _ => read(bytes, Format::Gcc),
    };
    assert!(remarks.rows.len() <= config.max_rows + 1);
    join(&remarks.rows, &Sources::default());
});
