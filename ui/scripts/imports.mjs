/**
 * Checks what may import what: imports run downwards, as between the crates.
 *
 * base < wire < state; base < canvas < tracks; base < widgets; views may use all of these, but no other view; the one
 * that compares two runs shows two timelines, and uses what draws one.
 * canvas and tracks know no framework. Files have at most 400 lines.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";

const MAY = {
  base: [],
  wire: ["base"],
  state: ["base", "wire"],
  canvas: ["base"],
  tracks: ["base", "canvas", "wire"],
  widgets: ["base"],
  views: ["base", "wire", "state", "canvas", "tracks", "widgets"],
  style: [],
};
const SHARED = { compare: ["charts.ts", "draw.ts", "fetch.ts", "gestures.ts", "place.ts", "screen.ts", "twins/states.tsx"].map((file) => `views/timeline/${file}`) };
const WITHOUT_FRAMEWORK = ["base", "wire", "canvas", "tracks"];
const MOST_LINES = 400;

const findings = [];
const files = readdirSync("src", { recursive: true }).map(String).filter((name) => /\.tsx?$/.test(name));
for (const file of files) {
  const text = readFileSync(join("src", file), "utf8");
  const [folder, view] = file.split("/");
  if (text.split("\n").length > MOST_LINES && !file.endsWith("generated.ts")) {
    findings.push(`${file}: more than ${MOST_LINES} lines`);
  }
  if (!file.includes("/")) continue;
  for (const [, name] of text.matchAll(/(?:from|import)\s+"([^"]+)"/g)) {
    if (!name.startsWith(".")) {
      if (WITHOUT_FRAMEWORK.includes(folder)) findings.push(`${file}: ${folder}/ imports ${name}`);
      continue;
    }
    const target = relative("src", normalize(join("src", dirname(file), name)));
    const [to, toView, inView] = target.split("/");
    // What lies in views/ itself is for all of them.
    const isShared = folder === "views" && (SHARED[view] ?? []).includes(target);
    const isOtherView = folder === "views" && to === "views" && inView !== undefined && view !== toView && !isShared;
    const isOwn = to === folder && !isOtherView;
    if (isOtherView || (!isOwn && !(MAY[folder] ?? []).includes(to))) {
      findings.push(`${file}: ${folder}/ may not import ${target}`);
    }
  }
}
findings.forEach((finding) => console.error(finding));
console.log(`imports: ${files.length} files, ${findings.length} findings`);
process.exit(findings.length === 0 ? 0 : 1);
