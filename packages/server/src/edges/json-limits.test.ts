import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import type { Config } from '../config/config-schema.ts';
import { systemClock, systemIds } from '../parts/system-ports.ts';
import { type Server, startServer } from '../server.ts';

/** A server with these limits, an agent that has a key, and the admin's. */
async function serverWith(limits: NonNullable<Config['limits']>): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), 'json-limits-test-'));
  const server = await startServer({
    config: {
      port: 0,
      store: 'memory',
      // High rates, so that only the JSON limits refuse.
      limits: { requests_per_minute: 100_000, requests_per_hour: 100_000, ...limits },
      mailbox: { requests_per_minute: 100_000 },
      messages: { port: 0, unproven_per_minute: 100_000 },
      wire: { port: 0, socket: join(folder, 'wire.sock') },
    },
    folder,
    clock: systemClock,
    ids: systemIds,
    log: new SilentLog(),
    adminKey: ADMIN_KEY,
  });
  afterAll(async () => {
    await server.stop({ drainMs: 100 });
    rmSync(folder, { recursive: true, force: true });
  });
  await server.engine.callers.put({ agent_id: 'ada-agent', permissions: {} });
  const { secret } = await server.engine.keys.create({ agentId: 'ada-agent', role: 'agent' });
  return { server, key: secret };
}

interface Running {
  readonly server: Server;
  readonly key: string;
}

const ADMIN_KEY = 'an-admin-key-of-the-operator-0123456789';

/** The value of each limit, JSON that just keeps it, JSON that exceeds it, and the reported issue. */
const CASES = {
  json_depth: { limit: 5, good: nested(4), bad: nested(5), issue: 'expected at most 5 levels of nesting' },
  json_nodes: { limit: 100, good: zeros(98), bad: zeros(99), issue: 'expected at most 100 values in all' },
  json_key_bytes: { limit: 64, good: key(64), bad: key(65), issue: 'expected a key of at most 64 bytes; one of 65' },
  json_string_bytes: {
    limit: 1024,
    good: text(1024),
    bad: text(1025),
    issue: 'expected a value of at most 1024 bytes; one of 1025',
  },
  json_number_chars: {
    limit: 30,
    good: one(30),
    bad: one(31),
    issue: 'expected a finite number of at most 30 characters',
  },
} as const;

function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}
function zeros(count: number): string {
  return `[${Array(count).fill(0).join(',')}]`;
}
function key(bytes: number): string {
  return `{"${'k'.repeat(bytes)}":0}`;
}
function text(bytes: number): string {
  return `"${'t'.repeat(bytes)}"`;
}
function one(characters: number): string {
  return `1.${'0'.repeat(characters - 2)}`;
}

const JSON_BODY = 'application/json';
/** The answer of each endpoint to a text. */
const ENDPOINTS: Readonly<Record<string, (running: Running, json: string) => Promise<string>>> = {
  'E2A over HTTP': (running, json) => post(running, '/e2a', json),
  'E2A over a WebSocket': (running, json) => overWebSocket(running, '/e2a/ws', json),
  'the mailbox': (running, json) => post(running, '/a2a', json),
  'A2A messages over HTTP': (running, json) => post(running, '/a2a/messages', json),
  'A2A messages over a WebSocket': (running, json) => overWebSocket(running, '/a2a/messages/ws', json),
  'A2A messages over TCP': (running, json) => overLines({ port: portOf(running.server.messages.url) }, json),
  'the wire over a WebSocket': (running, json) => overWebSocket(running, '/a2e/ws', json),
  'the wire over TCP': (running, json) => overLines({ port: portOf(running.server.wire.url) }, json),
  'the wire over a unix socket': (running, json) => overLines({ path: running.server.wire.socket ?? '' }, json),
  'the body of a workflow': (running, json) => post(running, '/api/v1/workflows/validate', json),
  'a line of a workflow': (running, json) => post(running, '/api/v1/workflows/validate', json, 'application/jsonl'),
  'the registry of agents': (running, json) => post(running, '/agents/register', json),
  'the search of knowledge': (running, json) => post(running, '/api/v1/knowledge/search', json),
  'administration of agents': ({ server }, json) => post({ server, key: ADMIN_KEY }, '/admin/v1/agents', json),
  'administration of keys': ({ server }, json) => post({ server, key: ADMIN_KEY }, '/admin/v1/keys', json),
  'administration of APIs': (running, json) => put(running, '/admin/v1/apis/x', json),
  'administration of knowledge': (running, json) => put(running, '/admin/v1/knowledge/x', json),
};

const withDefaults = await serverWith({});

