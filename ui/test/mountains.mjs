/** Mountains without what is hidden: of a run with more regions than they tell apart. */
import assert from "node:assert/strict";

import { asked } from "./read.mjs";

const MOUNTAINS = ".timeline-mountains canvas";

/** What is hidden is not drawn in mountains, also if it is not among the largest. */
export async function mountains(browser) {
  const { page } = browser;
  const { head } = await asked(page, { ask: "run" });
  browser.step("hidden states are not in mountains, whichever place they have among the largest");
  // All others are grey; the smallest of the parts is one of them.
  const grey = "767c84";
  const go = async (hide) => {
    await page.evaluate((hide) => (location.hash = `#1&view=timeline&notes=&layers=&hide=${encodeURIComponent(JSON.stringify(hide))}`), hide);
    await browser.settled();
    return (await browser.colours(MOUNTAINS))[grey] ?? 0;
  };
  const whole = { from_ns: 0, to_ns: head.duration_ns, resolution_log2: 15, locations: [[0, 4]], exact: false };
  const { region } = await asked(page, { ask: "course", ...whole, without: [] });
  const name = (it) => head.regions[it].name;
  const small = head.regions.map((it) => it.name).filter((it) => /^part-/.test(it) && !region.some((other) => name(other) === it));
  assert.equal(region.length, 12);
  assert(small.length >= 4, `${small} are not told apart`);
  const before = await go([]);
  assert(before > 200, `${before} pixels of all others`);
  assert.equal(await go(small), 0, "they are gone");
  assert(!(await browser.text(".timeline-mountains")).includes("about"), "and nothing is left that could be one of them");
  // What is told apart makes room for another.
  assert((await go([name(region[0])])) < before, "one that was grey has a colour now");
  assert.equal(await go([]), before, "as before");
}
