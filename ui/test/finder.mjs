/** The finder finds views, commands, regions, ranks, hosts and findings, and tells their keys. */
import assert from "node:assert/strict";

import { asked } from "./read.mjs";

export async function finder(browser, address) {
  const { page } = browser;
  await page.goto(address);
  await browser.until("the report is there", () => document.querySelector(".findings-card, .overview .muted") !== null);

  browser.step("↓ lists all that can be done, with keys, and every one of these keys is one of the page");
  await page.keyboard.press("/");
  await page.keyboard.press("ArrowDown");
  const all = await found(page);
  const views = ["Overview", "Timeline", "Profile", "Histogram", "Communication", "Waits & path", "Utilisation", "Compare", "Source", "Files & types", "Call graph", "Type hierarchy", "Levels", "Data", "Help"];
  const keyOf = (name, place) => (name === "Help" ? "?" : place < 9 ? String(place + 1) : "");
  views.forEach((name, place) => assert.deepEqual(all[place], { name, kind: "view", key: keyOf(name, place), isHere: place === 0 }));
  const keys = Object.fromEntries(all.filter((it) => it.key !== "").map((it) => [it.key, it.name]));
  for (const key of ["e", "s", "a", "d", "↑", "↓", "0", "f", "[", "]", "n", "N", "t", "z", "b", "w", "m", "g", "c", "h", "o", "p", "Esc", "F1", "Backspace", "Shift+Backspace"]) assert(keys[key] !== undefined, `${key} in ${Object.keys(keys)}`);
  for (const name of ["Save as SVG", "Light or dark", "Open beside: Profile", "Fold the threads of all processes, or show them"]) assert(all.some((it) => it.name === name), name);
  await browser.picture("finder-all");
  await browser.accessible("the finder with all that can be done");
  // What has the focus in the list is told to who cannot see it, and stays in sight.
  for (let step = 0; step < 3; step += 1) await page.keyboard.press("PageDown");
  const active = await page.evaluate(() => {
    const option = document.getElementById(document.activeElement.getAttribute("aria-activedescendant"));
    const [box, list] = [option.getBoundingClientRect(), option.parentElement.getBoundingClientRect()];
    return { isSelected: option.ariaSelected, isSeen: list.top <= box.top && box.bottom <= list.bottom, place: option.id };
  });
  assert.deepEqual(active, { isSelected: "true", isSeen: true, place: "finder-30" });
  await page.keyboard.press("Escape");

  browser.step("each of these is found by its name");
  const { head } = await asked(page, { ask: "run" });
  const report = (await asked(page, { ask: "report" })).head;
  const host = head.hosts[0];
  // What is found in a run differs from one to the next, and may be nothing.
  const { findings } = report;
  const ofFindings = findings.length === 0 ? [] : [["finding 1", findings[0].text, "finding 1"], [findings.at(-1).text.slice(0, 30), null, null]];
  for (const [words, name, kind] of [
    ["profile", "Profile", "view"],
    ["mpi_send", "MPI_Send", "mpi"],
    ["rank 3", "rank 3", "rank"],
    [host, host, "host"],
    ["zoom in", "Zoom in", "command"],
    ...ofFindings,
  ]) {
    await search(page, words);
    const [first] = await found(page);
    if (name !== null) assert.deepEqual([first.name, first.kind], [name, kind], words);
    else assert.match(first.kind, /^finding \d+$/);
    await page.keyboard.press("Escape");
  }
  await search(page, "mpi_s");
  await browser.picture("finder");
  await page.keyboard.press("Escape");

  browser.step("and leads there");
  await search(page, host);
  await page.keyboard.press("Enter");
  await browser.until("its locations are chosen", () => location.hash.includes("locations=0%2C1%2C2%2C3"));
  await page.keyboard.press("Escape");
  // One that has a place in time leads there.
  const placed = findings.findIndex((it) => it.from_ns < it.to_ns && it.to_ns - it.from_ns < head.duration_ns / 2);
  if (placed >= 0) {
    await search(page, `finding ${placed + 1}`);
    await page.keyboard.press("Enter");
    await browser.until("its place in the timeline", () => location.hash.includes("view=timeline") && location.hash.includes("span="));
    await page.keyboard.press("Escape");
  } else await browser.open("Timeline");
  await page.keyboard.press("0");
  await browser.settled();
  await search(page, "zoom in");
  await page.keyboard.press("Enter");
  await browser.until("a shorter span", () => location.hash.includes("span="));
  await page.keyboard.press("-");
  await browser.until("all of it again", () => !location.hash.includes("span="));
}

async function search(page, words) {
  await page.keyboard.press("/");
  await page.keyboard.type(words);
  await page.locator("#finder-list li").first().waitFor();
}

function found(page) {
  return page.locator("#finder-list li").evaluateAll((all) =>
    all.map((it) => ({
      name: it.children[0].textContent,
      kind: it.children[1].firstChild.textContent,
      key: it.querySelector("kbd")?.textContent ?? "",
      isHere: it.ariaSelected === "true",
    })),
  );
}
