// A question to a person in the middle of a request: answered by its caller, by somebody whose work is to approve, from a workflow that waits
// over a crash of the server, and by a reply in a thread of the mailbox.
// Run it: node examples/approval/run.mjs
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from '@dragoman/client';
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

/** A message to the mailbox, and what it is answered with. */
async function post(message, key) {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const body = JSON.stringify({ from: 'dora', ...message });
  return (await fetch(`${server.url}/a2a`, { method: 'POST', headers, body })).json();
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
  step('The caller allows it, and the agent continues.');

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

  const workflow = [
    {
      type: 'operationUpdate',
      operationId: 'ask',
      operation: { AskApproval: { title: 'Release v7?', outputPath: '/workflow/approval' } },
    },
    { type: 'beginExecution', executionId: 'release-v7', operationOrder: ['ask'] },
  ];
  const text = workflow.map((line) => JSON.stringify(line)).join('\n');
  const permissions = { agents: ['cleaner'], operations: ['AskApproval'] };
  const key = (await server.as({ agent_id: 'dora', permissions })).key;
  // A server that was started again is somewhere else, so it needs new clients.
  const dora = () => createClient({ url: server.url, key });
  const left = new AbortController();
  const send = { method: 'workflow.execute', params: { workflow: text } };
  dora().send(send, { agent: 'workflows', requestId: 'r-v7', signal: left.signal });
  const pending = await questionFor(dora());
  left.abort();
  await server.killAndStart();
  assert.deepEqual(await questionFor(dora()), pending);
  await dora().questions.answer(pending, { option_id: 'allow' });
  const released = await dora().resume('r-v7').result();
  assert.equal(released.results.ask.option_id, 'allow');
  step('The question of a workflow survives a crash of the server, and its request ends with the result.');

  const letter = { to: 'cleaner', message: 'old letters', metadata: { threadId: 'spring-cleaning' } };
  const put = await post(letter, key);
  assert.equal(put.metadata.status, 'input_required');
  await post({ message: 'Allow', metadata: { threadId: 'spring-cleaning', replyTo: put.messageId } }, key);
  for (let thread = ''; !thread.includes('"deleted":true'); await pause(20)) {
    const read = await fetch(`${server.url}/a2a/threads/spring-cleaning`, {
      headers: { authorization: `Bearer ${key}` },
    });
    thread = await read.text();
  }
  step('In the mailbox the question is a message of the thread, and a reply to it is the answer.');
} finally {
  await server[Symbol.asyncDispose]();
}
allHold();
