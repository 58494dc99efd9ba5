//! The rules of `--filter` and `--rule`.
//!
//! The one idea: they are read and checked before anything is made or started, and go to the measured
//! processes as the text that the user has written.

use anyhow::{Context, bail};
use marey_model::Rules;

use crate::cli::RecordArgs;
use crate::exit::Usage;

/// More than this no environment may hold in one variable, on Linux.
const MOST: usize = 100 << 10;

/// All rules, those of the command line last.
pub(super) fn read(args: &RecordArgs) -> anyhow::Result<Rules> {
    let mut text = String::new();
    if let Some(path) = &args.filter {
        let shown = path.display();
        text = std::fs::read_to_string(path).with_context(|| format!("cannot read the filter {shown}"))?;
        Rules::parse(&text).map_err(|error| Usage(format!("{shown} is no filter: {error}")))?;
    }
    for rule in &args.rule {
        Rules::parse(rule).map_err(|error| {
            let shown = rule.escape_debug();
            Usage(format!("--rule '{shown}' {}; try --rule 'count MPI_Comm_*'", error.what))
        })?;
        text.push('\n');
        text.push_str(rule);
    }
    let rules = Rules::parse(&text)?;
    let len = rules.to_string().len();
    if len > MOST {
        bail!(Usage(format!(
            "the rules take {len} bytes and may take {MOST}: use * for names that are alike"
        )));
    }
    Ok(rules)
}
