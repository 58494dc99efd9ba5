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

worker.onmessage = ({ data: { id, address, request } }) => {
  void (async () => {
    try {
      const response = await fetch(address, { method: "POST", body: request });
      if (!response.ok) throw new Error((await response.text()) || `the server answered ${response.status}`);
      const frame = await response.arrayBuffer();
      worker.postMessage({ id, frame }, [frame]);
    } catch (error) {
      worker.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
    }
  })();
};
worker.postMessage({ isReady: true });
