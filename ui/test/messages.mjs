/** Single messages: pressed in the picture, chosen by keys, in all views and in the address; and several that are drawn together. */
import assert from "node:assert/strict";

import { asked, fact, finest } from "./read.mjs";

const ROWS = ".timeline-rows canvas";
const MESSAGE = "[aria-label='Selected message']";
const ACCENT = "1f6feb";
/** The round that is looked at. */
const ROUND = 20;
const SPAN = [200_000 * ROUND + 90_000, 200_000 * ROUND + 180_000];

export async function messages(browser) {
  const { page } = browser;
  browser.step("an arrow that is rested on is told, and one that is pressed tells all about its message");
  await page.evaluate((span) => (location.hash = `#1&view=timeline&notes=&span=${span}`), SPAN.join("-"));
  await browser.settled();
  const all = await traffic(page, SPAN);
  const own = all.send_time.map((_, at) => at).filter((at) => all.size[at] === 800 + 10 * ROUND);
  assert.equal(own.length, 4, "each rank passes one on");
  const one = own.find((at) => all.send_location[at] === 1);
  const key = `1@${all.send_time[one]}@2@${all.receive_time[one]}@1@${800 + 10 * ROUND}@1`;
  const [x, y] = await found(page, all.send_time[one] + 0.35 * (all.receive_time[one] - all.send_time[one]), /^Message from rank 1 to rank 2: 1\D000 B, .* on its way; press/);
  const before = (await browser.colours(ROWS))[ACCENT] ?? 0;
  await page.mouse.click(x, y);
  await browser.until("it is told", (it) => document.querySelector(it)?.dataset.told === "true", MESSAGE);
  await browser.until("its address", (key) => decodeURIComponent(location.hash).includes(`message=${key}`), key);
  assert.deepEqual([await fact(page, "From"), await fact(page, "To"), await fact(page, "Tag")], ["rank 1", "rank 2", "1"]);
  assert.equal(digits(await fact(page, "Sent")), all.send_time[one]);
  assert.equal(digits(await fact(page, "Received")), all.receive_time[one]);
  assert.match(await fact(page, "Communicator"), /MPI_COMM_WORLD|world|number 0/i);
  assert(((await browser.colours(ROWS))[ACCENT] ?? 0) > before + 80, "its arrow is drawn as chosen");
  await browser.picture("message");
  await browser.accessible("a message");

  browser.step("a press beside an arrow, or on a bar that none crosses, means what lies there");
  await page.mouse.click(x, y + 14);
  await browser.until("another is meant", (it) => document.querySelector(it) === null, MESSAGE);
  assert(!page.url().includes("message="));
  await page.keyboard.press("Backspace");
  await browser.until("it can be taken back", (it) => document.querySelector(it)?.dataset.told === "true", MESSAGE);

  browser.step("on a bar an arrow has to be met, beside it near is enough");
  const [beside, onBar] = [await thickness(page, all, one, 0.2), await thickness(page, all, one, 0.1)];
  assert(beside >= 8 && onBar >= 4 && beside > 1.5 * onBar, `${beside} and ${onBar} pixels`);

  browser.step("both calls are a press away, and their details lead back, all by keys");
  for (const [name, location, region] of [["Sent by", 1, "MPI_Send"], ["Received by", 2, "MPI_Recv"]]) {
    const link = page.locator(`${MESSAGE} .facts > div`).filter({ hasText: name }).locator("button");
    assert.equal(await link.textContent(), region);
    await link.focus();
    await page.keyboard.press("Enter");
    await browser.until("its visit", (region) => document.querySelector(".side .facts dd")?.textContent === region, region);
    assert.equal(await fact(page, "Where"), `rank ${location}`);
    const start = digits(await fact(page, "Start"));
    if (region === "MPI_Send") assert.equal(start, all.send_time[one]);
    else assert(start < all.receive_time[one] && all.receive_time[one] - start < 60_000, `${start}`);
    await page.getByTitle(/^All about this message/).focus();
    await page.keyboard.press("Enter");
    await browser.until("the message again", (it) => document.querySelector(it)?.dataset.told === "true", MESSAGE);
    await browser.until("the same", (key) => decodeURIComponent(location.hash).includes(`message=${key}`), key);
  }

  browser.step("keys lead to the next message of the same two and back, and Escape chooses none");
  await page.keyboard.press("]");
  await browser.until("the next", (bytes) => decodeURIComponent(location.hash).includes(`@1@${bytes}@1`), 810 + 10 * ROUND);
  await page.keyboard.press("[");
  await browser.until("the one before", (key) => decodeURIComponent(location.hash).includes(`message=${key}`), key);
  await page.keyboard.press("[");
  await browser.until("and one more", (bytes) => decodeURIComponent(location.hash).includes(`@1@${bytes}@1`), 790 + 10 * ROUND);
  await page.getByTitle(/^Next message from rank 1 to rank 2/).click();
  await browser.until("by its button, too", (key) => decodeURIComponent(location.hash).includes(`message=${key}`), key);

  browser.step("two steps at once lead to the second next");
  await page.evaluate(() => [1, 2].forEach(() => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "]", bubbles: true, cancelable: true }))));
  await browser.until("both are gone", (bytes) => decodeURIComponent(location.hash).includes(`@1@${bytes}@1`), 820 + 10 * ROUND);

  browser.step("one out of sight is gone to in one step, which one press takes back");
  await look(page, key);
  await browser.until("it is told", (it) => document.querySelector(it)?.dataset.told === "true", MESSAGE);
  await page.keyboard.press("]");
  await browser.until("the next, and where it is", ([bytes, span]) => decodeURIComponent(location.hash).includes(`@1@${bytes}@1`) && !location.hash.includes(span), [810 + 10 * ROUND, SPAN.join("-")]);
  await page.keyboard.press("Backspace");
  await browser.until("it is taken back", (key) => decodeURIComponent(location.hash).includes(`message=${key}`), key);
  await browser.settled();
  assert(page.url().includes(`span=${SPAN.join("-")}`), `the span as well: ${page.url()}`);

  browser.step("the matrix marks its cell, the list its line, and another window tells it");
  const second = await browser.opened(() => page.evaluate(() => void window.open(location.href.replace("view=timeline", "view=timeline&alone=1"), "", "popup")));
  await second.until("it is told there", (it) => document.querySelector(it)?.dataset.told === "true", MESSAGE);
  await page.evaluate(() => (location.hash = location.hash.replace("view=timeline", "view=communication")));
  await browser.settled();
  await browser.until("its cell", () => document.querySelectorAll(".matrix-message").length === 1);
  assert.equal(await page.locator(".matrix-cell", { has: page.locator(".matrix-message") }).getAttribute("data-cell"), "1 2");
  assert.match(await page.locator("[data-cell='1 2']").getAttribute("aria-label"), /the chosen message is one of them$/);
  const line = page.locator("[aria-label='messages'] .table-chosen");
  assert.equal(await line.count(), 1);
  assert.match(await line.textContent(), /^rank 1rank 2/);
  await browser.picture("message-matrix");
  await browser.accessible("communication with a message that is chosen");

  browser.step("a row of the list chooses its message, here and there, by keys");
  const other = page.locator("[aria-label='messages'] .table-row").filter({ hasText: "rank 3rank 0" }).locator("button").first();
  await other.focus();
  await page.keyboard.press("Enter");
  await browser.until("it is told", (it) => /Fromrank 3Torank 0/.test(document.querySelector(it)?.textContent ?? ""), MESSAGE);
  await second.until("there, too", (it) => /Fromrank 3Torank 0/.test(document.querySelector(it)?.textContent ?? ""), MESSAGE);
  await second.page.close();
  await page.keyboard.press("Escape");
  await browser.until("none", (it) => document.querySelector(it) === null, MESSAGE);

  browser.step("one that there is not is none, and a broken address chooses nothing");
  await page.evaluate((key) => (location.hash = `#1&view=timeline&message=${key}`), key.replace("@1@1000@1", "@7@1000@1"));
  await browser.until("it is not there", (it) => document.querySelector(it)?.textContent.includes("No such message"), MESSAGE);
  await page.evaluate(() => (location.hash = "#1&view=timeline&message=1@2@99@4@1@1@1"));
  await browser.until("nobody is rank 99", (it) => document.querySelector(it) === null && !location.hash.includes("message"), MESSAGE);

  await together(browser);
}

