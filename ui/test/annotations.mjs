/**
 * Findings, situations and anomalous visits above the rows: as many as the engine tells, pressed, stepped through, listed.
 * Of a run that has some of all: messages that pile up, and visits that take too long.
 */
import assert from "node:assert/strict";

import { asked } from "./read.mjs";

export async function annotations(browser) {
  const { page } = browser;
  browser.step("situations and anomalous visits stand above the rows");
  await page.keyboard.press("Escape");
  await page.evaluate(() => (location.hash = "#1&view=timeline&table=annotations"));
  await browser.settled();
  const { situations } = (await asked(page, { ask: "situations" })).head;
  const { anomalies } = (await asked(page, { ask: "anomalies" })).head;
  const { findings } = (await asked(page, { ask: "report" })).head;
  const all = situations.length + anomalies.length + findings.filter((it) => it.to_ns > it.from_ns).length;
  await browser.until("all of them are listed", (all) => document.querySelector("[aria-label='annotations in the span']")?.getAttribute("aria-rowcount") === String(all + 1), all);
  await browser.picture("annotations");
  await browser.accessible("the annotations");
  // Marks say how many they stand for.
  const counted = await page.locator(".timeline-mark, .timeline-tick").evaluateAll((marks) =>
    marks.reduce((sum, it) => sum + Number(/^\+(\d+) annotations/.exec(it.getAttribute("aria-label"))?.[1] ?? 1), 0),
  );
  assert.equal(counted, all, "each is a mark, or in one");
  assert(anomalies.length > 1, "some visits lasted longer than their like");
  assert(situations.length > 0, "there is a situation to look at");

  browser.step("a situation leads to its span and to whom it is about");
  for (const it of situations.slice(0, 3)) {
    await page.evaluate(() => (location.hash = "#1&view=timeline"));
    await browser.settled();
    // By its card, since a mark may stand for several.
    const summary = page.locator(".side summary").filter({ hasText: "Situations" });
    if (!(await summary.evaluate((it) => it.parentElement.open))) await summary.click();
    await page.locator(".side details[open] .findings-card").filter({ hasText: started(it) }).first().click();
    await browser.settled();
    const [, from, to] = /span=(\d+)-(\d+)/.exec(page.url()) ?? [undefined, "0", String(Number.MAX_SAFE_INTEGER)];
    assert(Number(from) <= it.from_ns && it.to_ns <= Number(to), `${from}–${to} has ${it.from_ns}–${it.to_ns}`);
    const locations = /locations=([\d%C]+)/.exec(page.url())?.[1];
    if (locations !== undefined) assert.deepEqual(decodeURIComponent(locations).split(",").map(Number), [...it.locations].sort((a, b) => a - b));
  }

  browser.step("one leads to the next, and an anomalous visit is told");
  await page.evaluate(() => (location.hash = "#1&view=timeline&notes=a"));
  await browser.settled();
  assert.equal(await page.locator(".timeline-mark").count(), 0, "others are not shown");
  // In the order of their middles, in which they stand. Some may begin at about the same time on several ranks.
  const order = anomalies.toSorted((a, b) => 2 * (a.start_ns - b.start_ns) + a.duration_ns - b.duration_ns);
  const [first, second] = order.map((it) => it.start_ns);
  const begin = Math.min(...order.map((it) => it.start_ns));
  await page.evaluate((begin) => (location.hash = `#1&view=timeline&notes=a&span=0-${Math.max(begin - 1000, 1000)}`), begin);
  await browser.settled();
  await page.keyboard.press("n");
  await browser.until("the first of them", () => document.querySelector(".side .facts") !== null);
  assert.match(page.url(), new RegExp(`visit=\\d+%40${first}`));
  await page.keyboard.press("n");
  await browser.until("the second", (second) => location.hash.includes(`%40${second}`), second);
  await page.keyboard.press("Escape");
  await page.evaluate(() => (location.hash = "#1&view=timeline"));
  await browser.settled();
}

/** What its card says, in a part that tells it from others: when it was. */
function started(it) {
  const digits = String(it.from_ns % 1e9).padStart(9, "0");
  return new RegExp(`(at|from) ${Math.floor(it.from_ns / 1e9)}\\.${digits.slice(0, 3)} ${digits.slice(3, 6)} ${digits.slice(6)} s|useful for|one message to the next`);
}
