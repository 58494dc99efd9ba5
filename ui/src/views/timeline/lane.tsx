/** Findings where they are in time: a strip above the rows, a mark for each. */
import type { JSX } from "preact";

import { duration } from "../../base/time.ts";
import { pxFromTime, timeFromPx } from "../../canvas/scale.ts";
import { span } from "../../state/view.ts";
import { placed, show } from "../findings.tsx";
import { GUTTER } from "./draw.ts";
import { plotWidth } from "./place.ts";

/** Marks lie at least so far apart, CSS pixels. */
const ROOM = 22;

export function Lane(): JSX.Element | null {
  const findings = placed.value;
  if (findings.length === 0) return null;
  const scale = { span: span.value, left: GUTTER, width: Math.max(plotWidth.value, 1) };
  const [first, last] = [timeFromPx(scale, GUTTER), timeFromPx(scale, GUTTER + scale.width)];
  let edge = -Infinity;
  return (
    <div class="timeline-lane" role="group" aria-label="Findings in the course of time">
      <span class="timeline-name">Findings</span>
      {findings.map((finding) => {
        if (finding.to_ns < first || finding.from_ns > last) return null;
        const [left, right] = [Math.max(pxFromTime(scale, finding.from_ns), GUTTER), Math.min(pxFromTime(scale, finding.to_ns), GUTTER + scale.width)];
        const at = Math.min(Math.max((left + right) / 2 - 9, edge + ROOM), GUTTER + scale.width - 18);
        edge = at;
        return (
          <>
            <span class="timeline-extent" style={{ left: `${left}px`, width: `${Math.max(right - left, 1)}px` }} />
            <button
              type="button"
              class="timeline-mark"
              style={{ left: `${at}px` }}
              title={`${finding.text} (${duration(finding.to_ns - finding.from_ns)})`}
              aria-label={`Finding ${finding.number}: ${finding.text}`}
              onClick={() => show(finding)}
            >
              {finding.number}
            </button>
          </>
        );
      })}
    </div>
  );
}
