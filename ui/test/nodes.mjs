/** A run on three nodes: rows stand in groups, which close and open. */
import assert from "node:assert/strict";

const ROWS = ".timeline-rows canvas";
/** How high the ruler and the name of a host are, CSS pixels. */
const [RULER, NAME] = [22, 20];

export async function nodes(browser, address) {
  const { page } = browser;
  await page.goto(address);
  browser.step("rows stand beneath the names of their nodes");
  await browser.open("Timeline");
  await browser.settled();
  const said = () => page.locator(ROWS).getAttribute("aria-label");
  assert.match(await said(), /8 locations on 3 hosts/);
  await browser.picture("nodes");
  await browser.accessible("the timeline of three nodes");

  browser.step("a name that is pressed closes its rows; the strip that stands for them opens them");
  const box = await page.locator(ROWS).boundingBox();
  const work = "6fa287";
  const openHeight = await green();
  await page.mouse.click(box.x + 40, box.y + RULER + NAME / 2);
  await browser.settled();
  assert.match(await said(), /4 locations on 3 hosts, of which 1 is closed: node-0/);
  assert.match(decodeURIComponent(page.url()), /closed=\["node-0"\]/);
  const strip = await at(128 + 300, RULER + 8);
  assert([work, "8fb8a0", "e3ede6"].includes(strip), `the strip says what its locations did, not ${strip}`);
  await browser.picture("nodes-closed");
  await page.mouse.click(box.x + 400, box.y + RULER + 10);
  await browser.settled();
  assert.match(await said(), /8 locations on 3 hosts from/);
  assert.equal(await green(), openHeight, "as it was");

  browser.step("keys close and open all, and it can be taken back");
  await page.keyboard.press("h");
  await browser.settled();
  assert.match(await said(), /0 locations on 3 hosts, of which 3 are closed/);
  assert(((await browser.colours(ROWS))[work] ?? 0) > 500, "strips are mountains");
  await browser.picture("nodes-all-closed");
  await page.keyboard.press("Backspace");
  await browser.settled();
  assert.match(await said(), /8 locations/);

  browser.step("threads of one rank are folded where its name is pressed");
  await page.mouse.click(box.x + 40, box.y + RULER + NAME + 4 + 12);
  await browser.settled();
  assert.match(await said(), /6 locations/);
  assert.match(page.url(), /turned=0/);
  await browser.picture("nodes-folded");
  await page.keyboard.press("Backspace");

  browser.step("the menu does the same, and puts all rows together");
  await page.getByRole("button", { name: "Rows ▾" }).click();
  await page.getByLabel("node-1").uncheck();
  await browser.settled();
  assert.match(await said(), /6 locations on 3 hosts, of which 1 is closed: node-1/);
  await browser.accessible("the menu of rows");
  await browser.picture("nodes-menu");
  await page.getByLabel("Group by host").uncheck();
  await page.keyboard.press("Escape");
  await browser.settled();
  assert.match(await said(), /of 8 locations from/);
  assert.match(page.url(), /rows=together/);

  browser.step("an address opens what it says, of hosts that there are");
  await page.evaluate(() => (location.hash = `#1&view=timeline&closed=${encodeURIComponent('["node-2","node-9"]')}&turned=0,77`));
  await browser.settled();
  assert.match(await said(), /4 locations on 3 hosts, of which 1 is closed: node-2/);
  await browser.until("what there is not is forgotten", () => decodeURIComponent(location.hash).includes('closed=["node-2"]') && /turned=0(&|$)/.test(location.hash));

  browser.step("a small window, and the other theme");
  await page.setViewportSize({ width: 1024, height: 700 });
  await page.getByRole("button", { name: "Theme: light" }).click();
  await browser.settled();
  await browser.accessible("the small dark timeline of three nodes");
  await browser.picture("nodes-dark");

  /** How many pixels have the colour of work. */
  async function green() {
    return (await browser.colours(ROWS))[work] ?? 0;
  }

  /** The colour of a pixel, its place in CSS pixels. */
  async function at(x, y) {
    return page.evaluate(
      ([selector, x, y]) => {
        const canvas = document.querySelector(selector);
        const ratio = canvas.width / canvas.getBoundingClientRect().width;
        const pixel = canvas.getContext("2d").getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1).data;
        return [0, 1, 2].map((place) => pixel[place].toString(16).padStart(2, "0")).join("");
      },
      [ROWS, x, y],
    );
  }
}
