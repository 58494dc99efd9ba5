/** Everything that can be pressed or read is explained: in the lowest line, and in the help. */
import assert from "node:assert/strict";

const VIEWS = ["Overview", "Timeline", "Profile", "Histogram", "Communication", "Waits & path", "Utilisation", "Source", "Levels", "Data", "Help"];

/** What has no words of its own, of what is seen. */
export async function unexplained(page) {
  return page.evaluate(() => {
    const wanted = "button, select, input, summary, a[href], [role=columnheader], canvas, svg[role=img], h2";
    const isSeen = (it) => it.getClientRects().length > 0 && getComputedStyle(it).visibility !== "hidden";
    const words = (it) => {
      const titled = it.closest("[title]:not([title=''])");
      // A cell is titled with its own text, which may be short.
      if (titled !== null && titled.getAttribute("role") !== "cell") return titled.title;
      const drawn = it.closest("[role=img][aria-label]");
      if (drawn !== null) return drawn.getAttribute("aria-label");
      // A heading is a text, and rows are explained by the heads of their columns.
      return it.matches("h2") ? it.textContent : it.closest("[role=row], [role=gridcell]") === null ? "" : "a row";
    };
    return [...document.querySelectorAll(wanted)].filter((it) => isSeen(it) && words(it).length < 4).map((it) => it.outerHTML.slice(0, 160));
  });
}

export async function explained(browser, address) {
  const { page } = browser;
  await page.goto(address);
  await browser.until("the report is there", () => document.querySelectorAll(".overview-bar").length >= 10);
  const missing = {};
  for (const name of VIEWS) {
    browser.step(`everything in ${name} is explained`);
    await browser.open(name);
    await page.waitForTimeout(200);
    const found = await unexplained(page);
    if (found.length > 0) missing[name] = found;
    const topics = await page.evaluate(() => [...document.querySelectorAll("[data-topic]")].map((it) => it.dataset.topic));
    assert(topics.length > 2, `${topics}`);
    await browser.open("Help");
    for (const topic of topics) assert.equal(await page.locator(`#help-${topic}`).count(), 1, `help about ${topic}`);
  }
  assert.deepEqual(missing, {});

  browser.step("what has the pointer or the focus is told in the lowest line, and F1 leads to more of it");
  await browser.open("Profile");
  await page.locator(".pane [role=columnheader]", { hasText: "Exclusive" }).first().hover();
  await browser.until("its words", () => document.querySelector(".status-words")?.textContent.includes("not in what is beneath"));
  await page.getByRole("navigation").getByRole("button", { name: "Waits & path" }).focus();
  await browser.until("those of the focus", () => document.querySelector(".status-words")?.textContent.includes("What was waited for"));
  await page.locator(".pane [role=columnheader]", { hasText: "Exclusive" }).first().hover();
  await page.keyboard.press("F1");
  await browser.until("the help about profiles", () => document.activeElement?.id === "help-profile");
  await browser.accessible("the help");
  await browser.picture("help");
}
