//! Visits that were only counted to keep within the budget: whoever looks at single ones is told, and they are none that
//! have to be read.

use marey_archive::schema::{PROFILE, REDUCED};
use marey_archive::{Archive, Column, Columns, Value, add_tables};
use serde_json::json;

use super::Made;
use super::decoded::ask;

const COUNTED: i64 = 1_000_000_000;

/// The run with so many more visits of the first call path on the first location, which were only counted.
fn with_counted(made: Made) -> Made {
    let profile = made.archive.table("profile").unwrap();
    let mut columns = profile.columns().to_vec();
    let (path, location) = (profile.u32("call_path").unwrap()[0], profile.u32("location").unwrap()[0]);
    let place = PROFILE.columns.iter().position(|column| column.name == "visits").unwrap();
    let Column::I64(visits) = &mut columns[place] else { panic!("numbers of visits are integers") };
    visits[0] += COUNTED;
    let profile = Columns::from_columns(&PROFILE, columns).unwrap();
    let mut reduced = Columns::new(&REDUCED);
    let numbers = [12_345, COUNTED, 8, 20 * COUNTED, COUNTED].map(Value::I64);
    let row = [&[path, location].map(Value::U32)[..], &numbers, &[Value::F64(0.25)]].concat();
    reduced.push(&row).unwrap();
    let run = made.dir.path().join("run");
    add_tables(&run, &[profile, reduced]).unwrap();
    Made { archive: Box::leak(Box::new(Archive::open(&run).unwrap())), ..made }
}

#[test]
fn what_was_only_counted_is_told_and_not_read() {
    let made = Made::random(5);
    assert_eq!(ask(&made.open(), &json!({ "ask": "run" })).head["reduced"], json!([]));
    let made = with_counted(made);
    let run = made.open();
    let profile = made.archive.table("profile").unwrap();
    let path = profile.u32("call_path").unwrap()[0] as usize;
    let region = made.archive.table("call_paths").unwrap().u32("region").unwrap()[path];
    let head = ask(&run, &json!({ "ask": "run" })).head;
    let expected = json!([{ "region": region, "since_ns": 12_345, "visits": COUNTED }]);
    assert_eq!(head["reduced"], expected);
    assert!(head["regions"][region as usize]["visits"].as_i64() > Some(COUNTED), "numbers have all");
    // So fine that visits are read: there are as few as before.
    let end = made.rows.iter().map(|row| row.end).max().unwrap();
    let request = json!({ "ask": "totals", "from_ns": 0, "to_ns": end, "resolution_log2": (end / 60_000).max(1).ilog2(),
        "locations": [[0, 3]], "exact": true });
    assert_eq!(ask(&run, &request).head["trust"]["is_exact"], true);
}
