//! The small tables: definitions, processes, clocks, environment.

use super::arrays;
use super::clocks::{ClockFacts, Knot};
use super::definitions::ProcessDefs;
use super::globals::Globals;
use super::input::Input;
use super::rows::columns;
use super::stream::Decoding;
use crate::schema::*;
use crate::{Column, Columns, Error};

/// All tables of definitions, in no particular order.
pub(crate) fn definitions(input: &Input, decoding: &Decoding) -> Result<Vec<Columns>, Error> {
    let globals = &input.globals;
    Ok(vec![
        levels(globals)?,
        nouns(input, decoding)?,
        verbs(globals)?,
        regions(globals)?,
        arrays::arrays(input)?,
        arrays::shapes(globals)?,
        decoding.accessed.table()?,
        participants(globals, decoding)?,
        modules(globals)?,
        stacks(globals)?,
        call_paths(decoding)?,
        communicators(globals)?,
        datatypes(globals)?,
        counter_kinds(globals)?,
        event_kinds(globals)?,
        clocks(input)?,
        clock_knots(input)?,
        environment(input)?,
    ])
}

fn ids(len: usize) -> Column {
    Column::U32((0..len as u32).collect())
}

pub(crate) fn with_ids(spec: &'static TableSpec, len: usize, rest: Vec<Column>) -> Result<Columns, Error> {
    let mut columns = vec![ids(len)];
    columns.extend(rest);
    Columns::from_columns(spec, columns)
}

fn levels(globals: &Globals) -> Result<Columns, Error> {
    let rows = &globals.levels.rows;
    let tier = |code| marey_model::Tier::from_code(code).unwrap_or(marey_model::Tier::Runtime).name();
    let columns = columns![rows;
        Text |row| row.name.clone(),
        Text |row| tier(row.tier).to_owned(),
        Text |row| row.built_on.join(","),
    ];
    with_ids(&LEVELS, rows.len(), columns)
}

fn nouns(input: &Input, decoding: &Decoding) -> Result<Columns, Error> {
    let mut rows = input.globals.nouns.rows.clone();
    let threads =
        input.globals.levels.rows.iter().position(|level| level.name == marey_model::Level::THREADS);
    for &(process, address) in &decoding.locks.rows {
        rows.push(super::globals::NounRow {
            level: threads.unwrap_or(0) as u32,
            kind: "lock".to_owned(),
            name: format!("0x{address:x}"),
            file: String::new(),
            line: 0,
            distinct: process.into(),
        });
    }
    let columns = columns![rows;
        U32 |row| row.level,
        Text |row| row.kind.clone(),
        Text |row| row.name.clone(),
        U32 |_| NONE,
        Text |row| row.file.clone(),
        U32 |row| row.line,
    ];
    with_ids(&NOUNS, rows.len(), columns)
}

fn verbs(globals: &Globals) -> Result<Columns, Error> {
    let rows = &globals.verbs.rows;
    let columns = columns![rows;
        U32 |row| row.level,
        Text |row| row.name.clone(),
        Text |row| Globals::role(row).to_owned(),
    ];
    let table = with_ids(&VERBS, rows.len(), columns)?;
    Ok(table)
}

fn regions(globals: &Globals) -> Result<Columns, Error> {
    let mut table = Columns::new(&REGIONS);
    for (id, row) in (0..).zip(&globals.regions.rows) {
        let verb = &globals.verbs.rows[row.verb as usize];
        let noun = globals.nouns.rows.get(row.noun as usize).map_or("", |noun| noun.name.as_str());
        table.push(&[
            u32::into(id),
            globals.levels.rows[row.level as usize].name.as_str().into(),
            verb.name.as_str().into(),
            noun.into(),
            Globals::role(verb).into(),
            row.level.into(),
            row.verb.into(),
            row.noun.into(),
            row.file.as_str().into(),
            row.line.into(),
        ])?;
    }
    Ok(table)
}

