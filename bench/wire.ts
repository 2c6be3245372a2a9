// A trivial tool over stdin and stdout, in one run: the A2E wire host against a bare NDJSON echo and against the official
// MCP SDK, and an MCP server's tool through the host against the same tool with the SDK alone.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { connectWire, streamWire } from '../packages/client/src/wire/index.ts';
import { table } from './measure.ts';

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
  try {
    const bare = new RawPeer(start([fileOf('echo.mjs')]));
    const raw = new RawPeer(host());
    await raw.ask({ a2e: '1.0', type: 'handshake/req', id: 'hello', ts: 1 });
    const { stdout, stdin } = host();
    const wire = await connectWire({ transport: streamWire({ input: stdout, output: stdin }) });
    await wire.tools();
    await sdk.connect(new StdioClientTransport({ ...mcp, stderr: 'inherit' }));
    const rates = await measure({
      'bare NDJSON echo': () => bare.ask(request()),
      'wire, bare client': () => raw.ask(request()),
      'wire, our client': () => wire.call('echo', { message: TEXT }),
      'MCP SDK': () => sdk.callTool({ name: 'echo', arguments: { message: TEXT } }),
      'MCP server through the wire': () => wire.call('sdk__echo', { message: TEXT }),
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

type Rates = Readonly<Record<string, { readonly one: number; readonly many: number }>>;

function judge(rates: Rates): string[] {
  const rate = (name: string) => rates[name] ?? { one: Number.NaN, many: Number.NaN };
  console.log(
    table([
      ['calls/s', '1 at a time', `${PARALLEL} at once`],
      ...Object.entries(rates).map(([name, { one, many }]) => [name, one.toFixed(0), many.toFixed(0)]),
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
  want('calls per second, of the MCP SDK', 'wire, our client', 'MCP SDK', 3, 'at least');
  want('time of a call, of a bare echo', 'bare NDJSON echo', 'wire, bare client', 1.6, 'at most');
  want('time through the wire, of the MCP SDK alone', 'MCP SDK', 'MCP server through the wire', 1.6, 'at most');
  console.log(`\n${table(lines)}`);
  return shortfalls;
}

/** Calls per second, in turns: each round gives every contender a short slice, and the best slice counts. */
async function measure(contenders: Readonly<Record<string, () => Promise<unknown>>>): Promise<Rates> {
  const best = Object.fromEntries(Object.keys(contenders).map((name) => [name, { one: 0, many: 0 }]));
  // Long enough for the optimising compilers at both ends to have had their say.
  for (const call of Object.values(contenders)) {
    await slice(call, PARALLEL, WARM_UP_MS);
    await slice(call, 1, WARM_UP_MS);
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, call] of Object.entries(contenders)) {
      const found = best[name];
      if (found === undefined) continue;
      found.one = Math.max(found.one, await slice(call, 1, SLICE_MS));
      found.many = Math.max(found.many, await slice(call, PARALLEL, SLICE_MS));
    }
  }
  return best;
}

async function slice(call: () => Promise<unknown>, parallel: number, milliseconds: number): Promise<number> {
  const start = performance.now();
  let calls = 0;
  const work = async () => {
    while (performance.now() - start < milliseconds) {
      await call();
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return (1000 * calls) / (performance.now() - start);
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
      this.#stdin.write(`${JSON.stringify(message)}\n`);
    });
  }
}

let requests = 0;
function request() {
  const id = `r${++requests}`;
  return { a2e: '1.0', type: 'tool/call/req', id, ts: 1, tool_name: 'echo', arguments: { message: TEXT } };
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(`./wire/${name}`, import.meta.url));
}

const DRAGOMAN = fileURLToPath(new URL('../packages/cli/bin/dragoman.js', import.meta.url));
const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(4);
const PARALLEL = 16;
const WARM_UP_MS = 3_000;
const ROUNDS = 8;
const SLICE_MS = 400;
