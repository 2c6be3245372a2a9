import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { afterAll, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { handshake, request, signed, signingCaller } from './a2a-peer.ts';
import { agentModule, System } from './system.ts';

const system = await System.start({
  config: {
    agents: { echo: { driver: 'module', module: agentModule('echo') } },
    messages: { port: 0 },
    limits: { connections_per_agent: 2 },
  },
});
afterAll(() => system[Symbol.asyncDispose]());
const [ada, bob] = [await signingCaller(system, 'ada-agent'), await signingCaller(system, 'bob-agent')];

test('unproven peers of one address share a number of connections, and further ones are refused with that reason', async () => {
  const silent = [await dial(), await dial()];
  const third = await dial();
  expect(await third.next()).toMatchObject({ status: 503, code: 'busy', retry_after: 1 });
  await once(third.socket, 'close');
  // A proven agent takes no place of the others at the address.
  expect(await silent[0]?.ask(signed(ada, handshake()))).toMatchObject({ message_type: 'handshake_ack' });
  const fourth = await dial();
  expect(await fourth.ask(signed(bob, handshake()))).toMatchObject({ message_type: 'handshake_ack' });
  for (const { socket } of [...silent, fourth]) await hangUp(socket);
});

test('an agent with its share is busy, its further request is not run, and others come in', async () => {
  const mine = [await dial(), await dial()];
  for (const { ask } of mine) await ask(signed(ada, handshake()));
  const third = await dial();
  const tooMany = signed(ada, request({ content: 'one too many' }));
  expect(await third.ask(tooMany)).toMatchObject({
    message_type: 'error',
    correlation_id: tooMany['message_id'],
    payload: { error: { code: 'AGENT_OVERLOADED', retry_after: 1 } },
  });
  await once(third.socket, 'close');
  const other = await dial();
  expect(await other.ask(signed(bob, handshake()))).toMatchObject({ message_type: 'handshake_ack' });
  // The same message, its nonce included, where there is a place.
  expect(await mine[0]?.ask(tooMany)).toMatchObject({ payload: { data: { echoed: 'one too many' } } });
  for (const { socket } of [...mine, other]) await hangUp(socket);
  const again = await dial();
  expect(await again.ask(signed(ada, handshake()))).toMatchObject({ message_type: 'handshake_ack' });
  await hangUp(again.socket);
});

async function dial() {
  const { hostname, port } = new URL(system.messagesUrl);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const next = async (): Promise<JsonObject> => JSON.parse((await lines.next()).value);
  const ask = (message: JsonObject): Promise<JsonObject> => {
    socket.write(`${JSON.stringify(message)}\n`);
    return next();
  };
  return { socket, next, ask };
}

/** The server has noticed when its side is closed too. */
async function hangUp(socket: Socket): Promise<void> {
  socket.end();
  if (!socket.closed) await once(socket, 'close');
}
