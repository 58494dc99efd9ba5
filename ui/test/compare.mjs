/** Two real runs side by side: LAMMPS with two ranks and with four, one of them looked at as the other. */
import assert from "node:assert/strict";

import { unexplained } from "./explained.mjs";
import { table } from "./tables.mjs";

const A = ".compare-run:nth-child(1) canvas";
const B = ".compare-run:nth-child(2) canvas";

export async function compare(browser, address) {
  const { page } = browser;
  browser.step("two runs that are opened are compared");
  await page.goto(address);
  await browser.settled();
  assert.match(page.url(), /#1&view=compare$/);
  const [base, other] = [await head(page, "run"), await head(page, "run", 1)];
  const differences = await head(page, "compare");
  assert.deepEqual([base.processes.length, other.processes.length], [2, 4]);
  assert.equal(await browser.text(".compare-headline"), differences.sentences[0]);
  assert.match(await browser.text(".compare-headline"), /\(4 processes\) takes .* \(2 processes\)/);
  await browser.picture("compare");
  await browser.accessible("two runs");

  browser.step("wall times, their difference and the efficiencies of both stand beside each other");
  const wall = (await facts(page, "Wall time")).map(nsOf);
  near(wall[0], base.duration_ns);
  near(wall[1], other.duration_ns);
  near(wall[2], other.duration_ns - base.duration_ns);
  const load = differences.numbers.find((it) => it.name === "load_balance");
  const told = (await facts(page, "Load balance")).map((text) => Number(text.replace("−", "-").match(/[-\d.]+/)[0]));
  near(told[0], load.old * 100);
  near(told[1], load.new * 100);
  near(told[2], (load.new - load.old) * 100, 0.1);

  browser.step("both are drawn in the same colours, row by row");
  for (const [number, [canvas, ranks]] of [[A, 2], [B, 4]].entries()) {
    const colours = await browser.colours(canvas);
    // How much there is of a colour differs from run to run: at least a column of pixels for as much as the engine knows of.
    const perPixel = Math.max(base.duration_ns, other.duration_ns) / ((await page.locator(canvas).boundingBox()).width - 138);
    const least = await drawn(page, number, [base, other][number]);
    for (const [what, colour] of [["MPI_Send", "5b8def"], ["MPI_Init", "9aa3ad"], ["waiting", "e9a23b"]]) {
      assert((colours[colour] ?? 0) >= Math.floor(least[what] / perPixel), `${what} is drawn in ${canvas}: ${colours[colour]} of ${least[what] / perPixel} pixels`);
    }
    assert((colours["9aa3ad"] ?? 0) > 200, `MPI_Init is drawn in ${canvas}`);
    assert.match(await page.locator(canvas).getAttribute("aria-label"), new RegExp(`Timeline of ${ranks} locations`));
  }

  await difference(browser);

  browser.step("who zooms one zooms the other");
  assert.deepEqual(await begins(page), [0, 0], "both begin at the same time");
  const box = await page.locator(B).boundingBox();
  await page.mouse.move(Math.round(box.x + 128 + (box.width - 138) * 0.5), Math.round(box.y + 40));
  for (let turn = 0; turn < 5; turn += 1) await page.mouse.wheel(0, -240);
  await browser.settled();
  const [from, to] = spanOf(page.url());
  assert(to - from < 1e9 && to - from > 1e6, `${from} to ${to}`);
  assert.deepEqual(await begins(page), [from, from]);

  browser.step("aligned on an iteration, it begins at the same place in both");
  const iterations = await head(page, "iterations", 0, ["base_from", "other_from", "base_to", "other_to"]);
  assert(iterations.is_same && iterations.base.number === 100 && iterations.other.number === 100, JSON.stringify(iterations.base));
  await page.getByRole("button", { name: "Aligned on an iteration" }).click();
  await browser.settled();
  const first = Number(/align=(\d+)/.exec(page.url())[1]);
  // It is the one that was looked at.
  const middle = (from + to) / 2;
  assert(iterations.base_from[first - 1] <= middle && (first === 100 || middle < iterations.base_from[first]), `${first}`);
  await aligned(page, iterations, first);
  await page.keyboard.press(".");
  await browser.settled();
  assert.match(page.url(), new RegExp(`align=${first + 1}(&|$)`));
  await aligned(page, iterations, first + 1);
  await page.keyboard.press(",");
  await page.keyboard.press(",");
  await browser.settled();
  await aligned(page, iterations, first - 1);
  assert.match(await browser.text(".compare-strip-said"), new RegExp(`Iteration ${first - 1}: A .*, B .*[+−]`));
  await browser.picture("compare-aligned");

  browser.step("what one run took longer for has its colour and its sign");
  const bars = await page.locator(".compare-bars canvas").boundingBox();
  const lengths = iterations.base_from.map((from, at) => [iterations.base_to[at] - from, iterations.other_to[at] - iterations.other_from[at]]);
  const most = Math.max(...lengths.flat());
  for (const [what, colour, more] of [["more", "d9730d", ([a, b]) => b - a], ["less", "2f6fc4", ([a, b]) => a - b]]) {
    const [largest, at] = lengths.map((it, at) => [more(it), at]).sort((a, b) => b[0] - a[0])[0];
    // A tenth of the height is some six rows of pixels.
    if (largest < most / 10) continue;
    // Beneath the upper end: the line of the first run may be there, and the sign is in the middle, from nine rows on.
    const height = Math.max(...lengths[at]) / most;
    const found = await pixel(page, ".compare-bars canvas", (box) => [128 + ((box.width - 138) * (at + 0.25)) / 100, box.height - 18 - (box.height - 26) * height + 2]);
    assert.equal(found, colour, `iteration ${at + 1} takes ${what}: ${lengths[at]}`);
  }

  browser.step("a bar that is pressed is looked at");
  await page.mouse.click(bars.x + 128 + (bars.width - 138) * 0.705, bars.y + 60);
  await browser.settled();
  assert.match(page.url(), /align=71(&|$)/);
  await aligned(page, iterations, 71);
  const shown = spanOf(page.url());
  const longest = Math.max(...lengths[70]);
  assert(shown[0] < iterations.base_from[70] && iterations.base_from[70] + longest < shown[1] && shown[1] - shown[0] < 2 * longest, `${shown}`);

  browser.step("the address brings it back");
  const again = page.url();
  await page.reload();
  await browser.settled();
  assert.equal(page.url(), again);
  await aligned(page, iterations, 71);

  browser.step("tables have the numbers of the engine, with signs and reasons");
  for (const [name, label, rows] of [
    ["Critical path", "differences on the critical path", differences.path.rows],
    ["Regions", "differences by region", differences.regions.rows],
    ["Call paths", "differences by call path", differences.call_paths.rows],
    ["Waits", "differences of waits", differences.waits.rows],
  ]) {
    await page.locator(".compare-ways button").filter({ hasText: name }).click();
    const cells = await page.locator(`[aria-label='${label}'] .table-row`).first().locator("[role=cell]").allTextContents();
    const texts = cells.map((text) => text.trim());
    const { place, why } = rows[0];
    assert(texts[0].endsWith(place.activity === "call" ? place.name : "computation between calls"), `${texts}`);
    const times = texts.filter((text) => /^[+−]?[\d\u202f.]+ (s|ms|µs|ns)$/.test(text)).map(nsOf);
    near(times[0], rows[0].old);
    near(times[1], rows[0].new);
    near(times[2], rows[0].new - rows[0].old);
    const heads = await page.locator(`[aria-label='${label}'] [role=columnheader]`).allTextContents();
    assert.equal(texts[heads.indexOf("Because")] === "", why === null, `${heads}`);
  }
  await page.locator(".compare-ways button").filter({ hasText: "Iterations" }).click();
  await browser.until("the address says so", () => location.hash.includes("differences=iterations"));
  assert.equal(await page.locator("[aria-label='differences of iterations'] .table-row.table-chosen").count(), 0, "iteration 71 is farther down");
  await page.locator("[aria-label='differences of iterations'] .table-row").nth(3).click();
  await browser.settled();
  await aligned(page, iterations, 4);

  for (const [which, label] of [["path", "on the critical path"], ["regions", "by region"], ["call-paths", "by call path"], ["waits", "of waits"], ["iterations", "of iterations"]]) {
    await page.evaluate((which) => (location.hash = `#1&view=compare&differences=${which}`), which);
    await table(browser, `differences ${label}`);
  }
  await page.evaluate(() => (location.hash = "#1&view=compare"));
  await browser.settled();

  browser.step("a row that is pressed is chosen in both runs and in all views");
  await page.locator(".compare-ways button").filter({ hasText: "Regions" }).click();
  await page.getByRole("button", { name: "Aligned on time" }).click();
  await page.keyboard.press("0");
  await browser.settled();
  const before = [await browser.colours(A), await browser.colours(B)];
  await page.locator("[aria-label='differences by region'] .table-row").filter({ hasText: "MPI_Init" }).first().click();
  await browser.until("a chip", () => document.querySelector(".chip")?.textContent.includes("MPI_Init"));
  await page.waitForTimeout(200);
  for (const [number, canvas] of [A, B].entries()) {
    const after = await browser.colours(canvas);
    assert((after["9aa3ad"] ?? 0) > 1000, "what is chosen stays");
    assert((after["5b8def"] ?? 0) < (before[number]["5b8def"] ?? 0) / 10, "others are pale");
  }
  await browser.open("Profile");
  assert.equal((await browser.text(".table-row.table-chosen div")).trim(), "MPI_Init");
  await browser.open("Compare");
  await browser.settled();

  browser.step("visits of both are told, and both stand in tables");
  await page.keyboard.press("Escape");
  const length = Math.max(base.duration_ns, other.duration_ns);
  for (const canvas of [A, B]) {
    const box = await page.locator(canvas).boundingBox();
    // Open MPI takes longer than that to begin.
    await page.mouse.click(box.x + 128 + ((box.width - 138) * 150e6) / length, box.y + 30);
  }
  await browser.until("both are told", () => document.querySelectorAll(".compare-visit").length === 2);
  assert.deepEqual((await page.locator(".compare-visit").allTextContents()).map((text) => /^MPI_Init\w* on rank 0/.test(text)), [true, true]);
  await browser.until("the address says so", () => /visit=\d+%40\d+.*visit-beside=\d+%40\d+/.test(location.hash));
  await page.getByRole("button", { name: "Table", exact: true }).click();
  await browser.until("tables", () => document.querySelectorAll("[aria-label='states of A in the span'] .table-row, [aria-label='states of B in the span'] .table-row").length > 20);
  await browser.accessible("two runs with their tables");
  await page.getByRole("button", { name: "Table", exact: true }).click();

  browser.step("both are saved in one picture");
  await page.getByRole("button", { name: "View ▾" }).click();
  const svg = await browser.downloaded(() => page.getByRole("button", { name: "Save as SVG" }).click());
  const text = svg.content.toString();
  assert(text.includes("#d9730d") || text.includes("#2f6fc4"), "and their difference");
  assert(text.includes(base.name) && text.includes(other.name) && text.includes(">rank 3<"), "both are in it");
  assert((text.match(/fill="#9aa3ad"/g) ?? []).length >= 6, "MPI_Init of all ranks");

  browser.step("what is chosen in a window torn off is chosen here");
  const second = await browser.opened(() => page.keyboard.press("o"));
  await second.settled();
  await second.page.keyboard.press(".");
  await second.settled();
  await browser.open("Compare");
  await browser.until("the same iteration", () => location.hash.includes("align=1"));
  await second.page.close();
  await browser.settled();
  await aligned(page, iterations, 1);

  browser.step("the other theme");
  await page.getByRole("button", { name: "Theme: light" }).click();
  await browser.settled();
  await browser.accessible("two runs in the dark");
  await browser.picture("compare-dark");
}

/** What differs in the course of time: the lane, its words, its table, and the address that brings it back. */
async function difference(browser) {
  const { page } = browser;
  const LANE = ".compare-lane canvas";
  browser.step("what the runs differ in, in the course of time, has the colours of differences");
  const [more, less] = ["d9730d", "2f6fc4"];
  const before = await browser.colours(LANE);
  assert((before[more] ?? 0) + (before[less] ?? 0) > 50, "they differ");
  await page.getByLabel("What is compared in the course of time").selectOption("waiting");
  await browser.settled();
  assert.match(page.url(), /lane=waiting/);
  assert.match(await page.locator(LANE).getAttribute("aria-label"), /B has waiting than A/);
  assert.notDeepEqual(await browser.colours(LANE), before, "waiting is something else");

  browser.step("the table of the difference has the shares that the engine tells");
  await page.getByRole("button", { name: "Table", exact: true }).click();
  await browser.until("the address says so", () => location.hash.includes("tables=1"));
  await page.reload();
  await browser.settled();
  await browser.until("its rows", () => document.querySelectorAll("[aria-label='the difference in the course of time'] .table-row").length > 10);
  const cells = await page.locator("[aria-label='the difference in the course of time'] .table-row").first().locator("[role=cell]").allTextContents();
  const [from, , old, fresh, differs] = cells.map((text) => text.trim());
  const [first, length] = [Number(from.replace(/\D/g, "")), nsOf(cells[1].trim())];
  for (const [number, told] of [[0, old], [1, fresh]]) {
    const run = await head(page, "run", number);
    const window = { from_ns: first, to_ns: Math.round(first + length), resolution_log2: 10, locations: [[0, run.locations.length]], exact: true };
    const { start, duration, share } = await head(page, "waits", number, ["start", "duration", "share"], window);
    // Whatever reaches out of the step counts by what is inside.
    const inside = start.map((at, place) => Math.max(0, Math.min(at + duration[place], first + length) - Math.max(at, first)) * share[place]);
    near(Number(told.match(/[\d.]+/)[0]) / 100, inside.reduce((sum, it) => sum + it, 0) / length / run.locations.length, 0.06);
  }
  near(Number(differs.replace("−", "-").match(/[-\d.]+/)[0]), Number(fresh.match(/[\d.]+/)[0]) - Number(old.match(/[\d.]+/)[0]), 0.11);
  await browser.accessible("the difference and its table");
  await browser.picture("compare-difference");

  browser.step("everything in it is explained");
  assert.deepEqual(await unexplained(page), []);
  await page.getByRole("button", { name: "Table", exact: true }).click();
  await page.getByLabel("What is compared in the course of time").selectOption("calls");
  await browser.settled();
  assert.doesNotMatch(page.url(), /lane=|tables=/);
}

/** The k-th iteration begins at the same place in both, and its times are those of the run that they are of. */
async function aligned(page, iterations, number) {
  const [a, b] = await begins(page);
  const shift = iterations.other_from[number - 1] - iterations.base_from[number - 1];
  assert.equal(b - a, shift, `iteration ${number}`);
}

/** Where both pictures begin, ns of their runs, as they tell it themselves. */
async function begins(page) {
  const labels = await page.locator(".compare-rows canvas").evaluateAll((all) => all.map((it) => it.getAttribute("aria-label")));
  return labels.map((label) => {
    const [, sign, digits] = /from (−?)([\d.\s\u202f]+) s to/.exec(label);
    return (sign === "" ? 1 : -1) * Number(digits.replace(/\D/g, ""));
  });
}

/** The colour at a place of a canvas, CSS pixels. */
async function pixel(page, selector, place) {
  const [x, y] = place(await page.locator(selector).boundingBox());
  return page.locator(selector).evaluate(
    (canvas, [x, y]) => {
      const ratio = canvas.width / canvas.getBoundingClientRect().width;
      const { data } = canvas.getContext("2d").getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1);
      return [...data.slice(0, 3)].map((part) => part.toString(16).padStart(2, "0")).join("");
    },
    [x, y],
  );
}

