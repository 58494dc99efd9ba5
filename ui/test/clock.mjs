/**
 * A clock that is moved by hand: its rows are put elsewhere as they were drawn, lines that end in them follow, and what is pressed is
 * what is seen there.
 */
import assert from "node:assert/strict";

import { drawn, go, pixels, ROWS, SPAN } from "./kept.mjs";
import { asked } from "./read.mjs";

/** A name is dragged from here, and so far; CSS pixels. */
const [FROM, BY] = [20, 96];

export async function clock(browser) {
  await moving(browser);
  await backwards(browser);
  await browser.page.evaluate(() => (location.hash = "#1&view=timeline"));
  await browser.settled();
}

async function moving(browser) {
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
  await browser.settled();
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
  await browser.settled();
  assert.deepEqual(await pixels(page, heights), before, "and back");
  await farAway(browser);
  await page.getByRole("button", { name: "Cancel" }).click();
  await browser.settled();

  browser.step("lines from row to row follow a clock that is moved, and a file has the same");
  await go(browser, "layers=mw");
  await drag(8, () => undefined);
  await pressed(browser);
  await page.mouse.move(2, 2);
  await browser.settled();
  await browser.picture("clock-moved");
  const [there, here] = await lines(browser);
  assert(there.length > 5 && here.length > 5, `${there.length} lines in the file, ${here.length} without`);
  // Each round has one from rank 1 and one to it, of which the last may be out of sight; heights are others, since there is less room.
  const isThere = (x1, x2) => there.some(([a, b]) => Math.abs(a - x1) < 1 && Math.abs(b - x2) < 1);
  const number = (from, to) => here.filter(([x1, x2]) => isThere(x1 + from, x2 + to)).length;
  const rounds = here.length / 4;
  assert.equal(number(0, 0), 2 * rounds, "lines between others stay");
  assert(number(BY, 0) >= rounds - 1 && number(0, BY) >= rounds - 1, `${number(BY, 0)} begin and ${number(0, BY)} end with the row`);
}

/** Where a clock is moved far, tiles that are passed are used again, and do not become more and more. */
async function farAway(browser) {
  const { page } = browser;
  browser.step("tiles are used again, however far a clock is moved");
  await page.locator(".timeline-clock input").fill("100000");
  await browser.settled();
  const shown = Math.ceil(((await page.locator(ROWS).boundingBox()).width - 138) / 48) + 1;
  await page.evaluate(() => {
    const { createElement } = document;
    window.canvases = 0;
    document.createElement = function (name, ...words) {
      if (name === "canvas") window.canvases += 1;
      return createElement.call(this, name, ...words);
    };
  });
  const before = await drawn(page);
  // Ten screens, half of one at a time.
  for (let step = 0; step < 20; step += 1) {
    await page.evaluate(() => {
      const rows = document.querySelector(".timeline-rows");
      const { left, top, width } = rows.getBoundingClientRect();
      rows.dispatchEvent(new WheelEvent("wheel", { deltaX: width / 2, deltaY: 0, clientX: left + 400, clientY: top + 60, bubbles: true, cancelable: true }));
      return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    });
  }
  await browser.settled();
  const made = await page.evaluate(() => {
    delete document.createElement;
    return window.canvases;
  });
  assert((await drawn(page)) - before > 16 * shown, "both places were passed through");
  // Three screens of rows in each of both places, three of lines in one, and what is drawn before others are forgotten.
  assert(made <= 12 * shown, `${made} tiles, of ${shown} that are seen`);
  await go(browser, "layers=w");
  await page.locator(".timeline-clock input").fill("0");
  await browser.settled();
}

/** Messages that seem to arrive before they are sent are whole lines, too: those of a clock that was kept where it is wrong. */
async function backwards(browser) {
  const { page } = browser;
  browser.step("messages that seem to arrive before they are sent are whole lines");
  const box = await page.locator(ROWS).boundingBox();
  const y = box.y + 22 + (await rowHeight(page)) * 1.5;
  await page.mouse.move(box.x + FROM, y);
  await page.mouse.down();
  await page.mouse.move(box.x + FROM + BY, y, { steps: 4 });
  await page.mouse.up();
  await page.getByRole("button", { name: "Keep" }).click();
  await browser.until("it is told", () => /seems? to arrive before/.test(document.querySelector(".timeline-clock")?.textContent ?? ""));
  await browser.settled();
  const lines = await written(browser);
  assert(lines.filter(([x1, x2]) => x1 - x2 > 60).length > 3, `${lines.map(([x1, x2]) => Math.round(x1 - x2))}`);
  await areOnScreen(page, lines);
  await browser.picture("backwards");
  const all = await fromOneToTwo(page);
  const key = (at) => [1, all.send_time[at], 2, all.receive_time[at], all.tag[at], all.size[at], 1].join("@");
  await page.evaluate((key) => (location.hash = `${location.hash}&message=${key}`), key(1));
  await browser.until("one is told", () => /received .* before it was sent.*MPI_COMM_WORLD.*MPI_Send.*MPI_Recv/.test(document.querySelector("[aria-label='Selected message']")?.textContent ?? ""));
  for (const [button, at] of [["]", 2], ["[", 1], ["[", 0]]) {
    await page.keyboard.press(button);
    await browser.until(`number ${at}`, (key) => decodeURIComponent(location.hash).includes(`message=${key}`), key(at));
  }
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Undo" }).click();
  await browser.until("it is as it was merged", () => document.querySelector(".timeline-clock") === null && document.querySelector("[data-settled='true']") !== null);
}

