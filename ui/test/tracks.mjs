/** A program that has counters, and states that overlap: what stands beneath the rows is what it did. */
import assert from "node:assert/strict";

import { events } from "./events.mjs";
import { moved } from "./moved.mjs";
import { asked, finest } from "./read.mjs";
import { states } from "./states.mjs";
import { table } from "./tables.mjs";

const ROWS = ".timeline-rows canvas";
const COUNTER = "0f6f78";
/** Of the fourth shade of work. */
const FETCH = "7fae6b";

export async function tracks(browser, address) {
  const { page } = browser;
  await page.goto(address);
  await counters(browser);
  await overlaps(browser);
  await events(browser);
  await states(browser);
  const { duration_ns: lasts } = (await asked(page, { ask: "run" })).head;
  await page.evaluate((span) => (location.hash = `#1&view=timeline&counters=["page-faults"]&span=${span}`), `${Math.round(lasts * 0.65)}-${Math.round(lasts * 0.8)}`);
  await browser.settled();
  await moved(browser);
}

async function overlaps(browser) {
  const { page } = browser;
  browser.step("states that overlap stand in lanes, as many as there are at a time");
  await page.evaluate(() => (location.hash = "#1&view=timeline&layers=o&counters=[]"));
  await browser.settled();
  const { head } = await asked(page, { ask: "run" });
  const places = await asked(page, { ask: "overlap-places" });
  assert.deepEqual(places.lanes, [3, 3, 3, 3]);
  assert.deepEqual(places.number, [40, 40, 40, 40]);
  const window = { from_ns: 0, to_ns: head.duration_ns, resolution_log2: finest(0, head.duration_ns), locations: [[0, 1]], exact: true };
  const all = await asked(page, { ask: "overlaps", ...window });
  assert.equal(all.number.length, 40);
  const named = (at) => head.regions[all.region[at]].name;
  assert.deepEqual([...new Set(all.region.map((_, at) => named(at)))].sort(), ["fetch", "load", "store"]);

  browser.step("one that is rested on is told, and one that is pressed is chosen");
  // The longest of the first row.
  const at = all.duration.indexOf(Math.max(...all.duration));
  const [from, to] = [all.start[at] - all.duration[at], all.start[at] + 2 * all.duration[at]];
  await page.evaluate((span) => (location.hash = `#1&view=timeline&layers=o&counters=[]&span=${span}`), `${Math.round(from)}-${Math.round(to)}`);
  await browser.settled();
  const box = await page.locator(ROWS).boundingBox();
  const x = box.x + 128 + (box.width - 138) / 2;
  const said = () => page.locator(".timeline-rows").getAttribute("title");
  let y = box.y + 22;
  // Down the row, until a lane has it.
  while (y < box.y + 300 && !((await said()) ?? "").startsWith(`${named(at)}: `)) {
    y += 4;
    await page.mouse.move(x, y);
  }
  assert.match(await said(), new RegExp(`^${named(at)}: .* from `));
  await browser.picture("overlaps");
  await page.mouse.click(x, y);
  await browser.until("it is chosen", (name) => location.hash.includes(`region=${name}`), named(at));
  await page.keyboard.press("Escape");

  browser.step("they stand in a table, and are drawn if they are wanted");
  await page.evaluate(() => (location.hash = "#1&view=timeline&counters=[]&table=overlaps"));
  await browser.until("rows", () => document.querySelectorAll("[aria-label='overlapping states in the span'] .table-row").length > 5);
  await browser.accessible("the table of overlapping states");
  await table(browser, "overlapping states in the span");
  const lanes = async () => (await browser.colours(ROWS))[FETCH] ?? 0;
  await page.evaluate(() => (location.hash = "#1&view=timeline&counters=[]"));
  await browser.settled();
  assert((await lanes()) > 50, `${await lanes()} pixels of one of them`);
  await page.getByRole("button", { name: "Show ▾" }).click();
  await page.getByLabel("Overlapping states").uncheck();
  await page.keyboard.press("Escape");
  await browser.settled();
  assert.equal(await lanes(), 0);
  assert.match(page.url(), /layers=mwge(&|$)/);
}

