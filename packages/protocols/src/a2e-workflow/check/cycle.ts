/**
 * One cycle for each strongly connected component of a graph, as the nodes
 * in order, without the first again at the end. Tarjan's algorithm with its own stack, for graphs of any depth.
 */
export function findCycles(edges: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const place = new Map([...edges.keys()].map((node, at) => [node, at]));
  const cycles: (readonly string[])[] = [];
  for (const knot of knotsOf(edges)) {
    const [start = ''] = [...knot].sort((a, b) => (place.get(a) ?? 0) - (place.get(b) ?? 0));
    if (knot.size > 1 || edges.get(start)?.includes(start)) cycles.push(shortestCycle(start, knot, edges));
  }
  return cycles;
}

/** The strongly connected components. */
function knotsOf(edges: ReadonlyMap<string, readonly string[]>): readonly ReadonlySet<string>[] {
  const knots: Set<string>[] = [];
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();
  for (const root of edges.keys()) {
    if (index.has(root)) continue;
    const visits: { node: string; next: number }[] = [{ node: root, next: 0 }];
    for (let visit = visits.at(-1); visit !== undefined; visit = visits.at(-1)) {
      const { node } = visit;
      if (visit.next === 0) {
        index.set(node, index.size);
        low.set(node, index.size - 1);
        open.push(node);
        isOpen.add(node);
      }
      const target = edges.get(node)?.[visit.next++];
      if (target !== undefined) {
        if (!edges.has(target)) continue;
        if (!index.has(target)) visits.push({ node: target, next: 0 });
        else if (isOpen.has(target)) lower(low, node, index.get(target));
        continue;
      }
      visits.pop();
      const parent = visits.at(-1)?.node;
      if (parent !== undefined) lower(low, parent, low.get(node));
      if (low.get(node) !== index.get(node)) continue;
      const knot = new Set(open.splice(open.lastIndexOf(node)));
      for (const member of knot) isOpen.delete(member);
      knots.push(knot);
    }
  }
  return knots;
}

function lower(low: Map<string, number>, node: string, value: number | undefined): void {
  low.set(node, Math.min(low.get(node) ?? Number.POSITIVE_INFINITY, value ?? Number.POSITIVE_INFINITY));
}

/** Searches breadth first from `start` back to itself, inside its component. */
function shortestCycle(
  start: string,
  knot: ReadonlySet<string>,
  edges: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const cameFrom = new Map<string, string>();
  const waiting = [start];
  for (const node of waiting) {
    for (const target of edges.get(node) ?? []) {
      if (target === start) {
        const cycle = [node];
        for (let before = cameFrom.get(node); before !== undefined; before = cameFrom.get(before))
          cycle.unshift(before);
        return cycle;
      }
      if (!knot.has(target) || cameFrom.has(target)) continue;
      cameFrom.set(target, node);
      waiting.push(target);
    }
  }
  throw new Error(`${start} is in a component but on no cycle`);
}
