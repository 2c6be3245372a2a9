// The Agent Client Protocol: updates of a running answer relayed over a WebSocket, journaled, against an agent and a client of the
// official SDK; the cost of a frame; a session of 100 turns loaded; the memory of an idle connection.
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as acp from '@agentclientprotocol/sdk';
import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client';
import { WebSocket } from 'ws';
import { AcpUpdates } from '../packages/protocols/src/acp/updates.ts';
import { newResponse } from '../packages/protocols/src/e2a/response.ts';
import { endAll, forkPart, nextMessage } from './support/child.ts';
import { inTurns, measure, median, medianRatio, table } from './support/measure.ts';

export async function run(): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-bench-'));
  const children: ChildProcess[] = [];
  try {
    const agent = fileURLToPath(new URL('./acp/agent.mjs', import.meta.url));
    const server = forkPart(new URL('./e2a/server.mjs', import.meta.url), [join(folder, 'data'), 'sqlite', agent]);
    const sdk = forkPart(new URL('./acp/sdk-server.mjs', import.meta.url), []);
    children.push(server, sdk);
    const [ours, theirs] = [await nextMessage<Started>(server), await nextMessage<Started>(sdk)];
    const results: readonly Result[] = [
      await relay(ours, theirs),
      frame(),
      await loading(ours),
      await idle(ours, server),
    ];
    console.log(
      table([['', 'measured', 'wanted'], ...results.map(({ what, shown, wanted }) => [what, shown, wanted])]),
    );
    return results.flatMap(({ what, shown, wanted, ok }) => (ok ? [] : [`${what}: ${shown}, ${wanted} wanted`]));
  } finally {
    await endAll(children);
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Started {
  readonly port: number;
  readonly key?: string;
}

interface Result {
  readonly what: string;
  readonly shown: string;
  readonly wanted: string;
  readonly ok: boolean;
}

/** Updates a second, of one answer. */
async function relay(ours: Started, theirs: Started): Promise<Result> {
  const client = await RawClient.open(ours);
  const session = await client.newSession();
  const stream = createWebSocketStream(`ws://127.0.0.1:${theirs.port}/acp`, { WebSocket: WebSocket as never });
  let received = 0;
  return acp
    .client({ name: 'bench' })
    .onNotification(acp.methods.client.session.update, () => {
      received += 1;
    })
    .connectWith(stream, async (context) => {
      await context.request(acp.methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
      const { sessionId } = await context.request(acp.methods.agent.session.new, { cwd: '/', mcpServers: [] });
      const prompt = [{ type: 'text' as const, text: String(UPDATES) }];
      const contenders = {
        ours: () => client.request('session/prompt', { sessionId: session, prompt }),
        sdk: () => context.request(acp.methods.agent.session.prompt, { sessionId, prompt }),
      };
      const rounds = await inTurns(contenders, ROUNDS, async (ask) => {
        const start = performance.now();
        await ask();
        return (UPDATES / (performance.now() - start)) * 1000;
      });
      if (client.updates < UPDATES * ROUNDS || received < UPDATES * ROUNDS) throw new Error('updates were lost');
      client.close();
      const ratio = medianRatio(rounds, 'ours', 'sdk', (perSecond) => perSecond);
      const perSecond = (name: 'ours' | 'sdk') => median(rounds.map((round) => round[name])).toFixed(0);
      return {
        what: 'relay of updates',
        shown: `${perSecond('ours')}/s, ${ratio.toFixed(2)} × the SDK pair (${perSecond('sdk')}/s)`,
        wanted: 'at least 2 ×',
        ok: ratio >= 2,
      };
    });
}

/** A frame of text to an update. */
function frame(): Result {
  const frames = Array.from({ length: 1000 }, (_, sequence) =>
    newResponse({ response_kind: 'e2a.chunk', sequence, body: { delta_kind: 'text', delta: 'word ' } }),
  );
  const { convert } = measure({
    convert: () => {
      const converter = new AcpUpdates({ requestId: 'r' });
      for (const one of frames) converter.convert(one);
    },
  });
  const microseconds = convert / 1000 / frames.length;
  return {
    what: 'frame to update',
    shown: `${microseconds.toFixed(2)} µs`,
    wanted: 'at most 10 µs',
    ok: microseconds <= 10,
  };
}

/** `session/load` of a session of 100 turns, until it is answered. */
async function loading(ours: Started): Promise<Result> {
  const client = await RawClient.open(ours);
  const sessionId = await client.newSession();
  const prompt = [{ type: 'text', text: '10' }];
  for (let turn = 0; turn < TURNS; turn++) await client.request('session/prompt', { sessionId, prompt });
  const times: number[] = [];
  for (let round = 0; round < ROUNDS * 2; round++) {
    const start = performance.now();
    await client.request('session/load', { sessionId, cwd: '/', mcpServers: [] });
    times.push(performance.now() - start);
  }
  client.close();
  const milliseconds = median(times);
  return {
    what: `session/load of ${TURNS} turns`,
    shown: `${milliseconds.toFixed(1)} ms`,
    wanted: 'at most 50 ms',
    ok: milliseconds <= 50,
  };
}

/** Memory of the server for each connection that has a session and does nothing. */
async function idle(ours: Started, server: ChildProcess): Promise<Result> {
  const open = async (count: number) => {
    const clients: RawClient[] = [];
    for (let index = 0; index < count; index++) {
      const client = await RawClient.open(ours);
      await client.newSession();
      clients.push(client);
    }
    return clients;
  };
  const memory = () => {
    server.send('memory');
    return nextMessage<number>(server);
  };
  const warm = await open(CONNECTIONS / 4);
  const before = await memory();
  const clients = await open(CONNECTIONS);
  const each = ((await memory()) - before) / CONNECTIONS / 1024;
  for (const client of [...warm, ...clients]) client.close();
  return { what: 'idle connection', shown: `${each.toFixed(0)} KB`, wanted: 'at most 60 KB', ok: each <= 60 };
}

/** A client without an SDK: what it is sent is parsed and counted. */
class RawClient {
  updates = 0;
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  #next = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => {
      const { id, result, error } = JSON.parse(String(data));
      if (id === undefined) {
        this.updates += 1;
        return;
      }
      if (error === undefined) this.#waiting.get(id)?.resolve(result);
      else this.#waiting.get(id)?.reject(new Error(JSON.stringify(error)));
      this.#waiting.delete(id);
    });
  }

  static async open({ port, key }: Started): Promise<RawClient> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/acp`, { headers: { authorization: `Bearer ${key}` } });
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    const client = new RawClient(socket);
    await client.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
    return client;
  }

  request<Result>(method: string, params: object): Promise<Result> {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (result: unknown) => void, reject });
      this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    });
  }

  async newSession(): Promise<string> {
    return (await this.request<{ sessionId: string }>('session/new', { cwd: '/', mcpServers: [] })).sessionId;
  }

  close(): void {
    this.#socket.close();
  }
}

const UPDATES = 2000;
const ROUNDS = 15;
const TURNS = 100;
const CONNECTIONS = 400;
