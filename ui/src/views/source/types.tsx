/** The type hierarchy: what nothing is beneath stands at the left, what is derived from it to the right; and the members of one type. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";

import { bytes, counted } from "../../base/format.ts";
import { fail } from "../../state/run.ts";
import { areAlone, chooseFunction, chosenType, foldedTypes, followSource, lookAtLine, needTypes, readType, showSource, source, typeAbout, types } from "../../state/source.ts";
import type { SourceTypesHead, WireBase, WireMember, WireSourceType } from "../../wire/generated.ts";
import { Table, type Column } from "../../widgets/table.tsx";
import { Coming } from "../lost.tsx";
import { shortPath, Tabs, WithSource } from "./parts.tsx";
import "./source.css";
import { Tree, type TreeRow } from "./tree.tsx";

interface Row extends TreeRow {
  readonly it: WireSourceType;
  /** How it is derived from the one above it. */
  readonly base: WireBase | null;
  /** It stands beneath several. */
  readonly bases: number;
}

export function Types(): JSX.Element {
  useEffect(followSource, []);
  useEffect(needTypes, []);
  return <WithSource name="types">{() => <Shown />}</WithSource>;
}

function Shown(): JSX.Element {
  const here = useSignal<string | null>(null);
  const [head, folded] = [types.value, foldedTypes.value];
  const rows = useMemo(() => (head === null ? [] : rowsOf(head, folded, areAlone.value)), [head, folded, areAlone.value]);
  const wanted = chosenType.value;
  const at = rows.find((row) => row.key === here.value && (wanted === null || row.it.name === wanted)) ?? rows.find((row) => row.it.name === wanted) ?? rows[0];
  const number = at?.it.number;
  useEffect(() => {
    if (number !== undefined) void readType(number).catch(fail);
  }, [number]);
  if (head === null) return <Coming what="Types are being read" />;
  const related = new Set(head.bases.flatMap(({ derived, base }) => (base === null ? [derived] : [derived, base])));
  const alone = head.types.length - head.types.filter((it) => related.has(it.number)).length;
  const toggle = (row: Row): void => {
    const next = new Set(folded);
    if (!next.delete(row.key)) next.add(row.key);
    foldedTypes.value = next;
  };
  const go = (row: Row): void => {
    here.value = row.key;
    chosenType.value = row.it.name;
  };
  return (
    <div class="source">
      <p class="source-bar">
        <Tabs name="types" />
        {alone === 0 ? null : (
          <label title="Types that are neither derived from others nor have any derived from them">
            <input type="checkbox" checked={areAlone.value} onChange={(event) => (areAlone.value = event.currentTarget.checked)} /> {alone === 1 ? "also the one that stands alone" : `also the ${counted(alone, "type")} that stand alone`}
          </label>
        )}
        <button type="button" title="Open all rows" disabled={folded.size === 0} onClick={() => (foldedTypes.value = new Set())}>
          Open all
        </button>
        <span class="source-legend muted" title="A type stands beneath each that it is derived from">
          bases at the left, what is derived from them to the right · <b class="types-virtual">virtual</b> shared by all that are derived · × stands beneath several
        </span>
      </p>
      {rows.length === 0 ? (
        <p class="hush">{alone === 0 ? "The program has no types of its own, or its debug information tells of none." : "No type of the program is derived from another; tick the box above to see all types."}</p>
      ) : (
        <div class="source-parts types-parts">
          <Tree label="type-hierarchy" indent={72} help="Arrows go from row to row and fold them, Enter shows the source" rows={rows} here={at?.key ?? null} go={go} toggle={toggle} act={(row) => (go(row), goToType(row.it))} title={titleOf} mark={(row) => (row.it.name === wanted ? "branch-chosen" : "")} draw={(row) => <Drawn row={row} />} />
          {at === undefined ? null : <About it={at.it} />}
        </div>
      )}
    </div>
  );
}

function Drawn({ row: { it, base, bases } }: { readonly row: Row }): JSX.Element {
  return (
    <>
      {base === null ? null : <span class="types-access">{base.kind === "implements" ? "for" : base.access === "public" ? "" : base.access}</span>}
      {base?.is_virtual === true ? <b class="types-virtual">virtual</b> : null}
      <code>{it.name}</code>
      <span class="muted">{it.kind}</span>
      {bases > 1 ? (
        <span class="muted" title={`Derived from ${bases} types, and stands beneath each`}>
          ×{bases}
        </span>
      ) : null}
    </>
  );
}

