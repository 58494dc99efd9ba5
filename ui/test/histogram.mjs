/** Histograms of one region and of several: bins that they share, each in its colour; what is picked is of all that are on. */
import assert from "node:assert/strict";

import { asked } from "./read.mjs";

export async function histogram(browser, address) {
  const { page } = browser;
  await page.goto(address);
  await browser.until("the report is there", () => document.querySelector(".findings-card, .overview .muted") !== null);
  const { head } = await asked(page, { ask: "run" });
  const numberOf = (name) => head.regions.findIndex((it) => it.name === name && it.visits > 0);
  // Whatever takes most time beside it, since those with most are offered first; not what is done but once.
  const [{ name: OTHER }] = head.regions.filter((it) => it.name !== "MPI_Send" && it.name.startsWith("MPI_") && it.visits > 40).sort((a, b) => b.exclusive_ns - a.exclusive_ns);
  const [send, other] = [numberOf("MPI_Send"), numberOf(OTHER)];
  const sample = (regions) => ({ from_ns: 0, to_ns: head.duration_ns + 1, locations: [[0, head.locations.length]], regions, of: "duration" });

  browser.step("a region that is switched on stands in the same bins, in its own colour");
  await page.evaluate(() => (location.hash = "#1&view=histogram&region=MPI_Send"));
  await browser.until("bars", () => document.querySelectorAll(".histogram-bar").length > 5);
  const alone = await bars(page);
  assert.equal(Object.keys(alone).length, 1, "one colour");
  await page.getByRole("group", { name: "Regions in the histogram" }).getByRole("checkbox", { name: OTHER, exact: true }).check();
  await browser.until("two colours", () => new Set([...document.querySelectorAll(".histogram-bar")].map((it) => it.getAttribute("fill"))).size === 2);
  assert(page.url().includes(`together=%5B%22${OTHER}%22%5D`), page.url());
  const answer = await asked(page, { ask: "histogram", sample: sample([send, other]), bins: 60, logarithmic: true, range: null });
  const both = await bars(page);
  const ofColour = Object.values(both).map((all) => all.reduce((sum, it) => sum + it, 0)).sort();
  assert.deepEqual(ofColour, [...answer.visits].sort(), "all visits of both are in the bars");
  const told = Number((await browser.text(".sheet")).replace(/\u202f/g, "").match(/(\d+) visits · from/)[1]);
  assert.equal(told, answer.head.number);
  const rows = await page.locator("[aria-label='regions in the histogram'] .table-row").evaluateAll((all) => all.map((row) => [...row.querySelectorAll("[role=cell]")].map((it) => it.textContent.replace(/\u202f/g, ""))));
  assert.deepEqual(rows.map(([name, visits]) => [name, Number(visits)]).sort(), [["MPI_Send", answer.visits[0]], [OTHER, answer.visits[1]]].sort());
  await browser.picture("histogram-two");
  await browser.accessible("the histogram of two regions");

  browser.step("a range that is picked is of both, is listed, and blinks");
  const chart = await page.locator(".histogram-chart svg").boundingBox();
  await page.mouse.move(chart.x + 10, chart.y + 60);
  await page.mouse.down();
  await page.mouse.move(chart.x + chart.width - 4, chart.y + 60, { steps: 4 });
  await page.mouse.up();
  await browser.until("some are picked", () => document.querySelectorAll("[aria-label='picked visits'] .table-row").length > 1);
  const [, least, most] = /picked=duration%3A(\d+)-(\d+)/.exec(page.url()).map(Number);
  const truth = await asked(page, { ask: "instances", sample: sample([send, other]), which: { range: [least, most] } });
  assert(truth.region.includes(send) && truth.region.includes(other), "there are some of both");
  assert.equal(await picked(browser), truth.head.number);
  await page.getByRole("button", { name: "Blink in the timeline" }).click();
  await browser.settled();
  const blinks = new Set();
  for (let look = 0; look < 12; look += 1) {
    blinks.add(((await browser.colours(".timeline-rows canvas"))["c8157c"] ?? 0) > 20);
    await page.waitForTimeout(150);
  }
  assert.equal(blinks.size, 2, "what was picked was seen and not seen");
  await page.keyboard.press("b");
  await page.getByRole("button", { name: "Close Timeline" }).click();

  browser.step("one that is switched off, or hidden among the states, is in no bar and no pick");
  await page.getByRole("checkbox", { name: "MPI_Send", exact: true }).uncheck();
  await browser.until("the other is chosen", (other) => document.querySelector(".chip")?.textContent.includes(other) && !location.hash.includes("together="), OTHER);
  await browser.until("and alone", () => new Set([...document.querySelectorAll(".histogram-bar")].map((it) => it.getAttribute("fill"))).size === 1);
  const ofOther = truth.region.filter((it) => it === other).length;
  await browser.until("its visits stay picked", (number) => Number(/Picked — ([\d\u202f]+)/.exec(document.querySelector("h2:has(+ .table)")?.textContent ?? "")?.[1].replace(/\D/g, "")) === number, ofOther);
  await page.keyboard.press("Backspace");
  await browser.until("both again", () => document.querySelector(".chip")?.textContent.includes("MPI_Send") && location.hash.includes("together="));
  await page.evaluate((other) => (location.hash = `${location.hash}&hide=${encodeURIComponent(JSON.stringify([other]))}`), OTHER);
  await browser.until("it is hidden", () => new Set([...document.querySelectorAll(".histogram-bar")].map((it) => it.getAttribute("fill"))).size === 1);
  assert.equal(await page.getByRole("checkbox", { name: OTHER, exact: true }).count(), 0, "it is not offered");
  await page.keyboard.press("Backspace");
  await browser.until("both once more", () => new Set([...document.querySelectorAll(".histogram-bar")].map((it) => it.getAttribute("fill"))).size === 2);

  browser.step("both tests pick by four percentages, of each region by itself");
  for (const [name, which, percentages] of [["Jumpshot's test", "normal", [0.1, 1, 5, 10]], ["Robust test", "anomalous", [0.1, 1, 5, 10]]]) {
    for (const percent of percentages) {
      const button = page.getByRole("group", { name }).getByRole("button", { name: `${percent} %`, exact: true });
      await button.click();
      const expected = await asked(page, { ask: "instances", sample: sample([send, other]), which: { [which]: percent } });
      await browser.until(`${name}, ${percent} %`, (number) => Number(/Picked — ([\d\u202f]+)/.exec([...document.querySelectorAll("h2")].find((it) => it.textContent.startsWith("Picked"))?.textContent ?? "")?.[1].replace(/\D/g, "")) === number, expected.head.number);
      assert.equal(await button.getAttribute("aria-pressed"), "true");
      const said = which === "normal" ? `duration:normal:${percent}` : percent === 1 ? "anomalous" : `anomalous:${percent}`;
      await browser.until("the address says so", (said) => decodeURIComponent(location.hash).split("&").includes(`picked=${said}`), said);
    }
  }
  const [tenth, tenths] = await Promise.all([0.1, 10].map((normal) => asked(page, { ask: "instances", sample: sample([send, other]), which: { normal } })));
  assert(tenth.head.number < tenths.head.number, `${tenth.head.number} and ${tenths.head.number}`);
  await browser.picture("histogram-test");
  await page.getByRole("button", { name: "Theme: light" }).click();
  await browser.picture("histogram-dark");
  await browser.accessible("the dark histogram of two regions");
  await page.getByRole("button", { name: "Theme: dark" }).click();
}

/** By colour, how many visits each bar says that it has. */
function bars(page) {
  return page.locator(".histogram-bar").evaluateAll((all) => {
    const found = {};
    for (const bar of all) (found[bar.getAttribute("fill")] ??= []).push(Number(/: ([\d\u202f]+)/.exec(bar.querySelector("title").textContent)[1].replace(/\D/g, "")));
    return found;
  });
}

/** How many the page says are picked. */
async function picked(browser) {
  const text = await browser.page.locator("h2", { hasText: "Picked" }).textContent();
  return Number(/Picked — ([\d\u202f]+)/.exec(text)[1].replace(/\D/g, ""));
}
