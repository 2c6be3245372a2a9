import { isConsent } from '../e2a/adapters/acp-question.ts';
import { acpStopReason } from '../e2a/adapters/acp-stop-reason.ts';
import { acpToolCallOf } from '../e2a/adapters/acp-tool-call.ts';
import { textOfResult } from '../e2a/adapters/result-text.ts';
import { respellAcp } from '../e2a/adapters/spelling.ts';
import type { Question, QuestionEnd } from '../e2a/question.ts';
import { questionEndIn, questionIn } from '../e2a/read-question.ts';
import type { E2AResponse } from '../e2a/response.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { acpErrorOfFrame } from './errors.ts';
import { acpPlanOf, validAcpUpdate } from './valid-update.ts';

/** The messages to an ACP client for one frame. */
export interface AcpConverted {
  /** Each one is the `update` of a `session/update`. */
  readonly updates: readonly JsonObject[];
  /** A question for the user of the client. */
  readonly question?: Question;
  readonly questionEnd?: QuestionEnd;
  /** The answer to the prompt. */
  readonly end?: { readonly result: JsonObject } | { readonly error: JsonObject };
}

export interface AcpUpdatesOptions {
  readonly requestId: string;
  /** The `clientCapabilities` of the client. */
  readonly client?: JsonObject;
}

/**
 * The frames of one answer as ACP's updates, in the order of their sequence. This class remembers which tools and what
 * text the client knows: a tool is announced before it changes, and no text is sent twice.
 */
export class AcpUpdates {
  readonly #requestId: string;
  readonly #announced: ReadonlySet<string>;
  readonly #tools = new Set<string>();
  /** Open questions that are announced as separate tool calls. */
  readonly #openQuestions = new Set<string>();
  #text = '';
  /** The number of messages before the current one. A tool call ends a message. */
  #messages = 0;
  #isInMessage = false;

  constructor({ requestId, client = {} }: AcpUpdatesOptions) {
    this.#requestId = requestId;
    this.#announced = announcedIn(client);
  }

  convert(frame: E2AResponse): AcpConverted {
    const { body } = frame;
    const own = this.#own(frame);
    if (own !== undefined) return { updates: own };
    switch (frame.response_kind) {
      case 'e2a.chunk':
        return this.#chunk(frame);
      case 'acp.session_update':
        return { updates: isObject(body['update']) ? this.#update(respellAcp(body['update'], 'camelCase')) : [] };
      case 'acp.output_request':
        return this.#request(frame);
      case 'e2a.complete':
        return this.#complete(body['result']);
      case 'acp.prompt_result':
        return { updates: [], end: { result: promptResult(respellAcp(body, 'camelCase')) } };
      default:
        return frame.is_final ? this.#final(frame) : { updates: [] };
    }
  }

  /** The original update of an ACP agent, which is more precise than its chunk. */
  #own({ provenance, projections: { acp }, is_final: isFinal }: E2AResponse): JsonObject[] | undefined {
    if (provenance.source_protocol !== 'acp' || isFinal || !isObject(acp) || !isObject(acp['params'])) return undefined;
    const { update } = acp['params'];
    return isObject(update) ? this.#update(update) : undefined;
  }

