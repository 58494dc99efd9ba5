/**
 * All about the message that was chosen, and going from one to the next between the same two locations.
 *
 * A message has no number: it is known by its two ends, its tag and its bytes. Those that are alike in all of that are one.
 *
 * Not here: several that are drawn together, of which all there is to tell stands in the choice itself.
 */
import { batch, effect, signal } from "@preact/signals";

import { Latest } from "../base/latest.ts";
import type { Towards, Traffic, WireVisit } from "../wire/generated.ts";
import { engine, fail, run, whole } from "./run.ts";
import { inTurn } from "./steps.ts";
import { chooseMessage, chosenMessage, see, type ChosenMessage } from "./view.ts";
import { talks, visitsAt } from "./visit.ts";

export interface MessageDetails {
  readonly of: ChosenMessage;
  /** Whether there is such a message. */
  readonly isThere: boolean;
  /** `null` = not known. */
  readonly communicator: string | null;
  /** The call that sent it, and the one that completed its receive; `null` = not known. */
  readonly send: WireVisit | null;
  readonly receive: WireVisit | null;
}

/** `null` = none was chosen, or it is being read. */
export const message = signal<MessageDetails | null>(null);

/** How it stands in the address; empty = none is chosen. */
export function messageText(): string {
  const it = chosenMessage.value;
  return it === null ? "" : [it.from, it.sent, it.to, it.received, it.tag ?? "-", it.bytes, it.number].join("@");
}

export function applyMessage(text: string): void {
  const [, from, sent, to, received, tag, bytes, number] = /^(\d+)@(\d+)@(\d+)@(\d+)@(\d+|-)@(-?\d+)@(\d+)$/.exec(text) ?? [];
  const locations = run.peek()?.locations.length ?? 0;
  const next: ChosenMessage = { from: Number(from), sent: Number(sent), to: Number(to), received: Number(received), tag: tag === "-" ? null : Number(tag), bytes: Number(bytes), number: Number(number) };
  const isOne = next.from < locations && next.to < locations && next.number > 0 && Number.isSafeInteger(next.sent) && Number.isSafeInteger(next.received);
  // The same stays the same object, so that it is not asked for again.
  if (!isOne) chosenMessage.value = null;
  else if (!isChosenMessage(next)) chosenMessage.value = next;
}

/** Whether it is the one that is chosen. */
export function isChosenMessage(it: ChosenMessage): boolean {
  const now = chosenMessage.value;
  return now !== null && now.number === it.number && inOrder(now, it) === 0;
}

/** Chooses it, and looks at it if it is not seen: one change, which is taken back as one. */
export function goToMessage(it: ChosenMessage): void {
  batch(() => {
    chooseMessage(it);
    see(it.sent, Math.max(it.received, it.sent + 1));
  });
}

/** Begins to follow what is chosen. */
export function followMessage(): void {
  const details = new Latest<ChosenMessage, MessageDetails>(
    read,
    (found, asked) => {
      if (chosenMessage.peek() === asked) message.value = found;
    },
    fail,
  );
  effect(() => {
    const chosen = chosenMessage.value;
    if (run.value === null) return;
    if (chosen === null || message.peek()?.of !== chosen) message.value = null;
    if (chosen !== null && chosen.number === 1) details.want(chosen);
  });
}

async function read(of: ChosenMessage): Promise<MessageDetails> {
  // Of those that were sent before it few are under way then: messages seldom overtake each other. Where clocks are wrong one may
  // seem to arrive before it is sent.
  const [there, sent, received] = await Promise.all([between(of, of.received, Math.max(of.received, of.sent) + 1), visitsAt(of.from, of.sent), visitsAt(of.to, of.received - 1)]);
  const found = there.messages.find((it) => inOrder(it, of) === 0);
  // A page that holds no messages cannot know.
  const isLeftOut = run.peek()?.left_out.includes("messages") === true;
  const began = (it: WireVisit): boolean => it.start_ns === of.sent;
  const ended = (it: WireVisit): boolean => it.end_ns === of.received;
  return {
    of,
    isThere: found !== undefined || !there.isAll || isLeftOut,
    communicator: found?.communicator ?? null,
    send: callAmong(sent, began),
    receive: callAmong(received, ended),
  };
}

/** The call among what encloses it and what it calls: the one whose edge is the message's, or else one that talks. */
function callAmong(visits: readonly WireVisit[], isEdge: (it: WireVisit) => boolean): WireVisit | null {
  return visits.find((it) => talks(it) && isEdge(it)) ?? visits.find(talks) ?? visits.find(isEdge) ?? null;
}

