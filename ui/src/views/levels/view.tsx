/**
 * The sentence workbench: a verb done to a noun on a level, under others. What it cost, what that was made of, where, and
 * when; and what served it, layer by layer.
 */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

import { bytes, count, counted, percent } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { ANYTHING, ask, asked, contextOf, cost, followSentences, isAsking, isOfSpan, isTiming, lookBeneath, times, written } from "../../state/levels.ts";
import { run, whole } from "../../state/run.ts";
import { functions, needFunctions } from "../../state/source.ts";
import { span, view } from "../../state/view.ts";
import type { SentencesHead, WireChoices, WireSentence } from "../../wire/generated.ts";
import { AddedUp } from "../added_up.tsx";
import { Coming } from "../lost.tsx";
import { Of } from "../of.tsx";
import { Lists } from "./lists.tsx";
import { Course } from "./course.tsx";
import { Groups } from "./groups.tsx";
import "./levels.css";
import { MadeOf } from "./made_of.tsx";

export function Levels(): JSX.Element {
  useEffect(followSentences, []);
  const it = cost.value;
  const isSettled = it !== null && !isAsking.value && times.value !== null && !isTiming.value;
  return (
    <div class="sheet" data-settled={isSettled}>
      <p class="levels-tools">
        <Of isOfSpan={isOfSpan} help="Of visits what lies in the span that is shown; it follows the timeline" />
        <button type="button" title="What is chosen here is looked for there: its visits stand in the rows, in their colour" onClick={() => (view.value = "timeline")}>
          Show in the timeline
        </button>
      </p>
      {isOfSpan.value ? <AddedUp to={span.value.to} lacks="that is not in the sums of a span, but in those of the whole run" /> : null}
      {it === null ? (
        <Coming what="Sentences are being added up" />
      ) : (
        <div class={isAsking.value ? "levels-stale" : undefined}>
          <Said head={it.head} />
          <Contexts head={it.head} />
          {it.head.is_whole ? <Told head={it.head} /> : <p class="hush">This span has so many visits that they are not added up; zoom in, or look at the whole run.</p>}
        </div>
      )}
    </div>
  );
}

function Told({ head }: { readonly head: SentencesHead }): JSX.Element {
  const { by } = cost.value?.of ?? asked.value;
  return (
    <>
      {head.damage.length > 0 ? <p class="warn">Not all could be read: {head.damage.join("; ")}</p> : null}
      <Lists head={head} />
      {head.visits === 0 ? (
        <p class="hush">That never happened{asked.value.under.length > 0 ? " under this context: press a chip to be limited by it no longer, or choose something else" : " here: choose something else"}.</p>
      ) : (
        <>
          <section>
            <h2>Made of — what the time went to; the parts add up to it</h2>
            <MadeOf head={head} />
          </section>
          <section>
            <Groups head={head} by={by} />
          </section>
          <section>
            <Course />
          </section>
        </>
      )}
      <Command />
      <Above />
    </>
  );
}

/** The sentence in words, with its figures. */
function Said({ head }: { readonly head: SentencesHead }): JSX.Element {
  const { of } = cost.value?.of ?? asked.value;
  const untimed = head.untimed === 0 ? "" : `, ${count(head.untimed)} of them only counted`;
  const moved = head.bytes === 0 ? "" : `, ${bytes(head.bytes)}`;
  return (
    <p class="levels-said">
      <strong>{sentence(of)}</strong>{" "}
      <span title="Visits are all that fit, wherever they are; the time is that of the outermost, with all that lies beneath, so nothing counts twice">
        {head.visits === 0 ? "never" : `${counted(head.visits, "time")}${untimed}, ${duration(head.time_ns)} with all that it took beneath, ${percent(head.time_ns / Math.max(head.of_ns, 1))} of the time of all threads${moved}`}
      </span>
    </p>
  );
}

function sentence({ level, verb, noun }: WireSentence): string {
  if (level === null && verb === null && noun === null) return "Everything";
  const to = noun === null ? (verb === null ? "" : " to anything") : `${verb === null ? " to" : ""} ${noun}`;
  return `${verb ?? "Anything"}${to} on ${level ?? "any level"}`;
}

