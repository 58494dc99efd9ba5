/** The address of the page says all that is looked at: whoever opens it anew sees what was seen. */
import assert from "node:assert/strict";

export async function addresses(browser, address) {
  const { page } = browser;
  await page.goto(address);
  await browser.until("the report is there", () => document.querySelector(".findings-card, .overview .muted") !== null);
  const base = page.url().replace(/#.*/, "");
  for (const [name, act] of STATES) {
    browser.step(`opened anew from its address: ${name}`);
    await page.evaluate(() => (location.hash = "#1&view=overview"));
    await browser.until("nothing is chosen", () => location.hash === "#1&view=overview");
    const before = page.url();
    await act(browser);
    await browser.until("the address says something", (before) => location.href !== before, before);
    await opensTheSame(browser, name);
  }
  await takenBack(browser);
  await strangers(browser);
  browser.step("any address opens what it says, wherever one comes from");
  for (let number = 0; number < 12; number += 1) {
    const parts = anAddress(number);
    // What nobody knows goes when the page has read the rest, and writes it anew.
    await page.evaluate((hash) => (location.hash = hash), `#1&${parts.join("&")}&unknown=1`);
    await page.waitForFunction(() => !location.hash.includes("unknown"));
    const found = await page.evaluate(() => location.hash);
    assert.deepEqual(decodeURIComponent(found).slice(3).split("&").sort(), [...parts].sort(), `${number}`);
    await opensTheSame(browser, `${base}${found}`);
  }
}

/** What is looked at, made by what users do. */
const STATES = [
  [
    "a histogram of bytes with other bins and a range that is picked",
    async ({ page }) => {
      await view(page, "Histogram");
      await page.locator(".histogram-choose button", { hasText: "MPI_Send" }).first().click();
      await page.getByRole("button", { name: "Bytes moved" }).click();
      await page.getByRole("button", { name: "Linear" }).click();
      await page.getByRole("slider", { name: "Bins" }).focus();
      for (let step = 0; step < 12; step += 1) await page.keyboard.press("ArrowLeft");
      await page.waitForFunction(() => document.querySelectorAll("[aria-label='bins'] .table-row").length > 1);
      await page.locator("[aria-label='bins'] .table-row").last().click();
      await page.waitForFunction(() => document.querySelectorAll("[aria-label='picked visits'] .table-row").length > 0);
    },
  ],
  [
    "messages of a class, the largest first, cells and pairs by another measure",
    async ({ page }) => {
      await view(page, "Communication");
      await page.locator("[aria-label='Sizes of messages'] .classes-bar").filter({ has: page.locator(".classes-number:not(:empty)") }).first().click();
      await page.getByLabel("Which messages are listed").selectOption("bytes");
      await page.locator(".communication-matrix").getByRole("button", { name: "Messages", exact: true }).click();
      await page.getByRole("button", { name: "Whole run" }).click();
    },
  ],
  [
    "bar lines, those with most first",
    async ({ page }) => {
      await view(page, "Profile");
      await page.getByRole("button", { name: "By location" }).click();
      await page.getByRole("button", { name: "Most first" }).click();
      // Whoever has most; its line ends farthest to the right.
      await page.waitForFunction(() => {
        const ends = [...document.querySelectorAll(".racy:not(.racy-all) .racy-track")].map((it) => it.lastElementChild.getBoundingClientRect().right);
        return ends.length === 4 && ends.every((end, at) => at === 0 || end <= ends[at - 1] + 1);
      });
    },
  ],
  [
    "a box of the flame graph alone",
    async ({ page }) => {
      await view(page, "Profile");
      await page.getByRole("button", { name: "Flame graph" }).click();
      await page.locator(".flames-box").nth(4).click();
      await page.getByRole("button", { name: "Up", exact: true }).waitFor();
    },
  ],
  [
    "the profile by region, sorted and filtered",
    async ({ page }) => {
      await view(page, "Profile");
      await page.locator("[aria-label='profile by region'] .table-row").first().waitFor();
      await page.getByRole("columnheader", { name: "Calls" }).getByRole("button").click();
      await page.getByRole("columnheader", { name: "Calls" }).getByRole("button").click();
      await page.getByLabel("Filter profile by region").fill("mpi_s");
      await page.waitForFunction(() => document.querySelector(".table-tools .muted").textContent.includes(" of "));
    },
  ],
  [
    "the call tree, by names, with what is looked for",
    async ({ page }) => {
      await view(page, "Profile");
      await page.getByRole("button", { name: "Call tree" }).click();
      await page.getByRole("columnheader", { name: "Visits" }).getByRole("button").click();
      await page.getByLabel("Filter call tree").fill("allreduce");
    },
  ],
  [
    "waits of one pattern",
    async ({ page }) => {
      await view(page, "Waits & path");
      await page.locator("[aria-label='What was waited for'] .table-row").first().click();
      await page.locator("[aria-label='Who waited'] .table-row").first().click();
      await page.getByRole("columnheader", { name: "Instances" }).getByRole("button").click();
    },
  ],
  [
    "the utilisation up to an instant",
    async ({ page }) => {
      await view(page, "Utilisation");
      await page.getByLabel("From the start of the run to").fill("500000000");
    },
  ],
  [
    "a span of the timeline with other layers and a table",
    async (browser) => {
      const { page } = browser;
      await view(page, "Timeline");
      await browser.settled();
      for (const key of ["e", "e", "d", "m", "c"]) await page.keyboard.press(key);
      await page.getByRole("button", { name: "Table" }).click();
      await page.locator("[aria-label='states in the span'] .table-row").first().waitFor();
      await page.getByLabel("Filter states in the span").fill("MPI_Send");
      await page.locator(".states li").filter({ hasText: "MPI_Wait" }).getByRole("checkbox").first().uncheck();
      await browser.settled();
    },
  ],
];

async function view(page, name) {
  await page.getByRole("navigation", { name: "Views" }).getByRole("button", { name }).click();
}

/** What has been written in a field or pressed is taken back, one step at a time. */
async function takenBack(browser) {
  const { page } = browser;
  browser.step("how a table is sorted, and which box is alone, is taken back");
  await page.evaluate(() => (location.hash = "#1&view=profile"));
  await browser.until("the usual order", () => document.querySelector("[aria-label='profile by region'] [aria-sort='descending']")?.textContent.startsWith("Exclusive"));
  await page.getByRole("columnheader", { name: "Calls" }).getByRole("button").click();
  await browser.until("another", () => location.hash.includes("sorted="));
  await page.keyboard.press("Backspace");
  await browser.until("the usual order again", () => !location.hash.includes("sorted=") && document.querySelector("[aria-label='profile by region'] [aria-sort='descending']")?.textContent.startsWith("Exclusive"));
  await page.getByRole("button", { name: "Flame graph" }).click();
  await page.locator(".flames-box", { hasText: /^MPI_Send$/ }).first().click();
  await browser.until("a box alone", () => location.hash.includes("flames=") && location.hash.includes("region=") && document.querySelector(".flames p button") !== null);
  // Box and region are one step.
  await page.keyboard.press("Backspace");
  await browser.until("all boxes", () => !location.hash.includes("flames=") && !location.hash.includes("region=") && document.querySelector(".flames p button") === null);
  assert.match(page.url(), /profile=flames/);
}

/** Nonsense in the address changes nothing that there is not. */
async function strangers(browser) {
  const { page } = browser;
  browser.step("an address that nobody wrote shows what it can");
  for (const part of ['sorted=[["profile by region","-Nothing"],["profile by region"],7]', "sorted=nonsense", 'filtered={"a":1}', 'flames=["no such box"]', "messages=cells:colour,pairs:none"]) {
    await page.evaluate((part) => (location.hash = `#1&view=profile&${encodeURI(part)}`), part);
    await browser.until("the profile", () => document.querySelectorAll("[aria-label='profile by region'] .table-row").length > 3);
    await browser.until("in its usual order", () => document.querySelector("[aria-label='profile by region'] [aria-sort='descending']")?.textContent.startsWith("Exclusive"));
  }
}

/** Opens the address of the page in a new one, and looks whether the same is seen. */
async function opensTheSame(browser, name) {
  await browser.page.mouse.move(400, 8);
  // How far a table is scrolled is no state of the view.
  await browser.page.evaluate(() => document.querySelectorAll(".table-body").forEach((it) => (it.scrollTop = 0)));
  const expected = await seenAtLast(browser.page);
  const there = browser.page.url();
  const fresh = await browser.opened(() => browser.page.evaluate((there) => void window.open(there, "", "popup,noopener"), "about:blank"));
  try {
    await fresh.page.setViewportSize(browser.page.viewportSize());
    await fresh.page.goto(there);
    let found = null;
    // A page that has just opened gets its answers one after the other.
    for (let look = 0; look < 8; look += 1) {
      found = await seenAtLast(fresh.page);
      if (JSON.stringify(found) === JSON.stringify(expected)) return;
    }
    assert.deepEqual(found, expected, `${name}: ${there}`);
  } finally {
    await fresh.page.close();
  }
}

/** What is seen when nothing changes any more. */
async function seenAtLast(page) {
  let last = "";
  for (let look = 0; look < 60; look += 1) {
    const now = await page.evaluate(seen);
    const isComing = now.texts.some((text) => text.includes("…") && / (being|coming) /.test(text)) || now.texts.length === 0;
    if (!isComing && JSON.stringify(now) === last) return now;
    last = JSON.stringify(now);
    await page.waitForTimeout(150);
  }
  throw new Error(`${page.url()} never comes to rest`);
}

/** All texts, what is pressed, written or chosen, and how pictures look. */
function seen() {
  const all = (selector) => [...document.querySelectorAll(`.page :is(${selector})`)].filter((it) => it.closest(".status") === null && it.getClientRects().length > 0);
  const name = (it) => it.getAttribute("aria-label") ?? it.textContent.trim().slice(0, 60);
  const state = (it) => ["pressed", "selected", "current", "sort", "expanded", "checked"].flatMap((key) => it.getAttribute(`aria-${key}`) ?? []).join(" ");
  const texts = all(".top, .pane, .side").map((it) => it.innerText.replace(/\s+/g, " "));
  const pressed = all("[aria-pressed], [aria-selected], [aria-current], [aria-sort], [aria-expanded]").map((it) => `${name(it)}: ${state(it)}`);
  const written = all("input, select").map((it) => `${it.getAttribute("aria-label") ?? it.title}: ${it.type === "checkbox" ? it.checked : it.value}`);
  const pictures = all("canvas").map((it) => {
    const { data } = it.getContext("2d").getImageData(0, 0, it.width, it.height);
    return `${it.width} × ${it.height}: ${data.reduce((sum, value) => (Math.imul(sum, 31) + value) | 0, 7)}`;
  });
  const shapes = all(".pane svg rect").length;
  return { path: location.hash.split("&").sort(), texts, pressed, written, pictures, shapes };
}

/** An address made by chance, the same every time: each thing that it can say stands in it or does not. */
function anAddress(number) {
  let state = number * 7919 + 1;
  const below = (most) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor(state / 65536) % most;
  };
  const views = ["overview", "timeline", "profile", "histogram", "communication", "waits", "utilisation", "compare", "next", "help"];
  const view = views[below(10)];
  const from = below(1_000_000_000);
  const region = ["MPI_Send", "MPI_Wait", "MPI_Allreduce"][below(3)];
  const some = [
    `beside=${views.filter((name) => name !== view)[below(9)]}`,
    `span=${from}-${from + 1000 + below(900_000_000)}`,
    `locations=${[["0"], ["1", "3"], ["0", "1", "2"]][below(3)].join(",")}`,
    `region=${region}`,
    `visit=${below(4)}@${below(1_000_000_000)}`,
    `hide=["MPI_Init"]`,
    `without=["files"]`,
    `notes=${["f", "s", "fa"][below(3)]}`,
    `table=${["states", "operations", "annotations", "counters", "overlaps", "events", "messages", "path", "mountains", "run"][below(10)]}`,
    `layers=${["m", "w", "mp", "mwgep"][below(4)]}`,
    `pair=${["0-1-1-2", "0-2-2-4", "3-4-0-1"][below(3)]}`,
    `rows=${["waiting", "region", "waiting,folded", "folded", "together", "waiting,folded,together"][below(6)]}`,
    `until=${below(2_000_000_000)}`,
    `origin=${1 + below(1_000_000_000)}`,
    `zoom=${1 + below(1_000_000_000)}`,
    `profile=${["tree", "span", "racy,span", "racy,span,most", "racy,most", "callers", "flames", "path"][below(8)]}`,
    `waits=["${["Waiting", "Delays"][below(2)]}","late sender",${["null", '"MPI_Send"', 'null,"span"'][below(3)]}]`,
    `histogram=${["span", "bytes", "linear", "span,bytes,linear,200", "7"][below(5)]}`,
    `messages=${["sizes:1-3", "durations:0-5,tag:7", "processes:1-3,order:sent", "sizes:0-0,order:bytes", "cells:time,pairs:run", "tag:3,order:bytes,cells:messages"][below(6)]}`,
    `together=${['["MPI_Irecv"]', '["MPI_Bcast","MPI_Reduce"]'][below(2)]}`,
    `flames=["function main"]`,
    `keep=${['[["mpi:MPI_Send","time"]]', '[["mpi:MPI_Wait","off"],["source:a<*>","count"]]'][below(2)]}`,
    `sorted=${['[["messages","-Data"]]', '[["bins","+Visits"],["profile by region","+Region"]]', '[["waiting","+Pattern"]]'][below(3)]}`,
    `filtered=${['[["profile by region","mpi_s"]]', '[["call tree","send"],["waiting","rank 1"]]'][below(2)]}`,
  ].filter(() => below(2) === 0);
  if (some.includes(`region=${region}`) && below(2) === 0) some.push(["picked=anomalous", "picked=anomalous:0.1", "picked=bytes:normal:5", `picked=duration:${below(1000)}-${5000 + below(90_000)}`][below(4)]);
  // One thing is told about at a time.
  if (!some.some((it) => it.startsWith("visit=")) && below(2) === 0) some.push(`message=${below(4)}@${below(1000)}@${below(4)}@${1000 + below(1000)}@${["-", "7"][below(2)]}@${below(5000)}@${1 + below(3)}`);
  return [`view=${view}`, ...some];
}
