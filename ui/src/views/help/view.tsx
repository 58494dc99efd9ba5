/** Keys, and what each part of the page is, means and does. */
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

import { wantedTopic } from "../../state/explained.ts";
import "./help.css";
import { KEYS } from "./keys.ts";
import { OfCalls, OfFiles, OfSource, OfTypes } from "./source.tsx";
import { OfCompare, OfTimeline } from "./timeline.tsx";
import { OfData, OfLevels } from "./sentences.tsx";
import { OfCommunication, OfHistogram, OfNext, OfOverview, OfProfile, OfSide, OfStates, OfStatus, OfTop, OfUtilisation, OfWaits } from "./views.tsx";

/** By the names that parts of the page have for it. */
const TOPICS: ReadonlyArray<readonly [topic: string, name: string, Shown: () => JSX.Element]> = [
  ["help", "Keys", Keys],
  ["overview", "Overview", OfOverview],
  ["timeline", "Timeline", OfTimeline],
  ["profile", "Profile", OfProfile],
  ["histogram", "Histogram", OfHistogram],
  ["communication", "Communication", OfCommunication],
  ["waits", "Waits and critical path", OfWaits],
  ["utilisation", "Utilisation", OfUtilisation],
  ["next", "The next run", OfNext],
  ["compare", "Two runs side by side", OfCompare],
  ["source", "Source", OfSource],
  ["levels", "Levels", OfLevels],
  ["data", "Data", OfData],
  ["files", "Files & types", OfFiles],
  ["calls", "Call graph", OfCalls],
  ["types", "Type hierarchy", OfTypes],
  ["states", "The list of states", OfStates],
  ["top", "The top line", OfTop],
  ["side", "The right side", OfSide],
  ["status", "The lowest line", OfStatus],
];

export function Help(): JSX.Element {
  const wanted = wantedTopic.value;
  useEffect(() => {
    if (wanted === null) return;
    const part = document.getElementById(`help-${wanted}`);
    part?.scrollIntoView({ block: "start" });
    part?.focus({ preventScroll: true });
  }, [wanted]);
  return (
    <div class="sheet help" tabIndex={0}>
      <div class="help-topics" role="group" aria-label="Parts of the help">
        {TOPICS.map(([topic, name]) => (
          <button type="button" class="link" title={`Go to: ${name}`} onClick={() => read(topic)}>
            {name}
          </button>
        ))}
      </div>
      {TOPICS.map(([topic, name, Shown]) => (
        <section id={`help-${topic}`} tabIndex={-1} class={wanted === topic ? "help-wanted" : ""}>
          <h2>{name}</h2>
          <Shown />
        </section>
      ))}
      <p>The address of the page says all that is looked at; send it to somebody who has the run.</p>
    </div>
  );
}

function read(topic: string): void {
  // Who asks for the same again wants to go there again.
  wantedTopic.value = null;
  queueMicrotask(() => (wantedTopic.value = topic));
}

function Keys(): JSX.Element {
  return (
    <table>
      <tbody>
        {KEYS.map(([key, what]) => (
          <tr>
            <td>
              <kbd>{key}</kbd>
            </td>
            <td>{what}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
