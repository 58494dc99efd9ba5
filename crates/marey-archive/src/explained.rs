//! What explains a run as a whole, prepared when it is merged.
//!
//! The one idea: [`Causes`] are written as tables beside all others, and come back as they were; who asks about the whole
//! run need not go through its events again. They are a by-product: an archive without them is whole, and so is one whose
//! clocks were corrected since, or that follows older definitions, for they can be found again from the events.
//!
//! What is deliberately absent: causes of a part of a run, which cost in proportion to the part.

use std::path::Path;

use marey_analyze::{
    Activity, Causes, CommunicatorId, CriticalPath, DelayRow, Delays, EXPLANATION_VERSION, Effect,
    InCommunicator, PathSpan, Pattern, Span, TimeRow, Trace, Unlisted, Wait, Waits, causes,
};
use marey_model::{CallPathId, LocationId, Nanos};

use crate::schema::*;
use crate::{Archive, Columns, Error, Events, Meta, Part, PartWriter, RunTrace, State, Value};

/// Rows that are turned into columns at a time.
const BATCH: usize = 1 << 14;

/// Explains a run that has been merged, and adds that to its tables: some 0.2 s for a million intervals.
///
/// # Errors
/// What of the run could not be read, or written; it is as whole as before then.
#[cfg(unix)]
pub fn prepare(run: &Path) -> Result<(), Error> {
    let archive = Archive::open_as_merged(run)?;
    let trace = RunTrace::load(&archive)?;
    let events = Events::open(&archive, &trace)?;
    let causes = causes(&trace, &events).map_err(|unread| Error::Unexplained { why: unread.to_string() })?;
    let mut meta = archive.meta().clone();
    if meta.state != State::Finished {
        return Ok(());
    }
    write(run, &mut meta, &causes)?;
    meta.save(run)
}

fn write(run: &Path, meta: &mut Meta, causes: &Causes) -> Result<(), Error> {
    let mut add = |spec: &'static TableSpec, rows: &mut dyn Iterator<Item = Vec<Value<'_>>>| {
        let mut writer = PartWriter::create(&run.join(spec.file(0, 0)), spec)?;
        let mut batch = Columns::new(spec);
        for row in rows {
            batch.push(&row)?;
            if batch.len() == BATCH {
                writer.write(&batch)?;
                batch.clear();
            }
        }
        writer.write(&batch)?;
        meta.add(spec, Part::new(spec, 0, 0, writer.finish()?));
        Ok::<(), Error>(())
    };
    let Causes { waits, delays, path, times, span, ideal, bare } = causes;
    add(
        &WAITS,
        &mut waits.list.iter().map(|wait| {
            vec![
                Value::U32(wait.location.0),
                Value::I64(wait.from.0),
                Value::I64(wait.length().0),
                path_value(wait.call_path),
                Value::Text(wait.pattern.name()),
                Value::U32(wait.cause.0),
                Value::U32(wait.in_vain.into()),
                Value::U32(wait.communicator.get().map_or(NONE, |id| id.0)),
            ]
        }),
    )?;
    add(
        &COMPLETIONS,
        &mut waits.completion.iter().map(|(call_path, location, time)| {
            vec![path_value(*call_path), Value::U32(location.0), Value::I64(time.0)]
        }),
    )?;
    add(
        &DELAYS,
        &mut delays.rows.iter().map(|row| {
            let [activity, call_path] = activity_values(row.activity);
            let (short_term, long_term) = (Value::F64(row.short_term), Value::F64(row.long_term));
            vec![Value::U32(row.location.0), activity, call_path, short_term, long_term]
        }),
    )?;
    add(
        &DELAY_EFFECTS,
        &mut delays.effects.iter().map(|row| {
            let [activity, cause_path] = activity_values(row.activity);
            vec![
                Value::U32(row.cause.0),
                activity,
                cause_path,
                Value::Text(row.pattern.name()),
                path_value(row.call_path),
                Value::U32(row.location.0),
                Value::F64(row.cost),
                Value::F64(row.lengths),
                Value::F64(row.clock_bars),
                Value::I64(row.from.0),
                Value::I64(row.to.0),
            ]
        }),
    )?;
    add(
        &CRITICAL_PATH,
        &mut path.spans.iter().map(|span| {
            let (start, duration) = (Value::I64(span.from.0), Value::I64((span.to - span.from).0));
            vec![Value::U32(span.location.0), start, duration]
        }),
    )?;
    add(
        &ACTIVITIES,
        &mut times.iter().map(|row| {
            let [activity, call_path] = activity_values(row.activity);
            let [time, waiting, on_path] = [row.time, row.waiting, row.on_path].map(|it| Value::I64(it.0));
            let [from, to] = [row.path_span.0, row.path_span.1].map(|it| Value::I64(it.0));
            vec![Value::U32(row.location.0), activity, call_path, time, waiting, on_path, from, to]
        }),
    )?;
    add(
        &IDEAL_NETWORK,
        &mut ideal.iter().zip(bare).zip(0..).map(|((network, all), id)| {
            let times = [network.0, network.1, all.0, all.1].map(|time| Value::I64(time.0));
            [&[Value::U32(id)], &times[..]].concat()
        }),
    )?;
    let Unlisted { number, time, longest } = waits.unlisted;
    let once = vec![
        Value::I64(EXPLANATION_VERSION),
        Value::I64(span.from.0),
        Value::I64(span.to.0),
        Value::I64(number.try_into().unwrap_or(i64::MAX)),
        Value::I64(time.0),
        Value::I64(longest.0),
        Value::F64(delays.unexplained),
        Value::I64(path.before.0),
    ];
    add(&EXPLANATION, &mut std::iter::once(once))
}

