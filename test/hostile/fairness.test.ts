import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { call, type HttpAnswer } from '../system/call.ts';
import { fresh } from '../system/caller.ts';
import { System } from '../system/system.ts';

// An agent that works on one request at a time, and on the first until a file is there. It writes down whom it served.
const system = System.create({
  config: {
    default_agent: 'desk',
    agents: { desk: { driver: 'module', module: './desk.mjs', max_parallel: 1 } },
    mailbox: { anonymous: ['desk'], answer_within_ms: 0, requests_per_minute: 100_000, max_concurrent: 100_000 },
  },
});
const file = (name: string) => join(system.folder, name);
writeFileSync(
  file('desk.mjs'),
  `import { appendFileSync, existsSync } from 'node:fs';
export default async function* desk(_, { principal }) {
  appendFileSync(${JSON.stringify(file('served'))}, principal.id + '\\n');
  while (!existsSync(${JSON.stringify(file('go'))})) await new Promise((resolve) => setTimeout(resolve, 10));
  return {};
}
`,
);
await system.start();
afterAll(() => system[Symbol.asyncDispose]());

test('known callers take turns, anonymous ones come last, and a flood of them is refused as busy', async () => {
  const [ada, bob] = [await system.caller('ada-agent'), await system.caller('bob-agent')];
  const ask = (key: string) =>
    call(system.url, { method: 'POST', path: '/e2a', key, json: { request_id: fresh(), is_stream: true } });
  const write = (name: string): Promise<HttpAnswer> =>
    call(system.url, { method: 'POST', path: '/a2a', json: { from: name, message: 'hi' } });

  const answers = [ask(ada.api_key)];
  await expect.poll(() => existsSync(file('served'))).toBe(true);
  const letters: HttpAnswer[] = [];
  for (let number = 0; number < 103; number += 1) letters.push(await write(`Name ${number}`));
  expect(letters.map(({ status }) => status)).toEqual([...Array(100).fill(200), ...Array(3).fill(503)]);
  expect(letters.at(-1)?.headers['retry-after']).toBe('1');

  for (const { api_key } of [ada, ada, ada, bob]) {
    answers.push(ask(api_key));
    // Until it waits: the order in which requests on several connections arrive is not ours to choose.
    await expect.poll(() => waiting()).toBe(100 + answers.length - 1);
  }
  writeFileSync(file('go'), '');
  for (const answer of await Promise.all(answers)) expect((await answer.text()).length).toBeGreaterThan(0);
  await expect.poll(() => served().length).toBe(105);
  expect(served().slice(0, 5)).toEqual(['ada-agent', 'ada-agent', 'bob-agent', 'ada-agent', 'ada-agent']);
  expect(
    served()
      .slice(5)
      .every((id) => id.startsWith('anonymous ')),
  ).toBe(true);
});

function served(): string[] {
  return readFileSync(file('served'), 'utf8').trim().split('\n');
}

async function waiting(): Promise<number> {
  const text = await (await call(system.url, { path: '/metrics', key: system.adminKey })).text();
  return Number(/^dragoman_requests_waiting(?:\{[^}]*\})? (\d+)$/m.exec(text)?.[1]);
}