/** Several that are drawn as one line. */
async function together(browser) {
  const { page } = browser;
  browser.step("a line of several messages says how many they are, from whom to whom, and what to do");
  await page.evaluate(() => (location.hash = "#1&view=timeline&notes="));
  await browser.settled();
  assert.match(await browser.text(".timeline-bar"), /drawn together/);
  const { duration_ns: end, locations } = (await asked(page, { ask: "run" })).head;
  const log2 = finest(0, end);
  const drawn = await asked(page, { ask: "messages", from_ns: 0, to_ns: end, resolution_log2: log2, locations: [[0, locations.length]], exact: false });
  const part = [Math.floor(end / 4), Math.floor(end / 2)];
  await page.evaluate((span) => (location.hash = `#1&view=timeline&notes=&span=${span}`), part.join("-"));
  await browser.settled();
  const told = digits(/about ([^m]*) messages, drawn together/.exec(await browser.text(".timeline-bar"))?.[1] ?? "");
  const there = (await traffic(page, part)).head.number;
  assert(there > 50 && Math.abs(told - there) < 0.1 * there, `${told} of ${there} messages of the span, not of what lies beside it`);
  await page.evaluate(() => (location.hash = "#1&view=timeline&notes="));
  await browser.settled();
  const at = drawn.count.indexOf(Math.max(...drawn.count));
  assert(drawn.count[at] > 20, "many are one line");
  const [x, y] = await found(page, (drawn.send_time[at] + drawn.receive_time[at]) / 2, /^\d+ messages from rank 0 to rank 1, drawn together: .*; press/);
  await page.mouse.click(x, y);
  await browser.until("they are told", () => document.querySelector("[aria-label='Messages drawn together']") !== null);
  const words = await browser.text("[aria-label='Messages drawn together']");
  assert.match(words, /^\d+ messages drawn togetherFromrank 0Torank 1.*Zoom in/);
  await browser.settled();
  assert.match(decodeURIComponent(page.url()), /message=0@\d+@1@\d+@-@\d+@\d+/);
  await browser.picture("messages-together");
  await browser.accessible("messages that are drawn together");
  for (let turn = 0; turn < 12 && (await browser.text(".timeline-bar")).includes("drawn together"); turn += 1) {
    await page.getByRole("button", { name: "Zoom in to them" }).click();
    await browser.settled();
  }
  const span = /span=(\d+)-(\d+)/.exec(page.url()).slice(1).map(Number);
  assert(span[1] - span[0] < end / 3, `${span}`);
  assert(!(await browser.text(".timeline-bar")).includes("drawn together"), "each is a line now");

  browser.step("in a flood of messages each leads to the next and the one before");
  const flood = await traffic(page, [14_000_000, 14_000_001]);
  const number = 2500;
  const key = (nth) => [0, 13_000_100 + 500 * nth, 1, 14_500_400 + 500 * nth, 2, 64, 1].join("@");
  assert(flood.head.number > 1000, "many are on their way");
  assert(key(0).startsWith(`0@${flood.send_time[0]}@1@${flood.receive_time[0]}@`), `${flood.send_time[0]}, ${flood.receive_time[0]}: clocks are as they were made up`);
  await page.evaluate((key) => (location.hash = `#1&view=timeline&span=14200000-14300000&message=${key}`), key(number));
  await browser.until("it is told", (it) => document.querySelector(it)?.dataset.told === "true", MESSAGE);
  for (const [button, nth] of [["]", number + 1], ["[", number], ["[", number - 1]]) {
    await page.keyboard.press(button);
    await browser.until(`message ${nth}`, (key) => decodeURIComponent(location.hash).includes(`message=${key}`), key(nth));
  }
  await page.keyboard.press("Escape");
}

