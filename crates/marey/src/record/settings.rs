//! How much was recorded, as words of the command line: kept with the run, and taken from there when it is recorded again.
//!
//! The one idea: a run may have come from anywhere, so only what says how much is recorded is taken from it, word by word
//! and read as if it had been typed; what says where something is read or written is not, and never kept.
//!
//! Deliberately absent: rules, which the run keeps already; title and remark, which are about one run.

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _};
use marey_archive::RunFacts;

use crate::cli::{Cli, Mode, RecordArgs};

/// Those of them that are kept, in the order of the help.
const KEPT: [&str; 16] = [
    "mode", "elements", "max-mb", "budget", "sample", "counters", "depth", "threads", "files", "system",
    "openmp", "kokkos", "coarrays", "buffers", "heap", "all",
];
/// No word is longer: sixty-four places of elements are not.
const LONGEST: usize = 4096;

/// All settings, also those that are as usual: what is usual may change.
pub(super) fn words_of(args: &RecordArgs) -> Vec<String> {
    let off_or = |value: Option<String>| value.unwrap_or_else(|| "off".to_owned());
    let budget = (args.budget.0 > 0).then(|| (f64::from(args.budget.0) / 100.0).to_string());
    let counters = (!args.counters.0.is_empty()).then(|| args.counters.0.clone());
    let elements = args.elements.as_ref().map(ToString::to_string);
    let values = [
        ("mode", Some(args.mode.name().to_owned())),
        ("elements", elements),
        ("max-mb", Some(args.max_mb.to_string())),
        ("budget", Some(off_or(budget))),
        ("sample", Some(off_or(args.sample.0.map(|hertz| hertz.to_string())))),
        ("counters", Some(off_or(counters))),
        ("depth", Some(args.depth.to_string())),
        ("threads", Some(args.threads.name().to_owned())),
        ("files", Some(args.files.name().to_owned())),
        ("system", Some(args.system.name().to_owned())),
        ("openmp", Some(args.openmp.name().to_owned())),
        ("kokkos", Some(args.kokkos.name().to_owned())),
        ("coarrays", Some(args.coarrays.name().to_owned())),
        ("buffers", Some(args.buffers.name().to_owned())),
        ("heap", Some(off_or(args.heap.0.map(|least| least.to_string())))),
    ];
    let valued = values.into_iter().filter_map(|(name, value)| Some(format!("--{name}={}", value?)));
    valued.chain(args.all.then(|| "--all".to_owned())).collect()
}

/// What was taken from a run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct AsThen {
    /// Words of settings that are not the usual ones, and rules.
    taken: Vec<String>,
    rules: usize,
    /// What this version does not understand.
    unknown: Vec<String>,
    /// Whether the run says nothing of it.
    is_untold: bool,
}

impl AsThen {
    /// Lines for the user.
    pub(super) fn in_words(&self, shown: &str) -> Vec<String> {
        let mut lines = Vec::new();
        if self.is_untold {
            lines.push(format!(
                "{shown} does not say with which options it was recorded: they are the usual ones, but for those that are given"
            ));
        }
        if !self.taken.is_empty() {
            lines.push(format!("as it was then, with {}", self.taken.join(" ")));
        }
        if self.rules > 0 {
            lines.push("by the same rules; --filter or --rule give others".to_owned());
        }
        for word in &self.unknown {
            lines.push(format!("without {word}, which this version of marey does not have"));
        }
        lines
    }
}

/// Sets what was not given now as it was then.
pub(super) fn take(args: &mut RecordArgs, facts: &RunFacts, is_given: impl Fn(&str) -> bool) -> AsThen {
    let usual = parsed("").map(|usual| words_of(&usual)).unwrap_or_default();
    let mut as_then = AsThen { is_untold: facts.settings.is_none(), ..AsThen::default() };
    for word in facts.settings.iter().flatten() {
        let name = name_of(word);
        match name.map(|name| (name, is_given(name), parsed(word))) {
            Some((_, true, _)) => {}
            // Of messages that are not recorded in full there are no elements.
            Some(("elements", ..)) if args.mode != Mode::Full => {}
            Some((name, false, Some(then))) => {
                set(args, then, name);
                if !usual.contains(word) {
                    as_then.taken.push(word.clone());
                }
            }
            _ => as_then.unknown.push(word.chars().take(LONGEST).collect()),
        }
    }
    if !is_given("filter") && !is_given("rule") {
        args.rule.clone_from(&facts.rules);
        as_then.rules = facts.rules.len();
    }
    as_then
}

/// Settings of a run that are not the usual ones; `None` = it does not say.
pub(crate) fn unusual(facts: &RunFacts) -> Option<Vec<String>> {
    facts.settings.as_ref()?;
    let mut args = parsed("")?;
    Some(take(&mut args, facts, |_| false).taken)
}

/// Which options stand on the command line of this process.
pub(super) fn is_given() -> impl Fn(&str) -> bool {
    // It was understood before.
    let matches = Cli::command().try_get_matches().ok();
    let record =
        matches.and_then(|matches| matches.subcommand_matches("record").cloned()).unwrap_or_default();
    move |name| source(&record, name) == Some(ValueSource::CommandLine)
}

