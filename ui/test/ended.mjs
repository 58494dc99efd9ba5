/**
 * A server that ends, is started again on its port, and has another run: the page says each of these, and goes on.
 *
 * FILE is the command that serves the run, as JSON: `[program, run]`. The address is of a server that this case has no use for.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { renameSync } from "node:fs";
import { createInterface } from "node:readline";

async function served(program, run, port) {
  const child = spawn(program, ["view", run, "--no-open", "--port", port], { stdio: ["ignore", "pipe", "inherit"] });
  const [address] = await once(createInterface({ input: child.stdout }), "line");
  return { child, address, port: new URL(address).port };
}

async function killed({ child }) {
  child.kill("SIGKILL");
  await once(child, "exit");
}

export async function ended(browser, _, command) {
  const { page } = browser;
  const [program, run] = JSON.parse(command);
  let server = await served(program, run, "0");
  try {
    await page.goto(server.address);
    await browser.until("the run is open", () => document.querySelector(".overview-facts") !== null);
    const alert = () => browser.text("[role=alert]");

    browser.step("the server is killed: what the page says, and what it does not");
    await killed(server);
    await browser.open("Utilisation");
    await browser.until("it is said", () => /has ended, or cannot be reached/.test(document.querySelector("[role=alert]")?.textContent ?? ""));
    assert((await alert()).includes(`marey view run.marey --port ${server.port}`), await alert());
    const said = await page.evaluate(() => document.body.textContent);
    assert(!/Failed to fetch|being added up|being counted/.test(said), said);
    assert.match(said, /Not known: the server does not answer/);
    await browser.accessible("a page without its server");
    await browser.picture("ended");

    browser.step("another one on that port does not know the browser");
    server = await served(program, run, server.port);
    await browser.until("it says so", () => /does not know this browser yet/.test(document.querySelector("[role=alert]")?.textContent ?? ""));

    browser.step("its address is opened, and the old page goes on");
    const other = await page.context().newPage();
    await other.goto(server.address);
    await browser.until("it goes on", () => document.querySelector("[role=alert]") === null && document.querySelector(".utilisation-lines") !== null);
    assert.match(page.url(), /view=utilisation/, "and shows what it showed");
    await other.close();

    browser.step("another run takes the place of the one that is open");
    renameSync(run, `${run}.old`);
    renameSync(`${run}.other`, run);
    await browser.open("Histogram");
    await browser.open("Timeline");
    await browser.until("it is said", () => /replaced by another one/.test(document.querySelector("[role=alert]")?.textContent ?? ""));
    await page.getByRole("button", { name: "Open it again" }).click();
    await browser.until("the other one is open", () => document.querySelector("[role=alert]") === null && document.querySelector(".top-run strong")?.textContent === "run.marey");
    await browser.open("Timeline");
    await browser.settled();
  } finally {
    server.child.kill("SIGKILL");
  }
  // A browser tells of each that nobody answers, or not as it should; that is what this is about.
  browser.said = browser.said.filter((line) => !/Failed to load resource/.test(line));
}
