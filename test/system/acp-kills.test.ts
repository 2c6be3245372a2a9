import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type * as acp from '@agentclientprotocol/sdk';
import { describe, expect, onTestFinished, test } from 'vitest';
import { killGroup } from '../../packages/core/src/processes/orphans.ts';
import { isAlive } from '../../packages/core/test-support/is-alive.ts';
import { Editor, openSession, prompt, startAcp, stdioStream } from './acp-editor.ts';
import { System } from './system.ts';

// An editor, or `dragoman acp`, that dies in the middle of a turn: which processes end, and which continue.

const FAKE = fileURLToPath(new URL('../../packages/core/src/agents/fixtures/acp-program.mjs', import.meta.url));
const coder = { driver: 'acp' as const, command: process.execPath, args: [FAKE], client_terminal: 'local' as const };

/** The pids of the program, and of the command that it runs in a terminal, once a turn runs. */
async function turnOn(child: ChildProcess) {
  const editor = new Editor();
  let sessionId = '';
  onTestFinished(() => void child.kill('SIGKILL'));
  void editor
    .run(stdioStream(child), async (context: acp.ClientContext) => {
      ({ sessionId } = await openSession(context));
      await prompt(context, sessionId, 'command');
    })
    .catch(() => {});
  await expect.poll(() => editor.text).toContain('started');
  const pids = JSON.parse(editor.text.replace('started', '')) as { program: number; command: number };
  onTestFinished(() => {
    for (const pid of Object.values(pids)) killGroup(pid);
  });
  expect(isAlive(pids.program) && isAlive(pids.command)).toBe(true);
  return { sessionId, ...pids };
}

/** What the kernel does when the editor is killed. */
function closePipes({ stdin, stdout }: ChildProcess): void {
  stdout?.destroy();
  stdin?.destroy();
}

describe('dragoman acp --config', () => {
  function embedded(system: System): ChildProcess {
    const config = join(system.folder, 'own.yaml');
    writeFileSync(config, JSON.stringify({ default_agent: 'coder', agents: { coder } }));
    return startAcp(system.command, ['--config', config], { XDG_RUNTIME_DIR: system.folder });
  }
  const kept = (system: System) => readdirSync(join(system.folder, 'dragoman'));

  test('ends in order when its editor is killed, with the program, its command and the temporary folder', async () => {
    await using system = System.create();
    mkdirSync(join(system.folder, 'dragoman'), { mode: 0o700 });
    const child = embedded(system);
    const exited = once(child, 'exit');
    const { program, command } = await turnOn(child);
    closePipes(child);
    expect(await exited).toEqual([0, null]);
    expect([isAlive(program), isAlive(command), kept(system)]).toEqual([false, false, []]);
  });

  test('takes the program and its command with it when it is killed', async () => {
    await using system = System.create();
    const child = embedded(system);
    const { program, command } = await turnOn(child);
    child.kill('SIGKILL');
    await expect.poll(() => [isAlive(program), isAlive(command)]).toEqual([false, false]);
  });
});

describe('dragoman acp --url', () => {
  test.each<[string, (child: ChildProcess) => void, [number | null, string | null]]>([
    ['it', (child) => void child.kill('SIGKILL'), [null, 'SIGKILL']],
    ['its editor', closePipes, [0, null]],
  ])(
    'leaves its turn to the server when %s is killed: another one sees it continue, and cancels it',
    async (...each) => {
      const [, kill, exit] = each;
      await using system = await System.start({ config: { default_agent: 'coder', agents: { coder } } });
      const { api_key: key } = await system.caller('editor-agent');
      const connect = () => startAcp(system.command, ['--url', system.url], { DRAGOMAN_KEY: key });
      const child = connect();
      const { sessionId, program, command } = await turnOn(child);
      const exited = once(child, 'exit');
      kill(child);
      expect(await exited).toEqual(exit);
      const [editor, other] = [new Editor(), connect()];
      onTestFinished(() => void other.kill('SIGKILL'));
      await editor.run(stdioStream(other), async (context) => {
        await context.request('session/load', { sessionId, cwd: '/work', mcpServers: [] });
        await expect.poll(() => editor.text).toContain('started');
        expect([isAlive(program), isAlive(command)]).toEqual([true, true]);
        await context.notify('session/cancel', { sessionId });
        await expect.poll(() => isAlive(command)).toBe(false);
        // It serves other callers.
        expect(isAlive(program)).toBe(true);
      });
    },
  );

  test('a server that is killed takes the program and its command with it', async () => {
    await using system = await System.start({ config: { default_agent: 'coder', agents: { coder } } });
    const { api_key: key } = await system.caller('editor-agent');
    const { program, command } = await turnOn(startAcp(system.command, ['--url', system.url], { DRAGOMAN_KEY: key }));
    await system.kill();
    await expect.poll(() => [isAlive(program), isAlive(command)]).toEqual([false, false]);
  });
});
