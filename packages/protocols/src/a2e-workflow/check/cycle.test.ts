import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findCycles } from './cycle.ts';

type Graph = ReadonlyMap<string, readonly string[]>;

describe('finding cycles', () => {
  test('a chain has none, and neither has a diamond', () => {
    expect(findCycles(graph({ a: ['b'], b: ['c'], c: [] }))).toEqual([]);
    expect(findCycles(graph({ a: ['b', 'c'], b: ['d'], c: ['d'], d: [] }))).toEqual([]);
  });

  test('one for each knot, by its shortest way from the node defined first', () => {
    expect(findCycles(graph({ a: ['a'], b: ['c', 'd'], c: ['d'], d: ['b'] }))).toEqual([['a'], ['b', 'd']]);
  });

  test('names that lead nowhere are no cycle', () => {
    expect(findCycles(graph({ a: ['ghost'] }))).toEqual([]);
  });

  test('a chain of a hundred thousand does not overflow', () => {
    const long = new Map(Array.from({ length: 100_000 }, (_, at) => [`n${at}`, [`n${at + 1}`]]));
    expect(findCycles(long)).toEqual([]);
  });

  test('agrees with reachability worked out the long way, on any graph', () => {
    const node = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g');
    const anyGraph = fc.dictionary(node, fc.array(node, { maxLength: 3 }), { noNullPrototype: true }).map(graph);
    fc.assert(
      fc.property(anyGraph, (edges) => {
        const cycles = findCycles(edges);
        for (const cycle of cycles) {
          for (const [at, from] of cycle.entries()) {
            expect(edges.get(from)).toContain(cycle[(at + 1) % cycle.length]);
          }
        }
        // A strongly connected component is reported by its members.
        const knots = new Set(
          [...edges.keys()]
            .filter((from) => reaches(edges, from, from))
            .map((from) =>
              [...edges.keys()].filter((to) => reaches(edges, from, to) && reaches(edges, to, from)).join(),
            ),
        );
        expect(cycles.length).toBe(knots.size);
      }),
      { numRuns: 1000 },
    );
  });
});

/** Follows every edge until no new node is found. */
function reaches(edges: Graph, from: string, to: string): boolean {
  const seen = new Set(edges.get(from) ?? []);
  for (let before = -1; before !== seen.size; ) {
    before = seen.size;
    for (const node of [...seen]) for (const next of edges.get(node) ?? []) seen.add(next);
  }
  return seen.has(to);
}

function graph(edges: Readonly<Record<string, readonly string[]>>): Graph {
  return new Map(Object.entries(edges));
}
