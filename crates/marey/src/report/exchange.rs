//! Who sent how much to whom, and how large the messages were.
//!
//! The one idea: a matrix as long as it fits the page, with numbers of messages if there is room for
//! them; beyond that the pairs with most data. All pairs are in the JSON.

use std::collections::BTreeMap;
use std::io;

use marey_analyze::PairRow;
use marey_model::ProcessId;

use super::Page;
use crate::format;
use crate::paint::{Look, bar};
use crate::table::{Cell, Side, Table};
use crate::words;

/// A matrix of more than so many processes does not fit a page; the largest pairs are listed.
const MAX_MATRIX: usize = 16;
/// Up to so many, there is room for the numbers of messages too.
const MAX_WIDE_MATRIX: usize = 8;
const BAR_WIDTH: usize = 30;

/// Who sent how much to whom.
pub(super) fn communication(page: &mut Page<'_>) -> io::Result<()> {
    let pairs = &page.facts.pairs;
    let mut members: Vec<ProcessId> = pairs.iter().flat_map(|pair| [pair.from, pair.to]).collect();
    members.sort_unstable();
    members.dedup();
    let messages = pairs.iter().map(|pair| pair.messages).fold(0, u64::saturating_add);
    let bytes = pairs.iter().map(|pair| pair.bytes).fold(0, u64::saturating_add);
    let total = format!("{}, {}", format::counted(messages, "message"), format::bytes(bytes));
    if pairs.is_empty() {
        page.title("COMMUNICATION", "point-to-point messages, sender to receiver")?;
        return page.nothing("no messages");
    }
    let width = page.paint.width();
    let wide = (members.len() <= MAX_WIDE_MATRIX).then(|| matrix(page, &members));
    if let Some(table) = wide.filter(|table| table.fits(width)) {
        page.title("COMMUNICATION", &format!("{total}; rows send, columns receive; below: messages"))?;
        return table.print(page.out, page.paint);
    }
    let narrow = (members.len() <= MAX_MATRIX).then(|| narrow_matrix(page, &members));
    if let Some(table) = narrow.filter(|table| table.fits(width)) {
        page.title("COMMUNICATION", &format!("{total}; rows send, columns receive"))?;
        return table.print(page.out, page.paint);
    }
    page.title("COMMUNICATION", &format!("{total}; the pairs with most data"))?;
    largest_pairs(page)
}

/// The rows of a matrix begin with the sender, its columns are receivers.
fn matrix_of(page: &Page<'_>, members: &[ProcessId]) -> Table {
    let heads = members.iter().map(|&id| (words::process_short(page.facts.trace, id), Side::Right));
    Table::with_heads(std::iter::once((String::new(), Side::Left)).chain(heads))
}

fn matrix(page: &Page<'_>, members: &[ProcessId]) -> Table {
    let facts = page.facts;
    let pairs = by_ends(&facts.pairs);
    let mut table = matrix_of(page, members);
    for &from in members {
        let mut data = vec![Cell::from(words::process(facts.trace, from))];
        let mut counts = vec![Cell::from("")];
        for &to in members {
            let pair = pairs.get(&(from, to));
            data.push(pair.map_or_else(nothing_sent, |pair| format::bytes(pair.bytes).into()));
            let count = pair.map_or_else(String::new, |pair| format::count(pair.messages));
            counts.push(Cell::new(Look::Faint, count));
        }
        table.push(data);
        table.push(counts);
    }
    table
}

fn narrow_matrix(page: &Page<'_>, members: &[ProcessId]) -> Table {
    let facts = page.facts;
    let pairs = by_ends(&facts.pairs);
    let mut table = matrix_of(page, members);
    for &from in members {
        let data = members.iter().map(|&to| {
            pairs.get(&(from, to)).map_or_else(nothing_sent, |pair| format::bytes_short(pair.bytes).into())
        });
        let name = Cell::from(words::process_short(facts.trace, from));
        table.push(std::iter::once(name).chain(data).collect());
    }
    table
}

fn by_ends(pairs: &[PairRow]) -> BTreeMap<(ProcessId, ProcessId), &PairRow> {
    pairs.iter().map(|pair| ((pair.from, pair.to), pair)).collect()
}

fn nothing_sent() -> Cell {
    Cell::new(Look::Faint, "·")
}

fn largest_pairs(page: &mut Page<'_>) -> io::Result<()> {
    let facts = page.facts;
    let mut pairs: Vec<&PairRow> = facts.pairs.iter().collect();
    pairs.sort_by(|a, b| b.bytes.cmp(&a.bytes).then((a.from, a.to).cmp(&(b.from, b.to))));
    let largest = pairs.first().map_or(0, |pair| pair.bytes);
    let mut table = Table::new(&[
        ("from", Side::Left),
        ("to", Side::Left),
        ("data", Side::Right),
        ("messages", Side::Right),
        ("mean size", Side::Right),
        ("", Side::Left),
    ])
    .can_spare(&["mean size"]);
    for pair in pairs.iter().take(page.top) {
        table.row([
            words::process(facts.trace, pair.from).into(),
            words::process(facts.trace, pair.to).into(),
            format::bytes(pair.bytes).into(),
            format::count(pair.messages).into(),
            format::bytes(pair.bytes / pair.messages.max(1)).into(),
            Cell::new(Look::Bar, bar(pair.bytes.cast_signed(), largest.cast_signed(), BAR_WIDTH)),
        ]);
    }
    table.print(page.out, page.paint)?;
    page.more(pairs.len().saturating_sub(page.top), "pair")
}

/// How many messages of which size.
pub(super) fn sizes(page: &mut Page<'_>) -> io::Result<()> {
    let sizes = &page.facts.sizes;
    if sizes.is_empty() {
        return Ok(());
    }
    page.title("MESSAGE SIZES", "messages of each size; the bar is their number")?;
    let most = sizes.iter().map(|row| row.messages).max().unwrap_or(0);
    let mut table = Table::new(&[
        ("size", Side::Left),
        ("messages", Side::Right),
        ("data", Side::Right),
        ("", Side::Left),
    ]);
    for row in sizes {
        table.row([
            size_range(row.size_log2).into(),
            format::count(row.messages).into(),
            format::bytes(row.bytes).into(),
            Cell::new(Look::Bar, bar(row.messages.cast_signed(), most.cast_signed(), BAR_WIDTH)),
        ]);
    }
    table.print(page.out, page.paint)
}

/// `empty`, `1 B`, `64 – 127 B`, `1 – 2 KiB`.
fn size_range(size_log2: Option<u32>) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    match size_log2 {
        None => "empty".to_owned(),
        Some(0) => "1 B".to_owned(),
        Some(log2) if log2 < 10 => format!("{} – {} B", 1_u64 << log2, (2_u64 << log2) - 1),
        Some(log2) => {
            let unit = UNITS[((log2 / 10) as usize - 1).min(UNITS.len() - 1)];
            let low = 1_u64 << (log2 % 10);
            format!("{low} – {} {unit}", low * 2)
        }
    }
}
