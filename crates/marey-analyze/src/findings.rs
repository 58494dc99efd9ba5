//! What is worth changing in a program, the most first.
//!
//! The one idea: a place in the program is worth a word if others waited for what was done there, and the run would have
//! been shorter if all had done equally much of it. The first is its delay costs, the second its excess on the critical
//! path: the time that it has there beyond what each location took for it on average. And data that takes its time on the
//! critical path is worth one, though nobody was late ([`moved`]). What a runtime does for a sentence of a programming model
//! is told as that sentence ([`served`]).
//!
//! The definitions are those of `docs/wait-states.md`.
//!
//! What is deliberately absent: sentences. And what nobody measured.

mod dominant;
mod moved;
mod pieces;
mod served;

use std::collections::{BTreeMap, BTreeSet};

use marey_model::{CallPathId, LocationId, Nanos, RECORDER_FILE, Role};

use self::served::Served;
use crate::activities::Activity;
use crate::caller::{caller, caller_on, innermost, routine};
use crate::causes::Causes;
use crate::delays::Effect;
use crate::efficiency::compared;
use crate::paths::float;
use crate::samples::{is_of_recorder, library_call, name_of};
use crate::trace::Trace;
use crate::waits::Pattern;
pub use dominant::{Dominant, dominant};
pub use pieces::Pieces;

/// Delays are told if they could give back this part of the run …
const LEAST_GAIN: f64 = 0.01;

/// … and made those who are compared wait for this part of their time.
const LEAST_COST: f64 = 0.01;

/// More than a person wants to read at once.
const MOST: usize = 10;

/// Locations are named that have at least this part of the cost of the one with the most.
const NAMED: f64 = 0.1;

/// Others are counted until all together have this part of the cost.
const COUNTED: f64 = 0.99;

/// Half of what others waited may be an error of clocks, if their waits are no longer than so many times what clocks may
/// be apart; and all of it, if they are no longer than that.
const CLEAR_OF_CLOCKS: f64 = 2.0;

/// Why something is worth a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FindingKind {
    /// Others waited for it.
    Delay,
    /// Messages take their time on the critical path.
    Transfer,
    /// Files do.
    Files,
}

/// How sure a finding is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Confidence {
    /// It was measured.
    Measured,
    /// The machine is to blame rather than the program.
    Noise,
    /// Half of it, or more, may be an error of clocks.
    Clocks,
}

/// Something that was done in one place of the program, and what it cost.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// Why it is worth a word.
    pub kind: FindingKind,
    /// What was done there.
    pub activity: Activity,
    /// By whom, who caused most waiting, or has it on the critical path longest, first.
    pub locations: Vec<LocationId>,
    /// How many others caused waiting there too, or have it on the critical path, each less than a tenth of that; the
    /// fewest who make up 99 % together with those.
    pub others: usize,
    /// On how many lines of its function the calls are of which this time is; 0 = it is no call, or no line is known.
    pub lines: usize,
    /// How long those did it on average, ns.
    pub time: f64,
    /// How long all who are compared did it on average, ns.
    pub mean: f64,
    /// By how much shorter the run could be at most, had all done equally much of it; or without it, if it moves data.
    pub gain: Nanos,
    /// How long others waited for it, ns.
    pub cost: f64,
    /// That as a part of all waiting, 0 to 1.
    pub share: f64,
    /// The waits that it caused itself, most first.
    pub effects: Vec<Effects>,
    /// From the first of these, or from where it is first on the critical path …
    pub from: Nanos,
    /// … to the end of the last.
    pub to: Nanos,
    /// How long these waits are: the mean, weighted by what they cost.
    pub effect: Nanos,
    /// How far clocks of those who wait and those who are late may be apart then, weighted alike. `None` = nobody knows.
    pub clock_bar: Option<Nanos>,
    /// If it moves data: calls there, of these locations.
    pub calls: u64,
    /// What they moved, bytes.
    pub bytes: u64,
    /// If it is about files: that which most time was spent on; empty = not known.
    pub data: String,
    /// If it accesses an array piece by piece: how.
    pub pieces: Option<Pieces>,
    /// If it was outside of all recorded calls: the function that took more processor time than elsewhere, or most, if all
    /// who are compared are late in turn or none took more.
    pub function: Option<Function>,
    /// How long all of those locations together had no processor while they computed, by samples: others had it, or
    /// the kernel did something for them. `None` = not known, or they did not compute.
    pub without_processor: Option<Nanos>,
    /// By samples too: how much of the processor those who are late used for it on average, and all who are compared, ns.
    pub processor: Option<(f64, f64)>,
}

