/**
 * Pictures of a run that is made up and always the same, against those that somebody has looked at and kept.
 *
 * A reference is a text: a letter is the colour that most of a cell has, so that neither fonts nor single pixels matter, and
 * whoever reads it sees the picture. `MAREY_UPDATE_PICTURES=1` writes them anew; look at them, then keep them.
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const CELL = 10;
/** Of the cells of a colour, so many may have another, or at least these few: what is drawn at a border of cells may fall on either side. */
const MOST = 0.1;
const FEW = 4;

export async function references(browser, address) {
  const { page } = browser;
  await page.goto(address);
  await browser.open("Timeline");
  await browser.settled();
  for (const theme of ["light", "dark"]) {
    if (theme === "dark") await page.getByLabel("Theme: light").click();
    browser.step(`the whole run, ${theme}`);
    await browser.settled();
    await same(browser, `timeline-${theme}`, ".timeline-rows canvas");
    await same(browser, `mountains-${theme}`, "canvas[aria-label^='How many locations']");
    await same(browser, `overview-${theme}`, "canvas[aria-label^='The whole run']");
    await browser.picture(`reference-${theme}`);
  }
  await page.getByLabel("Theme: dark").click();

  browser.step("a tenth of it");
  await page.evaluate(() => (location.hash = location.hash.replace(/&span=[^&]*/, "") + "&span=800000-1000000"));
  await browser.until("the span is shown", () => document.querySelector(".top-box")?.textContent.includes("0.000 800 000"));
  await browser.settled();
  await same(browser, "timeline-near", ".timeline-rows canvas");
}

/** Looks whether a canvas shows what its reference does. */
async function same(browser, name, selector) {
  const found = await lettered(browser.page, selector);
  const file = new URL(`references/${name}.txt`, import.meta.url);
  if (process.env.MAREY_UPDATE_PICTURES !== undefined) {
    writeFileSync(file, found);
    return;
  }
  assert(existsSync(file), `there is no reference for ${name}`);
  const kept = readFileSync(file, "utf8");
  const [there, here] = [coloured(kept), coloured(found)];
  assert.equal(here.length, there.length, `${name} has another size`);
  for (const colour of new Set([...there, ...here])) {
    const other = there.filter((it, at) => (it === colour) !== (here[at] === colour)).length;
    const most = Math.max(FEW, there.filter((it) => it === colour).length * MOST);
    assert(other <= most, `${name}: ${other} cells of ${colour} differ; kept is\n${kept}\nand shown is\n${found}`);
  }
}

/** The colours of the cells of a text. */
function coloured(text) {
  const [legend, ...lines] = text.trimEnd().split("\n");
  const colours = Object.fromEntries(legend.split("  ").map((entry) => entry.split(" ")));
  return lines.flatMap((line) => [...line].map((letter) => colours[letter]));
}

/** A canvas as letters, and what colours they are. */
async function lettered(page, selector) {
  const rows = await page.locator(selector).first().evaluate((canvas, cell) => {
    const ratio = canvas.width / canvas.getBoundingClientRect().width;
    const size = Math.round(cell * ratio);
    const context = canvas.getContext("2d");
    const rows = [];
    for (let y = 0; y + size <= canvas.height; y += size) {
      const row = [];
      for (let x = 0; x + size <= canvas.width; x += size) {
        const { data } = context.getImageData(x, y, size, size);
        const counts = new Map();
        for (let at = 0; at < data.length; at += 4) {
          const colour = data[at + 3] === 0 ? "none" : `#${[0, 1, 2].map((part) => data[at + part].toString(16).padStart(2, "0")).join("")}`;
          counts.set(colour, (counts.get(colour) ?? 0) + 1);
        }
        row.push([...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0][0]);
      }
      rows.push(row);
    }
    return rows;
  }, CELL);
  const counts = new Map();
  rows.flat().forEach((colour) => counts.set(colour, (counts.get(colour) ?? 0) + 1));
  const order = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([colour]) => colour);
  // What there is most of is the ground.
  const letters = ".abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  const letter = new Map(order.map((colour, at) => [colour, letters[at] ?? "?"]));
  const legend = order.slice(0, letters.length).map((colour) => `${letter.get(colour)} ${colour}`);
  return `${legend.join("  ")}\n${rows.map((row) => row.map((colour) => letter.get(colour)).join("")).join("\n")}\n`;
}
