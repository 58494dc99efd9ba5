/**
 * What was drawn is kept: while a region blinks, and while a clock is moved by hand, hardly a tile of the rows is drawn anew, and
 * the picture is right all the same. Tables are made a few times a second while the timeline is moved, not with each frame.
 */
import assert from "node:assert/strict";

const ROWS = ".timeline-rows canvas";
const SPAN = [4_000_000, 5_000_000];
/** A name is dragged from here, and so far; CSS pixels. */
const [FROM, BY] = [20, 96];
/** Where nothing was recorded. */
const LIFE = "227,237,230";

export async function kept(browser) {
  const { page } = browser;
  await blinking(browser);
  await clock(browser);
  await tables(browser);
  await page.evaluate(() => (location.hash = "#1&view=timeline"));
  await browser.settled();
}

/** How many tiles were drawn since the page was opened. */
function drawn(page) {
  return page.locator(ROWS).evaluate((it) => Number(it.dataset.tiles));
}

async function go(browser, rest) {
  await browser.page.evaluate((hash) => (location.hash = hash), `#1&view=timeline&notes=&span=${SPAN.join("-")}&${rest}`);
  await browser.settled();
}

async function blinking(browser) {
  const { page } = browser;
  browser.step("what blinks comes and goes without being drawn");
  await go(browser, "region=solve");
  const { width } = await page.locator(ROWS).boundingBox();
  // In the middle of a visit of the first row.
  const x = Math.round(128 + ((4_216_000 - SPAN[0]) / (SPAN[1] - SPAN[0])) * (width - 138));
  const isSeen = async () => (await pixels(page, [22 + 6]))[0][x] !== LIFE;
  assert(await isSeen(), "it is there");
  await page.keyboard.press("b");
  // Once each way; then there are tiles of both.
  const both = new Set();
  for (let look = 0; look < 60 && both.size < 2; look += 1) {
    both.add(await isSeen());
    await page.waitForTimeout(50);
  }
  assert.equal(both.size, 2, "it was seen and not seen");
  await page.waitForTimeout(1000);
  const before = await drawn(page);
  both.clear();
  for (let look = 0; look < 24; look += 1) {
    both.add(await isSeen());
    await page.waitForTimeout(100);
  }
  assert.equal(both.size, 2, "it still comes and goes");
  assert.equal((await drawn(page)) - before, 0, "tiles that were drawn while it did");
  await page.keyboard.press("b");
  await page.waitForTimeout(200);
  assert(await isSeen(), "it stays when it blinks no longer");
  assert.equal((await drawn(page)) - before, 0, "nor is anything drawn when it ends");
  await page.keyboard.press("Escape");
}

async function clock(browser) {
  const { page } = browser;
  browser.step("a clock that is moved takes its rows along as they were drawn");
  await go(browser, "layers=w");
  const unmoved = await drawn(page);
  // Where the field for it stands rows have less room; from then on their places stay.
  const drag = async (steps, each) => {
    const box = await page.locator(ROWS).boundingBox();
    const y = box.y + 22 + (await rowHeight(page)) * 1.5;
    await page.mouse.move(box.x + FROM, y);
    await page.mouse.down();
    for (let step = 1; step <= steps; step += 1) {
      await page.mouse.move(box.x + FROM + (BY * step) / steps, y);
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      await each();
    }
    await page.mouse.up();
  };
  await drag(4, () => undefined);
  await browser.until("it says whose clock", () => document.querySelector(".timeline-clock")?.textContent.includes("rank 1"));
  await page.locator(".timeline-clock input").fill("0");
  await page.waitForTimeout(300);
  const box = await page.locator(ROWS).boundingBox();
  const shown = Math.ceil((box.width - 138) / 48) + 1;
  const begun = await drawn(page);
  assert(begun - unmoved <= 4 * shown + 4, `${begun - unmoved} tiles, of ${shown} that are seen: rows and lines once each, and once more with less room`);
  const heights = [22 + 6, 22 + (await rowHeight(page)) + 6];
  const before = await pixels(page, heights);
  const counts = [];
  await drag(48, async () => counts.push((await drawn(page)) - begun));
  // What comes into sight, of so few pixels.
  assert(counts.at(-1) <= 6, `${counts.at(-1)} tiles in ${counts.length} frames`);
  const after = await pixels(page, heights);
  assert.deepEqual(after[0], before[0], "the row above stays");
  const width = Math.floor(box.width - 138);
  let same = 0;
  for (let x = 128 + BY; x < 128 + width; x += 1) same += after[1][x] === before[1][x - BY] ? 1 : 0;
  assert(same >= (width - BY) * 0.98, `${same} of ${width - BY} pixels of the row are where they were moved to`);
  assert.notDeepEqual(after[1], before[1]);
  await page.locator(".timeline-clock input").fill("0");
  await page.waitForTimeout(200);
  assert.deepEqual(await pixels(page, heights), before, "and back");
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.waitForTimeout(200);

  browser.step("lines from row to row follow a clock that is moved, and a file has the same");
  await go(browser, "layers=mw");
  await drag(8, () => undefined);
  await page.mouse.move(2, 2);
  await page.waitForTimeout(200);
  await browser.picture("clock-moved");
  const [there, here] = await lines(browser);
  assert(there.length > 5 && there.length === here.length, `${there.length} lines in the file, ${here.length} without`);
  // Each round has one from rank 1 and one to it, of which the last may be out of sight; heights are others, since there is less room.
  const isThere = (x1, x2) => there.some(([a, b]) => Math.abs(a - x1) < 1 && Math.abs(b - x2) < 1);
  const number = (from, to) => here.filter(([x1, x2]) => isThere(x1 + from, x2 + to)).length;
  const rounds = here.length / 4;
  assert.equal(number(0, 0), 2 * rounds, "lines between others stay");
  assert(number(BY, 0) >= rounds - 1 && number(0, BY) >= rounds - 1, `${number(BY, 0)} begin and ${number(0, BY)} end with the row`);
}

