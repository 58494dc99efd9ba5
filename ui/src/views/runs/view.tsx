/** The runs that there are: each is a link to its page, and two can be opened side by side. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";

import { bytes, count, counted } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { lost } from "../../state/reach.ts";
import { failure } from "../../state/run.ts";
import { addressOf, readRuns, runs } from "../../state/runs.ts";
import { theme, toggleTheme } from "../../state/settings.ts";
import type { WireRun } from "../../wire/generated.ts";
import { Lost } from "../lost.tsx";
import "./runs.css";

const filter = signal("");
/** The run beside which another is to be opened. */
const base = signal<WireRun | null>(null);

export function Runs(): JSX.Element {
  const list = runs.value;
  const first = base.value;
  const all = list?.runs ?? [];
  const words = filter.value.toLowerCase().split(/\s+/);
  const shown = all.filter((run) => {
    const text = `${run.name} ${run.place} ${run.title} ${run.command}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return (
    <div class="runs">
      <header class="runs-top">
        <h1>Runs</h1>
        <input
          type="search"
          aria-label="Filter runs"
          placeholder="Filter"
          title="By file, folder, title and command line; Enter opens the first"
          value={filter.value}
          onInput={(event) => (filter.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            const [top] = shown.filter((run) => run.why_not === null);
            if (event.key === "Enter" && top !== undefined) location.assign(addressOf(first?.number ?? top.number, first === null ? null : top.number));
            if (event.key === "Escape") filter.value = "";
          }}
        />
        <span class="muted">{shown.length === all.length ? counted(all.length, "run") : `${count(shown.length)} of ${counted(all.length, "run")}`}</span>
        <button type="button" onClick={() => void readRuns()} title="Looks again which runs there are">
          Look again
        </button>
        <button type="button" class="runs-theme" onClick={toggleTheme} aria-label={`Theme: ${theme.value}`} title="Light or dark">
          {theme.value === "light" ? "☾" : "☀"}
        </button>
      </header>
      <p class="muted">
        Those beneath <code>{list?.directory ?? "…"}</code>, and those recorded or looked at lately, the latest first.
        {list?.is_cut === true ? " There is more there than was looked at: start marey view nearer to the run." : ""}
      </p>
      {first === null ? null : (
        <p class="runs-base" role="status">
          Which run is to stand beside <strong>{first.name}</strong>?{" "}
          <button type="button" onClick={() => (base.value = null)}>
            None
          </button>
        </p>
      )}
      <Lost />
      {failure.value === null || lost.value !== null ? null : (
        <p class="runs-failure" role="alert">
          {failure.value}
        </p>
      )}
      {shown.length === 0 ? <p>{all.length === 0 ? "None. marey record -- CMD records one." : "No run has all these words."}</p> : <List shown={shown} first={first} />}
    </div>
  );
}

function List({ shown, first }: { readonly shown: readonly WireRun[]; readonly first: WireRun | null }): JSX.Element {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Run</th>
          <th scope="col">Folder</th>
          <th scope="col" title="Local time of this browser">
            Started
          </th>
          <th scope="col" class="runs-number" title="From the first to the last measured instant">
            Duration
          </th>
          <th scope="col" class="runs-number" title="Processes that were recorded, and nodes they ran on">
            Processes
          </th>
          <th scope="col" class="runs-number" title="Visits of regions that were recorded one by one">
            Visits
          </th>
          <th scope="col" class="runs-number" title="Size of its files">
            Size
          </th>
          <th scope="col">
            <span class="runs-unseen">Compare</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {shown.map((run) => (
          <Row key={run.number} run={run} first={first} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ run, first }: { readonly run: WireRun; readonly first: WireRun | null }): JSX.Element {
  const name = run.title === "" ? run.name : run.title;
  if (run.why_not !== null) {
    return (
      <tr class="muted">
        <td>{name}</td>
        <td class="mono">{run.place}</td>
        <td colSpan={6}>{run.why_not}</td>
      </tr>
    );
  }
  const isBase = first?.number === run.number;
  return (
    <tr aria-current={isBase ? "true" : undefined}>
      <td title={run.command}>
        <a href={addressOf(run.number, null)}>{name}</a>
        {run.title === "" ? null : <span class="muted"> {run.name}</span>}
        <div class="mono muted runs-command">{run.command}</div>
      </td>
      <td class="mono">{run.place === "" ? "." : run.place}</td>
      <td>{run.started_ms === null ? "unknown" : new Date(run.started_ms).toLocaleString()}</td>
      <td class="mono runs-number">{duration(run.duration_ns)}</td>
      <td class="mono runs-number">
        {count(run.processes)}
        {run.hosts > 1 ? ` on ${counted(run.hosts, "host")}` : ""}
      </td>
      <td class="mono runs-number">{count(run.visits)}</td>
      <td class="mono runs-number">{bytes(run.bytes)}</td>
      <td class="runs-number">
        {first === null ? (
          <button type="button" onClick={() => (base.value = run)} title="Open it with another run beside it">
            Compare …
          </button>
        ) : isBase ? (
          "the base"
        ) : (
          <a href={addressOf(first.number, run.number)}>beside it</a>
        )}
      </td>
    </tr>
  );
}