function titleOf({ it, base, depth, bases }: Row): string {
  const how = base === null ? "derived from none of these" : `${base.kind === "implements" ? "implements" : `${base.access}${base.is_virtual ? " virtual" : ""} derived from`} ${base.name}`;
  return `${it.kind} ${it.name}, level ${depth}: ${how}${bases > 1 ? `; of ${bases} bases in all` : ""}; ${counted(it.members, "member")}${it.bytes === null ? "" : `, ${bytes(it.bytes)}`}`;
}

function About({ it }: { readonly it: WireSourceType }): JSX.Element {
  const found = typeAbout.value;
  const members = found?.it.number === it.number ? found.members : [];
  const path = it.file === null ? "" : (source.value?.files[it.file]?.path ?? "");
  const columns: ReadonlyArray<Column<WireMember>> = [
    { name: "Member", help: "Its name in the type; press a row to go to its line", text: (row) => row.name || "(none)", width: "minmax(90px, 2fr)" },
    { name: "Kind", help: "Field, method, constructor …", text: (row) => row.kind, width: "78px" },
    { name: "Access", help: "Who can name it", text: (row) => row.access, width: "64px" },
    { name: "Type", help: "Of a field, or what a method returns", text: (row) => row.of_type || "–", width: "minmax(70px, 1fr)" },
    { name: "How", help: "Virtual: types that are derived can replace it; inline: the compiler was asked to put it into its callers", text: (row) => [row.is_virtual ? "virtual" : [], row.is_inline ? "inline" : []].flat().join(" ") || "–", width: "52px" },
    { name: "Line", help: "Where it stands", text: (row) => (row.line === 0 ? "–" : String(row.line)), value: (row) => row.line, width: "40px" },
  ];
  const go = (row: WireMember): void => {
    const file = row.file === null ? undefined : source.peek()?.files[row.file]?.path;
    if (row.function !== null) chooseFunction(`${it.name}::${row.name}`, row.file, row.line);
    if (file !== undefined && row.line > 0) {
      lookAtLine(file, row.line);
      showSource();
    }
  };
  return (
    <aside class="source-pane types-pane" aria-label="About the type" tabIndex={0}>
      <h2>
        {it.kind} <code>{it.name}</code>
      </h2>
      <p class="source-buttons">
        <span class="muted">{path === "" ? "where it stands is not known" : `${shortPath(path)}:${it.line}`}</span>
        <span class="muted">{it.bytes === null ? "" : bytes(it.bytes)}</span>
        <button type="button" disabled={path === ""} title="Show where it is defined (Enter)" onClick={() => goToType(it)}>
          Source
        </button>
      </p>
      {found?.it.number !== it.number ? <Coming what="Members are being read" isSmall /> : members.length === 0 ? <p class="muted">It has no members that are known.</p> : <Table label="members" rows={members} columns={columns} sortedBy={5} isUp height={22} onChoose={go} />}
    </aside>
  );
}

/** Goes to where a type is defined. */
export function goToType(it: WireSourceType): void {
  const path = it.file === null ? undefined : source.peek()?.files[it.file]?.path;
  if (path === undefined) return;
  lookAtLine(path, it.line);
  showSource();
}

/** A type beneath each that it is derived from; what is derived from itself, as damaged files say, ends there. */
function rowsOf(head: SourceTypesHead, folded: ReadonlySet<string>, withAlone: boolean): readonly Row[] {
  const byNumber = new Map(head.types.map((it) => [it.number, it]));
  const derived = new Map<number, WireBase[]>();
  const bases = new Map<number, number>();
  for (const it of head.bases) {
    if (it.base === null || !byNumber.has(it.base) || !byNumber.has(it.derived)) continue;
    derived.set(it.base, [...(derived.get(it.base) ?? []), it]);
    bases.set(it.derived, (bases.get(it.derived) ?? 0) + 1);
  }
  const name = ({ derived: it }: WireBase): string => byNumber.get(it)?.name ?? "";
  for (const beneath of derived.values()) beneath.sort((a, b) => name(a).localeCompare(name(b)));
  const rows: Row[] = [];
  const add = (it: WireSourceType, base: WireBase | null, way: readonly number[]): void => {
    if (rows.length > MOST_ROWS || way.includes(it.number)) return;
    const key = [...way, it.number].join("/");
    const beneath = derived.get(it.number) ?? [];
    const isOpen = beneath.length === 0 ? null : !folded.has(key);
    rows.push({ key, depth: way.length, isOpen, it, base, bases: bases.get(it.number) ?? 0 });
    if (isOpen !== true) return;
    for (const next of beneath) {
      const type = byNumber.get(next.derived);
      if (type !== undefined) add(type, next, [...way, it.number]);
    }
  };
  for (const it of head.types) if (!bases.has(it.number) && (withAlone || derived.has(it.number))) add(it, null, []);
  return rows;
}

/** Types that share bases many times over have more ways to them than anybody reads. */
const MOST_ROWS = 100_000;
