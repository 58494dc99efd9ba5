//! What stands above the rows besides findings: situations, and visits that lasted longer than their like.
//!
//! The one idea: both are of the whole run and take a pass over it, so they are found when somebody asks, once.

use marey_analyze::{
    Activity, Anomaly, ProbableCause, Situation, SituationKind, Threshold, Trace, Unread, caller,
};
use marey_model::CallPathId;

use crate::frame::Columns;
use crate::run::Opened;
use crate::wire::{
    AnomaliesHead, SituationsHead, WireAnomaly, WireCall, WireCause, WireFrame, WireSituation,
    WireSituationKind, WireUnit,
};

/// So many anomalous visits are told.
const MOST_ANOMALIES: usize = 20;

/// The percentage of runs in which the robust test would find something by chance.
const BY_CHANCE: f64 = 1.0;

pub(super) fn situations(run: &Opened<'_>) -> Vec<u8> {
    let head = match run.situations() {
        _ if is_cut(run) => {
            SituationsHead { is_known: true, situations: Vec::new(), more: 0, damage: vec![cut()] }
        }
        None => SituationsHead { is_known: false, situations: Vec::new(), more: 0, damage: Vec::new() },
        Some(Ok(found)) => SituationsHead {
            is_known: true,
            situations: found.list.iter().map(|it| situation(run, it)).collect(),
            more: found.more.iter().map(|(_, number)| number).sum(),
            damage: Vec::new(),
        },
        Some(Err(unread)) => {
            SituationsHead { is_known: true, situations: Vec::new(), more: 0, damage: unread.0.clone() }
        }
    };
    Columns::default().frame("situations", &head)
}

/// Whether what they are found in was left out where the run was exported.
fn is_cut(run: &Opened<'_>) -> bool {
    !run.head.left_out.is_empty()
}

fn cut() -> String {
    "visits or messages were left out of this page".to_owned()
}

fn situation(run: &Opened<'_>, it: &Situation) -> WireSituation {
    WireSituation {
        kind: kind(it.kind),
        from_ns: it.from.0,
        to_ns: it.to.0,
        locations: it.locations.iter().map(|location| location.0).collect(),
        call: it.call_path.and_then(|path| call(run, path)),
        others: u32::try_from(it.others.len()).unwrap_or(u32::MAX),
        measured: it.measured,
        normal: it.normal,
        unit: unit(it),
        number: it.number,
        cost_ns: it.cost.0,
        cause: it.cause.as_ref().map(|it| cause(run, it)),
        meanwhile: it.meanwhile.as_ref().map(|it| cause(run, it)),
        is_noise: it.is_noise(),
    }
}

fn kind(kind: SituationKind) -> WireSituationKind {
    match kind {
        SituationKind::SpeedUp => WireSituationKind::SpeedUp,
        SituationKind::SlowDown => WireSituationKind::SlowDown,
        SituationKind::UnderUtilised => WireSituationKind::UnderUtilised,
        SituationKind::OverUtilised => WireSituationKind::OverUtilised,
        SituationKind::MessageQueue => WireSituationKind::MessageQueue,
        SituationKind::ProcessingTime => WireSituationKind::ProcessingTime,
    }
}

fn unit(it: &Situation) -> WireUnit {
    match (it.kind, it.threshold) {
        (SituationKind::UnderUtilised | SituationKind::OverUtilised, _) => WireUnit::Share,
        (SituationKind::MessageQueue, Threshold::Bytes(_)) => WireUnit::Bytes,
        (SituationKind::MessageQueue, _) => WireUnit::Messages,
        _ => WireUnit::Ns,
    }
}

fn cause(run: &Opened<'_>, it: &ProbableCause) -> WireCause {
    let call = match it.activity {
        Activity::Path(path) => call(run, path),
        Activity::Outside | Activity::NotStarted => None,
    };
    WireCause { location: it.location.0, call, is_waiting: it.is_waiting, amount: it.amount }
}

/// A call, and who made it: its caller, or its own place.
fn call(run: &Opened<'_>, path: CallPathId) -> Option<WireCall> {
    let number = run.trace.call_paths().get(path.idx())?.region;
    let region = run.trace.regions().get(number.idx())?;
    let frame = caller(&run.trace, path);
    let (function, file, line) = frame.map_or((String::new(), region.file.clone(), region.line), |frame| {
        (frame.function.clone(), frame.file.clone(), frame.line)
    });
    Some(WireCall { region: number.0, caller: WireFrame { function, file, line } })
}

pub(super) fn anomalies(run: &Opened<'_>) -> Vec<u8> {
    let found = if is_cut(run) { Err(Unread(vec![cut()])) } else { run.anomalies(BY_CHANCE) };
    let head = match found {
        Err(unread) => AnomaliesHead { number: 0, excess_ns: 0, anomalies: Vec::new(), damage: unread.0 },
        Ok(found) => AnomaliesHead {
            number: found.long,
            excess_ns: found.excess.0,
            anomalies: found.list.iter().filter_map(|it| anomaly(run, it)).take(MOST_ANOMALIES).collect(),
            damage: Vec::new(),
        },
    };
    Columns::default().frame("anomalies", &head)
}

fn anomaly(run: &Opened<'_>, it: &Anomaly) -> Option<WireAnomaly> {
    Some(WireAnomaly {
        line: run.line_of(it.location, it.call_path)?,
        call: call(run, it.call_path)?,
        start_ns: it.start.0,
        duration_ns: it.duration.0,
        expected_ns: it.expected,
        waits_for: it.cause.map(|(location, _)| location.0),
        is_noise: it.is_noise,
    })
}
