//! What recording costs real programs, from the start of the command to its end.
//!
//! The one idea: times of whole programs spread more than what is measured. So runs are paired, in an
//! order drawn by lot, ratios are taken within pairs, and a bound says how far to trust their median.

use super::build::Tools;
use super::floor;
use super::goal::{Goals, Target};
use super::sample::{Case, Place, Samples, take};
use super::stats::{Random, Summary, upper_bound_95};
use super::table::{Table, with_range};
use super::{MPI_ENVIRONMENT, Plan, Section};
use crate::shell::{root, which};
use anyhow::{Context, Result, bail};
use std::fs;

const TEXT: &str = "\
Elapsed time of the whole command, launcher, start-up and exit included, merge apart: plain, recorded and \
the floor one right after the other, which of them first by lot.
*Recorded* is the median of the ratios of such pairs; *95 %* is what the median lies below with that \
confidence (bootstrap).
*Floor* is the same ratio with wrappers that only read the clock twice and store 32 bytes a call: no recorder \
of all calls can be below.
LAMMPS melts 32 000 atoms, HPCC has N = 300, xdlu is the test of ScaLAPACK's LU decomposition, all on four \
ranks; NetPIPE sends 64 KiB between two.";

const WALL: &str = "program_wall_ns";

/// A real program as a user starts it.
struct Program {
    name: &'static str,
    line: String,
    files: Vec<(&'static str, String)>,
    /// Most that the median may be.
    most: f64,
}

/// Runs every program that is here.
pub(super) fn measure(plan: &Plan, tools: &Tools, goals: &mut Goals) -> Result<Section> {
    let mut table = Table::new(&["case", "plain, s", "recorded, s", "recorded", "95 %", "floor"]);
    let mut absent = Vec::new();
    for (name, program) in [
        ("program LAMMPS", lammps as fn() -> Result<Program>),
        ("program HPCC", hpcc),
        ("program NetPIPE", netpipe),
        ("program xdlu", xdlu),
    ] {
        if !plan.wants(name) {
            continue;
        }
        match program().and_then(|program| pairs(plan, tools, &program).map(|samples| (program, samples))) {
            Ok((program, samples)) => table.push(judge(&program, &samples, goals)),
            Err(error) => absent.push(format!("{name}: {error:#}")),
        }
    }
    Ok(Section { title: "Real programs", text: TEXT, table, absent })
}

fn judge(program: &Program, samples: &[Samples; 3], goals: &mut Goals) -> Vec<String> {
    let [plain, recorded, floor] = samples;
    let ratios = |samples: &Samples| -> Vec<f64> {
        samples.values(WALL).iter().zip(plain.values(WALL)).map(|(ours, theirs)| ours / theirs).collect()
    };
    let floor = Summary::of(&ratios(floor));
    let ratios = ratios(recorded);
    let bound = upper_bound_95(&ratios);
    let ratio = Summary::of(&ratios);
    goals.add(program.name, "× plain", ratio, Target::AtMost(program.most));
    if let Some(floor) = &floor {
        goals.add(program.name, "× plain, the floor", Some(*floor), Target::Open);
    }
    let unit = "× plain, 95 % bound";
    goals.add(program.name, unit, bound.and_then(|bound| Summary::of(&[bound])), Target::AtMost(1.05));
    let seconds = |samples: &Samples| with_range(samples.summary(WALL).map(|wall| wall.times(1e-9)));
    vec![
        program.name.to_owned(),
        seconds(plain),
        seconds(recorded),
        ratio.map_or("–".into(), |ratio| format!("{:.3}", ratio.median)),
        bound.map_or("–".into(), |bound| format!("{bound:.3}")),
        floor.map_or("–".into(), |floor| format!("{:.3}", floor.median)),
    ]
}

/// Times of the program plain, recorded and on the floor, one after the other.
fn pairs(plan: &Plan, tools: &Tools, program: &Program) -> Result<[Samples; 3]> {
    let preload = format!("LD_PRELOAD={}", floor::library()?);
    let floor = ["env", &preload].map(str::to_owned).to_vec();
    let cases = [Vec::new(), tools.record(&[]), floor].map(|before| {
        let line = program.line.split(' ').map(str::to_owned);
        let words = [tools.spent.clone()].into_iter().chain(before).chain(line).collect();
        Case {
            environment: MPI_ENVIRONMENT.to_vec(),
            files: program.files.clone(),
            place: Place::Output,
            ..Case::new(program.name, words)
        }
    });
    let mut samples = [(); 3].map(|()| Samples::default());
    // The first run pays for what the others find in memory, and counts for neither.
    take(plan, &cases[0], &mut Samples::default())?;
    let mut random = Random::new();
    for pair in 0..plan.program_pairs {
        eprintln!("pair {} of {}: {}", pair + 1, plan.program_pairs, program.name);
        let first = random.below(3);
        for turn in [first, (first + 1) % 3, (first + 2) % 3] {
            take(plan, &cases[turn], &mut samples[turn])?;
        }
    }
    Ok(samples)
}

fn needs(programs: &[&str]) -> Result<()> {
    match programs.iter().find(|program| which(program).is_none()) {
        Some(absent) => bail!("there is no {absent}"),
        None => Ok(()),
    }
}

fn lammps() -> Result<Program> {
    needs(&["mpirun.openmpi", "lmp"])?;
    let input = root().join("examples/lammps/in.melt");
    let input = fs::read_to_string(&input).with_context(|| format!("cannot read {}", input.display()))?;
    Ok(Program {
        name: "program LAMMPS",
        line: "mpirun.openmpi -n 4 --oversubscribe lmp -in in.melt -log none".into(),
        files: vec![("in.melt", input)],
        most: 1.02,
    })
}

fn hpcc() -> Result<Program> {
    const EXAMPLE: &str = "/usr/share/doc/hpcc/examples/_hpccinf.txt";
    needs(&["mpirun.openmpi", "hpcc"])?;
    let input = fs::read_to_string(EXAMPLE).with_context(|| format!("cannot read {EXAMPLE}"))?;
    Ok(Program {
        name: "program HPCC",
        line: "mpirun.openmpi -n 4 --oversubscribe hpcc".into(),
        files: vec![("hpccinf.txt", with_size(&input, 300)?)],
        most: 1.02,
    })
}

/// An input of HPCC with another size of its problem.
fn with_size(input: &str, size: u32) -> Result<String> {
    let is_size = |line: &&str| line.split_whitespace().nth(1) == Some("Ns");
    let line = input.lines().find(is_size).context("the input of HPCC has a line of sizes")?;
    Ok(input.replacen(line, &format!("{size} Ns"), 1))
}

fn netpipe() -> Result<Program> {
    needs(&["mpirun.openmpi", "NPopenmpi"])?;
    Ok(Program {
        name: "program NetPIPE",
        line: "mpirun.openmpi -n 2 --oversubscribe NPopenmpi -l 65536 -u 65536 -n 5000 -o np.out".into(),
        files: Vec::new(),
        most: 1.02,
    })
}

fn xdlu() -> Result<Program> {
    needs(&["mpirun.openmpi"])?;
    let directories = fs::read_dir("/usr/lib").context("cannot read /usr/lib")?;
    let tests = directories
        .filter_map(|entry| Some(entry.ok()?.path().join("scalapack/openmpi-tests")))
        .find(|tests| tests.join("xdlu").is_file())
        .context("there is no xdlu")?;
    let input = fs::read_to_string(tests.join("LU.dat")).context("cannot read LU.dat")?;
    Ok(Program {
        name: "program xdlu",
        line: format!("mpirun.openmpi -n 4 --oversubscribe {}", tests.join("xdlu").display()),
        files: vec![("LU.dat", input)],
        most: 1.05,
    })
}

#[cfg(test)]
mod tests {
    use super::with_size;

    #[test]
    fn the_size_of_the_problem_is_one_line_of_the_input() {
        let input = "1   # of problems sizes (N)\n1000   Ns\n80   NBs\n";
        assert_eq!(with_size(input, 300).unwrap(), "1   # of problems sizes (N)\n300 Ns\n80   NBs\n");
        assert!(with_size("", 300).is_err());
    }
}
