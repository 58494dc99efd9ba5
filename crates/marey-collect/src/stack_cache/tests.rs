//! The cache against stacks that are arrays of words: what it takes for known must depend on all that
//! the stack depended on, and on nothing else.

use super::*;

/// A stack in memory, grown downwards from its last word.
struct Memory(Vec<u64>);

const IP: usize = 0x40_1234;
const SEND: What = What { function: 7, noun: 0 };

impl Memory {
    fn new(words: usize) -> Self {
        Self((0..words as u64).map(|word| 0x7f00_0000_0000 + 16 * word).collect())
    }

    /// A call that sees the stack from word `from` on.
    fn call(&self, from: usize) -> EntryRegs {
        EntryRegs { ip: IP, sp: (&raw const self.0[from]) as usize, rbp: 0x1000 }
    }
}

fn find(cache: &mut StackCache, what: What, regs: EntryRegs) -> Option<u32> {
    // SAFETY: the tests know slots within their arrays only.
    unsafe { cache.find(what, regs) }.map(|site| site.0)
}

fn insert(cache: &mut StackCache, what: What, regs: EntryRegs, slots: &[usize], site: u32) {
    insert_with(cache, what, StackCapture::of_slots(regs, false, slots), site);
}

fn insert_with(cache: &mut StackCache, what: What, capture: StackCapture, site: u32) {
    // SAFETY: as in `find`.
    unsafe { cache.insert(what, capture.entry(), &capture, SiteId(site)) };
}

/// A stack of these slots is known as long as each of them is as it was, and no other word matters.
/// So it is when it was expected, and when it was not.
#[track_caller]
fn check(words: usize, slots: &[usize]) {
    for is_expected in [true, false] {
        let mut memory = Memory::new(words);
        let regs = memory.call(0);
        let mut cache = StackCache::new();
        insert(&mut cache, SEND, regs, slots, 1);
        let other = What { function: 8, noun: 0 };
        insert(&mut cache, other, regs, &[], 2);
        let mut ask = |memory: &Memory, what| {
            // Wherever the cache stands: a call that was found twice in a row is expected again.
            let before = if is_expected { what } else { other };
            let _: [_; 3] = core::array::from_fn(|_| find(&mut cache, before, memory.call(0)));
            find(&mut cache, what, memory.call(0))
        };
        assert_eq!(ask(&memory, SEND), Some(1));
        for word in 1..words.min(200).max(slots.last().map_or(1, |slot| slot + 1)) {
            memory.0[word] ^= 8;
            let expected = if slots.contains(&word) { None } else { Some(1) };
            assert_eq!(ask(&memory, SEND), expected, "word {word} of {slots:?}");
            memory.0[word] ^= 8;
        }
        assert_eq!(ask(&memory, SEND), Some(1));
        assert_eq!(ask(&memory, What { noun: 1, ..SEND }), None);
    }
}

#[test]
fn every_slot_of_a_shape_matters() {
    for n in 0..=MAX_SLOTS_OF_A_WALK {
        let slots: Vec<usize> = (0..n).map(|slot| 1 + 2 * slot).collect();
        check(2 * MAX_SLOTS_OF_A_WALK + 2, &slots);
    }
}

const MAX_SLOTS_OF_A_WALK: usize = 96;

#[test]
fn slots_may_lie_far_away() {
    check(1 << 16, &[3, (1 << 16) - 1]);
    check((1 << 16) + 8, &[3, 1 << 16, (1 << 16) + 5]);
}

#[test]
fn the_order_of_the_values_matters() {
    for n in [2, 8, 12, 15, 16, 40] {
        let mut memory = Memory::new(64);
        let slots: Vec<usize> = (1..=n).collect();
        let mut cache = StackCache::new();
        insert(&mut cache, SEND, memory.call(0), &slots, 1);
        for (a, b) in (1..=n).flat_map(|a| (1..a).map(move |b| (a, b))) {
            memory.0.swap(a, b);
            assert_eq!(find(&mut cache, SEND, memory.call(0)), None, "{a} and {b} of {n}");
            memory.0.swap(a, b);
        }
        assert_eq!(find(&mut cache, SEND, memory.call(0)), Some(1));
    }
}

#[test]
fn the_frame_pointer_matters_if_the_walk_used_it() {
    let memory = Memory::new(64);
    for slots in [&[1, 2][..], &[2; 40]] {
        for uses_rbp in [false, true] {
            let regs = memory.call(0);
            let mut cache = StackCache::new();
            insert_with(&mut cache, SEND, StackCapture::of_slots(regs, uses_rbp, slots), 1);
            let moved = EntryRegs { rbp: regs.rbp + 16, ..regs };
            assert_eq!(find(&mut cache, SEND, moved), (!uses_rbp).then_some(1));
            assert_eq!(find(&mut cache, SEND, regs), Some(1));
        }
    }
}

