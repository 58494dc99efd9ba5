//! The rules of `--filter` and `--rule`.
//!
//! The one idea: they are read and checked before anything is made or started, and go to the measured
//! processes as the text that the user has written.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, bail};
use marey_model::Rules;

use crate::exit::Usage;
use crate::format;
use crate::paint::shorten;

/// More than this no environment may hold in one variable, on Linux.
const MOST: usize = 100 << 10;
/// More than this is no filter, even one with many remarks.
const MOST_OF_A_FILE: u64 = 1 << 20;
/// Characters of a wrong rule that are shown.
const SHOWN: usize = 60;

/// All rules, those of the command line last.
pub(crate) fn read(filter: Option<&Path>, rules: &[String]) -> anyhow::Result<Rules> {
    let mut text = String::new();
    if let Some(path) = filter {
        let shown = path.display();
        text = read_file(path)?;
        Rules::parse(&text).map_err(|error| Usage(format!("{shown} is no filter: {error}")))?;
    }
    for rule in rules {
        Rules::parse(rule).map_err(|error| {
            let shown = shorten(&rule.escape_debug().to_string(), SHOWN);
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

/// The text of a filter. It may come from a pipe, so its length is known when it has been read.
fn read_file(path: &Path) -> anyhow::Result<String> {
    let shown = path.display();
    let cannot = || format!("cannot read the filter {shown}");
    let mut bytes = Vec::new();
    let file = File::open(path).with_context(cannot)?;
    file.take(MOST_OF_A_FILE + 1).read_to_end(&mut bytes).with_context(cannot)?;
    if bytes.len() as u64 > MOST_OF_A_FILE {
        bail!(Usage(format!("{shown} is no filter: it is larger than {}", format::bytes(MOST_OF_A_FILE))));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(_) => bail!(Usage(format!("{shown} is no filter: it is not text in UTF-8"))),
    }
}
