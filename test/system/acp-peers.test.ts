import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { isAlive } from '../../packages/core/test-support/is-alive.ts';
import { freePort } from '../../packages/core/test-support/ports.ts';
import { type ModelScript, ScriptedModel } from '../../packages/core/test-support/scripted-model.ts';
import type { E2AResponse } from '../../packages/protocols/src/e2a/response.ts';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { call } from './call.ts';
import { Caller, expectOrdered, fresh, read } from './caller.ts';
import {
  INSTALL_MS,
  installFromNpm,
  installFromPyPI,
  installWithGo,
  NODE_22,
  node22In,
  whyNotRun,
} from './peers/install.ts';
import { moduleAgent, System } from './system.ts';

// Programs of others that speak ACP, as clients and as agents. With DRAGOMAN_PEERS=1 they are installed and run.

const execute = promisify(execFile);
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-acp-peers-'));
});
// A process that a program has started may write for a moment after it.
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
const RUN_MS = 50_000;

describe.skipIf(whyNotRun('the Python SDK of ACP is', 'python3'))('the Python SDK of ACP', () => {
  let python = '';
  beforeAll(async () => {
    python = await installFromPyPI(join(folder, 'python'), ['agent-client-protocol==0.12.1']);
  }, INSTALL_MS);

  test('prompts, gets a question, cancels, lists and loads', async () => {
    await using system = await System.start({
      config: {
        default_agent: 'worker',
        agents: { worker: moduleAgent('worker'), asker: moduleAgent('asker'), hasty: moduleAgent('hasty-asker') },
      },
    });
    const { api_key: key } = await system.caller('python-agent');
    const file = fileURLToPath(new URL('acp_client.py', import.meta.url));
    const words = [file, process.execPath, system.command, 'acp', '--url', system.url];
    const env = { PATH: process.env['PATH'], DRAGOMAN_KEY: key, PYTHONDONTWRITEBYTECODE: '1' };
    const { stdout } = await execute(python, words, { env, timeout: RUN_MS });
    expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toEqual({
      initialize: [1, 'dragoman'],
      prompt: ['end_turn', 'Hello world'],
      allow: ['end_turn', expect.stringContaining('answered: allow')],
      reject: ['end_turn', expect.stringContaining('answered: reject')],
      expire: ['end_turn', expect.stringContaining('answered: reject')],
      cancel: 'cancelled',
      list: true,
      load: ['user_message_chunk', 'agent_message_chunk'],
    });
  });
});

describe.skipIf(whyNotRun('the Go examples of ACP are', 'go'))('the Go examples of ACP', () => {
  let system: System;
  let key = '';
  let programs = '';
  beforeAll(async () => {
    const examples = ['agent', 'client'].map((name) => `github.com/coder/acp-go-sdk/example/${name}@v0.13.0`);
    programs = await installWithGo(join(folder, 'go'), examples);
    system = await System.start({ config: { agents: { go: { driver: 'acp', command: join(programs, 'agent') } } } });
    key = (await system.caller('ada-agent')).api_key;
  }, INSTALL_MS);
  afterAll(() => system[Symbol.asyncDispose]());

  test.each([
    ['allow', 'completed', 'The changes have been applied.'],
    ['reject', 'pending', "I'll skip the configuration update."],
  ])('the agent asks to edit, is answered %s, and continues', async (optionId, status, text) => {
    const frames = await turn({ system, key, agent: 'go', content: 'hello', on: choosing(system, key, optionId) });
    expect(questionsIn(frames)).toMatchObject([
      { title: 'Modifying critical configuration file', subject: { tool_call_id: 'call_2', tool_kind: 'edit' } },
    ]);
    expect(toolsIn(frames).at(-1)).toMatchObject({ tool_call_id: 'call_2', status });
    expect(textIn(frames)).toContain(text);
  });

  test('the client gets the agent’s question through `dragoman acp`, and its answer goes back', async () => {
    const words = [process.execPath, system.command, 'acp', '--url', system.url, '--agent', 'go'];
    const env = { PATH: process.env['PATH'], DRAGOMAN_KEY: key };
    const run = execute(join(programs, 'client'), words, { env, cwd: folder, timeout: RUN_MS });
    // The second option.
    run.child.stdin?.end('2\n');
    const { stdout } = await run;
    expect(stdout).toContain('Connected to agent (protocol v1)');
    expect(stdout).toContain('Permission requested: Modifying critical configuration file');
    expect(stdout).toContain("I'll skip the configuration update.");
    expect(stdout).toContain('Agent completed');
  });
});

