/** A line of what is told about something. */
import type { ComponentChildren, JSX } from "preact";

export interface FactProps {
  readonly name: string;
  readonly isWarning?: boolean;
  readonly children: ComponentChildren;
}

export function Fact({ name, isWarning, children }: FactProps): JSX.Element {
  return (
    <div class={isWarning === true ? "warn" : ""}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
