//! A small log of CLOG-1 with each type of record, whose numbers are known.

/// Adds a record: time, type, process; numbers, and bytes behind them.
fn record(
    log: &mut Vec<u8>,
    block: usize,
    (seconds, code, process): (f64, i32, i32),
    ints: &[i32],
    rest: &[u8],
) {
    let len = 24 + 4 * ints.len() + rest.len();
    assert!(len.is_multiple_of(8), "records are whole words");
    if log.len() % block + len + 24 > block {
        head(log, (seconds, -1, 0), 24);
        log.resize(log.len().next_multiple_of(block), 0xee);
    }
    head(log, (seconds, code, process), len);
    ints.iter().for_each(|value| log.extend(value.to_be_bytes()));
    log.extend(rest);
}

fn head(log: &mut Vec<u8>, (seconds, code, process): (f64, i32, i32), len: usize) {
    log.extend(seconds.to_be_bytes());
    for value in [code, i32::try_from(len / 8).unwrap_or(0), process, 0] {
        log.extend(value.to_be_bytes());
    }
}

fn field(text: &str, len: usize) -> Vec<u8> {
    let mut field = text.as_bytes().to_vec();
    field.resize(len, 0);
    field
}

/// The log, in blocks of this size: a state that is not of MPI around iterations, and two messages.
pub(crate) fn log(block: usize) -> Vec<u8> {
    let mut log = Vec::new();
    let mut add = |what, ints: &[i32], rest: &[u8]| record(&mut log, block, what, ints, rest);
    add((-0.5, 7, 0), &[900, 165], &field("clog.c", 40));
    add((-0.5, 4, 0), &[101, -1, 91, 900], &[]);
    add((-0.5, 8, 0), &[], &0.25_f64.to_be_bytes());
    let state = |name: &str| [field("red:vlines3", 24), field(name, 16)].concat();
    add((0.0, 1, 0), &[1, 0, 900, 0], &field("begin", 16));
    for at in 1..=14 {
        add((f64::from(at) * 0.001, 1, 0), &[7, at, 900, 0], &[0; 16]);
    }
    add((0.015, 1, 0), &[2, 5, 900, 0], &[0; 16]);
    add((0.020, 1, 0), &[3, 0, 900, 0], &[0; 16]);
    add((0.021, 1, 0), &[-101, 1, 900, 0], &field("4 80", 16));
    add((0.022, 1, 0), &[4, 0, 900, 0], &[0; 16]);
    add((0.023, 1, 1), &[-102, 0, 900, 0], &field("4 80", 16));
    add((0.024, 2, 0), &[-101, 9, 1, 91, 16, 900], &[]);
    add((0.025, 2, 1), &[-102, 9, 0, 91, 16, 900], &[]);
    add((0.026, 3, 0), &[1, 0, 91, 8, 900, 0], &[]);
    add((0.030, 6, 0), &[200, 1, 2, 0], &state("Compute"));
    add((0.030, 6, 0), &[201, 3, 4, 0], &state("SEND"));
    add((0.030, 5, 0), &[7, 0], &field("iteration", 16));
    head(&mut log, (1e6, -2, 0), 24);
    log.resize(log.len().next_multiple_of(block), 0);
    log
}
