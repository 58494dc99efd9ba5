/** Instants that a program marks: signs in the rows, what it said of them, and fields of visits. */
import assert from "node:assert/strict";

import { asked, finest } from "./read.mjs";
import { table } from "./tables.mjs";

const ROWS = ".timeline-rows canvas";
const ROUNDS = 40;

export async function events(browser) {
  const { page } = browser;
  browser.step("instants that the program marked are there, each kind and each of them");
  await page.evaluate(() => (location.hash = "#1&view=timeline&layers=e&counters=[]"));
  await browser.settled();
  const { head } = await asked(page, { ask: "run" });
  const number = (name) => head.event_kinds.findIndex((it) => it.name === name);
  assert.deepEqual(head.event_kinds.filter((it) => it.is_attribute).map((it) => it.name), ["step"]);
  // The finest steps that a picture of the whole run may have; marks are eight of them wide, and rounds far longer.
  const log2 = finest(0, head.duration_ns);
  const window = { from_ns: 0, to_ns: head.duration_ns, resolution_log2: log2, locations: [[0, 4]], exact: true };
  const all = await asked(page, { ask: "events", ...window });
  assert.equal(all.head.number, 4 * ROUNDS);
  const of = (location) => all.time.map((_, at) => at).filter((at) => all.location[at] === location);
  assert.equal(of(2).length, ROUNDS, "each is told alone");
  const alarms = of(2).filter((at) => all.kind[at] === number("alarm"));
  // Rounds 7, 15, 23, 31 and 39.
  assert.deepEqual(alarms.map((at) => of(2).indexOf(at)), [7, 15, 23, 31, 39]);

  browser.step("a sign that is rested on is told, and one that is pressed tells what the program said");
  const chosen = alarms[1];
  const half = 400_000;
  const [from, to] = [Math.round(all.time[chosen] - half), Math.round(all.time[chosen] + half)];
  await page.evaluate((span) => (location.hash = `#1&view=timeline&layers=e&counters=[]&locations=2&span=${span}`), `${from}-${to}`);
  await browser.settled();
  const box = await page.locator(ROWS).boundingBox();
  const x = box.x + 128 + ((box.width - 138) * (all.time[chosen] - from)) / (to - from);
  const y = box.y + 22 + 5;
  await page.mouse.move(x, y);
  assert.match(await page.locator(".timeline-rows").getAttribute("title"), /^alarm at .*press/);
  await browser.picture("events");
  await page.mouse.click(x, y);
  await browser.until("its details", () => document.querySelector("[aria-label='Marked instants']") !== null);
  const told = await browser.text("[aria-label='Marked instants']");
  // All digits of the number, and the text as a text.
  assert.match(told, /alarm/);
  assert.match(told, /18446744073709551015/);
  assert.match(told, /<b>us<\/b>/);
  assert.match(page.url(), /events=2@|events=2%40/);
  await browser.accessible("a marked instant");

  browser.step("the address leads to it, and the visit around tells its step");
  await page.reload();
  await browser.until("its details again", () => document.querySelector("[aria-label='Marked instants']")?.textContent.includes("18446744073709551015"));
  // Work ended just before the mark.
  const work = head.regions.findIndex((it) => it.name === "work");
  const line = head.lines.findIndex((it) => it.location === 2 && it.depth === 0);
  const lines = head.lines.map((_, at) => at).filter((at) => head.lines[at].location === 2);
  let visit = null;
  for (const it of [line, ...lines]) {
    visit ??= (await asked(page, { ask: "visit", line: it, at_ns: Math.round(all.time[chosen]), near_ns: 300_000, region: work })).head.visit;
  }
  assert.deepEqual(visit.fields, [{ name: "step.round", value: "15" }]);
  await page.evaluate(([line, at]) => (location.hash = `#1&view=timeline&counters=[]&visit=${line}@${at}`), [visit.line, visit.start_ns + 1000]);
  await browser.until("the field of the visit", () => document.querySelector(".side")?.textContent.includes("step.round15"));

  browser.step("they stand in a table, and go away with their layer");
  await page.evaluate(() => (location.hash = "#1&view=timeline&counters=[]&table=events"));
  await browser.until("rows", () => document.querySelectorAll("[aria-label='marked instants in the span'] .table-row").length > 5);
  await browser.accessible("the table of marked instants");
  await table(browser, "marked instants in the span");
  await browser.picture("events-table");
  await page.evaluate(() => (location.hash = "#1&view=timeline&layers=mwgo&counters=[]&table=events"));
  await browser.until("that they are not shown", () => document.querySelector(".timeline-twin")?.textContent.includes("not shown"));
  await page.evaluate(() => (location.hash = "#1&view=timeline&counters=[]"));
  await browser.settled();
}
