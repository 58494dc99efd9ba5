//! Perfetto traces: track events of programs, wherever they were recorded.
//!
//! The one idea: the file is gone through twice. First for what holds wherever it stands, which is tracks and clocks; then
//! for the events, which need no order: packets of different threads come as the buffers were emptied.
//!
//! * [`convert`]: what becomes of each packet and event. * [`stream`]: packets out of a file.
//! * [`sequence`], [`clocks`], [`tracks`]: what packets refer to. * [`event`], [`arguments`]: what an event says.
//!
//! Source: the `.proto` files of the Perfetto project. Deliberately absent: what the kernel and the system record (ftrace,
//! Android, samples of stacks), which is counted by kind only; several machines in one trace.

mod arguments;
mod clocks;
mod convert;
mod event;
mod sequence;
mod stream;
mod tracks;

use std::path::Path;

use self::convert::Conversion;
pub(crate) use self::stream::is_it;
use self::stream::{Next, Stream, opened};
use crate::problems::kind;
use crate::protobuf::Fields;
use crate::{Error, Fate, Imported, Progress};

/// A kind of track events: the letter that older ones have, name, fate, and what becomes of it.
struct Kind {
    phase: Option<char>,
    name: &'static str,
    fate: Fate,
    becomes: &'static str,
}

const fn kind(phase: char, name: &'static str, fate: Fate, becomes: &'static str) -> Kind {
    Kind { phase: Some(phase), name, fate, becomes }
}

/// Kinds by their letter; those of the newer types are the first three.
const KINDS: &[Kind] = &[
    kind('B', "slice begin", Fate::Mapped, "a region is entered; its annotations are facts about it"),
    kind('E', "slice end", Fate::Mapped, "it is left; further annotations are facts about it"),
    kind('i', "instant", Fate::Kept, "an event"),
    kind('I', "instant (older)", Fate::Kept, "an event"),
    kind(
        'X',
        "complete",
        Fate::Mapped,
        "a region is entered and left; one that overlaps others without lying within is a state beside them",
    ),
    kind('C', "counter (older)", Fate::Mapped, "a counter for each number among its annotations"),
    kind('b', "asynchronous begin", Fate::Mapped, "a state begins; with annotations also an event"),
    kind('n', "asynchronous instant", Fate::Kept, "an event"),
    kind('e', "asynchronous end", Fate::Mapped, "the state ends; with annotations also an event"),
    kind('S', "asynchronous begin (older)", Fate::Mapped, "as `b`"),
    kind('T', "asynchronous step (older)", Fate::Kept, "an event"),
    kind('p', "asynchronous step back (older)", Fate::Kept, "an event"),
    kind('F', "asynchronous end (older)", Fate::Mapped, "as `e`"),
    kind('s', "flow begin", Fate::Mapped, "an edge from here, within a process"),
    kind('t', "flow step", Fate::Mapped, "an edge to here, and one from here"),
    kind('f', "flow end", Fate::Mapped, "an edge to here, or to the next region"),
    kind('M', "metadata", Fate::Mapped, "names of processes and threads; all else is an event"),
    kind('P', "sample", Fate::Kept, "an event"),
    kind('N', "object created", Fate::Kept, "an event"),
    kind('O', "object snapshot", Fate::Kept, "an event"),
    kind('D', "object destroyed", Fate::Kept, "an event"),
    kind('R', "mark", Fate::Kept, "an event"),
    kind('c', "clock synchronisation", Fate::Kept, "an event"),
    kind('(', "context begin", Fate::Kept, "an event"),
    kind(')', "context end", Fate::Kept, "an event"),
    kind('v', "memory dump", Fate::Kept, "an event"),
    kind('V', "memory dump of all", Fate::Kept, "an event"),
];

const COUNTER: Kind =
    Kind { phase: None, name: "counter", fate: Fate::Mapped, becomes: "a counter has a value from now on" };
const OTHER: Kind =
    Kind { phase: None, name: "track event of no known type", fate: Fate::Kept, becomes: "an event" };

