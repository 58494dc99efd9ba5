/** Mountains and the whole run in numbers: a row for each step of time, a column for each state that is told apart. */
import type { JSX } from "preact";

import { instant, grouped, length, ns, type Span } from "../../../base/time.ts";
import { run, whole } from "../../../state/run.ts";
import { toldSpan } from "../../../state/told.ts";
import { hidden, look, lookAround, span } from "../../../state/view.ts";
import type { Course } from "../../../tracks/course.ts";
import { Table, type Column } from "../../../widgets/table.tsx";
import { Coming } from "../../lost.tsx";
import { course, minimap } from "../fetch.ts";

/** A step of time, by its place in the answer. */
interface Step {
  readonly place: number;
  readonly from: number;
  readonly to: number;
}

export function MountainsTwin(): JSX.Element {
  const shown = course.value;
  if (shown === null) return <Coming what="The mountains are being read" />;
  return <CourseTable label="locations in each state in the span" shown={shown} of={toldSpan.value} onChoose={(step) => lookAround(step.from, step.to)} />;
}

export function RunTwin(): JSX.Element {
  const shown = minimap.value;
  if (shown === null) return <Coming what="The whole run is being read" />;
  const { from, to } = toldSpan.value;
  const isSeen = (step: Step): boolean => from < step.to && step.from < to;
  return <CourseTable label="locations in each state in the whole run" shown={shown} of={whole.value} onChoose={moveTo} isChosen={isSeen} />;
}

/** As a press on the picture does. */
function moveTo(step: Step): void {
  const [middle, half] = [(step.from + step.to) / 2, length(span.peek()) / 2];
  look({ from: ns(Math.round(middle - half)), to: ns(Math.round(middle + half)) });
}

interface CourseTableProps {
  readonly label: string;
  readonly shown: Course;
  readonly of: Span;
  readonly onChoose: (step: Step) => void;
  readonly isChosen?: (step: Step) => boolean;
}

function CourseTable({ label, shown, of, onChoose, isChosen }: CourseTableProps): JSX.Element {
  const { from_ns: from, bucket_ns: bucket, buckets } = shown.head;
  const first = Math.max(Math.floor((of.from - from) / bucket), 0);
  const behind = Math.min(Math.ceil((of.to - from) / bucket), buckets);
  const steps = Array.from({ length: Math.max(behind - first, 0) }, (_, at): Step => {
    const place = first + at;
    return { place, from: from + place * bucket, to: from + (place + 1) * bucket };
  });
  const busy = (series: number, step: Step): number => shown.busy[series * buckets + step.place] ?? 0;
  const column = (series: number, name: string, help: string): Column<Step> => ({
    name,
    help,
    text: (step) => (busy(series, step) === 0 ? "0" : grouped(busy(series, step), 2)),
    value: (step) => busy(series, step),
    bar: (step) => busy(series, step) / Math.max(shown.head.locations, 1),
    width: "100px",
  });
  const regions = run.value?.regions ?? [];
  // More is known than is seen, so some may not be met here.
  const isMet = (series: number): boolean => steps.some((step) => busy(series, step) > 0);
  const told = Array.from(shown.region, (region, series) => ({ region, series })).filter(({ region, series }) => !hidden.value.has(region) && isMet(series));
  const others = shown.region.length;
  const columns: ReadonlyArray<Column<Step>> = [
    { name: "From", help: "Begin of the step; press a row to look at it", text: (step) => instant(step.from), value: (step) => step.from, unit: "ns", width: "160px" },
    ...told.map(({ region, series }) => column(series, regions[region]?.name ?? "", `How many locations are in ${regions[region]?.name ?? ""}, on average of the step`)),
    ...(isMet(others) ? [column(others, "Others", "How many locations are in any other state, on average of the step: grey in the picture")] : []),
  ];
  return <Table label={label} rows={steps} columns={columns} sortedBy={0} isUp height={40} onChoose={onChoose} {...(isChosen === undefined ? {} : { isChosen })} />;
}
