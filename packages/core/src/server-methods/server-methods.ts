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
  /** The server's version, reported to clients that ask for it. */
  readonly version: string;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The agent that an envelope goes to, because sessions belong to an agent. */
  readonly agentOf: (envelope: E2AEnvelope, by: Pick<Call, 'principal'>) => string;
  /** Lets agents remove their data of deleted sessions. */
  readonly tidy: () => Promise<void>;
  /** Whether one of the server's own targets answers it, whatever its method is called. */
  readonly isForOwnTarget: (envelope: E2AEnvelope) => boolean;
}

/** Answers one method: it yields the chunks and returns the result. */
export type ServerMethod = (
  envelope: E2AEnvelope,
  call: Call,
  context: ServerMethodContext,
) => AsyncGenerator<JsonObject, JsonObject, undefined>;

/**
 * Answers the server's own methods (E2A §2) and passes all others on. A method of the Gateway or ACP that we do not
 * support gets an error: otherwise the caller would wait for its timeout.
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

/** Whether an agent answers the method. Heartbeats have no method and go to the agent, too. */
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

/** Methods of the Gateway and ACP that are messages to the agent. */
const DELIVERED: ReadonlySet<string> = new Set(['chat.send', 'session/prompt']);

const OF_A_SESSION: ReadonlySet<string> = new Set(['session.create', 'session/new', 'session.delete', 'history.get']);

// Over the WebSocket, the endpoint answers `chat.resume` before it reaches this layer.
const RESUMED_BY_PATH =
  'chat.resume works over the WebSocket only; over HTTP, read /e2a/requests/{request_id}/responses.';
const RESUME = 'GET /e2a/requests/{request_id}/responses?after=N';
