//! Which block of the heap a message was sent from: of a program that is not ours each message is compared with a log of all
//! blocks, made in another run without the recorder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::mpi_counts::application;
use crate::support::{Compiler, Job, Mpi, Place, Run, cached, need, which};

/// What a message was sent from.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Holder {
    Stack,
    Block {
        /// Bytes from its beginning.
        offset: i64,
        size: i64,
        /// The calls on the way to it, innermost first: library and address there.
        calls: Vec<(String, i64)>,
    },
}

const RANKS: u32 = 4;

fn log() -> Option<PathBuf> {
    let compiler = which(Mpi::Open.compiler(Compiler::C))?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/blocks.c");
    Some(cached("blocks", &[source.clone(), compiler.clone()], "libblocks.so", |library| {
        let mut build = Command::new(&compiler);
        build.args(["-shared", "-fPIC", "-O2", "-Wall", "-o"]).args([library, &source]).arg("-ldl");
        assert!(build.status().unwrap().success(), "{build:?}");
    }))
}

/// What the log says, by rank in the order of messages.
fn said(dir: &Path, rank: u32) -> Vec<Holder> {
    let text = std::fs::read_to_string(dir.join(format!("blocks.{rank}"))).unwrap();
    let place = |text: &&str| {
        let (library, address) = text.rsplit_once('+').unwrap();
        (library.to_owned(), address.parse::<i64>().unwrap())
    };
    let number = |text: &str| text.parse::<i64>().unwrap();
    let holder = |line: &str| match line.split('\t').collect::<Vec<_>>()[..] {
        [_, "stack"] => Holder::Stack,
        [at, "heap", from, size, ref calls @ ..] => Holder::Block {
            offset: number(at) - number(from),
            size: number(size),
            calls: calls.iter().map(place).filter(|(library, _)| library != "libblocks.so").collect(),
        },
        _ => panic!("{line}"),
    };
    text.lines().map(holder).collect()
}

/// The same as the archive has it.
fn told(run: &Run, rank: u32) -> Vec<Holder> {
    let (messages, arrays) = (run.table("messages"), run.table("arrays"));
    let (stacks, modules) = (run.table("stacks"), run.table("modules"));
    let mut calls: BTreeMap<u32, Vec<(u32, String, i64)>> = BTreeMap::new();
    let paths = modules.text("path").unwrap();
    for row in 0..stacks.len() {
        let module = stacks.u32("module").unwrap()[row] as usize;
        let library = paths.get(module).map_or("?", |path| path.rsplit('/').next().unwrap());
        let frame =
            (stacks.u32("frame").unwrap()[row], library.to_owned(), stacks.i64("vaddr").unwrap()[row]);
        calls.entry(stacks.u32("id").unwrap()[row]).or_default().push(frame);
    }
    calls.values_mut().for_each(|frames| frames.sort());
    let ranks = run.table("locations").i64("rank").unwrap().to_vec();
    let sender = messages.u32("send_location").unwrap();
    let mut rows: Vec<usize> =
        (0..messages.len()).filter(|&row| ranks[sender[row] as usize] == i64::from(rank)).collect();
    rows.sort_by_key(|&row| messages.i64("send_time").unwrap()[row]);
    let holder = |row: usize| {
        let array = messages.u32("send_array").unwrap()[row] as usize;
        match arrays.text("kind").unwrap()[array].as_str() {
            "frame" => Holder::Stack,
            "block" => Holder::Block {
                offset: messages.i64("send_buffer").unwrap()[row] - arrays.i64("address").unwrap()[array],
                size: arrays.i64("bytes").unwrap()[array],
                calls: calls[&arrays.u32("stack").unwrap()[array]]
                    .iter()
                    .map(|(_, library, address)| (library.clone(), *address))
                    .collect(),
            },
            other => panic!("message {row} is sent from what is called {other}"),
        }
    };
    rows.into_iter().map(holder).collect()
}

/// Of an address of the log, to which a call returns, the archive has the byte before or itself.
fn is_alike(told: &Holder, said: &Holder) -> bool {
    let (Holder::Block { offset, size, calls }, Holder::Block { offset: at, size: large, calls: of_log }) =
        (told, said)
    else {
        return told == said;
    };
    let is_same = |((library, address), (name, returns)): (&(String, i64), &(String, i64))| {
        library == name && (0..=1).contains(&(returns - address))
    };
    !calls.is_empty() && (offset, size) == (at, large) && calls.iter().zip(of_log).all(is_same)
}

#[test]
fn messages_of_lammps_are_sent_from_the_blocks_that_a_log_of_all_has() {
    let lammps = need!(application("lmp"), "LAMMPS");
    let log = need!(log(), "a compiler for Open MPI");
    let place = Place::new();
    let text = include_str!("../../../../examples/lammps/in.melt").replace("run             100", "run 20");
    assert!(text.contains("run 20"));
    let input = place.path().join("in.melt");
    std::fs::write(&input, text).unwrap();
    let job = || Job::new(Mpi::Open, RANKS, &lammps).arg("-in").arg(&input).arg("-log").arg("none");
    let (alone, recorded) = (place.dir("alone"), place.dir("recorded"));
    let output = job().env("LD_PRELOAD", log).plain(&alone);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let run = job().record(&recorded);
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    let mut blocks = 0;
    for rank in 0..RANKS {
        let (said, told) = (said(&alone, rank), told(&run, rank));
        assert_eq!(told.len(), said.len(), "rank {rank}");
        for (number, (told, said)) in told.iter().zip(&said).enumerate() {
            assert!(
                is_alike(told, said),
                "message {number} of rank {rank}: {told:#?}\nand by the log {said:#?}"
            );
        }
        blocks += said.iter().filter(|it| **it != Holder::Stack).count();
        // What LAMMPS sends from is made in several places.
        let mut places: Vec<_> = told
            .iter()
            .filter_map(|it| match it {
                Holder::Block { calls, .. } => Some(calls),
                Holder::Stack => None,
            })
            .collect();
        places.sort();
        places.dedup();
        assert!(places.len() >= 2, "{places:?}");
    }
    // Two by two bricks, each with one neighbour in either direction: all but those across.
    let buffers = run.json("report")["buffers"].clone();
    let most = buffers.as_array().unwrap().iter().max_by_key(|row| row["sent_bytes"].as_u64()).unwrap();
    assert_eq!(most["pattern"], "neighbours", "{buffers:#}");
    assert!(blocks > 500, "{blocks} messages from blocks");
}