impl Finding {
    /// How sure it is.
    pub fn confidence(&self) -> Confidence {
        let bar = self.clock_bar.map_or(f64::INFINITY, float);
        if self.is_noise() {
            Confidence::Noise
        } else if bar > 0.0 && float(self.effect) <= CLEAR_OF_CLOCKS * bar {
            Confidence::Clocks
        } else {
            Confidence::Measured
        }
    }

    /// Whether the machine is to blame rather than the program. Those who are late for longer than others are if they did
    /// not use the processor for longer; those who are late in turn, if what could be won is time without a processor.
    pub fn is_noise(&self) -> bool {
        let (Some(without), Some((late, all))) = (self.without_processor, self.processor) else {
            return false;
        };
        if self.is_in_turn() {
            return float(without) >= NOISE * float(self.gain);
        }
        let excess = |time: f64, mean: f64| if mean > 0.0 { time / mean - 1.0 } else { 0.0 };
        without > Nanos(0) && excess(late, all) < (1.0 - NOISE) * excess(self.time, self.mean)
    }

    /// Whether those locations were late in turn, and not for longer than others all together.
    pub fn is_in_turn(&self) -> bool {
        self.locations.len() > 1 && self.time - self.mean < 0.5 * float(self.gain)
    }
}

/// A finding is noise if this part of it is.
const NOISE: f64 = 0.5;

/// Time without a processor is told if it is this part of the time in which they computed: less is within the error of
/// samples.
const LEAST_WITHOUT: f64 = 0.05;

/// Waits that a finding caused, of one kind in one place.
#[derive(Clone, PartialEq, Debug)]
pub struct Effects {
    /// What was waited for.
    pub pattern: Pattern,
    /// In which call; of several from one place, that with most waiting.
    pub call_path: Option<CallPathId>,
    /// By whom, who waited longest first; who waited less than a tenth of that is left out.
    pub locations: Vec<LocationId>,
    /// How many they are who are left out; the fewest who make up 99 % together with those who are not.
    pub others: usize,
    /// How long all together, ns.
    pub cost: f64,
}

/// A function by samples.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its source file; empty = unknown.
    pub file: String,
    /// The line that took most; 0 = unknown.
    pub line: u32,
    /// The function of a library in which most of that time went by, if that is more than in itself; empty = there is none.
    pub within: String,
}

/// How long waits are, and how far clocks may be apart then, ns: means by cost. None = nobody knows.
fn clocks(effects: &[&Effect]) -> (f64, Option<f64>) {
    let cost: f64 = effects.iter().map(|effect| effect.cost).sum();
    if cost <= 0.0 {
        return (0.0, Some(0.0));
    }
    let bar = effects.iter().map(|effect| effect.clock_bars).sum::<f64>() / cost;
    (effects.iter().map(|effect| effect.lengths).sum::<f64>() / cost, bar.is_finite().then_some(bar))
}

