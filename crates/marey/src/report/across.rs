//! How ranks and threads differ in each region or call path: `marey report --by region --across`.
//!
//! The one idea: one row a region or a call path, one figure: its exclusive time; JSON has the others.

use std::io;

use marey_analyze::{Across, AcrossFigures, call_paths_across, regions_across};
use marey_model::Nanos;
use serde::Serialize;

use super::Page;
use crate::format;
use crate::paint::{Look, shorten};
use crate::table::{Cell, Side, Table};
use crate::words;

/// What is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rows {
    Regions,
    CallPaths,
}

/// Prints the table, that with most time first.
pub(super) fn print(page: &mut Page<'_>, what: Rows) -> io::Result<()> {
    let facts = page.facts;
    let causes = facts.causes.as_ref().ok();
    let remark = "exclusive time of each rank or thread that is compared: those that came there, and their like on other \
                  ranks; uneven: max over mean, less 1";
    let (head, mut rows): (_, Vec<(String, String, Across)>) = match what {
        Rows::Regions => {
            page.title("REGION SPREAD", remark)?;
            let all = regions_across(facts.trace, causes).into_iter().zip(0..);
            let row = |(across, id): (Option<Across>, u32)| {
                Some((words::region(facts.trace, marey_model::RegionId(id)), String::new(), across?))
            };
            ("region", all.filter_map(row).collect())
        }
        Rows::CallPaths => {
            page.title("PATH SPREAD", remark)?;
            let all = call_paths_across(facts.trace, causes);
            let row = |row: &marey_analyze::CallPathRow<'_>| {
                let across = all.get(row.call_path.idx()).copied().flatten()?;
                let path = row.path.iter().map(|name| crate::paint::harmless(name)).collect::<Vec<_>>();
                let from = match (row.function.as_str(), words::place(&row.file, row.line)) {
                    ("", place) => place,
                    (function, place) if place.is_empty() => words::function(function),
                    (function, place) => format!("{} ({place})", shorten(&words::function(function), 30)),
                };
                Some((path.join(" › "), from, across))
            };
            ("call path", facts.call_paths.iter().filter_map(row).collect())
        }
    };
    if rows.is_empty() {
        return page.nothing("none");
    }
    #[expect(clippy::cast_precision_loss, reason = "only the order matters")]
    let sum = |across: &Across| across.exclusive.mean * across.locations as f64;
    rows.sort_by(|a, b| sum(&b.2).total_cmp(&sum(&a.2)));
    let has_callers = rows.iter().any(|row| !row.1.is_empty());
    let mut columns = vec![(head, Side::Left)];
    columns.extend(has_callers.then_some(("called by", Side::Left)));
    columns.extend(["on", "min", "mean", "max", "std", "uneven"].map(|head| (head, Side::Right)));
    columns.push(("most on", Side::Left));
    let mut table = Table::new(&columns).can_spare(&["called by", "std", "min", "on", "mean", "most on"]);
    for (name, from, across) in rows.iter().take(page.top) {
        let it = &across.exclusive;
        let time = |ns: u64| format::duration(Nanos(i64::try_from(ns).unwrap_or(i64::MAX)));
        #[expect(clippy::cast_possible_truncation, reason = "runs are shorter than 200 years")]
        let rounded = |ns: f64| format::duration(Nanos(ns.round() as i64));
        let mut cells: Vec<Cell> = vec![shorten(name, 24).into()];
        cells.extend(has_callers.then(|| Cell::new(Look::Faint, shorten(from, 34))));
        cells.extend([
            Cell::from(across.locations.to_string()),
            time(it.min).into(),
            rounded(it.mean).into(),
            time(it.max).into(),
            Cell::new(Look::Faint, rounded(it.std)),
            format!("{:.0} %", 100.0 * it.imbalance()).into(),
            words::location(facts.trace, it.max_location).into(),
        ]);
        table.push(cells);
    }
    table.print(page.out, page.paint)?;
    page.more(rows.len().saturating_sub(page.top), "row")
}

/// The same for other programs.
#[derive(Serialize)]
pub(super) struct Json {
    locations: usize,
    exclusive_ns: Figures,
    inclusive_ns: Figures,
    calls: Figures,
    bytes: Figures,
    waiting_ns: Option<Figures>,
}

#[derive(Serialize)]
struct Figures {
    min: u64,
    max: u64,
    mean: f64,
    std: f64,
    imbalance: f64,
    min_location: u32,
    max_location: u32,
}

impl Json {
    pub(super) fn new(across: &Across) -> Self {
        Self {
            locations: across.locations,
            exclusive_ns: (&across.exclusive).into(),
            inclusive_ns: (&across.inclusive).into(),
            calls: (&across.visits).into(),
            bytes: (&across.bytes).into(),
            waiting_ns: across.waiting.as_ref().map(Into::into),
        }
    }
}

impl From<&AcrossFigures> for Figures {
    fn from(it: &AcrossFigures) -> Self {
        Self {
            min: it.min,
            max: it.max,
            mean: it.mean,
            std: it.std,
            imbalance: it.imbalance(),
            min_location: it.min_location.0,
            max_location: it.max_location.0,
        }
    }
}
