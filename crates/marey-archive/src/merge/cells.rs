//! The cells of a thread's sums, each with its number.
//!
//! The one idea: cells name each other by number, and what number a cell has follows from the window that it lies in;
//! so a window that is missing takes its own cells with it and no others.
//!
//! What cells say is told in [`marey_model::spool::sums`], what becomes of it is not decided here.

use marey_model::spool::sums::{Cell, cells, first_cell};

use super::index::{Index, SumsIndex};
use crate::Error;

/// Gives `take` all cells of a thread in the order of their numbers; `None` for one that makes no sense.
pub(crate) fn each(
    index: &Index,
    sums: &SumsIndex,
    mut take: impl FnMut(u32, Option<Cell>),
) -> Result<(), Error> {
    for window in &sums.windows {
        let mut bytes = vec![0; window.end as usize];
        let read = index.read(window.file, window.offset, &mut bytes)?;
        let Some(first) = first_cell(window.sequence) else { continue };
        for (number, cell) in (first..).zip(cells(&bytes[..read], sums.summed)) {
            take(number, cell);
        }
    }
    Ok(())
}