/** Where lines of messages begin and end in a file while a clock is moved, and after. */
async function lines(browser) {
  const { page } = browser;
  const one = async () => {
    await page.getByRole("button", { name: "View ▾" }).click();
    const { content } = await browser.downloaded(() => page.getByRole("button", { name: "Save as SVG" }).click());
    return page.evaluate((text) => {
      const file = new DOMParser().parseFromString(text, "image/svg+xml");
      return [...file.querySelectorAll("path[stroke='#2b3138']")].flatMap((it) => it.getAttribute("d").split("M").filter((part) => part !== "").map((part) => {
        const [x1, y1, x2, y2] = part.match(/-?[\d.]+/g).map(Number);
        return [x1, x2, y1, y2];
      }));
    }, content.toString());
  };
  const moved = await one();
  // The screen has them where the file has: about the middle of each something is darker than beside it.
  const middles = moved.map(([x1, x2, y1, y2]) => [(x1 + x2) / 2, (y1 + y2) / 2]).filter(([x]) => x > 128 && x < 900);
  const contrasts = await page.evaluate(
    ([selector, middles]) => {
      const canvas = document.querySelector(selector).getContext("2d");
      return middles.map(([x, y]) => {
        const { data } = canvas.getImageData(Math.round(x) - 4, Math.round(y) - 4, 9, 9);
        const bright = Array.from({ length: 81 }, (_, at) => data[4 * at] + data[4 * at + 1] + data[4 * at + 2]);
        return Math.min(...bright) / Math.max(...bright);
      });
    },
    [ROWS, middles],
  );
  assert(contrasts.length > 10 && contrasts.every((it) => it < 0.85), `a line is missing on the screen: ${contrasts.map((it) => it.toFixed(2))}`);
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.waitForTimeout(200);
  const still = await one();
  return [moved, still];
}

/** How high a row is with the gap beneath it; all are as high here. */
async function rowHeight(page) {
  const { height } = await page.locator(ROWS).boundingBox();
  return Math.floor((height - 22 - 4) / 4);
}

/** Colours of rows of pixels. */
async function pixels(page, heights) {
  return page.evaluate(
    ([selector, heights]) => {
      const canvas = document.querySelector(selector);
      return heights.map((y) => {
        const { data } = canvas.getContext("2d").getImageData(0, Math.round(y), canvas.width, 1);
        return Array.from({ length: canvas.width }, (_, x) => `${data[4 * x]},${data[4 * x + 1]},${data[4 * x + 2]}`);
      });
    },
    [ROWS, heights],
  );
}

async function tables(browser) {
  const { page } = browser;
  browser.step("a table beside the timeline is made a few times a second while that is moved");
  for (const table of ["states", "messages", "mountains", "run"]) {
    await go(browser, `table=${table}`);
    const { changes, lasted, frames } = await page.evaluate(
      () =>
        new Promise((done) => {
          const rows = document.querySelector(".timeline-rows");
          const { left, top } = rows.getBoundingClientRect();
          // What changes with one drawing of the page is one change.
          let [changes, frames] = [0, 0];
          let last = -1;
          const observer = new MutationObserver(() => {
            if (last !== frames) changes += 1;
            last = frames;
          });
          observer.observe(document.querySelector(".timeline-twin"), { childList: true, subtree: true, characterData: true, attributes: true });
          const begun = performance.now();
          const step = () => {
            rows.dispatchEvent(new WheelEvent("wheel", { deltaX: 3, deltaY: 0, clientX: left + 400, clientY: top + 60, bubbles: true, cancelable: true }));
            frames += 1;
            if (frames < 120) requestAnimationFrame(step);
            else {
              observer.disconnect();
              done({ changes, frames, lasted: performance.now() - begun });
            }
          };
          requestAnimationFrame(step);
        }),
    );
    // Five times a second, and for a picture that comes meanwhile.
    const most = Math.ceil(lasted / 200) + 4;
    assert(changes > 0 || table === "run", `the table of ${table} follows`);
    assert(changes <= most && changes < frames / 2, `${table}: ${changes} changes in ${frames} frames, ${Math.round(lasted)} ms`);
  }
}
