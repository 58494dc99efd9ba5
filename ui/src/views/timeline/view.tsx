/** The timeline: the whole run, rows, mountains, and what is drawn over them. */
import { effect } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

import { counted } from "../../base/format.ts";
import { duration, length } from "../../base/time.ts";
import { isLong, needAnnotations } from "../../state/annotations.ts";
import { needPlaces } from "../../state/counters.ts";
import { needOverlaps, overlapsUnknown } from "../../state/overlaps.ts";
import { pictures } from "../../state/pictures.ts";
import { run, whole } from "../../state/run.ts";
import { spanLength } from "../../state/told.ts";
import { hidden, layers, lookAtAll, seenLocations, span, twin } from "../../state/view.ts";
import { areTotalsOld, totals } from "../../state/timeline.ts";
import type { Collectives } from "../../tracks/collectives.ts";
import { areTogether, numberIn } from "../../tracks/messages.ts";
import { isApproximate } from "../../tracks/states.ts";
import { AddedUp } from "../added_up.tsx";
import { Reduced } from "../reduced.tsx";
import { Clock } from "./clock.tsx";
import { RowsMenu } from "../rows.tsx";
import { areRangesStale, follow, isStale, picture } from "./fetch.ts";
import { Lane } from "./lane.tsx";
import { Rows } from "./rows.tsx";
import { ShowMenu } from "./menus.tsx";
import { timelineSvg } from "./save.ts";
import { Minimap, Mountains } from "./strips.tsx";
import "./timeline.css";
import { Twin } from "./twin.tsx";

export function Timeline(): JSX.Element {
  useEffect(() => {
    pictures.set("timeline", timelineSvg);
    void needPlaces();
    void needOverlaps();
    const ends = [
      follow(),
      // The first picture comes first.
      effect(() => {
        const isDrawn = !isStale.value && picture.value !== null && totals.value !== null;
        if (isDrawn && !isLong.value) void needAnnotations();
      }),
    ];
    return () => ends.forEach((end) => end());
  }, []);
  return (
    <div class="timeline" data-settled={!isStale.value && picture.value !== null && !areTotalsOld.value && !areRangesStale.value}>
      <Bar />
      <AddedUp to={span.value.to} lacks="their rows are empty there, and messages and waits are missing" />
      <Reduced to={span.value.to} regions={null} lacks="those have no bars" />
      <Clock />
      <Minimap />
      <Lane />
      {twin.value === null ? null : <Twin />}
      <Rows />
      <Mountains />
    </div>
  );
}

function Bar(): JSX.Element {
  const shown = picture.value;
  const messages = shown?.messages ?? null;
  const notDrawn = shown !== null && shown.messagesNotDrawn > 0 ? `; ${counted(shown.messagesNotDrawn, "message")} of pairs that talk less ${shown.messagesNotDrawn === 1 ? "is" : "are"} left out` : "";
  const leftOut = run.value?.left_out ?? [];
  const coarse = leftOut.includes("visits") ? " · coarser than pixels: this page holds no single visits" : " · coarser than pixels while exact buckets are read";
  const hint = shown === null || shown.trust.is_exact ? "" : coarse;
  return (
    <div class="timeline-bar">
      <h1>Timeline</h1>
      <span class="muted">
        {counted(seenLocations.value.length, "location")} · {duration(spanLength.value)} of {duration(length(whole.value))}
        {layers.value.messages && shown?.numberOfMessages === null ? " · too many messages to draw, zoom in" : ""}
        {layers.value.messages && messages !== null && areTogether(messages) ? ` · about ${counted(numberIn(messages, span.value), "message")}, drawn together${notDrawn}` : ""}
        {layers.value.operations && shown?.numberOfOperations === null ? " · too many operations of all to draw, zoom in" : ""}
        {layers.value.operations && isTogether(shown?.operations ?? null) ? ` · ${counted(shown?.numberOfOperations ?? 0, "operation")} of all, drawn together` : ""}
        {(shown?.counters?.damage.length ?? 0) > 0 ? ` · not all values of counters could be read: ${shown?.counters?.damage[0]}` : ""}
        {layers.value.overlaps && overlapsUnknown.value !== null ? ` · ${overlapsUnknown.value}` : ""}
        {shown?.counters?.isWhole === false ? " · too many values of counters to draw, zoom in" : ""}
        {layers.value.messages && leftOut.includes("messages") ? " · this page holds no messages" : ""}
        {hint}
        {shown !== null && isApproximate(shown.states, hidden.value) ? " · hidden states may be among those that are grey, where more than three are too short to be seen" : ""}
      </span>
      <div class="timeline-tools">
        <RowsMenu />
        <ShowMenu />
        <button
          type="button"
          aria-pressed={twin.value !== null}
          onClick={() => (twin.value = twin.value === null ? "states" : null)}
          title="The same in words and numbers: rows, lines from row to row, mountains and the whole run"
        >
          Table
        </button>
        <button type="button" onClick={lookAtAll} title="Show the whole run (0)">
          Whole run
        </button>
      </div>
    </div>
  );
}

function isTogether(operations: Collectives | null): boolean {
  return operations !== null && operations.number.some((number) => number > 1);
}
