/**
 * Data: what it cost to act on each array, from which lines, where its elements lie and which were referred to; and what
 * messages come from and go to.
 */
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

import { array, arrays, followData, isAsking, isOfSpan } from "../../state/data.ts";
import { followSelection, isSelecting } from "../../state/sub_array.ts";
import { span } from "../../state/view.ts";
import type { ArraysHead } from "../../wire/generated.ts";
import { AddedUp } from "../added_up.tsx";
import { Coming } from "../lost.tsx";
import { Of } from "../of.tsx";
import { Arrays } from "./arrays.tsx";
import { Buffers } from "./buffers.tsx";
import "./data.css";
import { Detail } from "./detail.tsx";
import { Redistributions } from "./redistribution.tsx";

export function Data(): JSX.Element {
  useEffect(followData, []);
  useEffect(followSelection, []);
  const head = arrays.value;
  return (
    <div class="sheet" data-settled={head !== null && !isAsking.value && !isSelecting.value}>
      <p class="data-tools">
        <Of isOfSpan={isOfSpan} help="Accesses that began in the span that is shown; it follows the timeline" />
      </p>
      {isOfSpan.value ? <AddedUp to={span.value.to} lacks="that is not in the sums of a span, but in those of the whole run" /> : null}
      {head === null ? <Coming what="Accesses are being added up" /> : <Told head={head} />}
    </div>
  );
}

function Told({ head }: { readonly head: ArraysHead }): JSX.Element {
  const it = array.value;
  if (head.arrays.length === 0 && head.buffers.length === 0 && head.redistributions.length === 0) return <Nothing />;
  if (!head.is_whole) return <p class="hush">This span has so many visits that they are not added up; zoom in, or look at the whole run.</p>;
  return (
    <div class={isAsking.value ? "data-stale" : undefined}>
      {head.damage.length > 0 ? <p class="warn">Not all could be read: {head.damage.join("; ")}</p> : null}
      <section>
        <h2>Arrays — what it cost to act on them across processes</h2>
        {head.arrays.length === 0 ? (
          <p class="muted">
            No level of this run tells of arrays. Coarrays of Fortran are recorded if their library is loaded as a shared one: compile with <code>marey f90</code> and record again.
          </p>
        ) : (
          <Arrays head={head} />
        )}
      </section>
      {it === null ? null : <Detail array={it} of={head.of_ns} />}
      <Redistributions head={head} />
      <section>
        <h2>Messages — which data they come from and go to, in the whole run</h2>
        {head.buffers.length === 0 ? <p class="muted">No message with a buffer was recorded whole.</p> : <Buffers head={head} />}
      </section>
    </div>
  );
}

function Nothing(): JSX.Element {
  return (
    <p class="hush">
      Here stand arrays, what it cost to act on each of them and from which lines, and the data that messages come from and go to. This run tells of neither: it has no messages and windows of MPI, no coarrays, and no Views of Kokkos. Messages and windows are recorded of every MPI program (
      <code>marey record -- mpirun …</code>); coarrays of Fortran if their library is loaded as a shared one (<code>marey f90</code>); Views as they are.
    </p>
  );
}
