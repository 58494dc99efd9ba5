/**
 * A page that holds its run, opened from a file without any network: it shows what the served page of the same run shows.
 */
import assert from "node:assert/strict";

const ROWS = ".timeline-rows canvas";

/** Opens it where nothing can be reached, and tells what was tried all the same. */
export async function openCutOff(browser, file, first = ".overview-facts") {
  const tried = [];
  const { page } = browser;
  await page.context().setOffline(true);
  await page.route(/^(?!file:|blob:|data:)/, (route) => {
    tried.push(route.request().url());
    return route.abort();
  });
  page.on("request", (request) => {
    if (!/^(file|blob|data):/.test(request.url())) tried.push(request.url());
  });
  const started = Date.now();
  await page.goto(file);
  await browser.until("the run is open", (first) => document.querySelector(first) !== null, first);
  console.log(`open after ${Date.now() - started} ms`);
  return tried;
}

export async function exported(browser, address, file) {
  const { page } = browser;
  browser.step("the served page, for comparison");
  const served = await seen(browser, () => page.goto(address));
  assert(Object.keys(served.colours).length > 3, "something is drawn");
  await page.goto("about:blank");

  browser.step("the page opens without a network");
  let tried = [];
  const held = await seen(browser, async () => {
    tried = await openCutOff(browser, file);
    assert.match(page.url(), /^file:.*#1&view=overview$/, "the address says what is looked at");
  });
  assert.deepEqual(held.colours, served.colours, "it draws the same");
  assert.equal(held.facts, served.facts, "it tells the same facts");
  assert.deepEqual(held.tables, served.tables, "it has the same tables");

  browser.step("a visit that is pressed is told, as is the next of its kind");
  await browser.open("Timeline");
  await browser.settled();
  await browser.picture("exported");
  await browser.accessible("the exported timeline");
  const box = await page.locator(ROWS).boundingBox();
  // One of many: `MPI_Init` has no next.
  const isFound = async () => (await page.locator(".side .path").count()) > 0 && !/MPI_(Init|Finalize)/.test(await browser.text(".side .facts"));
  for (let share = 0.3; share < 0.95 && !(await isFound()); share += 0.03) {
    await page.mouse.click(box.x + 128 + (box.width - 138) * share, box.y + 30);
    await page.waitForTimeout(120);
  }
  const first = await browser.text(".side .facts");
  assert(first.length > 10, "a visit was chosen");
  await page.keyboard.press("]");
  await browser.until("another visit", (first) => document.querySelector(".side .facts").textContent !== first, first);

  browser.step("the address brings it back");
  const again = page.url();
  await page.reload();
  await browser.settled();
  assert.equal(page.url(), again);
  assert.deepEqual(tried, [], "it tried to reach somebody");

  browser.step("a page holds one run, and says so where two are compared");
  await browser.open("Compare");
  assert.match(await browser.text(".compare-alone"), /This page holds one run/);
  await browser.open("Timeline");
  await browser.settled();

  browser.step("an engine that breaks down is started anew");
  const [broken] = page.workers();
  await broken.evaluate(() => self.postMessage({ id: -1, error: "nobody knows", isBroken: true }));
  await page.evaluate(() => (location.hash = "#1&view=timeline&span=300000000-300500000"));
  await browser.until("it looks elsewhere", () => /500\.0 µs/.test(document.querySelector(".timeline-bar").textContent));
  await browser.settled();
  assert.equal(page.workers().length, 1);
  assert.notEqual(page.workers()[0], broken);

  browser.step("scripts that are not its own do not run, and nobody can be told");
  const told = await page.evaluate(async () => {
    const element = document.createElement("script");
    element.textContent = "window.harmed = 1";
    document.body.append(element);
    const sent = await fetch("https://example.invalid/").then(() => "sent", () => "refused");
    return [window.harmed ?? "not run", sent];
  });
  assert.deepEqual(told, ["not run", "refused"]);
  const complaints = browser.said.filter((line) => /Content Security Policy/.test(line));
  assert(complaints.length > 0, "the policy speaks");
  browser.said = browser.said.filter((line) => !complaints.includes(line));
}

/** What a page shows of its run. */
async function seen(browser, go) {
  const { page } = browser;
  await go();
  await browser.until("efficiencies are there", () => document.querySelectorAll(".overview-bar").length > 0);
  const facts = await browser.text(".overview-facts");
  const tables = [];
  for (const view of ["Profile", "Waits & path", "Communication"]) {
    await browser.open(view);
    await browser.until("a table", () => document.querySelector(".table-row") !== null);
    // What is counted from messages comes after what the report has.
    if (view === "Communication") await browser.settled();
    tables.push(await page.locator(".table-row").allTextContents());
  }
  await browser.open("Timeline");
  await browser.settled();
  const colours = await browser.colours(ROWS);
  await browser.open("Overview");
  return { facts, tables, colours };
}

/** A page that holds two runs compares them as the server does, without a network. */
export async function exportedPair(browser, address, file) {
  const { page } = browser;
  browser.step("two runs, served");
  const served = await compared(browser, () => page.goto(address));
  assert(served.colours.every((it) => Object.keys(it).length > 3), "both are drawn");
  await page.goto("about:blank");
  browser.step("the page with both says and draws the same");
  let tried = [];
  const held = await compared(browser, async () => {
    tried = await openCutOff(browser, file, ".compare-headline");
  });
  assert.match(page.url(), /^file:.*#1&view=compare/);
  assert.deepEqual(held, served);
  await browser.picture("exported-compare");
  await browser.accessible("two runs in a page");

  browser.step("aligned on an iteration, and another one");
  await page.getByRole("button", { name: "Aligned on an iteration" }).click();
  await browser.settled();
  await page.keyboard.press(".");
  await browser.settled();
  assert.match(page.url(), /align=2(&|$)/);
  await page.reload();
  await browser.settled();
  assert.match(page.url(), /align=2(&|$)/);

  browser.step("all other views are of the first run");
  await browser.open("Timeline");
  await browser.settled();
  assert.match(await browser.text(".timeline-bar"), /^Timeline2 locations/);
  assert.deepEqual(tried, [], "it tried to reach somebody");
}

/** What the comparison of two runs shows. */
async function compared(browser, go) {
  const { page } = browser;
  await go();
  await browser.until("iterations", () => document.querySelector(".compare-bars canvas") !== null);
  await browser.settled();
  const colours = [];
  for (const at of [1, 2]) colours.push(await browser.colours(`.compare-run:nth-child(${at}) canvas`));
  const tables = [];
  for (const name of ["Critical path", "Regions", "Call paths", "Waits"]) {
    await page.locator(".compare-ways button").filter({ hasText: name }).click();
    await browser.until("rows", () => document.querySelector(".table-row") !== null);
    tables.push(await page.locator(".table-row").allTextContents());
  }
  return { headline: await browser.text(".compare-headline"), colours, tables };
}

/** Of a run that is larger than the page may be pictures are there, and that something is missing is said. */
export async function coarse(browser, file) {
  const { page } = browser;
  await openCutOff(browser, file);
  assert.match(await browser.text(".overview-facts"), /Left out.*visits/);
  await browser.open("Timeline");
  await browser.settled();
  assert(Object.keys(await browser.colours(ROWS)).length > 3, "something is drawn");
  await page.evaluate(() => (location.hash = location.hash.replace(/&span=[^&]*/, "") + "&span=300000000-300100000"));
  await browser.until("it is coarse", () => /holds no single visits/.test(document.querySelector(".timeline-bar").textContent));
  await browser.settled();
}

/** A page that was changed on its way. */
export async function damaged(browser, file) {
  await browser.page.goto(file);
  await browser.until("it says that it is damaged", () => /this page is damaged/.test(document.body.textContent));
}

/** A page that is given no worker says what that means, whether there is none or none is allowed. */
export async function workerless(browser, file) {
  const { page } = browser;
  for (const take of [() => delete globalThis.Worker, () => (globalThis.Worker = class { constructor() { throw new DOMException("denied", "SecurityError"); } })]) {
    const fresh = await page.context().newPage();
    await fresh.addInitScript(take);
    await fresh.goto(file);
    await fresh.waitForFunction(() => /gives it none/.test(document.querySelector("[role=alert]")?.textContent ?? ""), undefined, { timeout: 15_000 });
    await fresh.close();
  }
}
