import { isObject, type Json, type JsonObject, retryAfterMs } from '@dragoman/protocols';
import {
  A2A_OPERATIONS,
  eventTo03,
  httpJsonMessageTo03,
  type Message,
  type MessagePart,
  type PeerEvent,
  readPeerEvent,
} from '@dragoman/protocols/lf-a2a';
import type { AllowList, InboundAnswer, OutboundHeader } from '../../gate/gate.ts';
import { headerOf } from '../../gate/header-of.ts';
import type { NetworkGate } from '../../gate/network-gate.ts';
import type { Clock } from '../../ports/ports.ts';
import type { JsonReader } from '../../worker-threads/json-reader.ts';
import { frameReaderFor } from '../http-frames.ts';
import type { IdleTimer } from '../idle-timer.ts';
import type { PeerInterface } from './peer-card.ts';
import { type PeerError, peerError, readPeerError } from './peer-error.ts';

/** The content of one message. */
export interface PeerRequest {
  readonly messageId: string;
  readonly parts: readonly MessagePart[];
  readonly contextId?: string | undefined;
  readonly taskId?: string | undefined;
  readonly outputModes: readonly string[];
  readonly metadata: JsonObject;
}

/** One item of a reply. A reply with a result and an error gives both, in this order. */
export type PeerReply = { readonly event: PeerEvent } | { readonly error: PeerError };

export interface PeerConnection {
  readonly agentId: string;
  readonly gate: NetworkGate;
  readonly reader: JsonReader;
  readonly clock: Clock;
  /** The caller on whose behalf the agent is called; `purpose` names the request. */
  readonly caller: string;
  readonly purpose: string;
  readonly headers: Readonly<Record<string, OutboundHeader>>;
  readonly allowList: AllowList;
  readonly signal: AbortSignal;
  readonly idle: IdleTimer;
}

/** Calls one interface of a remote agent. Replies are recognized by their shape, whatever the version. */
export class PeerClient {
  readonly #at: PeerInterface;
  readonly #connection: PeerConnection;

  constructor(at: PeerInterface, connection: PeerConnection) {
    this.#at = at;
    this.#connection = connection;
  }

