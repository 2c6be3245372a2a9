// An API in plain Node: three orders, for callers with the right token. It echoes the token, as careless APIs do.
import { createServer } from 'node:http';

const ORDERS = [
  { id: 1, total: 42.5 },
  { id: 2, total: 17 },
  { id: 3, total: 99.5 },
];

export function startApi(token) {
  const calls = [];
  const server = createServer((request, response) => {
    const { authorization } = request.headers;
    calls.push(`${request.method} ${request.url}`);
    const isKnown = authorization === `Bearer ${token}`;
    const body = isKnown ? ORDERS.map((order) => ({ ...order, seen: authorization })) : { message: 'who are you?' };
    response.writeHead(isKnown ? 200 : 401, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  });
  return new Promise((started) => {
    server.listen(0, '127.0.0.1', () => {
      started({ host: `127.0.0.1:${server.address().port}`, calls, stop: () => server.close() });
    });
  });
}
