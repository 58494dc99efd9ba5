//! The size of each run: what the user says, or what the run says of itself.
//!
//! The one idea: a parameter is looked for where people write it down, in a fixed order, and a run that does not tell it is
//! an error that says how to give it.

use anyhow::bail;

use crate::cli::size;
use crate::compare::Compared;
use crate::compare::metrics::number;
use crate::exit::Usage;
use crate::format;
use crate::paint::harmless;
use crate::run::Run;

/// What a run says of itself.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// Words of its title and its memo.
    notes: Vec<String>,
    /// Words of its command line.
    command: Vec<String>,
    /// Variables that all processes saw alike.
    environment: Vec<(String, String)>,
}

impl Said {
    /// Of an open run.
    pub(crate) fn of(run: &Run) -> Self {
        let facts = &run.archive.meta().run;
        let words =
            |text: &str| text.split([' ', ',', ';', '\n', '\t']).map(str::to_owned).collect::<Vec<_>>();
        Self {
            notes: [words(&facts.title), words(&facts.memo)].concat(),
            command: facts.command.clone(),
            environment: environment(run).unwrap_or_default(),
        }
    }

    /// What it says of a parameter: the first of these places that say anything, and all that it says.
    fn values(&self, name: &str) -> Vec<&str> {
        let assigned = |word: &'_ str| -> Option<usize> {
            let bare = word.strip_prefix("--").or_else(|| word.strip_prefix('-')).unwrap_or(word);
            let value = bare.strip_prefix(name)?.strip_prefix('=')?;
            Some(word.len() - value.len())
        };
        let is_option = |word: &str| {
            word.strip_prefix('-').is_some_and(|it| it == name || it.strip_prefix('-') == Some(name))
        };
        let in_notes: Vec<&str> = self.notes.iter().filter_map(|word| word.get(assigned(word)?..)).collect();
        if !in_notes.is_empty() {
            return in_notes;
        }
        let words = self.command.iter().map(String::as_str);
        let in_command: Vec<&str> = words
            .clone()
            .zip(words.skip(1).map(Some).chain([None]))
            .filter_map(|(word, next)| match assigned(word) {
                Some(from) => word.get(from..),
                None => next.filter(|_| is_option(word)),
            })
            .collect();
        if !in_command.is_empty() {
            return in_command;
        }
        self.environment.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str()).collect()
    }
}

fn environment(run: &Run) -> Option<Vec<(String, String)>> {
    let table = run.archive.table("environment").ok()?;
    let (processes, names, values) =
        (table.u32("process").ok()?, table.text("name").ok()?, table.text("value").ok()?);
    let rows = processes.iter().zip(names).zip(values);
    let alike = rows.filter(|((process, _), _)| **process == u32::MAX);
    Some(alike.map(|((_, name), value)| (name.clone(), value.clone())).collect())
}

/// What the sizes of runs are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Parameter {
    Ranks,
    Threads,
    Processes,
    Named(String),
}

impl Parameter {
    /// Its name.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Ranks => "ranks",
            Self::Threads => "threads",
            Self::Processes => "processes",
            Self::Named(name) => name,
        }
    }

    /// `16 ranks`, `n = 4096`
    pub(super) fn text(&self, size: f64) -> String {
        let one = match self {
            Self::Ranks => "rank",
            Self::Threads => "thread",
            Self::Processes => "process",
            Self::Named(name) => return format!("{} = {}", harmless(name), number(size)),
        };
        let noun = if (size - 1.0).abs() < f64::EPSILON { one } else { self.name() };
        format!("{} {noun}", number(size))
    }
}

fn n_ranks(run: &Compared) -> usize {
    run.digest.processes.iter().filter(|process| process.rank.is_some()).count()
}

fn n_threads(run: &Compared) -> usize {
    run.digest.locations.iter().filter(|at| at.lane.is_empty()).count()
}