async function counters(browser) {
  const { page } = browser;
  browser.step("few counters of the program are drawn without a word");
  await browser.open("Timeline");
  await browser.settled();
  await browser.until("their charts", () => document.querySelector("[data-settled='true']") !== null);
  const { head } = await asked(page, { ask: "run" });
  const number = (name) => head.counters.findIndex((it) => it.name === name);
  assert(number("queue") >= 0 && number("energy") >= 0 && number("page-faults") >= 0, `${head.counters.map((it) => it.name)}`);
  await browser.until("they are drawn", () => document.querySelector(".timeline-rows canvas") !== null);
  const drawn = (await browser.colours(ROWS))[COUNTER] ?? 0;
  assert(drawn > 300, `${drawn} pixels of charts`);
  await browser.picture("counters");
  await browser.accessible("the timeline with counters");

  browser.step("what a counter is at the pointer is what the program said last");
  const window = { from_ns: 0, to_ns: head.duration_ns, resolution_log2: finest(0, head.duration_ns), locations: [[0, 4]], exact: true };
  const values = await asked(page, { ask: "counters", window, counters: [number("queue")] });
  assert.equal(values.counter.length, 4, "each rank has a queue");
  // A value that holds for long.
  let piece = 0;
  for (let at = 0; at < values.behind[0]; at += 1) {
    if (values.least[at] === values.most[at] && values.duration[at] > values.duration[piece] && values.mean[at] > 0) piece = at;
  }
  const middle = values.start[piece] + values.duration[piece] / 2;
  const half = values.duration[piece] * 4;
  const from = Math.round(Math.max(middle - half, 0));
  const to = Math.round(Math.min(middle + half, head.duration_ns));
  await page.evaluate((span) => (location.hash = `#1&view=timeline&span=${span}`), `${from}-${to}`);
  await browser.settled();
  const box = await page.locator(ROWS).boundingBox();
  await page.mouse.move(Math.round(box.x + 128 + ((box.width - 138) * (middle - from)) / (to - from)), Math.round(box.y + 60));
  await browser.until("its reading", () => document.querySelector(".timeline-reading") !== null);
  assert.equal(await browser.text(".timeline-reading"), `${values.mean[piece]} messages`);

  browser.step("others are chosen, and all stand in a table");
  await page.getByRole("button", { name: "Show ▾" }).click();
  await page.getByLabel("page-faults").check();
  await page.getByLabel("energy").uncheck();
  await page.keyboard.press("Escape");
  await browser.settled();
  assert.deepEqual(JSON.parse(decodeURIComponent(/counters=([^&]+)/.exec(page.url())[1])), ["queue", "page-faults"].sort((a, b) => number(a) - number(b)));
  await page.evaluate(() => (location.hash = location.hash.replace(/&span=[^&]*/, "") + "&table=counters"));
  await browser.settled();
  await browser.until("a row for each", () => document.querySelectorAll("[aria-label='counters in the span'] .table-row").length >= 6);
  const rows = await page.locator("[aria-label='counters in the span'] .table-row").allTextContents();
  const queues = rows.filter((row) => row.startsWith("queue"));
  assert.equal(queues.length, 4);
  // Rank 0 counts from 0 to 7, rank 3 from 3 to 10.
  assert(queues.some((row) => row.includes("rank 3") && row.includes("10 messages")), `${queues}`);
  await browser.accessible("the table of counters");
  await table(browser, "counters in the span");
  await browser.picture("counters-table");

  browser.step("none is drawn if none is wanted");
  await page.evaluate(() => (location.hash = "#1&view=timeline&counters=[]"));
  await browser.settled();
  assert.equal((await browser.colours(ROWS))[COUNTER] ?? 0, 0);
}
