/**
 * What was drawn is kept: while a region blinks no tile of the rows is drawn anew. Tables are made a few times a second while the
 * timeline is moved, not with each frame.
 */
import assert from "node:assert/strict";

export const ROWS = ".timeline-rows canvas";
export const SPAN = [4_000_000, 5_000_000];
/** Where nothing was recorded. */
const LIFE = "227,237,230";

export async function kept(browser) {
  const { page } = browser;
  await blinking(browser);
  await tables(browser);
  await page.evaluate(() => (location.hash = "#1&view=timeline"));
  await browser.settled();
}

/** How many tiles were drawn since the page was opened. */
export function drawn(page) {
  return page.locator(ROWS).evaluate((it) => Number(it.dataset.tiles));
}

export async function go(browser, rest) {
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
  const until = (isThere) =>
    browser.until(isThere ? "it comes" : "it goes", ([selector, x, life, isThere]) => {
      const { data } = document.querySelector(selector).getContext("2d").getImageData(x, 22 + 6, 1, 1);
      return (`${data[0]},${data[1]},${data[2]}` !== life) === isThere;
    }, [ROWS, x, LIFE, isThere]);
  const round = async () => {
    await until(false);
    await until(true);
  };
  assert(await isSeen(), "it is there");
  await page.keyboard.press("b");
  // Once each way, and again where a picture comes meanwhile; then there are tiles of both.
  await round();
  let before = NaN;
  for (let turn = 0; turn < 10 && before !== (await drawn(page)); turn += 1) {
    before = await drawn(page);
    await round();
  }
  await round();
  await round();
  assert.equal((await drawn(page)) - before, 0, "tiles that were drawn while it came and went");
  await page.keyboard.press("b");
  await browser.settled();
  assert(await isSeen(), "it stays when it blinks no longer");
  assert.equal((await drawn(page)) - before, 0, "nor is anything drawn when it ends");
  await page.keyboard.press("Escape");
}

/** Colours of rows of pixels. */
export async function pixels(page, heights) {
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
    assert(changes <= most, `${table}: ${changes} changes in ${frames} frames, ${Math.round(lasted)} ms`);
  }
}