/// What is worth changing; nothing if nothing is. At most ten, that which could give back most first.
pub fn findings(run: &dyn Trace, causes: &Causes) -> Vec<Finding> {
    let compared = compared(run, causes);
    let is_compared = |id: &LocationId| compared.contains(id);
    let there = causes.times.iter().filter(|row| row.activity != Activity::NotStarted);
    let there: f64 =
        there.filter(|row| is_compared(&row.location)).map(|row| float(row.time) + float(row.waiting)).sum();
    let waiting = float(causes.waits.time());
    let mut places: BTreeMap<Place<'_>, Sums<'_>> = BTreeMap::new();
    let served = Served::new(run.call_paths(), run.regions());
    for row in causes.times.iter().filter(|row| is_compared(&row.location)) {
        let activity = served.activity(row.activity);
        let sums = places.entry(Place::of(run, activity)).or_default();
        sums.lines.extend(line_of(run, activity));
        *sums.times.entry(row.location).or_default() += float(row.time);
        sums.on_path += float(row.on_path);
    }
    for row in &causes.delays.rows {
        let activity = served.activity(row.activity);
        let sums = places.entry(Place::of(run, activity)).or_default();
        *sums.costs.entry(row.location).or_default() += row.cost();
        if sums.most.is_none_or(|(_, most)| row.cost() > most) {
            sums.most = Some((activity, row.cost()));
        }
    }
    for effect in &causes.delays.effects {
        places.entry(Place::of(run, served.activity(effect.activity))).or_default().effects.push(effect);
    }
    #[expect(clippy::cast_precision_loss, reason = "there are fewer than 2⁵³ locations")]
    let n_compared = compared.len().max(1) as f64;
    let mut findings: Vec<Finding> = places
        .into_values()
        .filter_map(|sums| {
            let (activity, _) = sums.most?;
            let cost: f64 = sums.costs.values().sum();
            let mean = sums.times.values().sum::<f64>() / n_compared;
            // No more than was waited for.
            let gain = (sums.on_path - mean).min(cost);
            let (effect, clock_bar) = clocks(&sums.effects);
            let may_be_an_error = clock_bar.is_some_and(|bar| bar > 0.0 && effect <= bar);
            let is_worthwhile = !may_be_an_error
                && gain >= LEAST_GAIN * float(causes.span.to - causes.span.from)
                && cost >= LEAST_COST * there
                && cost > 0.0;
            is_worthwhile.then(|| {
                let locations = named(&sums.costs);
                #[expect(clippy::cast_precision_loss, reason = "as above")]
                let n_named = locations.len().max(1) as f64;
                let of_named = |id: &LocationId| sums.times.get(id).copied().unwrap_or_default();
                let processors = processor_times(run, activity, &compared);
                let function =
                    (activity == Activity::Outside).then(|| function(run, &locations, &compared)).flatten();
                Finding {
                    kind: FindingKind::Delay,
                    activity,
                    effect: rounded(effect),
                    clock_bar: clock_bar.map(rounded),
                    calls: 0,
                    bytes: 0,
                    data: String::new(),
                    pieces: None,
                    others: others(&sums.costs),
                    lines: sums.lines.len(),
                    time: locations.iter().map(of_named).sum::<f64>() / n_named,
                    mean,
                    gain: rounded(gain),
                    cost,
                    share: if waiting > 0.0 { cost / waiting } else { 0.0 },
                    from: sums.effects.iter().map(|effect| effect.from).min().unwrap_or_default(),
                    to: sums.effects.iter().map(|effect| effect.to).max().unwrap_or_default(),
                    effects: effects(run, &served, &sums.effects),
                    function,
                    without_processor: processors
                        .as_ref()
                        .map(|it| without_processor(&locations, &sums.times, it)),
                    processor: processors.as_ref().map(|it| {
                        let of = |id: &LocationId| it.get(id).copied().unwrap_or_default();
                        let late = locations.iter().map(of).sum::<f64>() / n_named;
                        (late, compared.iter().map(of).sum::<f64>() / n_compared)
                    }),
                    locations,
                }
            })
        })
        .collect();
    let told: BTreeMap<Place<'_>, Nanos> =
        findings.iter().map(|it| (Place::of(run, it.activity), it.gain)).collect();
    findings.extend(moved::findings(run, causes, &served, &compared, &told));
    // Of equals the first place stays first.
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.gain));
    findings.truncate(MOST);
    pieces::tell(run, &mut findings);
    findings
}

#[expect(clippy::cast_possible_truncation, reason = "runs are shorter than 200 years")]
fn rounded(ns: f64) -> Nanos {
    Nanos(ns.round() as i64)
}

/// What is known of a place.
#[derive(Default)]
struct Sums<'d> {
    times: BTreeMap<LocationId, f64>,
    lines: BTreeSet<u32>,
    on_path: f64,
    costs: BTreeMap<LocationId, f64>,
    most: Option<(Activity, f64)>,
    effects: Vec<&'d Effect>,
}

/// A place in the program: a region, the function that called it, and the routine of a library by way of which it did.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Place<'t> {
    Call { level: &'t str, region: &'t str, function: &'t str, file: &'t str, routine: &'t str },
    Outside,
    NotStarted,
}

