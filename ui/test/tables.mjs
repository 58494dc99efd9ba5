/** Every table is sorted by each of its columns, filtered by a word, copied, and saved as CSV whose first line has the units. */
import assert from "node:assert/strict";

/** Tables by what leads to them. */
const TABLES = [
  ["view=profile", ["profile by region"]],
  ["view=profile&profile=span&span=1000000-900000000", ["profile by region of the span"]],
  ["view=profile&profile=racy&locations=1", ["profile of one location"]],
  ["view=profile&profile=path", ["profile by call path"]],
  ["view=profile&profile=tree", ["call tree"]],
  ["view=profile&profile=callers", ["bottom-up"]],
  ["view=histogram&region=MPI_Send&picked=duration:1-900000000", ["bins", "picked visits"]],
  [`view=histogram&region=MPI_Send&picked=duration:normal:5&together=${encodeURIComponent('["MPI_Wait"]')}`, ["bins", "picked visits", "regions in the histogram"]],
  ["view=communication", ["messages", "operations of all", "pairs of processes"]],
  ["view=waits", ["What was waited for", "In which call", "Who waited", "waiting", "delays", "critical path"]],
  ["view=utilisation", ["utilisation"]],
  // Tables of messages, the critical path, annotations and mountains are looked at in `twins.mjs`, those of tracks in `tracks.mjs`.
  ["view=timeline&table=states", ["states in the span"]],
  ["view=timeline&table=operations", ["operations in the span"]],
];

export async function tables(browser, address) {
  const { page } = browser;
  await page.goto(address);
  await browser.until("the report is there", () => document.querySelector(".findings-card, .overview .muted") !== null);
  for (const [hash, labels] of TABLES) {
    await page.evaluate((hash) => (location.hash = `#1&${hash}`), hash);
    for (const label of labels) await table(browser, label);
  }
  await sortedOnce(browser);
  await byItself(browser);
  browser.step("what is copied is what is saved");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.evaluate(() => (location.hash = "#1&view=profile"));
  await rowsOf(browser, "profile by region");
  const box = boxOf(page, "profile by region");
  await box.getByRole("button", { name: "Copy CSV" }).click();
  await browser.until("it says so", () => document.querySelector(".table-copy [role=status]")?.textContent === "copied");
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), (await saved(browser, "profile by region")).text);
}

/** Looks at each column of a table, and at its filter. */
export async function table(browser, label) {
  browser.step(`${label}: each column sorts, words filter, CSV has units`);
  const { page } = browser;
  await rowsOf(browser, label);
  const heads = boxOf(page, label).locator("[role=columnheader]");
  const isTree = (await page.locator(`[role=treegrid][aria-label="${label}"]`).count()) > 0;
  const names = (await heads.allTextContents()).map((it) => it.replace(/ [▴▾]$/, ""));
  for (const [place, name] of names.entries()) {
    const before = await heads.nth(place).getAttribute("aria-sort");
    await heads.nth(place).getByRole("button").click();
    await browser.until(`${label} is sorted by ${name}`, ([label, place, before]) => {
      const now = document.querySelector(`[aria-label="${label}"]`).querySelectorAll("[role=columnheader]")[place].ariaSort;
      return now !== before && now !== "none";
    }, [label, place, before]);
    const isUp = (await heads.nth(place).getAttribute("aria-sort")) === "ascending";
    const { head, rows } = await saved(browser, label);
    const shown = await cellsOf(page, label);
    const column = isTree ? { 0: 1, 1: 4, 2: 5, 3: 6, 4: 7 }[place] : head.findIndex((it) => it === name || it.startsWith(`${name} `) || (name === "Over locations" && it.startsWith("Most less least")));
    assert(column >= 0, `${name} is in ${head}`);
    // What is told of both runs in one column has two in the file, and is sorted by what they differ in.
    const isOfTwo = head[column].startsWith(`${name} A`);
    const sorted = isOfTwo ? rows.map((row) => row.with(column, row[column + 1] - row[column])) : rows;
    await isSorted(page, sorted, column, isUp, `${label} by ${name}`, isTree);
    hasUnit(head[column], rows.map((row) => row[column]), shown.map((row) => row[place]), `${label}, ${name}`);
  }
  // By a word that some rows have.
  const word = (await cellsOf(page, label))[0][0].trim().split(/\s+/)[0];
  await page.getByLabel(`Filter ${label}`, { exact: true }).fill(word);
  const { rows } = await saved(browser, label);
  const has = (row) => row.join(" ").toLowerCase().includes(word.toLowerCase());
  assert(rows.length > 0 && (isTree ? rows.some(has) : (await cellsOf(page, label)).every(has)), `${word} in ${rows[0]}`);
  await page.getByLabel(`Filter ${label}`, { exact: true }).fill("no row has this");
  await browser.until("no rows", (label) => document.querySelectorAll(`[aria-label="${label}"] .table-row`).length === 0, label);
  await page.getByLabel(`Filter ${label}`, { exact: true }).fill("");
  await rowsOf(browser, label);
}

