//! The commands that compare runs: `diff`, `check`; and what they and `report` compute.
//!
//! What their words mean stands in `docs/compare.md`, what their JSON means in `docs/json.md`.

use std::path::PathBuf;

use clap::Args;
use marey_analyze::{Of, QUANTITIES};

use super::at_least_one;

/// `marey diff`
#[derive(Debug, Args)]
#[command(
    about = "Compare runs: what got slower or faster, and what caused it",
    long_about = "Compare runs: what got slower or faster, and what caused it.\n\n\
        The first run is the base; each other is compared with it. Regions, call paths and places are matched by \
        their names, across versions of a program and numbers of ranks; a function whose name was changed is \
        recognised where that is evident, and that is told. The first sentences say what made the run longer or \
        shorter: the length of a run is the time on its critical path, so the difference is divided among places \
        of the program and nothing is left over. The tables below are the evidence.\n\n\
        If numbers of processes differ, those of regions, calls, waits and costs are means of a process, else sums.",
    after_long_help = "EXAMPLES\n  \
        marey diff before.marey after.marey\n  \
        marey diff n2.marey n4.marey n8.marey --top 5\n  \
        marey diff before.marey after.marey --metric 'mpi_time / time'\n  \
        marey diff before.marey after.marey --json | jq '.comparisons[0].verdict.sentences'\n\n\
        JSON\n  \
        base{run, duration_ns, processes, ranks, threads, unexplained|null}, comparisons[{run{as base}, basis, \
        verdict{direction, difference_ns, change|null, of, sentences[], causes[{activity, level, region, function, \
        file, line, old_region, old_function, old_ns, new_ns, locations[], ranks[], old_visits|null, \
        new_visits|null, old_mean_ns|null, new_mean_ns|null, share|null, share_region|null, share_function|null, \
        computed_in|null, old_processor_ns|null, new_processor_ns|null}], elsewhere[as causes]}, renamed[{old_function, old_file, function, file, how}], \
        metrics[{name, expression, unit, old|null, new|null}], critical_path[{activity, level, region, function, \
        file, line, old_ns, new_ns}], regions[{level, verb, noun, old_calls, new_calls, old_inclusive_ns, \
        new_inclusive_ns, old_exclusive_ns, new_exclusive_ns, old_bytes, new_bytes}], call_paths[{path[], \
        function, file, line, and the same numbers}], waits[{pattern, and as critical_path}], delays, findings[as \
        critical_path], functions[{function, file, line, old_ns, new_ns}], memory[{activity, level, region, \
        function, file, line, old_bytes, new_bytes}]}]. Sums over all ranks and threads, whatever the basis; null \
        and 0 where a run has not the thing. `marey check --help` lists the quantities of --metric.\n\n\
        EXIT STATUS\n  \
        0  compared, whatever the difference; `marey check` judges it\n  \
        1  an error, told on standard error\n  \
        2  wrong usage"
)]
pub(crate) struct DiffArgs {
    /// The base, and the runs to compare with it; directories or packed files
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    pub(crate) runs: Vec<PathBuf>,

    /// Compare a number computed from quantities of a run, too; may be given several times
    #[arg(long, value_name = "[NAME=]EXPR", allow_hyphen_values = true)]
    pub(crate) metric: Vec<String>,

    /// Print JSON for other programs
    #[arg(long)]
    pub(crate) json: bool,

    /// Rows a table shows at most
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = at_least_one)]
    pub(crate) top: u32,

    /// Never use colour
    ///
    /// Colour is used on a terminal only, and not if NO_COLOR is set.
    #[arg(long)]
    pub(crate) no_color: bool,
}

/// `marey check`
#[derive(Debug, Args)]
#[command(
    about = "Judge whether a program got slower, for continuous integration",
    long_about = "Judge whether a program got slower, for continuous integration.\n\n\
        The candidate runs are compared with the baseline runs, metric by metric. Times vary from run to run: how \
        much is learnt from the repeats, and a check fails only if the whole interval in which the slow-down lies, \
        in 95 of 100 checks, is above the threshold. It passes if the program does not look slower than that and a \
        slow-down of twice the threshold is excluded. Else the repeats are too few to tell, and there is no verdict: \
        4 runs of each are the least for one metric, 5 for up to six. Numbers of calls, messages and bytes do not \
        vary and are judged from one run of each.\n\n\
        When a check fails, the causes are told as `marey diff` tells them.",
    after_long_help = after_check()
)]
pub(crate) struct CheckArgs {
    /// Runs of the program as it was
    #[arg(long, value_name = "RUN", required = true, num_args = 1..)]
    pub(crate) baseline: Vec<PathBuf>,

