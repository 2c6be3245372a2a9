// `tools/call` of an echo over HTTP and stdio, in one run: an agent of this server, journaled, against a tool of the official SDKs'
// own servers, in memory.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endAll, forkPart, nextMessage } from './support/child.ts';
import { LinePeer } from './support/line-load.ts';
import { load } from './support/load.ts';
import { inTurns, median, medianRatio, table } from './support/measure.ts';

export async function run(): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-bench-'));
  const children: ChildProcess[] = [];
  const start = async <Message>(file: string, args: readonly string[]): Promise<Message> => {
    const child = forkPart(new URL(file, import.meta.url), args);
    children.push(child);
    return nextMessage<Message>(child);
  };
  try {
    const agent = fileURLToPath(new URL('./support/agent.mjs', import.meta.url));
    const ours = await start<Started>('./e2a/server.mjs', [join(folder, 'data'), 'sqlite', agent]);
    const [v1, v2] = [
      await start<Started>('./mcp/sdk-server.mjs', ['v1']),
      await start<Started>('./mcp/sdk-server.mjs', ['v2']),
    ];
    const contenders = {
      'this server, session': await sessionCalls(ours, 'ask_bench'),
      'SDK 1, session': await sessionCalls(v1, 'echo'),
      'this server, 2026-07-28': modernCalls(ours, 'ask_bench'),
      'SDK 2, 2026-07-28': modernCalls(v2, 'echo'),
    };
    const rounds = await inTurns(contenders, ROUNDS, ({ port, request }) =>
      load({ port, connections: 64, milliseconds: 1200, next: () => request }),
    );
    const names = Object.keys(contenders) as (keyof typeof contenders)[];
    const rows = names.map((name) => [
      name,
      median(rounds.map((round) => round[name].perSecond)).toFixed(0),
      median(rounds.map((round) => round[name].p50)).toFixed(2),
      median(rounds.map((round) => round[name].p99)).toFixed(2),
    ]);
    console.log(table([['', 'calls/s', 'p50 ms', 'p99 ms'], ...rows]));
    const shortfalls: string[] = [];
    for (const [name, base] of [
      ['this server, session', 'SDK 1, session'],
      ['this server, 2026-07-28', 'SDK 2, 2026-07-28'],
    ] as const) {
      const ratio = medianRatio(rounds, name, base, ({ perSecond }) => perSecond);
      console.log(`${name}: ${ratio.toFixed(2)} × ${base}, at least ${WANTED} × wanted`);
      if (ratio < WANTED) shortfalls.push(`${name}: ${ratio.toFixed(2)} × ${base}, ${WANTED} × wanted`);
    }
    return [...shortfalls, ...(await measureStdio(folder, agent))];
  } finally {
    await endAll(children);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The command with its own server, and a store on disk. */
async function measureStdio(folder: string, agent: string): Promise<readonly string[]> {
  const config = join(folder, 'stdio.yaml');
  const agents = { bench: { driver: 'module', module: agent, max_parallel: 100_000, idempotent: true } };
  const limits = { requests_per_minute: MANY, requests_per_hour: MANY, requests_per_day: MANY };
  writeFileSync(config, JSON.stringify({ agents, limits }));
  const command = fileURLToPath(new URL('../packages/cli/bin/dragoman.js', import.meta.url));
  const theirs = fileURLToPath(new URL('./mcp/sdk-stdio.mjs', import.meta.url));
  const children: ChildProcess[] = [];
  const open = async (args: readonly string[], tool: string) => {
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    children.push(child);
    const peer = new LinePeer(child);
    await peer.exchange((id) => rpc(id, 'initialize', OPENING));
    peer.tell(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }));
    return { peer, call: (id: number) => rpc(id, 'tools/call', callOf(tool)) };
  };
  try {
    const contenders = {
      ours: await open([command, 'mcp', '--config', config, '--data', join(folder, 'stdio')], 'ask_bench'),
      sdk: await open([theirs], 'echo'),
    };
    const rounds = await inTurns(contenders, ROUNDS, ({ peer, call }) =>
      peer.load(call, { atOnce: 64, milliseconds: 1200 }),
    );
    const rate = (name: keyof typeof contenders) => median(rounds.map((round) => round[name].perSecond)).toFixed(0);
    const ratio = medianRatio(rounds, 'ours', 'sdk', ({ perSecond }) => perSecond);
    const summary = `stdio: ${ratio.toFixed(2)} × SDK 1`;
    console.log(`${summary} (${rate('ours')} of ${rate('sdk')} calls/s), at least ${WANTED_STDIO} × wanted`);
    return ratio < WANTED_STDIO ? [`${summary}, ${WANTED_STDIO} × wanted`] : [];
  } finally {
    for (const child of children) child.stdin?.end();
    await Promise.all(children.map((child) => new Promise((resolve) => child.once('exit', resolve))));
  }
}

interface Started {
  readonly port: number;
  readonly key?: string;
}

interface Calls {
  readonly port: number;
  /** One call, as the bytes of a whole HTTP request. */
  readonly request: string;
}

async function sessionCalls(server: Started, tool: string): Promise<Calls> {
  const session = await openSession(server, rpc(1, 'initialize', OPENING));
  return {
    port: server.port,
    request: post(server, rpc(1, 'tools/call', callOf(tool)), { 'Mcp-Session-Id': session }),
  };
}

function modernCalls(server: Started, tool: string): Calls {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': tool };
  return { port: server.port, request: post(server, rpc(1, 'tools/call', { ...callOf(tool), _meta }), headers) };
}

async function openSession(server: Started, body: string): Promise<string> {
  const headers = { ...headersFor(server), Connection: 'close' };
  const answer = await fetch(`http://127.0.0.1:${server.port}/mcp`, { method: 'POST', headers, body });
  await answer.text();
  const id = answer.headers.get('mcp-session-id') ?? '';
  const initialized = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
  const more = { ...headers, 'Mcp-Session-Id': id };
  await fetch(`http://127.0.0.1:${server.port}/mcp`, { method: 'POST', headers: more, body: initialized });
  return id;
}

function post(server: Started, body: string, headers: Readonly<Record<string, string>>): string {
  const all = {
    Host: `127.0.0.1:${server.port}`,
    ...headersFor(server),
    ...headers,
    'Content-Length': String(body.length),
  };
  const fields = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /mcp HTTP/1.1\r\n${fields.join('')}\r\n${body}`;
}

function headersFor({ key }: Started): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    ...(key !== undefined && { Authorization: `Bearer ${key}` }),
  };
}

function rpc(id: number, method: string, params: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

function callOf(name: string) {
  return { name, arguments: { prompt: 'hello my world' } };
}

const OPENING = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
const MANY = 1_000_000_000;
const ROUNDS = 5;
const WANTED = 2;
const WANTED_STDIO = 1.5;
