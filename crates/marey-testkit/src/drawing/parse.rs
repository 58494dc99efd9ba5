//! From the text of a drawing to a run.
//!
//! The one idea: two passes. The first takes what is drawn — unit, legend, rows —, the second the statements, which
//! refer to what is drawn.
//!
//! What is deliberately absent: guesses. Whatever cannot be read is an error that names its line.

use std::collections::BTreeMap;

use marey_analyze::{
    Communicator, CommunicatorId, Done, Edge, Interval, Member, Message, Receiving, Region, Sending,
};
use marey_model::{EdgeKind, LocationId, Nanos, RegionId, Role, Tier};

use super::rows::{Track, place};
use super::{Drawing, Expected};

pub(super) fn parse(text: &str) -> Result<Drawing, String> {
    let mut drawing = Drawing {
        clocks: Vec::new(),
        expected: Expected::default(),
        regions: Vec::new(),
        letters: BTreeMap::new(),
        call_paths: Vec::new(),
        processes: Vec::new(),
        locations: Vec::new(),
        intervals: Vec::new(),
        communicators: Vec::new(),
        messages: Vec::new(),
        members: Vec::new(),
        edges: Vec::new(),
        slabs: vec![Nanos(0)],
    };
    let statements = draw(&mut drawing, text)?;
    let size = u32::try_from(drawing.processes.len()).unwrap_or(u32::MAX);
    drawing.communicators.push(Communicator { name: "world".to_owned(), size, parent: None });
    for (line, statement) in statements {
        state(&mut drawing, statement).map_err(|wrong| format!("line {line}: {wrong}"))?;
    }
    Ok(drawing)
}

/// Takes unit, legend and rows; gives back the statements with the numbers of their lines.
fn draw<'a>(drawing: &mut Drawing, text: &'a str) -> Result<Vec<(usize, &'a str)>, String> {
    let mut unit = None;
    let mut tracks: Vec<Track> = Vec::new();
    let mut bar = None;
    let mut statements = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.split('#').next().unwrap_or_default();
        if text.trim().is_empty() {
            continue;
        }
        if let Some((head, row)) = text.split_once('|') {
            let column = head.chars().count();
            if *bar.get_or_insert(column) != column {
                return Err(format!("line {line}: the bar is not below the one above"));
            }
            if !head.trim().is_empty() {
                tracks.push(Track::named(head, line)?);
            }
            let track = tracks.last_mut().ok_or_else(|| format!("line {line}: the first row has no name"))?;
            track.rows.push((line, row.trim_end().chars().collect()));
        } else if let Some((left, right)) = text.split_once(" = ") {
            if left.trim() == "1 char" {
                unit = Some(length(right).ok_or_else(|| format!("line {line}: `1 char = N ns` is meant"))?);
            } else {
                legend(drawing, left, right).map_err(|wrong| format!("line {line}: {wrong}"))?;
            }
        } else {
            statements.push((line, text.trim()));
        }
    }
    let unit = unit.ok_or("nothing says how long a character is: `1 char = N ns`")?;
    place(drawing, &tracks, unit)?;
    Ok(statements)
}

fn length(text: &str) -> Option<i64> {
    text.trim().strip_suffix("ns")?.trim().parse().ok().filter(|ns| 0 < *ns)
}

fn legend(drawing: &mut Drawing, left: &str, right: &str) -> Result<(), String> {
    let words: Vec<&str> = right.split_whitespace().collect();
    let (level, verb, role, noun) = match words[..] {
        [level, verb, role] => (level, verb, role, ""),
        [level, verb, role, noun] => (level, verb, role, noun),
        _ => return Err("a legend is `LETTERS = LEVEL VERB ROLE`, and a noun if wanted".to_owned()),
    };
    let role = Role::ALL.into_iter().find(|known| known.name() == role);
    let role = role.ok_or_else(|| {
        format!("`{}` is no role; there are {}", words[2], Role::ALL.map(Role::name).join(", "))
    })?;
    let region = RegionId::from_idx(drawing.regions.len()).ok_or("too many regions")?;
    drawing.regions.push(Region {
        level: level.to_owned(),
        tier: Tier::Runtime,
        verb: verb.to_owned(),
        noun: noun.to_owned(),
        role,
        file: String::new(),
        line: 0,
        label: None,
    });
    for word in left.split_whitespace() {
        let mut letters = word.chars();
        let (Some(letter), None) = (letters.next(), letters.next()) else {
            return Err(format!("`{word}` is not one letter"));
        };
        if !letter.is_alphabetic() {
            return Err(format!("`{letter}` is no letter"));
        }
        if drawing.letters.insert(letter, region).is_some() {
            return Err(format!("`{letter}` is in the legend twice"));
        }
    }
    Ok(())
}

fn state(drawing: &mut Drawing, statement: &str) -> Result<(), String> {
    let (first, rest) = statement.split_once(' ').unwrap_or((statement, ""));
    if let Some(kind) = EdgeKind::from_name(first) {
        let (from, to) = rest.split_once("->").ok_or("an edge is `KIND PLACE -> PLACE`")?;
        let edge = Edge { kind, from: instant(drawing, from.trim())?, to: instant(drawing, to.trim())? };
        drawing.edges.push(edge);
        return Ok(());
    }
    match first {
        "message" => {
            let message = message(drawing, rest)?;
            drawing.messages.push(message);
            Ok(())
        }
        "collective" => collective(drawing, rest),
        "gaps" => gaps(drawing, rest),
        _ => super::expected::state(drawing, statement),
    }
}

