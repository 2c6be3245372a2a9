// The API that workflows of the benchmark call: a hundred rows of JSON, the same bytes each time.
import { createServer } from 'node:http';

const rows = Array.from({ length: 100 }, (_, index) => ({
  id: index,
  name: `user ${index}`,
  email: `user-${index}@example.com`,
  status: index % 2 === 0 ? 'active' : 'gone',
  points: (index * 7919) % 1000,
}));
const text = JSON.stringify(rows);
const head = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) };

const server = createServer({ keepAliveTimeout: 60_000 }, (_, response) => response.writeHead(200, head).end(text));
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit(0));
