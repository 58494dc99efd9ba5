/** What is known of the visits of each region in the histogram. */
import type { JSX } from "preact";

import { bytes, count } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { chooseAmong, measure } from "../../state/instances.ts";
import { run } from "../../state/run.ts";
import { chosenRegion } from "../../state/view.ts";
import { Table, type Column } from "../../widgets/table.tsx";

export interface OfRegion {
  readonly region: number;
  /** By bin, how many visits. */
  readonly counts: Float64Array;
  readonly visits: number;
  readonly least: number;
  readonly most: number;
  readonly mean: number;
  /** Not a number if there are too few. */
  readonly deviation: number;
}

export function Each({ of }: { readonly of: readonly OfRegion[] }): JSX.Element {
  const isOfBytes = measure.value === "bytes";
  const most = of.reduce((all, row) => Math.max(all, row.visits), 1);
  const write = (row: OfRegion, value: number): string => (row.visits === 0 || Number.isNaN(value) ? "–" : isOfBytes ? bytes(Math.round(value)) : duration(value));
  const column = (name: string, help: string, value: (row: OfRegion) => number): Column<OfRegion> => ({
    name,
    help,
    text: (row) => write(row, value(row)),
    value: (row) => (row.visits === 0 ? NaN : value(row)),
    unit: isOfBytes ? "B" : "ns",
    width: "minmax(90px, 1fr)",
  });
  const columns: ReadonlyArray<Column<OfRegion>> = [
    { name: "Region", help: "Press it to choose it in all views", text: (row) => run.value?.regions[row.region]?.name ?? "", width: "minmax(160px, 2fr)" },
    { name: "Visits", help: "How many are in the histogram", text: (row) => count(row.visits), value: (row) => row.visits, bar: (row) => row.visits / most, width: "110px" },
    column("Least", "Of its visits", (row) => row.least),
    column("Mean", "Of its visits", (row) => row.mean),
    column("Most", "Of its visits", (row) => row.most),
    column("Deviation", "Standard deviation of its visits", (row) => row.deviation),
  ];
  return (
    <section>
      <h2>Regions that are on</h2>
      <Table label="regions in the histogram" rows={of} columns={columns} sortedBy={1} height={12} onChoose={(row) => chooseAmong(row.region)} isChosen={(row) => row.region === chosenRegion.value} />
    </section>
  );
}
