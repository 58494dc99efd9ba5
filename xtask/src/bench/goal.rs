//! What the figures are to reach.
//!
//! The one idea: whoever measures a figure says what it should be, in one call, so that no figure
//! stands far from its target.

use super::stats::Summary;
use super::table::Table;

/// The rows of the first table.
pub(super) struct Goals {
    judging: Judging,
    rows: Vec<Vec<String>>,
}

/// Whether figures are held against their targets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Judging {
    All,
    /// Only counts: in a short run start-up and half-empty windows weigh more than what is measured.
    Counts,
}

/// What a median should be.
#[derive(Clone, Copy)]
pub(super) enum Target {
    AtMost(f64),
    AtLeast(f64),
    /// Anything: the figure stands there to compare with.
    Open,
}

impl Goals {
    pub(super) const fn new(judging: Judging) -> Self {
        Self { judging, rows: Vec::new() }
    }

    /// Adds a figure, if it was measured.
    pub(super) fn add(&mut self, case: &str, unit: &str, value: Option<Summary>, target: Target) {
        let Some(Summary { median, least, greatest }) = value else { return };
        let digits = digits(median);
        let figure = if least < greatest {
            format!("{median:.digits$} [{least:.digits$}–{greatest:.digits$}]")
        } else {
            format!("{median:.digits$}")
        };
        let (wish, met) = match target {
            Target::AtMost(most) => (format!("≤ {most}"), Some(median <= most)),
            Target::AtLeast(least) => (format!("≥ {least}"), Some(least <= median)),
            Target::Open => (String::new(), None),
        };
        self.push(case, figure, unit, wish, met.filter(|_| self.judging == Judging::All));
    }

    /// Adds a row in the caller's own words, for counts.
    pub(super) fn push(&mut self, case: &str, figure: String, unit: &str, target: String, met: Option<bool>) {
        let met = met.map_or("", |met| if met { "yes" } else { "NO" });
        self.rows.push(vec![case.to_owned(), figure, unit.to_owned(), target, met.to_owned()]);
    }

    pub(super) fn table(&self) -> Table {
        let mut table = Table::new(&["case", "figure", "unit", "target", "met?"]);
        self.rows.iter().for_each(|row| table.push(row.clone()));
        table
    }
}

/// Three significant digits, and a ratio near one to the thousandth.
fn digits(value: f64) -> usize {
    match value.abs() {
        size if size < 2.0 => 3,
        size if size < 10.0 => 2,
        size if size < 100.0 => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::{Goals, Judging, Target};
    use crate::bench::stats::Summary;

    fn check(values: &[f64], target: Target, expected: &str) {
        check_as(Judging::All, values, target, expected);
    }

    fn check_as(judging: Judging, values: &[f64], target: Target, expected: &str) {
        let mut goals = Goals::new(judging);
        goals.add("case", "ns", Summary::of(values), target);
        let table = goals.table().markdown();
        let row = table.lines().nth(2).unwrap_or_default();
        let cells: Vec<&str> = row.split('|').map(str::trim).filter(|cell| !cell.is_empty()).collect();
        assert_eq!(cells.join("; "), expected);
    }

    #[test]
    fn targets_are_judged_by_the_median() {
        check(&[20.0, 18.0, 30.0], Target::AtMost(20.0), "case; 20.0 [18.0–30.0]; ns; ≤ 20; yes");
        check(&[1.41], Target::AtMost(1.4), "case; 1.410; ns; ≤ 1.4; NO");
        check(&[26.0, 24.0], Target::AtLeast(25.0), "case; 25.0 [24.0–26.0]; ns; ≥ 25; yes");
        check(&[24.0], Target::AtLeast(25.0), "case; 24.0; ns; ≥ 25; NO");
        check(&[230.4], Target::Open, "case; 230; ns");
        check(&[], Target::Open, "");
    }

    #[test]
    fn a_short_run_judges_counts_alone() {
        check_as(Judging::Counts, &[1.41], Target::AtMost(1.4), "case; 1.410; ns; ≤ 1.4");
        let mut goals = Goals::new(Judging::Counts);
        goals.push("exact", "1 missing".into(), "pairs", "0".into(), Some(false));
        assert!(goals.table().markdown().contains("NO"));
    }
}
