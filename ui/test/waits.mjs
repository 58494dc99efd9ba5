/** What was waited for, where and who: three panes of which each limits the others, against sums over the report. */
import assert from "node:assert/strict";

import { asked } from "./read.mjs";

const SIDES = ["What was waited for", "In which call", "Who waited"];

export async function waits(browser) {
  const { page } = browser;
  const { head: report } = await asked(page, { ask: "report" });
  const whole = report.waits.reduce((sum, row) => sum + row.wait_ns, 0);

  browser.step("each pane adds up to all waiting");
  for (const side of SIDES) near(await total(page, side), whole, side);
  const by = (of) => {
    const sums = new Map();
    report.waits.forEach((row) => sums.set(of(row), (sums.get(of(row)) ?? 0) + row.wait_ns));
    return [...sums].sort((a, b) => b[1] - a[1]);
  };

  browser.step("a pattern limits the calls and those who waited");
  const [pattern, time] = by((row) => row.pattern)[0];
  await press(page, SIDES[0], pattern);
  for (const side of SIDES.slice(1)) near(await total(page, side), time, `${side} of ${pattern}`);
  near(await total(page, SIDES[0]), whole, "among all patterns");

  browser.step("who waited limits the patterns and the calls, and is chosen in all views");
  const [who] = by((row) => (row.pattern === pattern ? row.location : null)).find(([name]) => name !== null);
  await press(page, SIDES[2], who);
  await browser.until("it is chosen", (who) => document.querySelector(".chip")?.textContent.startsWith(who), who);
  const both = report.waits.filter((row) => row.pattern === pattern && row.location === who);
  near(await total(page, SIDES[1]), both.reduce((sum, row) => sum + row.wait_ns, 0), `calls of ${who}`);
  near(await total(page, SIDES[0]), report.waits.filter((row) => row.location === who).reduce((sum, row) => sum + row.wait_ns, 0), `patterns of ${who}`);
  await browser.until("the address says so", () => decodeURIComponent(location.hash).includes('waits=["Waiting",'));
  await browser.picture("waits-panes");

  browser.step("delays are another kind, and all of it comes back");
  await page.getByRole("button", { name: "All", exact: true }).click();
  near(await total(page, SIDES[1]), whole, "all of it");
  await page.getByRole("group", { name: "Which times" }).getByRole("button", { name: "Delays" }).click();
  near(await total(page, "Who was late"), report.delays.reduce((sum, row) => sum + row.short_term_ns + row.long_term_ns, 0), "delays");
  await page.getByRole("group", { name: "Which times" }).getByRole("button", { name: "Waiting" }).click();
}

/** The same of a span: what the engine says of it, less than of the whole run, and in the address. */
export async function waitsOfSpan(browser) {
  const { page } = browser;
  const { head: report } = await asked(page, { ask: "report" });
  const { head: run } = await asked(page, { ask: "run" });
  const whole = report.waits.reduce((sum, row) => sum + row.wait_ns, 0);
  const before = await page.evaluate(() => location.hash);
  const [from, to] = await aPart(page, run.duration_ns, whole);

  browser.step("waits of the span are those of the span");
  await page.evaluate((span) => (location.hash = `#1&view=waits&span=${span}`), `${from}-${to}`);
  await page.getByRole("button", { name: /^Span that is shown/ }).click();
  const { head: part } = await asked(page, { ask: "causes", from_ns: from, to_ns: to });
  assert(part.why_not === null && part.waits.length > 0);
  const inSpan = part.waits.reduce((sum, row) => sum + row.wait_ns, 0);
  assert(inSpan > 0 && inSpan < whole * 0.9, `${inSpan} of ${whole}`);
  await browser.until("the address says so", () => decodeURIComponent(location.hash).includes(',"span"]'));
  await browser.until("the span is explained", () => document.querySelector("[aria-label='What was waited for'] .table-row") !== null && document.querySelector(".waits-stale") === null);
  for (const side of SIDES) near(await total(page, side), inSpan, `${side} of the span`);
  await browser.picture("waits-of-span");

  browser.step("another span is explained in turn, and the whole run comes back");
  // Neither before the first call nor behind the last one.
  const at = Math.round(run.duration_ns * 0.7);
  await page.evaluate((span) => (location.hash = location.hash.replace(/span=\d+-\d+/, `span=${span}`)), `${at}-${at + 1000}`);
  const { head: short } = await asked(page, { ask: "causes", from_ns: at, to_ns: at + 1000 });
  const time = short.critical_path.reduce((sum, row) => sum + row.time_ns, 0);
  assert.equal(time, 1000, "the path goes through each instant");
  await page.getByRole("group", { name: "Which times" }).getByRole("button", { name: "Critical path" }).click();
  await browser.until("it is explained", () => document.querySelector(".waits-stale") === null);
  near(await total(page, "On whom"), 1000, "path of the span");
  await page.getByRole("group", { name: "Of what" }).getByRole("button", { name: "Whole run" }).click();
  await page.getByRole("group", { name: "Which times" }).getByRole("button", { name: "Waiting" }).click();
  near(await total(page, SIDES[0]), whole, "the whole run");
  await page.evaluate((hash) => (location.hash = hash), before);
}

/** A span with some of the waiting and not all of it, wherever in the run that is: of halves of halves the one with more. */
async function aPart(page, end, whole) {
  let [from, to] = [0, end];
  for (let time = whole; time >= whole * 0.9; ) {
    assert(to - from > 4000, "all waiting is at one instant");
    const middle = Math.round((from + to) / 2);
    const halves = [];
    for (const [begin, behind] of [[from, middle], [middle, to]]) {
      const { head } = await asked(page, { ask: "causes", from_ns: begin, to_ns: behind });
      halves.push([head.waits.reduce((sum, row) => sum + row.wait_ns, 0), begin, behind]);
    }
    [time, from, to] = halves[0][0] >= halves[1][0] ? halves[0] : halves[1];
  }
  return [from, to];
}

/** What the rows of a pane are together; those that are not seen are scrolled to. */
async function total(page, side) {
  const texts = await page.locator(`[aria-label='${side}']`).first().evaluate(async (table) => {
    const body = table.querySelector(".table-body");
    const found = new Map();
    for (let top = 0; ; top += 200) {
      body.scrollTop = top;
      await new Promise((done) => setTimeout(done, 60));
      for (const row of table.querySelectorAll(".table-row")) found.set(row.getAttribute("aria-rowindex"), row.lastElementChild.textContent);
      if (top + body.clientHeight >= body.scrollHeight) break;
    }
    body.scrollTop = 0;
    return [...found.values()];
  });
  return texts.map(nsOf).reduce((sum, time) => sum + time, 0);
}

async function press(page, side, name) {
  await page.locator(`[aria-label='${side}'] .table-row`).filter({ hasText: name }).first().click();
}

function nsOf(text) {
  const [, digits, unit] = /([\d\u202f.]+) (s|ms|µs|ns)/.exec(text) ?? [];
  return Number(digits.replace(/\u202f/g, "")) * { s: 1e9, ms: 1e6, "µs": 1e3, ns: 1 }[unit];
}

/** Equal as far as the digits tell that each row has. */
function near(found, truth, what) {
  assert(Math.abs(found - truth) <= Math.abs(truth) * 2e-3, `${what}: ${found} is ${truth}`);
}
