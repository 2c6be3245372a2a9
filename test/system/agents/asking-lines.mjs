// A program that asks before it answers, and reports what it was sent.
import { createInterface } from 'node:readline';

const waiting = new Map();
for await (const line of createInterface({ input: process.stdin })) {
  const { request_id, method, params = {} } = JSON.parse(line);
  const say = (id, frame) => process.stdout.write(`${JSON.stringify({ request_id: id, ...frame })}\n`);
  if (method === 'chat.user_answer' || method === 'acp.tool_response') {
    const id = params.request_id;
    if (waiting.delete(id)) say(id, { response_kind: 'e2a.complete', body: { result: { method, params } } });
    continue;
  }
  waiting.set(request_id, true);
  say(request_id, params.content);
}
