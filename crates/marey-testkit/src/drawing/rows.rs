//! Rows of a drawing: from characters to locations and intervals.
//!
//! The one idea: a row is cut into runs of one character first, and each run of a letter must find the one interval of
//! the row above that it lies in.

use std::ops::Range;

use marey_analyze::{CallPath, Interval, Location, LocationKind, Process};
use marey_model::{CallPathId, LocationId, Nanos, ProcessId, RegionId, ThreadSerial};

use super::{Drawing, Drawn};

/// One location as it is drawn.
#[derive(Debug)]
pub(super) struct Track {
    pub(super) name: String,
    pub(super) thread: u32,
    pub(super) rank: u32,
    /// Line and characters of its rows, the outermost first.
    pub(super) rows: Vec<(usize, Vec<char>)>,
}

impl Track {
    /// Reads `a rank 0` or `t thread 1 of rank 0`.
    pub(super) fn named(head: &str, line: usize) -> Result<Self, String> {
        let number = |word: &str| word.parse().map_err(|_| format!("line {line}: `{word}` is no number"));
        let words: Vec<&str> = head.split_whitespace().collect();
        let (name, thread, rank) = match words[..] {
            [name, "rank", rank] => (name, 0, number(rank)?),
            [name, "thread", thread, "of", "rank", rank] => (name, number(thread)?, number(rank)?),
            _ => {
                return Err(format!(
                    "line {line}: before the bar stands neither `NAME rank N` nor `NAME thread N of rank N`: `{head}`"
                ));
            }
        };
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(format!("line {line}: `{name}` is no name: letters, digits and _ make one"));
        }
        Ok(Self { name: name.to_owned(), thread, rank, rows: Vec::new() })
    }
}

/// Fills in processes, locations, intervals and call paths.
pub(super) fn place(drawing: &mut Drawing, tracks: &[Track], unit: i64) -> Result<(), String> {
    let n_ranks = tracks.iter().map(|track| track.rank + 1).max().unwrap_or(0);
    for rank in 0..n_ranks {
        drawing.processes.push(Process {
            host: "node".to_owned(),
            pid: 100 + rank,
            world: 0,
            rank: Some(rank),
            start: Nanos(i64::MAX),
            end: Nanos(0),
            outcome: "finished".to_owned(),
            exit_code: Some(0),
            peak_memory: None,
            processor_time: None,
        });
    }
    for (number, track) in (0..).zip(tracks) {
        if tracks[..number as usize].iter().any(|other| other.name == track.name) {
            return Err(format!("line {}: there is a location `{}` already", track.rows[0].0, track.name));
        }
        place_track(drawing, LocationId(number), track, unit)?;
    }
    Ok(())
}

fn place_track(drawing: &mut Drawing, id: LocationId, track: &Track, unit: i64) -> Result<(), String> {
    let time = |column: usize| Nanos(i64::try_from(column).unwrap_or(i64::MAX).saturating_mul(unit));
    let (line, row) = &track.rows[0];
    let life = life(*line, row)?;
    let (start, end) = (time(life.start), time(life.end));
    let process = &mut drawing.processes[track.rank as usize];
    process.start = process.start.min(start);
    process.end = process.end.max(end);
    drawing.locations.push(Location {
        process: ProcessId(track.rank),
        name: track.name.clone(),
        kind: LocationKind::Thread,
        thread: ThreadSerial(track.thread),
        start,
        end,
    });
    // Call path and columns of the intervals of the row above.
    let mut above: Vec<(CallPathId, Range<usize>)> = Vec::new();
    for (depth, (line, row)) in (0..).zip(&track.rows) {
        let mut here = Vec::new();
        for (letter, columns) in runs(row) {
            let wrong =
                |what: &str| format!("line {line}: `{letter}` in column {} {what}", columns.start + 1);
            let &region = drawing.letters.get(&letter).ok_or_else(|| wrong("is not in the legend"))?;
            let outer = above.iter().find(|(_, o)| o.start <= columns.start && columns.end <= o.end);
            if 0 < depth && outer.is_none() {
                return Err(wrong("does not lie within one interval of the row above"));
            }
            let call_path = call_path(&mut drawing.call_paths, outer.map(|(path, _)| *path), region);
            let (start, end) = (time(columns.start), time(columns.end));
            let interval =
                Interval { location: id, start, end, call_path, depth, computed: Nanos(0), visits: 1 };
            drawing.intervals.push(Drawn { letter, interval });
            here.push((call_path, columns));
        }
        above = here;
    }
    let order = |drawn: &Drawn| (drawn.interval.location, drawn.interval.start, drawn.interval.depth);
    drawing.intervals.sort_by_key(order);
    Ok(())
}

/// From the first to the last character that is no blank.
fn life(line: usize, row: &[char]) -> Result<Range<usize>, String> {
    let start = row.iter().position(|c| *c != ' ').ok_or_else(|| format!("line {line}: nothing is drawn"))?;
    let end = row.iter().rposition(|c| *c != ' ').map_or(start, |last| last + 1);
    if row[start..end].contains(&' ') {
        return Err(format!(
            "line {line}: a blank within the life of a location; `.` is outside of all regions"
        ));
    }
    Ok(start..end)
}

/// Runs of one letter, with their columns.
fn runs(row: &[char]) -> Vec<(char, Range<usize>)> {
    let mut runs: Vec<(char, Range<usize>)> = Vec::new();
    for (column, &letter) in row.iter().enumerate() {
        match runs.last_mut() {
            Some((last, columns)) if *last == letter => columns.end = column + 1,
            _ => runs.push((letter, column..column + 1)),
        }
    }
    runs.retain(|(letter, _)| !matches!(letter, '.' | ' '));
    runs
}

fn call_path(paths: &mut Vec<CallPath>, parent: Option<CallPathId>, region: RegionId) -> CallPathId {
    let known = paths.iter().position(|path| path.parent == parent && path.region == region);
    let idx = known.unwrap_or_else(|| {
        paths.push(CallPath { parent, region, stack: None });
        paths.len() - 1
    });
    CallPathId::from_idx(idx).expect("a drawing has few call paths")
}