/// Sets of one noun, and behind them those of several.
fn participants(globals: &Globals, decoding: &Decoding) -> Result<Columns, Error> {
    let nouns = &globals.participants.rows;
    let one = (0..).zip(nouns).map(|(id, &noun)| (id, noun));
    let several = (nouns.len() as u32..).zip(&decoding.sets.rows.rows);
    let several = several.flat_map(|(id, set)| set.iter().map(move |&noun| (id, nouns[noun as usize])));
    let rows: Vec<(u32, u32)> = one.chain(several).collect();
    Columns::from_columns(&PARTICIPANTS, columns![rows; U32 |row| row.0, U32 |row| row.1])
}

pub(crate) fn modules(globals: &Globals) -> Result<Columns, Error> {
    let rows = &globals.modules.rows;
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let columns = columns![rows;
        Text |row| row.1.clone(),
        Text |row| hex(&row.0),
    ];
    with_ids(&MODULES, rows.len(), columns)
}

pub(crate) fn stacks(globals: &Globals) -> Result<Columns, Error> {
    let stacks = (0_u32..).zip(&globals.stacks.rows);
    let rows: Vec<(u32, u32, u32, u64)> = stacks
        .flat_map(|(id, frames)| (0..).zip(frames).map(move |(place, frame)| (id, place, frame.0, frame.1)))
        .collect();
    let columns = columns![rows;
        U32 |row| row.0,
        U32 |row| row.1,
        U32 |row| row.2,
        I64 |row| row.3.cast_signed(),
    ];
    Columns::from_columns(&STACKS, columns)
}

fn call_paths(decoding: &Decoding) -> Result<Columns, Error> {
    let rows = &decoding.paths.rows;
    let columns = columns![rows;
        U32 |row| row.parent,
        U32 |row| row.region,
        U32 |row| row.stack,
        U32 |row| row.depth,
        U32 |row| row.level,
        U32 |row| row.depth_in_level,
    ];
    with_ids(&CALL_PATHS, rows.len(), columns)
}

fn communicators(globals: &Globals) -> Result<Columns, Error> {
    let rows = &globals.communicators.rows;
    let columns = columns![rows;
        Text |row| row.name.clone(),
        U32 |row| row.size,
        U32 |row| row.parent.unwrap_or(NONE),
        Text |row| if row.inter { "inter" } else { "intra" }.to_owned(),
        Text |row| row.member_text(),
    ];
    with_ids(&COMMUNICATORS, rows.len(), columns)
}

fn datatypes(globals: &Globals) -> Result<Columns, Error> {
    let rows = &globals.datatypes.rows;
    let columns = columns![rows;
        Text |row| row.0.clone(),
        I64 |row| i64::try_from(row.1).unwrap_or(-1),
    ];
    with_ids(&DATATYPES, rows.len(), columns)
}

fn counter_kinds(globals: &Globals) -> Result<Columns, Error> {
    let rows = &globals.counter_kinds.rows;
    let columns = columns![rows;
        Text |row| row.0.clone(),
        Text |row| row.1.clone(),
        Text |row| row.2.clone(),
    ];
    with_ids(&COUNTER_KINDS, rows.len(), columns)
}

fn event_kinds(globals: &Globals) -> Result<Columns, Error> {
    use marey_model::spool::FieldType;
    let rows = &globals.event_kinds.rows;
    let kind = |code| match FieldType::from_code(code) {
        Some(FieldType::Unsigned) => "u64",
        Some(FieldType::Signed) => "i64",
        Some(FieldType::Real) => "f64",
        Some(FieldType::Bool) => "bool",
        Some(FieldType::Text) => "text",
        None => "unknown",
    };
    let join = |words: Vec<&str>| words.join(",");
    let columns = columns![rows;
        Text |row| row.name.clone(),
        Text |row| if row.attribute { "attribute" } else { "event" }.to_owned(),
        Text |row| join(row.fields.iter().map(|field| field.0.as_str()).collect()),
        Text |row| join(row.fields.iter().map(|field| kind(field.1)).collect()),
    ];
    with_ids(&EVENT_KINDS, rows.len(), columns)
}