/** What is pressed in a row that is moved, or on a line that ends in it, is what is seen there. */
async function pressed(browser) {
  const { page } = browser;
  const box = await page.locator(ROWS).boundingBox();
  const height = await rowHeight(page);
  const at = (time) => box.x + 128 + ((time - SPAN[0]) / (SPAN[1] - SPAN[0])) * (box.width - 138);
  // Rank 1 solves from 1 µs on in each round.
  await page.mouse.click(at(4_216_000) + BY, box.y + 22 + height + 6);
  await browser.until("the visit that is seen there", () => /Statesolve.*Whererank1.*Start0\.004201000s/.test(document.querySelector(".side section .facts")?.textContent.replace(/[\s\u202f\u2009]/g, "") ?? ""));
  // A line from it to rank 2: half of the way.
  const all = await fromOneToTwo(page);
  const x = (at(all.send_time[1]) + BY + at(all.receive_time[1])) / 2;
  const seen = [];
  for (let y = box.y + 24; y < box.y + 22 + 4 * height; y += 2) {
    await page.mouse.move(x, y);
    if (!(await page.locator(".timeline-rows").getAttribute("title")).startsWith("Message from rank 1 to rank 2")) continue;
    seen.push(y);
    await page.mouse.click(x, y);
    break;
  }
  assert.equal(seen.length, 1, "the line is met where it is seen");
  const key = [1, all.send_time[1], 2, all.receive_time[1], all.tag[1], all.size[1], 1].join("@");
  await browser.until("the message is the one that was recorded", (key) => decodeURIComponent(location.hash).includes(`message=${key}`), key);
  await page.keyboard.press("Escape");
}

/** Messages of the span from rank 1 to rank 2, the earliest first. */
function fromOneToTwo(page) {
  return asked(page, { ask: "traffic", from_ns: SPAN[0], to_ns: SPAN[1], processes: [[0, 4], [0, 4]], pair: [[1, 2], [2, 3]], sizes: null, durations: null, tag: null, order: "sent" });
}

/** Where lines of messages begin and end in a file while a clock is moved, and after. */
async function lines(browser) {
  const { page } = browser;
  const moved = await written(browser);
  await areOnScreen(page, moved);
  await page.getByRole("button", { name: "Cancel" }).click();
  await browser.settled();
  return [moved, await written(browser)];
}

/** Where lines of messages begin and end in a file: x of both ends, then y. */
async function written(browser) {
  const { page } = browser;
  await page.getByRole("button", { name: "View ▾" }).click();
  const { content } = await browser.downloaded(() => page.getByRole("button", { name: "Save as SVG" }).click());
  return page.evaluate((text) => {
    const file = new DOMParser().parseFromString(text, "image/svg+xml");
    const parts = [...file.querySelectorAll("path[stroke='#2b3138']")].flatMap((it) => it.getAttribute("d").split("M").filter((part) => part !== ""));
    return parts.map((part) => {
      const [x1, y1, x2, y2] = part.match(/-?[\d.]+/g).map(Number);
      return [x1, x2, y1, y2];
    });
  }, content.toString());
}

/** The screen has lines where the file has: in three places of each something is darker than beside it. */
async function areOnScreen(page, lines) {
  const places = [0.2, 0.5, 0.8].flatMap((share) => lines.map(([x1, x2, y1, y2]) => [x1 + share * (x2 - x1), y1 + share * (y2 - y1)])).filter(([x]) => x > 140 && x < 900);
  const contrasts = await page.evaluate(
    ([selector, places]) => {
      const canvas = document.querySelector(selector).getContext("2d");
      return places.map(([x, y]) => {
        const { data } = canvas.getImageData(Math.round(x) - 4, Math.round(y) - 4, 9, 9);
        const bright = Array.from({ length: 81 }, (_, at) => data[4 * at] + data[4 * at + 1] + data[4 * at + 2]);
        return Math.min(...bright) / Math.max(...bright);
      });
    },
    [ROWS, places],
  );
  const missing = places.filter((_, at) => contrasts[at] >= 0.85);
  assert(contrasts.length > 30 && missing.length === 0, `lines are missing on the screen at ${missing.map((it) => it.map(Math.round).join(",")).join(" ")}`);
}

/** How high a row is with the gap beneath it; all are as high here. */
async function rowHeight(page) {
  const { height } = await page.locator(ROWS).boundingBox();
  return Math.floor((height - 22 - 4) / 4);
}