describe.each(Object.entries(CASES))('limits.%s', async (name, { limit, good, bad, issue }) => {
  const bounded = await serverWith({ [name]: limit });

  test.each(Object.entries(ENDPOINTS))('applies to %s', async (_name, reply) => {
    expect(await reply(bounded, `{"x":${bad}}`)).toContain(issue);
    expect(await reply(bounded, `{"x":${good}}`)).not.toContain(issue);
    expect(await reply(withDefaults, `{"x":${bad}}`)).not.toMatch(/expected (?:a|at most) /);
  });
});

describe('by default', () => {
  test.each(Object.entries(ENDPOINTS))(
    'JSON has 64 levels and numbers 64 characters at most: %s',
    async (_name, reply) => {
      expect(await reply(withDefaults, `{"x":${nested(63)}}`)).not.toContain('levels of nesting');
      expect(await reply(withDefaults, `{"x":${nested(64)}}`)).toContain('expected at most 64 levels of nesting');
      expect(await reply(withDefaults, `{"x":${one(64)}}`)).not.toContain('64 characters');
      expect(await reply(withDefaults, `{"x":${one(65)}}`)).toContain(
        'expected a finite number of at most 64 characters',
      );
    },
  );

  test('keys and strings are bounded by the body, and there is one value for every 8 characters at most', async () => {
    const large = `{"x":${zeros(50_000)},"y":${key(10_000)},"z":${text(300_000)}}`;
    const wide = `{"x":${zeros(100_000)},"z":${text(300_000)}}`;
    for (const endpoint of ['E2A over HTTP', 'E2A over a WebSocket', 'A2A messages over HTTP', 'the wire over TCP']) {
      // The wire reads 64 KiB before a handshake.
      if (endpoint !== 'the wire over TCP')
        expect(await ENDPOINTS[endpoint]?.(withDefaults, large)).not.toMatch(/expected (?:a|at most) /);
      expect(await ENDPOINTS[endpoint]?.(withDefaults, wide)).toMatch(/expected at most \d+ (?:values in all|bytes)/);
    }
  });

  test('values may be as many as fit into 64 KiB', async () => {
    const dense = `{"x":${zeros(32_000)}}`;
    for (const reply of Object.values(ENDPOINTS)) expect(await reply(withDefaults, dense)).not.toMatch(/values in all/);
  });
});

test('only the kind of an issue of a credential is reported', async () => {
  const bounded = await serverWith({ json_depth: 5 });
  expect(await put(bounded, '/admin/v1/credentials/x', `{"x":${nested(5)}}`)).toContain('too_deep');
  expect(await put(withDefaults, '/admin/v1/credentials/x', `{"x":${nested(5)}}`)).not.toContain('too_deep');
});

test('a limit can be raised', async () => {
  const generous = await serverWith({ json_depth: 100, json_number_chars: 100 });
  for (const endpoint of ['E2A over HTTP', 'E2A over a WebSocket', 'the wire over TCP', 'the mailbox']) {
    expect(await ENDPOINTS[endpoint]?.(generous, `{"x":${nested(99)},"y":${one(100)}}`)).not.toMatch(
      /expected (?:a|at most) /,
    );
    expect(await ENDPOINTS[endpoint]?.(generous, `{"x":${nested(100)}}`)).toContain(
      'expected at most 100 levels of nesting',
    );
  }
});

async function post({ server, key }: Running, path: string, body: string, type = JSON_BODY): Promise<string> {
  const headers = { 'content-type': type, authorization: `Bearer ${key}` };
  const response = await fetch(`${server.url}${path}`, { method: 'POST', headers, body });
  return response.text();
}

async function put({ server }: Running, path: string, body: string): Promise<string> {
  const headers = { 'content-type': JSON_BODY, authorization: `Bearer ${ADMIN_KEY}` };
  return (await fetch(`${server.url}${path}`, { method: 'PUT', headers, body })).text();
}

/** The answer to the message; some endpoints send a greeting first. */
async function overWebSocket({ server, key }: Running, path: string, json: string): Promise<string> {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}${path}`, { headers: { 'x-api-key': key } });
  const received: string[] = [];
  const greetings = path === '/e2a/ws' ? 1 : 0;
  const answered = new Promise<void>((resolve) => {
    socket.on('message', (message) => {
      received.push(String(message));
      if (received.length > greetings) resolve();
    });
    socket.on('close', () => resolve());
  });
  await once(socket, 'open');
  socket.send(json);
  await answered;
  socket.terminate();
  return received.join('\n');
}

async function overLines(place: { readonly port: number } | { readonly path: string }, json: string): Promise<string> {
  const socket = 'port' in place ? connect(place.port, '127.0.0.1') : connect(place.path);
  socket.write(`${json}\n`);
  let received = '';
  for await (const chunk of socket) {
    received += chunk;
    if (received.includes('\n')) break;
  }
  socket.destroy();
  return received;
}

function portOf(url: string | undefined): number {
  return Number(new URL(url ?? '').port);
}
