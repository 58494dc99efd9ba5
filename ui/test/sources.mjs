/** The four views of sources, on a program of which the lines are known by marks in its text. */
import assert from "node:assert/strict";

import { unexplained } from "./explained.mjs";
import { asked } from "./read.mjs";

/** The line of a text that ends with a mark. */
function lineOf(text, mark) {
  const place = text.split("\n").findIndex((line) => line.endsWith(`// ${mark}`));
  assert(place >= 0, `no line has the mark ${mark}`);
  return place + 1;
}

/** The line that is meant. */
async function here(page) {
  return Number(await page.locator(".line-here").first().getAttribute("data-line"));
}

async function atLine(browser, line) {
  await browser.until(`line ${line} is meant`, (line) => document.querySelector(".line-here")?.dataset.line === String(line), line);
}

export async function sources(browser, address) {
  const { page } = browser;
  await page.goto(address);
  await browser.until("the report is there", () => document.querySelectorAll(".overview-bar").length >= 4);
  const { head } = await asked(page, { ask: "source" });
  assert.equal(head.why_not, null);
  const file = head.files.findIndex(({ path }) => path.endsWith("shapes.cpp"));
  const whole = await asked(page, { ask: "source-file", number: file });
  const { loops, functions } = whole.head;
  const text = whole.head.text.join("\n");
  const line = (mark) => lineOf(text, mark);

  browser.step("the source that cost most is shown, with its lines as they are");
  await browser.open("Source");
  await browser.until("lines", () => document.querySelectorAll(".line").length > 20);
  const shown = await page.locator(".line code").allTextContents();
  assert.deepEqual(shown, text.split("\n").slice(0, shown.length));
  await browser.picture("source");

  browser.step("bars say what the engine counts: the inner loop's body has most of the time of its own");
  const most = whole.exclusive.reduce((best, time, at) => (time > whole.exclusive[best] ? at : best), 0);
  const hottest = whole.line[most];
  assert(line("loop rings") <= hottest && hottest <= line("end rings"), `line ${hottest} has most`);
  await page.evaluate(([path, at]) => (location.hash = `#1&view=source&source=${encodeURIComponent(JSON.stringify([path, at]))}`), [head.files[file].path, hottest]);
  await atLine(browser, hottest);
  const bar = page.locator(`.line[data-line='${hottest}'] .line-bar-work`);
  const width = async (which) => Number((await bar.locator(which).getAttribute("style")).match(/width: (\d+)%/)[1]);
  const top = Math.max(...whole.inclusive);
  assert(Math.abs((await width(".line-dark")) - (whole.exclusive[most] / top) * 100) <= 2);
  assert(Math.abs((await width(".line-light")) - (whole.inclusive[most] / top) * 100) <= 2);

  // A line that only calls has nothing of its own.
  const caller = whole.line.findIndex((at, place) => at === line("call relax") && whole.exclusive[place] === 0 && whole.inclusive[place] > 0);
  assert(caller >= 0, "the line that calls was seen, and never by itself");
  await page.locator(".lines-body").focus();
  await page.keyboard.press("End");
  await browser.until("it is seen", (at) => document.querySelector(`.line[data-line='${at}'] .line-bar-work .line-light`) !== null, line("call relax"));
  assert.equal(await page.locator(`.line[data-line='${line("call relax")}'] .line-bar-work .line-dark`).count(), 0);
  await browser.until("the address follows", (last) => decodeURIComponent(location.hash).includes(`,${last}]`), text.split("\n").length);
  await page.evaluate(([path, at]) => (location.hash = `#1&view=source&source=${encodeURIComponent(JSON.stringify([path, at]))}`), [head.files[file].path, hottest]);
  await atLine(browser, hottest);

  browser.step("the pane tells the loops around the line, and the outer has at least what the inner has");
  assert.equal(await page.locator(".source-loops button").count(), 2);
  const [parts, rings] = ["parts", "rings"].map((name) => loops.find((it) => it.first === line(`loop ${name}`)));
  assert.equal(rings.last, line("end rings"));
  assert(rings.cost.inclusive_ns >= parts.cost.inclusive_ns && parts.cost.exclusive_ns > 0);
  await page.getByRole("group", { name: "Loops around the line" }).getByRole("button").last().click();
  const isMeant = async ({ first, last }) => {
    await browser.until(`lines ${first} to ${last}`, (it) => document.querySelector(".source-loops [aria-pressed=true]")?.textContent.includes(it), `${first}–${last}`);
  };
  await isMeant(rings);
  await browser.until("the address has it", (it) => location.hash.includes(`loop=${it}`), `${rings.first}-${rings.last}`);
  await page.keyboard.press("Backspace");
  await isMeant(parts);
  await page.keyboard.press("Shift+Backspace");
  await isMeant(rings);

  browser.step("the main loop has the messages that were sent from within, wherever");
  const steps = loops.find((it) => it.first === line("loop steps"));
  const within = await asked(page, { ask: "source-loop", number: steps.number });
  const regions = (await asked(page, { ask: "run" })).head.regions;
  const sendrecv = regions.findIndex(({ name }) => name === "MPI_Sendrecv");
  assert.deepEqual(within.region.map((it) => regions[it].name), ["MPI_Sendrecv"]);
  assert.deepEqual([within.calls[0], within.bytes[0]], [regions[sendrecv].visits, regions[sendrecv].visits * 16]);
  await page.evaluate(() => document.querySelector(".lines-body").focus());
  await page.locator(".source-map").click({ position: { x: 50, y: 5 } });
  await page.evaluate(([path, at]) => (location.hash = `#1&view=source&source=${encodeURIComponent(JSON.stringify([path, at]))}`), [head.files[file].path, line("call exchange")]);
  await atLine(browser, line("call exchange"));
  await browser.until("its loop's calls", () => document.querySelector("[aria-label='Rows of calls from within the loop']")?.textContent.includes("MPI_Sendrecv"));
  await browser.picture("source-loop");

  browser.step("Enter goes to what a line calls");
  await page.locator(".lines-body").focus();
  await page.keyboard.press("Enter");
  await atLine(browser, line("function exchange"));
  await browser.until("the address has both", () => /function=exchange/.test(location.hash) && decodeURIComponent(location.hash).includes("shapes.cpp"));
  await page.keyboard.press("ArrowDown");
  await atLine(browser, line("function exchange") + 1);

  browser.step("a region that is chosen elsewhere leads to the line that calls it, and lines lead back");
  await browser.open("Profile");
  await page.locator(".pane .table-row", { hasText: "MPI_Sendrecv" }).first().click();
  await browser.until("it is chosen", () => /region=MPI_Sendrecv/.test(location.hash));
  await browser.open("Source");
  const calling = whole.call_line[whole.call_region.indexOf(sendrecv)];
  assert(Math.abs(calling - line("call Sendrecv")) <= 1, `line ${calling}`);
  await atLine(browser, calling);
  assert.equal(await page.locator(".line-calls").count(), 1);
  await page.keyboard.press("Escape");
  await browser.until("nothing is chosen", () => !/region=/.test(location.hash));
  await page.locator(".source-list button", { hasText: "MPI_Sendrecv" }).click();
  await browser.until("it is chosen from its line", () => /region=MPI_Sendrecv/.test(location.hash));

  browser.step("who goes back is at the line where that was, and not where its region is called");
  const there = line("function main") + 1;
  await page.evaluate(([path, at]) => (location.hash = `#1&view=source&source=${encodeURIComponent(JSON.stringify([path, at]))}&region=MPI_Sendrecv`), [head.files[file].path, there]);
  await atLine(browser, there);
  await browser.open("Profile");
  await page.locator(".pane .table-row", { hasText: "MPI_Finalize" }).first().click();
  await browser.until("it is chosen", () => /region=MPI_Finalize/.test(location.hash));
  await browser.open("Source");
  await browser.until("it is elsewhere", (there) => document.querySelector(".line-here") !== null && document.querySelector(".line-here").dataset.line !== String(there), there);
  for (const _ of [1, 2]) await page.keyboard.press("Backspace");
  await browser.until("its region", () => /region=MPI_Sendrecv/.test(location.hash));
  await atLine(browser, there);
  await page.keyboard.press("Escape");

  browser.step("bars of loops and functions stand where these begin, and tables have the same");
  await page.getByLabel("bars of").selectOption("loops");
  await page.locator(".lines-body").focus();
  await page.keyboard.press("Home");
  await browser.until("the address says so", () => /code=bars-loops/.test(location.hash));
  await page.getByRole("button", { name: "Loops", exact: true }).click();
  await browser.until("a row for each loop", (many) => document.querySelector("[aria-label='loops of the source']")?.getAttribute("aria-rowcount") === String(many + 1), loops.length);
  await browser.picture("source-table");
  await page.getByRole("button", { name: "Functions", exact: true }).click();
  await page.locator(".table-row", { hasText: "relax" }).first().click();
  await atLine(browser, line("function relax"));
  await browser.accessible("the source");
  assert.deepEqual(await unexplained(page), []);

  browser.step("files lead to types and functions, and callees to where they are");
  await page.getByRole("group", { name: "Views of sources" }).getByRole("button", { name: "Files & types" }).click();
  await browser.until("types and functions", () => document.querySelectorAll(".files-function").length > 4 && document.querySelectorAll(".files-type").length === 5);
  await page.locator(".branch", { hasText: "geometry::Disc" }).filter({ hasText: "class" }).click();
  await atLine(browser, line("type Disc"));
  await page.locator(".branch", { hasText: "main" }).filter({ hasText: "function" }).first().click();
  await atLine(browser, line("function main"));
  const marked = await page.locator(".line-head, .line-function").count();
  assert(marked > 8, `${marked} lines of main are marked`);
  await page.locator(`.line[data-line='${line("call relax")}'] .line-name`, { hasText: "relax" }).click();
  await atLine(browser, line("function relax"));
  await browser.picture("files");
  await page.locator(`.line[data-line='${line("function relax")}'] .line-name`, { hasText: "Shape" }).click();
  await atLine(browser, line("type Shape"));
  await browser.accessible("files and types");
  await page.getByRole("button", { name: "All functions" }).click();
  await page.locator("[aria-label='functions of the program'] .table-row", { hasText: "exchange" }).click();
  await atLine(browser, line("function exchange"));
  assert.deepEqual(await unexplained(page), []);

  await callGraph(browser, functions);
  await hierarchy(browser, line);

  await members(browser);
  browser.step("the address says all of it");
  await page.getByRole("group", { name: "Views of sources" }).getByRole("button", { name: "Call graph" }).click();
  await page.getByLabel("only what was seen").check();
  await page.getByRole("group", { name: "Views of sources" }).getByRole("button", { name: "Type hierarchy" }).click();
  await browser.until("it is written", () => /view=types/.test(location.hash) && /type=geometry/.test(location.hash));
  const hash = await page.evaluate(() => location.hash);
  await page.goto("about:blank");
  await page.goto(new URL(hash, address).href);
  await browser.until("the same type", () => document.querySelector(".source-pane h2")?.textContent.includes("geometry::Shape"));
  assert.equal(await page.evaluate(() => location.hash), hash);
  await page.getByRole("group", { name: "Views of sources" }).getByRole("button", { name: "Call graph" }).click();
  await browser.until("the box is ticked", () => document.querySelector(".source-bar input[type=checkbox]")?.checked === true);

  await askedAnew(browser, address);
  browser.step("all four in dark");
  await page.getByRole("button", { name: /^Theme/ }).click();
  for (const name of ["Source", "Files & types", "Call graph", "Type hierarchy"]) {
    await page.getByRole("group", { name: "Views of sources" }).getByRole("button", { name, exact: true }).click();
    await page.waitForTimeout(300);
    await browser.accessible(`${name} in dark`);
    await browser.picture(`${name.split(" ")[0].toLowerCase()}-dark`);
  }
  await page.getByRole("button", { name: /^Theme/ }).click();
}