fn message(drawing: &Drawing, text: &str) -> Result<Message, String> {
    let mut parts = text.split(',').map(str::trim);
    let (from, to) =
        parts.next().and_then(|ends| ends.split_once("->")).ok_or("a message is `CALL -> CALL`")?;
    let (from, to) = (from.trim(), to.trim());
    let mut sending = None;
    if from != "?" {
        let call = call(drawing, from)?;
        sending = Some(Sending {
            location: call.location,
            send: call.start,
            call_path: Some(call.call_path),
            done: Some(done(&call)),
        });
    }
    let mut receiving = None;
    if to != "?" {
        let call = call(drawing, to)?;
        receiving = Some(Receiving { location: call.location, post: call.start, done: done(&call) });
    }
    let mut bytes = 8;
    for part in parts {
        let (word, name) = part.split_once(' ').ok_or_else(|| format!("`{part}` is not understood"))?;
        if word == "of" {
            let number = name.strip_suffix(" bytes").and_then(|number| number.parse().ok());
            bytes = number.ok_or_else(|| format!("`{part}` is not `of N bytes`"))?;
            continue;
        }
        match (word, &mut sending, &mut receiving) {
            ("posted", _, Some(receiving)) => {
                let posted = call(drawing, name)?;
                later(receiving.location, &posted, receiving.done.start)?;
                receiving.post = posted.start;
            }
            ("completed", Some(sending), _) if name == "?" => sending.done = None,
            ("completed", Some(sending), _) => {
                let completed = call(drawing, name)?;
                later(completed.location, &call(drawing, from)?, completed.start)?;
                sending.done = Some(done(&completed));
            }
            _ => return Err(format!("`{part}` is not understood, or of an end that is not known")),
        }
    }
    Ok(Message { sending, receiving, bytes, communicator: Some(CommunicatorId(0)) })
}

/// `a:T1 6000 of 2`
fn gaps(drawing: &mut Drawing, text: &str) -> Result<(), String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let wrong = || "`gaps CALL NS of N` is meant".to_owned();
    let &[name, gaps, "of", number] = words.as_slice() else { return Err(wrong()) };
    let (gaps, number) = (gaps.parse().map_err(|_| wrong())?, number.parse().map_err(|_| wrong())?);
    let meant = call(drawing, name)?;
    for drawn in &mut drawing.intervals {
        if drawn.interval == meant {
            drawn.interval.computed = Interval::computed_between(Nanos(gaps), number);
            drawn.interval.visits = number;
        }
    }
    Ok(())
}

fn done(call: &Interval) -> Done {
    Done { start: call.start, end: call.end, call_path: Some(call.call_path) }
}

/// Checks that a call which completes is on the location of the one that began, and not before it.
fn later(location: LocationId, began: &Interval, completed: Nanos) -> Result<(), String> {
    if began.location != location {
        return Err("an operation is begun on one location and completed on another".to_owned());
    }
    if completed < began.start {
        return Err("an operation is completed before it is begun".to_owned());
    }
    Ok(())
}

fn collective(drawing: &mut Drawing, text: &str) -> Result<(), String> {
    let (calls, root) = match text.split_once("root ") {
        Some((calls, root)) => (calls, Some(location(drawing, root.trim())?)),
        None => (text, None),
    };
    let instance = drawing.members.last().map_or(0, |last| last.instance + 1);
    for word in calls.split_whitespace() {
        let (starts, completes) = word.split_once('+').unwrap_or((word, word));
        let start = call(drawing, starts)?;
        let done = if completes == "?" {
            None
        } else {
            let completed = call(drawing, completes)?;
            later(completed.location, &start, completed.start)?;
            Some(done(&completed))
        };
        drawing.members.push(Member {
            communicator: CommunicatorId(0),
            instance,
            location: start.location,
            enter: start.start,
            call_path: Some(start.call_path),
            done,
            root,
            bytes_out: 8,
            bytes_in: 8,
        });
    }
    Ok(())
}

/// `a`
pub(super) fn location(drawing: &Drawing, name: &str) -> Result<LocationId, String> {
    let idx = drawing.locations.iter().position(|location| location.name == name);
    idx.and_then(LocationId::from_idx).ok_or_else(|| format!("there is no location `{name}`"))
}

/// `a:S1`
fn call(drawing: &Drawing, word: &str) -> Result<Interval, String> {
    let wrong = || format!("`{word}` is no call; `a:S1` is the first interval of S on a");
    let (name, which) = word.split_once(':').ok_or_else(wrong)?;
    let id = location(drawing, name)?;
    let letter = which.chars().next().ok_or_else(wrong)?;
    let number: usize = which[letter.len_utf8()..].parse().map_err(|_| wrong())?;
    let mut of_letter =
        drawing.intervals.iter().filter(|drawn| drawn.interval.location == id && drawn.letter == letter);
    let drawn = number.checked_sub(1).and_then(|before| of_letter.nth(before));
    drawn
        .map(|drawn| drawn.interval)
        .ok_or_else(|| format!("there is no {number}. interval of {letter} on {name}"))
}

/// `a@120`, `a.start`, `a:S1.end`
fn instant(drawing: &Drawing, word: &str) -> Result<(LocationId, Nanos), String> {
    if let Some((name, time)) = word.split_once('@') {
        let time = time.parse().map_err(|_| format!("`{time}` is no time in ns"))?;
        return Ok((location(drawing, name)?, Nanos(time)));
    }
    let wrong = || format!("`{word}` is no place: a@120, a.start, a.end, a:S1.start or a:S1.end is meant");
    let (of, side) = word.split_once('.').ok_or_else(wrong)?;
    let (id, start, end) = if of.contains(':') {
        let call = call(drawing, of)?;
        (call.location, call.start, call.end)
    } else {
        let id = location(drawing, of)?;
        let location = &drawing.locations[id.idx()];
        (id, location.start, location.end)
    };
    match side {
        "start" => Ok((id, start)),
        "end" => Ok((id, end)),
        _ => Err(wrong()),
    }
}
