/**
 * A tree of any size: only rows that are seen are in the page, and the tree as a whole is one stop of the Tab key.
 *
 * Knows no run; who uses it says which rows there are and what is in them.
 */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

export const ROW = 24;
const MORE = 6;

export interface TreeRow {
  /** Tells it from all others. */
  readonly key: string;
  readonly depth: number;
  /** Whether it has rows beneath it; `null` = none, else whether it is open. */
  readonly isOpen: boolean | null;
}

export interface TreeProps<Row extends TreeRow> {
  readonly label: string;
  readonly help: string;
  /** How far a row is set in for each above it, px. */
  readonly indent?: number;
  readonly rows: readonly Row[];
  /** The row that has the focus; `null` = the first. */
  readonly here: string | null;
  readonly go: (row: Row) => void;
  readonly toggle: (row: Row) => void;
  readonly act: (row: Row) => void;
  readonly draw: (row: Row) => JSX.Element;
  readonly title: (row: Row) => string;
  readonly mark?: (row: Row) => string;
  /** More keys. */
  readonly keys?: Readonly<Record<string, (row: Row) => void>>;
}

export function Tree<Row extends TreeRow>(props: TreeProps<Row>): JSX.Element {
  const { rows, label } = props;
  const box = useRef<HTMLDivElement>(null);
  const first = useSignal(0);
  const fits = useSignal(40);
  const found = rows.findIndex((row) => row.key === props.here);
  const at = Math.max(found, 0);
  const look = (): void => {
    const element = box.current;
    if (element === null) return;
    first.value = Math.max(0, Math.floor(element.scrollTop / ROW) - MORE);
    fits.value = Math.ceil(element.clientHeight / ROW) + 2 * MORE;
  };
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const size = new ResizeObserver(look);
    size.observe(element);
    return () => size.disconnect();
  }, []);
  useEffect(() => {
    const element = box.current;
    if (element === null || found < 0) return;
    const top = found * ROW;
    if (top < element.scrollTop || top + ROW > element.scrollTop + element.clientHeight) element.scrollTop = top - element.clientHeight / 3;
    look();
  }, [props.here, found >= 0]);
  const goTo = (place: number): void => {
    const row = rows[Math.max(0, Math.min(place, rows.length - 1))];
    if (row !== undefined) props.go(row);
  };
  const press = (event: KeyboardEvent): void => {
    const row = rows[at];
    if (row === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const parent = (): void => {
      for (let place = at - 1; place >= 0; place -= 1) if ((rows[place]?.depth ?? 0) < row.depth) return goTo(place);
    };
    const page = Math.max(1, fits.peek() - 2 * MORE - 1);
    const acts: Readonly<Record<string, () => void>> = {
      ArrowDown: () => goTo(at + 1),
      ArrowUp: () => goTo(at - 1),
      PageDown: () => goTo(at + page),
      PageUp: () => goTo(at - page),
      Home: () => goTo(0),
      End: () => goTo(rows.length - 1),
      ArrowRight: () => (row.isOpen === false ? props.toggle(row) : goTo(at + 1)),
      ArrowLeft: () => (row.isOpen === true ? props.toggle(row) : parent()),
      Enter: () => props.act(row),
      ...Object.fromEntries(Object.entries(props.keys ?? {}).map(([key, act]) => [key, () => act(row)])),
    };
    const act = acts[event.key];
    if (act === undefined) return;
    act();
    event.preventDefault();
    event.stopPropagation();
  };
  const click = (event: MouseEvent): void => {
    const target = event.target as HTMLElement;
    const row = rows[Number(target.closest<HTMLElement>("[data-row]")?.dataset["row"] ?? -1)];
    if (row === undefined) return;
    if (target.closest("[data-fold]") !== null && row.isOpen !== null) props.toggle(row);
    else props.go(row);
  };
  const seen = rows.slice(first.value, first.value + fits.value);
  return (
    <div
      ref={box}
      class="branches"
      role="tree"
      tabIndex={0}
      aria-label={label}
      title={props.help}
      aria-activedescendant={seen.includes(rows[at] as Row) ? `${label}-${at}` : undefined}
      onScroll={look}
      onKeyDown={press}
      onClick={click}
      onDblClick={(event) => {
        const row = rows[Number((event.target as HTMLElement).closest<HTMLElement>("[data-row]")?.dataset["row"] ?? -1)];
        if (row !== undefined) props.act(row);
      }}
    >
      <div role="presentation" style={{ height: `${rows.length * ROW}px`, position: "relative" }}>
        {seen.map((row, place) => {
          const number = first.value + place;
          return (
            <div
              key={row.key}
              id={`${label}-${number}`}
              role="treeitem"
              aria-level={row.depth + 1}
              aria-expanded={row.isOpen ?? undefined}
              aria-selected={number === at}
              data-row={number}
              class={`branch ${number === at ? "branch-here" : ""} ${props.mark?.(row) ?? ""}`}
              style={{ top: `${number * ROW}px` }}
              title={props.title(row)}
            >
              <span class="branch-name" style={{ paddingLeft: `${6 + row.depth * (props.indent ?? 18)}px` }}>
                <span class="branch-sign" data-fold={row.isOpen === null ? undefined : "1"} aria-hidden="true">
                  {row.isOpen === null ? "" : row.isOpen ? "▾" : "▸"}
                </span>
                {props.draw(row)}
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}
