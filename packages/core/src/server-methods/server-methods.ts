import {
  type E2AEnvelope,
  type E2AResponse,
  failure,
  type JsonObject,
  methodOwner,
  nearest,
} from '@dragoman/protocols';
import type { Call } from '../call/call.ts';
import type { Layer } from '../call/handler.ts';
import type { Clock, Ids } from '../ports/ports.ts';
import type { ClientCalls } from '../questions/client-calls.ts';
import type { OpenQuestions } from '../questions/open-questions.ts';
import { FrameMaker } from '../runs/frame-maker.ts';
import type { Runs } from '../runs/runs.ts';
import type { SessionStore } from '../store/store.ts';
import { acpToolResponse, chatUserAnswer } from './answers.ts';
import { historyGet } from './history.ts';
import { initialize } from './initialize.ts';
import { chatInterrupt, sessionCancel } from './interrupt.ts';
import { sessionCreate, sessionDelete, sessionList, sessionListAcp, sessionNew } from './sessions.ts';

/** The dependencies of the server's own methods. */
export interface ServerMethodContext {
  readonly runs: Runs;
  readonly questions: OpenQuestions;
  readonly clientCalls: ClientCalls;
  readonly sessions: SessionStore;
  /** Of this server, for clients that ask. */
  readonly version: string;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The agent an envelope goes to: sessions belong to one. */
  readonly agentOf: (envelope: E2AEnvelope, by: Pick<Call, 'principal'>) => string;
  /** Agents remove what they keep for removed sessions. */
  readonly tidy: () => Promise<void>;
  /** Whether one of the server's own targets answers it, whatever its method is called. */
  readonly isForOwnTarget: (envelope: E2AEnvelope) => boolean;
}

/** Answers one method: chunks as it goes, and what it returns is the result. */
export type ServerMethod = (
  envelope: E2AEnvelope,
  call: Call,
  context: ServerMethodContext,
) => AsyncGenerator<JsonObject, JsonObject, undefined>;

/**
 * Answers the server's own methods (E2A §2) and passes the rest on. A name of the Gateway's or ACP's that we do not have
 * is its own error: silence would leave the caller waiting for its timeout.
 */
export function serverMethods(context: ServerMethodContext): Layer {
  return (next) => (envelope, call) =>
    context.isForOwnTarget(envelope) || isForAgent(envelope.method)
      ? next(envelope, call)
      : answer(envelope, call, context);
}

async function* answer(envelope: E2AEnvelope, call: Call, context: ServerMethodContext): AsyncGenerator<E2AResponse> {
  const maker = new FrameMaker({ envelope, clock: context.clock, ids: context.ids });
  const name = envelope.method ?? '';
  const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
  if (method === undefined) {
    yield maker.error(unknownMethod(name));
    return;
  }
  const answers = method(envelope, call, context);
  for (;;) {
    const item = await answers.next();
    if (item.done === true) {
      yield maker.complete(item.value);
      return;
    }
    yield maker.chunk(item.value);
  }
}

/** Whether the method is an agent's to answer. Heartbeats have no name and are the agent's too. */
export function isForAgent(method: string | null): boolean {
  const owner = methodOwner(method);
  return owner === 'agent' || owner === 'ext' || owner === 'none' || DELIVERED.has(method ?? '');
}

/** Whether the method is answered by an agent, or about a session, which belongs to one. */
export function concernsAgent(method: string | null): boolean {
  return isForAgent(method) || OF_A_SESSION.has(method ?? '');
}

function unknownMethod(method: string) {
  if (method === 'chat.resume') return failure('unknown_method', { method, suggestions: [RESUME] }, RESUMED_BY_PATH);
  const close = nearest(method, [...DELIVERED, ...Object.keys(METHODS)]);
  const suggestions = close === undefined ? {} : { suggestions: [`did you mean ${close}?`] };
  return failure(
    'unknown_method',
    { method, ...suggestions },
    `This server does not support the method ${JSON.stringify(method)}.`,
  );
}

const METHODS: Readonly<Record<string, ServerMethod>> = {
  initialize,
  'chat.interrupt': chatInterrupt,
  'chat.user_answer': chatUserAnswer,
  'acp.tool_response': acpToolResponse,
  'history.get': historyGet,
  'session.list': sessionList,
  'session.create': sessionCreate,
  'session.delete': sessionDelete,
  'session/new': sessionNew,
  'session/list': sessionListAcp,
  'session/cancel': sessionCancel,
};

/** Names on the Gateway's or ACP's lists that mean "say this to the agent". */
const DELIVERED: ReadonlySet<string> = new Set(['chat.send', 'session/prompt']);

const OF_A_SESSION: ReadonlySet<string> = new Set(['session.create', 'session/new', 'session.delete', 'history.get']);

// The WebSocket endpoint answers it before it gets here.
const RESUMED_BY_PATH =
  'chat.resume works over the WebSocket only; over HTTP, read /e2a/requests/{request_id}/responses.';
const RESUME = 'GET /e2a/requests/{request_id}/responses?after=N';
