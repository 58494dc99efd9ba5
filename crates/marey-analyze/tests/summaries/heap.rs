//! What call paths have allocated.

use super::*;

/// What a call path allocated in a process: blocks and bytes; those that were freed; the most, and what there was at the
/// process's peak.
fn allocated(
    path: Option<u32>,
    process: u32,
    [blocks, bytes, freed, freed_bytes, most, then]: [u64; 6],
) -> AllocationRow {
    let (call_path, process) = (path.map(CallPathId), ProcessId(process));
    let (freed_blocks, peak, at_peak) = (freed, most, then);
    AllocationRow { call_path, process, blocks, bytes, freed_blocks, freed_bytes, peak, at_peak }
}

#[test]
fn memory_is_summed_by_call_path() {
    let heap = |process: u32, peak: u64| HeapRow {
        process: ProcessId(process),
        least: 4096,
        peak,
        peak_time: None,
        at_end: 10,
        lost_blocks: 0,
        lost_bytes: 0,
    };
    let nameless = Frame { function: "operator new".to_owned(), ..Frame::default() };
    let run = Run {
        regions: vec![
            region("mpi", "MPI_Init", "", Role::Manage),
            region("memory", "malloc", "", Role::Manage),
        ],
        call_paths: vec![path(None, 0, None), path(Some(0), 1, Some(0)), path(None, 1, Some(1))],
        stacks: vec![
            vec![frame("main", 7)],
            vec![
                nameless,
                frame("std::vector<int>::push_back(int)", 99),
                frame("solve", 30),
                frame("main", 9),
            ],
        ],
        processes: vec![
            process(0, Some(0), 1000),
            Process { peak_memory: Some(900), ..process(0, Some(1), 9) },
        ],
        allocations: vec![
            allocated(Some(1), 0, [1, 40, 0, 0, 40, 40]),
            allocated(Some(2), 0, [3, 300, 2, 200, 150, 100]),
            allocated(Some(2), 1, [2, 250, 2, 250, 180, 90]),
            allocated(None, 1, [1, 5, 0, 0, 5, 5]),
            // Of a call path that is not there.
            allocated(Some(9), 1, [1, 6, 0, 0, 6, 6]),
        ],
        // And one of a process that is not there.
        heaps: vec![heap(0, 140), heap(1, 95), heap(5, 1)],
        ..Run::default()
    };
    let rows = allocations(&run);
    let found: Vec<_> = rows
        .iter()
        .map(|row| (row.path.as_slice(), row.caller.line, row.processes, row.sum.at_peak, row.sum.peak))
        .collect();
    let expected: [(&[&str], u32, usize, u64, u64); 3] =
        [(&["malloc"], 30, 2, 190, 180), (&["MPI_Init", "malloc"], 7, 1, 40, 40), (&[], 0, 2, 11, 6)];
    assert_eq!(found, expected);
    let sum = rows[0].sum;
    assert_eq!((sum.blocks, sum.bytes, sum.blocks_at_end(), sum.bytes_at_end()), (5, 550, 1, 100));
    let processes: Vec<_> =
        memory(&run).iter().map(|row| (row.process.0, row.resident, row.heap.peak)).collect();
    assert_eq!(processes, [(0, None, 140), (1, Some(900), 95)]);
    let lines: Vec<_> =
        lines(&run, &hot(&run)).iter().map(|row| (row.line, row.allocated, row.at_peak)).collect();
    assert_eq!(lines, [(7, 40, 40), (30, 550, 190)]);
}
