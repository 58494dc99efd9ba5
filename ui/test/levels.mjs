/** Levels and Data, on a program of coarrays whose numbers its source says; and on a run that has neither arrays nor messages. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { unexplained } from "./explained.mjs";
import { asked } from "./read.mjs";

/** A number as the page writes it. */
const written = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, " ");
/** With spaces that are none between digits. */
const plain = (text) => text.replace(/[\u00a0\u202f\u2009]/g, " ");

/** ns of a text, which has three digits that count. */
const nanos = (text) => {
  const [, value, unit] = /([\d. ]+?) ?(ns|µs|ms|s)\b/.exec(plain(text));
  return Number(value.replaceAll(" ", "")) * { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 }[unit];
};

const row = (page, table, name) => page.locator(`[aria-label='Rows of ${table}'] .table-row`).filter({ has: page.locator(".table-text", { hasText: name }) }).first();

async function said(browser, what, holds, argument) {
  await browser.until(what, holds, argument);
  await browser.settled();
  return plain(await browser.text(".levels-said"));
}

export async function levels(browser, address, file) {
  const { page } = browser;
  const { gets, remote, images, line, declared, per_image: perImage, loop, filled, symbols } = JSON.parse(readFileSync(file, "utf8"));
  await page.goto(address);
  await browser.until("the overview", () => document.querySelector(".overview-bar") !== null);

  browser.step("Levels begins with the programming model, and its array is the noun with most time");
  await browser.open("Levels");
  await said(browser, "the nouns", () => document.querySelector("[aria-label='Rows of sentences by noun'] .table-row") !== null);
  assert.match(await page.locator("[aria-label='Rows of levels'] .table-chosen").textContent(), /^coarray/);
  // Of `a` nothing is done across images but that it is made and given back.
  const nouns = await page.locator("[aria-label='Rows of nouns'] .table-row > :first-child").allTextContents();
  assert.deepEqual([nouns[0], [...nouns].sort()], ["b", ["a", "b"]]);
  await browser.accessible("Levels");
  assert.deepEqual(await unexplained(page), []);
  await browser.picture("levels");

  browser.step("the array, then the verb: so many gets, from one line");
  await row(page, "sentences by noun", /^b$/).click();
  await said(browser, "its lines", () => document.querySelector("[aria-label='Rows of sentences by line'] .table-row") !== null);
  await row(page, "verbs", /^get$/).click();
  const words = await said(browser, "its gets", () => /^get b on coarray/.test(document.querySelector(".levels-said")?.textContent ?? ""));
  assert(words.includes(`${written(gets)} times`), words);
  const first = plain(await page.locator("[aria-label='Rows of sentences by line'] .table-row").first().textContent());
  assert(first.startsWith(`misaligned.f90:${line}`) && first.includes(written(gets)), first);
  assert.match(await browser.text(".top-right .chip"), /^get b/, "its region is chosen in all views");

  browser.step("the parts that are shown add up to the time that is");
  const whole = nanos(/times, (.*?) with all/.exec(words)[1]);
  for (const [what, texts] of [
    ["made of", await page.locator(".levels-legend .mono").allTextContents()],
    ["by line", await page.locator("[aria-label='Rows of sentences by line'] .table-row > :nth-child(3)").allTextContents()],
  ]) {
    const sum = texts.reduce((all, text) => all + nanos(text), 0);
    // Each is written with three digits.
    assert(Math.abs(sum - whole) <= whole * 0.01 * texts.length, `${what}: ${texts} is not ${words}`);
  }
  const of = { level: "coarray", verb: "get", noun: "b" };
  for (const part of [{ span: null, locations: null }, { span: null, locations: [[0, 1]] }]) {
    for (const by of ["noun", "verb", "line", "rank"]) {
      const { head } = await asked(page, { ask: "sentences", part, of, under: [], by });
      const sum = (rows) => rows.reduce((all, it) => all + it.time_ns, 0);
      assert.deepEqual([sum(head.groups) + head.more_ns, sum(head.shares)], [head.time_ns, head.time_ns], `by ${by}`);
      assert.equal(head.visits, part.locations === null ? gets : gets / images);
    }
  }
  const bars = await page.locator(".levels-span").evaluateAll((all) => all.map((it) => it.title));
  const begun = bars.reduce((sum, title) => sum + Number(/; ([\d\s]+) began/.exec(title)[1].replace(/\s/g, "")), 0);
  assert.equal(begun, gets, "each began in one span");

  browser.step("beneath it: one MPI_Get for each element of another image, and locks around them");
  await page.getByRole("button", { name: "Look beneath" }).click();
  await said(browser, "what is beneath", () => document.querySelector(".levels-tools .chip")?.textContent.startsWith("coarray:get b") && /^Everything/.test(document.querySelector(".levels-said").textContent));
  await row(page, "levels", /^mpi$/).click();
  await said(browser, "its calls", () => document.querySelector("[aria-label='Rows of levels'] .table-chosen")?.textContent.startsWith("mpi"));
  const counts = Object.fromEntries(await page.locator("[aria-label='Rows of verbs'] .table-row").evaluateAll((all) => all.map((it) => [it.children[0].textContent, Number(it.children[3].textContent.replace(/\s/g, ""))])));
  assert.deepEqual([counts.MPI_Get, counts.MPI_Win_lock, counts.MPI_Win_unlock], [remote, remote, remote]);
  const kinds = await page.locator(".levels-legend li").allTextContents();
  assert(kinds.some((it) => it.startsWith("explicit communication")) && kinds.some((it) => it.startsWith("implicit")), `${kinds}`);

  browser.step("the address brings all of it back");
  const before = await page.locator(".levels-said").textContent();
  await browser.until("the address says so", () => /levels=/.test(location.hash));
  await page.reload();
  await browser.settled();
  assert.equal(await page.locator(".levels-said").textContent(), before);
  assert.match(await page.locator(".levels-tools .chip").textContent(), /^coarray:get b/);

  browser.step("a rank is chosen in all views, and a bar sets the span");
  await page.getByRole("group", { name: "Told apart by" }).getByRole("button", { name: "Rank" }).click();
  await said(browser, "the ranks", (images) => document.querySelectorAll("[aria-label='Rows of sentences by rank'] .table-row").length === images, images);
  await row(page, "sentences by rank", /^rank 1$/).click();
  await said(browser, "its own", () => /locations=1/.test(location.hash) && document.querySelectorAll("[aria-label='Rows of sentences by rank'] .table-row").length === 1);
  await page.locator(".top-right .chip", { hasText: "rank 1" }).click();
  await page.locator(".levels-span").nth(30).click();
  await browser.until("the span", () => /span=\d+-\d+/.test(location.hash));
  await page.getByRole("button", { name: "Whole run" }).last().click();
  await browser.settled();

  browser.step("the line leads to the source, and the chip away again");
  await page.locator(".levels-tools .chip").click();
  await said(browser, "without the context", () => document.querySelector(".levels-tools .chip") === null);
  await page.getByRole("group", { name: "Told apart by" }).getByRole("button", { name: "Line" }).click();
  await said(browser, "lines again", () => document.querySelector("[aria-label='Rows of sentences by line'] .link") !== null);
  await page.getByLabel("Another context").fill("coarray:get b");
  await page.keyboard.press("Enter");
  await said(browser, "with it again", () => document.querySelector(".levels-tools .chip") !== null);
  await page.locator("[aria-label='Rows of sentences by line'] .link", { hasText: `misaligned.f90:${line}` }).first().click();
  await browser.until("the source", (line) => /view=source/.test(location.hash) && decodeURIComponent(location.hash).includes(`misaligned.f90",${line}]`), line);

  browser.step("its pane tells what the line asks of others: how often, which loop moves it on, and what it needs");
  await browser.until("what is asked", () => document.querySelector(".source-remotes li") !== null);
  const across = plain(await page.locator(".source-remotes li").first().textContent());
  for (const part of [`Line ${line}`, "reads b(at)[from]", `get b: ${written(gets)} ×`, `${written(remote)} transfers beneath`, "data goes: 0 and 1", `Elements and image follow the loop ${loop[0]}–${loop[1]}.`, `needs b line ${filled}, written before`]) assert(across.replaceAll("\u00a0", " ").includes(part), `${part} is not in ${across}`);
  // The time of the statement is that of its sentence; on top of it, other communication is little.
  const { head: its } = await asked(page, { ask: "sentences", part: { span: null, locations: null }, of, under: [], by: "noun" });
  const [, share, ofCommunication] = /([\d.]+) % of the time of all threads and ([\d.]+) % of all communication/.exec(across.replaceAll("\u00a0", " ")) ?? [];
  assert(Math.abs(Number(share) - (100 * its.time_ns) / its.of_ns) <= 0.06, `${share} is not ${its.time_ns} of ${its.of_ns}`);
  assert(Number(share) < Number(ofCommunication) && Number(ofCommunication) <= 100, `${share} and ${ofCommunication}`);
  for (const [text, says, least, greatest, changes] of symbols) {
    const words = `${text} (${says}): ${written(least)} to ${written(greatest)}, changed ${written(changes)} times on each of ${images} locations`;
    assert(across.replaceAll("\u00a0", " ").includes(words), `${words} is not in ${across}`);
  }
  assert.equal((await page.locator(`.line[data-line='${line}'] .line-remote`).allTextContents()).join(""), "b(at)[from]");
  assert.equal(await page.locator(".line-remote").count() > 0 && (await page.locator(".line .line-remote").evaluateAll((all) => new Set(all.map((it) => it.closest(".line").dataset.line)).size)), 1, "no other line asks for anything");
  assert.match((await page.locator(".line-arrow title").allTextContents()).join(), new RegExp(`needs b of line ${filled}`));
  await browser.accessible("Source with references to other images");
  assert.deepEqual(await unexplained(page), []);
  await browser.picture("across");

  browser.step("Data has the same array, says what is wrong with it, and where its elements lie");
  await browser.open("Data");
  await browser.settled();
  await row(page, "arrays", /^b$/).click();
  await browser.until("its statements", () => document.querySelector("[aria-label='Rows of statements'] .table-row") !== null);
  const fault = plain(await page.locator(".data-pieces li").first().textContent());
  assert(fault.includes(`get b at misaligned.f90:${line} moves single elements: ${written(gets)} times 8 B`), fault);
  const array = plain(await row(page, "arrays", /^b$/).textContent());
  for (const part of [`real(8) (1:${perImage})`, written(gets), "50.0 %", written(remote), `misaligned.f90:${declared}`]) assert(array.includes(part), `${part} is not in ${array}`);
  const statement = plain(await page.locator("[aria-label='Rows of statements'] .table-row").first().textContent());
  assert(statement.startsWith(`getreadmisaligned.f90:${line}`) && statement.includes(`${written(remote)} MPI_Get`), statement);
  assert.equal(await page.locator(".data-part").count(), images + 1);
  await browser.until("the picture", () => document.querySelector(".data-heat svg") !== null);
  const { arrays } = (await asked(page, { ask: "arrays", span: null, locations: null })).head;
  const { number } = arrays.find((it) => it.name === "b");
  const { head, remote: cells } = await asked(page, { ask: "sections", part: { span: null, locations: null }, array: number, axes: [0, null], cells: [100, 8] });
  assert.deepEqual(head.spans, [[1, perImage], [0, images - 1]]);
  assert.equal(cells.reduce((sum, it) => sum + it, 0), remote);
  await page.locator(".data-heat svg").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await browser.until("what is there", () => /process rank 1: .* references/.test(document.querySelector(".data-panes [role=status]").textContent));
  // Of rank 0 the second half is dark, of rank 1 the first: what the other one assigns from.
  const dark = await page.locator(".data-heat g rect").evaluateAll((all) => all.map((it) => ["x", "y", "width"].map((name) => Number(it.getAttribute(name)))));
  const columns = await page.locator(".data-heat svg").evaluate((it) => it.viewBox.baseVal.width);
  for (const [x, y, length] of dark) assert(y === 0 ? x >= columns / 2 - 1 : x + length <= columns / 2 + 1, `${dark}`);
  assert.equal(new Set(dark.map(([, y]) => y)).size, images);
  await browser.accessible("Data");
  assert.deepEqual(await unexplained(page), []);
  await browser.picture("data");
  await page.getByRole("button", { name: /^Theme/ }).click();
  await browser.accessible("Data in dark");
  await browser.picture("data-dark");

  browser.step("from the array to its sentences, and to the timeline");
  await page.getByRole("button", { name: "Show in Levels" }).click();
  await said(browser, "its sentences", () => /view=levels/.test(location.hash) && / b on any level/.test(document.querySelector(".levels-said")?.textContent ?? ""));
  await browser.accessible("Levels in dark");
  await browser.picture("levels-dark");
  await page.setViewportSize({ width: 420, height: 800 });
  assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is beyond the edge of a narrow window");
  await browser.picture("levels-narrow");
  await page.setViewportSize({ width: 1440, height: 860 });
  await page.getByRole("button", { name: "Show in the timeline" }).click();
  await browser.until("the timeline", () => /view=timeline/.test(location.hash));
}

/** A run that has a function and nothing else. */
export async function levelless(browser, address) {
  const { page } = browser;
  await page.goto(address);
  browser.step("Levels tells of what there is, and how more would be there");
  await browser.open("Levels");
  await browser.settled();
  assert.match(await browser.text(".levels-said"), /on source 1 time/);
  assert.match(await page.locator(".sheet").textContent(), /no programming model above MPI.*marey f90/s);
  await browser.accessible("Levels of a plain run");
  browser.step("Data says what would stand there, and what to do");
  await browser.open("Data");
  await browser.settled();
  assert.match(await browser.text(".sheet .hush"), /neither.*marey record -- mpirun.*marey f90/s);
  assert.deepEqual(await unexplained(page), []);
}
