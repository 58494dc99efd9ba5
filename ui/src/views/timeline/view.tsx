/** The timeline: the whole run, rows, mountains, and what is drawn over them. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

import { counted } from "../../base/format.ts";
import { duration, length } from "../../base/time.ts";
import { pictures } from "../../state/pictures.ts";
import { isFolded, rowOrder, type Order } from "../../state/rows.ts";
import { run, whole } from "../../state/run.ts";
import { needShares } from "../../state/shares.ts";
import { hidden, layers, lookAtAll, seenLocations, span } from "../../state/view.ts";
import { totals } from "../../state/timeline.ts";
import { isApproximate } from "../../tracks/states.ts";
import { follow, isStale, picture } from "./fetch.ts";
import { Lane } from "./lane.tsx";
import { Rows } from "./rows.tsx";
import { timelineSvg } from "./save.ts";
import { Minimap, Mountains } from "./strips.tsx";
import "./timeline.css";
import { Twin } from "./twin.tsx";

/** Whether what is drawn stands above the rows as a table, too. */
const isTable = signal(false);

export function Timeline(): JSX.Element {
  useEffect(() => {
    pictures.set("timeline", timelineSvg);
    return follow();
  }, []);
  return (
    <div class="timeline" data-settled={!isStale.value && picture.value !== null && totals.value !== null}>
      <Bar />
      <Minimap />
      <Lane />
      {isTable.value ? <Twin /> : null}
      <Rows />
      <Mountains />
    </div>
  );
}

function Bar(): JSX.Element {
  const shown = picture.value;
  const numberOfMessages = shown?.numberOfMessages;
  const toggle = (name: "messages" | "waits" | "path"): void => {
    layers.value = { ...layers.value, [name]: !layers.value[name] };
  };
  const leftOut = run.value?.left_out ?? [];
  const coarse = leftOut.includes("visits") ? " · coarser than pixels: this page holds no single visits" : " · coarser than pixels while exact buckets are read";
  const hint = shown === null || shown.trust.is_exact ? "" : coarse;
  return (
    <div class="timeline-bar">
      <h1>Timeline</h1>
      <span class="muted">
        {counted(seenLocations.value.length, "location")} · {duration(length(span.value))} of {duration(length(whole.value))}
        {layers.value.messages && numberOfMessages === null ? " · too many messages to draw, zoom in" : ""}
        {layers.value.messages && (numberOfMessages ?? 0) > 5000 ? ` · ${counted(numberOfMessages ?? 0, "message")}, drawn together` : ""}
        {layers.value.messages && leftOut.includes("messages") ? " · this page holds no messages" : ""}
        {hint}
        {shown !== null && isApproximate(shown.states, hidden.value) ? " · hidden states may be among those that are grey, where more than three are too short to be seen" : ""}
      </span>
      <div class="timeline-tools">
        <RowOrder />
        <Toggle name="Waits" shortcut="w" help="Waiting that was explained, drawn in amber over the calls that waited" isOn={layers.value.waits} act={() => toggle("waits")} />
        <Toggle name="Messages" shortcut="m" help="Lines from where messages were sent to where they were received" isOn={layers.value.messages} act={() => toggle("messages")} />
        <Toggle name="Critical path" shortcut="c" help="What made the run as long as it was: whatever is faster on it makes the run shorter" isOn={layers.value.path} act={() => toggle("path")} />
        <Toggle name="Table" shortcut="" help="The same in words and numbers, under the findings" isOn={isTable.value} act={() => (isTable.value = !isTable.value)} />
        <button type="button" onClick={lookAtAll} title="Show the whole run (0)">
          Whole run
        </button>
      </div>
    </div>
  );
}

const ORDERS: ReadonlyArray<readonly [Order, string]> = [
  ["number", "by number"],
  ["waiting", "most waiting first"],
  ["region", "most of the chosen region first"],
];

/** How rows are ordered, and whether threads have their own. */
function RowOrder(): JSX.Element {
  useEffect(needShares, []);
  const processes = new Set((run.value?.locations ?? []).map((location) => location.process)).size;
  const hasThreads = processes < (run.value?.locations.length ?? 0);
  return (
    <>
      <select
        aria-label="Order of the rows"
        title="Order of the rows"
        value={rowOrder.value}
        onChange={(event) => {
          rowOrder.value = ORDERS.find(([order]) => order === event.currentTarget.value)?.[0] ?? "number";
        }}
      >
        {ORDERS.map(([order, name]) => (
          <option value={order}>{name}</option>
        ))}
      </select>
      {hasThreads ? (
        <Toggle name="Fold threads" shortcut="" help="Show the first thread of each process only" isOn={isFolded.value} act={() => (isFolded.value = !isFolded.value)} />
      ) : null}
    </>
  );
}

interface ToggleProps {
  readonly name: string;
  readonly shortcut: string;
  readonly help: string;
  readonly isOn: boolean;
  readonly act: () => void;
}

function Toggle({ name, shortcut, help, isOn, act }: ToggleProps): JSX.Element {
  return (
    <button type="button" aria-pressed={isOn} onClick={act} title={shortcut === "" ? help : `${help} (${shortcut})`}>
      {name}
    </button>
  );
}
