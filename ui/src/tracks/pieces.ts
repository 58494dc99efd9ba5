/**
 * Pieces of lines in the order of time, so that those of a part of the picture are found without looking at all.
 *
 * The one idea: numbers of pieces, line by line, and beside each up to when those before it reach; that never falls, so the
 * first that is still seen is found by halving. Made when it is first asked for, once for each answer of the engine.
 *
 * Not here: what pieces are.
 */

/** What pieces have in common. */
export interface Pieces {
  readonly line: Uint32Array;
  readonly start: Float64Array;
  readonly duration: Float64Array;
}

/** From when to when, ns. */
export interface Between {
  readonly from: number;
  readonly to: number;
}

interface Ordered {
  /** Numbers of pieces, those of a line together and in the order of their starts. */
  readonly order: Uint32Array;
  /** By line, where in the order its pieces begin; one more than there are lines. */
  readonly first: Uint32Array;
  /** By place in the order, how far the pieces of its line up to this one reach, ns. */
  readonly reach: Float64Array;
}

// By starts, since a copy whose times were moved has others.
const known = new WeakMap<Float64Array, Ordered>();

function orderedOf(pieces: Pieces): Ordered {
  const found = known.get(pieces.start) ?? sorted(pieces);
  known.set(pieces.start, found);
  return found;
}

/** Calls `each` for the pieces of a line that touch a span, in the order of time. */
export function eachBetween(pieces: Pieces, line: number, { from, to }: Between, each: (at: number) => void): void {
  const { order, first, reach } = orderedOf(pieces);
  const behind = first[line + 1] ?? 0;
  let [low, high] = [first[line] ?? behind, behind];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((reach[middle] ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  for (let place = low; place < behind; place += 1) {
    const at = order[place] ?? 0;
    if ((pieces.start[at] ?? 0) > to) return;
    each(at);
  }
}

/** Sorted by counting: those of a line come in the order of time. */
function sorted({ line, start, duration }: Pieces): Ordered {
  let most = -1;
  for (const it of line) if (it > most) most = it;
  const first = new Uint32Array(most + 2);
  for (const it of line) first[it + 1] = (first[it + 1] ?? 0) + 1;
  for (let it = 1; it < first.length; it += 1) first[it] = (first[it] ?? 0) + (first[it - 1] ?? 0);
  const next = first.slice();
  const order = new Uint32Array(line.length);
  for (let at = 0; at < line.length; at += 1) {
    const it = line[at] ?? 0;
    const place = next[it] ?? 0;
    order[place] = at;
    next[it] = place + 1;
  }
  const reach = new Float64Array(line.length);
  let [of, end] = [-1, -Infinity];
  for (let place = 0; place < order.length; place += 1) {
    const at = order[place] ?? 0;
    const isOther = line[at] !== of;
    of = line[at] ?? -1;
    const own = (start[at] ?? 0) + (duration[at] ?? 0);
    end = isOther ? own : Math.max(end, own);
    reach[place] = end;
  }
  return { order, first, reach };
}
