/** Tables of what differs, the largest difference first; what is pressed is chosen in all views. */
import type { JSX } from "preact";

import { count, counted, percent } from "../../base/format.ts";
import { duration, instant } from "../../base/time.ts";
import { aligned, chooseRegionOf, chosenInBoth, differences, goToIteration, iterations, type DifferencesName, type Iterations, type Pair } from "../../state/pair.ts";
import type { Difference, Differences } from "../../wire/generated.ts";
import { Table, type Column, type Parts } from "../../widgets/table.tsx";
import { calledFrom, calls, data, doing, reason, relative, signed, tone } from "./words.ts";
import { Coming } from "../lost.tsx";

interface Way {
  readonly key: DifferencesName;
  readonly name: string;
  readonly help: string;
}

/** Tables are sorted by this column at first. */
const DIFFERENCE = "B − A";

/** What is told of both runs in one column stands in two in CSV. */
const CALLS: Parts<Difference> = [["Calls A", (row) => row.calls?.[0] ?? NaN], ["Calls B", (row) => row.calls?.[1] ?? NaN]];
const DATA: Parts<Difference> = [["Data A B", (row) => row.bytes?.[0] ?? NaN], ["Data B B", (row) => row.bytes?.[1] ?? NaN]];

const WAYS: readonly Way[] = [
  { key: "path", name: "Critical path", help: "Time on the path that made each run as long as it was: differences add up to that of the wall times" },
  { key: "regions", name: "Regions", help: "Time in regions themselves, without what they called" },
  { key: "call-paths", name: "Call paths", help: "Time in call paths themselves, without what they called" },
  { key: "waits", name: "Waits", help: "By what was waited for and where" },
  { key: "iterations", name: "Iterations", help: "The k-th of the main loop of A beside the k-th of that of B" },
];

export function Tables({ pair }: { readonly pair: Pair }): JSX.Element {
  const now = WAYS.find((way) => way.key === differences.value) ?? WAYS[0];
  return (
    <section>
      <p class="compare-ways" role="group" aria-label="Differences of what">
        {WAYS.map((way) => (
          <button type="button" aria-pressed={differences.value === way.key} title={way.help} onClick={() => (differences.value = way.key)}>
            {way.name}
          </button>
        ))}
        <span class="muted">
          {now?.help}
          {basis(pair, differences.value)}.
        </span>
      </p>
      <Shown pair={pair} which={differences.value} />
    </section>
  );
}

/** What numbers are. */
function basis(pair: Pair, which: DifferencesName): string {
  if (which === "path" || which === "iterations") return "";
  const [old, fresh] = pair.head.divisors;
  return old === fresh ? ", over all ranks and threads" : `, mean of a process: A has ${count(old)}, B has ${count(fresh)}`;
}

function Shown({ pair, which }: { readonly pair: Pair; readonly which: DifferencesName }): JSX.Element {
  const { head } = pair;
  switch (which) {
    case "path":
      return <Places of={head.path} label="differences on the critical path" share="Part of the length of A" none="There is no critical path of both runs, for not all of their events were kept." />;
    case "regions":
      return <Places of={head.regions} label="differences by region" share="Part of the time of all processes of A" none="" />;
    case "call-paths":
      return <Places of={head.call_paths} label="differences by call path" share="Part of the time of all processes of A" none="" />;
    case "waits":
      return <Places of={head.waits} label="differences of waits" share="Part of the time of all ranks and threads of A" none="Waits of both runs are not known, for not all of their events were kept." />;
    case "iterations":
      return <IterationsTable />;
  }
}

interface PlacesProps {
  readonly of: Differences | null;
  readonly label: string;
  readonly share: string;
  /** Why there are none. */
  readonly none: string;
}

