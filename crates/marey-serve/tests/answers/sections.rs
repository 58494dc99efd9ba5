//! Arrays and references into them, of a run that is made up by hand: sums, processes, and cells of the picture.

use marey_archive::schema::{NONE, TableSpec, table};
use marey_archive::{Archive, Columns, Value as Cell, add_tables};
use marey_serve::{Opened, SPARED};
use serde_json::{Value, json};

use super::Made;
use super::decoded::ask;
use super::exported::held;

fn spec(name: &str) -> &'static TableSpec {
    table(name).unwrap()
}

/// An array of 4 × 6 numbers of 8 bytes on each of four ranks, and another one that nobody uses.
fn with_arrays(made: &Made) {
    let mut nouns = Columns::new(spec("nouns"));
    let mut arrays = Columns::new(spec("arrays"));
    for (number, name) in (0_u32..).zip(["field", "spare"]) {
        let words = [
            ("id", Cell::U32(number)),
            ("name", Cell::Text(name)),
            ("kind", Cell::Text("array")),
            ("file", Cell::Text("heat.f90")),
            ("line", Cell::U32(7 + number)),
        ];
        push(&mut nouns, &words);
        for process in 0..4 {
            push(
                &mut arrays,
                &[
                    ("id", Cell::U32(number * 4 + process)),
                    ("noun", Cell::U32(number)),
                    ("process", Cell::U32(process)),
                    ("kind", Cell::Text("coarray")),
                    ("bytes", Cell::I64(192)),
                    ("element_bytes", Cell::I64(8)),
                    ("element", Cell::Text("real(8)")),
                    ("bounds", Cell::Text("1:4,0:5")),
                    ("until", Cell::I64(-1)),
                    ("stack", Cell::U32(NONE)),
                ],
            );
        }
    }
    let mut shapes = Columns::new(spec("shapes"));
    // A row: elements 4 apart.
    push(
        &mut shapes,
        &[
            ("id", Cell::U32(0)),
            ("kind", Cell::Text("elements")),
            ("stride", Cell::I64(4)),
            ("count", Cell::I64(6)),
        ],
    );
    let mut accesses = Columns::new(spec("accesses"));
    let mut accessed = Columns::new(spec("accessed"));
    // Rank 0 reads element (2, 3) of rank 1 five times, row 3 of rank 2 once, and writes element (1, 0) of its own twice.
    let deeds =
        [(5, "read", 1, 8, (1 + 3 * 4) * 8, NONE), (1, "read", 2, 48, 2 * 8, 0), (2, "write", 0, 8, 0, NONE)];
    for (number, kind, peer, bytes, offset, shape) in deeds {
        let common = [
            ("location", Cell::U32(0)),
            ("call_path", Cell::U32(NONE)),
            ("kind", Cell::Text(kind)),
            ("array", Cell::U32(0)),
            ("target", Cell::I64(i64::from(peer))),
            ("peer", Cell::U32(peer)),
        ];
        for turn in 0..number {
            let own = [
                ("time", Cell::I64(1000 * (turn + 1))),
                ("bytes", Cell::I64(bytes)),
                ("offset", Cell::I64(offset)),
                ("shape", Cell::U32(shape)),
                ("leave", Cell::I64(1000 * (turn + 1) + 100)),
            ];
            push(&mut accesses, &[&common[..], &own[..]].concat());
        }
        let sums = [
            ("accesses", Cell::I64(number)),
            ("bytes", Cell::I64(number * bytes)),
            ("time", Cell::I64(number * 100)),
        ];
        push(&mut accessed, &[&common[..], &sums[..]].concat());
    }
    add_tables(&made.dir.path().join("run"), &[nouns, arrays, shapes, accesses, accessed]).unwrap();
}

