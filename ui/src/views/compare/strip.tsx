/** How long the iterations of both main loops took, one bar each: what one run took more has the colour of the difference. */
import { effect, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { count, counted } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import type { Ink } from "../../canvas/ink.ts";
import { Surface } from "../../canvas/surface.ts";
import { aligned, goToIteration, iterations, type Iterations } from "../../state/pair.ts";
import { drawDifference, iterationAt, type DifferenceLook } from "../../tracks/difference.ts";
import { colours } from "../colours.ts";
import { GUTTER, MARGIN } from "../timeline/draw.ts";
import { relative, signed } from "./words.ts";
import { Coming } from "../lost.tsx";

/** The iteration under the pointer; `null` = none. */
const pointed = signal<number | null>(null);

/** Where bars are in a canvas. */
function place(width: number): Pick<DifferenceLook, "left" | "width"> {
  return { left: GUTTER, width: Math.max(width - GUTTER - MARGIN, 1) };
}

function lengths(all: Iterations, side: 0 | 1): Float64Array {
  return all.from[side].map((from, at) => (all.to[side][at] ?? 0) - from);
}

export function Strip(): JSX.Element {
  const all = iterations.value;
  if (all === null) return <Coming what="Iterations are being looked for" isSmall />;
  const { base, other } = all.head;
  if (base === null || other === null) {
    const whose = base === null && other === null ? "either run" : base === null ? "A" : "B";
    return <p class="compare-strip-none muted">No iterations were found in {whose}, so both can be aligned at their beginnings only.</p>;
  }
  return <Bars all={all} />;
}

function Bars({ all }: { readonly all: Iterations }): JSX.Element {
  const element = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const canvas = element.current;
    if (canvas === null) return;
    const surface = new Surface(canvas, (context) => {
      drawStrip(context.canvas, context.width, context.height, all);
      return "done";
    });
    const end = effect(() => {
      void [colours.value, aligned.value];
      surface.invalidate();
    });
    const at = (event: PointerEvent): number | null => {
      const box = canvas.getBoundingClientRect();
      return iterationAt(event.clientX - box.left, place(box.width), Math.max(all.from[0].length, all.from[1].length));
    };
    const move = (event: PointerEvent): void => {
      pointed.value = at(event);
    };
    const leave = (): void => {
      pointed.value = null;
    };
    const press = (event: PointerEvent): void => {
      const found = at(event);
      if (event.button === 0 && found !== null && found < all.common) goToIteration(found);
    };
    canvas.addEventListener("pointermove", move);
    canvas.addEventListener("pointerleave", leave);
    canvas.addEventListener("pointerdown", press);
    return () => {
      end();
      surface.dispose();
      canvas.removeEventListener("pointermove", move);
      canvas.removeEventListener("pointerleave", leave);
      canvas.removeEventListener("pointerdown", press);
    };
  }, [all]);
  return (
    <div class="compare-strip">
      <p class="compare-strip-said">
        <Said all={all} />
      </p>
      <div class="compare-bars">
        <span class="compare-strip-name">Iterations</span>
        <canvas ref={element} role="img" aria-label="How long each iteration takes in A and in B; the table Iterations has the numbers" title="Press a bar to align both runs on its iteration" />
      </div>
    </div>
  );
}

export function drawStrip(canvas: Ink, width: number, height: number, all: Iterations): void {
  const palette = colours.peek();
  canvas.fillStyle = palette.background;
  canvas.fillRect(0, 0, width + 1, height + 1);
  drawDifference(canvas, lengths(all, 0), lengths(all, 1), { ...place(width), top: 8, bottom: height - 18, colours: palette, chosen: aligned.peek(), longest: duration });
}

/** The iteration under the pointer, or else the one that both are aligned on, or all of them. */
function Said({ all }: { readonly all: Iterations }): JSX.Element {
  const { base, other, is_same: isSame, per } = all.head;
  const at = pointed.value ?? aligned.value;
  const together = per > 1 ? ` (${count(per)} in a row stand together)` : "";
  if (at === null || at >= Math.max(all.from[0].length, all.from[1].length)) {
    return (
      <>
        A has {counted(base?.number ?? 0, "iteration")} of {duration(base?.median_ns ?? 0)} (median), B {count(other?.number ?? 0)} of {duration(other?.median_ns ?? 0)}
        {together}.{" "}
        {isSame ? (
          <span class="muted">They are told by {base?.name}.</span>
        ) : (
          <span class="warn">
            Those of A are told by {base?.name}, those of B by {other?.name}: they may be iterations of different loops.
          </span>
        )}
      </>
    );
  }
  const [old, fresh] = [lengths(all, 0)[at], lengths(all, 1)[at]];
  const difference = old === undefined || fresh === undefined ? null : fresh - old;
  return (
    <>
      <strong>Iteration {count(at + 1)}</strong>
      {together}: A {old === undefined ? "has none" : duration(old)}, B {fresh === undefined ? "has none" : duration(fresh)}
      {difference === null ? null : (
        <span class={difference > 0 ? "table-more" : difference < 0 ? "table-less" : "muted"}>
          {" "}
          {signed(difference, duration)} ({relative(old ?? 0, fresh ?? 0)})
        </span>
      )}
    </>
  );
}

