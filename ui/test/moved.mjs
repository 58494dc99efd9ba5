/**
 * A picture that was moved is the one that is drawn anew: parts of it that were kept while it moved fit together, and none of
 * them is an old one.
 */
import assert from "node:assert/strict";

const CANVASES = [".timeline-rows canvas", "canvas[aria-label^='How many locations']", "canvas[aria-label^='The whole run']"];

export async function moved(browser) {
  const { page } = browser;
  browser.step("a timeline that was dragged looks like one that is opened there");
  const before = page.url();
  const box = await page.locator(CANVASES[0]).boundingBox();
  const y = Math.round(box.y + box.height - 30);
  const drag = async (from, to) => {
    await page.mouse.move(Math.round(box.x + from), y);
    await page.mouse.down();
    await page.mouse.move(Math.round(box.x + to), y, { steps: 23 });
    await page.mouse.up();
  };
  for (const [from, to] of [[700, 331], [300, 731], [600, 543]]) await drag(from, to);
  await browser.settled();
  assert.notEqual(page.url(), before, "it moved");
  const kept = await pictures(browser);
  await page.reload();
  await browser.settled();
  const anew = await pictures(browser);
  CANVASES.forEach((canvas, at) => assert(kept[at] === anew[at], `${canvas} looks otherwise`));
  await page.goto(before);
  await browser.settled();
}

/** The canvases as files, with nothing under the pointer. */
async function pictures({ page }) {
  await page.mouse.move(2, 2);
  await page.waitForTimeout(200);
  return page.evaluate((canvases) => canvases.map((selector) => document.querySelector(selector).toDataURL()), CANVASES);
}
