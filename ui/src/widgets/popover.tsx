/** A button that opens a small sheet beneath it, which closes when somebody goes on to something else. Knows no run. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";

import "./popover.css";

export interface PopoverProps {
  readonly name: string;
  /** What it is for. */
  readonly help: string;
  readonly children: ComponentChildren;
}

export function Popover({ name, help, children }: PopoverProps): JSX.Element {
  const isOpen = useSignal(false);
  const close = (): void => {
    isOpen.value = false;
  };
  return (
    <div
      class="popover"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !isOpen.value) return;
        close();
        event.stopPropagation();
      }}
      onFocusOut={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) close();
      }}
    >
      <button type="button" aria-expanded={isOpen.value} title={help} onClick={() => (isOpen.value = !isOpen.value)}>
        {name} ▾
      </button>
      {isOpen.value ? (
        // It takes the focus, so that pressing between its parts does not close it.
        <div class="popover-sheet" tabIndex={-1}>
          {children}
        </div>
      ) : null}
    </div>
  );
}
