/** Machine code beside the text: it is that of `marey source RUN --code sweep --json`, and leads to lines and back. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { unexplained } from "./explained.mjs";
import { openCutOff } from "./exported.mjs";

const CHOSEN = ".source-file";

/** The rows that are in the page, by their places. */
async function rows(page) {
  return page.evaluate(() =>
    [...document.querySelectorAll(".machine-row")].map((row) => {
      const [bar, address, place, code] = row.children;
      return { at: Number(row.dataset.at), address: parseInt(address.textContent, 16), place: place.textContent, text: code.firstChild.textContent, words: [...code.querySelectorAll(".machine-word")].map((it) => it.textContent.trim()), inlined: code.title, samples: Number(/^(\d+) samples? here/.exec(bar.title)?.[1] ?? 0), mark: row.classList.contains("machine-here") ? "here" : row.classList.contains("machine-line") ? "line" : "" };
    }),
  );
}

export async function machine(browser, address, file) {
  const { page } = browser;
  const told = JSON.parse(readFileSync(file, "utf8"));
  const [{ instructions: all, name, code_bytes }, ...others] = told.codes;
  assert.deepEqual([name, others.length], ["sweep", 0]);
  assert(all.length > 8 && all.length < 40, `all ${all.length} instructions are seen at once`);
  const [text, header] = ["machine.c", "machine.h"].map((end) => all.find((it) => it.file?.endsWith(end)).file);

  browser.step("a button puts machine code beside the text; the address has it");
  await page.goto(address);
  await browser.until("the run is open", () => document.querySelector(".overview-facts") !== null);
  await browser.open("Source");
  await browser.until("lines", () => document.querySelectorAll(".line").length > 5);
  await page.evaluate(([path]) => (location.hash = `#1&view=source&source=${encodeURIComponent(JSON.stringify([path, 0]))}`), [text]);
  await browser.until("the text", () => document.querySelector(".source-file")?.value.endsWith("machine.c"));
  assert.equal(await page.locator(".machine").count(), 0);
  await page.getByRole("button", { name: "Machine code" }).click();
  await browser.until("the code that has most samples", () => document.querySelectorAll(".machine-row").length > 0);
  await browser.until("the address", () => /&code=machine(&|$)/.test(location.hash));

  browser.step("instructions, lines and samples are those that the command line tells of the program");
  const shown = await rows(page);
  assert.deepEqual(shown.map((it) => [it.at, it.address, it.text]), all.map((it, at) => [at, it.address, it.text]));
  assert.deepEqual(shown.map((it) => it.place), all.map((it) => (it.line === null ? "" : it.file === text ? `${it.line}` : `machine.h:${it.line}`)));
  assert.deepEqual(shown.map((it) => it.samples), all.map((it) => it.own_samples));
  const samples = all.reduce((sum, it) => sum + it.own_samples, 0);
  assert(samples > 20, `${samples} samples`);
  const head = await browser.text(".machine-bar");
  assert(head.includes(`${code_bytes} B`) && head.includes(`${samples} samples`), head);
  const inlined = all.map((it) => it.inlined[0] ?? "");
  assert(inlined.includes("relax"), "something was inlined");
  assert.deepEqual(shown.map((it) => it.inlined), inlined.map((it) => (it === "" ? "" : `${it} was inlined here`)));
  // Its name stands where its code begins.
  const begins = all.findIndex((it) => it.inlined[0] === "relax");
  assert.deepEqual([shown[begins - 1].words, shown[begins].words], [[], ["relax"]]);
  await browser.picture("machine");

  browser.step("a line that is chosen marks its instructions and no others");
  const lines = [...new Set(all.filter((it) => it.file === text).map((it) => it.line))];
  assert(lines.length > 2, `${lines}`);
  const marked = async () => (await rows(page)).filter((it) => it.mark !== "").map((it) => it.at);
  const of = (path, line) => all.flatMap((it, at) => (it.file === path && it.line === line ? [at] : []));
  for (const line of lines) {
    await page.locator(`.line[data-line='${line}'] code`).click();
    await browser.until(`line ${line} is said`, (line) => document.querySelector(".machine-of-line")?.textContent.startsWith(`line ${line}: `), line);
    assert.deepEqual(await marked(), of(text, line), `line ${line}`);
    assert.match(await browser.text(".machine-of-line"), new RegExp(`: ${of(text, line).length} instructions?$`));
  }
  await browser.picture("machine-line");

  browser.step("an instruction that is chosen leads to its line, in another source, too");
  const chosen = async (at) => {
    const { file: path, line } = all[at];
    await browser.until(`line ${line} of ${path} is chosen`, ([path, line, chosen]) => document.querySelector(chosen)?.value === path && document.querySelector(".line-here")?.dataset.line === `${line}`, [path, line, CHOSEN]);
    await browser.until(`instruction ${at} is meant`, (at) => document.querySelector(".machine-here")?.dataset.at === `${at}`, at);
    assert.deepEqual(await marked(), of(path, line));
    assert.equal(await page.locator("[role=listbox][aria-label=instructions]").getAttribute("aria-activedescendant"), `instruction-${at}`);
    assert.equal(await page.locator(".machine-bar select option:checked").textContent(), "sweep");
  };
  const press = async (at) => {
    await page.locator(`.machine-row[data-at='${at}'] code`).click();
    await chosen(at);
  };
  const inText = all.findIndex((it) => it.file === text && it.line !== lines.at(-1));
  await press(inText);
  // What is divided takes longest.
  const hottest = all.reduce((best, it, at) => (it.own_samples > all[best].own_samples ? at : best), 0);
  await press(hottest);
  const inHeader = all.findIndex((it) => it.file === header);
  await press(inHeader);
  await browser.picture("machine-inlined");
  await browser.accessible("machine code");
  assert.deepEqual(await unexplained(page), []);

  browser.step("by keys, too: one further, to the end, to the next of the line");
  await page.locator("[role=listbox][aria-label=instructions]").focus();
  await page.keyboard.press("ArrowDown");
  await chosen(inHeader + 1);
  await page.keyboard.press("End");
  await chosen(all.length - 1);
  await page.keyboard.press("Home");
  await chosen(0);
  const { file: path, line } = all[0];
  await page.keyboard.press("n");
  await chosen(of(path, line).find((at) => at > 0) ?? 0);

  browser.step("back is where one came from, and a line without code says so");
  await page.evaluate(([path, line]) => (location.hash = `#1&view=source&source=${encodeURIComponent(JSON.stringify([path, line]))}&code=machine`), [text, 1]);
  await browser.until("there is no code", () => document.querySelector(".machine .hush")?.textContent.includes("no machine code of this line"));
  await page.goBack();
  await browser.until("there is", () => document.querySelectorAll(".machine-row").length > 0);

  browser.step("the same in the other theme");
  await page.getByRole("button", { name: /^Theme/ }).click();
  await page.locator(`.machine-row[data-at='${hottest}'] code`).click();
  await chosen(hottest);
  await browser.accessible("machine code in the other theme");
  await browser.picture("machine-other");
  await page.getByRole("button", { name: /^Theme/ }).click();
}

/** A run of which no machine code was kept says how to get it; a page does that holds one with code. */
export async function machineless(browser, address, file) {
  const { page } = browser;
  const says = async () => {
    await browser.open("Source");
    await page.getByRole("button", { name: "Machine code" }).click();
    await browser.until("it says how to get it", () => document.querySelector(".machine")?.textContent.includes("marey record --embed-code"));
    assert.match(await browser.text(".machine"), /^This run keeps no machine code\..*marey merge --embed-code.*Exported pages and redacted copies never have it\.$/);
    assert.equal(await page.locator(".machine-row").count(), 0);
  };
  browser.step("without code the page says how to get it");
  await page.goto(address);
  await browser.until("the run is open", () => document.querySelector(".overview-facts") !== null);
  await says();
  await browser.accessible("no machine code");
  await browser.picture("machineless");
  browser.step("an exported page has none");
  assert.deepEqual(await openCutOff(browser, file), []);
  await says();
}