function Places({ of, label, share, none }: PlacesProps): JSX.Element {
  if (of === null) return <p class="muted">{none}</p>;
  const most = Math.max(...of.rows.map((row) => Math.abs(row.new - row.old)), 1);
  const isOfWaits = of.rows.some((row) => row.pattern !== "");
  const hasPlaces = of.rows.some((row) => calledFrom(row.place) !== "");
  const hasCalls = of.rows.some((row) => row.calls !== null);
  const hasData = of.rows.some((row) => data(row) !== "");
  const columns: ReadonlyArray<Column<Difference>> = [
    { name: "Doing", help: "Region, or what else is done; of call paths, what is around it", text: (row) => [...row.around, doing(row.place)].join(" › "), width: "minmax(120px, 1.4fr)" },
    ...(isOfWaits ? [{ name: "Waits for", help: "docs/wait-states.md defines each", text: (row: Difference) => row.pattern, width: "minmax(90px, 0.8fr)" }] : []),
    ...(hasPlaces ? [{ name: "Called from", help: "Function and place in the source", text: (row: Difference) => calledFrom(row.place), width: "minmax(130px, 1.4fr)" }] : []),
    { name: "A", help: "Time in A", text: (row) => duration(row.old), value: (row) => row.old, unit: "ns", width: "84px" },
    { name: "B", help: "Time in B", text: (row) => duration(row.new), value: (row) => row.new, unit: "ns", width: "84px" },
    {
      name: DIFFERENCE,
      help: "How much more B has; sorted by its size",
      text: (row) => signed(row.new - row.old, duration),
      value: (row) => row.new - row.old,
      order: (row) => Math.abs(row.new - row.old),
      bar: (row) => Math.abs(row.new - row.old) / most,
      tone: (row) => tone(row.new - row.old),
      unit: "ns",
      width: "96px",
    },
    { name: "Because", help: "What made most of the difference: more waiting, more calls, or longer ones", text: (row) => reason(row), width: "minmax(220px, 3.2fr)" },
    { name: "Share", help: share, text: (row) => shareText(row.share), value: (row) => row.share ?? NaN, order: (row) => Math.abs(row.share ?? 0), unit: "%", width: "76px" },
    ...(hasCalls ? [{ name: "Calls", help: "Visits in A and in B", text: calls, value: (row: Difference) => (row.calls === null ? NaN : row.calls[1] - row.calls[0]), parts: CALLS, width: "110px" }] : []),
    ...(hasData ? [{ name: "Data", help: "Moved in A and in B", text: data, value: (row: Difference) => (row.bytes === null ? NaN : row.bytes[1] - row.bytes[0]), parts: DATA, width: "150px" }] : []),
  ];
  const isChosen = (row: Difference): boolean => {
    const [base, other] = chosenInBoth.value;
    const isOne = (region: number | null, meant: number | null): boolean => region !== null && region === meant;
    return isOne(row.place.base, base) || isOne(row.place.other, other);
  };
  return (
    <>
      <div class="compare-table">
        <Table
          key={label}
          label={label}
          rows={of.rows}
          columns={columns}
          sortedBy={columns.findIndex((column) => column.name === DIFFERENCE)}
          height={14}
          onChoose={(row) => chooseRegionOf(row.place)}
          isChosen={isChosen}
        />
      </div>
      {of.number > of.rows.length ? <p class="muted">{counted(of.number - of.rows.length, "more row")} with smaller differences; `marey diff --json` has all.</p> : null}
    </>
  );
}

function shareText(share: number | null): string {
  if (share === null) return "";
  // Two decimals are shown.
  return Math.abs(share) < 5e-5 ? "0 %" : signed(share, percent);
}

interface IterationRow {
  readonly at: number;
  readonly from: readonly [number, number];
  readonly length: readonly [number, number];
}

function rowsOf(all: Iterations): readonly IterationRow[] {
  const [old, fresh] = all.from;
  return Array.from({ length: all.common }, (_, at) => ({
    at,
    from: [old[at] ?? 0, fresh[at] ?? 0],
    length: [(all.to[0][at] ?? 0) - (old[at] ?? 0), (all.to[1][at] ?? 0) - (fresh[at] ?? 0)],
  }));
}

function IterationsTable(): JSX.Element {
  const all = iterations.value;
  if (all === null) return <Coming what="Iterations are being looked for" isSmall />;
  const rows = rowsOf(all);
  const difference = (row: IterationRow): number => row.length[1] - row.length[0];
  const most = rows.reduce((most, row) => Math.max(most, Math.abs(difference(row))), 1);
  const columns: ReadonlyArray<Column<IterationRow>> = [
    { name: "Iteration", help: "Counted from 1", text: (row) => count(row.at + 1), value: (row) => row.at + 1, order: (row) => -row.at, width: "90px" },
    { name: "Begins in A", help: "When it begins there", text: (row) => instant(row.from[0]), value: (row) => row.from[0], unit: "ns", width: "minmax(150px, 1fr)" },
    { name: "Begins in B", help: "When it begins there", text: (row) => instant(row.from[1]), value: (row) => row.from[1], unit: "ns", width: "minmax(150px, 1fr)" },
    { name: "A", help: "How long it takes in A", text: (row) => duration(row.length[0]), value: (row) => row.length[0], unit: "ns", width: "110px" },
    { name: "B", help: "How long it takes in B", text: (row) => duration(row.length[1]), value: (row) => row.length[1], unit: "ns", width: "110px" },
    {
      name: "B − A",
      help: "How much longer it takes in B; sorted by its size",
      text: (row) => signed(difference(row), duration),
      value: difference,
      order: (row) => Math.abs(difference(row)),
      bar: (row) => Math.abs(difference(row)) / most,
      tone: (row) => tone(difference(row)),
      unit: "ns",
      width: "120px",
    },
    { name: "Change", help: "As a part of A", text: (row) => relative(row.length[0], row.length[1]), value: (row) => difference(row) / Math.max(row.length[0], 1), tone: (row) => tone(difference(row)), unit: "%", width: "100px" },
  ];
  return (
    <Table
      key="iterations"
      label="differences of iterations"
      rows={rows}
      columns={columns}
      sortedBy={0}
      height={14}
      onChoose={(row) => goToIteration(row.at)}
      isChosen={(row) => row.at === aligned.value}
    />
  );
}
