// A trivial tool over stdin and stdout, in one run: the A2E wire host against a bare NDJSON echo and against the official
// MCP SDK, and an MCP server's tool through the host against the same tool with the SDK alone. The bounds beside them are what
// no host could pass on this machine: a bare echo instead of the tool call, a relay of bytes instead of the bridge.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { table } from './measure.ts';
import { cpuOfTree } from './wire/cpu-of-tree.ts';

export async function run(): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-bench-'));
  const config = join(folder, 'dragoman.yaml');
  const mcp = { command: process.execPath, args: [fileOf('mcp-server.mjs')] };
  writeFileSync(config, JSON.stringify({ tools: [fileOf('tools.mjs')], mcp_servers: { sdk: mcp } }));
  const children: ChildProcess[] = [];
  const start = (args: readonly string[]) => {
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    children.push(child);
    return child;
  };
  const host = () => start([DRAGOMAN, 'wire', '--config', config]);
  const sdk = new Client({ name: 'bench', version: '1.0.0' });
  // As it is published, like the SDK: what compiles the sources on the way wraps every function that is made.
  const { connectWire, streamWire }: typeof import('../packages/client/src/wire/index.ts') = await import(OUR_CLIENT);
  try {
    const bare = new RawPeer(start([fileOf('echo.mjs')]));
    const raw = new RawPeer(host());
    await raw.ask({ a2e: '1.0', type: 'handshake/req', id: 'hello', ts: 1 });
    const { stdout, stdin } = host();
    const wire = await connectWire({ transport: streamWire({ input: stdout, output: stdin }) });
    await wire.tools();
    await sdk.connect(new StdioClientTransport({ ...mcp, stderr: 'inherit' }));
    const relay = new RawPeer(start([fileOf('relay.mjs'), mcp.command, ...mcp.args]));
    await relay.ask(INITIALIZE);
    relay.tell({ jsonrpc: '2.0', method: 'notifications/initialized' });
    const rates = await measure({
      'bare NDJSON echo': () => bare.ask(request()),
      'wire, bare client': () => raw.ask(request()),
      'wire, our client': () => wire.call('echo', { message: TEXT }),
      'MCP SDK': () => sdk.callTool({ name: 'echo', arguments: { message: TEXT } }),
      'MCP server through the wire': () => wire.call('sdk__echo', { message: TEXT }),
      'MCP server, bare relay': () => relay.ask(mcpRequest()),
    });
    return judge(rates);
  } finally {
    await sdk.close();
    const over = children.map((child) => new Promise((resolve) => child.once('exit', resolve)));
    for (const child of children) child.stdin?.end();
    await Promise.all(over);
    rmSync(folder, { recursive: true, force: true });
  }
}

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
  const bound = (what: string, a: string, b: string) => {
    const values = (['one', 'many'] as const).map((how) => rate(a)[how] / rate(b)[how]);
    lines.push([`  ${what}`, ...values.map((value) => `${value.toFixed(2)} ×`), 'the bound']);
  };
  want('calls per second, of the MCP SDK', 'wire, our client', 'MCP SDK', 3, 'at least');
  bound('a bare echo, that calls nothing', 'bare NDJSON echo', 'MCP SDK');
  want('time of a call, of a bare echo', 'bare NDJSON echo', 'wire, bare client', 1.6, 'at most');
  want('time through the wire, of the MCP SDK alone', 'MCP SDK', 'MCP server through the wire', 1.6, 'at most');
  bound('a bare client and a relay of bytes', 'MCP SDK', 'MCP server, bare relay');
  console.log(`\n${table(lines)}`);
  return shortfalls;
}

/**
 * Calls per second, in turns: each round gives every contender a short slice, and the best slice counts. Many and short: what
 * else runs on the machine leaves each of them some.
 */
async function measure(contenders: Readonly<Record<string, () => Promise<unknown>>>): Promise<Rates> {
  // Long enough for the optimising compilers at both ends to have had their say.
  for (const call of Object.values(contenders)) {
    await slice(call, PARALLEL, WARM_UP_MS);
    await slice(call, 1, WARM_UP_MS);
  }
  const slices = new Map(Object.keys(contenders).map((name) => [name, { one: [] as Slice[], many: [] as Slice[] }]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, call] of Object.entries(contenders)) {
      slices.get(name)?.one.push(await slice(call, 1, SLICE_MS));
      slices.get(name)?.many.push(await slice(call, PARALLEL, SLICE_MS));
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

async function slice(call: () => Promise<unknown>, parallel: number, milliseconds: number): Promise<Slice> {
  const start = performance.now();
  const cpu = cpuOfTree();
  let calls = 0;
  const work = async () => {
    while (performance.now() - start < milliseconds) {
      await call();
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return { calls, milliseconds: performance.now() - start, cpuMicroseconds: cpuOfTree() - cpu };
}

function bestRate(slices: readonly Slice[]): number {
  return Math.max(...slices.map(({ calls, milliseconds }) => (1000 * calls) / milliseconds));
}

function cpuPerCall(slices: readonly Slice[]): number {
  const sum = (of: (slice: Slice) => number) => slices.reduce((total, one) => total + of(one), 0);
  return sum(({ cpuMicroseconds }) => cpuMicroseconds) / sum(({ calls }) => calls);
}

/** Sends a line and waits for the line with its id; nothing else. */
class RawPeer {
  readonly #stdin: NodeJS.WritableStream;
  readonly #waiting = new Map<string, (line: string) => void>();

  constructor({ stdin, stdout }: ChildProcess) {
    if (stdin === null || stdout === null) throw new Error('a child without pipes');
    this.#stdin = stdin;
    let begun = '';
    stdout.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (begun + chunk).split('\n');
      begun = lines.pop() ?? '';
      for (const line of lines) {
        const { id, req_id = id } = JSON.parse(line) as { id: string; req_id?: string };
        this.#waiting.get(req_id)?.(line);
        this.#waiting.delete(req_id);
      }
    });
  }

  ask(message: { readonly id: string; readonly [field: string]: unknown }): Promise<string> {
    return new Promise((resolve) => {
      this.#waiting.set(message.id, resolve);
      this.tell(message);
    });
  }

  tell(message: object): void {
    this.#stdin.write(`${JSON.stringify(message)}\n`);
  }
}

let requests = 0;
function request() {
  const id = `r${++requests}`;
  return { a2e: '1.0', type: 'tool/call/req', id, ts: 1, tool_name: 'echo', arguments: { message: TEXT } };
}

function mcpRequest() {
  const params = { name: 'echo', arguments: { message: TEXT } };
  return { jsonrpc: '2.0', id: `m${++requests}`, method: 'tools/call', params };
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(`./wire/${name}`, import.meta.url));
}

const OUR_CLIENT = new URL('../packages/client/dist/wire/index.js', import.meta.url).href;
const DRAGOMAN = fileURLToPath(new URL('../packages/cli/bin/dragoman.js', import.meta.url));
const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(4);
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 'hello',
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1.0.0' } },
};
const NOTHING: Rate = { one: Number.NaN, many: Number.NaN, cpuOne: Number.NaN, cpuMany: Number.NaN };
const PARALLEL = 16;
const WARM_UP_MS = 3_000;
const ROUNDS = 24;
const SLICE_MS = 150;
