/** Operations of all in the timeline: drawn, pressed, told, listed, hidden. */
import assert from "node:assert/strict";

import { asked, fact, finest } from "./read.mjs";

const ROWS = ".timeline-rows canvas";
/** The arrow of who came last. */
const OPERATION = "5a4bb8";

export async function operations(browser) {
  const { page } = browser;
  browser.step("an operation of all is a shape that can be pressed, and tells who came last");
  await page.keyboard.press("Escape");
  const { one, last, members } = await aLateOne(page);
  const margin = Math.round((one.end - one.first) * 0.4);
  const from = one.first - margin;
  const to = one.end + margin;
  await page.evaluate((span) => (location.hash = `#1&view=timeline&span=${span}`), `${from}-${to}`);
  await browser.settled();
  // What is asked for is drawn with the next picture.
  const arrow = async () => (await browser.colours(ROWS))[OPERATION] ?? 0;
  for (let turn = 0; turn < 20 && (await arrow()) <= 20; turn += 1) await page.waitForTimeout(100);
  assert((await arrow()) > 20, "who came last has an arrow");
  await browser.picture("operations");
  // Its arrow.
  const svg = await page.locator(ROWS).boundingBox();
  const x = svg.x + 128 + ((one.late - from) / (to - from)) * (svg.width - 138) - 3;
  await pressDown(browser, svg, x, `operation=${one.communicator}%40${one.instance}`);
  await browser.until("it is told", () => document.querySelector("[aria-label='Selected operation']") !== null);
  assert.equal(await page.locator("[aria-label='members of the operation'] .table-row").count(), members);
  // One that was pressed on the way may still be told.
  for (let turn = 0; turn < 20 && !(await fact(page, "Came last")).startsWith(last); turn += 1) await page.waitForTimeout(100);
  assert((await fact(page, "Came last")).startsWith(last), `${await fact(page, "Came last")}: ${last}`);
  await browser.accessible("an operation");
  await browser.picture("operation");

  browser.step("it leads to its members' visits, and these lead back");
  await page.locator("[aria-label='members of the operation'] .table-row button").first().click();
  await browser.until("a visit", () => document.querySelectorAll(".side .path li").length > 1);
  assert.equal(await fact(page, "Where"), last);
  await page.getByRole("button", { name: "all members" }).click();
  await browser.until("the operation", () => document.querySelector("[aria-label='Selected operation']") !== null);
  const start = await fact(page, "Start");
  await page.keyboard.press("]");
  await browser.until("the next one", (start) => !document.querySelector(".side .facts").textContent.includes(start), start);
  await page.keyboard.press("[");
  await browser.until("the first again", (start) => document.querySelector(".side .facts").textContent.includes(start), start);

  browser.step("operations stand in a table, and go with a key");
  await page.evaluate(() => (location.hash = "#1&view=timeline&table=operations"));
  await browser.settled();
  await browser.until("rows", () => document.querySelectorAll("[aria-label='operations in the span'] .table-row").length > 5);
  await browser.accessible("the table of operations");
  await page.locator("[aria-label='operations in the span'] .table-row button").first().click();
  await browser.until("it is chosen", () => document.querySelector("[aria-label='Selected operation']") !== null);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Table" }).click();
  await page.evaluate((span) => (location.hash = `#1&view=timeline&span=${span}`), `${from}-${to}`);
  await browser.settled();
  await page.keyboard.press("g");
  await browser.settled();
  assert.match(page.url(), /layers=mwoe$/);
  assert.equal((await browser.colours(ROWS))[OPERATION] ?? 0, 0, "they are gone");
  await page.keyboard.press("g");
  await page.keyboard.press("0");
  await browser.settled();
}

/** An operation whose last member came late, as the engine tells it. */
async function aLateOne(page) {
  const { head } = await asked(page, { ask: "run" });
  const window = { from_ns: 0, to_ns: head.duration_ns, resolution_log2: Math.max(20, finest(0, head.duration_ns)), locations: [[0, head.locations.length]], exact: true };
  const all = await asked(page, { ask: "collectives", ...window });
  let best = null;
  all.behind.forEach((behind, at) => {
    // One behind which there is another.
    if (!all.communicator.some((it, other) => it === all.communicator[at] && all.instance[other] > all.instance[at])) return;
    const begin = at === 0 ? 0 : all.behind[at - 1];
    const enters = all.enter.slice(begin, behind);
    const [first, late] = [Math.min(...enters), Math.max(...enters)];
    const end = Math.max(...all.leave.slice(begin, behind));
    // Setting up and taking down are of the whole run.
    const share = (late - first) / (end - first);
    if (end - first < 20e6 && share < 0.95 && share > 0.2 && late - first > (best?.late ?? 0) - (best?.first ?? 0)) {
      best = { communicator: all.communicator[at], instance: all.instance[at], first, late, end, last: all.last[at], members: behind - begin };
    }
  });
  assert(best !== null, "somebody came late");
  return { one: best, last: head.locations[best.last].name, members: best.members };
}

/** Presses down a column until an operation is chosen, by the address. */
async function pressDown(browser, box, x, wanted) {
  // The address is written ten times a second at most, and later where the machine has other work: then what stands there is
  // of the press before, and it is gone through again, slower.
  for (const pause of [110, 500]) {
    for (let y = 26; y < box.height; y += 4) {
      await browser.page.mouse.click(x, box.y + y);
      await browser.page.waitForTimeout(pause);
      if (!browser.page.url().includes(wanted)) continue;
      await browser.page.waitForTimeout(300);
      if (browser.page.url().includes(wanted)) return;
    }
  }
  throw new Error(`there is no ${wanted}`);
}
