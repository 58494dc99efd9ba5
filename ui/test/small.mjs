/** Windows that are small: all that can be pressed in the frame is seen, and the timeline has the room that there is. */
import assert from "node:assert/strict";

const VIEWS = ["overview", "timeline", "profile", "histogram", "communication", "waits", "utilisation", "compare", "source", "files", "calls", "types", "levels", "data", "next", "help"];
/** Width, height, and what the rows of a timeline have of them at least. */
const SIZES = [
  [640, 400, 620, 170],
  [1024, 700, 560, 360],
  [1440, 860, 900, 480],
  [2560, 1440, 2000, 1000],
];

export async function small(browser) {
  const { page } = browser;
  await page.keyboard.press("Escape");
  for (const [width, height, across, down] of SIZES) {
    browser.step(`all of the frame is seen at ${width} × ${height}`);
    await page.setViewportSize({ width, height });
    for (const view of VIEWS) {
      await page.evaluate((hash) => (location.hash = hash), `#1&view=${view}&region=MPI_Send&locations=0,1,2`);
      await browser.until("it is that view", (view) => document.querySelector(`.pane[data-topic='${view}']`) !== null, view);
      const lost = await page.evaluate(() => {
        const parts = document.querySelectorAll(".top button, .top input, .nav button, .timeline-bar button, .status > :first-child");
        const box = (it) => it.getBoundingClientRect();
        const isLost = (it) => box(it).left < 0 || box(it).right > innerWidth || box(it).top < 0 || box(it).bottom > innerHeight;
        return [...parts].filter((it) => it.getClientRects().length > 0 && isLost(it)).map((it) => it.outerHTML.slice(0, 90));
      });
      assert.deepEqual(lost, [], `${view} at ${width} × ${height}`);
      assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <= innerHeight), `${view}: the page itself never scrolls`);
      if (view !== "timeline") continue;
      await browser.settled();
      const rows = await page.locator(".timeline-rows").boundingBox();
      assert(rows.width >= across && rows.height >= down, `rows have ${rows.width} × ${rows.height}`);
      await browser.picture(`timeline-${width}`);
    }
  }

  browser.step("where there is no room beside the timeline, details are opened over it");
  await page.setViewportSize({ width: 640, height: 400 });
  await page.evaluate(() => (location.hash = "#1&view=timeline"));
  await browser.settled();
  assert(!(await page.locator(".side").isVisible()));
  await page.getByRole("button", { name: "Details" }).click();
  assert(await page.locator(".side").isVisible());
  await browser.accessible("the small timeline with its details");
  await browser.picture("timeline-640-details");
  await page.getByRole("button", { name: "Details" }).click();
  assert(!(await page.locator(".side").isVisible()));
  await page.getByRole("button", { name: "Show ▾" }).click();
  const sheet = await page.locator(".popover-sheet").boundingBox();
  assert(sheet.x >= 0 && sheet.x + sheet.width <= 640 && sheet.y + sheet.height <= 400, `${JSON.stringify(sheet)}`);
  await browser.picture("timeline-640-menu");
  await page.keyboard.press("Escape");
  await page.setViewportSize({ width: 1440, height: 860 });
}
