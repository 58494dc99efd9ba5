/** What the page says, and what the engine answers, for whoever compares them. */

/** What is told of something beside the timeline. */
export async function fact(page, name) {
  return (await page.locator(".facts > div").filter({ hasText: name }).first().locator("dd").textContent()).trim();
}

/** log₂ of the finest steps in which a picture of a span may be asked for, however long the run took. */
export function finest(from, to) {
  return Math.max(0, Math.ceil(Math.log2((to - from) / 100_000)));
}

/** The head of an answer and its columns, as the page gets them. */
export async function asked(page, request) {
  return page.evaluate(async (request) => {
    const answer = await fetch("api/answer", { method: "POST", body: JSON.stringify(request) });
    const bytes = await answer.arrayBuffer();
    const size = new DataView(bytes).getUint32(0, true);
    const { kind, head, columns } = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, size)));
    if (kind === "error") throw new Error(head.message);
    const types = { u32: Uint32Array, f64: Float64Array, f32: Float32Array };
    const told = columns.map(({ name, type, at, length }) => [name, [...new types[type](bytes, at, length)]]);
    return { head, ...Object.fromEntries(told) };
  }, request);
}