/** Callees of the row that has the focus. */
async function beneath(page, name) {
  return page.evaluate((name) => {
    const rows = [...document.querySelectorAll(".branch")];
    const from = rows.findIndex((row) => row.querySelector("code").textContent === name);
    const depth = Number(rows[from].getAttribute("aria-level"));
    const found = [];
    for (const row of rows.slice(from + 1)) {
      const level = Number(row.getAttribute("aria-level"));
      if (level <= depth) break;
      if (level === depth + 1) found.push([row.querySelector("code").textContent, row.querySelector(".calls-edge").className.replace(/calls-edge calls-/, ""), row.querySelector(".calls-parallel").textContent === "‖"]);
    }
    return found;
  }, name);
}

async function callGraph(browser) {
  const { page } = browser;
  browser.step("the call graph begins with what none calls, and opens one step at a time");
  await page.evaluate(() => (location.hash = "#1&view=calls"));
  await browser.until("roots", () => document.querySelector(".branch code")?.textContent === "main");
  const row = (name) => page.locator(".branch", { has: page.locator(`code:text-is("${name}")`) }).first();
  const press = async (key) => {
    await page.locator(".branches").focus();
    await page.keyboard.press(key);
  };
  assert.equal(await row("main").locator(".calls-more").count(), 1, "… for what is not shown");
  assert.equal(await row("main").locator(".calls-parallel").textContent(), "‖", "for what leads to MPI");
  await row("main").click();
  await press("ArrowRight");
  await browser.until("its callees", () => [...document.querySelectorAll(".branch code")].some((it) => it.textContent === "relax"));
  const ofMain = await beneath(page, "main");
  const found = (rows, name) => rows.find((it) => it[0] === name);
  assert.deepEqual(found(ofMain, "relax"), ["relax", "both", false]);
  assert.deepEqual(found(ofMain, "exchange"), ["exchange", "both", true]);
  assert.deepEqual(found(ofMain, "never"), ["never", "told", false]);
  assert.equal(await page.locator(".branch[aria-level='3']").count(), 0, "only direct callees");

  browser.step("where a call leads through an address only what was seen tells");
  await row("relax").click();
  await press("ArrowRight");
  await browser.until("areas", () => [...document.querySelectorAll(".branch code")].some((it) => it.textContent === "geometry::Disc::area"));
  const ofRelax = await beneath(page, "relax");
  assert.deepEqual(found(ofRelax, "geometry::Disc::area"), ["geometry::Disc::area", "seen", false]);
  assert.deepEqual(found(ofRelax, "geometry::twice<double>")?.[1].replace("both", "told"), "told");
  assert.match(await page.locator(".source-pane").textContent(), /1 call in it leads through an address/);
  await browser.picture("calls");
  await browser.accessible("the call graph");
  assert.deepEqual(await unexplained(page), []);

  browser.step("a row is hidden, told by … and shown again");
  await row("never").click();
  await press("h");
  await browser.until("it is gone", () => ![...document.querySelectorAll(".branch code")].some((it) => it.textContent === "never"));
  assert.equal(await row("main").locator(".calls-more").count(), 1);
  await row("main").click();
  await press("s");
  await browser.until("it is back", () => [...document.querySelectorAll(".branch code")].some((it) => it.textContent === "never"));

  browser.step("what is chosen elsewhere is opened and marked here, wherever it stands");
  await page.evaluate(() => (location.hash = "#1&view=calls"));
  await browser.until("closed", () => document.querySelectorAll(".branch[aria-level='2']").length === 0);
  await page.evaluate(() => (location.hash = "#1&view=calls&function=geometry%3A%3ADisc%3A%3Aarea"));
  await browser.until("it is marked", () => document.querySelector(".branch-chosen code")?.textContent === "geometry::Disc::area");
  await press("Enter");
  await browser.until("its source", () => document.querySelector(".line-here code")?.textContent.includes("Disc::area"));
}

