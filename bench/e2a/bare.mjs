// What the server is measured against: `node:http` that parses the same JSON and answers a frame of the same size, and a
// loop that writes the same frames as server-sent events.
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    const envelope = JSON.parse(Buffer.concat(parts).toString());
    const frames = Number(envelope.params.frames ?? 0);
    if (frames > 0) return stream(response, envelope, frames);
    const text = JSON.stringify(frameOf(envelope, 0, true));
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
    response.end(text);
  });
});

async function stream(response, envelope, frames) {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  for (let sequence = 0; sequence <= frames; sequence++) {
    const text = `id: ${sequence}\ndata: ${JSON.stringify(frameOf(envelope, sequence, sequence === frames))}\n\n`;
    if (!response.write(text)) await new Promise((resolve) => response.once('drain', resolve));
  }
  response.end();
}

function frameOf(envelope, sequence, isFinal) {
  return {
    protocol_version: '1.0',
    response_id: 'b8a95afd-fe05-4d16-a945-3ba6a365af49',
    request_id: envelope.request_id,
    sequence,
    is_final: isFinal,
    status: isFinal ? 'succeeded' : 'in_progress',
    response_kind: isFinal ? 'e2a.complete' : 'e2a.chunk',
    timestamp: new Date().toISOString(),
    provenance: { source_protocol: 'e2a', converter: 'dragoman', converted_at: null, details: {} },
    body: isFinal ? { result: { content: 'hello my world' } } : { delta_kind: 'text', delta: 'word ' },
    jsonrpc_id: null,
    correlation_id: null,
    task_id: null,
    context_id: null,
    session_id: null,
    message_id: null,
    is_stream: envelope.is_stream ?? false,
    identity_origin: 'agent',
    channel: null,
    user_id: null,
    agent_ref: null,
    source_agent_id: null,
    method: envelope.method,
    projections: {},
    channel_context: {},
    metadata: {},
    a2a_metadata: {},
    acp_meta: {},
  };
}

server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send(user + system);
});
process.on('disconnect', () => process.exit(0));
