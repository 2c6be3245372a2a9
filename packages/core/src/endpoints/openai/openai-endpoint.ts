import { type E2AEnvelope, failure, isObject, type JsonObject, parseJson } from '@dragoman/protocols';
import {
  type ChatAsk,
  type ChatCompletionRequest,
  type CreateResponseRequest,
  chatAskOf,
  chatEnvelope,
  responseAskOf,
} from '@dragoman/protocols/openai';
import type { Received } from '../../call/call.ts';
import { allows, type Principal } from '../../call/principal.ts';
import { isBuiltIn } from '../../call/target.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Clock, Ids, Log } from '../../ports/ports.ts';
import { idFault } from '../../refusals/id-fault.ts';
import { Refused, refuse } from '../../refusals/refused.ts';
import { recordedEnvelope } from '../../runs/envelope-record.ts';
import type { KnownRequest } from '../../runs/known-request.ts';
import type { Reading } from '../../runs/reading.ts';
import type { RequestRow } from '../../store/store.ts';
import type { DescribedAgent } from '../../targets/agents-target.ts';
import type { StoredWorkflows } from '../../targets/stored-workflows.ts';
import { targetRequest } from '../../targets/target-request.ts';

export interface OpenAiEndpointOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly agents: () => readonly DescribedAgent[];
  readonly stored: Pick<StoredWorkflows, 'all'>;
}

/** How a request was received. */
export interface OpenAiContext {
  readonly principal: Principal;
  readonly received: Received;
  readonly idempotencyKey?: string | undefined;
  /** The session id in a header. */
  readonly sessionId?: string | undefined;
  /** Aborts when the peer is gone. */
  readonly signal: AbortSignal;
}

/** A recorded request, and its answer. */
export interface OpenedAnswer extends AnswerFacts {
  readonly reading: Reading;
}

/** The facts about an answer beside its frames. */
export interface AnswerFacts {
  readonly id: string;
  readonly model: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly previousId?: string | undefined;
  readonly metadata?: JsonObject | undefined;
}

/** Agents and workflows as models of OpenAI's API. The id of a completion or response is the id of its request. */
export class OpenAiEndpoint {
  readonly #options: OpenAiEndpointOptions;

  constructor(options: OpenAiEndpointOptions) {
    this.#options = options;
  }

  /** The models that a caller may use. */
  models({ permissions }: Principal): JsonObject[] {
    const { agents, stored } = this.#options;
    const reachable = agents().filter(({ id }) => allows(permissions.agents, id));
    const runnable = stored.all().filter(({ name }) => allows(permissions.workflows, name));
    return [
      ...reachable.map(({ id, name, description }) => model(id, { name, description })),
      ...runnable.map(({ name, description }) => model(`${WORKFLOW}${name}`, { description })),
    ].sort((a, b) => (String(a['id']) < String(b['id']) ? -1 : 1));
  }

  async complete(request: ChatCompletionRequest, context: OpenAiContext): Promise<OpenedAnswer> {
    const ask = chatAskOf(request);
    const sessionId = sessionOf(ask, context) ?? null;
    const requestId = `chatcmpl-${this.#options.ids.sortable()}`;
    return this.#open(this.#envelope(ask, context, { requestId, sessionId, api: 'chat.completions' }), context);
  }

  /** Every response has a session, so that any response can be continued. */
  async respond(request: CreateResponseRequest, context: OpenAiContext): Promise<OpenedAnswer> {
    const ask = responseAskOf(request);
    const requestId = `resp_${this.#options.ids.sortable()}`;
    const previous = request.previous_response_id ?? undefined;
    const sessionId =
      previous === undefined
        ? (sessionOf(ask, context) ?? requestId)
        : await this.#sessionAfter(previous, ask, context);
    const envelope = this.#envelope(ask, context, { requestId, sessionId, api: 'responses' });
    const details = {
      ...envelope.provenance.details,
      ...(previous !== undefined && { previous_response_id: previous }),
    };
    return this.#open({ ...envelope, provenance: { ...envelope.provenance, details } }, context);
  }

  /** The request with this id, from any protocol. */
  async find(
    { id: owner }: Principal,
    requestId: string,
  ): Promise<{ readonly facts: AnswerFacts; readonly request: KnownRequest } | undefined> {
    const request = await this.#options.engine.runs.find({ owner, requestId });
    return request && { facts: factsOf(requestId, request.envelope, request.acceptedAt), request };
  }

