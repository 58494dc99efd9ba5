/** A part of an array that is selected in the picture of Data: what it snaps to and costs, on a program whose sections its source says. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { unexplained } from "./explained.mjs";

const plain = (text) => text.replace(/[\u00a0\u202f\u2009]/g, " ");
const svg = (page) => page.locator(".data-heat svg");
const boxes = (page, name) => page.locator(`.data-heat rect.${name}`).evaluateAll((all) => all.map((it) => ["x", "y", "width", "height"].map((side) => Number(it.getAttribute(side)))));

/** Draws the pointer from one cell to another. */
async function draw(page, [left, top], [right, bottom]) {
  const { x, y, width, height } = await svg(page).boundingBox();
  const [columns, rows] = await svg(page).evaluate((it) => [it.viewBox.baseVal.width, it.viewBox.baseVal.height]);
  const at = (column, row) => [x + ((column + 0.5) / columns) * width, y + ((row + 0.5) / rows) * height];
  await page.mouse.move(...at(left, top));
  await page.mouse.down();
  await page.mouse.move(...at(right, bottom), { steps: 4 });
  await page.mouse.up();
}

/** Waits until this is selected, and what it costs is there. */
async function selected(browser, words) {
  await browser.until(`it says ${words}`, (words) => document.querySelector(".data-selection h2")?.textContent.startsWith(words), words);
  await browser.settled();
  return plain(await browser.text(".data-selection [role=status]"));
}

async function array(browser, name) {
  await browser.page.locator("[aria-label='Rows of arrays'] .table-row").filter({ has: browser.page.locator(".table-text", { hasText: name }) }).first().click();
  await browser.settled();
  await browser.until("the picture", () => document.querySelector(".data-heat svg") !== null);
}

