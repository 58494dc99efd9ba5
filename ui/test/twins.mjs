/** Pictures of the timeline in numbers: messages, the critical path, mountains and the whole run have a table each, of what is drawn in the span. */
import assert from "node:assert/strict";

import { asked } from "./read.mjs";
import { table } from "./tables.mjs";

const SPAN = [4_000_000, 5_000_000];

export async function twins(browser) {
  const { page } = browser;
  const { head } = await asked(page, { ask: "run" });
  const look = async (rest, [from, to] = SPAN) => {
    await page.evaluate((hash) => (location.hash = hash), `#1&view=timeline&notes=&span=${from}-${to}&${rest}`);
    await browser.settled();
  };
  browser.step("messages of the span stand in a table, those that are drawn and no others");
  await look("table=messages");
  const processes = [[0, head.processes.length], [0, head.processes.length]];
  const limits = { processes, sizes: null, durations: null, tag: null, order: "sent" };
  const all = await asked(page, { ask: "traffic", from_ns: SPAN[0], to_ns: SPAN[1] + 1, pair: null, ...limits });
  const rows = await read(page, "messages in the span");
  const wanted = all.send_time.map((sent, at) => [`rank ${all.send_location[at]}`, `rank ${all.receive_location[at]}`, sent, all.receive_time[at], all.receive_time[at] - sent, all.size[at], all.tag[at]].join());
  assert.equal(wanted.length, 20, "five rounds of four");
  assert.deepEqual(rows.map(([from, to, sent, received, way, data, tag]) => [from, to, digits(sent), digits(received), nanoseconds(way), digits(data), digits(tag)].join()).sort(), wanted.sort());
  await browser.picture("twin-messages");
  await browser.accessible("the table of messages");
  await page.locator("[aria-label='messages in the span'] .table-row button").first().focus();
  await page.keyboard.press("Enter");
  await browser.until("it is chosen", () => document.querySelector("[aria-label='Selected message']") !== null && document.querySelectorAll("[aria-label='messages in the span'] .table-chosen").length === 1);
  await table(browser, "messages in the span");
  await look("table=messages&pair=1-2-2-3");
  assert((await read(page, "messages in the span")).every(([from, to]) => from === "rank 1" && to === "rank 2"), "only those that are meant");
  await look("table=messages&layers=wg");
  await page.getByRole("button", { name: "Show them (m)" }).click();
  await browser.until("rows", () => document.querySelectorAll("[aria-label='messages in the span'] .table-row").length > 3);

  browser.step("where several messages are one line, the table says how many");
  await look("table=messages", [0, head.duration_ns]);
  const many = await read(page, "messages in the span", 3);
  assert.equal(await page.locator("[aria-label='messages in the span'] [role=columnheader]").nth(2).textContent(), "Number");
  assert(many.every(([, , number]) => digits(number) > 0));
  await table(browser, "messages in the span");

  browser.step("the critical path stands in a table, piece by piece");
  const wide = [1_000_000, 17_000_000];
  await look("table=path", wide);
  await page.getByRole("button", { name: "Show it (c)" }).click();
  await browser.settled();
  await browser.until("rows", () => document.querySelectorAll("[aria-label='critical path in the span'] .table-row").length > 0);
  const window = await pictured(page, head, wide);
  const path = await asked(page, { ask: "path", ...window });
  const pieces = path.start.map((start, at) => [`rank ${path.location[at]}`, start, start + path.duration[at], path.duration[at]]).filter(([, start, end]) => start < wide[1] && end > wide[0]);
  const told = await read(page, "critical path in the span");
  assert(pieces.length > 2, `${pieces.length} pieces`);
  assert.deepEqual(told.map(([where, from, to]) => [where, digits(from), digits(to)]), pieces.map(([where, start, end]) => [where, start, end]));
  await browser.picture("twin-path");
  await browser.accessible("the table of the critical path");
  await table(browser, "critical path in the span");

  browser.step("mountains and the whole run stand in tables, step by step");
  await look("table=mountains");
  await courseOf(browser, head, "locations in each state in the span", SPAN);
  await browser.picture("twin-mountains");
  await browser.accessible("the table of the mountains");
  await table(browser, "locations in each state in the span");
  await look("table=run");
  await courseOf(browser, head, "locations in each state in the whole run", [0, head.duration_ns]);
  const seen = await page.locator("[aria-label='locations in each state in the whole run'] .table-chosen").count();
  assert.equal(seen, 0, "the first steps are not in the span");
  await page.locator("[aria-label='Rows of locations in each state in the whole run']").evaluate((it) => (it.scrollTop = 25 * 120));
  await browser.until("those of the span are marked", () => document.querySelectorAll("[aria-label='locations in each state in the whole run'] .table-chosen").length > 20);
  await browser.picture("twin-run");
  await page.locator("[aria-label='locations in each state in the whole run'] .table-row button").first().focus();
  await page.keyboard.press("Enter");
  await browser.until("the span is moved there", () => !location.hash.includes("span=4000000-"));
  await page.locator("[aria-label='Rows of locations in each state in the whole run']").evaluate((it) => (it.scrollTop = 0));
  await table(browser, "locations in each state in the whole run");

  browser.step("annotations stand in a table");
  await look("table=annotations", [0, head.duration_ns]);
  await page.evaluate(() => (location.hash = location.hash.replace("notes=&", "")));
  await table(browser, "annotations in the span");

  browser.step("what is hidden has no column");
  await look(`table=mountains&hide=${encodeURIComponent('["solve"]')}`);
  await browser.until("another is the first", () => [...document.querySelectorAll("[aria-label='locations in each state in the span'] [role=columnheader]")].every((it) => it.textContent !== "solve"));
  assert((await page.locator("[aria-label='locations in each state in the span'] [role=columnheader]").count()) > 3);

  browser.step("steps that were sorted by what is hidden then go from the first to the last again");
  await look(`table=mountains&sorted=${encodeURIComponent('[["locations in each state in the span","-solve"]]')}`);
  const way = () => page.locator("[aria-label='locations in each state in the span'] [role=columnheader]").evaluateAll((all) => all.flatMap((it) => (it.ariaSort === "none" ? [] : [`${it.textContent} ${it.ariaSort}`])));
  assert.deepEqual(await way(), ["solve ▾ descending"]);
  await look(`table=mountains&hide=${encodeURIComponent('["solve"]')}&sorted=${encodeURIComponent('[["locations in each state in the span","-solve"]]')}`);
  await browser.until("it is gone", () => [...document.querySelectorAll("[aria-label='locations in each state in the span'] [role=columnheader]")].every((it) => !it.textContent.startsWith("solve")));
  assert.deepEqual(await way(), ["From ▴ ascending"]);
  await look("");
}

