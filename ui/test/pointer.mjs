/**
 * What is told of the pointer is true of the picture beneath it: after a zoom, too, which moves the picture and not the
 * pointer; and the shortest span stays where it is.
 */
import assert from "node:assert/strict";

const ROWS = ".timeline-rows canvas";
const NAMES = 128;
const MARGIN = 10;

export async function pointer(browser) {
  const { page } = browser;
  const before = page.url();
  browser.step("after a zoom the pointer tells what is beneath it now");
  await page.keyboard.press("0");
  await browser.settled();
  const box = await page.locator(ROWS).boundingBox();
  const [x, y] = [Math.round(box.x + NAMES + (box.width - NAMES - MARGIN) * 0.4), Math.round(box.y + 30)];
  await page.mouse.move(x - 5, y);
  await page.mouse.move(x, y);
  const along = (x - box.x - NAMES) / (box.width - NAMES - MARGIN);
  const isTold = async () => {
    const [from, to] = await spanOf(page);
    const pixel = (to - from) / (box.width - NAMES - MARGIN);
    const time = digits(await browser.text(".timeline-time"));
    assert(Math.abs(time - from - along * (to - from)) <= pixel + 1, `${time} lies under the pointer of ${from} to ${to}`);
    // The lowest line has the words of the picture, or of what lies in it there.
    const label = await page.locator(ROWS).getAttribute("aria-label");
    const title = await page.locator(".timeline-rows").getAttribute("title");
    await browser.until("the lowest line says the same", (words) => document.querySelector(".status-words")?.textContent === words, title || label);
    assert(label.includes("from"), label);
    const [first, last] = /from ([^s]+) s to ([^s]+) s/.exec(label).slice(1).map(digits);
    assert.deepEqual([first, last], [from, to], "the words are of the span that is seen");
  };
  await isTold();
  for (const turns of [4, 6, 8]) {
    for (let turn = 0; turn < turns; turn += 1) await page.mouse.wheel(0, -240);
    await browser.settled();
    await isTold();
  }
  // Keys move the picture under a pointer that rests.
  await page.keyboard.press("d");
  await browser.settled();
  await isTold();

  browser.step("the shortest span stays where it is when it is zoomed");
  for (let turn = 0; turn < 60; turn += 1) await page.mouse.wheel(0, -480);
  await browser.settled();
  const shortest = await spanOf(page);
  assert.equal(shortest[1] - shortest[0], 20);
  for (let turn = 0; turn < 5; turn += 1) {
    await page.mouse.wheel(0, -480);
    await page.keyboard.press("e");
  }
  await browser.settled();
  assert.deepEqual(await spanOf(page), shortest);
  await page.mouse.wheel(0, 240);
  await browser.settled();
  const wider = await spanOf(page);
  assert(wider[0] <= shortest[0] && shortest[1] <= wider[1] && wider[1] - wider[0] > 20, `${wider} holds ${shortest}`);

  await page.mouse.move(2, 2);
  await page.goto(before);
  await browser.settled();
}

/** As the header tells it. */
async function spanOf(page) {
  return (await page.locator(".top-box").allTextContents()).map(digits);
}

function digits(text) {
  return Number(text.replace(/\D/g, ""));
}