/** So many of each kind are proposed. */
const PROPOSED = 40;

/** What could be around something: levels, each with verbs and nouns of what is asked for, and functions, those that took longest first. */
function proposals(head: SentencesHead, of: WireSentence): readonly string[] {
  const names = (choices: WireChoices): readonly string[] => choices.rows.slice(0, PROPOSED).map(({ name }) => name);
  const level = of.level ?? "";
  const sentences = [...names(head.levels).map((it) => `${it}:`), ...names(head.verbs).map((verb) => `${level}:${verb}${of.noun === null ? "" : ` ${of.noun}`}`)];
  const own = (functions.value?.functions ?? []).slice(0, PROPOSED).map(({ name }) => name);
  return [...new Set([...sentences.filter((it) => contextOf(it) !== null), ...own])];
}

/** What must be around it. */
function Contexts({ head }: { readonly head: SentencesHead }): JSX.Element {
  const text = useSignal("");
  const { of, under } = asked.value;
  const isAnything = of.level === null && of.verb === null && of.noun === null;
  const add = (event: Event): void => {
    event.preventDefault();
    const next = contextOf(text.value);
    if (next === null) return;
    ask({ under: [...under, next] });
    text.value = "";
  };
  return (
    <form class="levels-tools" onSubmit={add}>
      <span title="Only what lies beneath one of each of these is counted">Under</span>
      {under.map((context, place) => (
        <button type="button" class="chip" title={`Only what was done under ${written(context)} is counted; press to be limited by it no longer`} onClick={() => ask({ under: under.filter((_, at) => at !== place) })}>
          {written(context)} ×
        </button>
      ))}
      {under.length === 0 ? <span class="muted">anything</span> : null}
      <input
        value={text.value}
        placeholder="function, or level:verb noun"
        aria-label="Another context"
        list="levels-contexts"
        onFocus={needFunctions}
        title="A function of the program that must be around it, or a sentence such as coarray:get b; Enter adds it"
        onInput={(event) => (text.value = event.currentTarget.value)}
      />
      <datalist id="levels-contexts">
        {proposals(head, of).map((value) => (
          <option value={value} />
        ))}
      </datalist>
      {isAnything ? null : (
        <button type="button" title="Peels this layer back: what was done beneath it, on whatever level" onClick={lookBeneath}>
          Look beneath
        </button>
      )}
      {isAnything && under.length === 0 ? null : (
        <button type="button" title="Everything that was recorded, under nothing" onClick={() => ask({ of: ANYTHING, under: [] })}>
          Everything
        </button>
      )}
    </form>
  );
}

/** The same on the command line. */
function Command(): JSX.Element {
  const { of, under, by } = asked.value;
  const quoted = (word: string): string => (/^[\w.,:%-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
  const words = [of.level === null ? [] : ["--level", of.level], of.verb === null ? [] : ["--verb", of.verb], of.noun === null ? [] : ["--noun", of.noun], ...under.map((it) => ["--under", written(it)])].flat();
  if (of.level === null && of.verb === null && of.noun === null) words.push("--verb", "*");
  return (
    <p class="muted" title="The same of the whole run on the command line">
      <code>{["marey", "sentence", run.value?.name ?? "", ...words, "--by", by].map(quoted).join(" ")}</code>
    </p>
  );
}

/** What a run without a programming model lacks, and how to have it. */
function Above(): JSX.Element | null {
  const common = ["source", "mpi", "threads", "files", "system", "memory"];
  const isThere = (place: number): boolean => run.value?.regions.some((region) => region.level === place && region.visits > 0) === true;
  if (whole.value.to <= 1 || run.value?.levels.some((level, place) => !common.includes(level) && isThere(place)) !== false) return null;
  return (
    <p class="muted">
      This run tells of no programming model above MPI and threads. Coarrays of Fortran are recorded if their library is loaded as a shared one (<code>marey f90</code>), constructs of OpenMP and what Kokkos tells as they are, spans and tasks of Rust with{" "}
      <code>marey-rust</code>; then array, loop or task stand here, with the calls that served them beneath.
    </p>
  );
}
