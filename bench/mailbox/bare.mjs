// What accepting messages is measured against: `node:http` that parses the same JSON and answers a response of the same size.
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    const message = JSON.parse(Buffer.concat(parts).toString());
    const text = JSON.stringify(responseTo(message));
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
    response.end(text);
  });
});

function responseTo({ from, message, metadata }) {
  const now = new Date();
  return {
    version: '0.3.0',
    messageId: `msg_${now.getTime()}_0123abcd`,
    timestamp: now.toISOString(),
    replyTo: metadata.messageId,
    threadId: null,
    from: { name: 'Dragoman', agentId: null },
    to: { name: from.name, agentId: null, callbackUrl: null },
    message,
    metadata: { status: 'success', taskType: null, processingTime: 1 },
  };
}

server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit(0));
