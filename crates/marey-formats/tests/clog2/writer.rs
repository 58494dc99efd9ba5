//! A small log with each type of record, whose numbers are known, in either order of bytes.

/// Bytes of a block: few, so that there are several.
pub(crate) const BLOCK: usize = 1024;

/// What is written so far.
struct Writer {
    is_big: bool,
    blocks: Vec<u8>,
}

impl Writer {
    fn int(&self, value: i32) -> [u8; 4] {
        if self.is_big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn real(&self, value: f64) -> [u8; 8] {
        if self.is_big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn head(&mut self, seconds: f64, place: (i32, i32, i32), code: i32) {
        self.blocks.extend(self.real(seconds));
        for value in [place.0, place.1, place.2, code] {
            self.blocks.extend(self.int(value));
        }
    }

    /// Adds a record at (communicator, rank, thread): numbers, and bytes behind them.
    fn record(&mut self, seconds: f64, place: (i32, i32, i32), code: i32, ints: &[i32], rest: &[u8]) {
        let len = 24 + 4 * ints.len() + rest.len();
        if self.blocks.len() % BLOCK + len + 24 > BLOCK {
            self.head(seconds, (0, 0, 0), 1);
            let end = self.blocks.len().next_multiple_of(BLOCK);
            self.blocks.resize(end, 0xee);
        }
        self.head(seconds, place, code);
        for value in ints {
            self.blocks.extend(self.int(*value));
        }
        self.blocks.extend(rest);
    }
}

fn field(text: &str, len: usize) -> Vec<u8> {
    let mut field = text.as_bytes().to_vec();
    field.resize(len, 0);
    field
}

fn texts(colour: &str, name: &str, format: &str) -> Vec<u8> {
    [field(colour, 24), field(name, 32), field(format, 40)].concat()
}

/// The log: two ranks, the second of which has two threads; its records are counted in the tests.
pub(crate) fn log(is_big: bool) -> Vec<u8> {
    let mut w = Writer { is_big, blocks: Vec::new() };
    let (zero, one) = ((0, 0, 0), (0, 1, 0));
    w.record(-0.002, one, 11, &[], &w.real(0.5));
    let uuid = |host: &str| [vec![7; 12], field(host, 20)].concat();
    w.record(-0.002, one, 9, &[0, 0, 1, 1], &uuid("alpha"));
    w.record(-0.002, one, 9, &[1, 2, 0, 1], &uuid("beta"));
    w.record(0.0, zero, 9, &[0, 0, 0, 0], &uuid("alpha"));
    w.record(0.0, zero, 9, &[1, 1, 0, 0], &uuid("alpha"));
    // In 3 ranks are the other way round; of 4 only one is known.
    w.record(0.0, zero, 9, &[100, 3, 1, 0], &uuid("alpha"));
    w.record(0.0, one, 9, &[100, 3, 0, 1], &uuid("alpha"));
    w.record(0.0, zero, 9, &[100, 4, 1, 0], &uuid("alpha"));
    w.record(0.0, zero, 9, &[10, 3, -1, -1], &uuid("alpha"));
    w.record(0.0, zero, 4, &[-201, -2], &field("MPI_ANY_SOURCE", 32));
    w.record(0.001, zero, 10, &[5, 42], &field("main.c", 40));
    w.record(0.002, zero, 5, &[20, 0], &[]);
    w.record(0.003, zero, 7, &[-101, 0, 1, 17, 1000, 0], &[]);
    w.record(0.004, zero, 5, &[21, 0], &[]);
    w.record(0.0045, one, 5, &[22, 0], &[]);
    w.record(0.005, one, 7, &[-102, 0, 0, 17, 1000, 0], &[]);
    w.record(0.006, one, 5, &[23, 0], &[]);
    // Rank 1 of communicator 3 is rank 0 of the world.
    w.record(0.007, (3, 1, 0), 7, &[-101, 3, 0, 8, 24, 0], &[]);
    w.record(0.008, (3, 0, 0), 7, &[-102, 3, 1, 8, 24, 0], &[]);
    let cargo = [&[0, 0, 0, 9, 0, 2][..], b"hi", &[0; 24]].concat();
    w.record(0.010, (0, 1, 1), 6, &[30, 0], &cargo);
    let cargo = [&(-3_i32).to_be_bytes()[..], &[0, 2], b"no", &[0; 24]].concat();
    w.record(0.011, (0, 1, 1), 6, &[31, 0], &cargo);
    let cargo = [&2.5_f64.to_be_bytes()[..], &(-7_i16).to_be_bytes(), &[0; 22]].concat();
    w.record(0.012, zero, 6, &[40, 0], &cargo);
    w.record(0.013, zero, 5, &[41, 0], &[]);
    w.record(0.014, zero, 8, &[50, 0, 64, 0], &[]);
    w.record(0.015, (4, 1, 0), 8, &[50, 1, 64, 0], &[]);
    w.record(1.0, zero, 2, &[1, 20, 21, 0], &texts("blue", "MPI_Send", ""));
    w.record(1.0, zero, 2, &[2, 22, 23, 0], &texts("green", "MPI_Recv", ""));
    w.record(1.0, zero, 2, &[3, 30, 31, 0], &texts("", "compute", "step = %d, what = %s"));
    w.record(1.0, zero, 3, &[40, 0], &texts("red", "mark", "x: %E; y: %h"));
    w.head(1e8, (0, 0, 0), 0);
    let end = w.blocks.len().next_multiple_of(BLOCK);
    w.blocks.resize(end, 0xee);
    let table = (1024 + end).to_string();
    let order = if is_big { "TRUE " } else { "FALSE" };
    let block = BLOCK.to_string();
    let preamble = [
        "CLOG-02.44",
        "is_big_endian=",
        order,
        "is_finalzed=",
        "TRUE ",
        "block_size=",
        &block,
        "max_comm_world_size=",
        "2",
        "max_thread_count=",
        "2",
        "commtable_fptr=",
        "0",
        "1073741824",
        &table,
    ];
    let mut log = field(&preamble.join("\0"), 1024);
    log.extend(&w.blocks);
    log.extend(w.int(5));
    log.extend([0; 5 * 40]);
    log
}