fn path_value(path: Option<CallPathId>) -> Value<'static> {
    Value::U32(path.map_or(NONE, |path| path.0))
}

const REGION: &str = "region";
const OUTSIDE: &str = "outside";
const NOT_STARTED: &str = "not started";

fn activity_values(activity: Activity) -> [Value<'static>; 2] {
    match activity {
        Activity::Path(path) => [Value::Text(REGION), path_value(Some(path))],
        Activity::Outside => [Value::Text(OUTSIDE), path_value(None)],
        Activity::NotStarted => [Value::Text(NOT_STARTED), path_value(None)],
    }
}

/// What was prepared; `None` if there is nothing, or nothing that can be relied on: it is found again from the events then.
pub fn prepared(archive: &Archive, trace: &RunTrace) -> Option<Causes> {
    // Corrections of clocks change all of it.
    if !archive.corrections().is_empty() || archive.meta().rows(EXPLANATION.name) != 1 {
        return None;
    }
    let (locations, paths) = (trace.locations().len(), trace.call_paths().len());
    let communicators = trace.communicators().len();
    Reading { archive, locations, paths, communicators }.all().ok()
}

/// Reads the tables, and nothing that no run can have.
struct Reading<'a> {
    archive: &'a Archive,
    locations: usize,
    paths: usize,
    communicators: usize,
}