async function hierarchy(browser, line) {
  const { page } = browser;
  browser.step("types stand beneath each base, and the members of one in a table");
  await page.getByRole("group", { name: "Views of sources" }).getByRole("button", { name: "Type hierarchy" }).click();
  await browser.until("types", () => document.querySelectorAll(".branch").length >= 6);
  const rows = await page.evaluate(() => [...document.querySelectorAll(".branch")].map((row) => [Number(row.getAttribute("aria-level")) - 1, row.querySelector("code").textContent.replace("geometry::", ""), row.querySelector(".types-virtual") !== null]));
  assert.deepEqual(rows, [
    [0, "Named", false],
    [1, "Coloured", true],
    [2, "Disc", false],
    [1, "Shape", true],
    [2, "Disc", false],
    [2, "Square", false],
  ]);
  await page.locator(".branch", { hasText: "geometry::Shape" }).click();
  await browser.until("members", () => document.querySelector("[aria-label='Rows of members']")?.textContent.includes("area"));
  const members = await page.locator("[aria-label='Rows of members'] .table-row").allTextContents();
  assert(members.some((row) => /^area.*method.*public.*double.*virtual/.test(row)), members.join(" | "));
  assert(members.some((row) => /^size.*field.*protected.*double/.test(row)), members.join(" | "));
  await browser.picture("types");
  await browser.accessible("the type hierarchy");
  assert.deepEqual(await unexplained(page), []);
  await page.locator(".branches").focus();
  await page.keyboard.press("ArrowLeft");
  await browser.until("it is folded", () => document.querySelectorAll(".branch").length === 4);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await atLine(browser, line("type Shape"));
  await page.getByRole("group", { name: "Views of sources" }).getByRole("button", { name: "Type hierarchy" }).click();
  await browser.until("types again", () => document.querySelectorAll(".branch").length >= 6);
}

