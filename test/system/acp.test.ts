import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import * as acp from '@agentclientprotocol/sdk';
import { createHttpStream } from '@agentclientprotocol/sdk/experimental/http-client';
import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { Editor, faults, openSession, prompt, startAcp, stdioStream } from './acp-editor.ts';
import { call } from './call.ts';
import { Caller } from './caller.ts';
import { moduleAgent, System } from './system.ts';

const FAKE = fileURLToPath(new URL('../../packages/core/src/agents/fixtures/acp-program.mjs', import.meta.url));
const system = await System.start({
  config: {
    default_agent: 'worker',
    agents: {
      worker: moduleAgent('worker'),
      asker: moduleAgent('asker'),
      hasty: moduleAgent('hasty-asker'),
      coder: { driver: 'acp', command: process.execPath, args: [FAKE, 'modes'] },
    },
  },
});
afterAll(() => system[Symbol.asyncDispose]());
const { api_key: key } = await system.caller('editor-agent');
const { api_key: othersKey } = await system.caller('other-agent');
const caller = new Caller(system, key);

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  expect(faults.splice(0)).toEqual([]);
});

const transports = {
  WebSocket: (path = '/acp', apiKey = key) =>
    createWebSocketStream(`${system.url.replace('http', 'ws')}${path}`, {
      WebSocket: WebSocket as never,
      headers: { authorization: `Bearer ${apiKey}` },
    }),
  'Streamable HTTP': (path = '/acp', apiKey = key) =>
    createHttpStream(`${system.url}${path}`, { headers: { authorization: `Bearer ${apiKey}` } }),
  stdio: (path = '/acp', apiKey = key) => {
    const agent = path.startsWith('/acp/agents/') ? ['--agent', path.slice('/acp/agents/'.length)] : [];
    const child = startAcp(system.command, ['--url', system.url, ...agent], { DRAGOMAN_KEY: apiKey });
    children.push(child);
    return stdioStream(child);
  },
};

const openQuestions = async () => {
  const listed = await call(system.url, { path: '/e2a/questions', key });
  return ((await listed.json()) as { questions: { request_id: string; question_id: string }[] }).questions;
};

