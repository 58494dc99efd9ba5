/** A run in which visits of one function were only counted to keep within the budget: views of single visits say so, and the next run leaves it to the budget. */
import assert from "node:assert/strict";

import { unexplained } from "./explained.mjs";
import { asked } from "./read.mjs";

export async function reduced(browser, address) {
  const { page } = browser;
  await page.goto(address);
  await browser.until("the run is open", () => document.querySelector(".overview-facts") !== null);
  const { head } = await asked(page, { ask: "run" });
  const [only, ...others] = head.reduced;
  assert.deepEqual(others, [], "one region is dear");
  const hot = head.regions[only.region];
  assert.equal(hot.name, "hot");
  assert(only.since_ns > 0 && only.since_ns < head.duration_ns && only.visits < hot.visits, JSON.stringify(only));
  browser.step("the overview tells how many visits were only counted, and of what");
  const fact = await page.locator(".overview-facts > div").filter({ hasText: "Only counted" });
  assert.match(await fact.locator("dd").textContent(), /visits of 1 region from .+ on$/);
  assert.match(await fact.getAttribute("title"), /: hot\. Their numbers are exact/);
  await browser.picture("reduced-overview");

  const end = head.duration_ns;
  const before = `0-${Math.floor(only.since_ns / 2)}`;
  const said = async (what, expected) => {
    await browser.until(`${what} says it ${expected} times`, (expected) => document.querySelectorAll(".reduced").length === expected, expected);
    if (expected === 1) assert.match(await browser.text(".reduced"), /^From .+ on, only some visits of hot were recorded, and [\d\s]+ just counted: /);
  };
  const go = async (view, hash) => {
    await page.evaluate((hash) => (location.hash = hash), `#1&view=${view}&${hash}`);
    await browser.until(`it is ${view}`, (view) => document.querySelector(`.pane[data-topic='${view}']`) !== null, view);
  };
  browser.step("the timeline says which bars are missing, from then on");
  await go("timeline", `span=${before}`);
  await said("the timeline before that", 0);
  await go("timeline", `span=0-${end}`);
  await said("the timeline", 1);
  await browser.settled();
  await browser.picture("reduced-timeline");
  await browser.accessible("the timeline");
  browser.step("a histogram says so of that region, and of no other");
  await go("histogram", "region=cold");
  await browser.until("its visits", () => document.querySelector(".sheet h1")?.textContent.includes("cold"));
  await said("the histogram of cold", 0);
  await go("histogram", "region=hot");
  await said("the histogram of hot", 1);
  await browser.picture("reduced-histogram");
  browser.step("sums of the whole run have all, those of a span do not");
  await go("profile", `span=0-${end}`);
  await browser.until("it is the profile", () => document.querySelector(".profile-ways") !== null);
  await said("the profile of the run", 0);
  await page.getByRole("button", { name: /^Span that is shown/ }).click();
  await said("that of the span", 1);
  await go("waits", "");
  await said("waits and the critical path", 1);

  await next(browser, hot.visits, only.visits);
  browser.step("the same in the other theme");
  await page.getByRole("button", { name: /^Theme/ }).click();
  for (const [view, hash] of [["overview", ""], ["timeline", `span=0-${end}`], ["histogram", "region=hot"], ["next", ""]]) {
    await go(view, hash);
    await browser.accessible(`${view} in the other theme`);
    await browser.picture(`reduced-${view}-other`);
  }
  await page.getByRole("button", { name: /^Theme/ }).click();
}

/** A rule would make the next run dearer. */
async function next(browser, visits, counted) {
  const { page } = browser;
  browser.step("the next run leaves it to the budget");
  await browser.open("Profile");
  await page.getByRole("button", { name: "Next run …" }).click();
  const row = page.locator("[aria-label='next run'] .table-row", { hasText: "counted by the budget" });
  await browser.until("its row", () => document.querySelector("[aria-label='next run']")?.textContent.includes("counted by the budget"));
  assert.match(await row.textContent(), /^hot counted by the budget/);
  const { regions, overhead } = (await asked(page, { ask: "report" })).head;
  const hot = regions.find((it) => it.reduced_calls > 0);
  assert.deepEqual([hot.calls, hot.reduced_calls], [visits, counted]);
  const share = Number(/([\d.]+) %/.exec(await row.textContent())[1]);
  const expected = (2 * (visits - counted) * overhead.ns_per_event * 100) / hot.inclusive_ns;
  assert(Math.abs(share - expected) < 0.1 + expected * 0.01, `${share} % is ${expected} %`);
  await browser.picture("reduced-next");
  await browser.accessible("the next run");
  assert.deepEqual(await unexplained(page), []);
  const dear = page.getByRole("button", { name: /^Add up what is dear/ });
  if (await dear.isEnabled()) {
    await dear.click();
    await browser.until("rules", () => document.querySelector(".next-rules") !== null);
    assert.doesNotMatch(await browser.text(".next-rules"), /hot/);
  }
  await page.evaluate(() => (location.hash = "#1&view=next"));
  await browser.until("no rule is left", () => document.querySelector(".next-rules") === null);
  await page.getByRole("group", { name: "Keep of outer", exact: true }).getByRole("button", { name: "count", exact: true }).click();
  assert.equal(await browser.text(".next-rules"), "count  source:outer\n", "functions are named, not that they are executed");
  await page.evaluate(() => (location.hash = "#1&view=next"));
}
