// An agent over HTTP in plain Node, with none of Dragoman's code: it receives an envelope and returns frames as NDJSON.
import { createServer } from 'node:http';

export function startAgent() {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { request_id, params } = JSON.parse(text);
    response.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
    let sequence = 0;
    const say = (frame) => response.write(`${JSON.stringify({ request_id, sequence: sequence++, ...frame })}\n`);
    for (const letter of params.content) {
      const body = { delta_kind: 'text', delta: letter.toUpperCase() };
      say({ response_kind: 'e2a.chunk', status: 'in_progress', is_final: false, body });
    }
    const body = { result: { letters: params.content.length } };
    say({ response_kind: 'e2a.complete', status: 'succeeded', is_final: true, body });
    response.end();
  });
  return new Promise((started) => {
    server.listen(0, '127.0.0.1', () => {
      started({ url: `http://127.0.0.1:${server.address().port}/e2a`, stop: () => server.close() });
    });
  });
}
