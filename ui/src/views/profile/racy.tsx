/**
 * The racy profile: a bar line for each location, each region a piece of it; mean, largest and smallest above them. Of one
 * location: its own profile; of one region: how it differs among all. Arrow keys go from piece to piece.
 */
import type { ComponentChildren, JSX } from "preact";

import { count, counted, percent } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { run } from "../../state/run.ts";
import { barOrder, profileShares, type Shares } from "../../state/shares.ts";
import { chosenLocations, chosenRegion } from "../../state/view.ts";
import { useRoving } from "../../widgets/roving.ts";
import { Table, type Column } from "../../widgets/table.tsx";
import { AsText, textOf } from "./text.tsx";
import { colourOf, colours } from "../colours.ts";
import { Coming } from "../lost.tsx";

/** So many bar lines are shown. */
const MOST = 256;

interface Line {
  readonly name: string;
  /** `null` = a line of all. */
  readonly location: number | null;
  /** ns by column. */
  readonly times: readonly number[];
}

export function Racy(): JSX.Element {
  const it = profileShares.value;
  const head = run.value;
  if (it === null || head === null) return <Coming what="Times are being added up" />;
  if (!it.head.is_whole) return <p class="hush">This span has so many visits that they are not added up; zoom in, or look at the whole run.</p>;
  const width = it.head.regions.length + 1;
  const region = chosenRegion.value;
  const column = region === null ? -1 : it.head.regions.indexOf(region);
  const meant = (times: readonly number[]): number => (column < 0 ? sum(times) : (times[column] ?? 0));
  const lines = head.locations.map((location, place): Line => ({
    name: location.name,
    location: place,
    times: Array.from(it.exclusive.subarray(place * width, (place + 1) * width)),
  }));
  const sorted = barOrder.value === "most" ? [...lines].sort((a, b) => meant(b.times) - meant(a.times)) : lines;
  const all = [of("mean", lines, meant), of("largest", lines, meant), of("smallest", lines, meant)];
  const most = Math.max(...lines.map((line) => (column < 0 ? sum(line.times) : meant(line.times))), 1);
  const shown = sorted.slice(0, MOST);
  const row = (line: Line): JSX.Element => <Bar line={line} most={most} regions={it.head.regions} column={column} />;
  const [only] = chosenLocations.value?.length === 1 ? chosenLocations.value : [];
  return (
    <>
      <p class="profile-ways">
        <span role="group" aria-label="Order">
          <button type="button" aria-pressed={barOrder.value === "number"} title="In the order of the run" onClick={() => (barOrder.value = "number")}>
            In their order
          </button>
          <button type="button" aria-pressed={barOrder.value === "most"} title="Those with most time first: of the chosen region, or of all" onClick={() => (barOrder.value = "most")}>
            Most first
          </button>
        </span>
        <span class="muted">
          {column < 0 ? "Exclusive time of all regions" : `Exclusive time of ${head.regions[region ?? 0]?.name}`}
          {lines.length > MOST ? `; ${MOST} of ${counted(lines.length, "location")}` : ""}
          {it.head.others > 0 ? `; ${counted(it.head.others, "region")} with the least time are grey` : ""}
        </span>
      </p>
      <Lines>
        <div class="racy racy-all" role="rowgroup">
          {all.map(row)}
        </div>
        <div class="racy" role="rowgroup">
          {shown.map(row)}
        </div>
      </Lines>
      {only === undefined ? (
        <p class="muted">Press the name of a location for its own profile.</p>
      ) : (
        <Own it={it} location={only} width={width} />
      )}
    </>
  );
}

/** All lines are one stop of the Tab key. */
function Lines({ children }: { readonly children: ComponentChildren }): JSX.Element {
  const roving = useRoving<HTMLDivElement>();
  return (
    <div role="grid" aria-label="Bar lines of locations, a piece for each region" {...roving}>
      {children}
    </div>
  );
}

function sum(times: readonly number[]): number {
  return times.reduce((total, time) => total + time, 0);
}

/** The mean line, or that of the one with most or least. */
function of(name: "mean" | "largest" | "smallest", lines: readonly Line[], meant: (times: readonly number[]) => number): Line {
  if (name === "mean") {
    const times = (lines[0]?.times ?? []).map((_, column) => lines.reduce((total, line) => total + (line.times[column] ?? 0), 0) / lines.length);
    return { name, location: null, times };
  }
  const sign = name === "largest" ? 1 : -1;
  const first = lines[0] ?? { name, location: null, times: [] };
  const found = lines.reduce((best, line) => (sign * meant(line.times) > sign * meant(best.times) ? line : best), first);
  return { ...found, name: `${name}, ${found.name}` };
}

interface BarProps {
  readonly line: Line;
  readonly most: number;
  readonly regions: readonly number[];
  /** The column that is shown alone; -1 = all. */
  readonly column: number;
}

