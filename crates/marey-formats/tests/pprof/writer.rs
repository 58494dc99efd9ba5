//! A profile of pprof with all of its fields.

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
        value >>= 7;
    }
    out.push(u8::try_from(value).unwrap());
    out
}

/// A field that holds a number.
fn n(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

/// One that holds a message or a text.
fn m(field: u64, parts: &[Vec<u8>]) -> Vec<u8> {
    let content = parts.concat();
    [varint(field << 3 | 2), varint(content.len() as u64), content].concat()
}

const TEXTS: [&str; 16] = [
    "",
    "samples",
    "count",
    "cpu",
    "microseconds",
    "main",
    "main.c",
    "work",
    "inlined",
    "thread",
    "worker",
    "wall",
    "seconds",
    "/usr/lib/libfoo.so",
    "a remark",
    "MPI_Send",
];

/// Wall time in seconds comes last, and the usual time is that of the processor, in µs. Of two threads; one function is
/// inlined into another, one address has no function.
pub(crate) fn profile() -> Vec<u8> {
    let value_type = |field, name, unit| m(field, &[n(1, name), n(2, unit)]);
    let line = |function, line| m(4, &[n(1, function), n(2, line)]);
    let label = m(3, &[n(1, 9), n(2, 10)]);
    let other = m(3, &[n(1, 6), n(3, 7)]);
    // Packed, as all do nowadays, and number by number.
    let packed = |field, numbers: &[u64]| m(field, &numbers.iter().map(|it| varint(*it)).collect::<Vec<_>>());
    let mut all = vec![
        value_type(1, 1, 2),
        value_type(1, 3, 4),
        value_type(1, 11, 12),
        // worker: main calls work, with something inlined, calls MPI_Send.
        m(2, &[packed(1, &[4, 2, 1]), packed(2, &[2, 30, 1]), label]),
        // nobody's: main calls work.
        m(2, &[n(1, 2), n(1, 1), n(2, 1), n(2, 5), n(2, 2), other]),
        m(2, &[packed(1, &[3, 1]), packed(2, &[1, 7, 0])]),
        // Less than nothing, as in a difference.
        m(2, &[packed(1, &[1]), packed(2, &[1, u64::MAX, 0])]),
        m(3, &[n(1, 2), n(5, 13)]),
        m(4, &[n(1, 1), line(1, 11)]),
        m(4, &[n(1, 2), line(3, 33), line(2, 22)]),
        m(4, &[n(1, 3), n(2, 2), n(3, 0x1234)]),
        m(4, &[n(1, 4), line(4, 0)]),
        m(5, &[n(1, 1), n(2, 5), n(4, 6), n(5, 10)]),
        m(5, &[n(1, 2), n(2, 7), n(4, 6), n(5, 20)]),
        m(5, &[n(1, 3), n(2, 8), n(4, 6), n(5, 30)]),
        m(5, &[n(1, 4), n(3, 15)]),
    ];
    all.extend(TEXTS.iter().map(|text| m(6, &[text.as_bytes().to_vec()])));
    all.extend([n(7, 0), n(9, 1_700_000_000_000_000_000), n(10, 99), value_type(11, 3, 4), n(12, 10_000)]);
    all.extend([n(13, 14), n(14, 3)]);
    all.concat()
}
