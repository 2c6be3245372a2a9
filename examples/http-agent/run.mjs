// An agent that is an HTTP endpoint, reached through three endpoints: E2A, the mailbox and A2A messages.
// Run it: node examples/http-agent/run.mjs
import assert from 'node:assert/strict';
import { startDragoman } from '../support/server.mjs';
import { allHold, step } from '../support/steps.mjs';
import { startAgent } from './agent.mjs';

const agent = await startAgent();
const server = await startDragoman({
  folder: import.meta.url,
  config: { default_agent: 'loud', agents: { loud: { driver: 'http', url: agent.url } } },
});
try {
  const ada = await server.as({ agent_id: 'ada', permissions: { agents: ['loud'] } });

  assert.equal(await ada.send('hello').text(), 'HELLO');
  step('Over E2A, letter by letter.');

  const letter = await ada.mailbox.send({ from: 'Ada', message: 'hello', metadata: { threadId: 'talk' } });
  assert.deepEqual(letter.message.content, { letters: 5 });
  step('Over the mailbox, as a whole.');

  assert.deepEqual(await ada.agent({ agentId: 'ada' }).request('loud', 'shout', { content: 'hi' }), { letters: 2 });
  step('Over A2A messages, as the data of a response.');

  agent.stop();
  const final = await ada.send('anybody there?').final();
  assert.equal(final.response_kind, 'e2a.error');
  step('An agent that is gone is reported as an error, and the caller still gets a final frame.');
} finally {
  await server[Symbol.asyncDispose]();
  agent.stop();
}
allHold();