function Bar({ line, most, regions, column }: BarProps): JSX.Element {
  const head = run.value;
  const { location, times } = line;
  const isChosen = location !== null && chosenLocations.value?.length === 1 && chosenLocations.value[0] === location;
  const parts = times.map((time, place) => ({ time, place })).filter((part) => part.time > 0 && (column < 0 || part.place === column));
  const total = parts.reduce((all, part) => all + part.time, 0);
  const choose = (): void => {
    chosenLocations.value = isChosen || location === null ? null : [location];
  };
  return (
    <div class="racy-line" role="row">
      <span role="rowheader">
        <button type="button" class="plain" data-part tabIndex={-1} aria-pressed={isChosen} onClick={choose} title={location === null ? "The mean of all locations; press to choose none of them" : "Its own profile, and it alone in all views"}>
          {line.name}
        </button>
      </span>
      <span class="racy-track" role="presentation">
        {parts.map(({ time, place }) => {
          const region = regions[place];
          const name = region === undefined ? "others" : (head?.regions[region]?.name ?? "");
          return (
            <span
              class="racy-part"
              role="gridcell"
              data-part
              tabIndex={-1}
              aria-selected={region !== undefined && region === chosenRegion.value}
              style={{ width: `${(time / most) * 100}%`, background: region === undefined ? colours.value.faint : colourOf.value(region) }}
              title={`${name}: ${duration(time)}, ${percent(time / Math.max(sum(times), 1))} of ${line.name}${region === undefined ? "" : "; press to choose it in all views"}`}
              onClick={() => {
                if (region !== undefined) chosenRegion.value = chosenRegion.value === region ? null : region;
              }}
            />
          );
        })}
      </span>
      <span class="mono" role="gridcell" data-part tabIndex={-1} title={`${column < 0 ? "Exclusive time of all regions" : "Exclusive time of the chosen region"}, ${line.name}`}>
        {duration(total)}
      </span>
    </div>
  );
}

interface OwnRow {
  readonly region: number | undefined;
  readonly exclusive: number;
  readonly inclusive: number;
  readonly visits: number;
  /** Exclusive time, of the mean of all locations. */
  readonly ratio: number;
}

/** The profile of one location. */
function Own({ it, location, width }: { readonly it: Shares; readonly location: number; readonly width: number }): JSX.Element {
  const head = run.value;
  const number = it.exclusive.length / width;
  const rows = Array.from({ length: width }, (_, place): OwnRow => {
    const at = location * width + place;
    let mean = 0;
    for (let other = 0; other < number; other += 1) mean += (it.exclusive[other * width + place] ?? 0) / number;
    const exclusive = it.exclusive[at] ?? 0;
    return { region: it.head.regions[place], exclusive, inclusive: it.inclusive[at] ?? 0, visits: it.visits[at] ?? 0, ratio: exclusive / Math.max(mean, 1e-9) };
  }).filter((row) => row.visits > 0);
  const most = Math.max(...rows.map((row) => row.exclusive), 1);
  const total = rows.reduce((all, row) => all + row.exclusive, 0);
  const columns: ReadonlyArray<Column<OwnRow>> = [
    { name: "Region", help: "What was done", text: (row) => (row.region === undefined ? "others" : (head?.regions[row.region]?.name ?? "")), width: "minmax(160px, 2fr)" },
    { name: "Exclusive", help: "Time in it and not in what is beneath", text: (row) => duration(row.exclusive), value: (row) => row.exclusive, bar: (row) => row.exclusive / most, unit: "ns", width: "120px" },
    { name: "Share", help: "Of the location's exclusive time", text: (row) => percent(row.exclusive / Math.max(total, 1)), value: (row) => row.exclusive / Math.max(total, 1), unit: "%", width: "80px" },
    { name: "Inclusive", help: "Time in it and in what is beneath", text: (row) => (row.region === undefined ? "–" : duration(row.inclusive)), value: (row) => (row.region === undefined ? NaN : row.inclusive), unit: "ns", width: "110px" },
    { name: "Visits", help: "How often", text: (row) => count(row.visits), value: (row) => row.visits, width: "90px" },
    { name: "Of the mean", help: "Exclusive time, of the mean of all locations", text: (row) => percent(row.ratio), value: (row) => row.ratio, unit: "%", width: "110px" },
  ];
  return (
    <>
      <h2>Profile of {head?.locations[location]?.name}</h2>
      <Table
        label="profile of one location"
        rows={rows}
        columns={columns}
        sortedBy={1}
        height={16}
        onChoose={(row) => (chosenRegion.value = row.region ?? null)}
        isChosen={(row) => row.region !== undefined && row.region === chosenRegion.value}
      />
      <AsText text={textOf(`${head?.name ?? ""}: profile of ${head?.locations[location]?.name ?? ""}`, rows.map((row) => ({ ...row, name: row.region === undefined ? "others" : (head?.regions[row.region]?.name ?? "") })))} />
    </>
  );
}
