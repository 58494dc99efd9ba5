/** A run on three nodes beside itself: rows of both stand in groups, which close and open together. */
import assert from "node:assert/strict";

const [A, B] = [1, 2].map((place) => `.compare-run:nth-child(${place}) canvas`);
/** How high the ruler and the name of a host are, CSS pixels. */
const [RULER, NAME] = [22, 20];

export async function hosts(browser, address) {
  const { page } = browser;
  await page.goto(address);
  await browser.settled();
  const said = async () => [await page.locator(A).getAttribute("aria-label"), await page.locator(B).getAttribute("aria-label")];
  const areAll = async (words) => (await said()).forEach((label) => assert.match(label, words));
  browser.step("rows of both runs stand beneath the names of their hosts");
  await areAll(/8 locations on 3 hosts from/);
  const right = await page.getByRole("button", { name: "Theme: light" }).boundingBox();
  assert(right.x + right.width <= 1440, "long names of runs push nothing out of the window");
  await browser.picture("compare-hosts");
  await browser.accessible("two runs on three nodes");

  browser.step("a region blinks in both, and what was drawn of it is kept");
  await page.evaluate(() => (location.hash = `${location.hash}&region=work`));
  await browser.settled();
  await page.keyboard.press("b");
  const green = "6fa287";
  const blinks = async (turns) => {
    const seen = new Set();
    for (let look = 0; look < turns; look += 1) {
      seen.add(((await browser.colours(B))[green] ?? 0) > 300);
      await page.waitForTimeout(100);
    }
    return seen.size === 2;
  };
  assert(await blinks(15), "it comes and goes");
  const drawn = () => Promise.all([A, B].map((canvas) => page.locator(canvas).evaluate((it) => it.dataset.tiles)));
  const before = await drawn();
  assert(await blinks(15), "and goes on");
  assert.deepEqual(await drawn(), before, "tiles that were drawn meanwhile");
  await page.keyboard.press("b");
  await page.keyboard.press("Escape");
  await browser.until("nothing is chosen", () => !location.hash.includes("region="));
  await browser.settled();

  browser.step("a host that is closed is closed in both, and its strip is drawn");
  const box = await page.locator(B).boundingBox();
  await page.mouse.move(box.x + 40, box.y + RULER + NAME / 2);
  await browser.until("what a press does is told", () => /^Press to close the rows of node-0 in both/.test(document.querySelector(".status-words")?.textContent ?? ""));
  await page.mouse.click(box.x + 40, box.y + RULER + NAME / 2);
  await browser.settled();
  await areAll(/4 locations on 3 hosts, of which 1 is closed: node-0/);
  assert.match(decodeURIComponent(page.url()), /closed=\["node-0"\]/);
  const work = "6fa287";
  for (const canvas of [A, B]) assert(((await browser.colours(canvas))[work] ?? 0) > 300, `strip and rows of ${canvas}`);
  await browser.picture("compare-hosts-closed");
  await page.reload();
  await browser.settled();
  await areAll(/of which 1 is closed: node-0/);
  await page.keyboard.press("h");
  await browser.settled();
  await areAll(/0 locations on 3 hosts, of which 3 are closed/);
  await page.keyboard.press("Backspace");

  browser.step("the menu puts all rows together");
  await page.getByRole("button", { name: "Rows ▾" }).click();
  await page.getByLabel("Group by host").uncheck();
  await page.keyboard.press("Escape");
  await browser.settled();
  await areAll(/Timeline of 8 locations from/);
  assert.match(page.url(), /rows=together/);
}
