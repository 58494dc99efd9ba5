/**
 * What a user does, done in a real browser: `node test/browser.mjs ADDRESS CASE [DIR] [PAGE]`. DIR is where
 * pictures go, PAGE the address of an exported page.
 *
 * MAREY_ASSETS=DIR takes the page's script and style from there, so that a change of the page can be looked at without
 * building what serves it.
 *
 * Every step looks at what the page then says. Whatever the console says is an error, whatever axe finds serious is one.
 */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

import { addresses } from "./addresses.mjs";
import { again } from "./again.mjs";
import { beside } from "./beside.mjs";
import { compare } from "./compare.mjs";
import { ended } from "./ended.mjs";
import { explained } from "./explained.mjs";
import { coarse, damaged, exported, exportedPair, openCutOff, workerless } from "./exported.mjs";
import { finder } from "./finder.mjs";
import { histogram } from "./histogram.mjs";
import { hostile } from "./hostile.mjs";
import { hosts } from "./hosts.mjs";
import { keys } from "./keys.mjs";
import { lammps } from "./lammps.mjs";
import { large, sourceless } from "./large.mjs";
import { levelless, levels } from "./levels.mjs";
import { machine, machineless } from "./machine.mjs";
import { made } from "./made.mjs";
import { next } from "./next.mjs";
import { nodes } from "./nodes.mjs";
import { redistributed } from "./redistributed.mjs";
import { reduced } from "./reduced.mjs";
import { references } from "./references.mjs";
import { runs } from "./runs.mjs";
import { remarks } from "./remarks.mjs";
import { selection } from "./selection.mjs";
import { sources } from "./sources.mjs";
import { speed } from "./speed.mjs";
import { summed } from "./summed.mjs";
import { tables } from "./tables.mjs";
import { tracks } from "./tracks.mjs";

const CASES = { addresses, again, beside, compare, lammps, explained, tracks, nodes, hostile, hosts, made, exported, exportedPair, coarse, damaged, ended, finder, histogram, openCutOff, keys, large, levelless, levels, machine, machineless, next, redistributed, reduced, references, remarks, runs, selection, sourceless, sources, speed, summed, tables, workerless };
const BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const [address, name, dir, file] = process.argv.slice(2);
const test = CASES[name];
assert(address !== undefined && test !== undefined, `usage: browser.mjs ADDRESS ${Object.keys(CASES).join("|")} [DIR] [PAGE]`);

const executablePath = process.env.MAREY_BROWSER ?? BROWSERS.find((path) => existsSync(path));
assert(executablePath !== undefined, "there is no Chromium");
const profile = mkdtempSync(join(tmpdir(), "marey-browser-"));
const context = await chromium.launchPersistentContext(profile, {
  executablePath,
  headless: true,
  viewport: { width: 1440, height: 860 },
  args: QUIET,
});

const assets = process.env.MAREY_ASSETS;
if (assets !== undefined) {
  for (const name of ["marey.js", "fetcher.js", "index.css"]) await context.route(`**/assets/${name}`, (route) => route.fulfill({ path: join(assets, "assets", name) }));
}

/** What a case is given. */
class Browser {
  constructor(page, said = []) {
    this.page = page;
    this.said = said;
    page.on("console", (message) => {
      // That is about us, who look at pixels.
      if (!message.text().includes("willReadFrequently")) this.said.push(`${message.type()}: ${message.text()}`);
    });
    page.on("pageerror", (error) => this.said.push(`error: ${error.message}`));
  }

  /** A second window that something opens. */
  async opened(act) {
    const [page] = await Promise.all([this.page.context().waitForEvent("page"), act()]);
    return new Browser(page, this.said);
  }

  /** The text, or the bytes, of a file that something offers. */
  async downloaded(act) {
    const [download] = await Promise.all([this.page.waitForEvent("download"), act()]);
    return { name: download.suggestedFilename(), content: readFileSync(await download.path()) };
  }

  step(what) {
    console.log(`· ${what}`);
  }

  /** Waits until something holds that the page computes. A machine that is busy with something else takes its time. */
  async until(what, holds, argument) {
    await this.page.waitForFunction(holds, argument, { timeout: 60_000 }).catch((error) => {
      throw new Error(`never came true: ${what}; the address is ${this.page.url()}; ${error.message}`);
    });
  }

  /** Waits until nothing better is on its way. */
  async settled() {
    const isSettled = () => document.querySelector("[data-settled='true']") !== null;
    for (let isStill = false; !isStill; ) {
      await this.until("everything is drawn", isSettled);
      // The address is written ten times a second at most. The page's own clock tells how long that is: on a machine that
      // is busy with something else it goes slower than ours. What has come by then is drawn with the next frame.
      isStill = await this.page.evaluate((pause) => {
        const frame = (done) => requestAnimationFrame(() => requestAnimationFrame(done));
        const is = () => document.querySelector("[data-settled='true']") !== null;
        return new Promise((done) => setTimeout(() => frame(() => done(is())), pause));
      }, 180);
    }
  }

  async open(view) {
    await this.page.getByRole("navigation", { name: "Views" }).getByRole("button", { name: view }).click();
  }

  async text(selector) {
    return (await this.page.locator(selector).first().textContent()) ?? "";
  }

  /** How many pixels of a canvas have each colour. */
  async colours(selector) {
    return this.page.evaluate((selector) => {
      const canvas = document.querySelector(selector);
      const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      const counts = {};
      for (let at = 0; at < pixels.length; at += 4) {
        const colour = [0, 1, 2].map((place) => pixels[at + place].toString(16).padStart(2, "0")).join("");
        counts[colour] = (counts[colour] ?? 0) + 1;
      }
      return counts;
    }, selector);
  }

  async picture(name) {
    if (dir !== undefined) await this.page.screenshot({ path: join(dir, `${name}.png`) });
  }

  /** What axe finds serious. */
  async accessible(where) {
    const source = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
    // As a script of the page would be refused by its own policy, and rightly.
    await this.page.evaluate(readFileSync(source, "utf8"));
    const found = await this.page.evaluate(async () => {
      const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
      const bad = violations.filter((it) => it.impact === "serious" || it.impact === "critical");
      return bad.map((it) => `${it.id}: ${it.help}: ${it.nodes.slice(0, 3).map((node) => node.html).join(" ")}`);
    });
    assert.deepEqual(found, [], `${where} is not accessible`);
  }
}

let outcome = 0;
let said = [];
try {
  const page = await context.newPage();
  const browser = new Browser(page);
  said = browser.said;
  await test(browser, address, file);
  assert.deepEqual(browser.said, [], "the console says something");
  console.log("all of it holds");
} catch (error) {
  console.error(error, said);
  outcome = 1;
} finally {
  await context.close();
  rmSync(profile, { recursive: true, force: true });
}
process.exit(outcome);
