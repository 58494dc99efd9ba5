//! Which recorders belong together.
//!
//! The one idea: in `mpirun -n 4 marey record -o RUN -- ./app` there are four recorders and one
//! run. The launcher of the job tells each process, in its environment, which step it belongs to
//! and how many processes that has; recorders with the same step share a run, and the last one to
//! end merges it.

/// One start of a parallel program by a launcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JobStep {
    /// The same for all processes of the step, and for no others on this system at the time.
    pub(crate) id: String,
    /// Number of its processes.
    pub(crate) size: usize,
}

impl JobStep {
    /// The step that this process belongs to, if it was started by a launcher.
    pub(crate) fn detect() -> Option<Self> {
        Self::read(|name| std::env::var(name).ok().filter(|value| !value.is_empty()), ancestors)
    }

    /// `ancestors` gives the command lines of the process that started this one, of its parent and so
    /// on, with zero bytes between their words.
    fn read(variable: impl Fn(&str) -> Option<String>, ancestors: impl Fn() -> Vec<Vec<u8>>) -> Option<Self> {
        let number = |name: &str| variable(name)?.parse::<usize>().ok();
        // PMIx knows the step best, whoever started it; then the launchers' own variables.
        let id = variable("PMIX_NAMESPACE")
            .or_else(|| variable("OMPI_MCA_ess_base_jobid"))
            .or_else(|| Some(format!("{}.{}", variable("SLURM_JOB_ID")?, variable("SLURM_STEP_ID")?)))
            .or_else(|| variable("PMI_RANK").map(|_| hydra_step(&ancestors())))?;
        let size = number("OMPI_COMM_WORLD_SIZE")
            .or_else(|| number("PMI_SIZE"))
            .or_else(|| number("SLURM_STEP_NUM_TASKS"))
            .or_else(|| number("SLURM_NTASKS"))?;
        // A recorder that is alone shares with nobody.
        (size > 1).then_some(Self { id, size })
    }
}

/// Hydra, MPICH's launcher, names no step to its ranks, but its proxy, which starts them or the shells and
/// wrappers that do, knows the port that the launcher listens on. Without a proxy in sight all steps look
/// alike, so that a recording which was cut short is then joined by the next of the same name.
fn hydra_step(ancestors: &[Vec<u8>]) -> String {
    let port = ancestors.iter().find_map(|line| {
        let words: Vec<&[u8]> = line.split(|&byte| byte == 0).collect();
        let pair = words.windows(2).find(|pair| pair[0] == b"--control-port")?;
        Some(String::from_utf8_lossy(pair[1]).into_owned())
    });
    port.map_or_else(|| "pmi".to_owned(), |port| format!("hydra {port}"))
}

/// The command lines of the processes that led to this one, the nearest first.
fn ancestors() -> Vec<Vec<u8>> {
    let mut lines = Vec::new();
    let mut pid = Some(std::os::unix::process::parent_id());
    // Deeper than anybody nests wrappers, in case the numbers change while they are read.
    while let Some(id) = pid.filter(|&id| id > 1 && lines.len() < 32) {
        lines.push(std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default());
        pid = parent_of(id);
    }
    lines
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program stands in brackets and may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_are_known_by_their_variables() {
        let cases = [
            ("", "alone"),
            ("PMIX_NAMESPACE=7 OMPI_COMM_WORLD_SIZE=4", "7 of 4"),
            ("OMPI_MCA_ess_base_jobid=8 OMPI_COMM_WORLD_SIZE=2", "8 of 2"),
            ("PMI_RANK=1 PMI_SIZE=3", "hydra n0:41 of 3"),
            ("SLURM_JOB_ID=9 SLURM_STEP_ID=0 SLURM_NTASKS=2", "9.0 of 2"),
            ("PMIX_NAMESPACE=7 OMPI_COMM_WORLD_SIZE=1", "alone"),
        ];
        for (variables, expected) in cases {
            let look_up = |name: &str| {
                let mut pairs = variables.split(' ').filter_map(|pair| pair.split_once('='));
                pairs.find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
            };
            let shell = b"sh\0./wrapper\0".to_vec();
            let proxy = b"hydra_pmi_proxy\0--control-port\0n0:41\0--rmk\0user\0".to_vec();
            let found = JobStep::read(look_up, || vec![shell.clone(), proxy.clone()])
                .map_or_else(|| "alone".to_owned(), |step| format!("{} of {}", step.id, step.size));
            assert_eq!(found, expected, "{variables}");
        }
    }

    #[test]
    fn without_a_proxy_the_steps_of_hydra_are_alike() {
        for line in [&b""[..], b"sh\0-c\0marey record\0", b"hydra_pmi_proxy\0--control-port"] {
            let variable = |name: &str| name.starts_with("PMI_").then(|| "2".to_owned());
            let step = JobStep::read(variable, || vec![line.to_vec()]).expect("two processes");
            assert_eq!(step.id, "pmi");
        }
    }
}
