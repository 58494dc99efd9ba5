//! Runs for tests of comparisons, told by a list of calls.
//!
//! The one idea: a list of calls has stacks and sums, which drawings have not; `drawn` adds sums to drawings.

use std::collections::BTreeMap;

use marey_analyze::{
    CallPath, CommunicationRow, Frame, Location, LocationKind, Process, ProfileRow, Region, SampledRow, Trace,
};
use marey_model::{CallPathId, LocationId, Nanos, ProcessId, RegionId, Role, StackId, ThreadSerial, Tier};

/// A run in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Made {
    pub(crate) duration: Nanos,
    pub(crate) regions: Vec<Region>,
    pub(crate) call_paths: Vec<CallPath>,
    pub(crate) stacks: Vec<Vec<Frame>>,
    pub(crate) processes: Vec<Process>,
    pub(crate) locations: Vec<Location>,
    pub(crate) profile: Vec<ProfileRow>,
    pub(crate) communication: Vec<CommunicationRow>,
    pub(crate) samples: Vec<SampledRow>,
}

impl Trace for Made {
    fn duration(&self) -> Nanos {
        self.duration
    }
    fn regions(&self) -> &[Region] {
        &self.regions
    }
    fn call_paths(&self) -> &[CallPath] {
        &self.call_paths
    }
    fn stack(&self, stack: StackId) -> Vec<&Frame> {
        self.stacks.get(stack.idx()).map_or_else(Vec::new, |frames| frames.iter().collect())
    }
    fn processes(&self) -> &[Process] {
        &self.processes
    }
    fn locations(&self) -> &[Location] {
        &self.locations
    }
    fn profile(&self) -> &[ProfileRow] {
        &self.profile
    }
    fn communication(&self) -> &[CommunicationRow] {
        &self.communication
    }
    fn samples(&self) -> &[SampledRow] {
        &self.samples
    }
}

impl Made {
    pub(crate) fn visit(
        &mut self,
        path: CallPathId,
        at: LocationId,
        visits: u64,
        inclusive: i64,
        own: i64,
        bytes: u64,
    ) {
        let known = self.profile.iter_mut().find(|row| (row.call_path, row.location) == (path, at));
        let longest = Nanos(inclusive / i64::try_from(visits.max(1)).unwrap());
        if let Some(row) = known {
            row.visits += visits;
            row.inclusive = row.inclusive + Nanos(inclusive);
            row.exclusive = row.exclusive + Nanos(own);
            row.max = row.max.max(Some(longest));
            row.bytes += bytes;
            return;
        }
        self.profile.push(ProfileRow {
            call_path: path,
            location: at,
            visits,
            untimed: 0,
            inclusive: Nanos(inclusive),
            exclusive: Nanos(own),
            min: None,
            max: Some(longest),
            sum_squares: 0.0,
            bytes,
        });
    }

    /// Reads a list. Its lines: `rank 0 10 s processor 8 s memory 100`; `call 0 main>step MPI_Send 4 2 s 100` with
    /// visits, time and bytes; `sample 0 main>step 30 6 s`; `message 0 1 4 100` with number and bytes. Functions are
    /// outermost first, `file.c:name` if they are in another file than app.c. Behind a time may stand `longest 0.9 s`.
    pub(crate) fn list(text: &str) -> Self {
        let mut made = Self::default();
        let mut paths: BTreeMap<(String, String), CallPathId> = BTreeMap::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let time = |at: usize| nanos(words[at]);
            let number = |at: usize| words[at].parse::<u64>().unwrap();
            let rank = |at: usize| u32::try_from(number(at)).unwrap();
            match words[0] {
                "rank" => made.rank(rank(1), time(2), time(5), number(8)),
                "call" => {
                    let key = (words[2].to_owned(), words[3].to_owned());
                    let path = paths.get(&key).copied().unwrap_or_else(|| made.path(words[2], words[3]));
                    paths.insert(key, path);
                    let inclusive = time(5).0;
                    made.visit(path, LocationId(rank(1)), number(4), inclusive, inclusive, number(7));
                    if let Some(at) = words.iter().position(|word| *word == "longest") {
                        made.profile.last_mut().unwrap().max = Some(time(at + 1));
                    }
                }
                "sample" => {
                    let stack = made.stack_of(words[2]);
                    made.samples.push(SampledRow {
                        call_path: None,
                        location: LocationId(rank(1)),
                        stack: Some(stack),
                        samples: number(3),
                        time: time(4),
                        is_complete: true,
                    });
                }
                "message" => made.communication.push(CommunicationRow {
                    from: ProcessId(rank(1)),
                    to: ProcessId(rank(2)),
                    communicator: None,
                    size_log2: None,
                    is_size_known: false,
                    messages: number(3),
                    bytes: number(4),
                }),
                other => panic!("{other} is no line of a list"),
            }
        }
        made
    }

    fn rank(&mut self, rank: u32, end: Nanos, processor_time: Nanos, memory: u64) {
        self.duration = self.duration.max(end);
        self.processes.push(Process {
            host: "node".to_owned(),
            pid: 1,
            world: 0,
            rank: Some(rank),
            start: Nanos(0),
            end,
            outcome: "finished".to_owned(),
            exit_code: Some(0),
            peak_memory: Some(memory),
            processor_time: Some(processor_time),
        });
        self.locations.push(Location {
            process: ProcessId(rank),
            name: "main".to_owned(),
            kind: LocationKind::Thread,
            thread: ThreadSerial(0),
            start: Nanos(0),
            end,
        });
    }

    fn path(&mut self, functions: &str, call: &str) -> CallPathId {
        let known = self.regions.iter().position(|region| region.verb == call);
        let region = known.unwrap_or_else(|| {
            let [level, noun, file] = ["mpi", "", ""].map(str::to_owned);
            let role = Role::Transfer;
            self.regions.push(Region {
                level,
                tier: Tier::Runtime,
                verb: call.to_owned(),
                noun,
                role,
                file,
                line: 0,
                label: None,
            });
            self.regions.len() - 1
        });
        let stack = Some(self.stack_of(functions));
        self.call_paths.push(CallPath { parent: None, region: RegionId::from_idx(region).unwrap(), stack });
        CallPathId::from_idx(self.call_paths.len() - 1).unwrap()
    }

    fn stack_of(&mut self, functions: &str) -> StackId {
        let frame = |name: &str| {
            let (file, function) = name.split_once(':').unwrap_or(("app.c", name));
            Frame { function: function.to_owned(), file: format!("/build/{file}"), line: 7 }
        };
        self.stacks.push(functions.rsplit('>').map(frame).collect());
        StackId::from_idx(self.stacks.len() - 1).unwrap()
    }
}

/// Seconds, to the nanosecond.
fn nanos(seconds: &str) -> Nanos {
    let (whole, part) = seconds.split_once('.').unwrap_or((seconds, "0"));
    Nanos(whole.parse::<i64>().unwrap() * 1_000_000_000 + format!("{part:0<9}").parse::<i64>().unwrap())
}
