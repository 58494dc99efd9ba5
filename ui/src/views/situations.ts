/** Situations and anomalous visits in words: who, what, when, and the probable cause. */
import { bytes, counted, count, percent, place } from "../base/format.ts";
import { duration, instant } from "../base/time.ts";
import type { RunHead, WireAnomaly, WireCall, WireCause, WireSituation, WireSituationKind } from "../wire/generated.ts";

export const KINDS: Readonly<Record<WireSituationKind, string>> = {
  "slow-down": "Slow-down",
  "speed-up": "Speed-up",
  "under-utilised": "Under-utilised",
  "over-utilised": "Over-utilised",
  "message-queue": "Message queue",
  "processing-time": "Processing time",
};

/** More are not named. */
const MOST_NAMED = 3;

export function whoOf(head: RunHead, locations: readonly number[]): string {
  if (locations.length > MOST_NAMED) {
    return locations.length === head.locations.length ? `all ${count(locations.length)} locations` : counted(locations.length, "location");
  }
  const names = locations.map((it) => head.locations[it]?.name ?? "");
  return names.length < 2 ? (names[0] ?? "") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** `MPI_Send in exchange (comm.cpp:12)`. */
export function callOf(head: RunHead, call: WireCall): string {
  const { caller } = call;
  const where = place(caller.file, caller.line);
  const name = head.regions[call.region]?.name ?? "";
  const from = caller.function === "" ? where : where === "" ? caller.function : `${caller.function} (${where})`;
  return from === "" ? name : `${name} in ${from}`;
}

/** A number that was measured, with its unit. */
export function measured(it: WireSituation, value: number): string {
  switch (it.unit) {
    case "ns":
      return duration(value);
    case "share":
      return percent(value);
    case "bytes":
      return bytes(value);
    case "messages":
      return Number.isInteger(value) ? counted(value, "message") : `${value.toFixed(1)} messages`;
  }
}

export function sentence(head: RunHead, it: WireSituation): string {
  const name = whoOf(head, it.locations);
  const who = name.slice(0, 1).toUpperCase() + name.slice(1);
  const isOne = it.locations.length === 1;
  const [now, normal] = [measured(it, it.measured), measured(it, it.normal)];
  const call = it.call === null ? "" : callOf(head, it.call);
  const what = ((): string => {
    switch (it.kind) {
      case "slow-down":
      case "speed-up": {
        const isSlower = it.kind === "slow-down";
        const verb = `${isSlower ? "slow" : "speed"}${isOne ? "s" : ""} ${isSlower ? "down" : "up"}`;
        return `${who} ${verb} at ${instant(it.from_ns)}: ${call} ends every ${now} instead of every ${normal}, ${counted(it.number, "time")} until ${instant(it.to_ns)}; ${duration(it.cost_ns)} ${isSlower ? "lost" : "won"}.`;
      }
      case "under-utilised":
      case "over-utilised":
        return `${who} ${isOne ? "is" : "are"} useful for ${it.kind === "under-utilised" ? "only " : ""}${now} of ${isOne ? "its" : "their"} time; the mean is ${normal}.`;
      case "message-queue": {
        const besides = it.unit === "bytes" ? ` in ${counted(it.number, "message")}` : `, ${bytes(it.number)} together,`;
        return `Messages pile up at ${name} from ${instant(it.from_ns)} to ${instant(it.to_ns)}: up to ${now}${besides} were sent and not asked for.`;
      }
      case "processing-time":
        return `${who} takes ${now} from one message to the next on average, received by ${call}, where the mean is ${normal}; ${duration(it.cost_ns)} more than that.`;
    }
  })();
  const also = it.others === 0 ? "" : ` It shows in ${counted(it.others, "other call")}, too.`;
  const noise = it.is_noise ? " It had no processor for that: machine noise, and nothing that the program does." : "";
  return `${what}${it.cause === null ? "" : ` Probable cause: ${why(head, it, it.cause)}.`}${noise}${also}`;
}

function why(head: RunHead, it: WireSituation, cause: WireCause): string {
  const who = head.locations[cause.location]?.name ?? "";
  const what = cause.call === null ? "computation outside of recorded calls" : callOf(head, cause.call);
  const amount = Math.abs(cause.amount);
  switch (it.kind) {
    case "slow-down":
    case "speed-up":
      return `${who} ${cause.is_waiting ? "waits" : "takes"} ${duration(amount)} ${cause.amount < 0 ? "less" : "more"} each time ${cause.is_waiting ? "in" : "for"} ${what}`;
    case "under-utilised":
    case "over-utilised":
      return cause.is_waiting ? `it waits for ${who}, ${duration(amount)} more than the mean in ${what}` : `it takes ${duration(amount)} more than the mean for ${what}`;
    case "message-queue": {
      const { meanwhile } = it;
      const instead = meanwhile === null ? "" : ` while ${whoOf(head, it.locations)} spends ${duration(meanwhile.amount)} on ${meanwhile.call === null ? "computation outside of recorded calls" : callOf(head, meanwhile.call)}`;
      return `${who} sends ${counted(Math.round(amount), "message")} with ${what}${instead}`;
    }
    case "processing-time":
      return `it spends ${duration(amount)} of that time on ${what}`;
  }
}

export function aboutAnomaly(head: RunHead, it: WireAnomaly): string {
  const where = head.locations[head.lines[it.line]?.location ?? 0]?.name ?? "";
  const waited = it.waits_for === null ? "" : ` It waits for ${head.locations[it.waits_for]?.name ?? ""}.`;
  const noise = it.is_noise ? " It had no processor: machine noise." : "";
  return `${callOf(head, it.call)} on ${where} at ${instant(it.start_ns)} took ${duration(it.duration_ns)} instead of about ${duration(it.expected_ns)}.${waited}${noise}`;
}
