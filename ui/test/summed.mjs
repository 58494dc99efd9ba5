/** A run of which some locations only added up what they did from some time on: each view says so where it matters, and what it lacks. */
import assert from "node:assert/strict";

import { asked } from "./read.mjs";

/** What each view lacks. */
const VIEWS = [
  ["timeline", /rows are empty there, and messages and waits are missing/],
  ["histogram", /their visits are not among these/],
  ["communication", /their messages are not here/],
  ["waits", /waits and delays after that are not explained/],
  ["utilisation", /there they count as busy/],
];

export async function summed(browser, address) {
  const { page } = browser;
  await page.goto(address);
  await browser.until("the run is open", () => document.querySelector(".overview-facts") !== null);
  const { duration_ns: end, added_up_since_ns: since } = (await asked(page, { ask: "run" })).head;
  // That there are sums only is known from the recorder; when they begin, from the last instants that it has before them.
  assert(since > 0 && since < end, `${since} of ${end}`);
  browser.step("the overview has the instant, and views whose span reaches beyond it say what they lack");
  await page.evaluate(() => (location.hash = "#1&view=overview"));
  await browser.until("its facts", () => [...document.querySelectorAll(".overview-facts dt")].some((it) => it.textContent === "Only sums"));
  await browser.picture("summed-overview");
  for (const [view, lacks] of VIEWS) {
    for (const [span, isSaid] of [[`0-${Math.floor(since / 2)}`, false], [`0-${end}`, true]]) {
      // Of the whole run are waits and histograms unless somebody wants the span.
      const isOfRun = view === "waits" || view === "histogram";
      await page.evaluate((hash) => (location.hash = hash), `#1&view=${view}&notes=&region=MPI_Send&span=${span}`);
      await browser.until(`it is ${view}`, (view) => document.querySelector(`.pane[data-topic='${view}']`) !== null, view);
      const expected = isSaid || isOfRun ? 1 : 0;
      await browser.until(`${view} of ${span} says it ${expected} times`, (expected) => document.querySelectorAll(".added-up").length === expected, expected);
      if (expected === 1) assert.match(await browser.text(".added-up"), lacks);
    }
    if (view === "timeline") await browser.settled();
    await browser.picture(`summed-${view}`);
  }

  browser.step("sums of the whole run lack nothing, those of the span do");
  await page.evaluate(() => (location.hash = "#1&view=profile"));
  await browser.until("it is the profile", () => document.querySelector(".profile-ways") !== null);
  assert.equal(await page.locator(".added-up").count(), 0);
  await page.getByRole("button", { name: /^Span that is shown/ }).click();
  await browser.until("it says so", () => /in those of the whole run/.test(document.querySelector(".added-up")?.textContent ?? ""));
  await browser.accessible("the profile of a span with sums only");
}
