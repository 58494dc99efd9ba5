/** All about the operation of all that was chosen, and going from one to the next on its communicator. */
import { batch, effect, signal } from "@preact/signals";

import { Latest } from "../base/latest.ts";
import type { Operation, Towards, WireOperation } from "../wire/generated.ts";
import { engine, fail, run } from "./run.ts";
import { inTurn } from "./steps.ts";
import { chosenOperation, chooseOperation, see } from "./view.ts";

/** A member of it; ns, not a number = not known. */
export interface Member {
  readonly location: number;
  /** Line of the call that completed its part; 2³²−1 = unknown. */
  readonly line: number;
  readonly enter: number;
  readonly leave: number;
  /** Enter of the call that completed it. */
  readonly start: number;
  readonly waited: number;
  readonly bytesOut: number;
  readonly bytesIn: number;
}

export interface OperationDetails {
  readonly operation: Operation;
  readonly about: WireOperation;
  /** In the order in which they came. */
  readonly members: readonly Member[];
  readonly damage: readonly string[];
}

/** `null` = none was chosen, or there is none. */
export const operation = signal<OperationDetails | null>(null);

async function read(of: Operation): Promise<OperationDetails | null> {
  const frame = await engine.collective(of);
  const about = frame.head.operation;
  if (about === null) return null;
  const [location, line] = [frame.u32("location"), frame.u32("line")];
  const [enter, leave, start, waited] = [frame.f64("enter"), frame.f64("leave"), frame.f64("start"), frame.f64("waited")];
  const [bytesOut, bytesIn] = [frame.f64("bytes_out"), frame.f64("bytes_in")];
  const members = Array.from(location, (where, at): Member => ({
    location: where,
    line: line[at] ?? 0xffffffff,
    enter: enter[at] ?? NaN,
    leave: leave[at] ?? NaN,
    start: start[at] ?? NaN,
    waited: waited[at] ?? NaN,
    bytesOut: bytesOut[at] ?? 0,
    bytesIn: bytesIn[at] ?? 0,
  }));
  return { operation: of, about, members, damage: frame.head.damage };
}

/** Begins to follow what is chosen. */
export function followOperation(): void {
  const details = new Latest<Operation, OperationDetails | null>(
    read,
    (found, asked) => {
      if (chosenOperation.peek() === asked) operation.value = found;
    },
    fail,
  );
  effect(() => {
    const chosen = chosenOperation.value;
    if (run.value === null) return;
    if (chosen === null) operation.value = null;
    else details.want(chosen);
  });
}

/** Goes to the next operation on its communicator, or to the one before, if there is one. */
export function stepOperation(towards: Towards): Promise<void> {
  return inTurn(async () => {
    const now = chosenOperation.peek();
    if (now === null) return;
    const instance = now.instance + (towards === "next" ? 1 : -1);
    if (instance < 0) return;
    const found = await read({ communicator: now.communicator, instance });
    // Somebody may have chosen another meanwhile.
    if (found === null || chosenOperation.peek() !== now) return;
    batch(() => {
      chooseOperation(found.operation);
      see(found.about.start_ns, found.about.end_ns);
    });
  });
}
