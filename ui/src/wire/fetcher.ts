/**
 * The worker of a page that has a server: it fetches answers, and hands each on as one piece.
 *
 * The one idea: an answer of some MB comes in many pieces, and to put these together takes longer than a picture may take.
 * Here that is in nobody's way; what is handed on is not copied. It imports nothing at run time.
 */
import type { Fetched, ToFetch } from "./server.ts";

const worker = self as unknown as {
  onmessage: ((event: MessageEvent<ToFetch>) => void) | null;
  postMessage(answer: Fetched, transfer?: Transferable[]): void;
};

worker.onmessage = ({ data: { id, address, request, run } }) => {
  void (async () => {
    let status: number | null = null;
    try {
      const headers: Record<string, string> = run === null ? {} : { "X-Marey-Run": run };
      const response = await fetch(address, { method: "POST", headers, body: request });
      if (!response.ok) {
        status = response.status;
        throw new Error(await response.text());
      }
      const frame = await response.arrayBuffer();
      worker.postMessage({ id, frame, run: response.headers.get("X-Marey-Run") }, [frame]);
    } catch (error) {
      worker.postMessage({ id, error: error instanceof Error ? error.message : String(error), status });
    }
  })();
};
worker.postMessage({ isReady: true });
