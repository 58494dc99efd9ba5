//! From `MPI_Init` to the end of the world.

use marey_measure::{Runtime, message};
use marey_model::spool::{Definition, EndingKind};

use super::call::{Passing, Real};
use super::flavour::{Family, flavour};
use super::real::ask;
use super::{communicator, exchange};

/// `MPI_Init` and `MPI_Init_thread`.
pub(crate) unsafe fn init<const N: usize>(mut p: Passing<N, impl Real<N>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        p.record(u32::MAX, |p, open| {
            let enter = open.runtime.ticks();
            let world = world_key();
            if let Some(world) = &world {
                exchange::announce(open.runtime, world);
            }
            if p.pass() {
                define_world(open.runtime, enter, world);
            }
            open.finish_plain();
        })
    }
}

fn define_world(runtime: &Runtime, enter: u64, world: Option<String>) {
    let flavour = flavour();
    let (mut size, mut rank, mut level) = (0_i32, 0_i32, 0_i32);
    ask!(PMPI_Comm_size(flavour.comm_world, &raw mut size));
    ask!(PMPI_Comm_rank(flavour.comm_world, &raw mut rank));
    ask!(PMPI_Query_thread(&raw mut level));
    // MPI_THREAD_MULTIPLE is the highest level; its value is 3 in both families.
    if level >= 3 {
        message::set_concurrent();
    }
    let mut version = [0_u8; 8192];
    let mut len = 0_i32;
    ask!(PMPI_Get_library_version(version.as_mut_ptr(), &raw mut len));
    let version = &version[..usize::try_from(len).unwrap_or(0).min(version.len())];
    let leave = runtime.ticks();
    if let Some(world) = &world {
        exchange::at_start(runtime, world, rank, size);
    }
    let definition = Definition::Mpi {
        flavour: u8::from(flavour.family == Family::Mpich),
        library: library_name(&String::from_utf8_lossy(version)),
        world: world.unwrap_or_else(|| key_without_launcher(size)),
        size: size.max(0).unsigned_abs(),
        rank: rank.max(0).unsigned_abs(),
        thread_level: level.max(0).unsigned_abs(),
        enter,
        leave,
    };
    runtime.define(|definitions| definitions.define(&definition));
    communicator::define_predefined(runtime);
}

/// `Open MPI v4.1.4, package: …` and `MPICH Version: 4.0.2` in a few words.
fn library_name(version: &str) -> String {
    let line = version.trim_end_matches('\0').lines().next().unwrap_or_default();
    let line = line.split(',').next().unwrap_or_default();
    line.replace("Version:", "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What all processes of one `MPI_COMM_WORLD` agree in and those of another differ in: the name
/// that the launcher has given to the job step.
pub(crate) fn world_key() -> Option<String> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    if let Some(name) = variable("PMIX_NAMESPACE").or_else(|| variable("OMPI_MCA_ess_base_jobid")) {
        return Some(name);
    }
    if let Some(key) = hydra_key() {
        return Some(key);
    }
    if let (Some(job), Some(step)) = (variable("SLURM_JOB_ID"), variable("SLURM_STEP_ID")) {
        return Some(format!("slurm {job}.{step}"));
    }
    variable("PMI_JOBID").or_else(|| variable("PALS_APID"))
}

/// Started without a launcher, a process is a world of its own; of an unknown launcher the ranks
/// have the parent in common.
fn key_without_launcher(size: i32) -> String {
    let pid = if size <= 1 { std::process::id() } else { std::os::unix::process::parent_id() };
    format!("process {pid}")
}

/// MPICH's launcher starts processes from a proxy whose command line names the launcher's port and
/// the number of the process group. Between the proxy and a rank there may be shells, wrappers and
/// `marey record`. (That looks at the port too, to tell job steps apart: it may not know this crate.)
fn hydra_key() -> Option<String> {
    std::env::var_os("PMI_RANK")?;
    let mut pid = std::os::unix::process::parent_id();
    // Deeper than anybody nests wrappers, in case the numbers change while they are read.
    for _ in 0..32 {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let words: Vec<&[u8]> = line.split(|&byte| byte == 0).collect();
        let after = |option: &[u8]| {
            let at = words.iter().position(|&word| word == option)?;
            words.get(at + 1).map(|word| String::from_utf8_lossy(word).into_owned())
        };
        if let Some(port) = after(b"--control-port") {
            return Some(format!("hydra {port} {}", after(b"--pgid").unwrap_or_default()));
        }
        pid = parent_of(pid)?;
    }
    None
}

/// The parent of a process, unless that is the first of all.
fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program stands in brackets and may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(1)?.parse().ok().filter(|&parent| parent > 1)
}

/// `MPI_Finalize`.
pub(crate) unsafe fn finalize(mut p: Passing<0, impl Real<0>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        p.record(u32::MAX, |p, open| {
            exchange::at_end(open.runtime);
            p.pass();
            open.finish_plain();
        })
    }
}

/// `(comm, errorcode)`.
pub(crate) unsafe fn abort(mut p: Passing<2, impl Real<2>>) -> usize {
    let [comm, code] = p.args;
    // SAFETY: arguments are those of the class.
    unsafe {
        p.record(communicator::communicator_noun(comm), |p, open| {
            open.runtime.end(EndingKind::MpiAbort, i64::from(code as i32));
            p.pass();
            open.finish_plain();
        })
    }
}
