import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { call } from './call.ts';
import { SocketClient } from './socket-client.ts';
import type { System } from './system.ts';
import { type SentWorkflow, sendWorkflows } from './workflow-load.ts';

/** A request of a client, and everything the client received for it before the server died. */
export interface Sent {
  readonly owner: Owner;
  readonly transport: Transport;
  readonly envelope: JsonObject & { readonly request_id: string; readonly is_stream: boolean };
  readonly content: string;
  /** Where the tool counts its calls, if it goes to one. */
  readonly counted?: string;
  /** The server has accepted it: with the headers of an answer, or a frame. */
  isAcknowledged: boolean;
  /** The text of each frame, as received. */
  readonly frames: string[];
}

export interface Owner {
  /** In everything it sends, and in nothing that anybody else sends. */
  readonly canary: string;
  readonly key: string;
}

const TRANSPORTS = ['json', 'sse', 'ndjson', 'socket'] as const;
export type Transport = (typeof TRANSPORTS)[number];
export type Moment = 'headers' | 'frame' | 'final';

export interface LoadOptions {
  readonly system: System;
  readonly owners: readonly Owner[];
  readonly life: string;
  readonly random: () => number;
  /** Where the tool counts its calls. */
  readonly counted: string;
  /** Called for everything that a client receives. */
  readonly onMoment?: (moment: Moment) => void;
  /** One request is sent with this, when a few have gone before it. */
  readonly crash?: JsonObject;
}

/** Clients by every endpoint at once, one for each owner, each sending until the server is gone. */
export class Load {
  readonly sent: Sent[] = [];
  readonly workflows: SentWorkflow[] = [];
  readonly #options: LoadOptions;
  #crash: JsonObject | undefined;
  #isOver = false;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#crash = options.crash;
  }

  /** Resolves when every client has lost its server. */
  async run(): Promise<void> {
    const { system, owners } = this.#options;
    void system.exited.then(() => {
      this.#isOver = true;
    });
    const clients = owners.flatMap((owner) => [
      ...TRANSPORTS.map((transport) => this.#unlessBroken(() => this.#client(owner, transport))),
      this.#unlessBroken(() => this.#sendWorkflows(owner)),
    ]);
    await Promise.all(clients);
  }

  /** What was under way when the server died breaks off. Anything else is not expected. */
  async #unlessBroken(client: () => Promise<void>): Promise<void> {
    try {
      await client();
    } catch (error) {
      await this.#options.system.exited;
      if (!isBroken(error)) throw error;
    }
  }

  #sendWorkflows(owner: Owner): Promise<void> {
    const { system, life, counted } = this.#options;
    return sendWorkflows({
      system,
      owner,
      life,
      counted,
      isOver: () => this.#isOver,
      onSent: (sent) => this.workflows.push(sent),
    });
  }

  async #client(owner: Owner, transport: Transport): Promise<void> {
    const { system } = this.#options;
    const socket = transport === 'socket' ? await SocketClient.open(system.url, owner.key) : undefined;
    for (let number = 0; !this.#isOver; number += 1) await this.#send(this.#next(owner, transport, number), socket);
  }

  #next(owner: Owner, transport: Transport, number: number): Sent {
    const { random, life, counted } = this.#options;
    const isStream = transport === 'json' ? false : random() < 0.8;
    const words = Array.from({ length: 1 + Math.floor(random() * 8) }, (_, index) => `${owner.canary}-${index}`);
    const content = words.join(' ');
    // The owners use the same ids: only the key distinguishes them.
    const crash = transport === 'json' ? {} : this.#takeCrash(number);
    const requestId = `${life}-${transport}-${number}`;
    const isForTool = !('crash' in crash) && random() < 0.2;
    const envelope = {
      request_id: requestId,
      method: isForTool ? 'count' : 'chat.send',
      session_id: `session-${number % 3}`,
      // A unary answer has no frame before the last, at which the server could die.
      is_stream: isStream || 'crash' in crash,
      agent_ref: { id: isForTool ? 'tools' : (AGENTS[Math.floor(random() * AGENTS.length)] ?? 'wide') },
      params: isForTool
        ? { id: `${owner.canary}-${requestId}`, file: counted }
        : { content, pause_ms: random() < 0.5 ? 0 : Math.ceil(random() * 4), ...crash },
    };
    const sent: Sent = {
      owner,
      transport,
      envelope,
      content,
      ...(isForTool && { counted }),
      isAcknowledged: false,
      frames: [],
    };
    this.sent.push(sent);
    return sent;
  }

  #takeCrash(number: number): JsonObject {
    if (this.#crash === undefined || number < 2) return {};
    const crash = this.#crash;
    this.#crash = undefined;
    return crash;
  }

  async #send(sent: Sent, socket: SocketClient | undefined): Promise<void> {
    if (socket !== undefined) {
      socket.send(sent.envelope);
      return this.#listen(sent, socket.frames(sent.envelope.request_id));
    }
    const { system } = this.#options;
    const { owner, envelope } = sent;
    const answer = await call(system.url, {
      method: 'POST',
      path: '/e2a',
      key: owner.key,
      accept: acceptOf(sent.transport),
      json: envelope,
    });
    if (answer.status === 503) return;
    if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
    sent.isAcknowledged = true;
    this.#options.onMoment?.('headers');
    await this.#listen(sent, answer.frames());
  }

  async #listen(sent: Sent, frames: AsyncIterable<string>): Promise<void> {
    for await (const frame of frames) {
      // A server that is stopping refuses; what it refuses it has not taken.
      if (isRefusal(frame)) return;
      sent.isAcknowledged = true;
      sent.frames.push(frame);
      this.#options.onMoment?.(JSON.parse(frame).is_final === true ? 'final' : 'frame');
    }
  }
}

export function acceptOf(transport: Transport): string {
  return { json: 'application/json', sse: 'text/event-stream', ndjson: 'application/x-ndjson', socket: NDJSON }[
    transport
  ];
}

function isRefusal(frame: string): boolean {
  const { body } = JSON.parse(frame);
  return body.code === 'E2A.BUSY' || body.code === 'E2A.UNAVAILABLE';
}

function isBroken(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return BROKEN.has(code) || /closed before|WebSocket was closed|Unexpected server response/.test(error.message);
}

const NDJSON = 'application/x-ndjson';
const BROKEN: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE']);

/** With places for all, with one place, and one that starts before its request is on the disk. */
const AGENTS = ['wide', 'narrow', 'pure'];
