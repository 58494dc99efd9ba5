/** A run whose names are made to do harm: they are shown as the texts that they are. */
import assert from "node:assert/strict";

import { asked } from "./read.mjs";
import { words } from "./words.mjs";

export async function hostile(browser, address) {
  const { page } = browser;
  browser.step("texts and numbers are written so that they can be read");
  await words();
  await page.goto(address);
  for (const view of ["Overview", "Timeline", "Profile", "Waits & path", "Communication", "Compare"]) {
    browser.step(view);
    await browser.open(view);
    await page.waitForTimeout(400);
    assert.equal(await page.evaluate(() => window.harmed), undefined, "a name was run");
    assert.equal(await page.locator("img, iframe, object").count(), 0, "a name became an element");
  }
  await browser.open("Profile");
  await browser.until("the name is there", () => document.body.textContent.includes("<img src=x onerror="));
  browser.step("what cannot be seen has a form that can, and turns nothing around");
  for (const name of ["gnp⟨U+202E⟩exe", "tab␉bell␇"]) {
    await browser.until(`${name} is there`, (name) => document.body.textContent.includes(name), name);
  }
  const seen = await page.evaluate(() => document.body.innerHTML);
  assert.doesNotMatch(seen, /[\u0000-\u0008\u202a-\u202e]/);
  if (address.startsWith("http")) assert((await asked(page, { ask: "run" })).head.regions.some((it) => it.name.includes("\u202e")), "the run has it as it was");
  if (address.startsWith("http")) await formulas(browser, address);
  browser.step("found and chosen");
  await page.keyboard.press("/");
  await page.keyboard.type("onerror");
  await browser.until("it is found", () => document.querySelector(".finder li")?.textContent.includes("<img src=x"));
  await page.keyboard.press("Enter");
  await browser.until("it is chosen", () => document.querySelector(".chip")?.textContent.includes("<img src=x"));
  browser.step("an address that nobody wrote");
  for (const hash of ["#1&view=%00&span=9-1&locations=99,-1&region=%&visit=a@b&hide={", "#7", "#1&span=0-99999999999999999999", "#1&view=compare&align=0&new=<img src=x>&differences=%&visit-beside=9@9&span=-9--99"]) {
    await page.evaluate((hash) => (location.hash = hash), hash);
    await page.waitForTimeout(200);
  }
  await browser.open("Timeline");
  await browser.settled();
  assert.equal(await page.evaluate(() => window.harmed), undefined);
}

/** A name that begins as a formula does is a text in files: one of the run is given such a name on its way. */
async function formulas(browser, address) {
  const { page } = browser;
  browser.step("a name in a file is no formula, and a number stays one");
  const [old, next] = ["javascript:harmed=3", "=avascript:harmed=3"];
  await page.route("**/api/answer", async (route) => {
    const response = await route.fetch();
    const body = Buffer.from((await response.body()).toString("latin1").replaceAll(old, next), "latin1");
    await route.fulfill({ response, body });
  });
  await page.goto("about:blank");
  await page.goto(`${address.split("?")[0]}#1&view=profile`);
  await browser.until("it is there", (name) => document.querySelector("[aria-label='profile by region']")?.textContent.includes(name), next);
  const { content } = await browser.downloaded(() => page.getByRole("button", { name: "Save", exact: true }).first().click());
  const line = content.toString().split("\n").find((it) => it.includes("avascript"));
  assert.match(line, new RegExp(`^"'${next}","[^"]*",\\d+,`));
  await page.unroute("**/api/answer");
  await page.goto("about:blank");
  await page.goto(address.split("?")[0]);
  await browser.open("Profile");
}
