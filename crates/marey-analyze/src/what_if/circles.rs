//! Circles of locations that depend on each other at one instant.
//!
//! The one idea: Tarjan's algorithm, without recursion, for a run may have more locations than a stack has room.

use rustc_hash::{FxHashMap, FxHashSet};

/// The strongly connected parts of a graph of pairs (who, on whom), those first that depend on no other.
pub(super) fn circles(pairs: &[(u32, u32)]) -> Vec<Vec<u32>> {
    let mut sorted = pairs.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let next = |node: u32| {
        let from = sorted.partition_point(|pair| pair.0 < node);
        from..from + sorted[from..].partition_point(|pair| pair.0 == node)
    };
    let mut found = Found::default();
    for &(root, _) in &sorted {
        if found.seen.contains_key(&root) {
            continue;
        }
        let mut walk = vec![(root, next(root))];
        found.enter(root);
        while let Some((node, rest)) = walk.last_mut() {
            let node = *node;
            match rest.next() {
                Some(place) => {
                    let to = sorted[place].1;
                    if !found.seen.contains_key(&to) {
                        found.enter(to);
                        walk.push((to, next(to)));
                    } else if found.is_on_stack.contains(&to) {
                        found.lower(node, found.seen[&to]);
                    }
                }
                None => {
                    walk.pop();
                    if let Some((above, _)) = walk.last() {
                        found.lower(*above, found.lowest[&node]);
                    }
                    found.leave(node);
                }
            }
        }
    }
    found.parts
}

#[derive(Default)]
struct Found {
    seen: FxHashMap<u32, usize>,
    lowest: FxHashMap<u32, usize>,
    stack: Vec<u32>,
    is_on_stack: FxHashSet<u32>,
    parts: Vec<Vec<u32>>,
}

impl Found {
    fn enter(&mut self, node: u32) {
        let number = self.seen.len();
        self.seen.insert(node, number);
        self.lowest.insert(node, number);
        self.stack.push(node);
        self.is_on_stack.insert(node);
    }

    fn lower(&mut self, node: u32, number: usize) {
        let lowest = self.lowest.entry(node).or_insert(number);
        *lowest = number.min(*lowest);
    }

    /// If nobody before it is in its circle, all behind it on the stack are.
    fn leave(&mut self, node: u32) {
        if self.lowest[&node] != self.seen[&node] {
            return;
        }
        let from = self.stack.iter().rposition(|other| *other == node).unwrap_or(0);
        let part = self.stack.split_off(from);
        for node in &part {
            self.is_on_stack.remove(node);
        }
        self.parts.push(part);
    }
}

#[cfg(test)]
mod tests {
    use super::circles;

    #[test]
    fn those_that_depend_on_no_other_come_first() {
        // 1 and 2 on each other, 3 on 2, 4 on itself, 5 on 3 and 6.
        let found = circles(&[(1, 2), (2, 1), (3, 2), (4, 4), (5, 3), (5, 6)]);
        let sorted: Vec<Vec<u32>> = found
            .into_iter()
            .map(|mut part| {
                part.sort_unstable();
                part
            })
            .collect();
        assert_eq!(sorted, [vec![1, 2], vec![3], vec![4], vec![6], vec![5]]);
    }
}