describe.skipIf(whyNotRun('acpx, goose, OpenCode, Qwen Code and Claude Code are', 'npm'))('from npm,', () => {
  let modules = '';
  let system: System;
  let model: ScriptedModel;
  let goose: ChildProcess;
  let key = '';

  beforeAll(async () => {
    const platform = `${process.platform}-${process.arch}`;
    // The platform’s packages have the programs; the others only look for them.
    const programs = [`@aaif/goose-binary-${platform}@1.50.0`, `opencode-${platform}@1.18.33`];
    const scripts = ['acpx@0.19.1', '@qwen-code/qwen-code@0.24.4', '@agentclientprotocol/claude-agent-acp@0.99.1'];
    modules = await installFromNpm(join(folder, 'npm'), [NODE_22, ...programs, ...scripts]);
    model = await ScriptedModel.start(scripted);
    const port = await freePort();
    const { command, env } = gooseProgram();
    const serve = ['serve', '--port', String(port), '--with-builtin', 'developer'];
    goose = spawn(command, serve, {
      stdio: 'ignore',
      env: { ...env, HOME: home('goose-serve'), PATH: process.env['PATH'], GOOSE_SERVER__SECRET_KEY: 'sesame' },
    });
    const headers = { 'x-secret-key': 'sesame' };
    system = await System.start({
      config: {
        default_agent: 'worker',
        agents: {
          worker: moduleAgent('worker'),
          asker: moduleAgent('asker'),
          goose: { ...gooseProgram(), driver: 'acp', args: ['acp', '--with-builtin', 'developer'] },
          'goose-ws': { driver: 'acp', url: `ws://127.0.0.1:${port}/acp`, headers },
          'goose-http': { driver: 'acp', url: `http://127.0.0.1:${port}/acp`, headers },
          opencode: { driver: 'acp', ...openCodeProgram() },
          qwen: { driver: 'acp', ...qwenProgram() },
          claude: { driver: 'acp', ...claudeProgram() },
        },
      },
    });
    key = (await system.caller('ada-agent')).api_key;
    await vi.waitFor(() => fetch(`http://127.0.0.1:${port}/acp`), { timeout: RUN_MS });
  }, INSTALL_MS);
  afterAll(async () => {
    goose.kill('SIGKILL');
    // So that its programs have ended before their folders are removed.
    await system.stop();
    await system[Symbol.asyncDispose]();
    await model[Symbol.asyncDispose]();
  });

  /** Programs keep settings and sessions in their home folder. */
  function home(name: string): string {
    const path = join(folder, `home-${name}`);
    mkdirSync(path, { recursive: true });
    return path;
  }

  const gooseProgram = () => ({
    command: join(modules, '@aaif', `goose-binary-${process.platform}-${process.arch}`, 'bin', 'goose'),
    env: {
      HOME: home('goose'),
      GOOSE_PROVIDER: 'openai',
      GOOSE_MODEL: 'small',
      OPENAI_API_KEY: 'k',
      OPENAI_HOST: new URL(model.url).origin,
      GOOSE_MODE: 'approve',
      GOOSE_DISABLE_KEYRING: '1',
    },
  });

  const openCodeProgram = () => ({
    command: join(modules, `opencode-${process.platform}-${process.arch}`, 'bin', 'opencode'),
    args: ['acp'],
    env: {
      HOME: home('opencode'),
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        model: 'scripted/small',
        small_model: 'scripted/small',
        permission: { bash: 'ask' },
        autoupdate: false,
        provider: {
          scripted: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: model.url, apiKey: 'k' },
            models: { small: {} },
          },
        },
      }),
    },
  });

  const qwenProgram = () => ({
    command: node22In(modules),
    args: [
      join(modules, '@qwen-code', 'qwen-code', 'cli-entry.js'),
      ...['--acp', '--auth-type', 'openai', '--approval-mode', 'default'],
    ],
    env: { HOME: home('qwen'), OPENAI_API_KEY: 'k', OPENAI_BASE_URL: model.url, OPENAI_MODEL: 'small' },
  });

  const claudeProgram = () => ({
    command: node22In(modules),
    args: [join(modules, '@agentclientprotocol', 'claude-agent-acp', 'dist', 'index.js')],
    env: {
      HOME: home('claude'),
      ANTHROPIC_API_KEY: 'k',
      ANTHROPIC_BASE_URL: new URL(model.url).origin,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
  });

  describe('acpx', () => {
    /** Runs it with `dragoman acp` as its agent, and gives what it printed and its exit code. */
    async function acpx(agent: string, ...words: readonly string[]) {
      const served = `${process.execPath} ${system.command} acp --url ${system.url} --agent ${agent}`;
      const run = [join(modules, 'acpx', 'dist', 'cli.js'), '--cwd', folder, '--ttl', '1', '--agent', served, ...words];
      const env = { PATH: process.env['PATH'], HOME: home('acpx'), DRAGOMAN_KEY: key };
      return execute(node22In(modules), run, { env, timeout: RUN_MS }).then(
        ({ stdout }) => ({ stdout, code: 0 }),
        ({ stdout, code }) => ({ stdout: String(stdout), code: Number(code) }),
      );
    }
    const json = (text: string) =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as JsonObject);

    test('gets an answer piece by piece', async () => {
      const { stdout } = await acpx('worker', '--format', 'json', 'exec', 'hello');
      const messages = json(stdout);
      const pieces = messages.flatMap(({ params }) => {
        const { update } = (params ?? {}) as { update?: { sessionUpdate: string; content: JsonObject } };
        return update?.sessionUpdate === 'agent_message_chunk' ? [update.content['text']] : [];
      });
      expect(pieces).toEqual(['Hello', ' world']);
      expect(messages.at(-1)).toMatchObject({ result: { stopReason: 'end_turn' } });
    });

    test.each([
      ['--approve-all', 'allow', 0],
      // It reports a denial by its exit code.
      ['--deny-all', 'reject', 5],
    ])('answers a question as %s says', async (flag, optionId, code) => {
      const ran = await acpx('asker', flag, 'exec', 'hello');
      expect(ran.stdout).toContain(`answered: ${optionId}`);
      expect(ran.code).toBe(code);
    });

    test('makes a session, resumes it, cancels a prompt, and continues', async () => {
      const session = ['--session', 'mine'];
      expect((await acpx('worker', 'sessions', 'new', '--name', 'mine')).code).toBe(0);
      expect((await acpx('worker', 'prompt', ...session, 'hello')).stdout).toContain('Hello world');
      const held = acpx('worker', 'prompt', ...session, 'hold');
      const running = async () => {
        const listed = await call(system.url, { path: '/e2a/requests?agent=worker&state=running', key });
        return ((await listed.json()) as { total: number }).total;
      };
      await expect.poll(running).toBe(1);
      expect((await acpx('worker', 'cancel', ...session)).stdout).toContain('cancel requested');
      expect((await held).stdout).toContain('[done] cancelled');
      expect((await acpx('worker', 'prompt', ...session, 'hello')).stdout).toContain('Hello world');
      const [status = {}] = json((await acpx('worker', '--format', 'json', 'status', ...session)).stdout);
      expect(status).toMatchObject({ pid: expect.any(Number) });
      const [listed = {}] = json((await acpx('worker', '--format', 'json', 'sessions', 'list')).stdout);
      expect(listed['sessions']).toContainEqual(expect.objectContaining({ sessionId: status['acpxSessionId'] }));
      await acpx('worker', 'sessions', 'close', 'mine');
      // The process that it keeps for a session.
      await expect.poll(() => isAlive(Number(status['pid']))).toBe(false);
    });
  });

  const ofGoose = { allow: 'allow_once', reject: 'reject_once', kind: 'other' };
  describe.each([
    { agent: 'goose', ...ofGoose },
    { agent: 'goose-ws', ...ofGoose },
    { agent: 'goose-http', ...ofGoose },
    { agent: 'opencode', allow: 'once', reject: 'reject', kind: 'execute' },
    { agent: 'qwen', allow: 'proceed_once', reject: 'cancel', kind: 'execute' },
    { agent: 'claude', allow: 'allow-once', reject: 'reject', kind: 'execute' },
  ])('$agent', ({ agent, allow, reject, kind }) => {
    const session = `session-of-${agent}`;

    test('streams an answer', async () => {
      const frames = await turn({ system, key, agent, content: 'hello' });
      expect(textIn(frames)).toBe('Hello world');
      expect(frames.at(-1)).toMatchObject({ status: 'succeeded', body: { result: { text: 'Hello world' } } });
    });

    test('runs a command that was allowed, and not one that was rejected', async () => {
      for (const optionId of [allow, reject]) {
        const file = `${agent}-${optionId}.txt`;
        const content = `MAKE ${file}`;
        const on = choosing(system, key, optionId);
        const frames = await turn({ system, key, agent, content, session, on });
        expect(questionsIn(frames)).toMatchObject([
          {
            kind: 'permission',
            title: expect.stringContaining(`echo made > ${file}`),
            subject: { tool_kind: kind },
          },
        ]);
        const status = optionId === allow ? 'completed' : 'failed';
        expect(toolsIn(frames).at(-1)).toMatchObject({ status });
        expect(frames.at(-1)).toMatchObject({ status: 'succeeded' });
      }
      const made = readdirSync(join(system.data, 'acp', agent), { recursive: true }).map((path) =>
        basename(String(path)),
      );
      expect(made).toContain(`${agent}-${allow}.txt`);
      expect(made).not.toContain(`${agent}-${reject}.txt`);
    });

    test('is cancelled in the middle of an answer, and answers the next prompt', async () => {
      const left = model.left;
      const ada = new Caller(system, key);
      const on = async (frame: E2AResponse) => {
        if (frame.body['delta'] === 'One ') await ada.cancel(String(frame.request_id));
      };
      const frames = await turn({ system, key, agent, content: 'HOLD', session, on });
      expect(frames.at(-1)?.body).toMatchObject({ code: 'E2A.CANCELLED' });
      // The program has cancelled its own request by then; after ten seconds it would be ended.
      await expect.poll(() => model.left, { timeout: 8000 }).toBeGreaterThan(left);
      expect(textIn(await turn({ system, key, agent, content: 'hello', session }))).toBe('Hello world');
    });

    test('continues a session after a restart of the server', async () => {
      await turn({ system, key, agent, content: 'the door is blue', session });
      await system.stop();
      await system.start();
      const first = model.requests.length;
      expect(textIn(await turn({ system, key, agent, content: 'hello', session }))).toBe('Hello world');
      const sent = JSON.stringify(model.requests.slice(first).map(({ body }) => body['messages']));
      expect(sent.includes('the door is blue'), 'the model is sent the earlier prompt').toBe(true);
    });
  });

  test('goose asks nothing in its mode `auto`, which a request chooses', async () => {
    const more = { session: 'session-in-auto', mode: 'auto' };
    const frames = await turn({ system, key, agent: 'goose', content: 'MAKE auto.txt', ...more });
    expect(questionsIn(frames)).toEqual([]);
    expect(toolsIn(frames).at(-1)).toMatchObject({ status: 'completed' });
  });
});

