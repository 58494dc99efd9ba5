//! Small random runs as drawings: any number of them, each the same for its seed.
//!
//! The one idea: a program is made up deed by deed. Every location has a clock, and a deed of several locations takes
//! the clocks of all of them: a receive cannot end before its send began, nor a barrier be left before the last entered.
//! So times are as a parallel program could have had them, and nothing can be waited for in a circle. The result is
//! the text of a drawing, so that one that makes a test fail can be read, cut down and kept.
//!
//! A disturbed run is one with edges added that no program could have had: wrong clocks and damaged records must not
//! bring analysis down either.
//!
//! What is deliberately absent: visits of no length.

mod deeds;
mod text;

/// The text of a drawing with 2 to 5 locations and some 20 to 400 ns.
pub fn random_drawing(seed: u32) -> String {
    let mut program = Program::new(seed);
    program.run();
    text::drawing(&program)
}

/// Another drawing, in which there are windows that others access, too.
pub fn accessing_drawing(seed: u32) -> String {
    let mut program = Program { has_windows: true, ..Program::new(seed) };
    program.run();
    text::drawing(&program)
}

/// The same drawing with edges between any instants, also such that everybody waited for everybody.
pub fn disturbed_drawing(seed: u32) -> String {
    let mut program = Program::new(seed);
    program.run();
    program.disturb();
    text::drawing(&program)
}

/// What a region of a random program is: its place in [`text::REGIONS`].
type RegionIdx = usize;

/// A visit of a region, by its location and its place in the list there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Call {
    location: usize,
    visit: usize,
}

#[derive(Clone, Copy, Debug)]
struct Visit {
    region: RegionIdx,
    start: i64,
    end: i64,
    depth: usize,
}

/// An instant of a location.
type Place = (usize, i64);

#[derive(Debug)]
enum Statement {
    Message {
        from: Option<Call>,
        to: Option<Call>,
        /// Posted the receive, if that is another call.
        posted: Option<Call>,
        completed: Completion,
    },
    Collective {
        members: Vec<(Call, Completion)>,
        root: Option<usize>,
    },
    Edge {
        kind: &'static str,
        from: Place,
        to: Place,
    },
}

/// Which call completes an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Completion {
    /// The one that began it.
    Itself,
    By(Call),
    NotKnown,
}

/// Something that a location has begun and not completed.
#[derive(Clone, Copy, Debug)]
struct Begun {
    /// Its place in the list of statements.
    statement: usize,
    part: Part,
    /// It cannot be completed before this has passed.
    not_before: i64,
}

#[derive(Clone, Copy, Debug)]
enum Part {
    Send,
    Receive,
    /// The member of this number.
    Member(usize),
}

#[derive(Debug)]
struct Location {
    rank: usize,
    thread: usize,
    start: i64,
    now: i64,
    visits: Vec<Visit>,
    /// Visits that are not over, from the outermost.
    open: Vec<usize>,
    begun: Vec<Begun>,
    has_ended: bool,
}

#[derive(Debug)]
struct Program {
    random: u32,
    locations: Vec<Location>,
    statements: Vec<Statement>,
    /// Who had the lock last, and when it was given back.
    lock: Option<Place>,
    has_windows: bool,
}

impl Program {
    fn new(seed: u32) -> Self {
        // Neighbouring seeds must not begin alike, and the generator must not stand at 0.
        let random = seed.wrapping_mul(0x9E37_79B9) | 1;
        let mut program =
            Self { random, locations: Vec::new(), statements: Vec::new(), lock: None, has_windows: false };
        let are_threads = program.one_in(3);
        for number in 0..2 + program.below(3) {
            let (rank, thread) = if are_threads { (0, number) } else { (number, 0) };
            let start = if program.one_in(3) { program.time(20) } else { 0 };
            program.add_location(rank, thread, start);
        }
        program
    }

    fn run(&mut self) {
        if self.has_windows {
            self.together(text::INIT);
        }
        let limit = 15 + self.time(330);
        let n_deeds = 3 + self.below(80);
        for _ in 0..n_deeds {
            if self.locations.iter().any(|location| limit <= location.now) {
                break;
            }
            self.deed();
        }
        for location in 0..self.locations.len() {
            if !self.locations[location].has_ended {
                self.end(location);
            }
        }
        if self.has_windows {
            self.together(text::FINALIZE);
        }
    }

    fn add_location(&mut self, rank: usize, thread: usize, start: i64) {
        self.locations.push(Location {
            rank,
            thread,
            start,
            now: start,
            visits: Vec::new(),
            open: Vec::new(),
            begun: Vec::new(),
            has_ended: false,
        });
    }

    fn enter(&mut self, location: usize, region: RegionIdx) -> Call {
        let at = &mut self.locations[location];
        let visit = at.visits.len();
        at.visits.push(Visit { region, start: at.now, end: at.now, depth: at.open.len() });
        at.open.push(visit);
        Call { location, visit }
    }

    /// Leaves the innermost region, not before `end` and after a time of more than nothing; says when.
    fn leave(&mut self, location: usize, end: i64) -> i64 {
        let at = &mut self.locations[location];
        let visit = at.open.pop().expect("a region is left that was entered");
        let end = end.max(at.now).max(at.visits[visit].start + 1);
        at.visits[visit].end = end;
        at.now = end;
        end
    }

    /// A visit until `end`; gives the call and when it really ended.
    fn visit(&mut self, location: usize, region: RegionIdx, end: i64) -> (Call, i64) {
        let call = self.enter(location, region);
        (call, self.leave(location, end))
    }

    fn now(&self, location: usize) -> i64 {
        self.locations[location].now
    }

    /// Marsaglia's xorshift: good enough for choices, and the same everywhere.
    fn next(&mut self) -> u32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        self.random
    }

    fn below(&mut self, bound: usize) -> usize {
        // The high bits: the low ones of neighbouring seeds are alike for long.
        (self.next() >> 8) as usize % bound.max(1)
    }

    /// A time below `bound`.
    fn time(&mut self, bound: u32) -> i64 {
        i64::from((self.next() >> 8) % bound.max(1))
    }

    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}
