/** What can be done with the view: beside another, in its own window, as a file, on paper. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";

import { ALL_VIEWS, beside, isView, view } from "../../state/view.ts";
import { VIEW_COMMANDS, VIEW_NAMES } from "./commands.ts";

const isOpen = signal(false);

export function Menu(): JSX.Element {
  const close = (): void => {
    isOpen.value = false;
  };
  const shown = isOpen.value;
  return (
    <div
      class="menu"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !shown) return;
        close();
        event.stopPropagation();
      }}
      onFocusOut={(event) => {
        // Somebody went on to something else.
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) close();
      }}
    >
      <button type="button" aria-haspopup="true" aria-expanded={shown} onClick={() => (isOpen.value = !shown)} title="Open beside another, tear off, save, print">
        View ▾
      </button>
      {shown ? (
        <div class="menu-list">
          <label>
            Beside it{" "}
            <select
              value={beside.value ?? ""}
              onChange={(event) => {
                const name = event.currentTarget.value;
                beside.value = isView(name) ? name : null;
                close();
              }}
            >
              <option value="">nothing</option>
              {ALL_VIEWS.filter((name) => view.value !== name).map((name) => (
                <option value={name}>{VIEW_NAMES[name]}</option>
              ))}
            </select>
          </label>
          {VIEW_COMMANDS.map((command) => (
            <button
              type="button"
              class="plain"
              onClick={() => {
                close();
                command.act();
              }}
            >
              {command.name}
              {command.key === "" ? null : <kbd>{command.key}</kbd>}
            </button>
          ))}
        </div>
      ) : null}
    </div>
  );
}