/** What the model answers: a title where a program wants one, a call of its shell, nothing more for now, or text. */
function scripted({ messages, tools }: JsonObject): ModelScript {
  const names = ((tools ?? []) as Tool[]).map((tool) => tool.function?.name ?? tool.name ?? '');
  const shell = names.find((name) => /shell|bash/i.test(name));
  if (shell === undefined) return { text: ['a title'] };
  const prompt = JSON.stringify((messages as JsonObject[]).findLast(({ role }) => role === 'user'));
  if (prompt.includes('HOLD')) return { text: ['One '], after: 'hang' };
  const [, file] = /MAKE ([\w-]+\.txt)/.exec(prompt) ?? [];
  if (file === undefined || called.has(file)) return { text: ['Hello', ' world'] };
  called.add(file);
  return { calls: [[shell, { command: `echo made > ${file}`, description: 'makes a file' }]] };
}

/** Files that a call was to make: what a program sends with the result of a call differs. */
const called = new Set<string>();

/** In OpenAI's API, and in Anthropic's. */
interface Tool {
  readonly function?: { readonly name: string };
  readonly name?: string;
}

interface Turn {
  readonly system: System;
  readonly key: string;
  readonly agent: string;
  readonly content: string;
  readonly session?: string;
  readonly mode?: string;
  /** Called with each frame, before the next is read. */
  readonly on?: (frame: E2AResponse) => Promise<void>;
}

