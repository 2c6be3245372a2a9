import { isObject, type JsonObject } from '@dragoman/protocols';
import { AcpUpdates, userBlocksOf } from '@dragoman/protocols/acp';
import type { AcpHub } from './acp-hub.ts';
import type { AcpSession } from './acp-session.ts';

/**
 * Tells a client what was said in a session, oldest first: for each turn what the person said, then every message as one, and every
 * tool call as it ended. Resolves with the request that is still being answered, if there is one: its answer is not told here.
 */
export async function replayOf(
  session: AcpSession,
  hub: AcpHub,
  tell: (update: JsonObject) => Promise<void>,
): Promise<{ readonly live: string | undefined }> {
  let live: string | undefined;
  const turns = await turnsOf(session, hub);
  const reading: Promise<JsonObject[]>[] = [];
  for (const [at, turn] of turns.entries()) {
    // Some ahead, so that they are read from the disk while others are sent.
    for (const { request_id: id, status } of turns.slice(reading.length, at + READ_AHEAD)) {
      const answer = status === 'in_progress' ? Promise.resolve([]) : answerOf(id, hub);
      // What went wrong is thrown when its turn comes.
      answer.catch(() => {});
      reading.push(answer);
    }
    for (const content of userBlocksOf(turn.params)) {
      await tell({ sessionUpdate: 'user_message_chunk', content, messageId: `${turn.request_id}-user` });
    }
    if (turn.status === 'in_progress') live = turn.request_id;
    for (const update of (await reading[at]) ?? []) await tell(update);
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
  const told: JsonObject[] = [];
  const tools = new Map<unknown, number>();
  for await (const frame of hub.read(requestId)) {
    for (const update of converter.convert(frame).updates) {
      const { sessionUpdate: kind, toolCallId: id } = update;
      const at = tools.get(id);
      const last = told.at(-1);
      if (kind === 'tool_call_update' && at !== undefined) {
        told[at] = { ...told[at], ...update, sessionUpdate: 'tool_call' };
      } else if (last !== undefined && isSameMessage(last, update)) {
        told[told.length - 1] = { ...last, content: { type: 'text', text: textIn(last) + textIn(update) } };
      } else {
        if (kind === 'tool_call') tools.set(id, told.length);
        told.push(update);
      }
    }
  }
  return told;
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