export async function selection(browser, address, file) {
  const { page } = browser;
  const { rows: rowLine } = JSON.parse(readFileSync(file, "utf8"));
  await page.goto(address);
  await browser.until("the overview", () => document.querySelector(".overview-bar") !== null);
  await browser.open("Data");
  await browser.settled();
  await array(browser, /^u$/);

  browser.step("cells that the pointer is drawn across are selected: u(1:10, 5) fits, since each image has all of u");
  assert.equal(await page.locator(".data-selection").count(), 0);
  await svg(page).scrollIntoViewIfNeeded();
  await draw(page, [0, 4], [9, 4]);
  const words = await selected(browser, "Selected: u(1:10, 5)");
  for (const part of ["It lies with rank 0, rank 1, rank 2, each of which has u(1:12, 1:8).", "It fits the distribution as it is.", "11 accesses mean 35 elements of it, of 80 in all: 640 B", "1 more element perhaps"]) assert(words.includes(part), `${part} is not in ${words}`);
  assert.deepEqual([await boxes(page, "data-heat-snapped"), await boxes(page, "data-heat-asked")], [[[0, 4, 10, 1]], [[0, 4, 10, 1]]]);

  browser.step("statements and processes are those of the selection alone");
  const statements = await page.locator("[aria-label='Rows of statements on the selection'] .table-row").allTextContents();
  assert.equal(statements.length, 7);
  // Rows 1, 3, 5, 7 and 9 have one selected element of 8 each.
  const row = plain(statements.find((it) => it.includes(`sections.f90:${rowLine}`)));
  assert.match(row, new RegExp(`^getsections.f90:${rowLine}5320 B[\\d.]+ (ns|µs|ms)540`));
  const processes = await page.locator("[aria-label='Rows of processes of the selection'] .table-row").evaluateAll((all) => all.map((it) => [...it.children].map((cell) => cell.textContent)));
  const of = (name) => processes.find(([process]) => process === name);
  assert.deepEqual([of("rank 0")[3], of("rank 1")[5], of("rank 2")[5]], ["11", "5", "6"]);
  await browser.accessible("Data with a selection");
  assert.deepEqual(await unexplained(page), []);
  await page.locator(".data-selection").scrollIntoViewIfNeeded();
  await browser.picture("selection");

  browser.step("the address brings it back");
  await browser.until("the address says so", () => decodeURIComponent(location.hash).includes('[[[1,10],[5,5]],null,"expand"]'));
  await page.reload();
  assert.equal(await selected(browser, "Selected: u(1:10, 5)"), words);

  browser.step("arrow keys with shift select, without they only go, and Escape drops");
  await svg(page).focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await selected(browser, "Selected: u(1:10, 5)");
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Shift+ArrowDown");
  await selected(browser, "Selected: u(2:3, 1:2)");
  await page.keyboard.press("Escape");
  await browser.until("nothing is selected", () => document.querySelector(".data-selection") === null && document.querySelector(".data-heat-snapped") === null);

  browser.step("by process, the selection is of some of them, and these are chosen in all views by one press");
  await page.locator(".data-tools select").nth(1).selectOption({ label: "process" });
  await browser.until("a row for each", () => document.querySelector(".data-heat svg")?.viewBox.baseVal.height === 3);
  await draw(page, [6, 1], [11, 2]);
  const both = await selected(browser, "Selected: u(7:12, 1:8)");
  assert(both.includes("It lies with rank 1, rank 2, each"), both);
  assert.deepEqual(await boxes(page, "data-heat-snapped"), [[6, 1, 6, 1], [6, 2, 6, 1]]);
  await page.getByRole("button", { name: "Choose the 2 processes that have it" }).click();
  await browser.until("in all views", () => /locations=1(%2C|,)2/.test(location.hash));
  // Neither accesses rows from 7 on: rank 1 has read u(1:3, 1) of its own only.
  await browser.until("of these alone", () => document.querySelector(".data-selection [role=status]")?.textContent.includes("0 accesses"));
  await page.getByRole("button", { name: "Choose the 2 processes that have it" }).click();
  await browser.settled();

  browser.step("where processes have bounds of their own it snaps to whole parts, and that is seen");
  await array(browser, /^parts%values$/);
  assert.equal(await page.locator(".data-selection").count(), 0, "what was selected of another array");
  await browser.until("its picture", () => document.querySelector(".data-heat svg")?.viewBox.baseVal.width === 15);
  await draw(page, [7, 1], [11, 2]);
  const expanded = await selected(browser, "Selected: parts%values(8:12)");
  for (const part of ["rank 1 has parts%values(6:10), rank 2 has parts%values(11:15)", "It is expanded to whole parts, parts%values(6:15)", "3 accesses mean 8 elements of it, of 8 in all"]) assert(expanded.includes(part), `${part} is not in ${expanded}`);
  assert.deepEqual(await boxes(page, "data-heat-asked"), [[7, 1, 5, 2]]);
  assert.deepEqual(await boxes(page, "data-heat-snapped"), [[5, 1, 5, 1], [10, 2, 5, 1]]);
  await browser.picture("selection-expanded");
  await page.getByRole("button", { name: "As it is" }).click();
  await browser.until("as it is", () => document.querySelector(".data-selection [role=status]")?.textContent.includes("It is taken as it is."));
  // 8 of 6:8, 9:10, and 12 of 12:14.
  const exact = plain(await browser.text(".data-selection [role=status]"));
  assert(exact.includes("3 accesses mean 4 elements of it, of 8 in all"), exact);
  assert.deepEqual(await boxes(page, "data-heat-snapped"), [[7, 1, 3, 1], [10, 2, 2, 1]]);
  await page.getByRole("button", { name: "Shrink" }).click();
  await browser.until("nothing is left", () => document.querySelector(".data-selection")?.textContent.includes("Nothing is selected: it holds no part as a whole"));
  await page.getByRole("button", { name: "Expand" }).click();
  await selected(browser, "Selected: parts%values(8:12)");
  await page.getByRole("button", { name: /^Theme/ }).click();
  await browser.accessible("a selection in dark");
  await browser.picture("selection-dark");
  await page.setViewportSize({ width: 420, height: 800 });
  assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is beyond the edge of a narrow window");
  await page.setViewportSize({ width: 1440, height: 860 });
  await page.getByRole("button", { name: "Drop the selection" }).click();
  await browser.until("nothing is selected", () => document.querySelector(".data-selection") === null);
}
