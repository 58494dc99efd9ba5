//! What locations did in some spans of a run.
//!
//! The one idea: all spans that anybody asks about are answered in one pass over the intervals.
//!
//! What is deliberately absent: what the answers mean.

use std::collections::BTreeMap;

use marey_model::{LocationId, Nanos};

use crate::activities::{Activity, pieces};
use crate::happenings::{Happenings, Span, Unread};
use crate::trace::Trace;
use crate::waits::Waits;

/// Who did what, in waits or not, and for how long.
pub(super) type Times = BTreeMap<(LocationId, Activity, bool), Nanos>;

/// A span, and who is asked about.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) span: Span,
    pub(super) locations: Vec<LocationId>,
}

/// Answers in the order of the questions. Time: the pieces of the span that all of them lie in, times the questions.
pub(super) fn answer(
    run: &impl Trace,
    events: &impl Happenings,
    waits: &Waits,
    questions: &[Question],
) -> Result<Vec<Times>, Unread> {
    let mut answers = vec![Times::new(); questions.len()];
    let from = questions.iter().map(|question| question.span.from).min();
    let to = questions.iter().map(|question| question.span.to).max();
    let (Some(from), Some(to)) = (from, to) else { return Ok(answers) };
    let asks_about = |question: &Question| {
        let mut is_asked = vec![false; run.locations().len()];
        for location in &question.locations {
            if let Some(is_asked) = is_asked.get_mut(location.idx()) {
                *is_asked = true;
            }
        }
        is_asked
    };
    let asked: Vec<Vec<bool>> = questions.iter().map(asks_about).collect();
    let each = |location: LocationId, piece: crate::activities::Piece| {
        for ((question, is_asked), times) in questions.iter().zip(&asked).zip(&mut answers) {
            let Some((from, to)) = question.span.clip(piece.start, piece.end) else { continue };
            let Some(activity) = piece.doing.activity() else { continue };
            if is_asked.get(location.idx()) == Some(&true) {
                let time = times.entry((location, activity, piece.waits_until > Nanos(0))).or_default();
                *time = *time + (to - from);
            }
        }
    };
    pieces(run, events, waits, Span { from, to }, each, |_| {})?;
    Ok(answers)
}