/// Where the value of an option is from.
fn source(matches: &ArgMatches, name: &str) -> Option<ValueSource> {
    let id = name.replace('-', "_");
    matches.try_contains_id(&id).ok()?;
    matches.value_source(&id)
}

/// The name of a setting that is kept.
fn name_of(word: &str) -> Option<&'static str> {
    let said = word.strip_prefix("--").filter(|_| word.len() <= LONGEST)?;
    let (name, is_valued) = said.split_once('=').map_or((said, false), |(name, _)| (name, true));
    KEPT.into_iter().find(|it| *it == name && is_valued == (name != "all"))
}

/// A command line with one word; without any for an empty one.
fn parsed(word: &str) -> Option<RecordArgs> {
    let words = ["marey", "record"].into_iter().chain((!word.is_empty()).then_some(word)).chain(["--", "x"]);
    let matches = Cli::command().try_get_matches_from(words).ok()?;
    RecordArgs::from_arg_matches(matches.subcommand_matches("record")?).ok()
}

fn set(args: &mut RecordArgs, then: RecordArgs, name: &str) {
    match name {
        "mode" => args.mode = then.mode,
        "elements" => args.elements = then.elements,
        "max-mb" => args.max_mb = then.max_mb,
        "budget" => args.budget = then.budget,
        "sample" => args.sample = then.sample,
        "counters" => args.counters = then.counters,
        "depth" => args.depth = then.depth,
        "threads" => args.threads = then.threads,
        "files" => args.files = then.files,
        "system" => args.system = then.system,
        "openmp" => args.openmp = then.openmp,
        "kokkos" => args.kokkos = then.kokkos,
        "coarrays" => args.coarrays = then.coarrays,
        "buffers" => args.buffers = then.buffers,
        "heap" => args.heap = then.heap,
        "all" => args.all = then.all,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(words: &[&str]) -> RecordArgs {
        let words = ["marey", "record"].iter().chain(words).chain(&["--", "x"]);
        let matches = Cli::command().try_get_matches_from(words).unwrap();
        RecordArgs::from_arg_matches(matches.subcommand_matches("record").unwrap()).unwrap()
    }

    fn run_of(words: &[&str]) -> RunFacts {
        RunFacts {
            settings: Some(words.iter().map(|&word| word.to_owned()).collect()),
            rules: vec!["off x".to_owned()],
            ..RunFacts::default()
        }
    }

    /// Each with a value that is not the usual one, as a user types it.
    const ALL: [&str; 16] = [
        "--mode=full",
        "--elements=0-3,100-100",
        "--max-mb=7",
        "--budget=0.25",
        "--sample=off",
        "--counters=page-faults",
        "--depth=3",
        "--threads=off",
        "--files=off",
        "--system=off",
        "--openmp=off",
        "--kokkos=off",
        "--coarrays=off",
        "--buffers=off",
        "--heap=1",
        "--all",
    ];

    #[test]
    fn all_settings_come_back_as_they_were() {
        let before = typed(&ALL);
        assert_eq!(words_of(&before), ALL);
        let mut again = typed(&[]);
        let as_then = take(&mut again, &run_of(&ALL), |_| false);
        assert_eq!(words_of(&again), ALL);
        assert_eq!(
            (as_then.taken, as_then.rules, again.rule),
            (ALL.map(str::to_owned).to_vec(), 1, vec!["off x".to_owned()])
        );
        // The usual ones, and what says off.
        for words in [&[][..], &["--budget=off", "--heap=off", "--mode=profile"]] {
            let before = words_of(&typed(words));
            let mut again = typed(&ALL);
            take(&mut again, &run_of(&before.iter().map(String::as_str).collect::<Vec<_>>()), |_| false);
            assert_eq!(words_of(&again)[..1], before[..1]);
            assert_eq!(words_of(&again)[2..15], before[1..], "{words:?}");
        }
    }

    #[test]
    fn what_is_given_now_is_not_taken() {
        let mut again = typed(&["--sample=200", "--rule=off y"]);
        let as_then = take(&mut again, &run_of(&["--sample=off", "--depth=1"]), |name| {
            ["sample", "rule"].contains(&name)
        });
        assert_eq!((again.sample.0, again.depth, again.rule), (Some(200), 1, vec!["off y".to_owned()]));
        assert_eq!(as_then.taken, ["--depth=1"]);
        // Elements belong to a mode.
        let mut again = typed(&["--mode=trace"]);
        take(&mut again, &run_of(&["--mode=full", "--elements=0-3"]), |name| name == "mode");
        assert_eq!((again.mode, again.elements), (Mode::Trace, None));
    }

    #[test]
    fn a_run_says_how_much_is_recorded_and_nothing_else() {
        let wrong = [
            "--output=/x",
            "--spool=/x",
            "--embed-sources=/",
            "--force",
            "--depth=99",
            "--mode",
            "-mfull",
            "x",
            "--all=1",
            "--help",
        ];
        let mut again = typed(&[]);
        let usual = format!("{again:?}");
        let as_then = take(&mut again, &RunFacts { rules: Vec::new(), ..run_of(&wrong) }, |_| false);
        assert_eq!(format!("{again:?}"), usual);
        assert_eq!((as_then.unknown.len(), as_then.taken.len()), (wrong.len(), 0));
        assert!(take(&mut again, &RunFacts::default(), |_| false).is_untold);
    }
}