/// The parameter, and the size of each run.
pub(super) fn sizes(runs: &[Compared], given: Option<&str>) -> anyhow::Result<(Parameter, Vec<f64>)> {
    let (name, values) = match given.map(|given| given.split_once('=').unwrap_or((given, ""))) {
        Some((name, "")) => (name.trim(), None),
        Some((name, values)) => (name.trim(), Some(values)),
        None => (default(runs)?, None),
    };
    if name.is_empty() {
        bail!(Usage("--parameter: the name is empty; it is given as NAME or NAME=VALUE,VALUE,…".to_owned()));
    }
    if let Some(values) = values {
        return Ok((Parameter::Named(name.to_owned()), listed(name, values, runs.len())?));
    }
    #[expect(clippy::cast_precision_loss, reason = "there are fewer than 2⁵³ threads")]
    let counts = |of: fn(&Compared) -> usize| runs.iter().map(|run| of(run) as f64).collect::<Vec<f64>>();
    let (parameter, sizes) = match name {
        "ranks" => (Parameter::Ranks, counts(n_ranks)),
        "threads" => (Parameter::Threads, counts(n_threads)),
        "processes" => (Parameter::Processes, counts(|run| run.digest.processes.len())),
        name => {
            let sizes = runs.iter().map(|run| said(run, name)).collect::<anyhow::Result<_>>()?;
            (Parameter::Named(name.to_owned()), sizes)
        }
    };
    if let Some(run) = sizes.iter().position(|size| *size <= 0.0) {
        bail!(Usage(format!(
            "{} has no {}; --parameter names another size",
            runs[run].name,
            parameter.name()
        )));
    }
    Ok((parameter, sizes))
}

fn default(runs: &[Compared]) -> anyhow::Result<&'static str> {
    let with_ranks = runs.iter().filter(|run| n_ranks(run) > 0).count();
    match with_ranks {
        0 => Ok("threads"),
        some if some == runs.len() => Ok("ranks"),
        _ => {
            let without = runs.iter().find(|run| n_ranks(run) == 0).map_or("", |run| run.name.as_str());
            bail!(Usage(format!(
                "{without} has no MPI ranks and others have; --parameter says what the size of a run is"
            )))
        }
    }
}

/// `1,2,4`
fn listed(name: &str, values: &str, n_runs: usize) -> anyhow::Result<Vec<f64>> {
    let read = |text: &str| {
        size(text).map_err(|why| {
            anyhow::Error::new(Usage(format!(
                "--parameter {}: `{}` is {why}",
                harmless(name),
                harmless(text)
            )))
        })
    };
    let sizes = values.split(',').map(read).collect::<anyhow::Result<Vec<f64>>>()?;
    if sizes.len() != n_runs {
        bail!(Usage(format!(
            "--parameter {} has {} for {}; each run has its own, in their order",
            harmless(name),
            format::counted(sizes.len() as u64, "value"),
            format::counted(n_runs as u64, "run")
        )));
    }
    Ok(sizes)
}

fn said(run: &Compared, name: &str) -> anyhow::Result<f64> {
    let shown = harmless(name);
    let remedy = format!("`--parameter {shown}=V1,V2,…` gives a value for each run");
    let said = run.said.values(name);
    let Some(first) = said.first() else {
        bail!(Usage(format!(
            "{} does not say what `{shown}` is, in its title, memo, command or environment; {remedy}",
            run.name
        )));
    };
    // `mpirun -n 4 ./app --n 100`
    if let Some(other) = said.iter().find(|other| *other != first) {
        bail!(Usage(format!(
            "{} says that `{shown}` is `{}` and `{}`; {remedy}",
            run.name,
            harmless(first),
            harmless(other)
        )));
    }
    size(first).map_err(|why| {
        anyhow::Error::new(Usage(format!(
            "{} says that `{shown}` is `{}`, {why}; {remedy}",
            run.name,
            harmless(first)
        )))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_says_its_parameter_where_people_write_it() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let said = Said {
            notes: words("weak n=64 x=1"),
            command: words("mpirun -n 4 ./app --cells=100 -var x 7 y=8 -steps 50 --steps 60 ---z 9 --last"),
            environment: vec![("OMP_NUM_THREADS".to_owned(), "2".to_owned())],
        };
        for (name, expected) in [
            ("n", &["64"][..]),
            ("x", &["1"]),
            ("cells", &["100"]),
            ("var", &["x"]),
            ("y", &["8"]),
            ("steps", &["50", "60"]),
            ("z", &[]),
            ("last", &[]),
            ("cell", &[]),
            ("OMP_NUM_THREADS", &["2"]),
        ] {
            assert_eq!(said.values(name), expected, "{name}");
        }
    }

    #[test]
    fn sizes_read_as_people_say_them() {
        assert_eq!(Parameter::Ranks.text(1.0), "1 rank");
        assert_eq!(Parameter::Threads.text(16.0), "16 threads");
        assert_eq!(Parameter::Named("n".to_owned()).text(0.5), "n = 0.5000");
        assert!(listed("n", "1,2,4", 3).is_ok());
        for (values, n) in [("1,2", 3), ("1,,2", 3), ("1,-2", 2), ("0,1", 2), ("inf", 1)] {
            assert!(listed("n", values, n).is_err(), "{values}");
        }
    }
}