/** Rows know what they are sorted by before they are compared, and stay as they were put when the table is scrolled. */
async function sortedOnce(browser) {
  browser.step("rows are put in order once, and asked once for what they are sorted by");
  const { page } = browser;
  await page.evaluate((sorted) => (location.hash = `#1&view=profile&sorted=${encodeURIComponent(sorted)}`), JSON.stringify([["profile by region", "+Over locations"]]));
  await browser.until("spreads", () => document.querySelector("[aria-label='profile by region'] .table-row .strip") !== null);
  const number = Number(await page.locator("[aria-label='profile by region']").getAttribute("aria-rowcount")) - 1;
  await page.evaluate((number) => {
    const { sort, reduce } = Array.prototype;
    window.counts = { sorts: 0, folds: 0 };
    let isSorting = false;
    Array.prototype.reduce = function (...words) {
      if (isSorting) window.counts.folds += 1;
      return reduce.apply(this, words);
    };
    Array.prototype.sort = function (compare) {
      if (this.length !== number) return sort.call(this, compare);
      window.counts.sorts += 1;
      isSorting = true;
      try {
        return sort.call(this, compare);
      } finally {
        isSorting = false;
      }
    };
    window.uncounted = () => Object.assign(Array.prototype, { sort, reduce });
  }, number);
  const head = boxOf(page, "profile by region").locator("[role=columnheader]").filter({ hasText: "Over locations" });
  await head.getByRole("button").click();
  await browser.until("the other way", () => document.querySelector("[aria-label='profile by region'] [aria-sort=descending]")?.textContent.startsWith("Over locations"));
  const { sorts, folds } = await page.evaluate(() => window.counts);
  assert(sorts > 0 && folds === 0, `${folds} folds in ${sorts} sorts`);
  const seen = await page.evaluate(async () => {
    const body = document.querySelector("[aria-label='Rows of profile by region']");
    // So few rows need not be scrolled otherwise.
    body.style.maxHeight = "60px";
    const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    await frame();
    window.counts.sorts = 0;
    for (const top of [30, 60, 0]) {
      body.scrollTop = top;
      await frame();
    }
    body.style.maxHeight = "";
    window.uncounted();
    return window.counts.sorts;
  });
  assert.equal(seen, 0, "sorts while it was scrolled");
}

/** A word that is written into the filter of one table is nothing to the others. */
async function byItself(browser) {
  browser.step("a filter draws its own table anew, and no other");
  const { page } = browser;
  await page.evaluate(() => (location.hash = "#1&view=waits"));
  for (const label of ["waiting", "Who waited"]) await rowsOf(browser, label);
  // Each drawing of a table gives its heads new listeners.
  await page.evaluate(() => {
    const listener = (label) => Object.values(document.querySelector(`[aria-label="${label}"] [role=columnheader] button`)).find((it) => typeof it?.onClick === "function").onClick;
    const before = ["waiting", "Who waited"].map((label) => [label, listener(label)]);
    window.drawnAnew = () => before.filter(([label, it]) => it !== listener(label)).map(([label]) => label);
  });
  await page.getByLabel("Filter waiting", { exact: true }).fill("e");
  await browser.until("its table", () => window.drawnAnew().includes("waiting"));
  assert.deepEqual(await page.evaluate(() => window.drawnAnew()), ["waiting"]);
  await page.getByLabel("Filter waiting", { exact: true }).fill("");
}

function boxOf(page, label) {
  return page.locator(".table").filter({ has: page.locator(`[aria-label="${label}"]`) });
}

async function rowsOf(browser, label) {
  await browser.until(`rows of ${label}`, (label) => document.querySelectorAll(`[aria-label="${label}"] .table-row`).length > 0, label);
}

