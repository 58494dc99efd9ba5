//! A profile of two processes with every kind of metric, whose numbers follow from where they stand.
//!
//! Locations stand in another order than their numbers, rows in another order than call paths, and the call tree is one whose
//! two ways of numbering rows differ.

#![expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "all numbers are small")]

use std::fmt::Write;

/// How bytes are compressed.
pub(crate) type Pack = fn(&[u8]) -> Vec<u8>;

/// How to write it.
#[derive(Clone, Copy)]
pub(crate) struct Config {
    pub(crate) is_big: bool,
    /// Compresses a row, if rows are to be.
    pub(crate) pack: Option<Pack>,
    /// Compresses the anchor, if it is to be.
    pub(crate) pack_anchor: Option<Pack>,
}

pub(crate) const PLAIN: Config = Config { is_big: false, pack: None, pack_anchor: None };

/// Regions of call paths, from above; each with the call path it is beneath.
pub(crate) const CALL_PATHS: [(&str, Option<usize>); 5] =
    [("main", None), ("foo", Some(0)), ("MPI_Send", Some(1)), ("bar", Some(0)), ("a < b", Some(3))];
/// Call paths in the order in which rows of inclusive metrics are numbered.
const WIDE: [usize; 5] = [0, 1, 3, 2, 4];
/// Numbers of locations in the order in which they stand in the anchor, with their ranks.
pub(crate) const LOCATIONS: [(usize, u32); 4] = [(0, 0), (2, 0), (1, 1), (3, 1)];

/// Time in a call path and not beneath, ms.
pub(crate) fn own_ms(path: usize, location: usize) -> usize {
    10 * (path + 1) + location
}

/// Visits; nothing is stored of `bar`.
pub(crate) fn visits(path: usize, location: usize) -> usize {
    if path == 3 { 0 } else { 4 * path + location + 1 }
}

pub(crate) fn instructions(path: usize, location: usize) -> usize {
    1000 * (path + 1) + location
}

/// Of `foo` on location 0 it is less than nothing.
pub(crate) fn balance(path: usize, location: usize) -> i16 {
    if (path, location) == (1, 0) { -3 } else { (path * 7 + location) as i16 }
}

/// What a sum over a call path and all beneath it comes to.
pub(crate) fn with_beneath(path: usize, of: impl Fn(usize) -> usize + Copy) -> usize {
    let beneath = (0..CALL_PATHS.len()).filter(|it| CALL_PATHS[*it].1 == Some(path));
    of(path) + beneath.map(|it| with_beneath(it, of)).sum::<usize>()
}

struct Writer(Config);

impl Writer {
    fn bytes<const N: usize>(&self, mut little: [u8; N]) -> [u8; N] {
        if self.0.is_big {
            little.reverse();
        }
        little
    }

    fn real(&self, real: f64) -> [u8; 8] {
        self.bytes(real.to_le_bytes())
    }

    fn index(&self, rows: &[usize]) -> Vec<u8> {
        let mut out = b"CUBEX.INDEX".to_vec();
        out.extend(self.bytes(1_u32.to_le_bytes()));
        out.extend([0, 0, 1]);
        out.extend(self.bytes((rows.len() as u32).to_le_bytes()));
        rows.iter().for_each(|row| out.extend(self.bytes((*row as u32).to_le_bytes())));
        out
    }

    fn data(&self, rows: &[Vec<u8>]) -> Vec<u8> {
        let Some(pack) = self.0.pack else {
            return [b"CUBEX.DATA".to_vec(), rows.concat()].concat();
        };
        let mut out = b"ZCUBEX.DATA".to_vec();
        out.extend(self.bytes((rows.len() as u64).to_le_bytes()));
        let (mut blobs, mut would) = (Vec::new(), 0);
        for row in rows {
            let packed = pack(row);
            for word in [would, blobs.len(), packed.len()] {
                out.extend(self.bytes((word as u64).to_le_bytes()));
            }
            would += row.len();
            blobs.extend(packed);
        }
        [out, blobs].concat()
    }

    /// Index and data of a metric; its rows stand from the last call path to the first.
    fn metric(
        &self,
        id: usize,
        is_wide: bool,
        has: impl Fn(usize) -> bool,
        value: impl Fn(usize, usize) -> Vec<u8>,
    ) -> Vec<(String, Vec<u8>)> {
        let paths: Vec<usize> = (0..CALL_PATHS.len()).rev().filter(|path| has(*path)).collect();
        let number = |path: &usize| {
            if is_wide { WIDE.iter().position(|it| it == path).unwrap() } else { *path }
        };
        let numbers: Vec<usize> = paths.iter().map(number).collect();
        let rows: Vec<Vec<u8>> =
            paths.iter().map(|path| (0..4).flat_map(|location| value(*path, location)).collect()).collect();
        vec![(format!("{id}.data"), self.data(&rows)), (format!("{id}.index"), self.index(&numbers))]
    }

