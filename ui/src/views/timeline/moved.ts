/** The picture while a clock is being moved: what the locations of one process did lies elsewhere. */
import { withExtents } from "../../tracks/collectives.ts";
import type { Picture } from "./fetch.ts";

/** A copy of a picture with some lines and locations moved, ns. Counters and the critical path follow when it is kept. */
export function movedPicture(picture: Picture, lines: ReadonlySet<number>, locations: ReadonlySet<number>, by: number): Picture {
  const along = (times: Float64Array, keys: Uint32Array, moved: ReadonlySet<number>): Float64Array => times.map((time, at) => (moved.has(keys[at] ?? -1) ? time + by : time));
  const { states, waits, messages, operations, events } = picture;
  return {
    ...picture,
    states: { ...states, start: along(states.start, states.line, lines) },
    waits: waits === null ? null : { ...waits, start: along(waits.start, waits.line, lines) },
    messages:
      messages === null
        ? null
        : { ...messages, sent: along(messages.sent, messages.from, locations), received: along(messages.received, messages.to, locations) },
    events: events === null ? null : { ...events, time: along(events.time, events.location, locations), last: along(events.last, events.location, locations) },
    operations:
      operations === null
        ? null
        : withExtents({ ...operations, enter: along(operations.enter, operations.location, locations), leave: along(operations.leave, operations.location, locations) }),
  };
}
