// A trivial tool over stdin and stdout, in one run: the A2E wire host against a bare NDJSON echo and against the official
// MCP SDK, and an MCP server's tool through the host against the same tool with the SDK alone. Beside them, to compare:
// what does next to nothing instead, a bare echo for the tool call and a relay of bytes for the bridge.
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endAll, forkPart, nextMessage } from './support/child.ts';
import { table } from './support/measure.ts';

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
        const told = nextMessage<Slice>(child);
        child.send({ parallel, milliseconds });
        return told;
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

interface Rate {
  readonly one: number;
  readonly many: number;
  /** Of every process that takes part: what other programs on the machine do changes it little. */
  readonly cpuOne: number;
  readonly cpuMany: number;
}

type Rates = Readonly<Record<string, Rate>>;

function judge(rates: Rates): string[] {
  const rate = (name: string) => rates[name] ?? NOTHING;
  console.log(
    table([
      ['calls/s', '1 at a time', `${PARALLEL} at once`, 'CPU µs a call', `${PARALLEL} at once`],
      ...Object.entries(rates).map(([name, { one, many, cpuOne, cpuMany }]) =>
        [name, one, many, cpuOne, cpuMany].map((cell) => (typeof cell === 'number' ? cell.toFixed(0) : cell)),
      ),
    ]),
  );
  const shortfalls: string[] = [];
  const lines: string[][] = [['ratio', '1 at a time', `${PARALLEL} at once`, 'wanted']];
  const want = (what: string, a: string, b: string, bound: number, kind: 'at least' | 'at most') => {
    const values = (['one', 'many'] as const).map((how) => rate(a)[how] / rate(b)[how]);
    lines.push([what, ...values.map((value) => `${value.toFixed(2)} ×`), `${kind} ${bound} ×`]);
    for (const value of values) {
      const met = kind === 'at least' ? value >= bound : value <= bound;
      if (!met) shortfalls.push(`${what}: ${value.toFixed(2)} ×, ${kind} ${bound} wanted`);
    }
  };
  const compare = (what: string, a: string, b: string) => {
    const values = (['one', 'many'] as const).map((how) => rate(a)[how] / rate(b)[how]);
    lines.push([`  ${what}`, ...values.map((value) => `${value.toFixed(2)} ×`), 'to compare']);
  };
  want('calls per second, of the MCP SDK', 'wire, our client', 'MCP SDK', 3, 'at least');
  compare('a bare echo, that calls nothing', 'bare NDJSON echo', 'MCP SDK');
  want('time of a call, of a bare echo', 'bare NDJSON echo', 'wire, bare client', 1.6, 'at most');
  want('time through the wire, of the MCP SDK alone', 'MCP SDK', 'MCP server through the wire', 1.6, 'at most');
  compare('a bare client and a relay of bytes', 'MCP SDK', 'MCP server, bare relay');
  console.log(`\n${table(lines)}`);
  return shortfalls;
}

/**
 * Calls per second, in turns: each round gives every contender a short slice, and the best slice counts. Many and short: what
 * else runs on the machine leaves each of them some.
 */
async function measure(contenders: Readonly<Record<string, Contender>>): Promise<Rates> {
  // Long enough for the optimising compilers at both ends to have had their say.
  for (const slice of Object.values(contenders)) {
    await slice(PARALLEL, WARM_UP_MS);
    await slice(1, WARM_UP_MS);
  }
  const slices = new Map(Object.keys(contenders).map((name) => [name, { one: [] as Slice[], many: [] as Slice[] }]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, slice] of Object.entries(contenders)) {
      slices.get(name)?.one.push(await slice(1, SLICE_MS));
      slices.get(name)?.many.push(await slice(PARALLEL, SLICE_MS));
    }
  }
  return Object.fromEntries(
    [...slices].map(([name, { one, many }]) => [
      name,
      { one: bestRate(one), many: bestRate(many), cpuOne: cpuPerCall(one), cpuMany: cpuPerCall(many) },
    ]),
  );
}

interface Slice {
  readonly calls: number;
  readonly milliseconds: number;
  readonly cpuMicroseconds: number;
}

function bestRate(slices: readonly Slice[]): number {
  return Math.max(...slices.map(({ calls, milliseconds }) => (1000 * calls) / milliseconds));
}

function cpuPerCall(slices: readonly Slice[]): number {
  const sum = (of: (slice: Slice) => number) => slices.reduce((total, one) => total + of(one), 0);
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
const NOTHING: Rate = { one: Number.NaN, many: Number.NaN, cpuOne: Number.NaN, cpuMany: Number.NaN };
const PARALLEL = 16;
const WARM_UP_MS = 3_000;
const ROUNDS = 24;
const SLICE_MS = 150;
