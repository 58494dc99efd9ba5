/** How texts and numbers that a run may bring are written. */
import assert from "node:assert/strict";

import { fileURLToPath } from "node:url";
import { createServer } from "vite";

/** The modules as the page has them; Node reads no types. */
async function modules() {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const vite = await createServer({ root, configFile: false, logLevel: "silent", appType: "custom", server: { middlewareMode: true, hmr: false, ws: false, watch: null }, optimizeDeps: { noDiscovery: true } });
  try {
    return Object.assign({}, ...(await Promise.all(["format", "text", "time"].map((name) => vite.ssrLoadModule(`/src/base/${name}.ts`)))));
  } finally {
    await vite.close();
  }
}

export async function words() {
  const { bytes, count, percent, short, shortPaths, parsed, shown, duration } = await modules();
  for (const [text, expected] of [
    ["MPI_Send", "MPI_Send"],
    ["größe → 4 µs", "größe → 4 µs"],
    ["a\u0000b\nc\u007f", "a␀b␊c␡"],
    ["evil\u202egnp.exe", "evil⟨U+202E⟩gnp.exe"],
    ["\u2066inside\u2069 \u200bout", "⟨U+2066⟩inside⟨U+2069⟩ ⟨U+200B⟩out"],
    ["\ud83d\ude00 \ud83d", "😀 ⟨U+D83D⟩"],
    ["שלום", "\u2066שלום\u2069"],
  ]) {
    assert.equal(shown(text), expected);
    assert.equal(shown(shown(text)), expected, "once is enough");
    assert.deepEqual(parsed(JSON.stringify({ a: [text, 1] })), { a: [expected, 1] });
  }
  for (const [written, expected] of [
    [short(2 ** 63), "9.22 E"],
    [short(-(2 ** 63)), "−9.22 E"],
    [short(1e300), "1.00 × 10³⁰⁰"],
    [short(-1.5e300), "−1.50 × 10³⁰⁰"],
    [short(1e-300), "1.00 × 10⁻³⁰⁰"],
    [short(0), "0"],
    [short(0.25), "0.250"],
    [short(4096), "4\u202f096"],
    [short(Infinity), "∞"],
    [short(NaN), "–"],
    [bytes(2 ** 63), "8.00 EiB"],
    [bytes(1e300), "1.00 × 10³⁰⁰ B"],
    [count(1e300), "1.00 × 10³⁰⁰"],
    [percent(1e300), "1.00 × 10³⁰² %"],
    [duration(1e300), "1.00 × 10²⁹¹ s"],
    [duration(2 ** 63), "9\u202f223\u202f372\u202f036.9 s"],
  ]) {
    assert.equal(written, expected);
  }
  const paths = ["/a/b/x.c", "/a/c/x.c", "/a/y.c", "/y.c", "x.c", "z.c", "/deep/a/b/x.c"];
  assert.deepEqual(
    paths.map((path) => shortPaths(paths).get(path)),
    ["/a/b/x.c", "c/x.c", "a/y.c", "/y.c", "x.c", "z.c", "deep/a/b/x.c"],
  );
  // Each against each would be 25 million comparisons of paths, twenty times over.
  const many = Array.from({ length: 20_000 }, (_, at) => `${"/same".repeat(20)}/${at}/mod.rs`);
  assert.equal(shortPaths(many).get(many[12_345]), "12345/mod.rs");
}
