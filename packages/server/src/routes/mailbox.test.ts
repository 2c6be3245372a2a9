import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Ids, moduleAgent } from '@dragoman/core';
import { expect, onTestFinished, test } from 'vitest';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import { systemClock, systemIds } from '../parts/system-ports.ts';
import { startServer } from '../server.ts';

test('an internal error is a 500 in the spec’s format, logged for the operator only, and the next message is answered; a response is refused', async () => {
  let isBroken = false;
  const ids: Ids = {
    ...systemIds,
    hex: () => {
      if (isBroken) throw new Error('the source of randomness is dry');
      return systemIds.hex();
    },
  };
  const folder = mkdtempSync(join(tmpdir(), 'mailbox-route-test-'));
  const log = new SilentLog();
  const server = await startServer({
    config: { port: 0, store: 'memory', default_agent: 'agent' },
    ...{ folder, clock: systemClock, ids, log, adminKey: 'an-admin-key-of-the-operator-0123456789' },
  });
  onTestFinished(async () => {
    await server.stop({ drainMs: 100 });
    rmSync(folder, { recursive: true, force: true });
  });
  server.engine.addAgent(
    moduleAgent('agent', async function* () {
      return { content: 'here' };
    }),
  );
  await server.engine.callers.put({ agent_id: 'ada', permissions: { agents: ['agent'] } });
  const { secret } = await server.engine.keys.create({ agentId: 'ada', role: 'agent' });
  const post = async (body = MESSAGE) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${secret}` };
    const response = await fetch(`${server.url}/a2a`, { method: 'POST', headers, body });
    return [response.status, response.headers.get('content-type'), await response.json()];
  };

  isBroken = true;
  expect(await post()).toEqual([
    500,
    'application/json',
    {
      error: 'Internal server error',
      message: 'Internal error.',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    },
  ]);
  expect(log.lines.at(-1)).toMatchObject({
    level: 'error',
    fields: { err: { message: 'the source of randomness is dry' }, route: '/a2a' },
  });
  isBroken = false;
  expect(await post()).toMatchObject([200, 'application/json', { message: { content: 'here' } }]);
  const [, , answer] = await post();
  expect(await post(JSON.stringify(answer))).toMatchObject([
    400,
    'application/json',
    {
      errors: [
        expect.stringContaining('POST /a2a accepts messages, and responses that reply to a question of this server'),
      ],
    },
  ]);
});

const MESSAGE = JSON.stringify({ from: 'MyAgent', message: 'Anybody there?' });
