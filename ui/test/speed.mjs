/**
 * How long a user waits, and how busy the main thread is: figures, one a line, for `cargo xtask bench --only screen`.
 *
 * `painted_ms` from opening the address until the first timeline is drawn as exactly as it will be. While the timeline is
 * moved sideways, from one picture to the next: `busy_p50_ms` … how long the main thread was on a processor, for whatever it
 * did: scripts, style, layout, drawing, garbage; `frame_p50_ms` … how long that lasted, which is more where it waits for the
 * compositor or for a processor; `interval_p50_ms` … how long after the one before the picture came. `settled_p50_ms` … from
 * looking at another span, anywhere and of any length, until it is drawn.
 *
 * The processor time of its tasks is told by Chromium's trace. It is told a second time by the browser's own counters, as a
 * mean: `busy_mean_ms` and `counted_mean_ms` must be about the same.
 */
import { asked } from "./read.mjs";

const FRAMES = 300;
const SPANS = 60;

export async function speed(browser, address) {
  const { page } = browser;
  const begun = Date.now();
  await page.goto(`${address}#1&view=timeline`, { waitUntil: "commit" });
  await drawn(page);
  console.log(`painted_ms ${Date.now() - begun}`);
  // Situations and the report are made meanwhile; they are nobody's frame.
  await browser.until("the report", () => document.querySelector(".findings-card, .side .hush, .side .muted") !== null);
  await page.waitForTimeout(1500);
  const seen = await frames(page);
  told("busy", seen.busy);
  told("frame", seen.lasted);
  told("interval", seen.intervals);
  console.log(`busy_mean_ms ${mean(seen.busy).toFixed(2)}`);
  console.log(`counted_mean_ms ${seen.counted.toFixed(2)}`);
  told("settled", await spans(page));
}

/** Waits until nothing better is on its way, and that is on the screen. */
async function drawn(page) {
  const isThere = () => document.querySelector("[data-settled='true']") !== null;
  await page.waitForFunction(isThere, undefined, { polling: "raf", timeout: 60_000 });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** What the main thread does for each picture while the timeline is moved, ms; and what its counters say of a picture, as a mean. */
async function frames(page) {
  const duration = (await asked(page, { ask: "run" })).head.duration_ns;
  await page.evaluate((span) => (location.hash = `#1&view=timeline&span=${span}`), `${Math.round(duration * 0.2)}-${Math.round(duration * 0.24)}`);
  await drawn(page);
  const session = await page.context().newCDPSession(page);
  const events = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  const ended = new Promise((done) => session.once("Tracing.tracingComplete", done));
  await session.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories: ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"] } });
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const before = await counted(session);
  await page.evaluate(
    (frames) =>
      new Promise((done) => {
        const rows = document.querySelector(".timeline-rows");
        const { left, top } = rows.getBoundingClientRect();
        let left_over = frames;
        const step = () => {
          rows.dispatchEvent(new WheelEvent("wheel", { deltaX: 14, deltaY: 0, clientX: left + 400, clientY: top + 60, bubbles: true, cancelable: true }));
          left_over -= 1;
          if (left_over > 0) requestAnimationFrame(step);
          else done();
        };
        requestAnimationFrame(step);
      }),
    FRAMES,
  );
  const spent = (await counted(session)) - before;
  await session.send("Tracing.end");
  await ended;
  return { ...pictures(events), counted: spent / FRAMES };
}

/** Processor time of all tasks of the main thread so far, ms. */
async function counted(session) {
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "TaskDuration").value * 1000;
}

/** Tasks of the page's main thread between two pictures, added up: processor time, and how long they lasted. */
function pictures(events) {
  const drawn = events.filter((it) => it.name === "FireAnimationFrame");
  const [{ pid, tid }] = drawn;
  const isTask = (it) => it.ph === "X" && it.pid === pid && it.tid === tid && /RunTask$/.test(it.name);
  const tasks = events.filter(isTask).sort((a, b) => a.ts - b.ts || b.dur - a.dur);
  // Tasks within tasks are counted with them.
  const outer = [];
  for (const task of tasks) {
    const last = outer.at(-1);
    if (last === undefined || task.ts >= last.ts + last.dur) outer.push(task);
  }
  // Several things may be drawn with a picture; what the task of the one before did belongs to that.
  const at = [...new Set(drawn.map((it) => outer.findLastIndex((task) => task.ts <= it.ts)))].filter((place) => place >= 0);
  const sums = (time) => at.slice(1).map((place, number) => outer.slice(at[number], place).reduce((sum, it) => sum + time(it) / 1000, 0));
  return {
    busy: sums((it) => it.tdur),
    lasted: sums((it) => it.dur),
    intervals: at.slice(1).map((place, number) => (outer[place].ts - outer[at[number]].ts) / 1000),
  };
}

/** From looking at another span until it is drawn, ms. */
async function spans(page) {
  const found = [];
  let chance = 7;
  const next = () => {
    chance = (chance * 1_103_515_245 + 12_345) % 2_147_483_648;
    return chance / 2_147_483_648;
  };
  const whole = (await asked(page, { ask: "run" })).head.duration_ns;
  for (let number = 0; number < SPANS; number += 1) {
    const size = Math.max(20_000, whole * 0.9 * 2 ** (-14 * next()));
    const from = Math.round((whole - size) * next());
    const took = await page.evaluate(
      (span) =>
        new Promise((done) => {
          const before = performance.now();
          location.hash = `#1&view=timeline&span=${span}`;
          const look = () => {
            if (document.querySelector("[data-settled='true']") !== null && performance.now() - before > 17) requestAnimationFrame(() => done(performance.now() - before));
            else requestAnimationFrame(look);
          };
          requestAnimationFrame(() => requestAnimationFrame(look));
        }),
      `${from}-${Math.round(from + size)}`,
    );
    found.push(took);
  }
  return found;
}

function mean(times) {
  return times.reduce((sum, it) => sum + it, 0) / Math.max(times.length, 1);
}

function told(name, times) {
  times.sort((a, b) => a - b);
  for (const [quantile, place] of [[50, times.length / 2], [95, times.length * 0.95], [99, times.length * 0.99]]) {
    console.log(`${name}_p${quantile}_ms ${times[Math.min(Math.floor(place), times.length - 1)].toFixed(2)}`);
  }
  console.log(`${name}_number ${times.length}`);
}
