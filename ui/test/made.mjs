/**
 * A run that is made up, so that what must be seen is known: four ranks that pass something on for sixty rounds, and a flood of
 * messages from rank 0 to rank 1 in the end.
 */
import { annotations } from "./annotations.mjs";
import { callers } from "./callers.mjs";
import { clock } from "./clock.mjs";
import { kept } from "./kept.mjs";
import { messages } from "./messages.mjs";
import { mountains } from "./mountains.mjs";
import { twins } from "./twins.mjs";

export async function made(browser, address) {
  const { page } = browser;
  await page.goto(address);
  await browser.until("the run is there", () => document.querySelector(".top-run strong")?.textContent === "made-up.marey");
  for (const part of [annotations, messages, callers, mountains, twins, kept, clock]) await part(browser);
}