    /// Runs of the program as it is
    #[arg(long, value_name = "RUN", required = true, num_args = 1..)]
    pub(crate) candidate: Vec<PathBuf>,

    /// What to judge; may be given several times
    ///
    /// If it is not given: the duration, and messages and their bytes if there are any.
    #[arg(long, value_name = "[NAME=]EXPR[ > N%]", allow_hyphen_values = true)]
    pub(crate) metric: Vec<String>,

    /// How much more of a metric is too much, if the metric does not say
    #[arg(long, value_name = "N%", default_value = "5%", value_parser = percent)]
    pub(crate) fail_above: Percent,

    /// Write the verdicts as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,

    /// Write the verdicts as Markdown
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,

    /// Print JSON for other programs
    #[arg(long)]
    pub(crate) json: bool,

    /// Never use colour
    ///
    /// Colour is used on a terminal only, and not if NO_COLOR is set.
    #[arg(long)]
    pub(crate) no_color: bool,
}

/// A part of a hundred, as a part of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Percent(pub(crate) f64);

/// Reads `5%`, `0.5 %`.
pub(crate) fn percent(text: &str) -> Result<Percent, String> {
    let number = text.trim().strip_suffix('%').map(str::trim_end).and_then(|text| text.parse::<f64>().ok());
    let number = number.filter(|number| number.is_finite() && 0.0 <= *number);
    number.map(|number| Percent(number / 100.0)).ok_or_else(|| "not a percentage such as 5%".to_owned())
}

fn after_check() -> String {
    let quantities = |of: Of| {
        let names = QUANTITIES.iter().filter(|quantity| quantity.of == of);
        let name = |quantity: &marey_analyze::Quantity| match quantity.is_counter() {
            true => "counter(\"NAME\")".to_owned(),
            false => quantity.name.to_owned(),
        };
        names.map(name).collect::<Vec<_>>().join(", ")
    };
    format!(
        "EXAMPLES\n  \
        marey check --baseline old-*.marey --candidate new-*.marey\n  \
        marey check --baseline old-*.marey --candidate new-*.marey --fail-above 2% --junit check.xml\n  \
        marey check --baseline old.marey --candidate new.marey --metric messages --metric 'region(\"MPI_Send\").bytes \
        > 0%'\n  \
        marey check --baseline old-*.marey --candidate new-*.marey --metric 'halo = function(\"halo\").self_time > \
        10%'\n\n\
        METRICS\n  \
        Numbers, + - * / and parentheses, and quantities of a run; times in seconds, sizes in bytes:\n  \
        {}.\n  \
        region(\"NAME\") has .{}.\n  \
        level(\"NAME\") has .{}.\n  \
        function(\"NAME\"), of the calls that it makes, has .{}.\n  \
        rank(N) has .{}.\n  \
        exact(EXPR) is judged from single runs though it was measured; of higher_is_better(EXPR), and of an efficiency \
        alone, less fails. Division by zero is no value. docs/compare.md says what each name means, and how metrics \
        are judged.\n\n\
        JSON\n  \
        verdict, exit_status, metrics[{{name, expression, unit, verdict, text, reason|null, exact, higher_is_better, \
        threshold, change|null, lower|null, upper|null, baseline[], candidate[], baseline_median|null, \
        candidate_median|null, baseline_noise|null, candidate_noise|null, place|null}}], baseline[], candidate[], \
        cause|null{{base, run, sentences[]}}. Verdicts are `pass`, `fail` and `no verdict`; \
        changes, thresholds and noise are parts of one; a change from 0 is null.\n\n\
        EXIT STATUS\n  \
        0  pass\n  \
        1  fail; or an error, told on standard error\n  \
        2  wrong usage\n  \
        3  no verdict: the repeats are too few to tell",
        quantities(Of::Run),
        quantities(Of::Region).replace(", ", ", ."),
        quantities(Of::Level).replace(", ", ", ."),
        quantities(Of::Function).replace(", ", ", ."),
        quantities(Of::Rank).replace(", ", ", ."),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_have_their_sign() {
        for (text, expected) in [("5%", 0.05), ("0.5 %", 0.005), ("0%", 0.0), (" 100% ", 1.0)] {
            assert_eq!(percent(text), Ok(Percent(expected)), "{text}");
        }
        for text in ["5", "", "%", "-1%", "inf%", "5%%", "NaN%"] {
            assert!(percent(text).is_err(), "{text}");
        }
    }
}