impl Reading<'_> {
    fn all(&self) -> Result<Causes, Error> {
        let once = self.archive.table(EXPLANATION.name)?;
        let number = |name: &str| Ok::<i64, Error>(once.i64(name)?.first().copied().unwrap_or(-1));
        if number("version")? != EXPLANATION_VERSION {
            return Err(nonsense("another version"));
        }
        let unlisted = Unlisted {
            number: number("unlisted_waits")?.try_into().unwrap_or(0),
            time: Nanos(number("unlisted_time")?),
            longest: Nanos(number("unlisted_longest")?),
        };
        let (rows, effects) = (self.delays()?, self.effects()?);
        let [ideal, bare] = self.ideals()?;
        Ok(Causes {
            waits: Waits { list: self.waits()?, unlisted, completion: self.completions()? },
            delays: Delays {
                rows,
                effects,
                unexplained: once.f64("unexplained")?.first().copied().unwrap_or(0.0),
            },
            path: CriticalPath { spans: self.path()?, before: Nanos(number("before_path")?) },
            times: self.times()?,
            span: Span { from: Nanos(number("from")?), to: Nanos(number("to")?) },
            ideal,
            bare,
        })
    }

    /// All rows of a table.
    fn rows<T>(
        &self,
        spec: &'static TableSpec,
        mut each: impl FnMut(&Columns, &mut Vec<T>) -> Result<(), Error>,
    ) -> Result<Vec<T>, Error> {
        let names: Vec<&str> = spec.columns.iter().map(|column| column.name).collect();
        let mut rows = Vec::new();
        let mut wrong = Ok(());
        for part in self.archive.parts(spec.name) {
            self.archive.scan_part(spec, part, &names, &[], |columns| {
                if wrong.is_ok() {
                    wrong = each(columns, &mut rows);
                }
            })?;
        }
        wrong.map(|()| rows)
    }

    fn location(&self, id: u32) -> Result<LocationId, Error> {
        let is_known = (id as usize) < self.locations;
        is_known.then_some(LocationId(id)).ok_or_else(|| nonsense("a location that does not exist"))
    }

    fn path_of(&self, id: u32) -> Result<Option<CallPathId>, Error> {
        match id {
            NONE => Ok(None),
            id if (id as usize) < self.paths => Ok(Some(CallPathId(id))),
            _ => Err(nonsense("a call path that does not exist")),
        }
    }

    fn communicator_of(&self, id: u32) -> Result<InCommunicator, Error> {
        let is_known = id == NONE || (id as usize) < self.communicators;
        let communicator = (id != NONE).then_some(CommunicatorId(id)).into();
        is_known.then_some(communicator).ok_or_else(|| nonsense("a communicator that does not exist"))
    }

    fn activity(&self, activity: &str, path: u32) -> Result<Activity, Error> {
        match (activity, self.path_of(path)?) {
            (REGION, Some(path)) => Ok(Activity::Path(path)),
            (OUTSIDE, None) => Ok(Activity::Outside),
            (NOT_STARTED, None) => Ok(Activity::NotStarted),
            _ => Err(nonsense("an activity that does not exist")),
        }
    }

    fn waits(&self) -> Result<Vec<Wait>, Error> {
        let list = self.rows(&WAITS, |rows, all: &mut Vec<Wait>| {
            let (locations, causes, paths) =
                (rows.u32("location")?, rows.u32("cause")?, rows.u32("call_path")?);
            let communicators = rows.u32("communicator")?;
            let (starts, durations, patterns) =
                (rows.i64("start")?, rows.i64("duration")?, rows.text("pattern")?);
            let in_vain = rows.u32("in_vain")?;
            for row in 0..rows.len() {
                let (from, to) = span(starts[row], durations[row])?;
                all.push(Wait {
                    location: self.location(locations[row])?,
                    cause: self.location(causes[row])?,
                    from,
                    to,
                    call_path: self.path_of(paths[row])?,
                    pattern: pattern(&patterns[row])?,
                    in_vain: in_vain[row] == 1,
                    communicator: self.communicator_of(communicators[row])?,
                });
            }
            Ok(())
        })?;
        let is_behind =
            |a: &Wait, b: &Wait| a.location < b.location || a.location == b.location && a.to <= b.from;
        list.is_sorted_by(is_behind).then_some(list).ok_or_else(|| nonsense("waits that overlap"))
    }

    fn completions(&self) -> Result<Vec<(Option<CallPathId>, LocationId, Nanos)>, Error> {
        self.rows(&COMPLETIONS, |rows, all| {
            let (paths, locations, times) =
                (rows.u32("call_path")?, rows.u32("location")?, rows.i64("time")?);
            for row in 0..rows.len() {
                all.push((self.path_of(paths[row])?, self.location(locations[row])?, Nanos(times[row])));
            }
            Ok(())
        })
    }

    fn delays(&self) -> Result<Vec<DelayRow>, Error> {
        self.rows(&DELAYS, |rows, all| {
            let (locations, activities, paths) =
                (rows.u32("location")?, rows.text("activity")?, rows.u32("call_path")?);
            let (short, long) = (rows.f64("short_term")?, rows.f64("long_term")?);
            for row in 0..rows.len() {
                all.push(DelayRow {
                    location: self.location(locations[row])?,
                    activity: self.activity(&activities[row], paths[row])?,
                    short_term: short[row],
                    long_term: long[row],
                });
            }
            Ok(())
        })
    }

    fn effects(&self) -> Result<Vec<Effect>, Error> {
        self.rows(&DELAY_EFFECTS, |rows, all| {
            let (causes, activities, cause_paths) =
                (rows.u32("cause")?, rows.text("activity")?, rows.u32("cause_path")?);
            let (patterns, paths, locations) =
                (rows.text("pattern")?, rows.u32("call_path")?, rows.u32("location")?);
            let (lengths, clock_bars) = (rows.f64("lengths")?, rows.f64("clock_bars")?);
            let (costs, from, to) = (rows.f64("cost")?, rows.i64("from")?, rows.i64("to")?);
            for row in 0..rows.len() {
                all.push(Effect {
                    cause: self.location(causes[row])?,
                    activity: self.activity(&activities[row], cause_paths[row])?,
                    pattern: pattern(&patterns[row])?,
                    call_path: self.path_of(paths[row])?,
                    location: self.location(locations[row])?,
                    cost: costs[row],
                    lengths: lengths[row],
                    clock_bars: clock_bars[row],
                    from: Nanos(from[row]),
                    to: Nanos(to[row]),
                });
            }
            Ok(())
        })
    }

    fn path(&self) -> Result<Vec<PathSpan>, Error> {
        self.rows(&CRITICAL_PATH, |rows, all| {
            let (locations, starts, durations) =
                (rows.u32("location")?, rows.i64("start")?, rows.i64("duration")?);
            for row in 0..rows.len() {
                let (from, to) = span(starts[row], durations[row])?;
                all.push(PathSpan { location: self.location(locations[row])?, from, to });
            }
            Ok(())
        })
    }

    fn times(&self) -> Result<Vec<TimeRow>, Error> {
        self.rows(&ACTIVITIES, |rows, all| {
            let (locations, activities, paths) =
                (rows.u32("location")?, rows.text("activity")?, rows.u32("call_path")?);
            let (from, to) = (rows.i64("path_from")?, rows.i64("path_to")?);
            let (times, waiting, on_path) = (rows.i64("time")?, rows.i64("waiting")?, rows.i64("on_path")?);
            for row in 0..rows.len() {
                all.push(TimeRow {
                    location: self.location(locations[row])?,
                    activity: self.activity(&activities[row], paths[row])?,
                    time: Nanos(times[row]),
                    waiting: Nanos(waiting[row]),
                    on_path: Nanos(on_path[row]),
                    path_span: (Nanos(from[row]), Nanos(to[row])),
                });
            }
            Ok(())
        })
    }

    /// With the network alone, and with all of parallel libraries.
    fn ideals(&self) -> Result<[Vec<(Nanos, Nanos)>; 2], Error> {
        let ideals = self.rows(&IDEAL_NETWORK, |rows, all| {
            let column = |name| rows.i64(name);
            let (from, to) = (column("from")?, column("to")?);
            let (bare_from, bare_to) = (column("bare_from")?, column("bare_to")?);
            let life = |from: &[i64], to: &[i64], row: usize| (Nanos(from[row]), Nanos(to[row]));
            all.extend((0..rows.len()).map(|row| (life(from, to, row), life(bare_from, bare_to, row))));
            Ok(())
        })?;
        if ideals.len() != self.locations {
            return Err(nonsense("too few rows"));
        }
        let (ideal, bare) = ideals.into_iter().unzip();
        Ok([ideal, bare])
    }
}

fn pattern(name: &str) -> Result<Pattern, Error> {
    Pattern::from_name(name).ok_or_else(|| nonsense("a wait of no known kind"))
}

fn span(start: i64, duration: i64) -> Result<(Nanos, Nanos), Error> {
    let end = start.checked_add(duration).filter(|end| 0 <= start && start <= *end);
    Ok((Nanos(start), Nanos(end.ok_or_else(|| nonsense("a time that cannot be"))?)))
}

fn nonsense(what: &str) -> Error {
    Error::Unexplained { why: what.to_owned() }
}