/** Compares a table of a mountain range with what the engine tells of one. */
async function courseOf(browser, head, label, [from, to]) {
  const { page } = browser;
  await browser.until("rows", (label) => document.querySelectorAll(`[aria-label='${label}'] .table-row`).length > 5, label);
  const starts = (await read(page, label, 2)).map(([start]) => digits(start));
  // Two steps that follow each other tell how long they are.
  const log2 = Math.round(Math.log2(starts[1] - starts[0]));
  const answer = await asked(page, { ask: "course", from_ns: from, to_ns: to, resolution_log2: log2, locations: [[0, head.locations.length]], exact: false, without: [] });
  const { from_ns: first, bucket_ns: bucket, buckets } = answer.head;
  assert.equal(bucket, 2 ** log2);
  const heads = await page.locator(`[aria-label='${label}'] [role=columnheader]`).allTextContents();
  const rows = await read(page, label);
  assert.equal(rows.length, buckets, "a row for each step of the span");
  let compared = 0;
  rows.forEach((cells, place) => {
    assert.equal(digits(cells[0]), first + place * bucket);
    answer.region.forEach((region, series) => {
      // The page tells three windows at once, of which others may be the largest.
      const column = heads.indexOf(head.regions[region].name);
      if (column < 0) return;
      compared += 1;
      const there = answer.busy[series * buckets + place];
      // A step at an edge of what was asked for may be cut.
      if (place > 0 && place + 1 < buckets) assert(Math.abs(Number(cells[column]) - there) < 0.006, `${head.regions[region].name} at ${cells[0]}: ${cells[column]}, not ${there}`);
    });
  });
  assert(compared >= 3 * rows.length, `${compared} values`);
}

/** The window that a picture of a span is asked for: as finely, and wide enough. */
async function pictured(page, head, [from, to]) {
  const width = await page.evaluate(() => Math.floor(document.querySelector(".timeline-rows").getBoundingClientRect().width - 138));
  return { from_ns: Math.max(from - (to - from), 0), to_ns: Math.min(to + (to - from), head.duration_ns), resolution_log2: Math.max(0, Math.floor(Math.log2((to - from) / width))), locations: [[0, head.locations.length]], exact: false };
}

/** Cells of all rows of a table, which has few of them in the page at a time; or of the first ones. */
async function read(page, label, most = Infinity) {
  const number = Number(await page.locator(`[aria-label='${label}']`).getAttribute("aria-rowcount")) - 1;
  const found = new Map();
  const body = page.locator(`[aria-label='Rows of ${label}']`);
  for (let top = 0; found.size < Math.min(number, most); top += 900) {
    await body.evaluate((it, top) => (it.scrollTop = top), top);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const seen = await page.locator(`[aria-label='${label}'] .table-row`).evaluateAll((rows) => rows.map((it) => [Number(it.getAttribute("aria-rowindex")), [...it.querySelectorAll("[role=cell]")].map((cell) => cell.textContent)]));
    seen.forEach(([at, cells]) => found.set(at, cells));
    assert(top < 200_000, `${found.size} of ${number} rows of ${label}`);
  }
  await body.evaluate((it) => (it.scrollTop = 0));
  return [...found].sort((a, b) => a[0] - b[0]).map(([, cells]) => cells).slice(0, most);
}

function digits(text) {
  return Number(text.replace(/\D/g, ""));
}

/** A duration in words, of as many digits as these here have. */
function nanoseconds(text) {
  const [, value, unit] = /^([\d.\u202f\u2009]+)\s*(\S+)$/.exec(text) ?? [];
  return Math.round(Number(value.replace(/[\u202f\u2009]/g, "")) * { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 }[unit]);
}
