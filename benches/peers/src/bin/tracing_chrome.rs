//! The crates `tracing` and `tracing-chrome`: spans into a file of JSON that browsers read.

use marey_bench_peers::{call, regions, run};
use tracing_subscriber::layer::SubscriberExt;

macro_rules! span {
    ($name:literal) => {
        let _span = tracing::info_span!($name).entered();
    };
}
regions!(span);

fn main() {
    run(
        |output| {
            let file = output.join("trace.json");
            let (layer, guard) =
                tracing_chrome::ChromeLayerBuilder::new().include_locations(false).file(file).build();
            let subscriber = tracing_subscriber::registry().with(layer);
            tracing::subscriber::set_global_default(subscriber).expect("no other subscriber is set");
            guard
        },
        |choices, pairs| call((&OUTER, &INNER), choices, pairs),
        // Dropping the guard waits until everything is written.
        |guard| {
            drop(guard);
            None
        },
    );
}
