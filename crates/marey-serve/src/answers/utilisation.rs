//! What locations did up to an instant: waiting, absent, busy; and what is on its way to and from them then.
//!
//! The one idea: everything is counted from the start of the run, so that what is seen while time goes on only grows.

use marey_analyze::Trace;
use marey_model::LocationId;

use super::flows::read;
use crate::fold::float;
use crate::frame::Columns;
use crate::run::Opened;
use crate::wire::{Until, UtilisationHead};

pub(super) fn answer(run: &Opened<'_>, until: &Until) -> Vec<u8> {
    let at = until.at_ns.clamp(0, run.trace.duration().0.max(0));
    let causes = run.causes();
    let locations = run.trace.locations();
    let (mut waiting, mut absent, mut busy) = (Vec::new(), Vec::new(), Vec::new());
    for (number, location) in (0..).zip(locations) {
        let life = (location.end.0.min(at) - location.start.0.max(0)).max(0);
        let waits = causes.map_or(&[][..], |causes| causes.waits.of(LocationId(number)));
        let begun = waits.iter().take_while(|wait| wait.from.0 < at);
        let waited = begun.map(|wait| wait.to.0.min(at) - wait.from.0).sum::<i64>().min(life);
        waiting.push(float(waited));
        absent.push(float(at - life));
        busy.push(float(life - waited));
    }
    let (mut incoming, mut outgoing) = (vec![0_u32; locations.len()], vec![0_u32; locations.len()]);
    let damage = read(run, at, at.saturating_add(1), &mut |flow| {
        if flow.sent <= at && at < flow.received {
            let ends = [(&mut incoming, flow.to), (&mut outgoing, flow.from)];
            for (counts, location) in ends {
                if let Some(count) = counts.get_mut(location as usize) {
                    *count = count.saturating_add(1);
                }
            }
        }
    });
    let mut columns = Columns::default();
    columns.f64("waiting", waiting);
    columns.f64("absent", absent);
    columns.f64("busy", busy);
    columns.u32("incoming", incoming);
    columns.u32("outgoing", outgoing);
    columns.frame("utilisation", &UtilisationHead { is_known: causes.is_some(), damage })
}