/** How long single calls and waits are that have a bar of their own in a picture of the whole run, ns. */
async function drawn(page, number, run) {
  const locations = [[0, run.locations.length]];
  const window = { from_ns: 0, to_ns: run.duration_ns, resolution_log2: Math.ceil(Math.log2(run.duration_ns / 1000)), locations, exact: true };
  const answers = await Promise.all(["states", "waits"].map((ask) => head(page, ask, number, COLUMNS[ask], window)));
  const [states, waits] = answers;
  const single = (of, name) => of.duration.reduce((sum, it, at) => sum + (of.visit[at] === 1 && run.regions[of.region1[at]].name === name ? it : 0), 0);
  const waited = waits.duration.reduce((sum, it, at) => sum + (waits.share[at] === 1 ? it : 0), 0);
  const found = { MPI_Init: single(states, "MPI_Init"), MPI_Send: single(states, "MPI_Send"), waiting: waited };
  // What waits is drawn over the call that waits.
  return { ...found, MPI_Send: Math.max(found.MPI_Send - waited, 0), MPI_Init: Math.max(found.MPI_Init - waited, 0) };
}

const COLUMNS = { states: ["duration", "visit", "region1"], waits: ["duration", "share"] };

/** A head of an answer, and some of its columns. */
async function head(page, ask, run = 0, columns = [], more = {}) {
  return page.evaluate(
    async ({ ask, run, columns, more }) => {
      const answer = await fetch(`api/answer/${run}`, { method: "POST", body: JSON.stringify({ ask, ...more }) });
      const bytes = await answer.arrayBuffer();
      const size = new DataView(bytes).getUint32(0, true);
      const whole = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, size)));
      const found = { ...whole.head };
      for (const name of columns) {
        const { at, length, type } = whole.columns.find((it) => it.name === name);
        found[name] = [...new { f64: Float64Array, f32: Float32Array, u32: Uint32Array }[type](bytes, at, length)];
      }
      return found;
    },
    { ask, run, columns, more },
  );
}

async function facts(page, name) {
  const row = page.locator(".compare-numbers tr").filter({ has: page.locator("th", { hasText: new RegExp(`^${name}$`) }) });
  return (await row.locator("td").allTextContents()).map((text) => text.trim());
}

function nsOf(text) {
  const [, sign, digits, unit] = /^([+−]?)([\d\u202f.]+) (s|ms|µs|ns)/.exec(text) ?? [];
  const size = { s: 1e9, ms: 1e6, "µs": 1e3, ns: 1 }[unit];
  return (sign === "−" ? -1 : 1) * Number(digits.replace(/\u202f/g, "")) * size;
}

/** Equal as far as four digits tell. */
function near(found, truth, least = 1) {
  assert(Math.abs(found - truth) <= Math.max(Math.abs(truth) * 6e-4, least), `${found} is ${truth}`);
}

function spanOf(address) {
  return /span=(-?\d+)-(-?\d+)/.exec(address)?.slice(1).map(Number) ?? [0, Infinity];
}
