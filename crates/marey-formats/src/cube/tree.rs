//! The call tree, and the two orders in which rows of it are numbered.
//!
//! The one idea: nodes stand in the anchor from above, each before what is beneath it, and that is the order of exclusive
//! metrics; that of inclusive ones is made from it here.

use super::anchor::Anchor;

/// The call tree, from above.
#[derive(Debug, Default)]
pub(super) struct Tree {
    roots: Vec<u32>,
    first: Vec<Option<u32>>,
    next: Vec<Option<u32>>,
}

impl Tree {
    pub(super) fn of(anchor: &Anchor) -> Self {
        let len = anchor.cnodes.len();
        let mut tree = Self { roots: Vec::new(), first: vec![None; len], next: vec![None; len] };
        for id in (0..u32::try_from(len).unwrap_or(u32::MAX)).rev() {
            match anchor.cnodes[id as usize].parent {
                Some(parent) => {
                    tree.next[id as usize] = tree.first[parent as usize];
                    tree.first[parent as usize] = Some(id);
                }
                None => tree.roots.push(id),
            }
        }
        tree.roots.reverse();
        tree
    }

    pub(super) fn children(&self, id: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(self.first[id as usize], |id| self.next[*id as usize])
    }

    /// Nodes in the order in which rows of inclusive metrics are numbered: all children of a node at once, when it is come to.
    pub(super) fn wide(&self) -> Vec<u32> {
        let (mut order, mut open) = (Vec::with_capacity(self.first.len()), Vec::new());
        for root in &self.roots {
            order.push(*root);
            open.push(*root);
            while let Some(id) = open.pop() {
                let begin = open.len();
                order.extend(self.children(id));
                open.extend(self.children(id));
                open[begin..].reverse();
            }
        }
        order
    }
}
