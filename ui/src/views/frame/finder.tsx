/** Finding things by their names: functions, ranks, hosts, counters, findings, views, and what can be done. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";

import { hits, type Hit } from "./hits.ts";

const query = signal("");
const isOpen = signal(false);
const at = signal(0);

export function Finder(): JSX.Element {
  const found = isOpen.value ? hits(query.value) : [];
  const close = (): void => {
    isOpen.value = false;
    query.value = "";
    at.value = 0;
  };
  const take = (hit: Hit | undefined): void => {
    hit?.act();
    close();
    (document.activeElement as HTMLElement | null)?.blur();
  };
  const go = (place: number): void => {
    at.value = Math.max(0, Math.min(place, found.length - 1));
    document.getElementById(optionId(at.value))?.scrollIntoView({ block: "nearest" });
  };
  const key = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown" && !isOpen.peek()) isOpen.value = true;
    else if (event.key === "ArrowDown") go(at.value + 1);
    else if (event.key === "ArrowUp") go(at.value - 1);
    else if (event.key === "PageDown") go(at.value + PAGE);
    else if (event.key === "PageUp") go(at.value - PAGE);
    else if (event.key === "Enter") take(found[at.value]);
    else if (event.key === "Escape") {
      close();
      (event.currentTarget as HTMLElement).blur();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="finder">
      <input
        id="finder"
        type="text"
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={found.length > 0}
        aria-controls="finder-list"
        aria-activedescendant={found.length === 0 ? undefined : optionId(at.value)}
        aria-label="Find a function, a rank, a host, a finding, a view or a command"
        placeholder="Find or do anything …  /"
        title="Write a part of the name of whatever is looked for, and press Enter; ↓ lists all that can be done, with its keys; / leads here"
        autocomplete="off"
        value={query.value}
        onInput={(event) => {
          query.value = event.currentTarget.value;
          isOpen.value = true;
          at.value = 0;
        }}
        onKeyDown={key}
        onBlur={close}
      />
      {found.length === 0 ? null : (
        // The field keeps the focus while the list is scrolled or pressed.
        <ul id="finder-list" role="listbox" aria-label="Found" onMouseDown={(event) => event.preventDefault()}>
          {found.map((hit, place) => (
            <li id={optionId(place)} role="option" aria-selected={place === at.value} title={hit.name} onClick={() => take(hit)}>
              <span>{hit.name}</span>
              <span class="muted">
                {hit.kind}
                {hit.key === "" ? null : <kbd>{hit.key}</kbd>}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** So far the keys for pages lead. */
const PAGE = 10;

function optionId(place: number): string {
  return `finder-${place}`;
}
