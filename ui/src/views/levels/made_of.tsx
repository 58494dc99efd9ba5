/** What the time of a sentence was made of: explicit or implicit, computation, communication or waiting, by level. */
import type { JSX } from "preact";

import { count, percent } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import type { SentencesHead, WireShare } from "../../wire/generated.ts";
import { Table, type Column } from "../../widgets/table.tsx";

const CLASSES = ["computation", "communication", "waiting"] as const;

const MEANS: Readonly<Record<string, string>> = {
  computation: "the program's own work, and book-keeping",
  communication: "moving data",
  waiting: "until others have done something",
};

interface Sum {
  readonly class: string;
  readonly isExplicit: boolean;
  readonly time: number;
}

export function MadeOf({ head }: { readonly head: SentencesHead }): JSX.Element {
  const sums = [true, false].flatMap((isExplicit) => CLASSES.map((it): Sum => ({ class: it, isExplicit, time: head.shares.reduce((sum, share) => (share.class === it && share.is_explicit === isExplicit ? sum + share.time_ns : sum), 0) })));
  const parts = sums.filter((sum) => sum.time > 0);
  const most = Math.max(...head.shares.map((share) => share.time_ns), 1);
  const share = (time: number): number => time / Math.max(head.time_ns, 1);
  const columns: ReadonlyArray<Column<WireShare>> = [
    { name: "Level", help: "Where it was done", text: (row) => row.level, width: "minmax(80px, 1fr)" },
    { name: "What", help: "By the role of the verb: computation, communication, or waiting", text: (row) => row.class, width: "minmax(110px, 1fr)" },
    { name: "For", help: "Explicit: the sentence itself, or what serves it by doing the same. Implicit: what keeps that which it means, such as the lock around a transfer", text: (row) => (row.is_explicit ? "explicit" : "implicit"), width: "80px" },
    { name: "Visits", help: "How often", text: (row) => count(row.visits), value: (row) => row.visits, width: "100px" },
    { name: "Time", help: "Exclusive: without what was recorded inside", text: (row) => duration(row.time_ns), value: (row) => row.time_ns, bar: (row) => row.time_ns / most, unit: "ns", width: "110px" },
    { name: "Share", help: "Of the time of the sentence", text: (row) => percent(share(row.time_ns)), value: (row) => share(row.time_ns), unit: "%", width: "80px" },
  ];
  return (
    <div class="levels-made">
      <div>
        <div class="levels-bar" role="img" aria-label={parts.map((part) => `${words(part)} ${percent(share(part.time))}`).join(", ")} title="What the time was made of">
          {parts.map((part) => (
            <span class={`levels-part levels-${part.class} ${part.isExplicit ? "" : "levels-implicit"}`} style={{ width: `${share(part.time) * 100}%` }} title={`${words(part)}: ${duration(part.time)}, ${percent(share(part.time))}; ${MEANS[part.class] ?? ""}`} />
          ))}
        </div>
        <ul class="levels-legend">
          {parts.map((part) => (
            <li title={`${words(part)}: ${MEANS[part.class] ?? ""}, ${part.isExplicit ? "what the sentence says, or what serves it by doing the same" : "done to keep what the sentence means"}`}>
              <span class={`levels-key levels-${part.class} ${part.isExplicit ? "" : "levels-implicit"}`} aria-hidden="true" />
              {words(part)} <span class="mono">{duration(part.time)}</span> <span class="muted">{percent(share(part.time))}</span>
            </li>
          ))}
        </ul>
      </div>
      <Table label="what it was made of" rows={head.shares} columns={columns} sortedBy={4} height={6} />
    </div>
  );
}

function words({ class: it, isExplicit }: Sum): string {
  return `${isExplicit ? "explicit" : "implicit"} ${it}`;
}
