/** A real run: LAMMPS with four ranks, looked at in all views, one selection for all of them. */
import assert from "node:assert/strict";

import { communication } from "./communication.mjs";
import { moved } from "./moved.mjs";
import { operations } from "./operations.mjs";
import { pointer } from "./pointer.mjs";
import { profile } from "./profile.mjs";
import { asked, fact } from "./read.mjs";
import { small } from "./small.mjs";
import { waits, waitsOfSpan } from "./waits.mjs";

const ROWS = ".timeline-rows canvas";

export async function lammps(browser, address) {
  const { page } = browser;
  browser.step("the overview tells facts, findings and efficiencies");
  await page.goto(address);
  await browser.until("the report is there", () => document.querySelector(".findings-card, .overview .muted") !== null);
  await browser.until("efficiencies are there", () => document.querySelectorAll(".overview-bar").length >= 10);
  assert.match(await browser.text(".overview-facts"), /4 processes/);
  assert.match(page.url(), /^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{16}\/#1&view=overview$/, "the key has left the address");
  await browser.picture("overview");
  await browser.accessible("the overview");

  browser.step("the timeline has states of all kinds and their waiting");
  await browser.open("Timeline");
  await browser.settled();
  const whole = await browser.colours(ROWS);
  assert((whole["e9a23b"] ?? 0) > 500, "waiting is drawn in amber");
  assert((whole["5b8def"] ?? 0) > 500, "sending and receiving is drawn in blue");
  await browser.picture("timeline");
  await browser.accessible("the timeline");

  browser.step("the wheel zooms in where the pointer is, and Backspace goes back");
  const box = await page.locator(ROWS).boundingBox();
  // Whole pixels: the wheel knows no others.
  const [x, y] = [Math.round(box.x + 128 + (box.width - 138) * 0.6), Math.round(box.y + 40)];
  await page.mouse.move(x, y);
  const pointed = await browser.text(".timeline-time");
  for (let turn = 0; turn < 6; turn += 1) await page.mouse.wheel(0, -240);
  // However long the run took: six turns make it 36 times as short.
  const lasted = (await asked(page, { ask: "run" })).head.duration_ns;
  await browser.until(
    "the span is short",
    (most) => {
      const [, from, to] = /span=(\d+)-(\d+)/.exec(location.hash) ?? [];
      return to - from < most;
    },
    lasted / 30,
  );
  await browser.settled();
  const span = spanOf(page.url());
  const at = Number(pointed.replace(/\D/g, ""));
  assert(span[0] < at && at < span[1], `${pointed} is still seen in ${span}`);
  await browser.picture("zoomed");
  // Farther in, and back to where this was.
  await page.waitForTimeout(450);
  await page.mouse.wheel(0, -240);
  await browser.settled();
  assert.notDeepEqual(spanOf(page.url()), span);
  await page.keyboard.press("Backspace");
  await browser.settled();
  assert.deepEqual(spanOf(page.url()), span);
  await moved(browser);
  await pointer(browser);

  browser.step("a visit that is pressed is told: name, place, call path");
  await pressed(browser, box);
  const name = (await browser.text(".side .facts dd")).trim();
  assert.match(name, /^MPI_/);
  assert.match(await browser.text(".side .facts"), /rank \d/);
  await browser.until("it has a call path", () => document.querySelectorAll(".path li").length > 2);
  assert.match(page.url(), /visit=\d+%40\d+/);
  await browser.picture("selected");

  browser.step("the timeline is saved as SVG and as PNG");
  const svg = await saved(browser, "SVG");
  assert.equal(svg.name, "run-timeline.svg");
  const drawn = await page.evaluate((text) => {
    const file = new DOMParser().parseFromString(text, "image/svg+xml");
    const texts = [...file.querySelectorAll("text")].map((it) => it.textContent);
    return { root: file.documentElement.localName, bars: file.querySelectorAll("rect[fill='#e9a23b']").length, texts };
  }, svg.content.toString());
  assert.equal(drawn.root, "svg");
  assert(drawn.bars > 0, "waiting is in it");
  assert(drawn.texts.includes("rank 0") && drawn.texts.includes("rank 3"), `${drawn.texts}`);
  assert(drawn.texts.some((it) => it.startsWith("MPI_")), "bars have their names");
  const png = await saved(browser, "PNG");
  assert.equal(png.content.subarray(1, 4).toString(), "PNG");
  assert(png.content.length > 10_000, `${png.content.length} bytes`);

  browser.step("a view is torn off, and what is chosen there is chosen here");
  await page.keyboard.press("3");
  const second = await browser.opened(() => page.keyboard.press("o"));
  await second.until("it has the profile", () => document.querySelectorAll("[aria-label='profile by region'] .table-row").length > 3);
  assert.equal(await second.page.locator("nav").count(), 0, "it shows one view alone");
  await browser.open("Timeline");
  await browser.settled();
  await second.page.locator(".table-row").first().click();
  const other = (await second.text(".table-row.table-chosen div")).trim();
  await browser.until("it is chosen here", (name) => document.querySelector(".chip")?.textContent.includes(name), other);
  await page.keyboard.press("0");
  await second.until("the whole run there", () => !location.hash.includes("span="));
  await page.keyboard.press("Backspace");
  await second.until("the span there", (span) => location.hash.includes(`span=${span}`), span.join("-"));
  await second.picture("torn-off");
  await second.accessible("the torn-off view");
  const sheet = await saved(second, "SVG");
  assert.match(sheet.content.toString(), /foreignObject[^]*profile by region/);
  await saved(second, "PNG");
  await second.page.close();
  await page.locator(".chip").click();

  browser.step("two views beside each other");
  await page.getByRole("button", { name: "View ▾" }).click();
  await page.getByLabel("Beside it").selectOption("profile");
  await browser.until("both are there", () => document.querySelector(".timeline") !== null && document.querySelectorAll(".table-row").length > 3);
  await browser.settled();
  assert.match(page.url(), /beside=profile/);
  await browser.picture("beside");
  await browser.accessible("two views");
  await page.getByRole("button", { name: "Close Profile" }).click();
  await browser.settled();

  browser.step("the next and the previous visit are others of the same region");
  const start = await fact(page, "Start");
  await page.keyboard.press("]");
  const told = (start) => document.querySelector(".side .facts")?.textContent.includes(start) === true;
  await browser.until("another visit", (start) => document.querySelector(".side .facts")?.textContent.includes(start) === false, start);
  assert.equal((await browser.text(".side .facts dd")).trim(), name);
  await page.keyboard.press("[");
  await browser.until("the first again", told, start);
  // Who presses faster than details come goes as many steps all the same.
  for (const key of ["]", "]", "[", "["]) await page.keyboard.press(key);
  await browser.until("the first once more", (it) => document.querySelector(".side")?.textContent.includes(it) === true && document.querySelector("[data-steps='0']") !== null, start);

  browser.step("a region that is chosen is chosen in all views");
  await page.locator(".side .facts dd .link").first().click();
  await browser.until("a chip", (name) => document.querySelector(".chip")?.textContent.includes(name), name);
  await browser.settled();
  await browser.open("Profile");
  assert.equal((await browser.text(".table-row.table-chosen div")).trim(), name);
  await browser.picture("profile");
  await browser.accessible("the profile");

  browser.step("hidden states are not drawn");
  await browser.open("Timeline");
  await page.keyboard.press("Escape");
  await page.keyboard.press("0");
  await browser.settled();
  const before = await browser.colours(ROWS);
  await page.locator(".states li").filter({ hasText: "MPI_Init" }).getByRole("checkbox").uncheck();
  await page.waitForTimeout(200);
  const after = await browser.colours(ROWS);
  const grey = "9aa3ad";
  assert((before[grey] ?? 0) > 1000 && (after[grey] ?? 0) < (before[grey] ?? 0) / 10, "MPI_Init is gone");
  await page.locator(".states li").filter({ hasText: "MPI_Init" }).getByRole("checkbox").check();

  browser.step("what blinks comes and goes");
  await page.keyboard.press("Escape");
  await find(page, "MPI_Init");
  await page.keyboard.press("b");
  const seen = new Set();
  for (let look = 0; look < 12; look += 1) {
    seen.add(((await browser.colours(ROWS))[grey] ?? 0) > 1000);
    await page.waitForTimeout(150);
  }
  assert.equal(seen.size, 2, "it was seen and not seen");
  await page.keyboard.press("b");
  await page.keyboard.press("Escape");

  await communication(browser);

  browser.step("the address brings it all back");
  await page.keyboard.press("Escape");
  await page.evaluate(() => (location.hash = "#1&view=timeline&span=300000000-400000000&locations=1,2&region=MPI_Send&layers=p"));
  await browser.settled();
  assert.match(await browser.text(".timeline-bar"), /2 locations · 100\.0 ms/);
  assert.match(await browser.text(".chip"), /MPI_Send/);
  const again = page.url();
  await page.reload();
  await browser.settled();
  assert.equal(page.url(), again);

  browser.step("visits are picked out of a histogram and blink in the timeline");
  await page.evaluate(() => (location.hash = "#1&view=histogram&region=MPI_Send"));
  await browser.until("bars", () => document.querySelectorAll(".histogram-chart rect").length > 5);
  const visits = Number((await browser.text(".sheet")).replace(/\u202f/g, "").match(/(\d+) visits · from/)[1]);
  const chart = await page.locator(".histogram-chart svg").boundingBox();
  await page.mouse.move(chart.x + chart.width * 0.7, chart.y + 60);
  await page.mouse.down();
  await page.mouse.move(chart.x + chart.width, chart.y + 60, { steps: 4 });
  await page.mouse.up();
  await browser.until("some are picked", () => document.querySelectorAll("[aria-label='picked visits'] .table-row").length > 1);
  const some = Number((await browser.text("h2")).replace(/\u202f/g, "").match(/Picked — (\d+) visit/)[1]);
  assert(0 < some && some < visits, `${some} of ${visits}`);
  await browser.picture("histogram");
  await browser.accessible("the histogram");
  await page.getByRole("button", { name: "Blink in the timeline" }).click();
  await browser.settled();
  const blinks = new Set();
  for (let look = 0; look < 12; look += 1) {
    blinks.add(((await browser.colours(ROWS))["c8157c"] ?? 0) > 20);
    await page.waitForTimeout(150);
  }
  assert.equal(blinks.size, 2, "what was picked was seen and not seen");
  await page.keyboard.press("b");
  await page.locator("[aria-label='picked visits'] .table-row").first().click();
  await browser.until("its details", () => document.querySelector(".side .facts")?.textContent.includes("MPI_Send"));
  await page.getByRole("group", { name: "Robust test" }).getByRole("button", { name: "1 %", exact: true }).click();
  await browser.until("the address says so", () => location.hash.includes("picked=anomalous"));
  await page.getByRole("button", { name: "Close Timeline" }).click();

  await profile(browser);

  browser.step("rows stand in the order of their waiting");
  await page.keyboard.press("Escape");
  await browser.open("Timeline");
  await page.getByRole("button", { name: "Rows ▾" }).click();
  await page.getByLabel("Order of the rows").selectOption("waiting");
  await browser.accessible("the menu of the rows");
  await page.keyboard.press("Escape");
  await browser.settled();
  assert.match(page.url(), /rows=waiting/);
  const ordered = await saved(browser, "SVG");
  const names = [...ordered.content.toString().matchAll(/>(rank \d)</g)].map((it) => it[1]);
  const { head } = await asked(page, { ask: "report" });
  const sums = {};
  for (const row of head.waits) sums[row.location] = (sums[row.location] ?? 0) + row.wait_ns;
  const waited = Object.entries(sums).sort((a, b) => b[1] - a[1]).map((it) => it[0]);
  assert.deepEqual(names, waited);
  await page.getByRole("button", { name: "Rows ▾" }).click();
  await page.getByLabel("Order of the rows").selectOption("number");
  await page.keyboard.press("Escape");

  browser.step("what is drawn stands in a table, too");
  await page.getByRole("button", { name: "Table" }).click();
  await browser.until("rows", () => document.querySelectorAll("[aria-label='states in the span'] .table-row").length > 5);
  // Which takes longest differs from one recording to another.
  assert.match(await browser.text("[aria-label='states in the span'] .table-row"), /MPI_\w+/);
  await browser.accessible("the timeline with its table");
  await browser.picture("timeline-table");
  await page.getByRole("button", { name: "Table" }).click();
  await browser.settled();

  await operations(browser);

  browser.step("utilisation up to an instant");
  await browser.open("Utilisation");
  await browser.until("a line for each", () => document.querySelectorAll(".utilisation-line").length === 4);
  const full = await page.locator(".utilisation-line .utilisation-waiting").first().evaluate((it) => it.getBoundingClientRect().width);
  await browser.picture("utilisation");
  await browser.accessible("utilisation");
  await page.getByLabel("From the start of the run to").fill("0");
  await browser.until("nothing was waited for", () => document.querySelector(".utilisation-line .utilisation-waiting").getBoundingClientRect().width < 1);
  assert(full > 5, `${full} px of waiting`);
  await page.getByRole("button", { name: "To the end of the span" }).click();

  await page.evaluate(() => (location.hash = "#1&view=timeline"));
  await browser.settled();

  browser.step("waits, delays and the critical path have tables");
  await page.keyboard.press("Escape");
  await browser.open("Waits & path");
  for (const label of ["waiting", "delays", "critical path"]) {
    assert((await page.locator(`[aria-label='${label}'] .table-row`).count()) > 3, label);
  }
  await browser.picture("waits");
  await browser.accessible("waits");
  await waits(browser);
  await waitsOfSpan(browser);
  await page.getByRole("button", { name: "Show in the timeline" }).click();
  await browser.settled();
  assert(((await browser.colours(ROWS))["b3261e"] ?? 0) > 300, "the critical path is drawn");

  browser.step("one run has nothing to be compared with, and the view says how to get another");
  await browser.open("Compare");
  assert.match(await browser.text(".compare-command"), /^marey view run\.marey other\.marey$/);
  await browser.accessible("the view without a second run");
  await browser.open("Timeline");
  await browser.settled();

  browser.step("the other theme");
  await page.getByRole("button", { name: "Theme: light" }).click();
  await browser.settled();
  await browser.accessible("the dark timeline");
  await browser.picture("dark");
  await browser.open("Help");
  await browser.accessible("help");

  await small(browser);

  browser.step("no key, no answer");
  const answer = await fetch(new URL("api/answer", page.url()), { method: "POST", body: '{"ask":"run"}' });
  assert.equal(answer.status, 401);
}

function spanOf(address) {
  return /span=(\d+)-(\d+)/.exec(address)?.slice(1).map(Number) ?? [0, Infinity];
}

/** Presses a visit in the first row: one of the longest that are seen there, wherever it is. */
async function pressed(browser, box) {
  const { page } = browser;
  const [from, to] = spanOf(page.url());
  const window = { from_ns: from, to_ns: to, resolution_log2: Math.floor(Math.log2((to - from) / 1000)), locations: [[0, 1]], exact: true };
  const { start, duration } = await asked(page, { ask: "states", ...window });
  const longest = [...start.keys()].sort((a, b) => duration[b] - duration[a]).slice(0, 20);
  for (const at of longest) {
    const middle = (Math.max(start[at], from) + Math.min(start[at] + duration[at], to)) / 2;
    await page.mouse.click(box.x + 128 + ((box.width - 138) * (middle - from)) / (to - from), box.y + 30);
    await page.waitForTimeout(120);
    if ((await page.locator(".side .path").count()) > 0) return;
  }
  throw new Error(`there is no visit in the first row, though there are ${longest.length}`);
}

/** Saves the view by the menu. */
async function saved(browser, kind) {
  await browser.page.getByRole("button", { name: "View ▾" }).click();
  return browser.downloaded(() => browser.page.getByRole("button", { name: `Save as ${kind}` }).click());
}

async function find(page, name) {
  await page.keyboard.press("/");
  await page.keyboard.type(name);
  await page.keyboard.press("Enter");
}
