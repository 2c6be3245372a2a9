// A trivial tool over stdin and stdout, in one run: the A2E wire host against a bare NDJSON echo and against the official
// MCP SDK, and an MCP server's tool through the host against the same tool with the SDK alone. Beside them, to compare:
// what does next to nothing instead, a bare echo for the tool call and a relay of bytes for the bridge.
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endAll, forkPart, nextMessage } from './support/child.ts';
import { boundsOfMedian, inTurns, median, ratiosOf, table } from './support/measure.ts';

export async function run(): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-bench-'));
  const config = join(folder, 'dragoman.yaml');
  const mcp = { command: process.execPath, args: [fileOf('mcp-server.mjs')] };
  writeFileSync(config, JSON.stringify({ tools: [fileOf('tools.mjs')], mcp_servers: { sdk: mcp } }));
  const children: ChildProcess[] = [];
  const contenders: Record<string, Contender> = {};
  try {
    for (const name of NAMES) {
      const child = forkPart(new URL('./wire/contender.mjs', import.meta.url), [name, config]);
      children.push(child);
      await nextMessage(child);
      contenders[name] = (parallel, milliseconds) => {
        const message = nextMessage<Slice>(child);
        child.send({ parallel, milliseconds });
        return message;
      };
    }
    return judge(await measure(contenders));
  } finally {
    await endAll(children);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes this many calls at once, for so long. */
type Contender = (parallel: number, milliseconds: number) => Promise<Slice>;

type Rounds = Record<string, Record<How, Slice>>[];

type How = (typeof HOWS)[number]['name'];

function judge(rounds: Rounds): string[] {
  const titles = HOWS.map(({ title }) => title);
  const each = (cell: (how: How) => string) => HOWS.map(({ name }) => cell(name));
  console.log(
    table([
      ['', ...titles.map((title) => `calls/s, ${title}`), ...titles.map((title) => `CPU µs a call, ${title}`)],
      ...NAMES.map((name) => [
        name,
        ...each((how) => median(rounds.map((round) => rateOf(round[name]?.[how]))).toFixed(0)),
        ...each((how) => cpuPerCall(rounds.map((round) => round[name]?.[how])).toFixed(0)),
      ]),
    ]),
  );
  const shortfalls: string[] = [];
  const lines: string[][] = [['ratio', ...titles.flatMap((title) => [title, 'by chance']), 'wanted']];
  const compare = (what: string, a: string, b: string, bound?: Bound) => {
    const ratios = HOWS.map(({ name }) => ratiosOf(rounds, a, b, (slices) => rateOf(slices[name])));
    const values = ratios.map(median);
    lines.push([
      what,
      ...ratios.flatMap((each, index) => [`${values[index]?.toFixed(2)} ×`, betweenBounds(each)]),
      bound === undefined ? 'to compare' : worded(bound),
    ]);
    if (bound === undefined) return;
    for (const [index, value] of values.entries()) {
      const isMet = 'atLeast' in bound ? value >= at(bound.atLeast, index) : value <= at(bound.atMost, index);
      if (!isMet) shortfalls.push(`${what}, ${titles[index]}: ${value.toFixed(2)} ×, ${worded(bound)} wanted`);
    }
  };
  compare('calls per second, of the MCP SDK', 'wire, our client', 'MCP SDK', { atLeast: [1.2, 2.5] });
  compare('  a bare echo, that calls nothing', 'bare NDJSON echo', 'MCP SDK');
  compare('time of a call, of a bare echo', 'bare NDJSON echo', 'wire, bare client', { atMost: [1.6, 1.6] });
  compare('time through the wire, of the MCP SDK alone', 'MCP SDK', 'MCP server through the wire', {
    atMost: [1.6, 1.6],
  });
  compare('  a bare client and a relay of bytes', 'MCP SDK', 'MCP server, bare relay');
  console.log(`\n${table(lines)}`);
  return shortfalls;
}

/** One figure for each of `HOWS`. */
type Bound = { readonly atLeast: readonly number[] } | { readonly atMost: readonly number[] };

function worded(bound: Bound): string {
  return 'atLeast' in bound ? `at least ${bound.atLeast.join(', ')} ×` : `at most ${bound.atMost.join(', ')} ×`;
}

function at(figures: readonly number[], index: number): number {
  return figures[index] ?? Number.NaN;
}

function betweenBounds(ratios: readonly number[]): string {
  const [low, high] = boundsOfMedian(ratios);
  return `${low.toFixed(2)} – ${high.toFixed(2)}`;
}

/** In turns, many and short: what else runs on the machine then slows all of a round, or one round. */
async function measure(contenders: Readonly<Record<string, Contender>>): Promise<Rounds> {
  // Long enough for the optimising compilers at both ends.
  for (const slice of Object.values(contenders)) for (const { parallel } of HOWS) await slice(parallel, WARM_UP_MS);
  return inTurns(contenders, ROUNDS, async (slice) => {
    const slices: [string, Slice][] = [];
    for (const { name, parallel } of HOWS) slices.push([name, await slice(parallel, SLICE_MS)]);
    return Object.fromEntries(slices) as Record<How, Slice>;
  });
}

interface Slice {
  readonly calls: number;
  readonly milliseconds: number;
  /** Of every process that takes part: what other programs on the machine do changes it little. */
  readonly cpuMicroseconds: number;
}

function rateOf({ calls, milliseconds }: Slice = NOTHING): number {
  return (1000 * calls) / milliseconds;
}

function cpuPerCall(slices: readonly (Slice | undefined)[]): number {
  const sum = (of: (slice: Slice) => number) => slices.reduce((total, one = NOTHING) => total + of(one), 0);
  return sum(({ cpuMicroseconds }) => cpuMicroseconds) / sum(({ calls }) => calls);
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(`./wire/${name}`, import.meta.url));
}

/** Each a line of `contender.mjs`. */
const NAMES = [
  'bare NDJSON echo',
  'wire, bare client',
  'wire, our client',
  'MCP SDK',
  'MCP server through the wire',
  'MCP server, bare relay',
];
const NOTHING: Slice = { calls: Number.NaN, milliseconds: 1, cpuMicroseconds: Number.NaN };
/** How many calls at once. */
const HOWS = [
  { name: 'one', title: '1 at a time', parallel: 1 },
  { name: 'many', title: '16 at once', parallel: 16 },
] as const;
const WARM_UP_MS = 3_000;
/** With a quarter of them, chance alone moved a ratio by a tenth either way. */
const ROUNDS = 96;
const SLICE_MS = 75;
