//! Small logs with each kind of drawable, whose numbers are known.

/// What a node has: its list of arrows and events, and that of states.
type Node = (Vec<Vec<u8>>, Vec<Vec<u8>>);

/// Adds a number, big-endian as all is.
macro_rules! put {
    ($out:expr, $($value:expr),* $(,)?) => {{ $($out.extend(($value).to_be_bytes());)* }};
}

fn text(out: &mut Vec<u8>, text: &str) {
    put!(out, u16::try_from(text.len()).unwrap());
    out.extend(text.as_bytes());
}

/// Number, name, shape, texts before and behind values, and their letters.
type Category<'a> = (i32, &'a str, i32, &'a [&'a str], &'a str);

/// Title, labels of columns, and rows: a line and its path.
type Map<'a> = (&'a str, &'a [&'a str], &'a [(i32, &'a [i32])]);

fn categories(rows: &[Category<'_>], has_ratios: bool) -> Vec<u8> {
    let mut out = Vec::new();
    put!(out, i32::try_from(rows.len()).unwrap());
    for (number, name, shape, keys, letters) in rows {
        put!(out, *number);
        text(&mut out, name);
        put!(out, *shape, 0x7fff_0000_i32, 1_u8, 1_u8, i16::try_from(keys.len()).unwrap());
        keys.iter().for_each(|key| text(&mut out, key));
        text(&mut out, letters);
        // One method.
        put!(out, 1_i16, 1_i32);
        if has_ratios {
            put!(out, 0.5_f32, 0.25_f32, 3_i64);
        }
    }
    out
}

fn maps(maps: &[Map<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    put!(out, i32::try_from(maps.len()).unwrap());
    for (title, labels, rows) in maps {
        text(&mut out, title);
        put!(out, i32::try_from(labels.len()).unwrap());
        labels.iter().for_each(|label| text(&mut out, label));
        put!(out, i32::try_from(rows.len()).unwrap());
        for (line, path) in *rows {
            put!(out, *line);
            path.iter().for_each(|step| put!(out, *step));
        }
        put!(out, 1_i16, 1_i32);
    }
    out
}

fn body(category: i32, info: &[u8], ends: &[(f64, i32)]) -> Vec<u8> {
    let mut out = Vec::new();
    put!(out, category, i16::try_from(info.len()).unwrap());
    out.extend(info);
    put!(out, i16::try_from(ends.len()).unwrap());
    ends.iter().for_each(|(seconds, line)| put!(out, *seconds, *line));
    out
}

fn primitive(category: i32, info: &[u8], ends: &[(f64, i32)]) -> Vec<u8> {
    [&[0], body(category, info, ends).as_slice()].concat()
}

fn composite(category: i32, info: &[u8], parts: &[Vec<u8>]) -> Vec<u8> {
    let mut out = vec![1];
    put!(out, category, i16::try_from(info.len()).unwrap());
    out.extend(info);
    put!(out, i16::try_from(parts.len()).unwrap());
    // Parts have no kind of their own before them.
    parts.iter().for_each(|part| out.extend(&part[1..]));
    out
}

/// A shadow of two categories.
fn shadow(category: i32, ends: &[(f64, i32)]) -> Vec<u8> {
    let mut out = body(category, &[], ends);
    put!(out, 0.0_f64, 1.0_f64, 5_i64, 2_i32);
    for category in [5_i32, 6] {
        put!(out, category, 0.5_f32, 0.5_f32, 2_i64);
    }
    out
}

fn list(items: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::new();
    put!(out, i32::try_from(items.len()).unwrap());
    items.iter().for_each(|item| out.extend(item));
    out
}

/// The file: leaves, then the root with shadows of each; the directory has the root first, and the leaves from last to first.
fn file(version: &str, categories: &[u8], maps: &[u8], nodes: &[Node]) -> Vec<u8> {
    const HEADER: usize = 108;
    let mut bytes = vec![0; HEADER];
    let mut places: Vec<(i64, i32)> = Vec::new();
    for (number, (nestless, nestable)) in nodes.iter().enumerate() {
        let is_root = number + 1 == nodes.len();
        let mut content = [list(nestless), list(nestable)].concat();
        let below = if is_root { places.as_slice() } else { &[] };
        put!(content, i32::try_from(below.len()).unwrap());
        for (at, len) in below {
            put!(content, 0.0_f64, 1.0_f64, 0_i16, 0_i32, *at, *len);
            content.extend(list(&[shadow(-2, &[(0.1, 0), (0.9, 1)])]));
            content.extend(list(&[shadow(-3, &[(0.1, 0), (0.9, 0)]), shadow(-3, &[(0.1, 1), (0.9, 1)])]));
        }
        let at = i64::try_from(bytes.len()).unwrap();
        let len = i32::try_from(34 + content.len()).unwrap();
        put!(bytes, 0.0_f64, 1.0_f64, i16::from(is_root), i32::try_from(number).unwrap(), at, len);
        bytes.extend(content);
        places.push((at, len));
    }
    let mut section = |content: &[u8]| {
        let place = (i64::try_from(bytes.len()).unwrap(), i32::try_from(content.len()).unwrap());
        bytes.extend(content);
        place
    };
    let (categories, maps) = (section(categories), section(maps));
    let mut directory = Vec::new();
    put!(directory, i32::try_from(places.len()).unwrap());
    for (number, (at, len)) in places.iter().enumerate().rev() {
        put!(directory, i16::from(number + 1 == places.len()), 0_i32, 0.0_f64, 1.0_f64, *at, *len);
    }
    let directory = section(&directory);
    let mut header = Vec::new();
    text(&mut header, version);
    put!(header, 2_i16, 65536_i32, 1_i16, 4096_i32);
    let root = places.last().copied().unwrap_or_default();
    for (at, len) in [categories, (0, 0), maps, root, directory, (0, 0), (0, 0)] {
        put!(header, at, len);
    }
    bytes[..HEADER].copy_from_slice(&header);
    bytes
}

/// Two ranks, the second of which has two threads; line 3 is that of rank 0 in another communicator.
pub(crate) fn log(version: &str) -> Vec<u8> {
    let message: &[&str] = &["msg_tag=", ", msg_size=", ""];
    let categories = categories(
        &[
            (-1, "Preview_Event", 0, &[], ""),
            (0, "message", 2, message, "dd"),
            (-3, "Preview_State", 1, &[], ""),
            (5, "MPI_Send", 1, &[], ""),
            (6, "MPI_Recv", 1, &[], ""),
            (7, "BARRIER", 1, &[], ""),
            (8, "compute", 1, &["step = ", "; what: "], "ds"),
            (9, "mark", 0, &["x=", ", y=", ", big=", ", at=", ", f="], "Ehlxe"),
            (10, "pair", 1, &["n="], "d"),
        ],
        version.ends_with('6'),
    );
    let maps = maps(&[
        ("Process View", &["world_rank"], &[(0, &[0]), (1, &[1]), (2, &[1]), (3, &[0])]),
        ("Thread View", &["world_rank", "thread"], &[(0, &[0, 0]), (1, &[1, 0]), (2, &[1, 1]), (3, &[0, 0])]),
        ("Communicator View", &["commID", "comm_rank"], &[(0, &[0, 0]), (1, &[0, 1]), (3, &[1, 7])]),
    ]);
    let carried = |tag: i32, size: i32| [tag.to_be_bytes(), size.to_be_bytes()].concat();
    let mut mark = Vec::new();
    put!(mark, 2.5_f64, -7_i16, 1_i64 << 40, 255_u32, 0.5_f32);
    let first = (
        vec![
            primitive(99, &[], &[(0.05, 0)]),
            primitive(9, &mark, &[(0.1, 2)]),
            primitive(0, &carried(17, 1000), &[(0.2, 0), (0.3, 1)]),
        ],
        vec![
            primitive(6, &[], &[(0.22, 1), (0.3, 1)]),
            primitive(5, &[], &[(0.2, 0), (0.25, 0)]),
            primitive(8, b"\0\0\0\x09\0\x02hi", &[(0.35, 3), (0.45, 3)]),
        ],
    );
    let parts = [
        primitive(7, &[], &[(0.6, 0), (0.7, 0)]),
        primitive(7, &[], &[(0.6, 1), (0.7, 1)]),
        primitive(0, &carried(8, 24), &[(0.8, 1), (0.75, 0)]),
    ];
    let second = (vec![], vec![composite(10, &3_i32.to_be_bytes(), &parts)]);
    let root = (vec![], vec![primitive(8, &[], &[(0.4, 2), (0.9, 2)])]);
    file(version, &categories, &maps, &[first, second, root])
}

/// Three lines that are no ranks, and an arrow between two of them.
pub(crate) fn lines() -> Vec<u8> {
    let categories = categories(&[(1, "work", 1, &[], ""), (2, "link", 2, &["weight="], "d")], true);
    let maps = maps(&[("Identity Map", &["LineID"], &[(4, &[4]), (5, &[5]), (6, &[6])])]);
    let node = (
        vec![primitive(2, &12_i32.to_be_bytes(), &[(2.0, 4), (3.5, 5)])],
        vec![primitive(1, &[], &[(1.0, 4), (2.0, 4)]), primitive(1, &[], &[(3.0, 5), (4.5, 5)])],
    );
    file("SLOG 2.0.6", &categories, &maps, &[node])
}