interface Found extends ChosenMessage {
  readonly communicator: string | null;
}

/** Messages from one location to another that were sent before an instant and received at another or later, the earliest first; whether these are all. */
async function between({ from, to }: ChosenMessage, received: number, sentBefore: number): Promise<{ readonly messages: readonly Found[]; readonly isAll: boolean }> {
  const processes = run.peek()?.locations.map((it) => it.process) ?? [];
  const [sender, receiver] = [processes[from] ?? 0, processes[to] ?? 0];
  const pair: Traffic["processes"] = [[sender, sender + 1], [receiver, receiver + 1]];
  const limits = { sizes: null, durations: null, tag: null, order: "sent" } as const;
  const frame = await engine.traffic({ from_ns: Math.max(Math.round(received), 0), to_ns: Math.round(sentBefore), processes: pair, pair, ...limits });
  const [froms, tos, communicators] = [frame.u32("send_location"), frame.u32("receive_location"), frame.u32("communicator")];
  const [sent, got, bytes, tags] = [frame.f64("send_time"), frame.f64("receive_time"), frame.f64("size"), frame.f64("tag")];
  const names = new Map(frame.head.communicators);
  const messages = Array.from(froms, (it, at): Found => {
    const [tag, communicator] = [tags[at] ?? NaN, communicators[at] ?? 0xffffffff];
    const name = communicator === 0xffffffff ? null : names.get(communicator) || `number ${communicator}`;
    return { from: it, sent: sent[at] ?? 0, to: tos[at] ?? 0, received: got[at] ?? 0, tag: Number.isNaN(tag) ? null : tag, bytes: bytes[at] ?? 0, number: 1, communicator: name };
  });
  return { messages: messages.filter((it) => it.from === from && it.to === to).sort(inOrder), isAll: frame.head.number <= froms.length };
}

/** Messages of the same two locations by when they were sent; 0 = it is the same one. */
function inOrder(a: ChosenMessage, b: ChosenMessage): number {
  return a.sent - b.sent || a.received - b.received || (a.tag ?? -1) - (b.tag ?? -1) || a.bytes - b.bytes || a.from - b.from || a.to - b.to;
}

/** Goes to the next message between the same two locations, or to the one before, if there is one. */
export function stepMessage(towards: Towards): Promise<void> {
  return inTurn(async () => {
    const now = chosenMessage.peek();
    if (now === null) return;
    const found = await (towards === "next" ? behind(now) : before(now));
    // Somebody may have chosen another meanwhile.
    if (found === null || chosenMessage.peek() !== now) return;
    const { communicator: _, ...next } = found;
    goToMessage(next);
  });
}

/** The length of the first span that is looked through: each is longer than the one before, so that what is near is found soon. */
function first(): number {
  return Math.max(Math.ceil(whole.peek().to / 1024), 1);
}

async function behind(now: ChosenMessage): Promise<Found | null> {
  const end = whole.peek().to + 1;
  for (let length = first(); ; length *= 4) {
    const until = Math.min(now.sent + length, end);
    const all = await between(now, Math.min(now.sent, now.received), until);
    // More under way than are told: then only those that are received later.
    const told = all.isAll ? all : await between(now, now.received + 1, until);
    const found = [...all.messages, ...told.messages].sort(inOrder).find((it) => inOrder(it, now) > 0);
    if (found !== undefined || until >= end) return found ?? null;
  }
}

async function before(now: ChosenMessage): Promise<Found | null> {
  const latest = (messages: readonly Found[]): Found | null => messages.findLast((it) => inOrder(it, now) < 0) ?? null;
  for (let length = first(); ; length *= 4) {
    const from = Math.max(now.sent - length, 0);
    const all = await between(now, from, now.sent + 1);
    const found = latest(all.messages);
    // Whatever was received before the span was sent before it, too.
    if (all.isAll && ((found !== null && found.sent >= from) || from === 0)) return found;
    if (!all.isAll) return crowded(now, from, latest);
  }
}

/** The same where there are more than are told: of those that are received late enough, so few that all are. */
async function crowded(now: ChosenMessage, from: number, latest: (messages: readonly Found[]) => Found | null): Promise<Found | null> {
  let [few, many] = [now.received + 1, from];
  let best: Found | null = null;
  while (few - many > 1) {
    const middle = Math.floor((few + many) / 2);
    const some = await between(now, middle, now.sent + 1);
    const found = latest(some.messages);
    if (some.isAll && found !== null) return found;
    best ??= found;
    if (some.isAll) few = middle;
    else many = middle;
  }
  return best;
}
