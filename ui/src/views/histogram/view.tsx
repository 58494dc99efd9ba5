/** How long the visits of one or several regions took, or how much they moved, and picking out those that differ. */
import { computed, effect, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

import { bytes, count, counted, percent } from "../../base/format.ts";
import { Latest } from "../../base/latest.ts";
import { duration } from "../../base/time.ts";
import { bins, FEWEST_BINS, instances, isLogarithmic, isOfSpan, measure, MOST_BINS, sample, sampled } from "../../state/instances.ts";
import { engine, fail, run, whole } from "../../state/run.ts";
import { beside, chosenRegion, isBlinking, pick, picked, span } from "../../state/view.ts";
import type { Histogram, HistogramHead, Sample } from "../../wire/generated.ts";
import { Table, type Column } from "../../widgets/table.tsx";
import { colourOf } from "../colours.ts";
import { Chart, type Series } from "./chart.tsx";
import { Each, type OfRegion } from "./each.tsx";
import "./histogram.css";
import { Percentages } from "./percentages.tsx";
import { Picked } from "./picked.tsx";
import { Regions } from "./regions.tsx";
import { AddedUp } from "../added_up.tsx";
import { Reduced } from "../reduced.tsx";
import { Coming } from "../lost.tsx";

interface Shown {
  readonly head: HistogramHead;
  readonly edges: Float64Array;
  /** By region in the order of the sample: how many are in each bin, and what is known of them. */
  readonly of: ReadonlyArray<OfRegion>;
  readonly isLogarithmic: boolean;
  /** What it was asked of. */
  readonly sample: Sample;
}

const shown = signal<Shown | null>(null);

/** Begins to follow what is chosen; returns what ends it. */
function follow(): () => void {
  const asked = new Latest<Histogram, Shown>(
    async (request) => {
      const frame = await engine.histogram(request);
      const [edges, numbers] = [frame.f64("edge"), frame.f64("number")];
      const bins = Math.max(edges.length - 1, 0);
      const column = (name: string): Float64Array => frame.f64(name);
      const [visits, least, most, mean, deviation] = [column("visits"), column("least"), column("most"), column("mean"), column("deviation")];
      const of = request.sample.regions.map((region, at): OfRegion => ({
        region,
        counts: numbers.subarray(at * bins, (at + 1) * bins),
        visits: visits[at] ?? 0,
        least: least[at] ?? 0,
        most: most[at] ?? 0,
        mean: mean[at] ?? 0,
        deviation: deviation[at] ?? 0,
      }));
      return { head: frame.head, edges, of, isLogarithmic: request.logarithmic, sample: request.sample };
    },
    (answer) => (shown.value = answer),
    fail,
  );
  return effect(() => {
    const of = sample.value;
    if (of === null) shown.value = null;
    else asked.want({ sample: of, bins: bins.value, logarithmic: isLogarithmic.value, range: null });
  });
}

/** What is there of the visits that are meant; of other regions, or another measure, it would be taken for theirs. */
const meant = computed<Shown | null>(() => {
  const [it, of] = [shown.value, sample.value];
  return it !== null && of !== null && it.sample.regions.join() === of.regions.join() && it.sample.of === of.of ? it : null;
});

export function HistogramView(): JSX.Element {
  useEffect(() => follow(), []);
  const head = run.value;
  const region = chosenRegion.value;
  if (head === null || region === null) return <Choose />;
  const it = meant.value;
  return (
    <div class="sheet">
      <section>
        <h1>
          <code>{head.regions[region]?.name}</code>
          {sampled.value.length > 1 ? <span class="muted"> and {counted(sampled.value.length - 1, "other region")}</span> : null}
        </h1>
        <Regions />
        <Tools />
        <AddedUp to={isOfSpan.value ? span.value.to : whole.value.to} lacks="their visits are not among these" />
        <Reduced to={isOfSpan.value ? span.value.to : whole.value.to} regions={new Set(sampled.value)} lacks="those are not in this histogram" />
        {it === null ? <Coming what="The visits are being counted" /> : <Bars it={it} region={region} />}
      </section>
      {instances.value === null || picked.value === null ? null : <Picked of={picked.value.of} />}
      {it === null || it.head.number === 0 ? null : <Bins it={it} />}
      {it === null || it.of.length < 2 ? null : <Each of={it.of} />}
    </div>
  );
}

/** Of which region: those with most time. */
function Choose(): JSX.Element {
  const regions = run.value?.regions ?? [];
  const order = regions.flatMap((region, place) => (region.visits > 0 ? [place] : [])).sort((a, b) => (regions[b]?.exclusive_ns ?? 0) - (regions[a]?.exclusive_ns ?? 0));
  return (
    <div class="sheet">
      <section>
        <h1>Histogram</h1>
        <p class="muted">Of which region? Choose one here, or in any other view.</p>
        <ul class="histogram-choose">
          {order.slice(0, 40).map((place) => (
            <li>
              <button type="button" title="Its histogram; it is chosen in all views" onClick={() => (chosenRegion.value = place)}>
                <span class="states-colour" style={{ background: colourOf.value(place) }} /> <code>{regions[place]?.name}</code>
              </button>
              <span class="muted">{counted(regions[place]?.visits ?? 0, "visit")}</span>
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

function Tools(): JSX.Element {
  return (
    <p class="histogram-tools">
      <Two name="What" first="Duration" firstHelp="How long visits took, from enter to leave" second="Bytes moved" secondHelp="How much visits moved; those that move nothing are left out" isSecond={measure.value === "bytes"} act={(it) => (measure.value = it ? "bytes" : "duration")} />
      <Two name="Of" first="Whole run" firstHelp="All visits of the run, on the locations that are shown" second="Span that is shown" secondHelp="Visits that begin in the span that is shown; it follows the timeline" isSecond={isOfSpan.value} act={(it) => (isOfSpan.value = it)} />
      <Two name="Scale" first="Logarithmic" firstHelp="Each bin ends at the same multiple of where it begins" second="Linear" secondHelp="All bins are equally wide" isSecond={!isLogarithmic.value} act={(it) => (isLogarithmic.value = !it)} />
      <label>
        Bins <input type="range" title="Into how many bins all values are put, those of all regions into the same" min={FEWEST_BINS} max={MOST_BINS} value={bins.value} onInput={(event) => (bins.value = Number(event.currentTarget.value))} /> {bins.value}
      </label>
    </p>
  );
}

interface TwoProps {
  readonly name: string;
  readonly first: string;
  readonly firstHelp: string;
  readonly second: string;
  readonly secondHelp: string;
  readonly isSecond: boolean;
  readonly act: (isSecond: boolean) => void;
}

/** One of two. */
function Two({ name, first, firstHelp, second, secondHelp, isSecond, act }: TwoProps): JSX.Element {
  return (
    <span role="group" aria-label={name}>
      <button type="button" aria-pressed={!isSecond} title={firstHelp} onClick={() => act(false)}>
        {first}
      </button>
      <button type="button" aria-pressed={isSecond} title={secondHelp} onClick={() => act(true)}>
        {second}
      </button>
    </span>
  );
}

function write(value: number): string {
  return measure.value === "bytes" ? bytes(Math.round(value)) : duration(value);
}

function Bars({ it, region }: { readonly it: Shown; readonly region: number }): JSX.Element {
  const { head, edges } = it;
  if (!head.is_whole) {
    const isLeftOut = run.value?.left_out.includes("visits") === true;
    return <p class="hush">{isLeftOut ? "Single visits were left out of this page." : "These are more visits than are read for one answer; choose a shorter span."}</p>;
  }
  if (head.number === 0) {
    return <p class="hush">{measure.value === "bytes" ? "None of these visits moves data." : "There was no visit there."}</p>;
  }
  const some = picked.value;
  const range = some !== null && some.of === measure.value && some.which.by === "range" ? some.which.range : null;
  const series = it.of.map((one): Series => ({ name: nameOf(one.region), colour: colourOf.value(one.region), counts: one.counts }));
  return (
    <>
      <Chart
        edges={edges}
        series={series}
        isLogarithmic={it.isLogarithmic}
        mean={head.mean}
        marked={range}
        write={write}
        onMark={(next) => pick({ region, of: measure.value, which: { by: "range", range: next } })}
      />
      <p class="muted">
        {counted(head.number, "visit")} · from {write(head.least)} to {write(head.most)} · mean {write(head.mean)} · standard deviation {write(head.deviation)}
        {head.untold === 0 ? "" : ` · ${counted(head.untold, "visit")} only known together with others`}
        {head.damage.length === 0 ? "" : ` · not all could be read: ${head.damage[0]}`}
      </p>
      <p class="histogram-tools">
        <Percentages />
        <button type="button" title="Shows the timeline beside it and lets what is picked blink (b)" disabled={picked.value === null} aria-pressed={isBlinking.value} onClick={blink}>
          Blink in the timeline
        </button>
        {picked.value === null ? null : (
          <button type="button" title="All visits are meant again" onClick={() => pick(null)}>
            Pick nothing
          </button>
        )}
      </p>
      <p class="muted">Drag over the bars to pick a range of visits{it.of.length > 1 ? ", of all regions that are on" : ""}; a row of the bins does the same.</p>
    </>
  );
}

function blink(): void {
  beside.value = "timeline";
  isBlinking.value = !isBlinking.peek();
}

function nameOf(region: number): string {
  return run.value?.regions[region]?.name ?? "";
}

interface Bin {
  readonly from: number;
  readonly to: number;
  readonly number: number;
  /** By region. */
  readonly each: readonly number[];
}

/** The least and the greatest whole number in a bin: what is as large as its end is in the next, but of the last. */
function valuesOf({ from, to }: Bin, end: number): [number, number] {
  return [Math.ceil(from), to >= end ? Math.floor(to) : Math.ceil(to) - 1];
}

function Bins({ it }: { readonly it: Shown }): JSX.Element {
  const rows = Array.from({ length: Math.max(it.edges.length - 1, 0) }, (_, bin): Bin => {
    const each = it.of.map((one) => one.counts[bin] ?? 0);
    return { from: it.edges[bin] ?? 0, to: it.edges[bin + 1] ?? 0, number: each.reduce((sum, number) => sum + number, 0), each };
  }).filter((row) => row.number > 0);
  const most = Math.max(...rows.map((row) => row.number), 1);
  const unit = measure.value === "bytes" ? "B" : "ns";
  const columns: ReadonlyArray<Column<Bin>> = [
    { name: "From", help: "Least value of the bin", text: (row) => write(row.from), value: (row) => row.from, unit, width: "minmax(100px, 1fr)" },
    { name: "To", help: "Values are smaller than this; those of the last bin at most this", text: (row) => write(row.to), value: (row) => row.to, unit, width: "minmax(100px, 1fr)" },
    ...(it.of.length < 2 ? [] : it.of).map((one, place): Column<Bin> => ({
      name: nameOf(one.region),
      help: `Visits of ${nameOf(one.region)}`,
      text: (row) => count(row.each[place] ?? 0),
      value: (row) => row.each[place] ?? 0,
      width: "minmax(90px, 1fr)",
    })),
    { name: "Visits", help: "How many", text: (row) => count(row.number), value: (row) => row.number, bar: (row) => row.number / most, width: "minmax(120px, 2fr)" },
    { name: "Share", help: "Of all visits", text: (row) => percent(row.number / it.head.number), value: (row) => row.number / it.head.number, unit: "%", width: "minmax(80px, 1fr)" },
  ];
  const region = chosenRegion.value ?? 0;
  return (
    <section>
      <h2>Bins — a row picks its visits</h2>
      <Table label="bins" rows={rows} columns={columns} sortedBy={0} height={12} onChoose={(row) => pick({ region, of: measure.value, which: { by: "range", range: valuesOf(row, it.edges.at(-1) ?? 0) } })} />
    </section>
  );
}
