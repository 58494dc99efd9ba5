/** Data of messages, and what redistributes it, in Data, on a program whose messages its source says. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { unexplained } from "./explained.mjs";

const plain = (text) => text.replace(/[\u00a0\u202f\u2009]/g, " ");
/** The texts of the rows of a table, cell by cell. */
const table = (page, name) => page.locator(`[aria-label='Rows of ${name}'] .table-row`).evaluateAll((all) => all.map((it) => [...it.children].map((cell) => cell.textContent.replace(/[\u00a0\u202f\u2009]/g, " "))));

export async function redistributed(browser, address, file) {
  const { page } = browser;
  const { redistributions, buffers, pairs, ranks } = JSON.parse(readFileSync(file, "utf8"));
  await page.goto(address);
  await browser.until("the overview", () => document.querySelector(".overview-bar") !== null);

  browser.step("what each rank sends to each other, by operations and by messages, and nothing else");
  await browser.open("Data");
  await browser.until("redistributions", () => document.querySelector("[aria-label='Rows of redistributions'] .table-row") !== null);
  await browser.settled();
  const rows = await table(page, "redistributions");
  const told = rows.map(([data, by, , , times]) => [data, by, times]);
  assert.deepEqual(told.sort(), redistributions.sort());
  const [messages] = rows.filter(([, by]) => by === "messages");
  assert.deepEqual([messages[6], messages[7]], ["not known", ""], "messages have no time of their own");

  browser.step("data of messages: how many were sent from it and received into it");
  const data = await table(page, "buffers");
  for (const [name, sent, received] of buffers) {
    const row = data.find(([it]) => it === name);
    assert.deepEqual([row?.[2], row?.[4]], [sent, received], `${name} is ${row}`);
  }
  assert.match(plain(await page.locator("p.muted", { hasText: "bytes are known by their data" }).textContent()), /^100.0 % of/);
  await browser.accessible("Data");
  assert.deepEqual(await unexplained(page), []);
  await browser.picture("redistributed");

  browser.step("one of them is chosen: between whom its messages went, which the address says");
  await page.locator("[aria-label='Rows of buffers'] .table-row").filter({ has: page.locator(".table-text", { hasText: new RegExp(`^${pairs.of}$`) }) }).click();
  await browser.until("its pairs", () => document.querySelector("[aria-label='Rows of pairs of the data'] .table-row") !== null);
  // Some of the rows; the others are there when one moves on.
  const between = (await table(page, "pairs of the data")).map(([from, to]) => `${from} to ${to}`);
  const all = new Set(pairs.all.map(([from, to]) => `${from} to ${to}`));
  assert.equal(Number(await page.locator("[aria-label='pairs of the data']").getAttribute("aria-rowcount")) - 1, ranks * ranks);
  assert(between.length >= 8 && new Set(between).size === between.length && between.every((it) => all.has(it)), between.join());
  const url = page.url();
  await page.goto("about:blank");
  await page.goto(url);
  await browser.until("the same pairs", (of) => document.querySelector(".data-pairs h2")?.textContent.endsWith(`${of} went`) && document.querySelector("[aria-label='Rows of pairs of the data'] .table-row") !== null, pairs.of);

  browser.step("a pair leads to its messages in the timeline");
  await page.locator("[aria-label='Rows of pairs of the data'] .table-row").first().click();
  await browser.until("the timeline", () => document.querySelector(".timeline, .tracks, [aria-label*='imeline']") !== null);
}