impl<'t> Place<'t> {
    pub(crate) fn of(run: &'t dyn Trace, activity: Activity) -> Self {
        match activity {
            Activity::Outside => Self::Outside,
            Activity::NotStarted => Self::NotStarted,
            Activity::Path(path) => Self::of_call(run, Some(path)),
        }
    }

    fn of_call(run: &'t dyn Trace, path: Option<CallPathId>) -> Self {
        let region = path.and_then(|path| run.call_paths().get(path.idx()));
        let region = region.and_then(|path| run.regions().get(path.region.idx()));
        let (level, name) = region.map_or(("", ""), |region| (region.level.as_str(), region.name()));
        let frame = path.and_then(|path| caller(run, path));
        let (function, file) = frame.map_or(("", ""), |frame| (frame.function.as_str(), frame.file.as_str()));
        let routine = path.and_then(|path| routine(run, path)).unwrap_or_default();
        Self::Call { level, region: name, function, file, routine }
    }
}

/// Those who have most of the cost, who has most first.
fn named(costs: &BTreeMap<LocationId, f64>) -> Vec<LocationId> {
    let all = by_cost(costs);
    let least = all.first().map_or(0.0, |(_, most)| NAMED * most);
    all.into_iter().take_while(|(_, cost)| *cost >= least).map(|(id, _)| id).collect()
}

/// How many are left out there, without those who matter to nobody.
fn others(costs: &BTreeMap<LocationId, f64>) -> usize {
    let mut left: f64 = COUNTED * costs.values().sum::<f64>();
    let matters = by_cost(costs).into_iter().take_while(|(_, cost)| {
        0.0 < left && {
            left -= cost;
            0.0 < *cost
        }
    });
    matters.count().saturating_sub(named(costs).len())
}

fn by_cost(costs: &BTreeMap<LocationId, f64>) -> Vec<(LocationId, f64)> {
    let mut all: Vec<_> = costs.iter().map(|(id, cost)| (*id, *cost)).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    all
}

/// The line that a call is made from, if it is known.
fn line_of(run: &dyn Trace, activity: Activity) -> Option<u32> {
    let Activity::Path(path) = activity else { return None };
    caller(run, path).map(|frame| frame.line).filter(|line| *line != 0)
}

