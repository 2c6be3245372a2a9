import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { questionIn } from '../../packages/protocols/src/e2a/read-question.ts';
import type { E2AResponse } from '../../packages/protocols/src/e2a/response.ts';
import { call } from './call.ts';
import { Caller, fresh, read } from './caller.ts';
import { Receiver } from './receiver.ts';
import { moduleAgent, System } from './system.ts';
import { TestAuthority } from './test-authority.ts';

// The official Python SDKs of Linux Foundation A2A as clients and as servers, each in its own temporary environment.

const PATIENCE_MS = 45_000;

const execute = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'dragoman-a2a-python-'));
const authority = new TestAuthority();
const receiver = await Receiver.start(authority.issue(['IP:127.0.0.1']));
afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
  authority[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});
const unreachable = whyNoPackages();
const environments = Object.fromEntries(
  await Promise.all(
    ['1.3.0', '0.3.26'].map(async (version) => [version, unreachable ?? (await environmentWith(version))] as const),
  ),
);

describe.each([
  ['1.3.0', '10'],
  ['0.3.26', '03'],
])('the official Python SDK %s', (version, file) => {
  const python = environments[version] ?? { missing: 'it was not tried' };
  if ('missing' in python) console.warn(`the Python SDK ${version} is NOT RUN: ${python.missing}`);

  test.skipIf('missing' in python)(
    'sends, streams, reads, resubscribes, cancels, registers a URL, answers a question and gets errors',
    async () => {
      await using system = await System.start({
        config: {
          default_agent: 'worker',
          agents: { worker: moduleAgent('worker'), asker: moduleAgent('asker') },
          gate: { callbacks: [receiver.hostPort], ca: [authority.path] },
        },
      });
      const { api_key: key } = await system.caller('python-agent');
      const path = `/python-${version}`;
      const { stdout } = await execute(
        'command' in python ? python.command : '',
        [fileURLToPath(new URL(`a2a_client_${file}.py`, import.meta.url))],
        {
          env: {
            PATH: process.env['PATH'],
            A2A_URL: system.url,
            A2A_KEY: key,
            A2A_PUSH_URL: receiver.url(path),
            PYTHONDONTWRITEBYTECODE: '1',
          },
          timeout: 60_000,
        },
      );
      const seen = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
      expect(seen).toMatchObject({
        stream: ['completed', 'Hello world'],
        get: ['completed', 'Hello world'],
        push: true,
        resubscribe: ['working', 'canceled'],
        cancel: 'canceled',
        question: ['input_required', 'completed', 'one momentanswered: allow'],
      });
      expect(String(seen['error']).toLowerCase()).toContain('task not found');
      await expect.poll(() => receiver.received.filter((one) => one.path === path).length).toBeGreaterThan(0);
    },
  );

  test.skipIf('missing' in python)('serves an agent that streams, asks, fails and is cancelled', async () => {
    const program = fileURLToPath(new URL(`a2a_server_${file}.py`, import.meta.url));
    const args = version === '1.3.0' ? ['JSONRPC', 'HTTP+JSON'] : ['JSONRPC'];
    await using servers = await PythonServers.start('command' in python ? python.command : '', program, args);
    const agents = servers.urls.map((url, index) => [`peer-${index}`, { driver: 'a2a', url }]);
    await using system = await System.start({ config: { agents: Object.fromEntries(agents) } });
    const { api_key: key } = await system.caller('ada-agent');
    const caller = new Caller(system, key);
    for (const [agent] of agents) {
      const envelope = (content: string) => ({
        request_id: fresh(),
        method: 'chat.send',
        agent_ref: { id: agent as string },
        is_stream: true,
        params: { content },
      });
      const ask = async (content: string) => {
        const sent = envelope(content);
        const answer = await caller.post(sent, { accept: 'application/x-ndjson' });
        const frames: E2AResponse[] = [];
        for await (const text of answer.frames()) {
          const frame = read(text);
          frames.push(frame);
          const question = questionIn(frame);
          const path = `/e2a/requests/${sent.request_id}/questions/${question?.question_id}`;
          const json = { content: { answer: 'Oslo' } };
          if (question !== undefined) await call(system.url, { method: 'POST', path, key, json });
          if (content === 'hold' && frame.body['delta'] === 'Hello') await caller.cancel(sent.request_id);
        }
        const text = frames.map(({ body }) => (body['delta_kind'] === 'text' ? body['delta'] : '')).join('');
        return [text, frames.at(-1)?.body['code'] ?? 'succeeded'];
      };
      expect(await ask('work')).toEqual(['Hello world', 'succeeded']);
      expect(await ask('ask')).toEqual(['You said Oslo', 'succeeded']);
      expect(await ask('fail')).toEqual(['', 'A2A.TASK_FAILED']);
      expect(await ask('hold')).toEqual(['Hello', 'E2A.CANCELLED']);
    }
  });
});

/** Agents in processes of their own, one for each binding. */
class PythonServers implements AsyncDisposable {
  readonly urls: readonly string[];
  readonly #children: readonly ChildProcess[];

  private constructor(children: readonly ChildProcess[], urls: readonly string[]) {
    this.#children = children;
    this.urls = urls;
  }

  static async start(command: string, program: string, bindings: readonly string[]): Promise<PythonServers> {
    const started = await Promise.all(
      bindings.map(async (binding) => {
        const child = spawn(command, [program, binding], { stdio: ['pipe', 'pipe', 'inherit'] });
        const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
        return { child, url };
      }),
    );
    return new PythonServers(
      started.map(({ child }) => child),
      started.map(({ url }) => url),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      this.#children.map(async (child) => {
        if (child.exitCode !== null) return;
        const gone = once(child, 'exit');
        child.kill();
        await gone;
      }),
    );
  }
}

/** Why nothing can be installed, found out quickly. */
function whyNoPackages(): { missing: string } | undefined {
  const args = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--retries', '0', '--timeout', '5', '--dest', folder];
  const { status } = spawnSync('python3', [...args, 'a2a-sdk==1.3.0'], { timeout: 15_000 });
  return status === 0 ? undefined : { missing: 'pip cannot download a2a-sdk' };
}

/** A Python with one version of the SDK, or the reason why it is missing. */
async function environmentWith(version: string): Promise<{ command: string } | { missing: string }> {
  const home = join(folder, version);
  if (spawnSync('python3', ['-c', 'import venv']).status !== 0)
    return { missing: 'python3 with venv is not installed' };
  const command = join(home, 'bin', 'python');
  const packages = [`a2a-sdk[http-server]==${version}`, 'httpx', 'uvicorn'];
  try {
    await execute('python3', ['-m', 'venv', home]);
    await execute(command, ['-m', 'pip', 'install', '--quiet', '--retries', '0', '--no-compile', ...packages], {
      timeout: PATIENCE_MS,
    });
    return { command };
  } catch {
    return { missing: `pip could not install ${packages.join(', ')} in ${PATIENCE_MS / 1000} s` };
  }
}
