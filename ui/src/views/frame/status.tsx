/** The lowest line: how far the run is to be trusted, and what is under the pointer or has the focus, in words. */
import type { JSX } from "preact";

import { duration } from "../../base/time.ts";
import { explain, explained } from "../../state/explained.ts";
import { report, run } from "../../state/run.ts";

export function Status(): JSX.Element {
  const head = run.value;
  const cost = report.value?.overhead?.fraction;
  const isImported = (head?.imported_from ?? "") !== "";
  return (
    <footer class="status" data-topic="status">
      <span title="By how much times of different processes may be wrong against each other">
        Clocks <strong>{head === null ? "…" : head.clock_ns === null ? "not compared" : `± ${duration(head.clock_ns)}`}</strong>
      </span>
      <span title={isImported ? "Another tool has recorded it" : "Time that recording added, of the time of the run, as the recorders measured it themselves"}>
        Measurement cost <strong>{isImported ? "not known" : cost === undefined ? "…" : `${(cost * 100).toFixed(2)} %`}</strong>
      </span>
      <span title="What was lost, unmatched or out of order; the overview lists it">
        Problems <strong>{head === null ? "…" : head.problems === 0 ? "none" : head.problems}</strong>
      </span>
      <Words />
    </footer>
  );
}

/** What something is and does, or else the keys that are used most. */
function Words(): JSX.Element {
  const it = explained.value;
  if (it === null) {
    return (
      <span class="status-keys">
        <kbd>e</kbd> <kbd>s</kbd> zoom <kbd>a</kbd> <kbd>d</kbd> move <kbd>[</kbd> <kbd>]</kbd> previous, next <kbd>t</kbd> elapsed from
        here <kbd>b</kbd> blink <kbd>/</kbd> find <kbd>F1</kbd> explain
      </span>
    );
  }
  return (
    <>
      <span class="status-words">{it.text}</span>
      <button type="button" class="link" onClick={explain} title="The part of the help that is about it (F1)">
        more <kbd>F1</kbd>
      </button>
    </>
  );
}
