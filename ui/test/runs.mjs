/** The list of runs: one of them is opened, then two side by side, and the list is come back to. */
import assert from "node:assert/strict";

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
}
