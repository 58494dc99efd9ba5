//! The crate `puffin`: frames of 1000 scopes, kept packed and saved at the end.

use marey_bench_peers::{call, regions, run};
use puffin::{GlobalFrameView, GlobalProfiler};
use std::fs::File;
use std::io::BufWriter;

macro_rules! scope {
    ($name:literal) => {
        puffin::profile_scope!($name);
    };
}
regions!(scope);

/// A scope at the top takes a global lock when it ends, so one is put around many.
const PAIRS_PER_FRAME: u64 = 1000;

fn main() {
    run(
        |output| {
            puffin::set_scopes_on(true);
            let view = GlobalFrameView::default();
            view.lock().set_max_recent(usize::MAX);
            view.lock().set_pack_frames(true);
            (view, output.join("trace.puffin"))
        },
        |choices, pairs| {
            for first in (0..pairs).step_by(PAIRS_PER_FRAME as usize) {
                {
                    puffin::profile_scope!("frame");
                    call((&OUTER, &INNER), choices, PAIRS_PER_FRAME.min(pairs - first));
                }
                GlobalProfiler::lock().new_frame();
            }
        },
        |(view, path)| {
            GlobalProfiler::lock().new_frame();
            let mut file = BufWriter::new(File::create(path).expect("OUTPUT can be written"));
            view.lock().write(&mut file).expect("OUTPUT can be written");
            None
        },
    );
}