    fn members(&self) -> Vec<(String, Vec<u8>)> {
        let all = |_| true;
        let mut members = vec![("remapping.spec".to_owned(), b"<cube/>".to_vec())];
        members.extend(self.metric(
            0,
            false,
            |path| path != 3,
            |path, location| self.bytes((visits(path, location) as u64).to_le_bytes()).to_vec(),
        ));
        members.extend(self.metric(1, true, all, |path, location| {
            let ms = with_beneath(path, |path| own_ms(path, location));
            self.real(ms as f64 / 1e3).to_vec()
        }));
        members.extend(self.metric(2, false, all, |path, _| self.real((path + 1) as f64 * 1e-6).to_vec()));
        members.extend(self.metric(3, true, all, |path, location| {
            let sum = with_beneath(path, |path| instructions(path, location));
            self.bytes((sum as u32).to_le_bytes()).to_vec()
        }));
        members.extend(self.metric(4, false, all, |path, location| {
            self.bytes(balance(path, location).to_le_bytes()).to_vec()
        }));
        let is_first = |path| path == 0;
        members.extend(self.metric(6, false, is_first, |_, location| {
            let mut value = self.bytes((location as u32).to_le_bytes()).to_vec();
            for number in 1..=4 {
                value.extend(self.real((location * number) as f64));
            }
            value
        }));
        members.extend(self.metric(7, true, is_first, |_, _| [self.real(1.5), self.real(2.0)].concat()));
        members.extend(self.metric(8, false, is_first, |_, _| vec![0; 32]));
        members.extend(self.metric(9, false, is_first, |_, _| vec![1; 5]));
        let anchor = anchor().into_bytes();
        let anchor = self.0.pack_anchor.map_or(anchor.clone(), |pack| pack(&anchor));
        members.push(("anchor.xml".to_owned(), anchor));
        members
    }
}

fn anchor() -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<cube version=\"4.4\">\n<attr key=\"Creator\" value=\"a test 1.0\"/>\n\
         <doc><mirrors><murl>http://example.org/</murl></mirrors></doc>\n<metrics>\n",
    );
    let metrics = [
        (0, "EXCLUSIVE", "visits", "UINT64", "occ"),
        (1, "INCLUSIVE", "time", "DOUBLE", "sec"),
        (2, "EXCLUSIVE", "min_time", "MINDOUBLE", "sec"),
        (3, "INCLUSIVE", "instructions", "UINT32", "#"),
        (4, "EXCLUSIVE", "balance", "INT16", "bytes"),
        (5, "POSTDERIVED", "derived", "DOUBLE", "sec"),
        (6, "EXCLUSIVE", "statistics", "TAU_ATOMIC", ""),
        (7, "INCLUSIVE", "rate", "RATE", ""),
        (8, "EXCLUSIVE", "histogram", "HISTOGRAM(2)", ""),
        (9, "EXCLUSIVE", "functions", "SCALE_FUNC", ""),
        (10, "EXCLUSIVE", "bytes_put", "UINT64", "bytes"),
    ];
    for (id, kind, name, values, unit) in metrics {
        let parts = format!(
            "<metric id=\"{id}\" type=\"{kind}\"><disp_name>{name}</disp_name><uniq_name>{name}</uniq_name>\
             <dtype>{values}</dtype><uom>{unit}</uom><url/><descr>x</descr>"
        );
        // One is within another, whose own texts come before.
        let close = match id {
            3 => "",
            4 => "</metric></metric>\n",
            _ => "</metric>\n",
        };
        write!(out, "{parts}{close}").unwrap();
    }
    out += "</metrics>\n<program>\n";
    let kinds = [
        ("user", "function"),
        ("compiler", "function"),
        ("mpi", "point2point"),
        ("compiler", "function"),
        ("openmp", "implicit barrier"),
    ];
    for (id, ((name, _), (paradigm, role))) in CALL_PATHS.iter().zip(kinds).enumerate() {
        let name = name.replace('<', "&lt;");
        let line = if id == 2 { -1 } else { id as i32 + 10 };
        writeln!(
            out,
            "<region id=\"{}\" mod=\"a&amp;b.c\" begin=\"{line}\" end=\"-1\"><name>{name}</name>\
             <mangled_name>_{id}</mangled_name><paradigm>{paradigm}</paradigm><role>{role}</role></region>",
            100 + id
        )
        .unwrap();
    }
    out += "<cnode id=\"7\" calleeId=\"100\"><parameter partype=\"numeric\" parkey=\"n\" parvalue=\"1\"/>\
            <cnode id=\"9\" calleeId=\"101\"><cnode id=\"1\" calleeId=\"102\"></cnode></cnode>\
            <cnode id=\"3\" line=\"4\" mod=\"c\" calleeId=\"103\"><cnode id=\"4\" calleeId=\"104\"/></cnode></cnode>\n</program>\n<system>\n\
            <systemtreenode Id=\"0\"><name>machine M</name><class>machine</class><attr key=\"k\" value=\"v\"/>\n";
    for rank in 0..2 {
        writeln!(
            out,
            "<systemtreenode Id=\"{}\"><name>node n{rank}</name><class>node</class><locationgroup Id=\"{rank}\">\
             <name>MPI Rank {rank}</name><rank>{rank}</rank><type>process</type>",
            rank + 1
        )
        .unwrap();
        for (id, _) in LOCATIONS.iter().filter(|it| it.1 == rank) {
            writeln!(
                out,
                "<location Id=\"{id}\"><name>thread {id}</name><rank>0</rank><type>thread</type></location>"
            )
            .unwrap();
        }
        out += "</locationgroup></systemtreenode>\n";
    }
    out + "</systemtreenode>\n<topologies><cart name=\"t\" ndims=\"1\"><dim size=\"2\" periodic=\"true\"/>\
           <coord locId=\"0\">0</coord></cart></topologies>\n</system>\n</cube>\n"
}

/// A member of a tar archive, with a checksum that is wrong.
pub(crate) fn member(name: &str, content: &[u8]) -> Vec<u8> {
    let mut header = vec![0; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
    header[148..156].copy_from_slice(b"0000001\0");
    header[156] = b'0';
    header[257..263].copy_from_slice(b"ustar\0");
    header.extend(content);
    header.resize(header.len().next_multiple_of(512), 0);
    header
}

/// The profile.
pub(crate) fn profile(config: Config) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, content) in Writer(config).members() {
        out.extend(member(&name, &content));
    }
    out.resize(out.len() + 1024, 0);
    out
}