/// Kinds of packets besides track events, by the field that holds what they say. Those that are read come first.
const PACKETS: &[(u32, &str, &str)] = &[
    (60, "track_descriptor", "a thread or another track, and the process it is of"),
    (44, "thread_descriptor", "a thread, to which the events of its sequence belong"),
    (43, "process_descriptor", "number, command line and name of a process"),
    (2, "process_tree", "names of processes and threads"),
    (6, "clock_snapshot", "what all clocks show: the way from one to the other, and the date"),
    (50, "compressed_packets", "the packets within"),
    (1, "ftrace_events", ""),
    (4, "inode_file_map", ""),
    (5, "chrome_events", ""),
    (7, "sys_stats", ""),
    (9, "process_stats", ""),
    (33, "trace_config", ""),
    (34, "ftrace_stats", ""),
    (35, "trace_stats", ""),
    (36, "synchronization_marker", ""),
    (37, "profile_packet", ""),
    (38, "battery", ""),
    (39, "android_log", ""),
    (40, "power_rails", ""),
    (45, "system_info", ""),
    (46, "trigger", ""),
    (47, "packages_list", ""),
    (48, "chrome_benchmark_metadata", ""),
    (49, "perfetto_metatrace", ""),
    (51, "chrome_metadata", ""),
    (52, "gpu_counter_event", ""),
    (53, "gpu_render_stage_event", ""),
    (54, "streaming_profile_packet", ""),
    (56, "heap_graph", ""),
    (57, "graphics_frame_event", ""),
    (61, "module_symbols", ""),
    (62, "vulkan_memory_event", ""),
    (63, "gpu_log", ""),
    (64, "deobfuscation_mapping", ""),
    (65, "vulkan_api_event", ""),
    (66, "perf_sample", ""),
    (67, "cpu_info", ""),
    (68, "smaps_packet", ""),
    (69, "service_event", ""),
    (70, "initial_display_state", ""),
    (71, "gpu_mem_total_event", ""),
    (72, "extension_descriptor", ""),
    (73, "memory_tracker_snapshot", ""),
    (74, "streaming_allocation", ""),
    (75, "streaming_free", ""),
    (76, "frame_timeline_event", ""),
    (77, "android_energy_estimation_breakdown", ""),
    (78, "ui_state", ""),
    (82, "translation_table", ""),
    (83, "android_game_intervention_list", ""),
    (84, "statsd_atom", ""),
    (86, "android_system_property", ""),
    (88, "network_packet", ""),
    (89, "trace_uuid", ""),
    (90, "track_event_range_of_interest", ""),
    (91, "entity_state_residency", ""),
    (92, "network_packet_bundle", ""),
    (93, "surfaceflinger_layers_snapshot", ""),
    (94, "surfaceflinger_transactions", ""),
    (95, "etw_events", ""),
    (96, "shell_transition", ""),
    (97, "shell_handler_mappings", ""),
    (99, "v8_js_code", ""),
    (100, "v8_internal_code", ""),
    (101, "v8_wasm_code", ""),
    (102, "v8_reg_exp_code", ""),
    (103, "v8_code_move", ""),
    (104, "protolog_message", ""),
    (105, "protolog_viewer_config", ""),
    (107, "remote_clock_sync", ""),
    (109, "chrome_trigger", ""),
    (110, "pixel_modem_events", ""),
    (111, "pixel_modem_token_database", ""),
    (112, "winscope_extensions", ""),
    (113, "clone_snapshot_trigger", ""),
    (114, "bluetooth_trace_event", ""),
    (115, "kernel_wakelock_data", ""),
    (116, "app_wakelock_bundle", ""),
    (117, "generic_kernel_task_state_event", ""),
    (118, "generic_kernel_cpu_freq_event", ""),
    (119, "cpu_per_uid_data", ""),
    (120, "generic_kernel_task_rename_event", ""),
    (121, "evdev_event", ""),
    (122, "generic_kernel_process_tree", ""),
    (123, "user_list", ""),
    (124, "trace_provenance", ""),
    (125, "protovms", ""),
    (126, "trace_attributes", ""),
    (127, "android_aflags", ""),
    (128, "gpu_info", ""),
    (129, "generic_gpu_frequency_event", ""),
    (130, "interrupt_info", ""),
    (131, "art_process_metadata", ""),
    (132, "journald_event", ""),
    (133, "zstd_compressed_packets", ""),
    (134, "concurrent_session_event", ""),
    (135, "stack_sample", ""),
    (138, "recovered_trace_info", ""),
    (139, "source_file", ""),
    (140, "module_disassembly", ""),
    (900, "for_testing", ""),
];