  /** Sends a message, for a stream or for one answer. Throws if the answer was not received, or only in part. */
  send(request: PeerRequest, { streaming }: { streaming: boolean }): AsyncGenerator<PeerReply, void, undefined> {
    const params = (this.#at.version === '1.0' ? sendParams : SEND_PARAMS_03[this.#at.binding])(request);
    return streaming
      ? this.#ask('SendStreamingMessage', { method: 'POST', path: '/message:stream', params })
      : this.#ask('SendMessage', { method: 'POST', path: '/message:send', params });
  }

  /** The current task, then its events. */
  async *subscribe(taskId: string): AsyncGenerator<PeerReply, void, undefined> {
    const path = `/tasks/${encodeURIComponent(taskId)}:subscribe`;
    let isWrongVerb = false;
    for await (const reply of this.#ask('SubscribeToTask', { method: 'POST', path, params: { id: taskId } })) {
      isWrongVerb = this.#at.binding === 'HTTP+JSON' && 'error' in reply && WRONG_VERB.has(reply.error.httpStatus);
      if (!isWrongVerb) yield reply;
    }
    // The specification has POST in its text and GET in its protocol buffers.
    if (isWrongVerb) yield* this.#ask('SubscribeToTask', { method: 'GET', path, params: { id: taskId } });
  }

  getTask(taskId: string): AsyncGenerator<PeerReply, void, undefined> {
    return this.#ask('GetTask', {
      method: 'GET',
      path: `/tasks/${encodeURIComponent(taskId)}`,
      params: { id: taskId },
    });
  }

  cancelTask(taskId: string): AsyncGenerator<PeerReply, void, undefined> {
    const path = `/tasks/${encodeURIComponent(taskId)}:cancel`;
    return this.#ask('CancelTask', { method: 'POST', path, params: { id: taskId } });
  }

  async *#ask(
    operation: keyof typeof A2A_OPERATIONS,
    request: PeerOperation,
  ): AsyncGenerator<PeerReply, void, undefined> {
    const { gate, caller, purpose, headers, allowList, signal, idle } = this.#connection;
    const over = new AbortController();
    const body = this.#body(operation, request);
    try {
      const answer = await idle.watch(
        gate.request({
          caller,
          purpose,
          method: this.#at.binding === 'JSONRPC' ? 'POST' : request.method,
          url: this.#urlOf(request.path),
          allowList,
          headers: {
            ...(body !== undefined && { 'content-type': 'application/json' }),
            accept: ACCEPT,
            'accept-encoding': 'identity',
            ...(this.#at.version === '1.0' && { 'a2a-version': '1.0' }),
            ...headers,
          },
          ...(body !== undefined && { body: { bytes: Buffer.from(JSON.stringify(body)) } }),
          timeoutMs: LONGEST_MS,
          maxBytes: MOST_BYTES,
          signal: AbortSignal.any([signal, over.signal]),
        }),
      );
      yield* this.#read(answer);
    } finally {
      over.abort();
    }
  }

  #urlOf(path: string): string {
    const { url, binding, version, tenant } = this.#at;
    if (binding === 'JSONRPC') return url;
    const at = new URL(url);
    const base = at.pathname.replace(/\/+$/, '');
    const prefix = version === '0.3' && !base.endsWith('/v1') ? '/v1' : '';
    at.pathname = `${base}${prefix}${tenant === undefined ? '' : `/${encodeURIComponent(tenant)}`}${path}`;
    return at.href;
  }

  #body(operation: keyof typeof A2A_OPERATIONS, { method, params }: PeerOperation): JsonObject | undefined {
    const { binding, version, tenant } = this.#at;
    const whole = tenant === undefined ? params : { ...params, tenant };
    if (binding === 'HTTP+JSON') return method === 'GET' ? undefined : whole;
    const name = version === '1.0' ? operation : (A2A_OPERATIONS[operation] ?? operation);
    return { jsonrpc: '2.0', id: 1, method: name, params: whole };
  }

  async *#read(answer: InboundAnswer): AsyncGenerator<PeerReply, void, undefined> {
    const { status } = answer;
    if (status >= 300 && status < 400) {
      yield { error: { ...peerError(REDIRECT, { httpStatus: status }), kind: 'other' } };
      return;
    }
    const { reader, agentId, idle } = this.#connection;
    const type = mediaTypeOf(answer);
    const read = type === undefined ? undefined : frameReaderFor(type);
    if (read === undefined) {
      yield { error: await this.#unreadable(answer) };
      return;
    }
    const limits = { numbers: 'finite' } as const;
    const json = (source: Uint8Array | string) =>
      reader.read(source, { caller: `agent ${agentId}`, waits: true, limits });
    let isEmpty = true;
    for await (const one of read(idle.watchEach(answer.body), json)) {
      isEmpty = false;
      if (one.ok) yield* this.#replies(one.value, answer);
      else
        yield {
          error: peerError(`it sent JSON that cannot be read: ${one.issues[0]?.message ?? ''}`, { httpStatus: BROKEN }),
        };
    }
    if (isEmpty && status >= 400) yield { error: this.#errorOf('', answer) };
  }

  *#replies(json: Json, answer: InboundAnswer): Generator<PeerReply, void, undefined> {
    const error = readPeerError(json, answer.status);
    const body = isObject(json) && (json['jsonrpc'] !== undefined || error !== undefined) ? json['result'] : json;
    const event = body === undefined ? undefined : readPeerEvent(body);
    if (event !== undefined) yield { event };
    if (error !== undefined) yield { error: { ...error, retryAfter: this.#retryAfter(answer) } };
    else if (event === undefined) yield { error: peerError(NOT_AN_EVENT, { httpStatus: BROKEN }) };
  }

  /** The error for an answer that is not JSON. It quotes the beginning of an error page, such as that of a proxy. */
  async #unreadable(answer: InboundAnswer): Promise<PeerError> {
    let text = '';
    for await (const chunk of this.#connection.idle.watchEach(answer.body)) {
      text += Buffer.from(chunk).toString();
      if (text.length > MOST_EXCERPT) break;
    }
    if (answer.status >= 400) return this.#errorOf(text.slice(0, MOST_EXCERPT).trim(), answer);
    const type = String(headerOf(answer, 'content-type') ?? 'nothing').slice(0, 100);
    return peerError(`it answered with ${type}; expected application/json or text/event-stream`, {
      httpStatus: BROKEN,
    });
  }

  #errorOf(words: string, answer: InboundAnswer): PeerError {
    const message = words === '' ? `HTTP status ${answer.status}` : `HTTP status ${answer.status}: ${words}`;
    return peerError(message, { httpStatus: answer.status, retryAfter: this.#retryAfter(answer) });
  }

  #retryAfter(answer: InboundAnswer): number | undefined {
    const wait = retryAfterMs(headerOf(answer, 'retry-after'), this.#connection.clock.now());
    return wait === undefined ? undefined : Math.ceil(wait / 1000);
  }
}

interface PeerOperation {
  readonly method: 'GET' | 'POST';
  /** The path in the HTTP+JSON binding. */
  readonly path: string;
  readonly params: JsonObject;
}

function sendParams({ messageId, parts, contextId, taskId, outputModes, metadata }: PeerRequest): JsonObject {
  const message: Message = {
    messageId,
    role: 'ROLE_USER',
    parts: [...parts],
    ...(contextId !== undefined && { contextId }),
    ...(taskId !== undefined && { taskId }),
  };
  return {
    message: message as JsonObject,
    // Some servers refuse a message without accepted output modes.
    configuration: { acceptedOutputModes: [...outputModes] },
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

function sendParams03(request: PeerRequest): JsonObject {
  const { message, configuration, ...rest } = sendParams(request);
  return {
    ...rest,
    message: eventTo03({ message: message as Message }),
    configuration: { ...(configuration as JsonObject), blocking: true },
  };
}

/** HTTP+JSON of 0.3 spells members differently from its JSON-RPC. */
function httpJsonParams03(request: PeerRequest): JsonObject {
  const { message, configuration, ...rest } = sendParams(request);
  return {
    ...rest,
    message: httpJsonMessageTo03(message as Message),
    configuration: { ...(configuration as JsonObject), blocking: true },
  };
}

/** The media type of an answer. Every JSON type counts as `application/json`. */
function mediaTypeOf(answer: InboundAnswer): string | undefined {
  const type = String(headerOf(answer, 'content-type') ?? 'application/json')
    .split(';', 1)[0]
    ?.trim()
    .toLowerCase();
  return type?.endsWith('+json') === true ? 'application/json' : type;
}

const SEND_PARAMS_03 = { JSONRPC: sendParams03, 'HTTP+JSON': httpJsonParams03 };
const ACCEPT = 'application/json, text/event-stream, application/a2a+json';
const REDIRECT = 'it answered with a redirect, which is not followed';
const NOT_AN_EVENT = 'it answered with something other than a task, a message or an update of a task';
const WRONG_VERB: ReadonlySet<number> = new Set([404, 405]);
/** The HTTP status in the error for an invalid answer. It says nothing about the kind of the error. */
const BROKEN = 200;
const MOST_EXCERPT = 500;
const MOST_BYTES = 256 * 1024 * 1024;
const LONGEST_MS = 24 * 3_600_000;