#[test]
fn a_stack_is_known_at_its_place_only() {
    let mut memory = Memory::new(64);
    memory.0.fill(5);
    let mut cache = StackCache::new();
    insert(&mut cache, SEND, memory.call(8), &[1, 2, 3], 1);
    assert_eq!(find(&mut cache, SEND, memory.call(9)), None);
    assert_eq!(find(&mut cache, SEND, EntryRegs { ip: IP + 1, ..memory.call(8) }), None);
    assert_eq!(find(&mut cache, SEND, memory.call(8)), Some(1));
}

/// Values that are the same, but in other slots: the walks have gone different ways.
#[test]
fn shapes_are_told_apart_by_their_slots() {
    let mut memory = Memory::new(64);
    let mut cache = StackCache::new();
    insert(&mut cache, SEND, memory.call(0), &[1, 2], 1);
    memory.0[1] = 9;
    insert(&mut cache, SEND, memory.call(0), &[1, 4], 2);
    // Of the second stack's slots, the values that the first stack had in its own.
    let first = Memory::new(64);
    (memory.0[1], memory.0[4], memory.0[2]) = (first.0[1], first.0[2], 77);
    assert_eq!(find(&mut cache, SEND, memory.call(0)), None);
    memory.0[2] = first.0[2];
    assert_eq!(find(&mut cache, SEND, memory.call(0)), Some(1));
}

#[test]
fn thousands_of_stacks_at_one_place_and_at_many() {
    let mut memory = Memory::new(200);
    memory.0.fill(1 << 40);
    let mut cache = StackCache::new();
    let site = |place: usize, stack: usize| (place * 1000 + stack) as u32;
    let each = || (0..100).flat_map(|stack| (0..100).map(move |place| (place, stack)));
    // Each place has stacks of as many shapes as are tried.
    let slots = |stack: usize| [1, 2, 3 + stack % MAX_SHAPES];
    for (place, stack) in each() {
        memory.0[place + 1] = stack as u64;
        assert_eq!(find(&mut cache, SEND, memory.call(place)), None);
        insert(&mut cache, SEND, memory.call(place), &slots(stack), site(place, stack));
        memory.0[place + 1] = 1 << 40;
    }
    // Forwards as expected, then in an order that no prediction gets right.
    let shuffled = || (0..10_000).map(|i| (i * 7919) % 10_000).map(|i| (i % 100, i / 100));
    for (place, stack) in each().chain(shuffled()) {
        memory.0[place + 1] = stack as u64;
        assert_eq!(find(&mut cache, SEND, memory.call(place)), Some(site(place, stack)));
        memory.0[place + 1] = 1 << 40;
    }
}

#[test]
fn more_shapes_than_are_tried_do_not_hide_the_last_one() {
    let mut memory = Memory::new(200);
    let mut cache = StackCache::new();
    for shape in 0..10 * MAX_SHAPES {
        memory.0[1] = shape as u64;
        insert(&mut cache, SEND, memory.call(0), &[1, 2 + shape], shape as u32);
        for known in (shape + 1).saturating_sub(MAX_SHAPES)..=shape {
            memory.0[1] = known as u64;
            assert_eq!(find(&mut cache, SEND, memory.call(0)), Some(known as u32));
        }
    }
}

#[test]
fn a_full_cache_begins_anew() {
    let mut memory = Memory::new(8);
    let mut cache = StackCache::new();
    cache.epoch = 3;
    for stack in 0..=MAX_STACKS as u32 {
        memory.0[1] = stack.into();
        insert(&mut cache, SEND, memory.call(0), &[1], stack);
        assert_eq!(find(&mut cache, SEND, memory.call(0)), Some(stack));
    }
    memory.0[1] = 5;
    assert_eq!(find(&mut cache, SEND, memory.call(0)), None);
    assert_eq!(cache.epoch, 3);
}

/// Runs a program of functions, and returns for each call whether it came as expected.
fn expected(cache: &mut StackCache, memory: &Memory, calls: &str) -> String {
    let mut seen = String::new();
    for call in calls.bytes() {
        let what = What { function: call.into(), noun: 0 };
        let guess = cache.stacks.get(usize::from(cache.next)).map(|stack| stack.site);
        if find(cache, what, memory.call(0)).is_none() {
            insert(cache, what, memory.call(0), &[1, 2], call.into());
        }
        seen.push(if guess == Some(call.into()) { '+' } else { '-' });
    }
    seen
}

#[test]
fn prediction_follows_a_change_at_the_second_time() {
    let memory = Memory::new(8);
    let mut cache = StackCache::new();
    assert_eq!(expected(&mut cache, &memory, "abcabcabc"), "----+++++");
    // One other call does not make `a` forget `b`, two in a row do.
    assert_eq!(expected(&mut cache, &memory, "axabc"), "+--++");
    assert_eq!(expected(&mut cache, &memory, "axaxax"), "+-+-++");
    // And back again.
    assert_eq!(expected(&mut cache, &memory, "abcabc"), "+-++-+");
}
