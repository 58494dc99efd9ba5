//! Data and the messages between them, as analysis sees them.
//!
//! The one idea: only data that messages name are handed out, each noun once, whatever number of instances it has.

use marey_analyze::{ArrayMessagesRow, Datum};
use marey_model::ProcessId;
use rustc_hash::FxHashMap;

use crate::schema::NONE;
use crate::{Archive, Error};

/// Data that messages lie in, and the sums over those.
pub(crate) fn messages(archive: &Archive) -> Result<(Vec<Datum>, Vec<ArrayMessagesRow>), Error> {
    let rows = archive.table("array_messages")?;
    if rows.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let nouns = archive.table("nouns")?;
    let by_id: FxHashMap<u32, usize> = nouns.u32("id")?.iter().copied().zip(0..).collect();
    let (kinds, names) = (nouns.text("kind")?, nouns.text("name")?);
    let (files, lines) = (nouns.text("file")?, nouns.u32("line")?);
    let mut data = Vec::new();
    let mut known = FxHashMap::default();
    let mut datum = |noun: u32| {
        let row = *by_id.get(&noun).filter(|_| noun != NONE)?;
        Some(*known.entry(noun).or_insert_with(|| {
            data.push(Datum {
                kind: kinds[row].clone(),
                name: names[row].clone(),
                file: files[row].clone(),
                line: lines[row],
            });
            data.len() - 1
        }))
    };
    let (sent, received) = (rows.u32("send_noun")?, rows.u32("recv_noun")?);
    let (from, to) = (rows.u32("from_process")?, rows.u32("to_process")?);
    let (messages, bytes) = (rows.i64("messages")?, rows.i64("bytes")?);
    let count = |number: i64| u64::try_from(number).unwrap_or(0);
    let found = (0..rows.len())
        .map(|row| ArrayMessagesRow {
            sent: datum(sent[row]),
            received: datum(received[row]),
            from: ProcessId(from[row]),
            to: ProcessId(to[row]),
            messages: count(messages[row]),
            bytes: count(bytes[row]),
        })
        .collect();
    Ok((data, found))
}
