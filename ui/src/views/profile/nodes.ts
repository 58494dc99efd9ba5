/**
 * The call tree, from the outermost function down, and from each function or region up to its callers. Pure: what is beneath a
 * node is found when somebody looks into it.
 */
import type { CallNode } from "../../wire/report.ts";

/**
 * The same tree with the times of a part of the run; its nodes keep their places, so that what is open stays open. Of functions
 * that ran outside of regions nobody knows when: samples are counted for the whole run.
 */
export function partOf(nodes: readonly CallNode[], sums: ReadonlyMap<number, readonly [exclusive: number, visits: number]>): readonly CallNode[] {
  const [times, calls] = [nodes.map(() => 0), nodes.map(() => 0)];
  for (let at = nodes.length - 1; at >= 0; at -= 1) {
    const node = nodes[at];
    if (node === undefined) continue;
    for (const path of node.call_paths) {
      const [exclusive, visits] = sums.get(path) ?? [0, 0];
      times[at] = (times[at] ?? 0) + exclusive;
      calls[at] = (calls[at] ?? 0) + (node.kind === "others" ? 0 : visits);
    }
    if (node.parent !== null) times[node.parent] = (times[node.parent] ?? 0) + (times[at] ?? 0);
  }
  return nodes.map((node, at) => ({ ...node, time_ns: times[at] ?? 0, calls: calls[at] ?? 0 }));
}

/** Whether a node has anything of what the tree is of. */
export function isThere(node: CallNode): boolean {
  return node.time_ns > 0 || node.calls > 0;
}

/** A line of a tree, either way. */
export interface Line {
  /** Tells it from all others. */
  readonly key: string;
  readonly name: string;
  readonly place: string;
  readonly kind: CallNode["kind"];
  /** The node that says which region it is. */
  readonly node: CallNode;
  /** ns of all locations together. */
  readonly inclusive: number;
  readonly exclusive: number;
  readonly calls: number;
  /** What is beneath it, that with most time first. */
  beneath(): readonly Line[];
  readonly hasMore: boolean;
}

/** Time that a node has and no child of it. */
function ownTimes(nodes: readonly CallNode[]): readonly number[] {
  const own = nodes.map((node) => node.time_ns);
  nodes.forEach((node) => {
    if (node.parent !== null) own[node.parent] = (own[node.parent] ?? 0) - node.time_ns;
  });
  return own;
}

/** From the outermost function down. */
export function downward(nodes: readonly CallNode[]): readonly Line[] {
  const own = ownTimes(nodes);
  const children = new Map<number | null, number[]>();
  nodes.forEach((node, place) => {
    if (!isThere(node)) return;
    const of = children.get(node.parent);
    if (of === undefined) children.set(node.parent, [place]);
    else of.push(place);
  });
  const lines = (parent: number | null): readonly Line[] =>
    (children.get(parent) ?? [])
      .flatMap((place): Line[] => {
        const node = nodes[place];
        if (node === undefined) return [];
        return [
          {
            key: String(place),
            name: node.name,
            place: node.place,
            kind: node.kind,
            node,
            inclusive: node.time_ns,
            exclusive: node.kind === "others" ? 0 : (own[place] ?? 0),
            calls: node.calls,
            beneath: () => lines(place),
            hasMore: children.has(place),
          },
        ];
      })
      .sort((a, b) => b.inclusive - a.inclusive);
  return lines(null);
}

/** A way from a node up, and how much of its time and calls go it. */
interface Way {
  readonly at: number;
  readonly time: number;
  readonly calls: number;
}

/** From each function or region that took time of its own to those that called it: their times are parts of its own. */
export function upward(nodes: readonly CallNode[]): readonly Line[] {
  const own = ownTimes(nodes);
  const grouped = (ways: readonly Way[], above: string): readonly Line[] => {
    const groups = new Map<string, Way[]>();
    for (const way of ways) {
      const node = nodes[way.at];
      if (node === undefined) continue;
      const key = `${node.kind} ${node.name}`;
      const of = groups.get(key);
      if (of === undefined) groups.set(key, [way]);
      else of.push(way);
    }
    const lines = [...groups].flatMap(([key, all]): Line[] => {
      const [first] = all;
      const node = nodes[first?.at ?? -1];
      if (node === undefined) return [];
      const time = all.reduce((sum, way) => sum + way.time, 0);
      const callers = all.flatMap((way): Way[] => {
        const parent = nodes[way.at]?.parent ?? null;
        return parent === null ? [] : [{ ...way, at: parent }];
      });
      return [
        {
          key: `${above}/${key}`,
          name: node.name,
          place: above === "" ? "" : node.place,
          kind: node.kind,
          node,
          inclusive: time,
          exclusive: above === "" ? time : 0,
          calls: all.reduce((sum, way) => sum + way.calls, 0),
          beneath: () => grouped(callers, `${above}/${key}`),
          hasMore: callers.length > 0,
        },
      ];
    });
    return lines.sort((a, b) => b.inclusive - a.inclusive);
  };
  const leaves = nodes.flatMap((node, at): Way[] => ((own[at] ?? 0) > 0 && node.kind !== "others" ? [{ at, time: own[at] ?? 0, calls: node.calls }] : []));
  return grouped(leaves, "");
}
