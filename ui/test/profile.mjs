/** The profile: bar lines, the call tree both ways, the flame graph, and that of a span. */
import assert from "node:assert/strict";

import { asked, finest } from "./read.mjs";

export async function profile(browser) {
  const { page } = browser;
  browser.step("bar lines of locations, the profile of one, and a flame graph");
  await page.keyboard.press("Escape");
  await browser.open("Profile");
  await page.getByRole("button", { name: "By location" }).click();
  await browser.until("a line for each", () => document.querySelectorAll(".racy:not(.racy-all) .racy-line").length === 4);
  assert.equal(await page.locator(".racy-all .racy-line").count(), 3, "mean, largest, smallest");
  await page.locator(".racy:not(.racy-all) .racy-line button").nth(2).click();
  await browser.until("its own profile", () => document.querySelectorAll("[aria-label='profile of one location'] .table-row").length > 5);
  assert.match(await browser.text(".chip"), /rank 2/);
  await page.getByText("As text").click();
  assert.match(await browser.text(".profile-text pre"), /%time +exclusive ms[^]*MPI_Send/);
  await browser.picture("by-location");
  await browser.accessible("the profile by location");
  await page.getByRole("button", { name: "Flame graph" }).click();
  await browser.until("boxes", () => document.querySelectorAll(".flames-box").length > 4);
  await browser.accessible("the flame graph");
  await tree(browser);
  await callers(browser);
  await ofSpan(browser);
  await page.getByRole("button", { name: "By region" }).click();
  await page.keyboard.press("Escape");
}

/** Rows of a tree as they are read: depth, name, the texts of their cells. */
function rowsOf(page, name) {
  return page.locator(`[aria-label='${name}'] [role=row][aria-level]`).evaluateAll((all) =>
    all.map((row) => ({ level: Number(row.ariaLevel), expanded: row.ariaExpanded, name: row.querySelector("code").textContent, cells: [...row.querySelectorAll("[role=gridcell]")].map((cell) => cell.textContent) })),
  );
}

async function tree(browser) {
  const { page } = browser;
  browser.step("the call tree opens and closes by keys, and what is open is found and copied");
  await page.getByRole("button", { name: "Call tree" }).click();
  await browser.until("its rows", () => document.querySelectorAll("[aria-label='call tree'] [aria-level]").length > 3);
  const nodes = (await asked(page, { ask: "report" })).head.call_tree;
  const opened = await rowsOf(page, "call tree");
  // The way that took most time is open: each row is the heaviest beneath the one before.
  const [heaviest] = nodes.filter((it) => it.parent === null).sort((a, b) => b.time_ns - a.time_ns);
  assert.equal(opened[0].name, heaviest.name);
  assert.equal(opened[0].expanded, "true");
  assert.equal(opened[1].level, 2);
  await browser.picture("call-tree");
  await browser.accessible("the call tree");
  await page.locator("[aria-label='call tree'] [tabindex='0'][role=row]").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowLeft");
  await browser.until("the first is closed", () => document.querySelector("[aria-label='call tree'] [aria-level]").ariaExpanded === "false");
  const closed = await rowsOf(page, "call tree");
  // Who took no time and called nothing is not there.
  assert.equal(closed.length, nodes.filter((it) => it.parent === null && (it.time_ns > 0 || it.calls > 0)).length);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await browser.until("the second has the focus", () => document.activeElement?.ariaLevel === "2");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await browser.until("the first has it again", () => document.activeElement?.ariaLevel === "1");
  await page.getByLabel("Filter call tree").fill("allreduce");
  const wanted = nodes.map((it) => /allreduce/i.test(it.name));
  // Those above it lead to it; they stand before it.
  for (let at = nodes.length - 1; at > 0; at -= 1) if (wanted[at] && nodes[at].parent !== null) wanted[nodes[at].parent] = true;
  const number = wanted.filter((it) => it).length;
  await browser.until("those and what leads to them", (number) => document.querySelector(".tree .table-tools .muted").textContent === `${number} rows`, number);
  await page.getByLabel("Filter call tree").fill("");

  browser.step("a region of the tree is chosen in all views");
  await page.getByLabel("Filter call tree").fill("MPI_Send");
  const row = page.locator("[aria-label='call tree'] [aria-level]").filter({ has: page.locator("code.tree-region", { hasText: /^MPI_Send$/ }) }).first();
  await row.click();
  await browser.until("it is chosen", () => location.hash.includes("region=MPI_Send"));
  await page.keyboard.press("Escape");
  await page.getByLabel("Filter call tree").fill("");
}

async function callers(browser) {
  const { page } = browser;
  browser.step("bottom-up, times of callers are parts of what they call");
  await page.getByRole("button", { name: "Bottom-up" }).click();
  await browser.until("its rows", () => document.querySelectorAll("[aria-label='bottom-up'] [aria-level]").length > 3);
  const nodes = (await asked(page, { ask: "report" })).head.call_tree;
  const own = nodes.map((it) => it.time_ns);
  nodes.forEach((it) => {
    if (it.parent !== null) own[it.parent] -= it.time_ns;
  });
  const sums = {};
  nodes.forEach((it, at) => {
    if (it.kind !== "others") sums[it.name] = (sums[it.name] ?? 0) + own[at];
  });
  const order = Object.entries(sums).sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const rows = await rowsOf(page, "bottom-up");
  assert.deepEqual(rows.filter((it) => it.level === 1).slice(0, 3).map((it) => it.name), order.slice(0, 3));
  assert(rows.some((it) => it.level === 2), "the heaviest has its callers");
  await browser.picture("bottom-up");
  await browser.accessible("bottom-up");
}

