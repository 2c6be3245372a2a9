import { expect } from 'vitest';
import type { JsonObject } from '../../../packages/protocols/src/json.ts';
import { modern, post } from '../mcp-caller.ts';
import type { System } from '../system.ts';
import type { LoadClient, LoadContext } from './load-context.ts';

/** Calls of an agent over MCP 2026-07-28. Another node answers the same call again, and `get_answer`, with the recorded answer. */
export function mcpCalls(load: LoadContext): LoadClient {
  const fates = load.fatesOf('mcp calls');
  const callTool = async (node: System, name: string, args: JsonObject, meta: JsonObject = {}) => {
    const message = modern('tools/call', { name, arguments: args, _meta: meta });
    const answer = await post(node.url, { key: load.cluster.key, ...message });
    if (answer.status >= 500) return undefined;
    const text = await lastEvent(answer);
    // A node that stops ends a call without a response.
    if (text === '') return undefined;
    const { result, error } = JSON.parse(text);
    if (error?.data?.retryable === true) return undefined;
    if (error !== undefined) throw new Error(`${name}: ${JSON.stringify(error)}`);
    return (result as { structuredContent: JsonObject }).structuredContent;
  };
  return {
    async send() {
      const id = load.nextId('mcp');
      const words = load.words();
      const ask = (node: System) =>
        callTool(node, 'ask_paced', { prompt: words.join(' ') }, { 'dragoman/request_id': id });
      const answer = await load.untilAnswered(fates, async (node) => {
        const given = await ask(node);
        return given?.['status'] === 'working' ? undefined : given;
      });
      load.ended.set(id, undefined);
      if (answer['status'] === 'completed') {
        expect(answer, id).toMatchObject({ text: words.join(''), request_id: id });
        fates.complete += 1;
      } else {
        expect(answer, id).toMatchObject({ status: 'failed', code: 'E2A.INTERRUPTED', request_id: id });
        expect(words.join('').startsWith(String(answer['text'] ?? '')), JSON.stringify(answer)).toBe(true);
        fates.interrupted += 1;
      }
      const again = load.untilAnswered(fates, ask);
      const read = load.untilAnswered(fates, (node) => callTool(node, 'get_answer', { request_id: id }));
      expect(await Promise.all([again, read]), id).toEqual([answer, answer]);
    },
  };
}

/** The response, which is the last event where there are several. */
async function lastEvent(answer: Awaited<ReturnType<typeof post>>): Promise<string> {
  if (answer.headers['content-type'] !== 'text/event-stream') return answer.text();
  let last = '';
  for await (const { data } of answer.events()) last = data;
  return last;
}
