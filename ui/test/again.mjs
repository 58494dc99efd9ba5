/**
 * A run that its page records again, with the rules that were chosen: what is asked before, what is told meanwhile and in the
 * end, and both runs side by side. The program waits as long as there is a file `wait` where it runs, and fails where there is
 * one that is called `fail`.
 */
import assert from "node:assert/strict";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { unexplained } from "./explained.mjs";

export async function again(browser, address, place) {
  const { page } = browser;
  const at = (name) => join(place, name);
  const button = page.getByRole("button", { name: "Run again and compare" });
  const asked = page.getByRole("group", { name: "Run again and compare" });
  const says = (what, expression) => browser.until(what, (source) => new RegExp(source, "s").test(document.querySelector(".next-again")?.textContent ?? ""), expression);
  await page.goto(address);
  await browser.until("the run is open", () => document.querySelector(".overview-facts") !== null);
  await page.evaluate(() => (location.hash = "#1&view=next"));
  await page.getByRole("group", { name: "Keep of gone", exact: true }).getByRole("button", { name: "off", exact: true }).click();
  await browser.until("a rule", () => document.querySelector(".next-rules")?.textContent === "off    source:gone\n");

  browser.step("it is said what would be run, and nothing is");
  await button.focus();
  await page.keyboard.press("Enter");
  await says("what would be run", "run-2\\.marey");
  const text = await asked.textContent();
  assert(text.includes("./program") && text.includes(place), text);
  assert.match(text, /by the rules above\. The rule that this run was recorded by holds no more\./);
  assert.match(text, /recorded with: --budget=off\./);
  assert(await page.evaluate(() => document.activeElement?.className === "next-asked"), "who presses a key goes on there");
  assert.deepEqual(await unexplained(page), []);
  for (const theme of ["light", "dark"]) {
    await browser.accessible(`what is asked, ${theme}`);
    await browser.picture(`again-asked-${theme}`);
    await page.getByRole("button", { name: /^Theme/ }).click();
  }
  await asked.focus();
  await page.keyboard.press("Escape");
  await browser.until("nothing is asked any more", () => document.querySelector(".next-asked") === null);
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Run again and compare");
  assert(!existsSync(at("run-2.marey")) && !existsSync(at("run-2.rules")), "it has not been said");

  const start = async () => {
    await button.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Run it" }).focus();
    await page.keyboard.press("Enter");
  };
  browser.step("what fails tells how, and what it has said");
  writeFileSync(at("wait"), "");
  writeFileSync(at("fail"), "");
  await start();
  await says("it runs", "Records run-2\\.marey.*the sum is");
  await says("for how long", "[1-9] s");
  await browser.accessible("what runs");
  await browser.picture("again-runs");
  rmSync(at("wait"));
  await says("it has failed", "It ended with status 3, after [\\d.]+ s\\. run-2\\.marey was recorded\\.");
  const said = await page.getByLabel("What it says").textContent();
  assert(said.includes("<b>there is no input</b>"), said);
  assert(said.split("\n").length > 3 && said.includes("as it was then, with --budget=off"), said);
  assert.match(page.url(), /view=next/);
  assert(await page.getByRole("button", { name: "Compare", exact: true }).last().isVisible());
  for (const theme of ["light", "dark"]) {
    await browser.accessible(`what has failed, ${theme}`);
    await browser.picture(`again-failed-${theme}`);
    await page.getByRole("button", { name: /^Theme/ }).click();
  }

  browser.step("what lasts too long is cancelled");
  writeFileSync(at("wait"), "");
  await start();
  await says("it runs", "Records run-3\\.marey.*the sum is");
  await page.getByRole("button", { name: "Cancel" }).click();
  await says("it has ended", "It was cancelled, after");
  assert.match(page.url(), /view=next/);
  await browser.picture("again-cancelled");

  browser.step("who looks at something else meanwhile stays there");
  rmSync(at("fail"));
  await start();
  await says("it runs", "Records run-4\\.marey");
  await browser.open("Profile");
  rmSync(at("wait"));
  await page.waitForFunction(async () => (await (await fetch("api/again/state")).json()).is_running === false, null, { timeout: 60_000 });
  await page.waitForTimeout(1200);
  assert.match(page.url(), /view=profile/);
  await page.evaluate(() => (location.hash = location.hash.replace("view=profile", "view=next")));
  await says("what came of it", "It ended with status 0");
  browser.step("both runs are opened, and there it goes on");
  await page.getByRole("button", { name: "Compare", exact: true }).last().click();
  await both(browser, 4);
  // The newer one, as the page has found it.
  writeFileSync(at("made"), (await browser.text(".top-run")).match(/run-\d+\.marey/)[0]);
  await browser.picture("again-compared");
  await page.evaluate(() => (location.hash = location.hash.replace("view=compare", "view=next")));
  await browser.until("the rules", () => document.querySelector(".next-rules")?.textContent === "off    source:gone\n");
  await start();
  await both(browser, 5);
  assert.deepEqual(readdirSync(place).filter((name) => /^run-[45]\.marey$/.test(name)).length, 2);
}

async function both(browser, number) {
  await browser.until(`both are there, with ${number}`, (number) => /\/run\/0-\d+\/$/.test(location.pathname) && document.querySelector(".top-run")?.textContent.includes(`beside run-${number}.marey`), number);
  assert.match(browser.page.url(), /view=compare/);
  await browser.settled();
}