async function ofSpan(browser) {
  const { page } = browser;
  browser.step("the profile of a span is that of what lies in it");
  const { head } = await asked(page, { ask: "run" });
  const [from, to] = [Math.round(head.duration_ns * 0.4), Math.round(head.duration_ns * 0.6)];
  await page.evaluate(([from, to]) => (location.hash = `#1&view=profile&profile=span&span=${from}-${to}`), [from, to]);
  await browser.until("its rows", () => document.querySelectorAll("[aria-label='profile by region of the span'] .table-row").length > 2);
  const shares = await asked(page, { ask: "shares", span: { from_ns: from, to_ns: to } });
  const width = shares.head.regions.length + 1;
  // Added up from the pieces of a picture, in which what is nested counts on each of its lines.
  const window = { from_ns: from, to_ns: to, resolution_log2: finest(from, to), locations: [[0, head.locations.length]], exact: true };
  const totals = await asked(page, { ask: "totals", ...window });
  for (const name of ["MPI_Send", "MPI_Wait"]) {
    const region = head.regions.findIndex((it) => it.name === name && it.visits > 0);
    const column = shares.head.regions.indexOf(region);
    const sum = shares.inclusive.filter((_, at) => at % width === column).reduce((all, time) => all + time, 0);
    const truth = totals.time[totals.region.indexOf(region)];
    assert(Math.abs(sum - truth) <= truth * 0.01 + 1000, `${name}: ${sum} is ${truth}`);
  }
  assert.equal(await page.locator("[aria-label='profile by region of the span'] .strip").count(), await page.locator("[aria-label='profile by region of the span'] .table-row").count());
  await browser.picture("profile-span");
  await browser.accessible("the profile of a span");
  await page.locator(".strip-cell").nth(1).click();
  await browser.until("a location is chosen", () => /locations=\d/.test(location.hash));

  browser.step("the call tree of a span has the times of its call paths, and no others");
  const paths = await asked(page, { ask: "call-paths", from_ns: from, to_ns: to });
  const [own, visits] = [new Map(), new Map()];
  paths.call_path.forEach((path, at) => {
    own.set(path, paths.exclusive[at]);
    visits.set(path, paths.visits[at]);
  });
  const nodes = (await asked(page, { ask: "report" })).head.call_tree;
  const times = nodes.map((it) => it.call_paths.reduce((sum, path) => sum + (own.get(path) ?? 0), 0));
  for (let at = nodes.length - 1; at >= 0; at -= 1) if (nodes[at].parent !== null) times[nodes[at].parent] += times[at];
  const lost = paths.exclusive.reduce((sum, it) => sum + it, 0) - nodes.reduce((sum, it, at) => sum + (it.parent === null ? times[at] : 0), 0);
  assert(Math.abs(lost) < 10, `${lost} ns are in no node`);
  await page.evaluate(([from, to]) => (location.hash = `#1&view=profile&profile=tree,span&span=${from}-${to}`), [from, to]);
  await browser.until("its rows", () => document.querySelector("[aria-label='call tree'] [aria-level]") !== null);
  const heaviest = nodes.map((it, at) => ({ ...it, time: times[at] })).filter((it) => it.parent === null).sort((a, b) => b.time - a.time)[0];
  const isOfSpan = (name) => {
    const row = document.querySelector("[aria-label='call tree'] [aria-level='1']");
    return row?.querySelector("code").textContent === name;
  };
  await browser.until("the heaviest is first", isOfSpan, heaviest.name);
  await page.getByLabel("Filter call tree").fill("MPI_Send");
  const region = nodes.findIndex((it) => it.name === "MPI_Send" && it.call_paths.some((path) => visits.has(path)));
  const number = nodes[region].call_paths.reduce((sum, path) => sum + (visits.get(path) ?? 0), 0);
  const rows = await rowsOf(page, "call tree");
  assert(rows.some((it) => it.name === "MPI_Send" && it.cells.at(-1).replace(/\D/g, "") === String(number)), `${number} visits in ${JSON.stringify(rows)}`);
  await page.getByLabel("Filter call tree").fill("");
  await page.getByRole("button", { name: "Open the heaviest" }).click();
  await browser.picture("call-tree-span");
  await browser.accessible("the call tree of a span");
  await page.getByRole("button", { name: "Flame graph" }).click();
  await browser.until("boxes", () => document.querySelectorAll(".flames-box").length > 3);
  await browser.picture("flames-span");
  await page.getByRole("button", { name: "Whole run" }).click();
  await page.evaluate(() => (location.hash = "#1&view=profile"));
  await browser.until("the whole run again", () => !location.hash.includes("span"));
}
