/** What the compiler said of a loop, at its line and above its cost, as `marey remarks --json` has it. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { unexplained } from "./explained.mjs";
import { asked } from "./read.mjs";

export async function remarks(browser, address, file) {
  const { page } = browser;
  const { processor_ns, path_ns, loops } = JSON.parse(readFileSync(file, "utf8"));
  await page.goto(address);
  const { head } = await asked(page, { ask: "source" });
  const number = head.files.findIndex(({ path }) => /remarked\.(c|f90|rs)$/.test(path));
  const { text } = (await asked(page, { ask: "source-file", number })).head;
  // The line is known from the text alone.
  const line = text.findIndex((it) => it.includes("the loop")) + 1;
  const it = loops.find((found) => found.first_line === line && found.file === head.files[number].path);
  assert.equal(it.outcome, "not vectorised");
  assert.equal(it.remarks[0].array, "grid");

  browser.step("the loop's line has a sign and says why, and no other line does");
  await page.evaluate(([path, line]) => (location.hash = `#1&view=source&source=${encodeURIComponent(JSON.stringify([path, line]))}`), [head.files[number].path, line]);
  await browser.until("words at the loop", (line) => document.querySelector(`.line[data-line='${line}'] .line-remark`) !== null, line);
  const left = loops.filter((found) => ["not vectorised", "vectorised in part", "statements vectorised"].includes(found.outcome));
  const here = left.filter((found) => found.file === it.file);
  const lines = await page.locator(".line:has(.line-remark)").evaluateAll((all) => all.map((row) => Number(row.dataset.line)));
  assert.deepEqual(lines, [...new Set(here.map((found) => found.first_line))].sort((a, b) => a - b));
  const row = page.locator(`.line[data-line='${line}']`);
  assert.equal(await row.locator(".line-sign").textContent(), "⊘");
  assert.match(await row.locator(".line-remark").textContent(), /^not vectorised: .*array grid/);
  assert.equal(await row.locator("code").textContent(), text[line - 1], "the text stays as it is");

  browser.step("beside it stand reason, array, line and what it costs, above the cost of the loop");
  const remark = page.getByRole("group", { name: "What the compiler said of the loop" });
  const facts = Object.fromEntries(await remark.locator("dl > div").evaluateAll((all) => all.map((fact) => [fact.querySelector("dt").textContent, fact.querySelector("dd").textContent])));
  const why = it.remarks[0];
  assert.equal(facts.Array, `grid${why.array_by === "text" ? "*" : ""}`);
  assert.equal(facts.Dependence, `${why.dependence}${why.distance === null ? "" : `, distance ${why.distance}`}`);
  assert.equal(facts.Line, String(why.line));
  assert((await remark.textContent()).includes(why.compiler) && (await remark.textContent()).includes(why.said.split("\n")[0]));
  // Three digits of a time, and the share with one behind the point.
  const near = (text, time, whole) => {
    const [, value, unit, share] = /([\d.\s]+?)\s*(ns|µs|ms|s) \(([\d.]+)\s%\)/.exec(text);
    const told = Number(value.replace(/\s/g, "")) * { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 }[unit];
    assert(Math.abs(told - time) <= time / 100, `${text} is not ${time} ns`);
    assert(Math.abs(Number(share) - (time / whole) * 100) <= 0.11, `${text} of ${whole}`);
  };
  near(facts["Time of its own"], it.own_ns, processor_ns);
  near(facts["On the critical path"], it.path_ns, path_ns);
  assert.match(facts["To win"], /^at most /);
  const isAbove = await page.evaluate(() => {
    const [remark, cost] = [document.querySelector(".remark"), document.querySelector("[aria-label='The loop'] > .source-facts")];
    return remark.getBoundingClientRect().bottom <= cost.getBoundingClientRect().top;
  });
  assert(isAbove, "the remark stands above the measured cost");
  await browser.picture("remark");
  await browser.accessible("a remark at its loop");
  assert.deepEqual(await unexplained(page), []);

  browser.step("r and R go from one such loop to the next, and round");
  await page.locator(".lines-body").focus();
  const turn = [...lines.slice(lines.indexOf(line) + 1), ...lines.slice(0, lines.indexOf(line) + 1)];
  for (const [key, way] of [["r", turn], ["R", [...turn.slice(0, -1).reverse(), line]]]) {
    for (const next of way) {
      await page.keyboard.press(key);
      await browser.until(`${key} goes to ${next}`, (next) => document.querySelector(".line-here")?.dataset.line === String(next), next);
    }
  }

  browser.step("the list has what takes most time first, and leads to the loop by keys");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Left by the compiler" }).click();
  const table = page.locator("[aria-label='Rows of loops the compiler left as they are'] .table-row");
  await browser.until("the list", (many) => document.querySelector("[aria-label='loops the compiler left as they are']")?.getAttribute("aria-rowcount") === String(many + 1), left.length);
  assert((await table.first().textContent()).includes(`:${line}–`));
  await browser.until("the address says so", () => /code=remarks/.test(location.hash));
  await browser.picture("remarks");
  await browser.accessible("loops that were left");
  assert.deepEqual(await unexplained(page), []);
  await page.getByRole("button", { name: /^Theme/ }).click();
  await browser.accessible("loops that were left, in dark");
  await browser.picture("remarks-dark");
  await table.first().click();
  await browser.until("the loop", (line) => document.querySelector(".line-here")?.dataset.line === String(line), line);
  await browser.accessible("a remark in dark");
  await browser.picture("remark-dark");
}