/// Turns the trace in this file into a spool.
///
/// # Errors
/// If files cannot be read or written.
pub(crate) fn import(file: &Path, spool: &Path, progress: &dyn Progress) -> Result<Imported, Error> {
    let len = std::fs::metadata(file).map_or(0, |it| it.len());
    progress.begin(len.saturating_mul(3));
    let mut conversion = Conversion::new(file, spool);
    walk(file, progress, &mut |packet, _| {
        conversion.learn(packet);
        Ok(())
    })?;
    let walked = walk(file, progress, &mut |packet, at| conversion.packet(packet, at))?;
    if let Some((at, what)) = walked.damage {
        conversion.damage(at, what);
    }
    let problems = conversion.problems();
    problems.add(kind::DAMAGED, "compressed packets that cannot be opened in full", walked.n_not_opened);
    problems.add(kind::DAMAGED, "compressed packets within compressed ones", walked.n_nested);
    conversion.finish(spool, (progress, len))
}

/// What was found besides packets.
#[derive(Debug, Default)]
struct Walked {
    damage: Option<(u64, &'static str)>,
    n_not_opened: u64,
    n_nested: u64,
}

/// Takes a packet and the byte at which it, or what it is compressed in, begins.
type On<'a> = &'a mut dyn FnMut(&[u8], u64) -> Result<(), Error>;

/// Goes through all packets, also compressed ones.
fn walk(file: &Path, progress: &dyn Progress, on: On<'_>) -> Result<Walked, Error> {
    let mut stream = Stream::open(file)?;
    let mut walked = Walked::default();
    loop {
        match stream.next()? {
            Next::End => break,
            Next::Damage(at, what) => {
                walked.damage = Some((at, what));
                break;
            }
            Next::Packet(packet, at) => {
                on(packet, at)?;
                for compressed in compressed(packet) {
                    let (bytes, is_all) = opened(compressed);
                    let mut packets = Fields::new(&bytes);
                    for (_, packet) in packets.by_ref().filter(|it| it.0 == 1) {
                        walked.n_nested += self::compressed(packet.bytes()).count() as u64;
                        on(packet.bytes(), at)?;
                    }
                    walked.n_not_opened += u64::from(!is_all || packets.is_damaged);
                }
            }
        }
        let read = stream.take_read();
        if read > 0 {
            progress.advance(read);
        }
    }
    progress.advance(stream.take_read());
    Ok(walked)
}

fn compressed(packet: &[u8]) -> impl Iterator<Item = &[u8]> {
    Fields::new(packet).filter(|it| it.0 == 50).map(|it| it.1.bytes())
}

/// Name and fate of a kind of packets.
fn packet_kind(number: u32) -> (String, Fate) {
    match PACKETS.iter().find(|it| it.0 == number) {
        Some((_, name, becomes)) => {
            (format!("{name} ({number})"), if becomes.is_empty() { Fate::Ignored } else { Fate::Mapped })
        }
        None => (format!("packet field {number}"), Fate::Ignored),
    }
}

/// The table of all kinds of events and packets, in Markdown.
pub(crate) fn document() -> String {
    let mut text = String::from(
        "## Perfetto\n\nTraces of Perfetto and of what writes its format, perhaps compressed by gzip: the track events in them.\n\
         A thread is what has the numbers of a process and a thread; any other track is one of the process of its ancestors, or of one that is called `trace`. A number of a process that is used again is the same process.\n\
         A region is of the level that its first category names, or of MPI if it is called so; one without is of the source. Its place is that of the function that runs, where the trace has it.\n\
         Times of all clocks are brought to the trace's by the latest snapshot before them; those of a clock that no snapshot has are taken as they are, and counted.\n\
         Flows are edges from each event with their number to the next, within a process; from one process to another they are counted as a problem.\n\
         Values of counters are multiplied by their unit's factor, and added up where they are differences; those of no thread are those of their process.\n\
         Annotations that have parts are texts in JSON; texts are cut off after 4096 bytes, and arguments of more than 15 KiB left out and counted. Typed arguments other than places in the source, log messages and correlations are counted by their number.\n\
         Packets that need what their sequence has lost are left out and counted, as are those compressed by zstd.\n\n\
         | event | phase | fate | in a run |\n|---|---|---|---|\n",
    );
    for Kind { phase, name, fate, becomes } in KINDS.iter().chain([&COUNTER, &OTHER]) {
        let phase = phase.map_or(String::new(), |phase| format!("`{phase}`"));
        text += &format!("| {name} | {phase} | {} | {becomes} |\n", fate.name());
    }
    text += "\n| packet | field | fate | in a run |\n|---|--:|---|---|\n";
    for (number, name, becomes) in PACKETS {
        let (fate, becomes) = match *becomes {
            "" => (Fate::Ignored, "only counted"),
            becomes => (Fate::Mapped, becomes),
        };
        text += &format!("| `{name}` | {number} | {} | {becomes} |\n", fate.name());
    }
    text + "| any other | | ignored | only counted |\n"
}
