// A question to a person in the middle of a request, answered by its caller, and by somebody whose work is to approve.
// Run it: node examples/approval/run.mjs
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { startDragoman } from '../support/server.mjs';
import { allHold, step } from '../support/steps.mjs';

const server = await startDragoman({
  folder: import.meta.url,
  config: { default_agent: 'cleaner', agents: { cleaner: { driver: 'module', module: './agent.mjs' } } },
});

/** The one question that is open for this caller. */
async function questionFor(client) {
  for (;;) {
    const [question] = await client.questions.list();
    if (question !== undefined) return question;
    await pause(20);
  }
}

try {
  const ada = await server.as({ agent_id: 'ada', permissions: { agents: ['cleaner'] } });
  const bob = await server.as({ agent_id: 'bob', permissions: { agents: ['cleaner'] } });
  const eve = await server.as({ agent_id: 'eve', permissions: { operations: ['questions.answer'] } });

  const logs = ada.send('old logs');
  const question = await questionFor(ada);
  assert.equal(question.title, 'Delete old logs?');
  assert.deepEqual(
    question.options.map(({ id }) => id),
    ['allow', 'reject'],
  );
  assert.deepEqual(await bob.questions.list(), []);
  step('The agent waits for an answer, and only its caller sees the question.');

  await ada.questions.answer(question, { option_id: 'allow' });
  assert.deepEqual(await logs.result(), { deleted: true, decided_by: 'ada' });
  step('The caller allows it, and the agent goes on.');

  await assert.rejects(ada.questions.answer(question, { option_id: 'reject' }), { code: 'conflict' });
  step('The first answer counts.');

  const mails = ada.send('old mails');
  await eve.questions.answer(await questionFor(eve), { option_id: 'reject' });
  assert.deepEqual(await mails.result(), { deleted: false, decided_by: 'eve' });
  step('Somebody with the operation questions.answer decides for others.');

  const photos = ada.send('old photos');
  await questionFor(ada);
  await photos.cancel();
  assert.deepEqual(await ada.questions.list(), []);
  step('A request that is cancelled takes its question with it.');
} finally {
  await server[Symbol.asyncDispose]();
}
allHold();
