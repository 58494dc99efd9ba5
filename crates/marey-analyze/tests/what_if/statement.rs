//! What drawings say of changed runs, and random changes.
//!
//! The one idea: `what-if DEED, DEED = NS: a NS, b NS` names what is changed, the run time that it gives, and how long
//! the path is then on each location and in the network.

use std::collections::BTreeMap;

use marey_analyze::Trace;
use marey_analyze::what_if::{Change, Network, Place, Scaling};
use marey_model::{LocationId, Nanos};
use marey_testkit::Drawing;

/// One change.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Deed {
    /// A region by its name, and how many times as fast it is.
    Faster(String, f64),
    /// A rank, likewise.
    Rank(u32, f64),
    /// Useful time is evened out.
    Balance,
    /// Latency in ns, and bytes per ns.
    Network(f64, f64),
    /// One nanosecond of a location takes so many more.
    Longer(LocationId, usize, i64),
}

#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) text: String,
    pub(crate) deeds: Vec<Deed>,
    pub(crate) run_time: f64,
    pub(crate) path: BTreeMap<String, f64>,
}

impl Statement {
    pub(crate) fn parse(line: &str) -> Self {
        let wrong = || panic!("`{line}` is not `what-if DEED, DEED = NS: a NS, b NS`");
        let (deeds, result) = line["what-if".len()..].split_once('=').unwrap_or_else(wrong);
        let (run_time, path) = result.split_once(':').unwrap_or_else(wrong);
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let deeds = deeds.split(',').map(&words).filter(|words| !words.is_empty());
        let path = path.split(',').map(words);
        Self {
            text: line.to_owned(),
            deeds: deeds.map(|words| deed(&words)).collect(),
            run_time: number(run_time.trim()),
            path: path.map(|words| (words[0].clone(), number(&words[1]))).collect(),
        }
    }
}

fn number(word: &str) -> f64 {
    word.parse().unwrap_or_else(|_| panic!("`{word}` is no number"))
}

fn deed(words: &[String]) -> Deed {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["faster", region, factor] => Deed::Faster(region.to_owned(), number(factor)),
        ["rank", rank, factor] => Deed::Rank(rank.parse().expect("a rank is a number"), number(factor)),
        ["balance"] => Deed::Balance,
        ["zero-latency"] => Deed::Network(0.0, f64::INFINITY),
        ["network", latency, bandwidth] => Deed::Network(number(latency), number(bandwidth)),
        _ => panic!("`{words:?}` is no deed"),
    }
}

/// The same for the analysis.
pub(crate) fn change(run: &impl Trace, deeds: &[Deed]) -> Change {
    let mut change = Change::default();
    for deed in deeds {
        match deed {
            Deed::Faster(name, factor) => {
                let place = Place {
                    is_region: &|region| region.name() == name,
                    is_frame: &|_| false,
                    with_calls: false,
                };
                change.scalings.push(Scaling::place(run, &place, *factor));
            }
            Deed::Rank(rank, factor) => change.scalings.push(Scaling::rank(run, *rank, *factor)),
            Deed::Balance => change.is_balanced = true,
            Deed::Longer(..) => unreachable!("no change is like that"),
            Deed::Network(latency, bandwidth) => {
                #[expect(clippy::cast_possible_truncation, reason = "drawn times are small")]
                let latency = Nanos(*latency as i64);
                change.network = Some(Network { latency, ns_per_byte: 1.0 / bandwidth });
            }
        }
    }
    change
}

/// Marsaglia's xorshift, as in random runs.
pub(crate) struct Random(u32);

impl Random {
    pub(crate) fn new() -> Self {
        Self(0x9E37_79B9)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        (self.0 >> 8) as usize % bound.max(1)
    }
}

/// One to three changes.
pub(crate) fn random_deeds(random: &mut Random, drawing: &Drawing) -> Vec<Deed> {
    const FACTORS: [f64; 6] = [2.0, 2.0, 4.0, 0.5, f64::INFINITY, 1.25];
    let mut deeds = Vec::new();
    for _ in 0..1 + random.below(3) {
        let factor = FACTORS[random.below(FACTORS.len())];
        let deed = match random.below(8) {
            0..4 => {
                let regions = drawing.regions();
                Deed::Faster(regions[random.below(regions.len())].name().to_owned(), factor)
            }
            4 | 5 => {
                let rank = random.below(drawing.processes().len());
                Deed::Rank(u32::try_from(rank).expect("there are few"), factor)
            }
            6 => Deed::Balance,
            _ => match random.below(3) {
                0 => Deed::Network(0.0, f64::INFINITY),
                1 => Deed::Network(3.0, f64::INFINITY),
                _ => Deed::Network(2.0, 4.0),
            },
        };
        let is_new = |other: &Deed| std::mem::discriminant(other) != std::mem::discriminant(&deed);
        if matches!(deed, Deed::Faster(..) | Deed::Rank(..)) || deeds.iter().all(is_new) {
            deeds.push(deed);
        }
    }
    deeds
}
