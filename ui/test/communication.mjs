/** Messages: what is pressed in one part limits the others and the timeline; operations of all. */
import assert from "node:assert/strict";

import { asked } from "./read.mjs";

const LIST = "[aria-label='messages']";

export async function communication(browser) {
  const { page } = browser;
  browser.step("the matrix has every pair, with all of its messages");
  await browser.open("Communication");
  await browser.until("the matrix", () => document.querySelectorAll(".matrix-cell").length > 0);
  const { head } = await asked(page, { ask: "run" });
  const report = (await asked(page, { ask: "report" })).head;
  const cells = await page.locator(".matrix-cell").evaluateAll((all) => all.map((it) => it.getAttribute("aria-label")));
  assert.equal(cells.length, report.communication.length);
  for (const pair of report.communication) {
    const words = `rank ${pair.from} → rank ${pair.to}: ${grouped(pair.messages)} messages`;
    assert(cells.some((cell) => cell.replace(/[\u2009\u202f\u00a0]/g, " ").startsWith(words)), `${words} in ${cells}`);
  }
  await browser.picture("communication");
  await browser.accessible("communication");

  browser.step("a cell is reached and pressed by keys, and limits list, classes and timeline");
  await page.locator(".matrix-cell[tabindex='0']").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await browser.until("it is chosen", () => /pair=\d+-\d+-\d+-\d+/.test(location.hash));
  const [a, , b] = /pair=([\d-]+)/.exec(page.url())[1].split("-").map(Number);
  await browser.until("the list is of the pair", ([list, a, b]) => {
    const rows = [...document.querySelectorAll(`${list} .table-row`)];
    return rows.length > 3 && rows.every((row) => row.textContent.startsWith(`rank ${a}rank ${b}`));
  }, [LIST, a, b]);
  const pair = report.communication.find((it) => it.from === a && it.to === b);
  const sum = async (name) => (await page.locator(`[aria-label='${name}'] .classes-number`).allTextContents()).reduce((all, text) => all + Number(text.replace(/\D/g, "")), 0);
  assert.equal(await sum("Sizes of messages"), pair.messages);
  assert.equal(await sum("Durations of messages"), pair.messages);
  // The first is the one that was on its way longest.
  const processes = [[0, head.processes.length], [0, head.processes.length]];
  const limits = { from_ns: 0, to_ns: head.duration_ns + 1, processes, pair: [[a, a + 1], [b, b + 1]], sizes: null, durations: null, tag: null, order: "duration" };
  const listed = await asked(page, { ask: "traffic", ...limits });
  assert.equal(listed.head.number, pair.messages);
  assert.equal(listed.head.bytes, pair.bytes);
  await browser.picture("communication-pair");

  browser.step("the table of pairs has the cells of the matrix, and those of the whole run");
  const table = page.locator("[aria-label='pairs of processes']");
  const [first] = await table.locator(".table-row").all();
  const [sender, receiver, , , , time, longest] = await first.locator("[role=cell]").allTextContents();
  const cell = cells.find((it) => it.startsWith(`${sender} → ${receiver}:`));
  assert(cell.includes(`${time} on their way together, ${longest} the longest`), `${time} and ${longest} in ${cell}`);
  await page.getByRole("button", { name: "Whole run" }).click();
  await browser.until("no times", () => document.querySelectorAll("[aria-label='pairs of processes'] [role=columnheader]").length === 5);
  await page.getByRole("button", { name: "As in the matrix" }).click();

  browser.step("a class of sizes limits the list, too, and a chip takes that back");
  const bars = page.locator("[aria-label='Sizes of messages'] .classes-bar").filter({ has: page.locator(".classes-number:not(:empty)") });
  const wanted = await bars.first().locator(".classes-number").textContent();
  await bars.first().click();
  await browser.until("fewer messages", ([list, number]) => document.querySelectorAll(`${list} .table-row`).length === Math.min(Number(number), 16), [LIST, wanted.replace(/\D/g, "")]);
  await page.locator(".communication-tools .chip").last().click();
  await browser.until("all again", (number) => document.querySelector(".table-tools .muted").textContent === `${number} rows`, Math.min(pair.messages, 500));

  browser.step("the timeline draws these messages alone, and a row leads to its message");
  await page.getByRole("button", { name: "Show in the timeline" }).click();
  await browser.settled();
  assert.match(await browser.text(".chip"), new RegExp(`messages rank ${a} → rank ${b}`));
  await page.evaluate(() => (location.hash = `${location.hash.replace("view=timeline", "view=communication")}`));
  await page.locator(`${LIST} .table-row`).first().click();
  await browser.until("its details", () => document.querySelector("[aria-label='Selected message']")?.dataset.told === "true");
  const [sent] = listed.send_time;
  await browser.until("it is the longest message", (sent) => location.hash.includes(`%40${sent}`), sent);

  browser.step("operations of all are added up, and a row leads to the first of them");
  await page.keyboard.press("Escape");
  await browser.until("no pair is meant", () => !location.hash.includes("pair="));
  await page.evaluate(() => (location.hash = "#1&view=communication"));
  await browser.until("their sums", () => document.querySelectorAll("[aria-label='operations of all'] .table-row").length > 1);
  const row = page.locator("[aria-label='operations of all'] .table-row").filter({ hasText: "MPI_Allreduce" }).first();
  const [, , number] = await row.locator("[role=cell]").allTextContents();
  const sums = await asked(page, { ask: "collective-sums", from_ns: 0, to_ns: head.duration_ns + 1 });
  const place = sums.region.map((it) => head.regions[it]?.name).indexOf("MPI_Allreduce");
  assert.equal(Number(number.replace(/\D/g, "")), sums.operations[place]);
  await row.click();
  await browser.until("the operation", () => /operation=/.test(location.hash));
  await page.keyboard.press("Escape");
}

/** As the page writes numbers. */
function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, " ");
}
