//! What is known of a thread without its events: sums of its call paths, and what was counted in them.
//!
//! The one idea: it is what a recorder leaves of a thread whose events it had no room for, so the merge needs to know
//! nothing new. How it lies in a spool is told in [`marey_model::spool::sums`] and [`marey_model::spool::samples`].

use marey_model::spool::samples::{FIRST_TREE, LATER_TREE, NODE_LEN, Node};
use marey_model::spool::sums::{CELL_LEN, CellKind, FIRST_WINDOW, LATER_WINDOW, NOBODY, SUM_WORDS, Sums};
use marey_model::spool::{ALIGN, HEAD_LEN, Head, Record, SLACK, Stream, at};

use super::Process;
use crate::Error;

/// A call path: its site, the place of the path above among those before it, and what its visits come to.
pub type PathSums = (u32, Option<u32>, Sums);

/// What stands in the windows of a stream: bytes of each item, and of the first window and the later ones.
struct Layout {
    item: usize,
    first: usize,
    later: usize,
}

/// All sums are of one round.
const ROUND: u64 = 1;

impl Process {
    /// Sums of a thread, to be written before anything else of it.
    ///
    /// # Errors
    /// If they cannot be written; so for all that follow.
    pub fn sums(&mut self, thread: usize, paths: &[PathSums]) -> Result<(), Error> {
        let mut cells = Vec::with_capacity(paths.len() * CELL_LEN);
        for (site, parent, sums) in paths {
            let kind = CellKind::Path { site: *site, parent: parent.unwrap_or(NOBODY) };
            let words = [
                ROUND,
                sums.number,
                sums.untimed,
                sums.inclusive,
                sums.exclusive,
                sums.shortest,
                sums.longest,
                sums.squares.to_bits(),
                sums.bytes,
            ];
            let all = kind.words().into_iter().chain(words).chain([0; SUM_WORDS]);
            cells.extend(all.flat_map(u64::to_le_bytes));
        }
        let layout = Layout { item: CELL_LEN, first: FIRST_WINDOW, later: LATER_WINDOW };
        self.threads[thread].round = ROUND;
        self.windows(thread, Stream::Sums, &cells, &layout)
    }

    /// What was counted in a thread's call paths: nodes as [`marey_model::spool::samples`] has them.
    pub fn counts(&mut self, thread: usize, nodes: &[Node]) -> Result<(), Error> {
        let mut bytes = Vec::with_capacity(nodes.len() * NODE_LEN);
        for node in nodes {
            let first = u64::from(node.parent) | u64::from(node.kind as u32) << 32;
            bytes.extend(
                [first, node.value, node.periods, node.samples].iter().flat_map(|it| it.to_le_bytes()),
            );
        }
        let layout = Layout { item: NODE_LEN, first: FIRST_TREE, later: LATER_TREE };
        self.windows(thread, Stream::Samples, &bytes, &layout)
    }

    /// The thread ends.
    pub fn end_thread(&mut self, thread: usize, ns: u64) -> Result<(), Error> {
        let delta = self.delta(thread, ns)?;
        self.push(thread, Record::ThreadEnd { delta });
        Ok(())
    }

    fn windows(&mut self, thread: usize, stream: Stream, items: &[u8], layout: &Layout) -> Result<(), Error> {
        let mut rest = items;
        for sequence in 0.. {
            let size = if sequence == 0 { layout.first } else { layout.later };
            // As many as a recorder's windows hold: their numbers are told from that.
            let most = (size - HEAD_LEN - SLACK) / layout.item * layout.item;
            let (these, others) = rest.split_at(most.min(rest.len()));
            let end = HEAD_LEN + these.len();
            let size = (end + SLACK).next_multiple_of(ALIGN);
            let head = Head {
                size: u32::try_from(size).unwrap_or(u32::MAX),
                process: self.key,
                thread: u32::try_from(thread).unwrap_or(u32::MAX),
                stream,
                sequence,
                ticks: 0,
                triple: self.triple(0),
                bytes_before: 0,
                serial: 0,
                buffer: 0,
                round: 0,
                is_summing: false,
            };
            let mut window = vec![0; size];
            head.encode_into(&[], &mut window);
            window[HEAD_LEN..end].copy_from_slice(these);
            window[at::CURSOR..at::CURSOR + 8].copy_from_slice(&(end as u64).to_le_bytes());
            if stream == Stream::Sums {
                window[at::SUMMED..at::SUMMED + 8].copy_from_slice(&ROUND.to_le_bytes());
            }
            self.write_window(&window)?;
            rest = others;
            if rest.is_empty() {
                break;
            }
        }
        Ok(())
    }
}
