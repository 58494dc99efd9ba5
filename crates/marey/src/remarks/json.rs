//! Remarks for other programs.

use std::io::Write;

use marey_analyze::{RemarkRow, Remarked, RemarkedCall, RemarkedLoop};
use serde::Serialize;

#[derive(Serialize)]
struct Json<'r> {
    processor_ns: i64,
    samples: u64,
    path_ns: Option<i64>,
    records: usize,
    problems: &'r [String],
    loops: Vec<JsonLoop<'r>>,
    calls: Vec<JsonCall<'r>>,
}

#[derive(Serialize)]
pub(crate) struct JsonLoop<'r> {
    file: &'r str,
    first_line: u32,
    last_line: u32,
    is_read: bool,
    function: &'r str,
    outcome: &'static str,
    own_ns: i64,
    own_samples: u64,
    path_ns: Option<i64>,
    lanes: u32,
    lanes_told: bool,
    gain_ns: i64,
    remarks: Vec<JsonRemark<'r>>,
}

#[derive(Serialize)]
struct JsonRemark<'r> {
    kind: &'r str,
    line: u32,
    column: u32,
    compiler: &'r str,
    pass: &'r str,
    reason: &'r str,
    said: &'r str,
    dependence: Option<&'r str>,
    distance: Option<i64>,
    array: Option<&'r str>,
    array_by: Option<&'static str>,
    callee: Option<&'r str>,
    inlined_into: Option<&'r str>,
}

#[derive(Serialize)]
struct JsonCall<'r> {
    file: &'r str,
    line: u32,
    function: &'r str,
    callee: &'r str,
    reason: &'r str,
    said: &'r str,
    compiler: &'r str,
    processor_ns: i64,
    samples: u64,
}

pub(super) fn print(
    out: &mut dyn Write,
    it: &Remarked<'_>,
    records: usize,
    problems: &[String],
) -> anyhow::Result<()> {
    let json = Json {
        processor_ns: it.whole.time.0,
        samples: it.whole.samples,
        path_ns: it.path.map(|length| length.0),
        records,
        problems,
        loops: it.loops.iter().map(JsonLoop::new).collect(),
        calls: it.calls.iter().map(call).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &json)?;
    Ok(writeln!(out)?)
}

impl<'r> JsonLoop<'r> {
    pub(crate) fn new(it: &RemarkedLoop<'r>) -> Self {
        let (lanes, lanes_told) = it.lanes();
        Self {
            file: &it.at.file,
            first_line: it.at.first_line,
            last_line: it.at.last_line,
            is_read: it.at.is_read,
            function: &it.at.function,
            outcome: it.at.outcome.name(),
            own_ns: it.own.time.0,
            own_samples: it.own.samples,
            path_ns: it.on_path.map(|on_path| on_path.time.0),
            lanes,
            lanes_told,
            gain_ns: if it.at.outcome.is_left() { it.gain().0 } else { 0 },
            remarks: it.remarks.iter().map(|row| remark(row)).collect(),
        }
    }
}

fn remark(row: &RemarkRow) -> JsonRemark<'_> {
    let text = |text: &'_ str| !text.is_empty();
    let of = |it| Some(it).filter(|it: &&str| text(it));
    JsonRemark {
        kind: &row.kind,
        line: row.line,
        column: row.column,
        compiler: &row.compiler,
        pass: &row.pass,
        reason: &row.reason,
        said: &row.said,
        dependence: of(&row.dependence),
        distance: Some(row.distance).filter(|distance| *distance >= 0),
        array: of(&row.array),
        array_by: of(&row.array).map(|_| if row.is_array_of_text { "text" } else { "compiler" }),
        callee: of(&row.callee),
        inlined_into: of(&row.inlined_into),
    }
}

fn call<'r>(it: &RemarkedCall<'r>) -> JsonCall<'r> {
    JsonCall {
        file: &it.at.file,
        line: it.at.line,
        function: &it.at.function,
        callee: &it.at.callee,
        reason: &it.at.reason,
        said: &it.at.said,
        compiler: &it.at.compiler,
        processor_ns: it.inclusive.time.0,
        samples: it.inclusive.samples,
    }
}
