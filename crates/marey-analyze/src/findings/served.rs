//! Whose work a call is: that of the sentence of a programming model which it serves.
//!
//! The one idea: who writes `a(i) = b(i)[2]` did not write `MPI_Win_unlock`. What a runtime does beneath an operation of a
//! model, such as a `get` of coarrays, is told as that operation, with its array and its line. What runs beneath as code of
//! the program, such as a task within `taskwait`, is nobody's but its own.
//!
//! Deliberately absent: constructs that enclose the program's own code, such as parallel regions: what is called there is
//! the program's own doing.

use marey_model::{CallPathId, Role, Tier};

use crate::activities::Activity;
use crate::trace::{CallPath, Region};

/// For each call path the one that it serves, or itself.
pub(super) struct Served {
    of: Vec<CallPathId>,
}

impl Served {
    /// Time: linear in call paths.
    pub(super) fn new(paths: &[CallPath], regions: &[Region]) -> Self {
        // Whether what is called beneath serves it, or what it serves itself.
        let mut serving = vec![false; paths.len()];
        let mut of: Vec<CallPathId> = Vec::with_capacity(paths.len());
        for (at, path) in paths.iter().enumerate() {
            let region = regions.get(path.region.idx());
            let above = path.parent.map(CallPathId::idx).filter(|&above| above < at && serving[above]);
            let above = above.filter(|_| region.is_some_and(|region| region.role != Role::Work));
            serving[at] = above.is_some() || region.is_some_and(is_sentence);
            let own = CallPathId::from_idx(at);
            of.extend(above.map(|above| of[above]).or(own));
        }
        Self { of }
    }

    /// The call path that another serves, or that itself.
    pub(super) fn path(&self, path: CallPathId) -> CallPathId {
        self.of.get(path.idx()).copied().unwrap_or(path)
    }

    /// The same of what is done.
    pub(super) fn activity(&self, activity: Activity) -> Activity {
        match activity {
            Activity::Path(path) => Activity::Path(self.path(path)),
            other => other,
        }
    }
}

/// Whether a region is an operation of a programming model that runs none of the program's code.
fn is_sentence(region: &Region) -> bool {
    let is_operation = matches!(
        region.role,
        Role::Transfer
            | Role::Barrier
            | Role::AllToAll
            | Role::OneToAll
            | Role::AllToOne
            | Role::Wait
            | Role::Acquire
            | Role::Release
    );
    region.tier == Tier::Model && is_operation
}

#[cfg(test)]
mod tests {
    use marey_model::{RegionId, Role, Tier};

    use super::*;

    fn region(tier: Tier, verb: &str, role: Role) -> Region {
        let (level, verb) = (tier.name().to_owned(), verb.to_owned());
        Region { level, tier, verb, noun: String::new(), role, file: String::new(), line: 0, label: None }
    }

    #[test]
    fn calls_are_told_as_the_operation_that_they_serve_and_those_of_tasks_are_not() {
        let regions = [
            region(Tier::Model, "get", Role::Transfer),
            region(Tier::Runtime, "MPI_Get", Role::Transfer),
            region(Tier::Model, "taskwait", Role::Wait),
            region(Tier::Model, "task", Role::Work),
            region(Tier::Model, "parallel", Role::Create),
        ];
        let path = |parent: Option<u32>, region| CallPath {
            parent: parent.map(CallPathId),
            region: RegionId(region),
            stack: None,
        };
        // What each serves is in the comment.
        let paths = [
            path(None, 0),    // 0
            path(Some(0), 1), // 0
            path(Some(1), 1), // 0
            path(None, 1),    // 3
            path(None, 2),    // 4
            path(Some(4), 3), // 5: code of the program
            path(Some(5), 1), // 6
            path(Some(5), 0), // 7
            path(Some(7), 1), // 7
            path(None, 4),    // 9
            path(Some(9), 1), // 10: encloses code of the program
        ];
        let served = Served::new(&paths, &regions);
        let of: Vec<u32> = (0..11).map(|path| served.path(CallPathId(path)).0).collect();
        assert_eq!(of, [0, 0, 0, 3, 4, 5, 6, 7, 7, 9, 10]);
        assert_eq!(served.activity(Activity::Outside), Activity::Outside);
    }
}