  async #sessionAfter(previous: string, { model }: ChatAsk, { principal }: OpenAiContext): Promise<string> {
    const found = await this.find(principal, previous);
    if (found === undefined) {
      const message = `previous_response_id: there is no response ${JSON.stringify(previous)}`;
      return refuse('not_found', { issues: [{ pointer: '/previous_response_id', code: 'unknown', message }] }, message);
    }
    const { session_id: sessionId } = found.request.envelope;
    if (sessionId !== null && found.facts.model === model) return sessionId;
    const message = `previous_response_id must name a response of the model ${JSON.stringify(model)}`;
    return refuse(
      'invalid_message',
      { issues: [{ pointer: '/previous_response_id', code: 'model', message }] },
      message,
    );
  }

  #envelope(
    ask: ChatAsk,
    { principal }: OpenAiContext,
    about: {
      readonly requestId: string;
      readonly sessionId: string | null;
      readonly api: 'chat.completions' | 'responses';
    },
  ): E2AEnvelope {
    const envelope = chatEnvelope(ask, {
      ...about,
      // A completion cannot be read again, so it ends with its reader; a response can be read again.
      endsUnread: about.api === 'chat.completions',
      sourceAgentId: principal.kind === 'agent' ? principal.id : null,
      now: this.#options.clock.now(),
    });
    const { content = '' } = envelope.params;
    if (ask.model.startsWith(WORKFLOW)) {
      const params = inputsIn(String(content), ask.model);
      return { ...envelope, agent_ref: { id: 'workflows' }, method: ask.model.slice(WORKFLOW.length), params };
    }
    return isBuiltIn(ask.model) ? { ...envelope, ...targetRequest(ask.model, content, '/messages') } : envelope;
  }

  /** Resolves when the request is recorded; rejects when it is refused. */
  #open(envelope: E2AEnvelope, context: OpenAiContext): Promise<OpenedAnswer> {
    const { engine, log } = this.#options;
    const { principal, received, idempotencyKey, signal } = context;
    return new Promise((resolve, reject) => {
      const onAccepted = ({ requestId, envelope: record, acceptedAt }: RequestRow) =>
        resolve({ ...factsOf(requestId, recordedEnvelope(record), acceptedAt), reading });
      const beside = { counted: true, received, idempotencyKey, onAccepted };
      const reading = engine.handle(envelope, { principal, signal, log, beside });
      reading.ready().catch(reject);
    });
  }
}

export function factsOf(
  id: string,
  { agent_ref: target, method, provenance }: E2AEnvelope,
  acceptedAt: number,
): AnswerFacts {
  const agent = String(target?.['id'] ?? '');
  const { previous_response_id: previous, metadata } = provenance.details;
  return {
    id,
    model: agent === 'workflows' && provenance.source_protocol === 'openai' ? `${WORKFLOW}${method ?? ''}` : agent,
    created: Math.floor(acceptedAt / 1000),
    ...(typeof previous === 'string' && { previousId: previous }),
    ...(isObject(metadata) && { metadata }),
  };
}

function model(
  id: string,
  more: { readonly name?: string | undefined; readonly description?: string | undefined },
): JsonObject {
  const { name, description } = more;
  return {
    id,
    object: 'model',
    created: 0,
    owned_by: 'dragoman',
    ...(name !== undefined && { name }),
    ...(description !== undefined && description !== '' && { description }),
  };
}

function sessionOf({ metadata }: ChatAsk, { sessionId }: OpenAiContext): string | undefined {
  const session = metadata['session_id'] ?? sessionId;
  if (session === undefined || session === null || session === '') return undefined;
  const fault = typeof session === 'string' ? idFault(session) : 'must be a string';
  if (fault === undefined) return String(session);
  const issue = { pointer: '/metadata/session_id', code: 'session_id', message: `session_id ${fault}` };
  throw new Refused(failure('invalid_message', { issues: [issue] }, issue.message));
}

/** The inputs of a workflow: the last message of the user, which is a JSON object. */
function inputsIn(text: string, name: string): JsonObject {
  if (text.trim() === '') return {};
  const json = parseJson(text);
  if (json.ok && isObject(json.value)) return json.value;
  const message = `the last message to ${name} must be a JSON object with the inputs of the workflow`;
  return refuse('invalid_message', { issues: [{ pointer: '/messages', code: 'inputs', message }] }, message);
}

const WORKFLOW = 'workflow:';
