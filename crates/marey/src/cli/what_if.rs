//! `marey what-if`.
//!
//! What its words mean stands in `docs/what-if.md`.

use clap::Args;
use marey_model::Nanos;

use super::ExplainArgs;

/// `marey what-if`
#[derive(Debug, Args)]
#[command(
    name = "what-if",
    about = "Predict how long the run would take with something faster",
    long_about = "Predict how long the run would take with something faster.\n\n\
        The run is replayed: computation, and what of calls is no wait, takes as long as it did, or as the changes say; \
        waits follow from what is waited for, across messages, collective operations, locks and threads. Shown are the \
        run time and what the critical path would be then. Several changes can be combined.\n\n\
        Without changes each place that has much of the critical path is tried, twice as fast and taking no time, and \
        those come first that would make the run shortest.\n\n\
        PLACE is what tables show: a region, a function of the program, or FILE:LINE. Computation outside of recorded \
        calls is divided among functions by samples; calls of parallel libraries change only if they are named \
        themselves. Orders of messages and locks stay as they were. A change holds for the whole run: what it gains shows behind it, \
        so there is no part to ask for. All of it is told in docs/what-if.md.",
    after_long_help = "EXAMPLES\n  \
        marey what-if run.marey                      what would be most worthwhile\n  \
        marey what-if run.marey --faster force=2     with the function force twice as fast\n  \
        marey what-if run.marey --faster force=inf --rank 3=1.5 --balance\n  \
        marey what-if run.marey --faster solver.c:120=4\n  \
        marey what-if run.marey --latency 1us --bandwidth 25GB\n  \
        marey what-if run.marey --json | jq '.places[0]'\n\n\
        EXIT STATUS\n  \
        0, or 2 if a place or rank is not in the run.\n\n\
        JSON\n  \
        With changes: duration_ns, replayed_ns, run_ns, gain_ns, gain, text, changes[{kind, name, factor|null, exact_ns, \
        sampled_ns, samples, locations[]}], critical_path[{location, thread, rank|null, activity, level, region, function, \
        file, line, routine, before_ns, after_ns}], network_ns, before_path_ns, locations[{location, thread, rank|null, \
        end_before_ns, end_after_ns, waiting_before_ns, waiting_after_ns, path_before_ns, path_after_ns}]. Without: \
        duration_ns, replayed_ns, text, places[{activity, level, region, function, file, line, routine, path_ns, twice_ns, \
        at_once_ns}], balanced_ns, zero_latency_ns. replayed_ns is the replay without a change, and must be duration_ns."
)]
pub(crate) struct WhatIfArgs {
    #[command(flatten)]
    pub(crate) common: ExplainArgs,

    /// What is done in PLACE, with all that it calls, is FACTOR times as fast
    ///
    /// 2 is twice as fast, 0.5 half as fast, inf takes no time. May be given several times.
    #[arg(long, value_name = "PLACE=FACTOR", value_parser = scaled)]
    pub(crate) faster: Vec<Scaled>,

    /// All computation of rank R is FACTOR times as fast
    ///
    /// May be given several times.
    #[arg(long, value_name = "R=FACTOR", value_parser = scaled_rank)]
    pub(crate) rank: Vec<(u32, f64)>,

    /// Useful time of all is evened out between synchronisations
    #[arg(long)]
    pub(crate) balance: bool,

    /// Moving data and synchronising costs nothing but waits
    #[arg(long, conflicts_with_all = ["latency", "bandwidth"])]
    pub(crate) zero_latency: bool,

    /// Each message takes T (1us, 500ns), and nothing but that and --bandwidth
    #[arg(long, value_name = "T", value_parser = crate::format::parse_time, allow_hyphen_values = true)]
    pub(crate) latency: Option<Nanos>,

    /// Messages take their bytes divided by B a second (10GB, 800MiB), and nothing but that and --latency
    #[arg(long, value_name = "B", value_parser = bandwidth)]
    pub(crate) bandwidth: Option<Bandwidth>,
}

/// Bytes a second.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bandwidth {
    /// Without `/s`.
    pub(crate) typed: String,
    pub(crate) bytes: f64,
}

/// A place, and how many times as fast it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scaled {
    pub(crate) place: String,
    pub(crate) factor: f64,
}

fn scaled(text: &str) -> Result<Scaled, String> {
    let (place, number) = text.rsplit_once('=').ok_or("PLACE=FACTOR is meant, such as force=2")?;
    if place.is_empty() {
        return Err("there is no place before the =, such as force=2".to_owned());
    }
    Ok(Scaled { place: place.to_owned(), factor: factor(number)? })
}

fn scaled_rank(text: &str) -> Result<(u32, f64), String> {
    let (rank, number) = text.rsplit_once('=').ok_or("R=FACTOR is meant, such as 3=2")?;
    let rank = rank.parse().map_err(|_| format!("`{rank}` is no rank; R=FACTOR is meant, such as 3=2"))?;
    Ok((rank, factor(number)?))
}

fn factor(text: &str) -> Result<f64, String> {
    if text == "inf" {
        return Ok(f64::INFINITY);
    }
    let factor: Option<f64> = text.parse().ok().filter(|factor| (1e-6..=1e9).contains(factor));
    factor.ok_or_else(|| format!("`{text}` is no factor: a number above 0 (2 is twice as fast), or inf"))
}

/// `10GB`, `800MiB`, `1e9`: bytes a second.
fn bandwidth(text: &str) -> Result<Bandwidth, String> {
    const UNITS: [(&str, f64); 7] = [
        ("KiB", 1024.0),
        ("MiB", 1024.0 * 1024.0),
        ("GiB", 1024.0 * 1024.0 * 1024.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("B", 1.0),
    ];
    let amount = text.strip_suffix("/s").unwrap_or(text);
    let unit = UNITS.iter().find_map(|(unit, bytes)| Some((amount.strip_suffix(unit)?, *bytes)));
    let (number, bytes) = unit.unwrap_or((amount, 1.0));
    let number: Option<f64> = number.trim().parse().ok().filter(|number| (1e-6..=1e18).contains(number));
    let is_number_only = unit.is_none();
    let typed = if is_number_only { format!("{amount} B") } else { amount.to_owned() };
    number
        .map(|number| Bandwidth { typed, bytes: number * bytes })
        .ok_or_else(|| format!("`{text}` is no number of bytes a second, such as 10GB or 800MiB"))
}
