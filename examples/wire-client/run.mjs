// An agent process that talks to the tool host over TCP, in plain Node and without any of Dragoman's client code: each line
// is one JSON message. Run it: node examples/wire-client/run.mjs
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { startDragoman } from '../support/server.mjs';
import { allHold, step } from '../support/steps.mjs';

const server = await startDragoman({
  folder: import.meta.url,
  config: { wire: { port: 0 }, tools: ['../tools/tools.mjs'] },
});
try {
  const { key } = await server.as({ agent_id: 'ada', permissions: { tools: ['add', 'countdown'] } });
  const { hostname, port } = new URL(server.wire);
  const socket = connect(Number(port), hostname);
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const send = (message) => socket.write(`${JSON.stringify({ a2e: '1.0', id: randomUUID(), ...message })}\n`);
  const next = async () => JSON.parse((await lines.next()).value);

  send({ type: 'handshake/req', agent_id: 'ada', agent_caps: ['tools'], auth_token: key });
  assert.equal((await next()).ok, true);
  step('The key opened the connection.');

  send({ type: 'tool/list/req' });
  const { tools } = await next();
  assert.deepEqual(tools.map(({ name }) => name).sort(), ['add', 'countdown']);
  step('The agent sees the two tools it may use, and not the third.');

  send({ type: 'tool/call/req', id: 'sum', tool_name: 'add', arguments: { a: 20, b: 22 } });
  const answer = await next();
  assert.equal(answer.req_id, 'sum');
  assert.deepEqual(answer.data.data, { sum: 42 });
  step('20 and 22 are 42.');

  send({ type: 'tool/call/req', id: 'launch', tool_name: 'countdown', arguments: { from: 3 }, streaming: true });
  const events = [];
  let message = await next();
  for (; message.type === 'tool/event'; message = await next()) events.push(message.data?.message ?? message.event);
  assert.equal(events.length >= 3, true);
  assert.deepEqual(message.data.data, { lift: 'off' });
  step('Events came while the tool ran, and the result after them.');

  const refusals = [];
  for (const tool_name of ['divide', 'no-such-tool']) {
    send({ type: 'tool/call/req', tool_name, arguments: { a: 1, b: 1 } });
    refusals.push((await next()).code);
  }
  assert.deepEqual(refusals, ['unauthorized', 'unauthorized']);
  step('A tool that may not be used is refused like one that is not there.');
  socket.end();
} finally {
  await server[Symbol.asyncDispose]();
}
allHold();