/** Texts of rows that are seen. */
function cellsOf(page, label) {
  return page.locator(`[aria-label="${label}"] .table-row`).evaluateAll((all) =>
    all.map((row) => [...row.querySelectorAll(":scope > [role=cell], :scope > [role=gridcell]")].map((cell) => (cell.querySelector("code") ?? cell).textContent.replace(/[\u2009\u202f\u00a0]/g, " "))),
  );
}

/** The file that a table is saved as: its text, its first line and the others, numbers as numbers. */
async function saved(browser, label) {
  const { name, content } = await browser.downloaded(() => boxOf(browser.page, label).getByRole("button", { name: "Save" }).click());
  assert.equal(name, `${label.replaceAll(" ", "-")}.csv`);
  const text = content.toString();
  const lines = text.split("\n").map((line) => [...line.matchAll(/"((?:[^"]|"")*)"|([^,]+)|(?<=,|^)(?=,|$)/g)].map(([, quoted, number]) => quoted?.replaceAll('""', '"') ?? (number === undefined ? NaN : Number(number))));
  const [head, ...rows] = lines;
  for (const row of rows) assert.equal(row.length, head.length, `${row} beneath ${head}`);
  return { text, head, rows };
}

/** Rows of a table, or rows beneath the same of a tree, go one way. */
async function isSorted(page, rows, column, isUp, what, isTree) {
  const value = (it) => (typeof it === "string" ? it : Number.isNaN(it) ? -Infinity : it);
  const goes = (a, b) => (isUp ? a <= b : a >= b);
  const isInOrder = (values) => values.every((it, at) => at === 0 || goes(values[at - 1], it));
  if (isTree) {
    for (const beneath of siblings(rows)) {
      // Some rows of a tree have no number of visits.
      const values = beneath.map((row) => row[column]).filter((it) => !Number.isNaN(it));
      assert(typeof values[0] === "string" ? await areTextsInOrder(page, values, isUp) : isInOrder(values), `${what}: ${values}`);
    }
    return;
  }
  const values = rows.map((row) => value(row[column]));
  if (typeof values[0] === "string") {
    assert(await areTextsInOrder(page, values, isUp), `${what}: ${values.slice(0, 8)}`);
    return;
  }
  // Differences are ordered by their sizes.
  // Of iterations the first comes first.
  const isOrdered = what.endsWith("by Iteration") ? isInOrder(values.map((it) => -it)) : isInOrder(values) || isInOrder(values.map(Math.abs));
  assert(isOrdered, `${what}: ${values.slice(0, 8)}`);
}

/** Rows of a tree that lie beneath the same one, the outermost first. */
function siblings(rows) {
  const found = [[]];
  const open = [found[0]];
  for (const row of rows) {
    open.length = row[0] + 1;
    if (open[row[0]] === undefined) found.push((open[row[0]] = []));
    open[row[0]].push(row);
  }
  return found;
}

/** Texts are ordered as the browser's language does; who and where may be ordered by number. */
function areTextsInOrder(page, values, isUp) {
  return page.evaluate(
    ([values, sign]) => [false, true].some((numeric) => {
      const { compare } = new Intl.Collator(undefined, { numeric });
      return values.every((it, at) => at === 0 || sign * compare(values[at - 1], it) <= 0);
    }),
    [values, isUp ? 1 : -1],
  );
}

const SIZES = { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, "%": 1 };

/** What is shown with a unit is in the file with one, and is as much. */
function hasUnit(head, values, texts, what) {
  texts.slice(0, 12).forEach((text, at) => {
    const [, number, unit] = /^[+]?([−\d][\d .]*?) (ns|µs|ms|s|B|KiB|MiB|GiB|%)$/.exec(text?.trim() ?? "") ?? [];
    if (unit === undefined || typeof values[at] !== "number") return;
    const base = ["B", "KiB", "MiB", "GiB"].includes(unit) ? "B" : unit === "%" ? "%" : "ns";
    assert(head.endsWith(` ${base}`), `${what}: ${text} stands under ${head}`);
    const meant = Number(number.replace("−", "-").replaceAll(" ", "")) * SIZES[unit];
    assert(Math.abs(meant - values[at]) <= Math.abs(meant) * 0.006 + 0.5, `${what}: ${text} is ${values[at]}`);
  });
}
