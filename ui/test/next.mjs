/** What the next run is to record: chosen here, and a file that `marey record --filter` reads. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";

export async function next(browser, address, file) {
  const { page } = browser;
  await page.goto(address);
  await browser.open("Profile");
  await page.getByRole("button", { name: "Next run …" }).click();
  browser.step("a choice for each region makes the rules of a filter file, and the address");
  await browser.until("regions are there", () => document.querySelectorAll("[aria-label='next run'] .table-row").length > 5);
  assert.equal(await page.locator(".next-rules").count(), 0, "all is traced");
  const choose = (region, detail) => page.getByRole("group", { name: `Keep of ${region}`, exact: true }).getByRole("button", { name: detail, exact: true }).click();
  await choose("MPI_Send", "time");
  await choose("MPI_Wtime", "off");
  await choose("MPI_Allreduce", "count");
  await choose("MPI_Allreduce", "trace");
  const rules = await browser.text(".next-rules");
  assert.equal(rules, "time   mpi:MPI_Send\noff    mpi:MPI_Wtime\n");
  await browser.until("the address", () => decodeURIComponent(location.hash).includes('keep=[["mpi:MPI_Send","time"],["mpi:MPI_Wtime","off"]]'));
  await browser.picture("next");
  await browser.accessible("the next run");
  const saved = await browser.downloaded(() => page.getByRole("button", { name: "Save", exact: true }).last().click());
  assert.deepEqual([saved.name, String(saved.content)], ["next.rules", rules]);
  // Whoever started the browser records with it.
  writeFileSync(file, saved.content);
  await browser.until("how to have a button that does it", () => /no button.*marey view \S+\.marey --allow-run/.test(document.querySelector(".next-why")?.textContent ?? ""));
  assert.match(await browser.text(".sheet code"), /^marey record --filter next\.rules --again \S+\.marey$/);

  browser.step("it is taken back, and opened anew from its address");
  await page.keyboard.press("Backspace");
  await browser.until("all of the fourth choice", () => document.querySelector(".next-rules")?.textContent.includes("count  mpi:MPI_Allreduce"));
  await page.evaluate(() => (location.hash = '#1&view=next&keep=[["mpi:MPI_Recv","off"],["mpi:MPI_Send","nonsense"]]'));
  await browser.until("what is known of it", () => document.querySelector(".next-rules")?.textContent === "off    mpi:MPI_Recv\n");

  browser.step("what is dear to trace is added up with one press");
  await page.getByRole("button", { name: "Trace all" }).click();
  const dear = page.getByRole("button", { name: /^Add up what is dear/ });
  const number = Number(/\((\d+)/.exec(await dear.textContent())?.[1] ?? 0);
  assert(number > 0, "queries of a clock take less time than their recording");
  await dear.click();
  await browser.until("a rule for each", (number) => document.querySelector(".next-rules").textContent.split("\n").filter((it) => it.startsWith("time ")).length === number, number);
}