fn clocks(input: &Input) -> Result<Columns, Error> {
    let rows = &input.clocks;
    let knots = |facts: &ClockFacts| {
        let [first, .., last] = &facts.knots[..] else { return "[]".to_owned() };
        format!("[[{},{}],[{},{}]]", first.ticks, first.ns, last.ticks, last.ns)
    };
    let columns = columns![rows;
        Text |row| row.kind.to_owned(),
        I64 |row| row.offset_ns,
        F64 |row| row.drift_ppm,
        I64 |row| row.uncertainty_ns,
        I64 |row| row.knots.first().map_or(0, |knot| knot.ticks.cast_signed()),
        F64 |row| row.ticks_per_second,
        Text knots,
        U32 |row| row.domain as u32,
    ];
    with_ids(&CLOCKS, rows.len(), columns)
}

fn clock_knots(input: &Input) -> Result<Columns, Error> {
    let own = |(process, facts): (u32, &ClockFacts)| {
        facts.knots.iter().map(|knot| (process, *knot)).collect::<Vec<_>>()
    };
    let rows: Vec<(u32, Knot)> = (0..).zip(&input.clocks).flat_map(own).collect();
    let columns = columns![rows;
        U32 |row| row.0,
        I64 |row| row.1.ticks.cast_signed(),
        I64 |row| row.1.ns,
        I64 |row| row.1.uncertainty_ns,
    ];
    Columns::from_columns(&CLOCK_KNOTS, columns)
}

fn environment(input: &Input) -> Result<Columns, Error> {
    let mut table = Columns::new(&ENVIRONMENT);
    for (name, value) in &input.launch.environment {
        table.push(&[NONE.into(), name.as_str().into(), value.as_str().into()])?;
    }
    for (idx, process) in (0_u32..).zip(&input.processes) {
        for (name, value) in &process.environment {
            table.push(&[idx.into(), name.as_str().into(), value.as_str().into()])?;
        }
    }
    Ok(table)
}

/// How a process ended, in a word, and its exit code.
pub(crate) fn outcome(input: &Input, idx: usize) -> (String, i64) {
    use marey_model::spool::EndingKind as E;
    let process = &input.processes[idx];
    if let Some((kind, code, _)) = process.ending {
        // What a parent process gets to see of `exit(-1)` is 255.
        let status = code & 0xFF;
        return match (E::from_code(kind), status) {
            (Some(E::Exit), 0) => ("finished".to_owned(), 0),
            (Some(E::Exit), status) => ("exited".to_owned(), status),
            (Some(E::ImmediateExit), status) => ("exited at once (_exit)".to_owned(), status),
            (Some(E::Abort), _) => ("aborted".to_owned(), -1),
            (Some(E::MpiAbort), _) => ("aborted (MPI_Abort)".to_owned(), code),
            (Some(E::Exec), _) => ("replaced by exec".to_owned(), -1),
            (None, _) => ("ended".to_owned(), -1),
        };
    }
    let is_recorded = process.troubles.iter().all(|(kind, ..)| kind != "missing");
    if !process.is_defined || !is_recorded {
        return ("unknown".to_owned(), -1);
    }
    let start = |idx: usize| input.clocks[idx].clock.ns(input.processes[idx].start.ticks);
    // A number that was given out again has another parent, mostly.
    let same = |other: &ProcessDefs| {
        (other.pid, other.parent_pid, &other.host) == (process.pid, process.parent_pid, &process.host)
    };
    let mut others = input.processes.iter().enumerate();
    if process.pid != 0 && others.any(|(other, defs)| same(defs) && start(other) > start(idx)) {
        return ("replaced by exec".to_owned(), -1);
    }
    if super::alive::is_recording(process) {
        return ("still running when the recording ended".to_owned(), -1);
    }
    ("ended without notice (killed, or went on as another program)".to_owned(), -1)
}
