/** The profile: who spent how much time in what. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";

import { report } from "../../state/run.ts";
import { Flames } from "./flames.tsx";
import "./profile.css";
import { Racy } from "./racy.tsx";
import { Paths, Regions } from "./tables.tsx";

const WAYS = [
  { name: "By location", key: "racy", help: "A bar line for each location, with mean, largest and smallest" },
  { name: "By region", key: "region", help: "Sums over all locations" },
  { name: "By call path", key: "path", help: "Sums over all locations, told apart by what was around" },
  { name: "Flame graph", key: "flames", help: "Call paths as boxes: as wide as their time, what is inside stands below" },
] as const;

const by = signal<(typeof WAYS)[number]["key"]>("region");

export function Profile(): JSX.Element {
  const text = report.value;
  return (
    <div class="sheet">
      <section>
        <p class="profile-ways" role="group" aria-label="How to look at it">
          {WAYS.map((way) => (
            <button type="button" aria-pressed={by.value === way.key} title={way.help} onClick={() => (by.value = way.key)}>
              {way.name}
            </button>
          ))}
          <span class="muted">Of the whole run. What is pressed is chosen in all views.</span>
        </p>
        {by.value === "racy" ? (
          <Racy />
        ) : text === null ? (
          <p class="hush">The report is being made …</p>
        ) : by.value === "region" ? (
          <Regions rows={text.regions ?? []} />
        ) : by.value === "path" ? (
          <Paths rows={text.call_paths ?? []} />
        ) : (
          <Flames rows={text.call_paths ?? []} />
        )}
      </section>
    </div>
  );
}