/** Members of the first of two types come when those of the second are there. */
async function members(browser) {
  const { page } = browser;
  browser.step("who goes on to another type sees the members of that, whichever come first");
  const { types } = (await asked(page, { ask: "source-types" })).head;
  const [slow, quick] = ["Square", "Shape"].map((name) => types.find((it) => it.name === `geometry::${name}`));
  let release = () => {};
  const isReleased = new Promise((done) => (release = done));
  const isSlow = (request) => {
    const { ask, number } = JSON.parse(request.postData() ?? "{}");
    return ask === "source-type" && number === slow.number;
  };
  await page.route("**/api/answer", async (route) => {
    if (isSlow(route.request())) await isReleased;
    await route.continue();
  });
  const isAnswered = page.waitForResponse((response) => isSlow(response.request()));
  const choose = (it) => page.locator(".branch", { hasText: it.name }).first().click();
  await choose(slow);
  await choose(quick);
  const seen = () => document.querySelector("[aria-label='Rows of members']")?.textContent.includes("area") === true && document.querySelector(".types-pane h2").textContent.includes("Shape");
  await browser.until("the second's", seen);
  release();
  await (await isAnswered).finished();
  // What has come is drawn with the next frame, or the one after it.
  await page.evaluate(() => new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 100)));
  assert.equal(await page.evaluate(seen), true, "an answer that came late has taken its place");
  await page.unroute("**/api/answer");
}

