//! What a program consists of: whatever tables say, everything that is asked has an answer, and the call graph is one.
//!
//! Tables are made up without any sense: numbers that lead nowhere, types that are derived from themselves, functions that
//! call each other in circles. What must hold of a graph is counted slowly from the callees that are told.

use std::collections::{BTreeMap, BTreeSet};

use marey_archive::schema::{self, Kind, SOURCE_VERSION, TableSpec};
use marey_archive::{Archive, Columns, Value, add_tables};
use marey_serve::Opened;
use marey_testkit::{Chance, Spool};
use serde_json::{Value as Json, json};

use super::Made;
use super::decoded::ask;

const TABLES: [&str; 12] = [
    "source_modules",
    "source_files",
    "source_functions",
    "source_types",
    "source_members",
    "source_bases",
    "source_loops",
    "source_constructs",
    "source_calls",
    "source_texts",
    "source_codes",
    "source_instructions",
];

/// Texts that mean something in some column, and some that mean nothing.
const WORDS: [&str; 12] =
    ["main", "f", "g", "MPI_Send", "", "read", "text", "binary", "both", "by name", "inlined", "a\tb\n\tc"];

fn made_up(chance: &mut Chance, spec: &'static TableSpec, rows: u64) -> Columns {
    let mut columns = Columns::new(spec);
    for _ in 0..rows {
        let mut row = Vec::new();
        for column in spec.columns {
            let below = |chance: &mut Chance, most: u64| u32::try_from(chance.below(most)).unwrap();
            row.push(match column.kind {
                _ if column.name == "version" => Value::U32(SOURCE_VERSION),
                Kind::U32 if below(chance, 9) == 0 => {
                    Value::U32([u32::MAX, u32::MAX - 1, 1 << 30][below(chance, 3) as usize])
                }
                Kind::U32 => Value::U32(below(chance, 14)),
                Kind::I64 => Value::I64(i64::from(below(chance, 99)) - 9),
                Kind::F64 => Value::F64(0.5),
                Kind::Text => Value::Text(WORDS[below(chance, 12) as usize]),
            });
        }
        columns.push(&row).unwrap();
    }
    columns
}

/// A run of which nothing matters but its tables.
fn short() -> Made {
    let mut spool = Spool::world(1);
    let process = &mut spool.processes[0];
    let site = process.site(0, "main");
    process.enter(0, site, 100);
    process.leave(0, 900);
    process.end = Some(1000);
    Made::of(&spool)
}

/// A run with such tables.
fn senseless(chance: &mut Chance, made: &Made) -> Opened<'static> {
    let tables: Vec<Columns> = TABLES
        .iter()
        .map(|name| {
            let rows = 1 + chance.below(20);
            made_up(chance, schema::table(name).unwrap(), rows)
        })
        .collect();
    let run = made.dir.path().join("run");
    add_tables(&run, &tables).unwrap();
    Opened::new(Box::leak(Box::new(Archive::open(&run).unwrap())), "made", Vec::new).unwrap()
}

/// A graph as its answers tell it.
#[derive(Default)]
struct Told {
    callees: BTreeMap<u64, BTreeSet<u64>>,
    names: BTreeMap<u64, String>,
    are_parallel: BTreeMap<u64, bool>,
    roots: Vec<u64>,
}

impl Told {
    fn of(run: &Opened<'_>) -> Self {
        let mut it = Self::default();
        let mut node = 0;
        while it.add(run, &json!(node)).is_some() {
            node += 1;
        }
        it.roots = it.add(run, &Json::Null).unwrap();
        it
    }

    /// Asks for the callees of a node; `None` = there is no such node.
    fn add(&mut self, run: &Opened<'_>, node: &Json) -> Option<Vec<u64>> {
        let answer = ask(run, &json!({ "ask": "callees", "node": node }));
        if answer.kind == "error" {
            return None;
        }
        let callees: Vec<u64> = answer.head["callees"]
            .as_array()
            .unwrap()
            .iter()
            .map(|callee| {
                let number = callee["node"].as_u64().unwrap();
                self.names.insert(number, callee["name"].as_str().unwrap().to_owned());
                self.are_parallel.insert(number, callee["is_parallel"].as_bool().unwrap());
                number
            })
            .collect();
        if let Some(node) = node.as_u64() {
            self.callees.insert(node, callees.iter().copied().collect());
        }
        Some(callees)
    }

