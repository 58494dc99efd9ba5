//! Drawables in a node.
//!
//! The one idea: a node is two lists of drawables, arrows and events first, then states, and behind them the shadows of the
//! nodes below. A list does not say how long it is, so where a node is damaged the rest of it is lost.

use crate::Fate::{self, Ignored, Kept, Mapped};
use crate::bytes::{Bytes, Order};

/// Names of what a node has.
pub(super) const STATE: &str = "state";
pub(super) const EVENT: &str = "event";
pub(super) const ARROW: &str = "arrow";
pub(super) const COMPOSITE: &str = "composite";
pub(super) const SHADOW: &str = "shadow";
pub(super) const BUFFER: &str = "shadow buffer";
pub(super) const NODE: &str = "node";

/// Bytes that nodes and shadow buffers begin with.
const HEAD: usize = 34;
/// Bytes of the share of one category in a shadow.
const WEIGHT: usize = 20;
/// Least bytes of a shadow buffer.
const LEAST_BUFFER: usize = HEAD + 8;

/// How many there are of each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Count {
    pub nodes: u64,
    pub states: u64,
    pub events: u64,
    pub arrows: u64,
    pub composites: u64,
    pub shadows: u64,
    pub buffers: u64,
}

impl Count {
    /// What happened in the program.
    pub(super) const fn drawables(&self) -> u64 {
        self.states + self.events + self.arrows + self.composites
    }

    pub(super) const fn rows(&self) -> [(&'static str, Fate, u64); 7] {
        [
            (NODE, Ignored, self.nodes),
            (STATE, Mapped, self.states),
            (EVENT, Kept, self.events),
            (ARROW, Mapped, self.arrows),
            (COMPOSITE, Mapped, self.composites),
            (SHADOW, Ignored, self.shadows),
            (BUFFER, Ignored, self.buffers),
        ]
    }
}

/// Where a drawable begins, ends or passes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Vertex {
    pub seconds: f64,
    pub line: i32,
}

/// A drawable, or the head of a composite.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drawable<'a> {
    pub category: i32,
    /// What it carries.
    pub info: &'a [u8],
    pub first: Vertex,
    /// Where there are two and more.
    pub last: Option<Vertex>,
    /// Whether it is the head of those that follow.
    pub is_composite: bool,
}

/// Shows each drawable of a node. If all of it makes sense, none; else the byte of it from which on it makes none.
pub(super) fn each<E>(
    bytes: &[u8],
    has_weights: bool,
    (shadows, buffers): (&mut u64, &mut u64),
    show: &mut dyn FnMut(&Drawable<'_>) -> Result<(), E>,
) -> Result<Option<usize>, E> {
    let mut bytes = Bytes::new(bytes, Order::Big);
    let Some(_) = bytes.take(HEAD) else { return Ok(Some(0)) };
    for _ in 0..2 {
        let Some(number) = bytes.u32() else { return Ok(Some(bytes.at)) };
        for _ in 0..number {
            let mut ahead = bytes.clone();
            let Some(drawables) = drawables(&mut ahead) else { return Ok(Some(bytes.at)) };
            bytes = ahead;
            drawables.iter().try_for_each(&mut *show)?;
        }
    }
    // How shadows of older versions are written is not known, nor is it needed.
    let is_whole = !has_weights || previews(&mut bytes, shadows, buffers).is_some();
    Ok((!is_whole).then_some(bytes.at))
}

/// A primitive; or the head of a composite, and its parts.
fn drawables<'a>(bytes: &mut Bytes<'a>) -> Option<Vec<Drawable<'a>>> {
    match bytes.u8()? {
        0 => Some(vec![primitive(bytes)?]),
        1 => {
            let (category, info) = head(bytes)?;
            let mut parts = Vec::new();
            for _ in 0..length(bytes)? {
                parts.push(primitive(bytes)?);
            }
            let earlier = |a: Vertex, b: Vertex| if b.seconds < a.seconds { b } else { a };
            let first = parts.iter().map(|it| it.last.map_or(it.first, |last| earlier(it.first, last)));
            let Some(first) = first.reduce(earlier) else { return Some(parts) };
            parts.insert(0, Drawable { category, info, first, last: None, is_composite: true });
            Some(parts)
        }
        _ => None,
    }
}

fn head<'a>(bytes: &mut Bytes<'a>) -> Option<(i32, &'a [u8])> {
    let category = bytes.u32()?.cast_signed();
    let len = length(bytes)?;
    Some((category, bytes.take(len)?))
}

/// A length of two bytes, which have a sign in Java.
fn length(bytes: &mut Bytes<'_>) -> Option<usize> {
    usize::try_from(bytes.short(2)?).ok().filter(|len| *len < 1 << 15)
}

fn primitive<'a>(bytes: &mut Bytes<'a>) -> Option<Drawable<'a>> {
    let (category, info) = head(bytes)?;
    let number = length(bytes)?;
    let first = vertex(bytes)?;
    let mut last = None;
    for _ in 1..number {
        last = Some(vertex(bytes)?);
    }
    (number > 0).then_some(Drawable { category, info, first, last, is_composite: false })
}

fn vertex(bytes: &mut Bytes<'_>) -> Option<Vertex> {
    Some(Vertex { seconds: f64::from_bits(bytes.u64()?), line: bytes.u32()?.cast_signed() })
}

fn previews(bytes: &mut Bytes<'_>, shadows: &mut u64, buffers: &mut u64) -> Option<()> {
    let number = usize::try_from(bytes.u32()?).ok().filter(|it| *it <= bytes.left() / LEAST_BUFFER)?;
    for _ in 0..number {
        bytes.take(HEAD)?;
        for _ in 0..2 {
            for _ in 0..bytes.u32()? {
                primitive(bytes)?;
                // Two times, and how many drawables it stands for.
                bytes.take(8 + 8 + 8)?;
                let n_weights = usize::try_from(bytes.u32()?).ok()?;
                bytes.take(n_weights.checked_mul(WEIGHT)?)?;
                *shadows += 1;
            }
        }
        *buffers += 1;
    }
    Some(())
}
