//! Every kind of record comes back as it went in; anything else is refused without a panic.

use super::*;

fn samples() -> Vec<Record<'static>> {
    let signature = Signature {
        direction: Direction::Receive,
        communicator: 3,
        peer: ANY_SOURCE,
        tag: 32_767,
        bytes: 1 << 40,
        count: 17,
        datatype: 2,
        buffer_step: -0x7fff_0000_1234,
        data: 300,
        number: 9,
    };
    let collective = CollectiveSignature {
        communicator: 0,
        root: -1,
        bytes_out: 8,
        bytes_in: 64,
        data: [u32::MAX, 7],
        number: 1 << 33,
    };
    let visits = Visits { number: 3, inside: 10, span: u64::MAX, shortest: 0, longest: 7, squares: 0.25 };
    vec![
        Record::Enter { site: 0, delta: 0 },
        Record::Enter { site: SHORT_SITES - 1, delta: 16_383 },
        Record::Enter { site: SHORT_SITES, delta: u64::MAX },
        Record::Leave { delta: 1 },
        Record::Begin { site: 1, token: 2, delta: 3 },
        Record::End { token: u64::MAX, delta: 3 },
        Record::LaneEnter { lane: 1, site: 2, delta: 3 },
        Record::LaneLeave { lane: 1, site: 300, delta: 3 },
        Record::LaneEarlier { lane: 1, site: 300, back: u64::MAX, is_enter: true },
        Record::Event { kind: 1, delta: 2, fields: b"abc" },
        Record::Attribute { kind: 1, fields: b"" },
        Record::Counter { counter: 1, delta: 2, value: -0.5 },
        Record::Edge { kind: 2, thread: 7, back: 100, noun: 0xdead_beef },
        Record::Counted { site: 1, visits: 1 << 50 },
        Record::Folded { site: 300, delta: 40, visits },
        Record::ThreadEnd { delta: 9 },
        Record::Signature { slot: 255, signature },
        Record::Send { slot: 1 },
        Record::Receive { slot: 2 },
        Record::PostSend { slot: 3, ahead: 1 },
        Record::PostReceive { slot: 4, ahead: -1 },
        Record::Sent { back: 0 },
        Record::Received { back: 5, slot: 6 },
        Record::Cancelled { back: 1 },
        Record::Freed { back: 2 },
        Record::Probed { slot: 1, ahead: 1 },
        Record::CollectiveSignature { slot: 0, signature: collective },
        Record::Collective { slot: 0 },
        Record::PostCollective { slot: 0, ahead: 1 },
        Record::Collected { back: 0 },
        Record::Rma { kind: 3, window: 1, target: -1, bytes: 8, displacement: -4, data: u32::MAX, shape: 7 },
        Record::Io { file: 1, kind: 1, bytes: 4096, offset: -1 },
        Record::ActsOn { communicator: 300 },
        Record::Access {
            access: Access { kind: 1, data: 7, target: 3, bytes: 1 << 20, offset: 4096, shape: u32::MAX },
        },
        Record::Access {
            access: Access { kind: 0, data: u32::MAX, target: -1, bytes: 0, offset: 0, shape: 0 },
        },
        Record::Unknown { opcode: op::SHORT_ENTER - 1, body: b"later" },
    ]
}

#[test]
fn every_record_comes_back() {
    let mut bytes = Vec::new();
    for record in samples() {
        record.encode(&mut bytes);
    }
    let mut at = 0;
    for record in samples() {
        assert_eq!(Record::decode(&bytes, &mut at), Some(record));
    }
    assert_eq!(at, bytes.len());
}

#[test]
fn a_cut_record_is_refused_and_the_place_kept() {
    for record in samples() {
        let mut bytes = Vec::new();
        record.encode(&mut bytes);
        for len in 0..bytes.len() {
            let mut at = 0;
            assert_eq!(Record::decode(&bytes[..len], &mut at), None, "{record:?} cut to {len}");
            assert_eq!(at, 0);
        }
    }
}

#[test]
fn enters_and_leaves_of_the_reference_workload_take_three_bytes() {
    for record in [Record::Enter { site: 49, delta: 13_000 }, Record::Leave { delta: 260 }] {
        let mut bytes = Vec::new();
        record.encode(&mut bytes);
        assert_eq!(bytes.len(), 3);
    }
}

#[test]
fn a_zero_byte_is_no_record() {
    assert_eq!(Record::decode(&[0; 16], &mut 0), None);
}
