/**
 * A carrier for pages that came from a server: requests go there by way of a worker, so that nothing that comes is waited for
 * while something is drawn (fetcher.ts). What is asked before the worker is there goes directly, since the first picture is
 * what is waited for most.
 */
import type { Carrier } from "./client.ts";
import FetchWorker from "./fetcher.ts?worker";

export interface ToFetch {
  readonly id: number;
  readonly address: string;
  readonly request: string;
}

export type Fetched = { readonly isReady: true } | { readonly id: number; readonly frame: ArrayBuffer } | { readonly id: number; readonly error: string };

interface Waiting {
  readonly done: (frame: ArrayBuffer) => void;
  readonly failed: (error: Error) => void;
}

let worker: Worker | null = null;
let isReady = false;
let last = 0;
const waiting = new Map<number, Waiting>();

function start(): Worker {
  const started = new FetchWorker();
  started.onmessage = ({ data }: MessageEvent<Fetched>) => {
    if ("isReady" in data) {
      isReady = true;
      return;
    }
    const asked = waiting.get(data.id);
    waiting.delete(data.id);
    if ("frame" in data) asked?.done(data.frame);
    else asked?.failed(new Error(data.error));
  };
  return started;
}

/** The server that the page came from, asked about one of the runs that it was started with. */
function serverAt(path: string): Carrier {
  return async (request) => {
    worker ??= start();
    if (!isReady) return directly(path, request);
    last += 1;
    const asked = { id: last, address: new URL(path, document.baseURI).href, request } satisfies ToFetch;
    const answer = new Promise<ArrayBuffer>((done, failed) => waiting.set(asked.id, { done, failed }));
    worker.postMessage(asked);
    return answer;
  };
}

async function directly(path: string, request: string): Promise<ArrayBuffer> {
  const response = await fetch(path, { method: "POST", body: request });
  if (!response.ok) throw new Error((await response.text()) || `the server answered ${response.status}`);
  return response.arrayBuffer();
}

export const server = serverAt("api/answer");
/** The same server, asked about the run beside that. */
export const besideServer = serverAt("api/answer/1");
