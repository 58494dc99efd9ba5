/** The list of states: colours that somebody gives, and a window of its own. */
import assert from "node:assert/strict";

const ROWS = ".timeline-rows canvas";
const RED = "c01010";
const WORK = "6fa287";

export async function states(browser) {
  const { page } = browser;
  const drawn = async (colour, from = browser) => (await from.colours(ROWS))[colour] ?? 0;
  browser.step("a colour that is chosen is that of the region everywhere, and can be taken back");
  await page.evaluate(() => (location.hash = "#1&view=timeline&beside=profile&layers=&counters=[]"));
  await browser.until("the list", () => document.querySelector(".states") !== null);
  await browser.settled();
  const before = await drawn(WORK);
  assert(before > 100, `${before} pixels of work`);
  await page.getByLabel("Colour of work", { exact: true }).fill(`#${RED}`);
  await browser.settled();
  assert.equal(await drawn(RED), before, "where work was is its new colour");
  assert.equal(await drawn(WORK), 0);
  assert(((await browser.colours(".timeline-mountains canvas"))[RED] ?? 0) > 0, "in the mountains, too");
  assert(((await browser.colours(".timeline-minimap canvas"))[RED] ?? 0) > 0, "in the whole run, too");
  assert.match(decodeURIComponent(page.url()), new RegExp(`colours=\\[\\["work","#${RED}"\\]\\]`));
  await browser.picture("recoloured");
  await page.locator("h1").first().click();
  await page.keyboard.press("Backspace");
  await browser.settled();
  assert.equal(await drawn(WORK), before, "as it was");
  await page.getByLabel("Colour of work", { exact: true }).fill(`#${RED}`);
  await page.getByLabel("Own colour of work again").click();
  await browser.settled();
  assert.equal(await drawn(RED), 0);

  browser.step("letters on any colour can be read");
  const letters = async (colour) => {
    await page.getByLabel("Colour of MPI_Init", { exact: true }).fill(colour);
    await browser.settled();
    return (await drawn("ffffff")) - (await drawn("12231a"));
  };
  await page.evaluate(() => (location.hash = "#1&view=timeline&layers=&counters=[]"));
  await browser.settled();
  const [onPale, onBlack] = [await letters("#ffe9a0"), await letters("#000000")];
  assert(onBlack > onPale + 8, `${onBlack} and ${onPale}: white on black, dark on pale`);
  await page.getByRole("button", { name: "Own colours again" }).click();

  browser.step("the list in a window of its own acts in this one");
  await browser.settled();
  const alone = await drawn(WORK);
  const list = await browser.opened(() => page.getByRole("button", { name: "Tear off the states" }).click());
  await list.page.setViewportSize({ width: 380, height: 760 });
  await list.until("states", () => document.querySelectorAll(".states li").length > 3);
  assert.match(list.page.url(), /view=states&alone=1/);
  assert.equal(await list.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, "nothing is cut off");
  await list.page.getByLabel("Colour of work", { exact: true }).fill(`#${RED}`);
  await browser.until("it has that colour here", () => decodeURIComponent(location.hash).includes("colours="));
  await browser.settled();
  assert.equal(await drawn(RED), alone);
  await list.page.getByLabel("Show work").uncheck();
  await browser.until("it is hidden here", () => decodeURIComponent(location.hash).includes('hide=["work"]'));
  await browser.settled();
  assert.equal(await drawn(RED), 0);
  await list.page.getByLabel("Filter the states").fill("init");
  await list.until("one", () => document.querySelectorAll(".states li").length === 1);
  await list.accessible("the list of states");
  await list.picture("states-window");
  await list.page.close();

  browser.step("colours of an address that make no sense are left out");
  await page.evaluate((colours) => (location.hash = `#1&view=timeline&colours=${encodeURIComponent(colours)}`), '[["work","red"],["nobody","#ffffff"],["MPI_Init","#10a010"],7,["x"]]');
  await browser.until("one is left", () => decodeURIComponent(location.hash).includes('colours=[["MPI_Init","#10a010"]]'));
  await page.evaluate(() => (location.hash = "#1&view=timeline&colours={"));
  await browser.until("none is left", () => !location.hash.includes("colours"));
}