describe.each(Object.entries(transports))('the official TypeScript SDK over %s', (_, connect) => {
  test('prompts the default agent and sees its answer stream', async () => {
    const editor = new Editor();
    await editor.run(connect(), async (context) => {
      const { sessionId, configOptions } = await openSession(context);
      expect(configOptions).toMatchObject([{ id: 'agent', type: 'select', currentValue: 'worker' }]);
      expect(await prompt(context, sessionId)).toEqual({ stopReason: 'end_turn' });
      expect(editor.text).toContain('Hello world');
      expect(editor.updates.every((update) => update.sessionId === sessionId)).toBe(true);
    });
  });

  test('chooses another agent for a session, or has one from the start', async () => {
    const editor = new Editor();
    editor.permit = async () => 'allow';
    await editor.run(connect(), async (context) => {
      const { sessionId } = await openSession(context);
      const chosen = await context.request(acp.methods.agent.session.setConfigOption, {
        sessionId,
        configId: 'agent',
        value: 'asker',
      });
      expect(chosen.configOptions).toMatchObject([{ currentValue: 'asker' }]);
      await prompt(context, sessionId);
      expect(editor.permissions).toHaveLength(1);
    });
    await new Editor().run(connect('/acp/agents/asker'), async (context) => {
      expect((await openSession(context)).configOptions).toEqual([]);
    });
  });

  test.each(['allow', 'reject', undefined])('gets a permission request and answers %s', async (optionId) => {
    const editor = new Editor();
    editor.permit = async () => optionId;
    await editor.run(connect('/acp/agents/asker'), async (context) => {
      const { sessionId } = await openSession(context);
      await prompt(context, sessionId);
      expect(editor.kinds.indexOf('tool_call')).toBeGreaterThanOrEqual(0);
      expect(editor.permissions).toMatchObject([
        { sessionId, toolCall: { title: 'May I?' }, options: [{ optionId: 'allow' }, { optionId: 'reject' }] },
      ]);
      expect(editor.text).toContain(`answered: ${optionId ?? 'cancel'}`);
    });
  });

  test('sees the answer continue when somebody else answers its question', async () => {
    const editor = new Editor();
    editor.permit = () => new Promise(() => {});
    await editor.run(connect('/acp/agents/asker'), async (context) => {
      const { sessionId } = await openSession(context);
      const answered = prompt(context, sessionId);
      await expect.poll(() => editor.permissions.length).toBe(1);
      const [question] = await openQuestions();
      const path = `/e2a/requests/${question?.request_id}/questions/${question?.question_id}`;
      await call(system.url, { method: 'POST', path, key, json: { option_id: 'allow' } });
      expect(await answered).toEqual({ stopReason: 'end_turn' });
      expect(editor.text).toContain('answered: allow');
    });
  });

  test('leaves a permission unanswered until it expires, which rejects it, and continues the session', async () => {
    const editor = new Editor();
    editor.permit = () => new Promise(() => {});
    await editor.run(connect('/acp/agents/hasty'), async (context) => {
      const { sessionId } = await openSession(context);
      expect(await prompt(context, sessionId)).toEqual({ stopReason: 'end_turn' });
      expect(editor.permissions).toHaveLength(1);
      expect(editor.text).toContain('answered: reject');
      expect(await prompt(context, sessionId)).toEqual({ stopReason: 'end_turn' });
      expect(await openQuestions()).toEqual([]);
    });
  });

  test('cancels a prompt, with its question, and continues the session', async () => {
    const editor = new Editor();
    editor.permit = () => new Promise(() => {});
    await editor.run(connect('/acp/agents/asker'), async (context) => {
      const { sessionId } = await openSession(context);
      const answered = prompt(context, sessionId);
      await expect.poll(() => editor.permissions.length).toBe(1);
      await context.notify(acp.methods.agent.session.cancel, { sessionId });
      expect(await answered).toEqual({ stopReason: 'cancelled' });
      expect(await openQuestions()).toEqual([]);
      editor.permit = async () => 'allow';
      expect(await prompt(context, sessionId)).toEqual({ stopReason: 'end_turn' });
    });
  });

  test('refuses a second prompt of a session, and one of a session that is not open', async () => {
    const editor = new Editor();
    await editor.run(connect('/acp/agents/worker'), async (context) => {
      const { sessionId } = await openSession(context);
      const answered = prompt(context, sessionId, 'hold');
      await expect.poll(() => editor.updates.length).toBeGreaterThan(0);
      await expect(prompt(context, sessionId)).rejects.toMatchObject({ code: -32600 });
      await expect(prompt(context, 'never-was')).rejects.toMatchObject({ code: -32002 });
      await context.notify(acp.methods.agent.session.cancel, { sessionId });
      expect(await answered).toEqual({ stopReason: 'cancelled' });
    });
  });

  test('lists sessions, loads one with its history, and deletes it', async () => {
    let sessionId = '';
    await new Editor().run(connect(), async (context) => {
      ({ sessionId } = await openSession(context));
      await prompt(context, sessionId, 'the first thing');
    });
    const editor = new Editor();
    await editor.run(connect(), async (context) => {
      const { sessions } = await context.request(acp.methods.agent.session.list, { cwd: '/work' });
      expect(sessions.find((session) => session.sessionId === sessionId)).toMatchObject({ cwd: '/work' });
      await context.request(acp.methods.agent.session.load, { sessionId, cwd: '/work', mcpServers: [] });
      expect(editor.kinds[0]).toBe('user_message_chunk');
      expect(editor.updates[0]).toMatchObject({ update: { content: { text: 'the first thing' } } });
      expect(editor.text).toBe('Hello world');
      expect(await prompt(context, sessionId)).toEqual({ stopReason: 'end_turn' });
      await context.request(acp.methods.agent.session.delete, { sessionId });
      await expect(
        context.request(acp.methods.agent.session.load, { sessionId, cwd: '/work', mcpServers: [] }),
      ).rejects.toMatchObject({ code: -32002 });
    });
  });

  test('with an agent from the start, lists the sessions of that agent, which are those that it can load', async () => {
    const made: string[] = [];
    for (const agent of ['worker', 'asker']) {
      await new Editor().run(connect(`/acp/agents/${agent}`), async (context) => {
        made.push((await openSession(context)).sessionId);
      });
    }
    await new Editor().run(connect('/acp/agents/worker'), async (context) => {
      const { sessions } = await context.request(acp.methods.agent.session.list, {});
      const ids = sessions.map(({ sessionId }) => sessionId);
      expect(made.map((id) => ids.includes(id))).toEqual([true, false]);
      for (const sessionId of ids) {
        await context.request(acp.methods.agent.session.load, { sessionId, cwd: '/work', mcpServers: [] });
      }
    });
  });

  test('loads a session whose answer is still being given, and sees the rest', async () => {
    let sessionId = '';
    const [first, editor] = [new Editor(), new Editor()];
    await first.run(connect('/acp/agents/worker'), async (context) => {
      ({ sessionId } = await openSession(context));
      void prompt(context, sessionId, 'hold').catch(() => {});
      await expect.poll(() => first.text).toBe('begun');
    });
    await editor.run(connect('/acp/agents/worker'), async (context) => {
      await context.request(acp.methods.agent.session.load, { sessionId, cwd: '/work', mcpServers: [] });
      await expect.poll(() => editor.kinds).toContain('agent_message_chunk');
      await expect(prompt(context, sessionId)).rejects.toMatchObject({ code: -32600 });
      await context.notify(acp.methods.agent.session.cancel, { sessionId });
      await expect
        .poll(() => caller.rpc('history.get', { session_id: sessionId }))
        .toMatchObject({ messages: [{ status: 'failed' }] });
    });
  });

  test('sets the mode of an ACP program and calls its own methods; other agents have neither', async () => {
    const editor = new Editor();
    await editor.run(connect('/acp/agents/coder'), async (context) => {
      const { sessionId } = await openSession(context);
      expect(await context.request(acp.methods.agent.session.setMode, { sessionId, modeId: 'plan' })).toEqual({});
      await prompt(context, sessionId, 'mode');
      await expect.poll(() => editor.text).toBe('plan');
      expect(await context.request('_status', { sessionId, a: 1 })).toEqual({ a: 1, status: 'fine' });
      const flying = context.request(acp.methods.agent.session.setMode, { sessionId, modeId: 'fly' });
      await expect(flying).rejects.toMatchObject({ code: -32602, message: expect.stringContaining('plan, code') });
    });
    await new Editor().run(connect('/acp/agents/worker'), async (context) => {
      const { sessionId } = await openSession(context);
      const setting = context.request(acp.methods.agent.session.setMode, { sessionId, modeId: 'plan' });
      await expect(setting).rejects.toMatchObject({ code: -32601 });
      await expect(context.request('_status', { sessionId })).rejects.toMatchObject({ code: -32601 });
    });
  });

  test('does not find the session of another caller', async () => {
    let sessionId = '';
    await new Editor().run(connect(), async (context) => {
      ({ sessionId } = await openSession(context));
    });
    await new Editor().run(connect('/acp', othersKey), async (context) => {
      await expect(
        context.request(acp.methods.agent.session.load, { sessionId, cwd: '/work', mcpServers: [] }),
      ).rejects.toMatchObject({ code: -32002 });
      const { sessions } = await context.request(acp.methods.agent.session.list, {});
      expect(sessions.some((session) => session.sessionId === sessionId)).toBe(false);
    });
  });

  test('a relative cwd and an unknown method are refused with a reason', async () => {
    await new Editor().run(connect(), async (context) => {
      await expect(
        context.request(acp.methods.agent.session.new, { cwd: 'here', mcpServers: [] }),
      ).rejects.toMatchObject({ code: -32602, message: expect.stringContaining('absolute path') });
      await expect(context.request('session/fly' as never, {} as never)).rejects.toMatchObject({ code: -32601 });
    });
  });
});

test('every request that a method records is counted, but answers to questions are not', async () => {
  const { api_key: limited } = await system.caller('limited-editor', {
    permissions: { agents: ['*'] },
    limits: { requests_per_minute: 3 },
  });
  const editor = new Editor();
  editor.permit = async () => 'allow';
  await editor.run(transports.WebSocket('/acp/agents/asker', limited), async (context) => {
    const { sessionId } = await openSession(context);
    expect(await prompt(context, sessionId)).toEqual({ stopReason: 'end_turn' });
    expect(editor.text).toContain('answered: allow');
    const refused = { data: { e2a_code: 'E2A.RATE_LIMITED' } };
    await expect(context.request(acp.methods.agent.session.list, {})).rejects.toMatchObject(refused);
    await expect(openSession(context)).rejects.toMatchObject(refused);
  });
});
