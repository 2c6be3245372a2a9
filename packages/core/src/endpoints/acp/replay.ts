import { isObject, type JsonObject } from '@dragoman/protocols';
import { type AcpConverted, AcpUpdates, userBlocksOf } from '@dragoman/protocols/acp';
import type { AcpHub } from './acp-hub.ts';
import type { AcpSession } from './acp-session.ts';

export interface ReplayOptions {
  readonly hub: AcpHub;
  /** The capabilities of the client. */
  readonly client: JsonObject;
  readonly send: (update: JsonObject) => Promise<void>;
}

/**
 * Sends the history of a session to a client, oldest first: for each turn the person's message, then every message of the answer in one
 * piece, and every tool call in its last state. Resolves with the requests that are still running; their answers are not sent here.
 */
export async function replayOf(session: AcpSession, { hub, client, send }: ReplayOptions): Promise<string[]> {
  const turns = await turnsOf(session, hub);
  const reading: Promise<JsonObject[]>[] = [];
  for (const [at, turn] of turns.entries()) {
    // The next answers are read while this one is sent.
    for (const ahead of turns.slice(reading.length, at + READ_AHEAD)) {
      const answer = isRunning(ahead) ? Promise.resolve([]) : answerOf(ahead.request_id, { hub, client });
      // An error is thrown below, where the answer is awaited.
      answer.catch(() => {});
      reading.push(answer);
    }
    for (const content of userBlocksOf(turn.params)) {
      await send({ sessionUpdate: 'user_message_chunk', content, messageId: `${turn.request_id}-user` });
    }
    for (const update of (await reading[at]) ?? []) await send(update);
    reading[at] = Promise.resolve([]);
  }
  return idsOf(turns.filter(isRunning));
}

/** The requests of a session that are still running, oldest first. */
export async function runningIn(session: AcpSession, hub: AcpHub): Promise<string[]> {
  const { messages } = await turnsOn(1, session, hub);
  return idsOf(messages.filter(isRunning)).reverse();
}

/**
 * A message with the reason why an answer has failed, for a client that does not receive the error as the response to its prompt.
 * `undefined` if the answer has not failed.
 */
export function failureNote(end: AcpConverted['end'], requestId: string): JsonObject | undefined {
  if (end === undefined || 'result' in end) return undefined;
  const { message, data } = end.error;
  const code = isObject(data) && typeof data['e2a_code'] === 'string' ? ` (${data['e2a_code']})` : '';
  const content = { type: 'text', text: `This answer has failed: ${String(message)}${code}` };
  return { sessionUpdate: 'agent_message_chunk', content, messageId: `${requestId}-end` };
}

interface PastTurn {
  readonly request_id: string;
  readonly method: string | null;
  readonly status: string;
  readonly params: JsonObject;
}

interface TurnsPage {
  readonly messages: readonly PastTurn[];
  readonly total_pages: number;
}

async function turnsOf(session: AcpSession, hub: AcpHub): Promise<PastTurn[]> {
  const first = await turnsOn(1, session, hub);
  const others = Array.from({ length: Math.min(first.total_pages, MOST_PAGES) - 1 }, (_, index) => index + 2);
  const pages = [first, ...(await Promise.all(others.map((page) => turnsOn(page, session, hub))))];
  return pages.flatMap(({ messages }) => messages).reverse();
}

/** One page of turns, newest first, without answers: `answerOf` reads each answer with everything that was streamed. */
async function turnsOn(page: number, { id, agent }: AcpSession, hub: AcpHub): Promise<TurnsPage> {
  const params = { session_id: id, page_idx: page, answers: false };
  const { messages, total_pages } = (await hub.request('history.get', params, agent)) as unknown as TurnsPage;
  // Calls of extension methods are not part of the conversation.
  return { messages: messages.filter(({ method }) => method !== 'ext'), total_pages };
}

function idsOf(turns: readonly PastTurn[]): string[] {
  return turns.map(({ request_id: id }) => id);
}

function isRunning({ status }: PastTurn): boolean {
  return status === 'in_progress';
}

/** The updates of a whole answer. Updates of a tool call are merged, as are the text chunks of a message. */
async function answerOf(requestId: string, { hub, client }: Omit<ReplayOptions, 'send'>): Promise<JsonObject[]> {
  const converter = new AcpUpdates({ requestId, client });
  const merged: JsonObject[] = [];
  const tools = new Map<unknown, number>();
  for await (const frame of hub.read(requestId)) {
    const { updates, end } = converter.convert(frame);
    const note = failureNote(end, requestId);
    for (const update of note === undefined ? updates : [...updates, note]) {
      // A notice is not part of the history.
      if (update['sessionUpdate'] === 'notice') continue;
      const { sessionUpdate: kind, toolCallId: id } = update;
      const at = tools.get(id);
      const last = merged.at(-1);
      if (kind === 'tool_call_update' && at !== undefined) {
        merged[at] = { ...merged[at], ...update, sessionUpdate: 'tool_call' };
      } else if (last !== undefined && isSameMessage(last, update)) {
        merged[merged.length - 1] = { ...last, content: { type: 'text', text: textIn(last) + textIn(update) } };
      } else {
        if (kind === 'tool_call') tools.set(id, merged.length);
        merged.push(update);
      }
    }
  }
  return merged;
}

function isSameMessage(a: JsonObject, b: JsonObject): boolean {
  const isText = isObject(b['content']) && b['content']['type'] === 'text' && isObject(a['content']);
  return isText && a['sessionUpdate'] === b['sessionUpdate'] && a['messageId'] === b['messageId'];
}

function textIn({ content }: JsonObject): string {
  return isObject(content) && typeof content['text'] === 'string' ? content['text'] : '';
}

const READ_AHEAD = 16;
/** Each page has 50 turns. */
const MOST_PAGES = 20;
