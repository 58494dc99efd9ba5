/**
 * A carrier for pages that hold their run: requests go to a worker in which the engine is.
 *
 * The page has its parts in `<script type="application/octet-stream" data-marey="PART" data-bytes="N">`, Base64 of gzip;
 * `marey export` writes them (crates/marey/src/export/page.rs).
 */
import type { Carrier } from "./client.ts";
import EngineWorker from "./engine.ts?worker&inline";

/** Something that was packed: how long it is, and the texts that it is in. */
export interface Packed {
  readonly bytes: number;
  readonly texts: readonly string[];
}

/** What the page holds of a run, and the engine. */
export interface Parts {
  readonly engine: Packed;
  readonly report: Packed;
  readonly name: Packed;
  readonly run: Packed;
  /** What the run beside it is called, and what is known of both; `null` = there is none. */
  readonly beside: { readonly name: Packed; readonly compare: Packed; readonly iterations: Packed } | null;
}

export interface Asked {
  readonly id: number;
  readonly request: string;
}

/** What comes from the worker: how much of the run is unpacked, an answer, or why there is none. */
export type Answered =
  | { readonly progress: number }
  | { readonly id: number; readonly frame: ArrayBuffer }
  | { readonly id: number; readonly error: string; readonly isBroken: boolean };

const NO_WORKER =
  "the engine of this page cannot be started: it runs in a worker, and this browser gives it none. Allow scripts and workers for this page, or open it in another browser";

interface Waiting {
  readonly done: (frame: ArrayBuffer) => void;
  readonly failed: (error: Error) => void;
}

/** Whether the page holds its run. */
export function isHeld(): boolean {
  return document.querySelector("script[data-marey]") !== null;
}

/** The engine of a page that holds its run. `progress` is told how much of it is unpacked, from 0 to 1. */
export function held(progress: (share: number) => void): Carrier {
  return carrier(progress, () => {
    const isPair = document.querySelector('script[data-marey="other-run"]') !== null;
    const beside = isPair ? { name: packed("other-name"), compare: packed("compare"), iterations: packed("iterations") } : null;
    return { engine: packed("engine"), report: packed("report"), name: packed("name"), run: packed("run"), beside };
  });
}

/** Another engine, for the run beside that. */
export function heldBeside(): Carrier {
  return carrier(
    () => undefined,
    () => ({ engine: packed("engine"), report: packed("other-report"), name: packed("other-name"), run: packed("other-run"), beside: null }),
  );
}

function carrier(progress: (share: number) => void, parts: () => Parts): Carrier {
  let worker: Worker | null = null;
  let last = 0;
  const waiting = new Map<number, Waiting>();

  function stop(error: Error): void {
    // The next question starts another.
    worker?.terminate();
    worker = null;
    for (const { failed } of waiting.values()) failed(error);
    waiting.clear();
  }

  function start(): Worker {
    const started = new EngineWorker();
    started.onmessage = ({ data }: MessageEvent<Answered>) => {
      if ("progress" in data) {
        progress(data.progress);
        return;
      }
      const asked = waiting.get(data.id);
      waiting.delete(data.id);
      if ("frame" in data) {
        asked?.done(data.frame);
        return;
      }
      asked?.failed(new Error(data.error));
      if (data.isBroken) stop(new Error(data.error));
    };
    started.onerror = (event) => stop(new Error(event.message || NO_WORKER));
    started.postMessage(parts());
    return started;
  }

  return (request) =>
    new Promise((done, failed) => {
      try {
        worker ??= start();
      } catch {
        failed(new Error(NO_WORKER));
        return;
      }
      last += 1;
      waiting.set(last, { done, failed });
      worker.postMessage({ id: last, request } satisfies Asked);
    });
}

function packed(part: string): Packed {
  const elements = [...document.querySelectorAll<HTMLScriptElement>(`script[data-marey="${part}"]`)];
  return { bytes: Number(elements[0]?.dataset["bytes"] ?? 0), texts: elements.map((it) => it.text) };
}
