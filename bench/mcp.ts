// `tools/call` of an echo over HTTP, in one run: an agent of this server, journaled, against a tool of the official SDKs' own
// servers, in memory.
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endAll, forkPart, nextMessage } from './support/child.ts';
import { load } from './support/load.ts';
import { inTurns, median, medianRatio, table } from './support/measure.ts';

export async function run(): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-bench-'));
  const children: ChildProcess[] = [];
  const start = async <Told>(file: string, args: readonly string[]): Promise<Told> => {
    const child = forkPart(new URL(file, import.meta.url), args);
    children.push(child);
    return nextMessage<Told>(child);
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
      load({ port, connections: 16, milliseconds: 1500, next: () => request }),
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
    return shortfalls;
  } finally {
    await endAll(children);
    rmSync(folder, { recursive: true, force: true });
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
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
  const session = await openSession(server, bodyOf('initialize', params));
  return {
    port: server.port,
    request: post(server, bodyOf('tools/call', callOf(tool)), { 'Mcp-Session-Id': session }),
  };
}

function modernCalls(server: Started, tool: string): Calls {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': tool };
  return { port: server.port, request: post(server, bodyOf('tools/call', { ...callOf(tool), _meta }), headers) };
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

function bodyOf(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
}

function callOf(name: string) {
  return { name, arguments: { prompt: 'hello my world' } };
}

const ROUNDS = 5;
const WANTED = 2;