/** Looks at the round with a message chosen. */
function look(page, key) {
  return page.evaluate(([span, key]) => (location.hash = `#1&view=timeline&notes=&span=${span}&message=${key}`), [SPAN.join("-"), key]);
}

/** Messages of a span, as the engine tells them. */
async function traffic(page, [from, to]) {
  const { head } = await asked(page, { ask: "run" });
  const processes = [[0, head.processes.length], [0, head.processes.length]];
  return asked(page, { ask: "traffic", from_ns: from, to_ns: to, processes, pair: null, sizes: null, durations: null, tag: null, order: "sent" });
}

/** How many pixels above each other mean the message, a part of its way along. */
async function thickness(page, all, one, share) {
  const [x, first] = await found(page, all.send_time[one] + share * (all.receive_time[one] - all.send_time[one]), /^Message from rank 1 to rank 2/);
  let number = 0;
  for (let y = first - 3; y < first + 20; y += 1) {
    await page.mouse.move(x, y);
    if (/^Message from rank 1/.test(await page.locator(".timeline-rows").getAttribute("title"))) number += 1;
  }
  return number;
}

/** Where the pointer meets something at an instant, going down until its words are as wanted. */
async function found(page, time, wanted) {
  const box = await page.locator(ROWS).boundingBox();
  const [from, to] = /span=(\d+)-(\d+)/.exec(page.url())?.slice(1).map(Number) ?? [0, (await asked(page, { ask: "run" })).head.duration_ns];
  const x = box.x + 128 + ((time - from) / (to - from)) * (box.width - 138);
  const seen = new Set();
  for (let y = box.y + 24; y < box.y + box.height; y += 2) {
    await page.mouse.move(x, y);
    const title = await page.locator(".timeline-rows").getAttribute("title");
    if (wanted.test(title)) return [x, y];
    seen.add(title);
  }
  throw new Error(`nothing says ${wanted}, but ${[...seen].join(" | ")}`);
}

function digits(text) {
  return Number(text.replace(/\D/g, ""));
}
