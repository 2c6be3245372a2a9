import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { killGroup } from '../../packages/core/src/processes/orphans.ts';
import { isAlive } from '../../packages/core/test-support/is-alive.ts';
import { call } from './call.ts';
import { System } from './system.ts';

const STUBBORN = fileURLToPath(new URL('../../packages/core/src/agents/fixtures/family-agent.mjs', import.meta.url));
const system = await System.start({
  config: { agents: { family: { driver: 'stdio', command: process.execPath, args: [STUBBORN, 'stubborn'] } } },
});
let family: number | undefined;
afterAll(async () => {
  if (family !== undefined) killGroup(family);
  await system[Symbol.asyncDispose]();
});

const testWithProc = test.runIf(existsSync('/proc/self/stat'));

testWithProc(
  'a process that a killed server left is ended by the next, even if its agent is no longer configured',
  async () => {
    const { api_key: key } = await system.caller('ada-agent');
    const json = { request_id: 'r1', method: 'chat.send', params: { content: 'who are you?' } };
    const answer = await call(system.url, { method: 'POST', path: '/e2a/agents/family', key, json });
    const { body } = (await answer.json()) as { body: { result: { pid: number; child: number } } };
    const { pid, child } = body.result;
    family = pid;
    await system.kill();
    expect([isAlive(pid), isAlive(child)]).toEqual([true, true]);
    writeFileSync(join(system.folder, 'dragoman.yaml'), JSON.stringify({ port: 0 }));
    await system.start();
    await expect.poll(() => [isAlive(pid), isAlive(child)]).toEqual([false, false]);
    expect(system.log).toContain('stopping processes that an earlier server left running');
  },
);