    /// All that can be come to from some nodes, themselves among them.
    fn reached(&self, from: impl IntoIterator<Item = u64>) -> BTreeSet<u64> {
        let mut found: BTreeSet<u64> = from.into_iter().collect();
        loop {
            let more: BTreeSet<u64> =
                found.iter().flat_map(|node| self.callees.get(node).into_iter().flatten()).copied().collect();
            let before = found.len();
            found.extend(more);
            if found.len() == before {
                return found;
            }
        }
    }
}

#[test]
fn whatever_tables_say_everything_is_answered_and_the_graph_is_one() {
    let made = short();
    let mut chance = Chance::new(42);
    let (mut parallel, mut ways) = (0, 0);
    for _ in 0..12 {
        let run = senseless(&mut chance, &made);
        for request in ["source", "source-functions", "source-types"] {
            assert_eq!(ask(&run, &json!({ "ask": request })).kind, request);
        }
        for number in (0..22).chain([u32::MAX]) {
            for request in ["source-file", "source-loop", "source-type", "source-codes", "source-code"] {
                let answer = ask(&run, &json!({ "ask": request, "number": number }));
                assert!(answer.kind == request || answer.kind == "error", "{request} {number}");
            }
        }
        let archive = Archive::open(&made.dir.path().join("run")).unwrap();
        let functions = archive.table("source_functions").unwrap().len() as u64;
        let constructs = archive.table("source_constructs").unwrap();
        let told = Told::of(&run);
        let own: BTreeSet<u64> =
            constructs.u32("function").unwrap().iter().map(|it| u64::from(*it)).collect();
        for (node, is_parallel) in &told.are_parallel {
            let reached = told.reached([*node]);
            let leads = reached.iter().any(|it| {
                *it < functions && own.contains(it)
                    || told.names.get(it).is_some_and(|name| name.starts_with("MPI_"))
            });
            assert_eq!(*is_parallel, leads, "{node}: {:?}", told.names);
            parallel += u32::from(leads);
        }
        let called: BTreeSet<u64> = told
            .callees
            .iter()
            .filter(|(caller, _)| **caller < functions)
            .flat_map(|(caller, callees)| callees.iter().copied().filter(move |callee| callee != caller))
            .collect();
        assert!(told.roots.iter().all(|root| *root < functions && !called.contains(root)));
        for name in ["main", "f", "g", "MPI_Send", "nobody"] {
            let answer = ask(&run, &json!({ "ask": "source-way", "name": name }));
            let way: Vec<u64> = answer.head["way"]
                .as_array()
                .unwrap()
                .iter()
                .map(|it| it["node"].as_u64().unwrap())
                .collect();
            let reached = told.reached(told.roots.iter().copied());
            let is_there = reached.iter().any(|node| told.names.get(node).is_some_and(|it| it == name));
            assert_eq!(!way.is_empty(), is_there, "{name}: {way:?}");
            assert!(way.windows(2).all(|pair| told.callees[&pair[0]].contains(&pair[1])), "{way:?}");
            assert!(way.first().is_none_or(|first| told.roots.contains(first)));
            ways += u32::from(is_there);
        }
    }
    assert!(parallel > 15 && ways > 15, "{parallel} lead to something parallel, {ways} ways");
}

#[test]
fn a_text_is_told_by_lines_and_only_of_its_own_file() {
    let made = short();
    let of = |files: [u32; 2]| {
        let mut chance = Chance::new(44);
        let mut tables: Vec<Columns> =
            TABLES[..9].iter().map(|name| made_up(&mut chance, schema::table(name).unwrap(), 3)).collect();
        let mut texts = Columns::new(schema::table("source_texts").unwrap());
        texts.push(&[Value::U32(files[0]), Value::Text("one\n\ttwo\n  \tx\n")]).unwrap();
        texts.push(&[Value::U32(files[1]), Value::Text("other")]).unwrap();
        tables.push(texts);
        let run = made.dir.path().join("run");
        add_tables(&run, &tables).unwrap();
        Opened::new(Box::leak(Box::new(Archive::open(&run).unwrap())), "made", Vec::new).unwrap()
    };
    let text = |run: &Opened<'_>, number: u32| {
        ask(run, &json!({ "ask": "source-file", "number": number })).head["text"].clone()
    };
    let run = of([0, 2]);
    assert_eq!(text(&run, 0), json!(["one", "        two", "        x"]));
    assert_eq!((text(&run, 1), text(&run, 2)), (Json::Null, json!(["other"])));
    // Out of order they may be anybody's.
    let run = of([2, 0]);
    assert_eq!((text(&run, 0), text(&run, 2)), (Json::Null, Json::Null));
}
