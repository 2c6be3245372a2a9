import { isObject, type JsonObject } from '@dragoman/protocols';
import { AcpUpdates, userBlocksOf } from '@dragoman/protocols/acp';
import type { AcpHub } from './acp-hub.ts';
import type { AcpSession } from './acp-session.ts';

/**
 * Sends the history of a session to a client, oldest first: for each turn the person's message, then every message of the answer in one
 * piece, and every tool call in its last state. Resolves with the request that is still running, if any; its answer is not sent here.
 */
export async function replayOf(
  session: AcpSession,
  hub: AcpHub,
  send: (update: JsonObject) => Promise<void>,
): Promise<{ readonly live: string | undefined }> {
  let live: string | undefined;
  const turns = await turnsOf(session, hub);
  const reading: Promise<JsonObject[]>[] = [];
  for (const [at, turn] of turns.entries()) {
    // Reads some turns ahead, while others are sent.
    for (const { request_id: id, status } of turns.slice(reading.length, at + READ_AHEAD)) {
      const answer = status === 'in_progress' ? Promise.resolve([]) : answerOf(id, hub);
      // An error is thrown when the answer is sent.
      answer.catch(() => {});
      reading.push(answer);
    }
    for (const content of userBlocksOf(turn.params)) {
      await send({ sessionUpdate: 'user_message_chunk', content, messageId: `${turn.request_id}-user` });
    }
    if (turn.status === 'in_progress') live = turn.request_id;
    for (const update of (await reading[at]) ?? []) await send(update);
    reading[at] = Promise.resolve([]);
  }
  return { live };
}

interface PastTurn {
  readonly request_id: string;
  readonly status: string;
  readonly params: JsonObject;
}

async function turnsOf({ id, agent }: AcpSession, hub: AcpHub): Promise<PastTurn[]> {
  const turns: PastTurn[] = [];
  for (let page = 1; page <= MOST_PAGES; page++) {
    const params = { session_id: id, page_idx: page };
    const { messages, total_pages } = (await hub.request('history.get', params, agent)) as unknown as {
      messages: PastTurn[];
      total_pages: number;
    };
    turns.push(...messages);
    if (page >= total_pages) break;
  }
  return turns.reverse();
}

/** The updates of a whole answer, with those that change another one merged into it. */
async function answerOf(requestId: string, hub: AcpHub): Promise<JsonObject[]> {
  const converter = new AcpUpdates({ requestId });
  const merged: JsonObject[] = [];
  const tools = new Map<unknown, number>();
  for await (const frame of hub.read(requestId)) {
    for (const update of converter.convert(frame).updates) {
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
/** Of fifty turns each. */
const MOST_PAGES = 20;
