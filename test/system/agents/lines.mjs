// A program that answers each line it reads, and streams on request.
import { createInterface } from 'node:readline';

for await (const line of createInterface({ input: process.stdin })) {
  const { request_id, params = {} } = JSON.parse(line);
  const say = (frame) => process.stdout.write(`${JSON.stringify({ request_id, ...frame })}\n`);
  if (params.stream === true) say({ response_kind: 'e2a.chunk', body: { delta_kind: 'text', delta: 'in parts' } });
  const result = params.stream === true ? {} : { echoed: params.content };
  say({ response_kind: 'e2a.complete', is_final: true, body: { result } });
}