/** The first answers about sources are errors; who looks again asks again. */
async function askedAnew(browser, address) {
  const { page } = browser;
  browser.step("what could not be read is asked for again by the next who looks");
  const text = Buffer.from(JSON.stringify({ kind: "error", head: { message: "just once" }, columns: [] }));
  const size = Buffer.alloc(4);
  size.writeUInt32LE(text.length);
  const wrong = new Set(["source", "source-file", "remarks"]);
  await page.goto("about:blank");
  await page.route("**/api/answer", async (route) => {
    const { ask } = JSON.parse(route.request().postData() ?? "{}");
    if (wrong.delete(ask)) await route.fulfill({ body: Buffer.concat([size, text]) });
    else await route.continue();
  });
  const next = (what) => page.waitForRequest((request) => JSON.parse(request.postData() ?? "{}").ask === what);
  const order = [...wrong];
  let asks = next("source");
  await page.goto(new URL("#1&view=source", address).href);
  for (const [at, what] of order.entries()) {
    await (await asks).response();
    await browser.until(`${what} failed`, () => document.querySelector(".failure")?.textContent.includes("just once"));
    await page.locator(".failure button").click();
    await browser.open("Overview");
    await browser.until("the overview", () => document.querySelector(".overview-facts") !== null);
    asks = next(what);
    await browser.open("Source");
    await asks;
    if (at + 1 < order.length) asks = next(order[at + 1]);
  }
  await browser.until("lines", () => document.querySelectorAll(".line").length > 20);
  await page.unroute("**/api/answer");
}