/** The frames of one request. */
async function turn({ system, key, agent, content, session, mode, on }: Turn): Promise<E2AResponse[]> {
  const envelope = {
    request_id: fresh(),
    method: 'chat.send',
    params: { content, ...(mode !== undefined && { mode }) },
    session_id: session ?? null,
    agent_ref: { id: agent },
    is_stream: true,
  };
  const answer = await new Caller(system, key).post(envelope, { accept: 'application/x-ndjson' });
  const frames: E2AResponse[] = [];
  for await (const text of answer.frames()) {
    const frame = read(text);
    frames.push(frame);
    await on?.(frame);
  }
  expectOrdered(frames);
  return frames;
}

/** Answers questions with this option. */
function choosing(system: System, key: string, optionId: string) {
  return async (frame: E2AResponse) => {
    for (const { question_id } of questionsIn([frame])) {
      const path = `/e2a/requests/${frame.request_id}/questions/${question_id}`;
      await call(system.url, { method: 'POST', path, key, json: { option_id: optionId } });
    }
  };
}

function questionsIn(frames: readonly E2AResponse[]): JsonObject[] {
  return frames.flatMap(({ response_kind: kind, body }) =>
    kind === 'acp.output_request' ? [body['question'] as JsonObject] : [],
  );
}

function toolsIn(frames: readonly E2AResponse[]): JsonObject[] {
  return frames.flatMap(({ body }) => (body['delta_kind'] === 'tool' ? [body['delta'] as JsonObject] : []));
}

function textIn(frames: readonly E2AResponse[]): string {
  return frames.flatMap(({ body }) => (body['delta_kind'] === 'text' ? [String(body['delta'])] : [])).join('');
}
