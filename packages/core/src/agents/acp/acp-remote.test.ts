import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { isAlive } from '../../../test-support/is-alive.ts';
import { SilentLog } from '../../../test-support/silent-log.ts';
import { systemClock } from '../../../test-support/system-clock.ts';
import { TestClock } from '../../../test-support/test-clock.ts';
import { hostPortOf } from '../../gate/host-port.ts';
import { openGate } from '../../gate/network-gate.ts';
import { JsonReader } from '../../worker-threads/json-reader.ts';
import { eventually } from '../call.contract.ts';
import type { AcpRemoteOptions } from './acp-remote.ts';
import { acpStreamableHttp } from './acp-streamable-http.ts';
import type { OpenAcpTransport } from './acp-transport.ts';
import { acpWebSocket } from './acp-websocket.ts';
import { Coder, type CoderOptions, FAKE_PROGRAM, textOf } from './coder.contract.ts';

// The fake program behind a URL. Over a network a program can do everything that it can do over its standard streams.

interface Place {
  readonly scheme: 'ws' | 'http';
  readonly connect: (options: AcpRemoteOptions) => OpenAcpTransport;
  /** Serves a program for each connection. */
  readonly serve: (server: Server, start: () => ChildProcess) => void;
}

const PLACES: Readonly<Record<string, Place>> = {
  'a WebSocket': {
    scheme: 'ws',
    connect: acpWebSocket,
    serve: (server, start) => {
      new WebSocketServer({ server }).on('connection', (socket) => {
        const child = start();
        createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => socket.send(line));
        socket.on('message', (data) => child.stdin?.write(`${data}\n`));
        socket.once('close', () => child.kill('SIGKILL'));
        child.once('exit', () => socket.terminate());
      });
    },
  },
  'Streamable HTTP': {
    scheme: 'http',
    connect: acpStreamableHttp,
    serve: (server, start) => {
      const connections: HttpProgram[] = [];
      server.on('request', (request, response) => {
        const id = request.headers['acp-connection-id'];
        if (id === undefined) connections.push(new HttpProgram(String(connections.length), start()));
        void connections[Number(id ?? connections.length - 1)]?.handle(request, response);
      });
    },
  },
};

/** One connection over Streamable HTTP: what the program sends goes to the stream of its session, or to that of the connection. */
class HttpProgram {
  readonly #id: string;
  readonly #child: ChildProcess;
  readonly #streams = new Map<string, ServerResponse>();
  /** The session of each request of the client. */
  readonly #sessionOf = new Map<unknown, string>();
  #onInitialized: ((line: string) => void) | undefined;

  constructor(id: string, child: ChildProcess) {
    this.#id = id;
    this.#child = child;
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => this.#send(line));
    child.once('exit', () => {
      for (const stream of this.#streams.values()) stream.destroy();
    });
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const session = String(request.headers['acp-session-id'] ?? '');
    if (request.method === 'GET') {
      this.#streams.set(session, response);
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n');
      return;
    }
    if (request.method === 'DELETE') {
      this.#child.kill('SIGKILL');
      response.writeHead(202).end();
      return;
    }
    let text = '';
    for await (const part of request) text += part;
    const { id, method } = JSON.parse(text);
    this.#sessionOf.set(id, session);
    if (method === 'initialize') {
      this.#onInitialized = (line) => response.writeHead(200, { 'acp-connection-id': this.#id }).end(line);
    } else response.writeHead(202).end();
    this.#child.stdin?.write(`${text}\n`);
  }

  #send(line: string): void {
    if (this.#onInitialized !== undefined) {
      this.#onInitialized(line);
      this.#onInitialized = undefined;
      return;
    }
    const stream = this.#streams.get(this.#sessionIn(line)) ?? this.#streams.get('');
    stream?.write(`data: ${line}\n\n`);
  }

  #sessionIn(line: string): string {
    try {
      const { id, params } = JSON.parse(line);
      return params?.sessionId ?? this.#sessionOf.get(id) ?? '';
    } catch {
      return '';
    }
  }
}

