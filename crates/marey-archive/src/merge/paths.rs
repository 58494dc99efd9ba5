//! Call paths of the run.
//!
//! The one idea: locations number their own call paths while they are decoded in parallel; between
//! slabs the new ones get numbers of the run, location by location. So a call path's number
//! depends on the input alone, and a parent's is smaller than its children's.

use rustc_hash::FxHashMap;

use super::build::Builder;
use super::lod::LodKey;
use crate::schema::NONE;

/// A row of `call_paths`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathRow {
    pub parent: u32,
    pub region: u32,
    pub stack: u32,
    pub depth: u32,
    pub level: u32,
    pub depth_in_level: u32,
}

/// All call paths so far.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    pub rows: Vec<PathRow>,
    known: FxHashMap<(u32, u32, u32), u32>,
}

impl Paths {
    /// Gives numbers to the call paths that are new in a location.
    pub(crate) fn number(&mut self, builder: &mut Builder) {
        for idx in builder.globals.len()..builder.nodes.len() {
            let node = &builder.nodes[idx];
            let parent = builder.globals.get(node.parent as usize).copied().unwrap_or(NONE);
            let (region, stack) = (node.site.region, node.site.stack);
            let rows = &mut self.rows;
            let id = *self.known.entry((parent, region, stack)).or_insert_with(|| {
                let (depth, level, depth_in_level) = (node.depth, node.site.level, node.depth_in_level);
                rows.push(PathRow { parent, region, stack, depth, level, depth_in_level });
                rows.len() as u32 - 1
            });
            std::sync::Arc::make_mut(&mut builder.globals).push(id);
            std::sync::Arc::make_mut(&mut builder.depths).push(node.depth);
            let key = LodKey { level: node.site.level, depth: node.depth_in_level, region };
            std::sync::Arc::make_mut(&mut builder.lod_keys).push(key);
        }
    }
}
