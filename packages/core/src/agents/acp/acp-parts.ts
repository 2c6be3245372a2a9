import { isObject, type JsonObject, newProvenance, respellAcp } from '@dragoman/protocols';
import { validAcpUpdate } from '@dragoman/protocols/acp';
import type { AgentPart } from '../agent.ts';

/**
 * The updates of one turn as parts of an answer: text, thoughts and tools as chunks for every client, with the update itself
 * added for ACP clients; anything else as `acp.session_update`.
 */
export class AcpParts {
  /** The state of each tool call: later updates omit unchanged members. */
  readonly #tools = new Map<string, JsonObject>();
  #text = '';

  /** The text so far. */
  get text(): string {
    return this.#text;
  }

  /** The kind of tool that a call uses, if the program reported it. */
  kindOf(toolCallId: string): string | undefined {
    const kind = this.#tools.get(toolCallId)?.['kind'];
    return typeof kind === 'string' ? kind : undefined;
  }

  /** `undefined` for anything that is not part of the answer. */
  partOf(given: JsonObject): AgentPart | undefined {
    const update = validAcpUpdate(given);
    if (update === undefined) return undefined;
    const { sessionUpdate: kind, content } = update;
    switch (kind) {
      // The caller's own message is known.
      case 'user_message_chunk':
        return undefined;
      case 'agent_message_chunk':
        return framed(this.#addText(content), update);
      case 'agent_thought_chunk':
        return framed({ delta_kind: 'reasoning', delta: textIn(content) }, update);
      case 'tool_call':
      case 'tool_call_update':
        return framed({ delta_kind: 'tool', delta: this.#tool(update) }, update);
      default:
        return { part: 'frame', frame: { ...MADE, response_kind: 'acp.session_update', body: { update } } };
    }
  }

  #addText(content: unknown): JsonObject {
    const block = isObject(content) ? content : {};
    if (block['type'] !== 'text') return { delta_kind: 'custom', event_type: 'acp.content', delta: { ...block } };
    const delta = String(block['text']);
    if (this.#text.length < LONGEST_TEXT) this.#text += delta;
    return { delta_kind: 'text', delta };
  }

  #tool({ sessionUpdate: _, ...update }: JsonObject): JsonObject {
    const id = String(update['toolCallId']);
    const known = { ...this.#tools.get(id), ...update };
    if (this.#tools.size < MOST_TOOLS || this.#tools.has(id)) this.#tools.set(id, known);
    return respellAcp(known, 'snake_case');
  }
}

function framed(body: JsonObject, update: JsonObject): AgentPart {
  const acp = { jsonrpc: '2.0', method: 'session/update', params: { update } };
  return { part: 'frame', frame: { ...MADE, response_kind: 'e2a.chunk', body, projections: { acp } } };
}

function textIn(content: unknown): string {
  return isObject(content) && typeof content['text'] === 'string' ? content['text'] : '';
}

const MADE = { provenance: newProvenance({ source_protocol: 'acp', converter: 'dragoman' }) };
const LONGEST_TEXT = 1 << 20;
const MOST_TOOLS = 10_000;