describe.each(Object.entries(PLACES))('over %s', (_, { scheme, connect, serve }) => {
  /** The fake program on a server, and the pids of its processes. */
  async function remote(options: CoderOptions = {}) {
    const pids: number[] = [];
    const server = createServer();
    serve(server, () => {
      const child = spawn(process.execPath, [FAKE_PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
      child.stdin.on('error', () => {});
      pids.push(child.pid ?? 0);
      onTestFinished(() => void child.kill('SIGKILL'));
      return child;
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = new URL(`${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/acp`);
    const gate = openGate({ clock: systemClock, log: new SilentLog() }).allowing([hostPortOf(url)]);
    const open = connect({ id: 'coder', url, headers: {}, gate, clock: systemClock, reader: new JsonReader() });
    const coder = new Coder('', { open, ...options });
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return { coder, pids };
  }

  test('garbage, second answers, and updates of other sessions or after the end are dropped', async () => {
    const { coder, pids } = await remote();
    expect(await coder.text('garbage', { session_id: 's' })).toBe('still here');
    expect(await coder.text('twice', { session_id: 's' })).toBe('once');
    expect(await coder.text('foreign', { session_id: 's' })).toBe('for you');
    expect(await coder.text('late', { session_id: 's' })).toBe('in time');
    expect(await coder.text('echo next', { session_id: 's' })).toBe('echo next ');
    expect(pids).toHaveLength(1);
  });

  test('a flood of updates arrives whole and in order', async () => {
    const { coder } = await remote();
    expect((await coder.text('flood')).length).toBe(500_000);
  });

  test('a program that dies fails its prompts, and the next prompt connects again', async () => {
    const { coder, pids } = await remote();
    const held = coder.ask('hold', { session_id: 'other' });
    await eventually(() => textOf(held.frames)).toBe('started');
    for (const frames of [await coder.ask('die').over, await held.over]) {
      expect(frames.at(-1)?.body).toMatchObject({
        code: 'E2A.AGENT_ERROR',
        message: expect.stringContaining('The connection to the agent was lost'),
      });
    }
    expect(await coder.text('echo on')).toBe('echo on ');
    expect(pids).toHaveLength(2);
  });

  test('requests for files and terminals are refused', async () => {
    const { coder } = await remote();
    expect(await coder.text('file')).toBe('-32601 -32601');
  });

  test('a permission question is put to a person, and the answer goes back', async () => {
    const { coder } = await remote();
    const { over } = coder.ask('permission', { session_id: 's' });
    await coder.answer({ option_id: 'no' });
    expect(textOf(await over)).toContain('"optionId":"no"');
  });

  test('a program that continues after session/cancel is left, and the next prompt connects again', async () => {
    const clock = new TestClock();
    const { coder, pids } = await remote({ clock });
    const { requestId, frames, over } = coder.ask('stubborn', { session_id: 's' });
    await eventually(() => textOf(frames)).toBe('started');
    coder.engine.runs.cancel({ owner: 'ada', requestId });
    expect((await over).at(-1)?.body).toMatchObject({ code: 'E2A.CANCELLED' });
    await eventually(async () => {
      await clock.advance(10_000);
      return isAlive(pids[0] ?? 0);
    }).toBe(false);
    expect(await coder.text('echo again', { session_id: 's' })).toBe('echo again ');
    expect(pids).toHaveLength(2);
  });

  test('a message that exceeds the limit is reported in the answer', async () => {
    const { coder } = await remote();
    const frames = await coder.ask('oversized', { session_id: 's' }).over;
    const answer = JSON.stringify(frames.map(({ body }) => body));
    // A WebSocket cannot continue after such a message.
    expect(answer).toContain(
      scheme === 'ws' ? 'The connection to the agent was lost' : 'exceeds 8 MiB and was dropped',
    );
    expect(await coder.text('echo on', { session_id: 's' })).toBe('echo on ');
  });
});