fn effects(run: &dyn Trace, served: &Served, all: &[&Effect]) -> Vec<Effects> {
    /// Of one pattern in one place: the call path with most, its cost, and the cost of each location.
    #[derive(Default)]
    struct Row {
        most: Option<(Option<CallPathId>, f64)>,
        costs: BTreeMap<LocationId, f64>,
    }
    let mut rows: BTreeMap<(Pattern, Place<'_>), Row> = BTreeMap::new();
    for effect in all {
        let call_path = effect.call_path.map(|path| served.path(path));
        let row = rows.entry((effect.pattern, Place::of_call(run, call_path))).or_default();
        *row.costs.entry(effect.location).or_default() += effect.cost;
        if row.most.is_none_or(|(_, most)| effect.cost > most) {
            row.most = Some((call_path, effect.cost));
        }
    }
    let row = |((pattern, _), row): ((Pattern, Place<'_>), Row)| Effects {
        pattern,
        call_path: row.most.and_then(|(path, _)| path),
        others: others(&row.costs),
        locations: named(&row.costs),
        cost: row.costs.values().sum(),
    };
    let mut rows: Vec<Effects> = rows.into_iter().map(row).collect();
    rows.sort_by(|a, b| b.cost.total_cmp(&a.cost));
    rows
}

/// How much of the processor locations used while they computed in the place of an activity, ns, by samples. `None` = it is
/// no computation, or nobody was sampled.
fn processor_times(
    run: &dyn Trace,
    activity: Activity,
    compared: &BTreeSet<LocationId>,
) -> Option<BTreeMap<LocationId, f64>> {
    let region_of = |path: CallPathId| {
        run.call_paths().get(path.idx()).and_then(|path| run.regions().get(path.region.idx()))
    };
    let region = match activity {
        Activity::Outside => None,
        Activity::Path(path) => Some(region_of(path)?),
        Activity::NotStarted => return None,
    };
    if region.is_some_and(|region| region.role != Role::Work) {
        return None;
    }
    let mut times: BTreeMap<LocationId, f64> = BTreeMap::new();
    for row in run.all_samples().iter().filter(|row| compared.contains(&row.location)) {
        let sum = times.entry(row.location).or_default();
        if row.call_path.and_then(region_of) == region {
            *sum += float(row.time);
        }
    }
    // Whoever has no sample used none of it, if there are samples.
    (!times.is_empty()).then_some(times)
}

/// How long locations had no processor while they computed.
fn without_processor(
    locations: &[LocationId],
    times: &BTreeMap<LocationId, f64>,
    processors: &BTreeMap<LocationId, f64>,
) -> Nanos {
    let without = |location: &LocationId| {
        let of = |times: &BTreeMap<LocationId, f64>| times.get(location).copied().unwrap_or_default();
        let (time, processor) = (of(times), of(processors));
        if time - processor >= LEAST_WITHOUT * time { time - processor } else { 0.0 }
    };
    rounded(locations.iter().map(without).sum())
}

/// The function of the program in which some locations computed longer than all on average, and most so; if all are meant,
/// that in which they computed longest.
fn function(run: &dyn Trace, some: &[LocationId], all: &BTreeSet<LocationId>) -> Option<Function> {
    /// Processor time of a function, ns: of all, of some, and theirs by line.
    #[derive(Default)]
    struct Times<'t> {
        of_all: f64,
        of_some: f64,
        /// Of the times that single samples of theirs stand for, the sum of squares, ns²: the variance of `of_some`.
        squares: f64,
        lines: BTreeMap<u32, f64>,
        /// Theirs too, by the innermost function; empty = itself.
        within: BTreeMap<&'t str, f64>,
    }
    let late: BTreeSet<LocationId> = some.iter().copied().collect();
    let mut functions: BTreeMap<(&str, &str), Times<'_>> = BTreeMap::new();
    for row in run.all_samples().iter().filter(|row| all.contains(&row.location)) {
        if row.call_path.is_some_and(|path| library_call(run, path).is_some()) {
            continue;
        }
        let frames = row.stack.map_or_else(Vec::new, |stack| run.stack(stack));
        let Some(place) = caller_on(&frames) else { continue };
        let frame = frames[place];
        // What measuring costs is nothing that the program could change.
        if is_of_recorder(&frames) || name_of(&frame.function) == RECORDER_FILE {
            continue;
        }
        // What has no name goes by its module, or each of its addresses would be a function.
        let times = functions.entry((name_of(&frame.function), &frame.file)).or_default();
        times.of_all += float(row.time);
        if late.contains(&row.location) {
            times.of_some += float(row.time);
            #[expect(clippy::cast_precision_loss, reason = "a variance needs no more than 53 bits")]
            let samples = row.samples.max(1) as f64;
            times.squares += float(row.time).powi(2) / samples;
            *times.lines.entry(frame.line).or_default() += float(row.time);
            *times.within.entry(innermost(&frames, place)).or_default() += float(row.time);
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "there are fewer than 2⁵³ locations")]
    let (n_some, n_all) = (some.len().max(1) as f64, all.len().max(1) as f64);
    // Where all are late, now one and now the other, it is the one in which they computed most.
    let expected = if some.len() < all.len() { 1.0 / n_all } else { 0.0 };
    let excess = |times: &Times<'_>| times.of_some / n_some - times.of_all * expected;
    let most_used = functions.iter().max_by(|a, b| a.1.of_some.total_cmp(&b.1.of_some))?;
    let (key, times) = functions.iter().max_by(|a, b| excess(a.1).total_cmp(&excess(b.1)))?;
    // Who had no processor has computed no more than others: what is left is an error of samples.
    let is_more = excess(times) * n_some > DEVIATIONS * times.squares.sqrt();
    let (key, times) = if is_more { (key, times) } else { most_used };
    let most = |times: &BTreeMap<&str, f64>| {
        times.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|it| it.0.to_string())
    };
    let line = times.lines.iter().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(line, _)| *line);
    let within = most(&times.within).unwrap_or_default();
    let function = Function { name: key.0.to_owned(), file: key.1.to_owned(), line, within };
    (times.of_some > 0.0).then_some(function)
}

/// A function took more processor time than elsewhere if that is more by so many standard deviations of its samples.
const DEVIATIONS: f64 = 2.0;
