import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@dragoman/client';
import { jsonLog, startServer, systemClock, systemIds } from '@dragoman/server';
import { expect, onTestFinished, test } from 'vitest';
import { FakeSurroundings } from '../../test-support/fake-surroundings.ts';
import { temporaryFolder } from '../../test-support/temporary-folder.ts';
import { main } from '../main.ts';

/** A server whose agent asks for permission and returns the answer, and one of its callers. */
async function asking() {
  const folder = temporaryFolder();
  writeFileSync(
    join(folder, 'asker.mjs'),
    `export default async function* (envelope, call) {
      const answer = await call.ask({ kind: 'permission', title: 'Delete \\u001b[2Jit?', description: 'For good.' });
      yield 'received ' + (answer.option_id ?? answer.action);
    }`,
  );
  const server = await startServer({
    config: {
      port: 0,
      store: 'memory',
      default_agent: 'asker',
      agents: { asker: { driver: 'module', module: join(folder, 'asker.mjs') } },
    },
    folder,
    clock: systemClock,
    ids: systemIds,
    log: jsonLog('silent'),
    adminKey: 'dgm_brought_along_by_the_operator',
  });
  onTestFinished(() => server.stop({ drainMs: 0 }));
  const admin = createClient({ url: server.url, key: 'dgm_brought_along_by_the_operator' });
  const { api_key: key = '' } = await admin.admin.agents.put({ agent_id: 'ada', permissions: { agents: ['*'] } });
  const client = createClient({ url: server.url, key });
  const run = async (args: string[], ask?: FakeSurroundings['terminal']['ask']) => {
    const surroundings = new FakeSurroundings({ folder, environment: { DRAGOMAN_KEY: key }, ...(ask && { ask }) });
    const code = await main([...args, '--url', server.url], surroundings);
    return { code, stdout: surroundings.out, stderr: surroundings.notes };
  };
  return { client, run };
}

test('questions are listed and answered, with what went wrong in words', async () => {
  const { client, run } = await asking();
  expect((await run(['questions', 'list'])).stderr).toBe('none: no question is open\n');
  const answer = client.send('go');
  await expect.poll(() => client.questions.list()).toHaveLength(1);
  const [{ question_id: id = '' } = {}] = await client.questions.list();
  const { stdout } = await run(['questions', 'list']);
  expect(stdout).toMatch(/QUESTION +KIND +CALLER +AGENT/);
  expect(stdout).toContain('ada');
  expect(stdout).toContain('allow, reject');
  expect(stdout).not.toContain('\u001b[2J');
  expect(JSON.parse((await run(['questions', 'list', '--json'])).stdout)).toMatchObject({
    questions: [{ question_id: id, kind: 'permission' }],
  });
  expect(await run(['questions', 'answer', id, 'perhaps'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('answer with one of: allow, reject'),
  });
  expect(await run(['questions', 'answer', id, '1'])).toMatchObject({ code: 0, stdout: `answered ${id}: allow\n` });
  expect(await answer.text()).toBe('received allow');
  expect(await run(['questions', 'answer', id, '1'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('there is no open question'),
  });
});

test('send puts the question to the person at the terminal, again until the answer fits', async () => {
  const { run } = await asking();
  const prompts: string[] = [];
  const typed = ['what?', 'Reject'];
  const sent = await run(['send', 'go'], async (prompt) => {
    prompts.push(prompt);
    return typed.shift();
  });
  expect(sent).toMatchObject({ code: 0, stdout: 'received reject\n' });
  expect(prompts[0]).toContain('For good.\n1. Allow (allow)\n2. Reject (reject)\nAnswer with one of: allow, reject.');
  expect(prompts[0]).not.toContain('\u001b[2J');
  expect(prompts).toHaveLength(2);
});

test('a prompt ends when the question is answered elsewhere', async () => {
  const { client, run } = await asking();
  const sent = run(['send', 'go'], (_, signal) => {
    return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  });
  await expect.poll(() => client.questions.list()).toHaveLength(1);
  const [question] = await client.questions.list();
  if (question !== undefined) await client.questions.answer(question, { option_id: 'allow' });
  expect(await sent).toMatchObject({ code: 0, stdout: 'received allow\n' });
  expect((await sent).stderr).toContain('the question was answered elsewhere');
});

test('without a terminal, send says how to answer', async () => {
  const { client, run } = await asking();
  const sent = run(['send', 'go']);
  await expect.poll(() => client.questions.list()).toHaveLength(1);
  const [question] = await client.questions.list();
  if (question !== undefined) await client.questions.answer(question, { action: 'decline' });
  expect((await sent).stderr).toContain(`npx dragoman questions answer ${question?.question_id} ANSWER`);
});

test('a second answer is a conflict', async () => {
  const { client } = await asking();
  const answer = client.send('go');
  await expect.poll(() => client.questions.list()).toHaveLength(1);
  const [question] = await client.questions.list();
  if (question === undefined) throw new Error('no question');
  await client.questions.answer(question, { option_id: 'allow' });
  await expect(client.questions.answer(question, { option_id: 'allow' })).rejects.toMatchObject({ code: 'conflict' });
  await answer.final();
});