/// A row by the names of its columns; what is not named is 0 or empty.
fn push(columns: &mut Columns, cells: &[(&str, Cell<'_>)]) {
    let spec = columns.spec();
    let row: Vec<Cell<'_>> = spec
        .columns
        .iter()
        .map(|column| match cells.iter().find(|(name, _)| *name == column.name) {
            Some((_, cell)) => *cell,
            None => match column.kind {
                marey_archive::schema::Kind::U32 => Cell::U32(0),
                marey_archive::schema::Kind::I64 => Cell::I64(0),
                marey_archive::schema::Kind::F64 => Cell::F64(0.0),
                marey_archive::schema::Kind::Text => Cell::Text(""),
            },
        })
        .collect();
    columns.push(&row).unwrap();
}

fn numbers(value: &Value) -> [u64; 3] {
    ["accesses", "bytes", "time_ns"].map(|name| value[name].as_u64().unwrap())
}

/// Element (2, 3) of rank 1 is read five times, row 3 of rank 2 once, and element (1, 0) of rank 0 written twice.
#[test]
fn accesses_to_selected_elements_are_what_means_them() {
    let made = Made::random(37);
    with_arrays(&made);
    let path = made.dir.path().join("run");
    let run = Opened::new(Box::leak(Box::new(Archive::open(&path).unwrap())), "made", Vec::new).unwrap();
    let whole = json!({ "span": null, "locations": null });
    let select = |section: Value, processes: Value, part: &Value| {
        let request = json!({ "ask": "sub-array", "part": part, "array": 0, "section": section, "processes": processes,
                              "snap": "expand" });
        ask(&run, &request).head
    };
    // Accesses that mean it, bytes, time; elements of it, and all of theirs.
    let told = |head: &Value| {
        let total = &head["total"];
        let elements = ["inside", "elements"].map(|name| total[name].as_u64().unwrap());
        (numbers(&total["met"]), elements)
    };
    let rows = [
        (json!([[2, 3], [3, 3]]), json!(null), ([6, 88, 600], [6, 11])),
        (json!([[2, 3], [3, 3]]), json!([2]), ([1, 48, 100], [1, 6])),
        (json!([[3, 4], null]), json!(null), ([1, 48, 100], [6, 6])),
        (json!([null, [0, 2]]), json!(null), ([3, 64, 300], [5, 8])),
        (json!([[4, 4], null]), json!(null), ([0, 0, 0], [0, 0])),
        (json!([null, null]), json!([0]), ([2, 16, 200], [2, 2])),
    ];
    for (section, processes, expected) in rows {
        let head = select(section.clone(), processes.clone(), &whole);
        assert_eq!(told(&head), expected, "{section} {processes}");
        assert_eq!(head["snapped"], head["section"]);
        let number = processes.as_array().map_or(4, Vec::len);
        assert_eq!(head["parts"].as_array().unwrap().len(), number);
    }
    // By kind, without lines as the accesses have no call path; and by process.
    let head = select(json!([null, null]), json!(null), &whole);
    let kinds: Vec<(&str, [u64; 3])> = head["statements"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["kind"].as_str().unwrap(), numbers(&row["selected"]["met"])))
        .collect();
    assert_eq!(kinds, [("read", [6, 88, 600]), ("write", [2, 16, 200])]);
    let sides = |at: usize| {
        ["local", "remote", "asked"]
            .map(|side| head["processes"][at][side]["met"]["accesses"].as_u64().unwrap())
    };
    assert_eq!([0, 1, 2, 3].map(sides), [[2, 6, 0], [0, 0, 5], [0, 0, 1], [0, 0, 0]]);
    // Of a span, in which the last two of five reads, the read of a row and one write did not begin.
    let early = json!({ "span": { "from_ns": 0, "to_ns": 3050 }, "locations": null });
    let head = select(json!([null, null]), json!(null), &early);
    assert_eq!(numbers(&head["total"]["met"]), [6, 88, 5 * 100 + 50]);
    let others = json!({ "span": null, "locations": [[1, 4]] });
    assert_eq!(told(&select(json!([null, null]), json!(null), &others)), ([0, 0, 0], [0, 0]));
    let why = |section: Value, processes: Value| {
        select(section, processes, &whole)["why_not"].as_str().unwrap().to_owned()
    };
    assert_eq!(why(json!([null]), json!(null)), "it has 2 dimensions, one is selected");
    assert_eq!(why(json!([[1, 5], null]), json!(null)), "1:5 in dimension 1 is beyond its bounds, 1:4");
    assert_eq!(why(json!([null, null]), json!([7])), "process 7 has none of it");
    // A page has the same.
    let request = json!({ "ask": "sub-array", "part": whole, "array": 0, "section": [[2, 3], [3, 3]],
                          "processes": null, "snap": "none" });
    let [page, small] = [SPARED[0], SPARED[1]].map(|spared| held(&made, spared));
    assert_eq!(told(&ask(&page, &request).head), ([6, 88, 600], [6, 11]));
    assert!(ask(&small, &request).head["why_not"].as_str().unwrap().contains("not in this page"));
}

#[test]
fn arrays_and_their_sections_are_what_was_done() {
    let made = Made::random(36);
    with_arrays(&made);
    let path = made.dir.path().join("run");
    let run = Opened::new(Box::leak(Box::new(Archive::open(&path).unwrap())), "made", Vec::new).unwrap();
    let whole = json!({ "span": null, "locations": null });
    let told = ask(&run, &json!({ "ask": "arrays", "span": null, "locations": null })).head;
    let [field, spare] = [0, 1].map(|at| told["arrays"][at].clone());
    assert_eq!([&field["name"], &spare["name"]], ["field", "spare"]);
    assert_eq!(
        [&field["bounds"], &field["processes"], &field["line"]],
        [&json!([[1, 4], [0, 5]]), &json!(4), &json!(7)]
    );
    assert_eq!(numbers(&field["moved"]), [8, 104, 800]);
    assert_eq!([numbers(&field["local"]), numbers(&field["remote"])], [[2, 16, 200], [6, 88, 600]]);
    assert_eq!(numbers(&spare["moved"]), [0, 0, 0]);

    // Of a span what began in it; of others nothing.
    let of_span =
        ask(&run, &json!({ "ask": "arrays", "span": { "from_ns": 0, "to_ns": 2050 }, "locations": null }))
            .head;
    assert_eq!(numbers(&of_span["arrays"][0]["moved"]), [5, 80, 3 * 100 + 2 * 50]);
    let of_others = ask(&run, &json!({ "ask": "arrays", "span": null, "locations": [[1, 4]] })).head;
    assert_eq!(numbers(&of_others["arrays"][0]["moved"]), [0, 0, 0]);

    let one = ask(&run, &json!({ "ask": "array", "part": whole, "array": 0 })).head;
    let asked: Vec<[u64; 3]> = (0..4).map(|at| numbers(&one["processes"][at]["asked"])).collect();
    assert_eq!(asked, [[0, 0, 0], [5, 40, 500], [1, 48, 100], [0, 0, 0]]);
    assert_eq!(one["processes"][1]["bounds"], json!([[1, 4], [0, 5]]));
    assert_eq!(one["has_sections"], true);

    let sections = |axes: Value, cells: [u32; 2], part: &Value| {
        ask(&run, &json!({ "ask": "sections", "part": part, "array": 0, "axes": axes, "cells": cells }))
    };
    let picture = sections(json!([0, 1]), [10, 10], &whole);
    assert_eq!([&picture.head["size"], &picture.head["spans"]], [&json!([4, 6]), &json!([[1, 4], [0, 5]])]);
    let mut expected = vec![0.0; 24];
    (0..6).for_each(|column| expected[column * 4 + 2] = 1.0);
    expected[3 * 4 + 1] = 5.0;
    assert_eq!(picture.f64("remote"), expected);
    let local = picture.f64("local");
    assert_eq!((local[0], local.iter().sum::<f64>()), (2.0, 2.0));
    // By whom they lie with, in three cells of two subscripts each.
    let by_process = sections(json!([1, null]), [3, 8], &whole);
    assert_eq!(by_process.f64("remote"), [0.0, 0.0, 0.0, 0.0, 5.0, 0.0, 2.0, 2.0, 2.0, 0.0, 0.0, 0.0]);
    let early = sections(
        json!([1, null]),
        [3, 8],
        &json!({ "span": { "from_ns": 0, "to_ns": 1500 }, "locations": null }),
    );
    assert_eq!(early.f64("remote").iter().sum::<f64>(), 7.0);
    assert!(
        sections(json!([2, null]), [3, 8], &whole).head["why_not"]
            .as_str()
            .unwrap()
            .contains("no such dimension")
    );

    // A page has the same, and one that was too large says what it lacks.
    let request = json!({ "ask": "sections", "part": whole, "array": 0, "axes": [0, 1], "cells": [4, 6] });
    let [page, small] = [SPARED[0], SPARED[1]].map(|spared| held(&made, spared));
    assert_eq!(ask(&page, &request).f64("remote"), expected);
    assert!(ask(&small, &request).head["why_not"].as_str().unwrap().contains("not in this page"));
    assert_eq!(ask(&small, &json!({ "ask": "arrays", "span": null, "locations": null })).head, told);
}
