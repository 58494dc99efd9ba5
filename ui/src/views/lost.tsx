/** What is said instead of an answer: that it is on its way, or that the server is lost and what to do then. */
import type { JSX } from "preact";

import { lost, openAgain } from "../state/reach.ts";
import { run } from "../state/run.ts";
import { isListed, LIST } from "../state/runs.ts";

/** Says what is being done, as long as anybody does it. */
export function Coming({ what, isSmall }: { readonly what: string; readonly isSmall?: boolean }): JSX.Element {
  return <p class={isSmall === true ? "muted" : "hush"}>{lost.value === null ? `${what} …` : "Not known: the server does not answer."}</p>;
}

/** What is lost, over everything else; nothing if nothing is. */
export function Lost(): JSX.Element | null {
  const now = lost.value;
  if (now === null) return null;
  return (
    <div class="failure" role="alert">
      {now.loss === "away" ? <Away /> : now.loss === "refused" ? <Refused /> : <Replaced why={now.why} />}
    </div>
  );
}

function Away(): JSX.Element {
  const port = location.port === "" ? "" : ` --port ${location.port}`;
  return (
    <span>
      <strong>marey view has ended, or cannot be reached.</strong> What is shown stays, but nothing more comes. Start it again where it ran,{" "}
      <code>
        marey view {isListed ? "" : (run.value?.name ?? "")}
        {port}
      </code>
      , and open the address that it prints. This page goes on by itself when it is there again.
    </span>
  );
}

function Refused(): JSX.Element {
  return (
    <span>
      <strong>marey view was started again and does not know this browser yet.</strong> Open the new address that it has printed, in this browser. This page then
      goes on by itself.
    </span>
  );
}

function Replaced({ why }: { readonly why: string }): JSX.Element {
  return (
    <>
      <span>{`${why.slice(0, 1).toUpperCase()}${why.slice(1)}.`}</span>
      <button type="button" onClick={openAgain}>
        Open it again
      </button>
      {isListed ? <a href={LIST}>All runs</a> : null}
    </>
  );
}
