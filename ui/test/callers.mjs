/** From a visit to the one that called it, and to all of its region. */
import assert from "node:assert/strict";

import { asked, fact } from "./read.mjs";

const ROUND = 25;

export async function callers(browser) {
  const { page } = browser;
  browser.step("a caller leads to the very visit that encloses this one, up to the outermost");
  const { head } = await asked(page, { ask: "run" });
  const region = (name) => head.regions.findIndex((it) => it.name === name);
  const [from, to] = [200_000 * ROUND, 200_000 * (ROUND + 1)];
  const level = head.regions[region("MPI_Send")].level;
  const line = head.lines.findIndex((it) => head.locations[it.location].name === "rank 2" && it.level === level);
  const send = (await asked(page, { ask: "visit", line, at_ns: from + 124_500, near_ns: 5000, region: region("MPI_Send") })).head.visit;
  assert(send !== null, "rank 2 sends then");
  await page.evaluate((hash) => (location.hash = hash), `#1&view=timeline&span=${from}-${to}&visit=${line}@${send.start_ns}`);
  const name = (name) => browser.until(`the visit of ${name}`, (name) => document.querySelector(".side .facts dd")?.textContent === name, name);
  await name("MPI_Send");
  const part = `part-${ROUND % 16}`;
  assert.deepEqual(await page.locator(".side .path button").allTextContents(), ["exchange", part]);
  let inner = send;
  for (const [caller, start, end] of [["exchange", 110_000, 150_000], [part, 100_000, 150_000 + 2500 * (16 - (ROUND % 16))]]) {
    await page.locator(".side .path button").first().focus();
    await page.keyboard.press("Enter");
    await name(caller);
    assert.equal(await fact(page, "Where"), "rank 2");
    // The address is written ten times a second at most.
    await browser.until("its address", (at) => location.hash.includes(`%40${at}`), from + 1000 + start);
    const [, place, at] = /visit=(\d+)%40(\d+)/.exec(page.url());
    const { visit } = (await asked(page, { ask: "visit", line: Number(place), at_ns: Number(at), near_ns: 0, region: null })).head;
    assert.deepEqual([visit.start_ns - 1000 - from, visit.end_ns - 1000 - from], [start, end], `the ${caller} of this round`);
    assert(visit.start_ns <= inner.start_ns && inner.end_ns <= visit.end_ns, "it encloses the one before");
    inner = visit;
  }
  await browser.settled();
  assert.match(page.url(), new RegExp(`span=${from}-${to}`), "what was looked at stays");
  assert(!page.url().includes("region="), "no region is chosen by that");
  await browser.picture("caller");

  browser.step("all visits of its region are listed in the histogram, and this one is marked");
  // Others that stood beside another region in the histogram are not meant.
  await page.evaluate(() => (location.hash = `${location.hash}&together=${encodeURIComponent('["solve"]')}`));
  await browser.settled();
  assert.match(page.url(), /together=/);
  await page.getByRole("button", { name: "All visits" }).click();
  await browser.until("the list", () => document.querySelectorAll("[aria-label='picked visits'] .table-row").length > 5);
  assert.match(page.url(), new RegExp(`view=histogram.*region=${part}`));
  const visits = head.regions[region(part)].visits;
  await browser.until("all of them", (visits) => document.querySelector("[aria-label='picked visits']")?.getAttribute("aria-rowcount") === String(visits + 1), visits);
  const chosen = page.locator("[aria-label='picked visits'] .table-chosen");
  await page.locator("[aria-label='Filter picked visits']").fill("rank 2");
  assert.equal(await chosen.count(), 1);
  assert.match(await chosen.textContent(), /^rank 2/);
  await browser.picture("all-visits");
  await browser.accessible("all visits of a region");
  await page.evaluate(() => (location.hash = `${location.hash}&together=${encodeURIComponent('["solve"]')}`));
  await browser.until("another beside it", () => document.querySelector(".sheet")?.textContent.includes("solve"));
  await page.keyboard.press("Escape");
  await page.locator("h1").first().click();
  await page.keyboard.press("Escape");
  await browser.until("nothing is chosen", () => !location.hash.includes("region=") && !location.hash.includes("together="));
}
