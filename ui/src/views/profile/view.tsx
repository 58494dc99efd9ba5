/** The profile: who spent how much time in what. */
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";

import { duration } from "../../base/time.ts";
import { report } from "../../state/run.ts";
import { followShares, isCounting, isOfPaths, isOfSpan, isPart, pathSums, profile, profileShares, type PathSums, type ProfileName } from "../../state/shares.ts";
import { spanLength } from "../../state/told.ts";
import { span, view } from "../../state/view.ts";
import type { CallNode, Report } from "../../wire/report.ts";
import { AddedUp } from "../added_up.tsx";
import { Reduced } from "../reduced.tsx";
import { Flames } from "./flames.tsx";
import { downward, isThere, partOf, upward } from "./nodes.ts";
import "./profile.css";
import { Racy } from "./racy.tsx";
import { RegionsOfSpan } from "./span.tsx";
import { Paths, Regions } from "./tables.tsx";
import { Tree } from "./tree.tsx";
import { Coming } from "../lost.tsx";

interface Way {
  readonly key: ProfileName;
  readonly name: string;
  readonly help: string;
  /** Whether it can be of a span, and not of the whole run only. */
  readonly hasSpan: boolean;
}

const WAYS: readonly Way[] = [
  { key: "region", name: "By region", help: "Sums over all locations, and how these differ", hasSpan: true },
  { key: "tree", name: "Call tree", help: "From the outermost function down to the regions, with the time of all that is beneath", hasSpan: true },
  { key: "callers", name: "Bottom-up", help: "From each function or region that took time of its own up to those that called it", hasSpan: true },
  { key: "racy", name: "By location", help: "A bar line for each location, with mean, largest and smallest", hasSpan: true },
  { key: "path", name: "By call path", help: "Sums over all locations, told apart by what was around", hasSpan: false },
  { key: "flames", name: "Flame graph", help: "The call tree as boxes: as wide as their time, what is inside stands below", hasSpan: true },
];

export function Profile(): JSX.Element {
  useEffect(followShares, []);
  const way = WAYS.find((it) => it.key === profile.value) ?? WAYS[0];
  const text = report.value;
  return (
    <div class="sheet">
      <section>
        <p class="profile-ways">
          <span role="group" aria-label="How to look at it">
            {WAYS.map((it) => (
              <button type="button" aria-pressed={profile.value === it.key} title={it.help} onClick={() => (profile.value = it.key)}>
                {it.name}
              </button>
            ))}
          </span>
          <button type="button" class="link" title="How much the next run records of which regions: rules for `marey record`" onClick={() => (view.value = "next")}>
            Next run …
          </button>
          {way?.hasSpan === true ? <Of /> : <span class="muted">Of the whole run, all locations together.</span>}
        </p>
        {isOfSpan.value && way?.hasSpan === true ? <AddedUp to={span.value.to} lacks="that is not in the sums of a span, but in those of the whole run" /> : null}
        {isOfSpan.value && way?.hasSpan === true ? <Reduced to={span.value.to} regions={null} lacks="those are missing in the sums of a span, and their time is with the regions around them" /> : null}
        <div class={isCounting.value ? "profile-stale" : undefined}>
          {way?.key === "racy" ? <Racy /> : way?.key === "region" && isOfSpan.value ? <RegionsOfSpan /> : text === null ? <Coming what="The report is being made" /> : <OfReport way={way?.key ?? "region"} text={text} />}
        </div>
      </section>
    </div>
  );
}

/** Of the whole run, or of the span. */
function Of(): JSX.Element {
  const damage = (isOfPaths.value ? pathSums.value : profileShares.value)?.head.damage ?? [];
  return (
    <>
      <span role="group" aria-label="Of what">
        <button type="button" aria-pressed={!isOfSpan.value} title="Exact also where single visits were no longer recorded" onClick={() => (isOfSpan.value = false)}>
          Whole run
        </button>
        <button type="button" aria-pressed={isOfSpan.value} title="Of visits what lies in the span that is shown; it follows the timeline" onClick={() => (isOfSpan.value = true)}>
          {`Span that is shown, ${duration(spanLength.value)}`}
        </button>
      </span>
      {isOfSpan.value && damage.length > 0 ? <span class="warn">Not all could be read: {damage.join("; ")}</span> : null}
    </>
  );
}

function OfReport({ way, text }: { readonly way: ProfileName; readonly text: Report }): JSX.Element {
  const nodes = text.call_tree ?? [];
  if (way === "path") return <Paths rows={text.call_paths ?? []} />;
  if (way === "region") return <Regions rows={text.regions ?? []} />;
  return isPart.value ? <TreeOfSpan way={way} nodes={nodes} sums={pathSums.value} /> : <AsTree way={way} nodes={nodes} />;
}

function TreeOfSpan({ way, nodes, sums }: { readonly way: ProfileName; readonly nodes: readonly CallNode[]; readonly sums: PathSums | null }): JSX.Element {
  const part = useMemo(() => partOf(nodes, sums?.sums ?? new Map()), [nodes, sums]);
  if (sums === null) return <Coming what="Times are being added up" />;
  if (!sums.head.is_whole) return <p class="hush">This span has so many visits that they are not added up; zoom in, or look at the whole run.</p>;
  if (!part.some(isThere)) return <p class="hush">No region was visited in this span.</p>;
  const hasSamples = nodes.some((node) => node.kind === "function" && node.call_paths.length === 0);
  return (
    <>
      <AsTree way={way} nodes={part} />
      {hasSamples ? <p class="muted">Time in regions only: when functions ran outside of them, samples do not tell.</p> : null}
    </>
  );
}

function AsTree({ way, nodes }: { readonly way: ProfileName; readonly nodes: readonly CallNode[] }): JSX.Element {
  const [down, up] = useMemo(() => [downward(nodes), upward(nodes)], [nodes]);
  const total = down.reduce((sum, line) => sum + line.inclusive, 0);
  if (way === "tree") return <Tree name="call tree" lines={down} total={total} isUpward={false} />;
  if (way === "callers") return <Tree name="bottom-up" lines={up} total={total} isUpward />;
  return <Flames nodes={nodes} />;
}
