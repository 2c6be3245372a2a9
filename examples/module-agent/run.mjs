// An agent in a module, reached over E2A: it streams, it is left and found again, it survives a power cut.
// Run it: node examples/module-agent/run.mjs
import assert from 'node:assert/strict';
import { createClient } from '@dragoman/client';
import { startDragoman } from '../support/server.mjs';
import { allHold, step } from '../support/steps.mjs';

const server = await startDragoman({
  folder: import.meta.url,
  config: { default_agent: 'poet', agents: { poet: { driver: 'module', module: './agent.mjs' } } },
});
try {
  const ada = await server.as({ agent_id: 'ada', permissions: { agents: ['poet'] } });

  const frames = [];
  for await (const frame of ada.send('lamp', { session: 'poems' })) frames.push(frame);
  assert.deepEqual(
    frames.map(({ sequence, response_kind }) => [sequence, response_kind]),
    [0, 1, 2, 3].map((n) => [n, 'e2a.chunk']).concat([[4, 'e2a.complete']]),
  );
  assert.deepEqual(frames.at(-1).body.result, { lines: 4, poems_before: 0 });
  step('The answer came in four pieces and an end, in order.');

  const { poems_before } = await ada.send('rug', { session: 'poems' }).result();
  assert.equal(poems_before, 1);
  step('In the same conversation the agent knows the earlier messages.');

  const answer = ada.send('sea', { requestId: 'sea-poem' });
  for await (const { sequence } of answer) if (sequence === 1) break;
  const rest = [];
  for await (const { sequence } of ada.resume('sea-poem', { after: 1 })) rest.push(sequence);
  assert.deepEqual(rest, [2, 3, 4]);
  step('A reader that left after the second piece came back for exactly the rest.');

  await assert.rejects(ada.send(' ').text(), { code: 'POET.NO_SUBJECT' });
  step('An error that the agent throws is reported, with its own code.');

  await server.killAndStart();
  const afterwards = createClient({ url: server.url, key: ada.key });
  assert.equal(await afterwards.resume('sea-poem').text(), 'O sea, my sea, a sea you are.');
  step('After kill -9 the server is back, and so are all its answers.');
} finally {
  await server[Symbol.asyncDispose]();
}
allHold();
