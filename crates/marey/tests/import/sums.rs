//! What a run of sums has of each call path: the slow way, through its tables.

use std::collections::BTreeMap;
use std::path::Path;

use marey_archive::Archive;

/// What a thread has of a call path.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Sum {
    pub visits: i64,
    pub exclusive: i64,
    pub inclusive: i64,
    pub counts: BTreeMap<String, i64>,
}

/// By process, thread, and regions from above with ` > ` between them. What belongs to no call path has an empty one.
pub(super) type Sums = BTreeMap<(u32, String, String), Sum>;

/// Those, and the shortest and the longest of single visits among the counts, as CUBE names them.
pub(super) fn sums_and_extremes_of(run: &Path) -> Sums {
    let mut sums = sums_of(run);
    let run = Archive::open(run).unwrap();
    let profile = run.table("profile").unwrap();
    for (name, column) in [("min_time", "min"), ("max_time", "max")] {
        let known = profile.i64(column).unwrap().iter().filter(|ns| **ns > 0).sum::<i64>();
        if known > 0 {
            sums.entry((u32::MAX, String::new(), String::new()))
                .or_default()
                .counts
                .insert(name.to_owned(), known);
        }
    }
    sums
}

pub(super) fn sums_of(run: &Path) -> Sums {
    let run = Archive::open(run).unwrap();
    let table = |name: &str| run.table(name).unwrap();
    let (paths, regions, locations) = (table("call_paths"), table("regions"), table("locations"));
    let mut names: Vec<String> = Vec::new();
    for row in 0..paths.len() {
        let region = paths.u32("region").unwrap()[row] as usize;
        let (noun, verb) = (&regions.text("noun").unwrap()[region], &regions.text("verb").unwrap()[region]);
        let name = if verb == "execute" { noun } else { verb };
        let above = paths.u32("parent").unwrap()[row] as usize;
        names.push(names.get(above).map_or(name.clone(), |above| format!("{above} > {name}")));
    }
    let who = |location: u32, path: u32| {
        let location = location as usize;
        let process = locations.u32("process").unwrap()[location];
        let name = locations.text("name").unwrap()[location].clone();
        (process, name, names.get(path as usize).cloned().unwrap_or_default())
    };
    let mut sums = Sums::new();
    let profile = table("profile");
    for row in 0..profile.len() {
        let (path, location) =
            (profile.u32("call_path").unwrap()[row], profile.u32("location").unwrap()[row]);
        let sum = sums.entry(who(location, path)).or_default();
        let of = |name: &str| profile.i64(name).unwrap()[row];
        sum.visits += of("visits");
        sum.exclusive += of("exclusive");
        sum.inclusive += of("inclusive");
    }
    let (counted, kinds) = (table("counted"), table("counter_kinds"));
    for row in 0..counted.len() {
        let (path, location) =
            (counted.u32("call_path").unwrap()[row], counted.u32("location").unwrap()[row]);
        let counter = counted.u32("counter").unwrap()[row] as usize;
        let sum = sums.entry(who(location, path)).or_default();
        let name = kinds.text("name").unwrap()[counter].clone();
        *sum.counts.entry(name).or_default() += counted.i64("value").unwrap()[row];
    }
    sums
}
