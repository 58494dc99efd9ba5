/** The list of runs: one of them is opened, then two side by side, and the list is come back to. */
import assert from "node:assert/strict";

const ROWS = ".timeline-rows canvas";

export async function runs(browser, address) {
  const { page } = browser;
  await page.goto(address);
  browser.step("all runs are listed, their names as texts");
  await browser.until("the list is there", () => document.querySelectorAll(".runs tbody tr").length === 3);
  const rows = page.locator(".runs tbody tr");
  assert.equal(await page.locator("img").count(), 0, "a name became an element");
  assert((await rows.allTextContents()).some((text) => text.includes("<img src=x onerror=harmed=1>")));
  await browser.accessible("the list of runs");
  await browser.picture("runs");

  browser.step("what cannot be opened says why");
  const half = rows.filter({ hasText: "half.marey" });
  assert((await half.textContent()).includes("not merged yet"));
  assert.equal(await half.locator("a, button").count(), 0);

  browser.step("the list is filtered, and the first is opened by a key");
  await page.getByLabel("Filter runs").fill("onerror");
  assert.equal(await rows.count(), 1);
  await page.keyboard.press("Enter");
  await browser.until("its page is there", () => /\/run\/\d+\/$/.test(location.pathname) && document.querySelector(".top-run strong")?.textContent.includes("<img src=x"));
  await browser.open("Timeline");
  await browser.settled();
  await browser.picture("runs-opened");

  browser.step("back to the list, and two side by side");
  await page.getByTitle("All runs").click();
  await browser.until("the list is there", () => document.querySelectorAll(".runs tbody tr").length === 3);
  await rows.filter({ hasText: "onerror" }).getByRole("button", { name: "Compare …" }).click();
  assert((await browser.text(".runs-base")).includes("<img src=x onerror=harmed=1>"));
  await page.getByRole("link", { name: "beside it" }).click();
  await browser.until("both are there", () => /\/run\/\d+-\d+\/$/.test(location.pathname) && document.querySelector(".top-run")?.textContent.includes("beside harm.marey"));
  await browser.settled();
  assert.equal(await page.evaluate(() => window.harmed), undefined, "a name was run");

  browser.step("a name is dragged: its clock is moved in the picture, and left as it was");
  await page.getByTitle("All runs").click();
  await page.getByRole("link", { name: "harm.marey", exact: true }).click();
  await browser.until("the run is there", () => document.querySelector(".top-run strong")?.textContent === "harm.marey");
  await browser.open("Timeline");
  await browser.settled();
  const life = async () => (await browser.text(".top-run")).split(" · ").at(-1);
  assert.equal(await life(), "50.00 µs");
  const before = await browser.colours(ROWS);
  const box = await page.locator(ROWS).boundingBox();
  const drag = async (px) => {
    const y = box.y + 40;
    await page.mouse.move(box.x + 20, y);
    await page.mouse.down();
    await page.mouse.move(box.x + 20 + px / 2, y);
    await page.mouse.move(box.x + 20 + px, y);
    await page.mouse.up();
    return (50_000 * px) / (box.width - 138);
  };
  await drag(200);
  await page.waitForTimeout(200);
  assert.notDeepEqual(await browser.colours(ROWS), before, "the picture moves");
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.waitForTimeout(200);
  assert.deepEqual(await browser.colours(ROWS), before, "and comes back");

  browser.step("it is kept, told, and taken back");
  const by = await drag(300);
  await browser.accessible("the timeline while a clock is moved");
  await browser.picture("clock");
  await page.getByRole("button", { name: "Keep" }).click();
  await browser.until("it is told", () => document.querySelector(".timeline-clock")?.textContent.includes("Clocks moved by hand"));
  await browser.settled();
  // Of a run of 50 µs, of which one rank begins later now.
  assert(Math.abs(parseFloat(await life()) - (50 + by / 1000)) < 0.2, `${await life()} after ${by} ns`);
  await page.getByRole("button", { name: "Undo" }).click();
  await browser.until("nothing is moved", () => document.querySelector(".timeline-clock") === null && document.querySelector("[data-settled='true']") !== null);
  assert.equal(await life(), "50.00 µs");
}