  #update(update: JsonObject): JsonObject[] {
    const valid = validAcpUpdate(update);
    if (valid === undefined || this.#isUnknown(valid)) return [];
    const { sessionUpdate: kind, toolCallId: id, content } = valid;
    if (kind === 'agent_message_chunk') {
      if (isObject(content) && typeof content['text'] === 'string') this.#text += content['text'];
      this.#isInMessage = true;
      return [{ messageId: this.#messageId, ...valid }];
    }
    if (kind !== 'tool_call' && kind !== 'tool_call_update') return [valid];
    return [this.#upserted(String(id), valid)];
  }

  /** Clients that do not announce these kinds may fail to read them. */
  #isUnknown({ sessionUpdate: kind }: JsonObject): boolean {
    return TO_ANNOUNCE.has(String(kind)) && !this.#announced.has(String(kind));
  }

  /** The first frame about a tool announces it, regardless of its kind. */
  #upserted(id: string, update: JsonObject): JsonObject {
    this.#endMessage();
    if (this.#tools.has(id)) return { ...update, sessionUpdate: 'tool_call_update' };
    this.#tools.add(id);
    return { title: 'tool', ...update, sessionUpdate: 'tool_call' };
  }

  #chunk(frame: E2AResponse): AcpConverted {
    const { delta_kind: kind, delta, event_type: event } = frame.body;
    const questionEnd = questionEndIn(frame);
    if (questionEnd !== undefined) return { updates: this.#closed(questionEnd), questionEnd };
    if (kind === 'tool') return { updates: [this.#tool(delta, frame)] };
    if (kind === 'custom' && event === 'todo.updated') return { updates: planIn(delta) };
    const text = typeof delta === 'string' ? delta : textOfResult(delta);
    if (text === undefined || text === '') return { updates: [] };
    if (kind === 'text') return { updates: [this.#say(text)] };
    return { updates: kind === 'reasoning' ? [textChunk('agent_thought_chunk', text)] : [] };
  }

  #say(text: string): JsonObject {
    this.#text += text;
    this.#isInMessage = true;
    return { ...textChunk('agent_message_chunk', text), messageId: this.#messageId };
  }

  get #messageId(): string {
    return this.#messages === 0 ? this.#requestId : `${this.#requestId}-${this.#messages}`;
  }

  #endMessage(): void {
    if (this.#isInMessage) this.#messages += 1;
    this.#isInMessage = false;
  }

  #tool(delta: Json | undefined, { sequence }: E2AResponse): JsonObject {
    const { toolCallId, status, ...call } = acpToolCallOf(delta, `${this.#requestId}-${sequence}`);
    const isNew = !this.#tools.has(toolCallId);
    return this.#upserted(toolCallId, { toolCallId, ...call, status: status ?? (isNew ? 'pending' : 'in_progress') });
  }

  #request(frame: E2AResponse): AcpConverted {
    const question = questionIn(frame);
    if (question === undefined) return { updates: [] };
    const id = question.subject?.tool_call_id ?? question.question_id;
    if (!isConsent(question) || this.#tools.has(id)) return { updates: [], question };
    // Some clients show no permission request for a tool call that they do not know.
    const { title, subject } = question;
    const { toolCallId, status: _, ...call } = acpToolCallOf({ id, title, ...kindOf(subject) }, id);
    if (id === question.question_id) this.#openQuestions.add(toolCallId);
    return { updates: [this.#upserted(toolCallId, { toolCallId, ...call, status: 'pending' })], question };
  }

  /** Agents do not report the end of a tool call that is only a question. */
  #closed({ question_id: toolCallId, state }: QuestionEnd): JsonObject[] {
    if (!this.#openQuestions.delete(toolCallId)) return [];
    return [this.#upserted(toolCallId, { toolCallId, status: state === 'answered' ? 'completed' : 'failed' })];
  }

  #complete(result: Json | undefined): AcpConverted {
    const text = textOfResult(result) ?? (this.#text === '' ? dataText(result) : '');
    const isTail = text.startsWith(this.#text);
    const rest = isTail ? text.slice(this.#text.length) : text;
    if (!isTail) this.#endMessage();
    const isRepeated = rest === '' || text === '' || this.#text.endsWith(text);
    return {
      updates: [...(isRepeated ? [] : [this.#say(rest)]), ...usageIn(result)],
      end: { result: promptResult(isObject(result) ? result : {}) },
    };
  }

  #final(frame: E2AResponse): AcpConverted {
    const { code } = frame.body;
    if (code === 'E2A.CANCELLED') return { updates: [], end: { result: { stopReason: 'cancelled' } } };
    if (frame.status !== 'failed') return { updates: [], end: { result: { stopReason: 'end_turn' } } };
    return { updates: [], end: { error: acpErrorOfFrame(frame, this.#requestId) } };
  }
}

function promptResult({ stopReason, stop_reason: other = stopReason, usage }: JsonObject): JsonObject {
  return { stopReason: acpStopReason(other), ...(isObject(usage) && { _meta: { usage } }) };
}

/** How much of its context window the agent has used, if it reports that. */
function usageIn(result: Json | undefined): JsonObject[] {
  const usage = isObject(result) && isObject(result['usage']) ? result['usage'] : undefined;
  const update = usage && validAcpUpdate({ ...usage, sessionUpdate: 'usage_update' });
  return update === undefined ? [] : [update];
}

/** A result without text, as JSON, so that editors can show it. */
function dataText(result: Json | undefined): string {
  if (typeof result !== 'object' || result === null) return '';
  if (Array.isArray(result)) return JSON.stringify(result);
  const { stop_reason: _, stopReason: __, usage: ___, ...data } = result;
  return Object.values(data).every((value) => value === '' || value === null) ? '' : JSON.stringify(data);
}

function planIn(delta: Json | undefined): JsonObject[] {
  const list = isObject(delta) ? [delta['todos'], delta['items'], delta['entries']].find(Array.isArray) : delta;
  return Array.isArray(list) ? [acpPlanOf(list)] : [];
}

function kindOf(subject: Question['subject']): JsonObject {
  if (subject === undefined) return {};
  const kind = subject.type === 'command' ? 'execute' : subject.tool_kind;
  return { ...(kind !== undefined && { kind }), ...(subject.input !== undefined && { input: subject.input }) };
}

function textChunk(sessionUpdate: string, text: string): JsonObject {
  return { sessionUpdate, content: { type: 'text', text } };
}

function announcedIn({ session }: JsonObject): ReadonlySet<string> {
  const { notices, compaction } = isObject(session) ? session : ({} as JsonObject);
  return new Set([...(isObject(notices) ? NOTICES : []), ...(isObject(compaction) ? COMPACTION : [])]);
}

const NOTICES = ['notice'] as const;
const COMPACTION = ['compaction_update', 'compaction_summary_chunk'] as const;
const TO_ANNOUNCE: ReadonlySet<string> = new Set([...NOTICES, ...COMPACTION]);
