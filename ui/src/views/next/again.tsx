/**
 * A button that records the run once more with the rules that were chosen: what will be done, that it is being done, and what
 * came of it. Where no server may do that, how to get one that may.
 */
import { useSignal } from "@preact/signals";
import type { JSX, RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { count } from "../../base/format.ts";
import { again, againFailed, cancelAgain, openBoth, plan, readPlan, runAgain, watch } from "../../state/again.ts";
import { filterText } from "../../state/next.ts";
import { run } from "../../state/run.ts";
import type { WireAgain, WireAgainState } from "../../wire/generated.ts";
import { isHeld } from "../../wire/worker.ts";

export function Again(): JSX.Element | null {
  useEffect(() => {
    if (!isHeld()) void readPlan();
    watch(true);
    return () => watch(false);
  }, []);
  const isAsked = useSignal(false);
  const button = useRef<HTMLButtonElement>(null);
  // A page that holds its run has nobody who could run anything.
  if (isHeld()) return null;
  const state = again.value;
  const failed = againFailed.value === "" ? null : <p class="warn" role="alert">{againFailed}</p>;
  if (state?.is_running === true) return <Running state={state} failed={failed} />;
  const would = plan.value;
  if (would === null) return failed;
  if (would.why_not !== null) return <p class="muted next-why">There is no button for it here: {would.why_not}.</p>;
  const leave = (): void => {
    isAsked.value = false;
    button.current?.focus();
  };
  const start = (): void => {
    isAsked.value = false;
    void runAgain();
  };
  return (
    <div class="next-again">
      <p class="next-tools">
        <button
          type="button"
          ref={button}
          aria-expanded={isAsked.value}
          title="Shows what would run, and asks; then both runs are opened side by side"
          onClick={() => {
            isAsked.value = !isAsked.value;
            // The name that it gets may have been taken since.
            if (isAsked.value) void readPlan();
          }}
        >
          Run again and compare
        </button>
      </p>
      {isAsked.value ? <Asked would={would} onStart={start} onLeave={leave} /> : null}
      {failed}
      {state === null || isAsked.value ? null : <Ended state={state} />}
    </div>
  );
}

interface AskedProps {
  readonly would: WireAgain;
  readonly onStart: () => void;
  readonly onLeave: () => void;
}

/** What would be done, for the user to say so. */
function Asked({ would, onStart, onLeave }: AskedProps): JSX.Element {
  const group = useFocus<HTMLDivElement>();
  return (
    <div
      class="next-asked"
      role="group"
      aria-label="Run again and compare"
      tabIndex={-1}
      ref={group}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        // Elsewhere it takes back what was chosen.
        event.stopPropagation();
        onLeave();
      }}
    >
      <p>Run this with your rights, in <code>{would.directory}</code>?</p>
      <pre class="next-said mono" tabIndex={0} aria-label="The command">{would.command}</pre>
      <ul>
        <li>{filterText.value === "" ? "All is traced: there are no rules." : "It is recorded by the rules above."} {former(would.rules.length)}</li>
        <li><Options options={would.options} /></li>
        <li>
          The new run is <code>{would.output}</code>, beside {run.value?.name}.
        </li>
        <li>The program does again what it did: files that it writes are written again.</li>
      </ul>
      <p class="next-tools">
        <button type="button" title="Runs the command that stands here" onClick={onStart}>
          Run it
        </button>
        <button type="button" title="Nothing is run (Esc)" onClick={onLeave}>
          Do not
        </button>
      </p>
    </div>
  );
}

function former(rules: number): string {
  if (rules === 0) return "";
  return rules === 1 ? "The rule that this run was recorded by holds no more." : `The ${count(rules)} rules that this run was recorded by hold no more.`;
}

function Options({ options }: { readonly options: string | null }): JSX.Element {
  if (options === null) return <>This run does not say with which options it was recorded; the usual ones are taken.</>;
  if (options === "") return <>Options are those that this run was recorded with, the usual ones.</>;
  return (
    <>
      Options are those that this run was recorded with: <code>{options}</code>.
    </>
  );
}

function Running({ state, failed }: { readonly state: WireAgainState; readonly failed: JSX.Element | null }): JSX.Element {
  const group = useFocus<HTMLDivElement>();
  return (
    <div class="next-again" role="group" aria-label="Run again and compare" tabIndex={-1} ref={group}>
      <p class="next-tools">
        <span role="status">{state.is_cancelled ? "The program is being ended" : `Records ${state.output}`}</span>
        <span class="muted">{(state.elapsed_ms / 1000).toFixed(0)} s</span>
        <button type="button" disabled={state.is_cancelled} title="Ends the program" onClick={() => void cancelAgain()}>
          Cancel
        </button>
      </p>
      {failed}
      <Lines lines={state.lines} />
    </div>
  );
}

function Ended({ state }: { readonly state: WireAgainState }): JSX.Element {
  const group = useFocus<HTMLDivElement>();
  const how = state.is_cancelled ? "It was cancelled" : state.code === null ? "It was killed" : `It ended with status ${state.code}`;
  const made = state.page === null ? `${state.output} is no finished run; if it is there, marey merge ${state.output} finishes it.` : `${state.output} was recorded.`;
  return (
    <div role="group" aria-label="What came of it" tabIndex={-1} ref={group}>
      <p class={state.code === 0 ? "" : "warn"} role="status">
        {how}, after {(state.elapsed_ms / 1000).toFixed(1)} s. {made}
      </p>
      {state.page === null ? null : (
        <p class="next-tools">
          <button type="button" title="Both runs side by side" onClick={openBoth}>
            Compare
          </button>
        </p>
      )}
      <Lines lines={state.lines} />
    </div>
  );
}

/** What it has said. */
function Lines({ lines }: { readonly lines: readonly string[] }): JSX.Element | null {
  const text = useRef<HTMLPreElement>(null);
  // The last line is the news.
  useEffect(() => text.current?.scrollTo(0, text.current.scrollHeight), [lines.length]);
  if (lines.length === 0) return null;
  return <pre class="next-said mono" aria-label="What it says" tabIndex={0} ref={text}>{lines.join("\n")}</pre>;
}

/** What takes the place of a button that was pressed, which had the focus, gets it; who is elsewhere stays there. */
function useFocus<E extends HTMLElement>(): RefObject<E | null> {
  const of = useRef<E>(null);
  useEffect(() => {
    const now = document.activeElement;
    if (now === null || now === document.body || now.matches(".next-again button")) of.current?.focus();
  }, []);
  return of;
}
