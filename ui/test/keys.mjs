/** Pieces of bars, cells of strips and boxes of the flame graph are reached, told and pressed by keys; each group is one stop of the Tab key. */
import assert from "node:assert/strict";

export async function keys(browser, address) {
  const { page } = browser;
  await page.goto(address);
  await browser.until("the report is there", () => document.querySelectorAll(".overview-bar").length >= 10);

  browser.step("time per rank: a grid whose pieces are told and press like their names");
  await browser.until("ranks", () => document.querySelectorAll("[role=grid] .overview-bar").length === 4);
  await oneStop(browser, "Time per rank, a piece for each level");
  await page.getByRole("button", { name: "rank 1", exact: true }).focus();
  await page.keyboard.press("ArrowRight");
  await told(browser, /^mpi: .* of rank 1; press/);
  await page.keyboard.press("ArrowDown");
  await told(browser, /^mpi: .* of rank 2; press/);
  await page.keyboard.press("End");
  await told(browser, /^From the first to the last measured instant of all threads of rank 2$/);
  await page.keyboard.press("Control+Home");
  await told(browser, /^Show this rank only$/);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await browser.until("rank 0 is chosen", () => /locations=0(&|$)/.test(location.hash));
  await browser.picture("keys-overview");
  await page.keyboard.press("Escape");

  browser.step("bar lines: Home, End and arrows go from piece to piece, Enter chooses a region");
  await browser.open("Profile");
  await page.getByRole("button", { name: "By location" }).click();
  await browser.until("a line for each", () => document.querySelectorAll(".racy:not(.racy-all) .racy-line").length === 4);
  await oneStop(browser, "Bar lines of locations, a piece for each region");
  await page.locator("[role=grid] [tabindex='0']").focus();
  const line = (number) => page.locator(".racy:not(.racy-all) .racy-line").nth(number);
  await line(0).getByRole("button").focus();
  await page.keyboard.press("ArrowRight");
  const [first] = (await line(0).locator(".racy-part").first().getAttribute("title")).split(":");
  await told(browser, new RegExp(`^${first}: .* of rank 0; press to choose it`));
  await page.keyboard.press("ArrowDown");
  await told(browser, new RegExp(`^${first}: .* of rank 1; press to choose it`));
  await browser.picture("keys-bars");
  await page.keyboard.press("Enter");
  await browser.until("its region is chosen", (name) => document.querySelector(".chip")?.textContent.includes(name), first);
  await browser.until("its piece says so", () => document.activeElement.ariaSelected === "true");
  await page.keyboard.press("Home");
  await told(browser, /^Its own profile/);
  await page.keyboard.press("Enter");
  await browser.until("rank 1 is chosen", () => /locations=1(&|$)/.test(location.hash));
  await browser.accessible("bar lines with something chosen");
  await page.keyboard.press("ArrowUp");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "rank 0", "arrows go on from what was chosen");
  await oneStop(browser, "Bar lines of locations, a piece for each region");
  await page.keyboard.press("Escape");

  browser.step("a strip: a list of cells, one of which is chosen");
  await page.getByRole("button", { name: "By region" }).click();
  await browser.until("strips", () => document.querySelectorAll(".strip").length > 3);
  const stops = await page.locator(".strip").evaluateAll((all) => all.map((it) => it.querySelectorAll("[tabindex='0']").length));
  assert(stops.every((it) => it === 1), `${stops}`);
  const strip = page.locator(".strip").first();
  await strip.locator("[tabindex='0']").focus();
  await page.keyboard.press("Home");
  await told(browser, /^rank 0: .* of the most; press/);
  await page.keyboard.press("End");
  await told(browser, /^rank 3: /);
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press(" ");
  await browser.until("rank 2 is chosen", () => /locations=2(&|$)/.test(location.hash) && document.activeElement.ariaSelected === "true");
  assert.equal(await page.evaluate(() => location.hash.includes("region=")), false, "the row was not pressed");
  await browser.picture("keys-strip");
  await browser.accessible("strips with something chosen");
  await page.keyboard.press("Escape");

  browser.step("the flame graph: down goes inside, up comes out, aside to the neighbours, Enter looks at one alone");
  await page.getByRole("button", { name: "Flame graph" }).click();
  await browser.until("boxes", () => document.querySelectorAll(".flames-box").length > 4);
  await oneStop(browser, "Flame graph; the same numbers stand in the call tree");
  await page.locator(".flames-boxes [tabindex='0']").focus();
  await page.keyboard.press("Home");
  await told(browser, /^all: .*100\.0 %/);
  const level = () => page.evaluate(() => Number(document.activeElement.ariaLevel));
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.equal(await level(), 3);
  const inside = await page.evaluate(() => document.activeElement.title);
  await page.keyboard.press("ArrowUp");
  assert.equal(await level(), 2);
  const outside = await page.evaluate(() => document.activeElement.getBoundingClientRect().toJSON());
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.evaluate(() => document.activeElement.title), inside);
  const { left, right } = await page.evaluate(() => document.activeElement.getBoundingClientRect().toJSON());
  assert(outside.left - 1 <= left && right <= outside.right + 1, "it stands beneath the one that it is in");
  for (let depth = 3; depth < 7; depth += 1) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("End");
  const end = await page.evaluate(() => document.activeElement.getBoundingClientRect().left);
  await page.keyboard.press("ArrowLeft");
  assert((await page.evaluate(() => document.activeElement.getBoundingClientRect().left)) < end, "one to the left");
  assert.equal(await level(), 7);
  const name = (await page.evaluate(() => document.activeElement.title)).split(":")[0];
  await page.keyboard.press("Enter");
  await browser.until("it is alone, and has the focus", (name) => location.hash.includes("flames=") && document.activeElement.ariaSelected === "true" && document.activeElement.title.startsWith(name), name);
  await browser.picture("keys-flames");
  await browser.accessible("the flame graph of one box");
  await page.keyboard.press("Backspace");
  await browser.until("all boxes", () => !location.hash.includes("flames="));

  browser.step("keys of the page are not taken by what they do not move");
  await page.keyboard.press("2");
  await browser.until("the timeline", () => document.querySelector(".timeline") !== null);
}

/** How often the Tab key stops in a widget. */
async function oneStop(browser, label) {
  const number = await browser.page.evaluate((label) => {
    const box = document.querySelector(`[aria-label="${label}"]`);
    return [...box.querySelectorAll("*")].filter((it) => it.tabIndex >= 0).length;
  }, label);
  assert.equal(number, 1, `stops of the Tab key in ${label}`);
}

/** What has the focus is told in the lowest line, and its outline is seen. */
async function told(browser, words) {
  await browser.until(`${words}`, ([source]) => new RegExp(source).test(document.querySelector(".status-words")?.textContent ?? ""), [words.source]);
  assert.notEqual(await browser.page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), "none");
}
