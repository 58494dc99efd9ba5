/** Views of sources of a large program: 20 000 lines are scrolled, 50 000 functions are opened one by one; and of none at all. */
import assert from "node:assert/strict";

const LINES = 20_000;
/** More rows are never in the page: a screen of the smallest rows, and some above and below. */
const MOST_ROWS = 120;

export async function large(browser, address) {
  const { page } = browser;
  await page.goto(address);
  await browser.until("the run is there", () => document.querySelector(".top-run strong")?.textContent === "large.marey");

  browser.step("20 000 lines are scrolled, and few are in the page at any time");
  await page.evaluate(() => (location.hash = "#1&view=source"));
  await browser.until("lines", () => document.querySelectorAll(".line").length > 20);
  const told = await page.evaluate(async () => {
    const box = document.querySelector(".lines-body");
    const steps = 120;
    const seen = { rows: 0, wrong: [], frames: [], last: "" };
    let before = performance.now();
    for (let step = 1; step <= steps; step += 1) {
      box.scrollTop = ((box.scrollHeight - box.clientHeight) * step) / steps;
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      const now = performance.now();
      seen.frames.push((now - before) / 2);
      before = now;
      const rows = [...document.querySelectorAll(".line")];
      seen.rows = Math.max(seen.rows, rows.length);
      // What lies in the middle of the list is drawn, and is the line that belongs there.
      const middle = Math.floor((box.scrollTop + box.clientHeight / 2) / 18) + 1;
      const row = rows.find((it) => Number(it.dataset.line) === middle);
      if (!row?.textContent.endsWith(`// line ${middle}`)) seen.wrong.push(middle);
    }
    seen.last = document.querySelector(".line:last-child code").textContent;
    return seen;
  });
  assert.deepEqual(told.wrong, []);
  assert(told.rows <= MOST_ROWS, `${told.rows} rows are in the page`);
  assert.equal(told.last, `} // line ${LINES}`);
  const sorted = [...told.frames].sort((a, b) => a - b);
  const ms = (share) => sorted[Math.floor((sorted.length - 1) * share)].toFixed(1);
  browser.step(`a frame took ${ms(0.5)} ms, 95 of 100 at most ${ms(0.95)} ms, the longest ${ms(1)} ms; at most ${told.rows} rows were in the page`);
  await browser.picture("large-source");

  browser.step("keys lead from one end to the other");
  await page.locator(".lines-body").focus();
  await page.keyboard.press("Home");
  await browser.until("the first line", () => document.querySelector(".line-here")?.dataset.line === "1");
  await page.keyboard.press("End");
  await browser.until("the last line", (last) => document.querySelector(".line-here")?.dataset.line === String(last), LINES);
  await page.locator(".source-map").click({ position: { x: 40, y: 200 } });
  await browser.until("a line of the first half", () => Number(document.querySelector(".line-here")?.dataset.line) < 10_000);

  browser.step("a file of senselessly many lines, and a line that no author writes, are shown as far as that goes");
  const open = (path) => page.evaluate((path) => (location.hash = `#1&view=source&source=${encodeURIComponent(JSON.stringify([path, 3]))}`), path);
  await open("/code/senseless.c");
  await browser.until("its loop", () => document.querySelector(".line-here .line-known")?.textContent === "loop (for) to line 4294967294");
  assert.equal(await page.locator(".line-here .line-nest i").count(), 1);
  assert.equal(await page.locator(".lines-all").evaluate((it) => Number.parseFloat(it.style.height)), 18 * 1_000_000);
  await open("/code/long.c");
  await browser.until("what is left out", () => /… 498.000 more letters$/.test(document.querySelector(".line code")?.textContent ?? ""));
  assert((await page.locator(".line code *").count()) <= 2000);

  browser.step("of 50 000 functions the graph shows the one that none calls, and what is opened");
  await page.evaluate(() => (location.hash = "#1&view=calls"));
  await browser.until("roots", () => document.querySelectorAll(".branch").length > 0);
  assert.deepEqual(await page.locator(".branch code").allTextContents(), ["main"]);
  const press = async (key) => {
    await page.locator(".branches").focus();
    await page.keyboard.press(key);
  };
  const rows = async () => page.evaluate(() => [document.querySelector(".branch")?.parentElement.style.height ?? "0", document.querySelectorAll(".branch").length]);
  await press("ArrowRight");
  await browser.until("three callees", () => document.querySelectorAll(".branch").length === 4);
  await page.locator(".branch", { hasText: "f1" }).first().click();
  await press("ArrowRight");
  await browser.until("a thousand of its callees", () => Number.parseInt(document.querySelector(".branch")?.parentElement.style.height) > 24_000);
  const [height, many] = await rows();
  assert.equal(height, `${(4 + 1000) * 24}px`, "1000 callees of the one that calls very many");
  assert(many <= MOST_ROWS, `${many} rows are in the page`);
  assert.match(await page.locator(".source-pane").textContent(), /28.996 more callees/);
  await browser.picture("large-calls");
  await press("End");
  await browser.until("the last row", () => [...document.querySelectorAll(".branch")].some((it) => it.textContent.startsWith("▸") && it.querySelector("code").textContent === "f3"));
  await press("ArrowLeft");

  browser.step("the way to a function deep inside is opened");
  await page.evaluate(() => (location.hash = "#1&view=calls&function=f49000"));
  await browser.until("it is marked", () => document.querySelector(".branch-chosen code")?.textContent === "f49000");
  assert((await rows())[1] <= MOST_ROWS);
  await browser.accessible("the large call graph");
}

export async function sourceless(browser, address) {
  const { page } = browser;
  await page.goto(address);
  browser.step("without sources and debug information each view says why it is empty, and what to do");
  for (const name of ["source", "files", "calls", "types"]) {
    await page.evaluate((name) => (location.hash = `#1&view=${name}`), name);
    await browser.until(`${name} says why`, () => /Compile the program with -g/.test(document.querySelector(".source-why")?.textContent ?? ""));
  }
  await browser.picture("sourceless");
  await browser.accessible("the view without sources");
}
