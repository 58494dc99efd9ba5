/** All about an operation of all: who took part, who came last, how long each waited. */
import type { JSX } from "preact";

import { bytes, counted } from "../../base/format.ts";
import { duration, instant } from "../../base/time.ts";
import { stepOperation, type Member, type OperationDetails } from "../../state/operation.ts";
import { run } from "../../state/run.ts";
import { chosenRegion, lookAround, origin } from "../../state/view.ts";
import { goTo, goToLocation } from "../../state/visit.ts";
import type { RunHead } from "../../wire/generated.ts";
import { Table, type Column } from "../../widgets/table.tsx";
import { Fact } from "./facts.tsx";

export function SelectedOperation({ it }: { readonly it: OperationDetails }): JSX.Element | null {
  const head = run.value;
  if (head === null) return null;
  const { about, members } = it;
  const region = about.region === null ? null : (head.regions[about.region] ?? null);
  const late = (members.find((member) => member.location === about.last)?.enter ?? about.start_ns) - about.start_ns;
  const waited = members.reduce((sum, member) => sum + (Number.isNaN(member.waited) ? 0 : member.waited), 0);
  const unfinished = members.filter((member) => Number.isNaN(member.leave)).length;
  return (
    <section aria-label="Selected operation">
      <h2>Selected operation</h2>
      <dl class="facts">
        <Fact name="Operation">
          {region === null ? (
            "unknown"
          ) : (
            <button type="button" class="link" title="Choose it in all views" onClick={() => (chosenRegion.value = about.region)}>
              <code>{region.name}</code>
            </button>
          )}
        </Fact>
        <Fact name="Communicator">{about.communicator === "" ? `number ${it.operation.communicator}` : about.communicator}</Fact>
        <Fact name="Members">{members.length === about.size ? members.length : `${members.length} of ${about.size} recorded`}</Fact>
        {about.root === null ? null : <Fact name="Root">{head.locations[about.root]?.name}</Fact>}
        <Fact name="Start">{instant(about.start_ns)}</Fact>
        {origin.value === null ? null : <Fact name="Since the origin">{duration(about.start_ns - origin.value)}</Fact>}
        <Fact name="Duration">{duration(about.end_ns - about.start_ns)}</Fact>
        <Fact name="Came last">
          <button type="button" class="link" title="Go to who came last" onClick={() => void goToLocation(about.last, about.start_ns + late)}>
            {head.locations[about.last]?.name}
          </button>
          {late > 0 ? `, ${duration(late)} after the first` : ""}
        </Fact>
        {waited > 0 ? (
          <Fact name="Waited, all" isWarning>
            {duration(waited)}
          </Fact>
        ) : null}
        <Data members={members} />
        {unfinished > 0 ? (
          <Fact name="Never left" isWarning>
            {counted(unfinished, "member")}
          </Fact>
        ) : null}
        {it.damage.length > 0 ? (
          <Fact name="Damaged" isWarning>
            {it.damage.join("; ")}
          </Fact>
        ) : null}
      </dl>
      <div class="operation-members">
        <Table
          label="members of the operation"
          rows={members}
          columns={columns(head, about.start_ns, members)}
          sortedBy={1}
          height={10}
          onChoose={(member) => visit(member)}
        />
      </div>
      <p class="side-tools">
        <button type="button" onClick={() => lookAround(about.start_ns, about.end_ns)} title="Zoom to it (f)">
          Zoom
        </button>
        <button type="button" onClick={() => void stepOperation("previous")} title="Previous operation on this communicator ([)">
          ‹ Previous
        </button>
        <button type="button" onClick={() => void stepOperation("next")} title="Next operation on this communicator (])">
          Next ›
        </button>
      </p>
    </section>
  );
}

/** Whether all gave and got the same. */
function areAlike(members: readonly Member[]): boolean {
  const [first] = members;
  return members.every((member) => member.bytesOut === first?.bytesOut && member.bytesIn === first?.bytesIn);
}

function Data({ members }: { readonly members: readonly Member[] }): JSX.Element | null {
  const sum = (of: (member: Member) => number): number => members.reduce((sum, member) => sum + of(member), 0);
  const [out, got] = [sum((it) => it.bytesOut), sum((it) => it.bytesIn)];
  if (out === 0 && got === 0) return null;
  const [first] = members;
  const words = (out: number, got: number): string => (out === got ? bytes(out) : `${bytes(out)} given, ${bytes(got)} got`);
  return (
    <Fact name="Data">
      {areAlike(members) && first !== undefined ? `${words(first.bytesOut, first.bytesIn)} each` : `${words(out, got)} together`}
    </Fact>
  );
}

function columns(head: RunHead, start: number, members: readonly Member[]): ReadonlyArray<Column<Member>> {
  const time = (value: number): string => (Number.isNaN(value) ? "–" : duration(value));
  const always: ReadonlyArray<Column<Member>> = [
    { name: "Who", help: "Member; press to go to its visit", text: (it) => head.locations[it.location]?.name ?? "", width: "minmax(42px, 1fr)" },
    { name: "Came", help: "How long after the first it entered", text: (it) => duration(it.enter - start), value: (it) => it.enter - start, unit: "ns", width: "58px" },
    { name: "Waited", help: "How long it waited in the call that completed its part, where that was explained", text: (it) => time(it.waited), value: (it) => it.waited, unit: "ns", width: "58px" },
  ];
  if (areAlike(members)) return always;
  const data: Column<Member> = {
    name: "Data",
    help: "What it gave → what it got; ⇄ = as much of both",
    text: (it) => dataOf(it.bytesOut, it.bytesIn),
    value: (it) => it.bytesOut + it.bytesIn,
    parts: [["Gave B", (it) => it.bytesOut], ["Got B", (it) => it.bytesIn]],
    width: "78px",
  };
  return [...always, data];
}

/** In the little room that there is beside the timeline. */
function dataOf(out: number, got: number): string {
  if (out === got) return out === 0 ? "0 B" : `⇄ ${bytes(out)}`;
  return `${out === 0 ? "" : `${bytes(out)} `}→${got === 0 ? "" : ` ${bytes(got)}`}`;
}

/** Goes to the visit that completed a member's part. */
function visit(member: Member): void {
  const at = Number.isNaN(member.start) ? member.enter : member.start;
  if (member.line === 0xffffffff) void goToLocation(member.location, at);
  else goTo(member.line, at, Number.isNaN(member.leave) ? at + 1 : member.leave);
}
