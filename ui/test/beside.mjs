/** A run beside itself: what stands beneath the rows and in them is in both timelines, and looks the same. */
import assert from "node:assert/strict";

const A = ".compare-run:nth-child(1) canvas";
const B = ".compare-run:nth-child(2) canvas";
const COUNTER = "0f6f78";

export async function beside(browser, address) {
  const { page } = browser;
  browser.step("counters stand beneath the rows of both, on one scale");
  await page.goto(address);
  await browser.settled();
  const { duration_ns: lasts } = await page.evaluate(async () => {
    const frame = await (await fetch("api/answer", { method: "POST", body: '{"ask":"run"}' })).arrayBuffer();
    const text = new TextDecoder().decode(frame);
    return { duration_ns: Number(/"duration_ns":(\d+)/.exec(text)[1]) };
  });
  const look = async (counters, layers) => {
    const span = `${Math.round(lasts * 0.65)}-${Math.round(lasts * 0.8)}`;
    await page.evaluate((hash) => (location.hash = hash), `#1&view=compare&counters=${JSON.stringify(counters)}&span=${span}${layers}`);
    await page.waitForTimeout(300);
    await browser.settled();
    return [await browser.colours(A), await browser.colours(B)];
  };
  const without = await look([], "&layers=w");
  assert(!(without[0][COUNTER] > 0) && !(without[1][COUNTER] > 0));
  const charts = await look(["queue", "page-faults"], "&layers=w");
  assert(charts[0][COUNTER] > 100, `${charts[0][COUNTER]} pixels`);
  near(charts[0][COUNTER], charts[1][COUNTER]);
  // Four rows with two charts each: all of them are seen, down to the last.
  for (const canvas of [A, B]) assert((await lowest(page, canvas, COUNTER)) > 0.75, `the last chart of ${canvas} is seen`);

  browser.step("a run does not differ from itself");
  assert.match(await browser.text(".compare-lane"), /A [\d.]+ %, B [\d.]+ % 0\.0 points/);
  const lane = await browser.colours(".compare-lane canvas");
  assert.equal((lane["d9730d"] ?? 0) + (lane["2f6fc4"] ?? 0), 0);
  await browser.picture("compare-counters");
  await browser.accessible("counters of two runs");

  browser.step("marked instants have their signs in both");
  const marked = await look([], "&layers=w");
  await page.getByRole("button", { name: "Instants" }).click();
  await page.waitForTimeout(300);
  await browser.settled();
  const signs = [await browser.colours(A), await browser.colours(B)];
  const others = Object.keys(signs[0]).filter((colour) => (signs[0][colour] ?? 0) - (marked[0][colour] ?? 0) > 20);
  assert(others.length > 0, "there are signs");
  for (const colour of others) near(signs[0][colour], signs[1][colour]);
  await browser.picture("compare-instants");
}

/** How far down in a canvas a colour is found, 0 to 1. */
async function lowest(page, selector, colour) {
  return page.locator(selector).evaluate((canvas, colour) => {
    const { data, width, height } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    for (let at = data.length - 4; at >= 0; at -= 4) {
      if ([...data.slice(at, at + 3)].map((part) => part.toString(16).padStart(2, "0")).join("") === colour) return at / 4 / width / height;
    }
    return 0;
  }, colour);
}

function near(a, b) {
  assert(Math.abs(a - b) <= Math.max(a, b) * 0.1 + 8, `${a} and ${b}`);
}
