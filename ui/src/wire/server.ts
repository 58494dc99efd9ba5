/**
 * A carrier for pages that came from a server: requests go there by way of a worker, so that nothing that comes is waited for
 * while something is drawn (fetcher.ts). What is asked before the worker is there goes directly, since the first picture is
 * what is waited for most; so does everything where no worker can be had.
 *
 * Answers say which run they are of. Once one has come, no other run is asked.
 */
import type { Carrier } from "./client.ts";
import FetchWorker from "./fetcher.ts?worker";
import { lossOf, LostError, type Loss } from "./lost.ts";

export interface ToFetch {
  readonly id: number;
  readonly address: string;
  readonly request: string;
  /** The run that is meant; `null` = whichever is there. */
  readonly run: string | null;
}

export type Fetched =
  | { readonly isReady: true }
  | { readonly id: number; readonly frame: ArrayBuffer; readonly run: string | null }
  | { readonly id: number; readonly error: string; readonly status: number | null };

interface Waiting {
  readonly done: (frame: ArrayBuffer) => void;
  readonly failed: (error: Error) => void;
}

const OF_RUN = "X-Marey-Run";

/** `null` = none was seen yet. */
let seen: string | null = null;
let worker: Worker | null = null;
let isReady = false;
let last = 0;
const waiting = new Map<number, Waiting>();

function start(): Worker | null {
  let started: Worker;
  try {
    started = new FetchWorker();
  } catch {
    return null;
  }
  started.onmessage = ({ data }: MessageEvent<Fetched>) => {
    if ("isReady" in data) {
      isReady = true;
      return;
    }
    const asked = waiting.get(data.id);
    waiting.delete(data.id);
    if ("frame" in data) {
      seen ??= data.run;
      asked?.done(data.frame);
    } else asked?.failed(errorOf(data.status, data.error));
  };
  return started;
}

/** Why there is no answer; without a status nobody has answered. */
function errorOf(status: number | null, why: string): Error {
  const loss: Loss | null = status === null ? "away" : lossOf(status);
  if (loss !== null) return new LostError(loss, why);
  return new Error(why === "" ? `the server answered ${status ?? "nothing"}` : why);
}

/** The server that the page came from, asked about one of the runs that it was started with. */
function serverAt(path: string): Carrier {
  return async (request) => {
    worker ??= start();
    if (worker === null || !isReady) return (await fromServer(path, request)).arrayBuffer();
    last += 1;
    const asked = { id: last, address: new URL(path, document.baseURI).href, request, run: seen } satisfies ToFetch;
    const answer = new Promise<ArrayBuffer>((done, failed) => waiting.set(asked.id, { done, failed }));
    worker.postMessage(asked);
    return answer;
  };
}

/** Asks the server for something else of the run that was seen; `null` sends nothing there. */
export async function fromServer(path: string, body: string | null): Promise<Response> {
  const headers: Record<string, string> = seen === null ? {} : { [OF_RUN]: seen };
  let response: Response;
  try {
    response = await fetch(path, body === null ? { headers } : { method: "POST", headers, body });
  } catch (error) {
    throw errorOf(null, error instanceof Error ? error.message : String(error));
  }
  if (!response.ok) throw errorOf(response.status, await response.text());
  seen ??= response.headers.get(OF_RUN);
  return response;
}

export const server = serverAt("api/answer");
/** The same server, asked about the run beside that. */
export const besideServer = serverAt("api/answer/1");
