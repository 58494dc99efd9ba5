/** The menu of the rows, of whichever view has some: their order, their threads, their hosts. */
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

import { counted } from "../base/format.ts";
import { closedHosts, foldAll, groups, hasHosts, isFolded, isGrouped, rowOrder, toggleHost, toggleHosts, type Order } from "../state/rows.ts";
import { run } from "../state/run.ts";
import { needShares } from "../state/shares.ts";
import { Popover } from "../widgets/popover.tsx";

const ORDERS: ReadonlyArray<readonly [Order, string]> = [
  ["number", "by number"],
  ["waiting", "most waiting first"],
  ["region", "most of the chosen region first"],
];

/** How rows are ordered, and whether threads have their own. */
export function RowsMenu(): JSX.Element {
  useEffect(needShares, []);
  const processes = new Set((run.value?.locations ?? []).map((location) => location.process)).size;
  const hasThreads = processes < (run.value?.locations.length ?? 0);
  return (
    <Popover name="Rows" help="Order and groups of the rows">
      <label>
        Order
        <select
          aria-label="Order of the rows"
          value={rowOrder.value}
          onChange={(event) => {
            rowOrder.value = ORDERS.find(([order]) => order === event.currentTarget.value)?.[0] ?? "number";
          }}
        >
          {ORDERS.map(([order, name]) => (
            <option value={order}>{name}</option>
          ))}
        </select>
      </label>
      {hasThreads ? (
        <Check name="Fold threads" shortcut="" help="Show the first thread of each process only" isOn={isFolded.value} act={foldAll} />
      ) : null}
      <HostChecks />
    </Popover>
  );
}

/** Which hosts have their rows shown, where there are several. */
function HostChecks(): JSX.Element | null {
  if (!hasHosts.value) return null;
  const hosts = [...groups.value].map(([host, processes]) => ({ host, processes }));
  return (
    <>
      <Check name="Group by host" shortcut="" help="Rows stand beneath the name of their host" isOn={isGrouped.value} act={() => (isGrouped.value = !isGrouped.value)} />
      {hosts.length === 0 ? null : (
        <>
          <h2>Rows of these hosts</h2>
          <button type="button" onClick={toggleHosts} title="Shows a strip for each host in the place of its rows, or all rows again">
            Close or open all <kbd>h</kbd>
          </button>
        </>
      )}
      {hosts.map(({ host, processes }) => (
        <Check name={host} shortcut="" help={`Show the rows of ${counted(processes, "process", "processes")}, or one strip`} isOn={!closedHosts.value.has(host)} act={() => toggleHost(host)} />
      ))}
    </>
  );
}

interface CheckProps {
  readonly name: string;
  readonly shortcut: string;
  readonly help: string;
  readonly isOn: boolean;
  readonly act: () => void;
}

/** A box to be ticked, its key beside it. */
export function Check({ name, shortcut, help, isOn, act }: CheckProps): JSX.Element {
  return (
    <label title={help}>
      <input type="checkbox" checked={isOn} onChange={act} />
      {name}
      {shortcut === "" ? null : <kbd>{shortcut}</kbd>}
    </label>
  );
}
