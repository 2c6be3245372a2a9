import { fileURLToPath } from 'node:url';
import type * as acp from '@agentclientprotocol/sdk';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { Editor, faults, prompt, startAcp, stdioStream } from './acp-editor.ts';
import { call } from './call.ts';
import { moduleAgent, System } from './system.ts';

// The MCP servers that an editor names in session/new.

const FAKE = fileURLToPath(new URL('../../packages/core/src/agents/fixtures/acp-program.mjs', import.meta.url));
const system = await System.start({
  config: {
    agents: {
      coder: { driver: 'acp', command: process.execPath, args: [FAKE, 'mcp'] },
      worker: moduleAgent('worker'),
    },
    gate: { allow: ['mcp.example.com'] },
  },
});
afterAll(() => system[Symbol.asyncDispose]());
const { api_key: plain } = await system.caller('plain-agent', { permissions: { agents: ['*'], operations: ['*'] } });
const { api_key: trusted } = await system.caller('trusted-agent', {
  permissions: { agents: ['*'], operations: ['mcp.spawn'] },
});
const SECRET = 'mcp-secret-4711';
const files = { name: 'files', command: '/bin/files', args: ['-q'], env: [{ name: 'KEY', value: SECRET }] };
const search = { type: 'http' as const, name: 'search', url: 'https://mcp.example.com/', headers: [] };
const inside = { type: 'http' as const, name: 'inside', url: 'https://10.0.0.7/', headers: [] };
const stream = { type: 'sse' as const, name: 'stream', url: 'https://mcp.example.com/', headers: [] };

async function opened(key: string, agent: string, mcpServers: acp.McpServer[]) {
  const editor = new Editor();
  const child = startAcp(system.command, ['--url', system.url, '--agent', agent], { DRAGOMAN_KEY: key });
  onTestFinished(() => void child.kill('SIGKILL'));
  await editor.run(stdioStream(child), async (context) => {
    const { sessionId } = await context.request('session/new', { cwd: '/work', mcpServers });
    for (const text of ['servers', 'servers']) await prompt(context, sessionId, text);
    await context.request('session/list', {});
  });
  const thoughts = editor.updates.flatMap(({ update }) =>
    update.sessionUpdate === 'agent_thought_chunk' && update.content.type === 'text' ? [update.content.text] : [],
  );
  expect(faults.splice(0)).toEqual([]);
  return { text: editor.text, thoughts };
}

test('are passed to an ACP program for a caller that may, as far as the program and the gate take them', async () => {
  const { text, thoughts } = await opened(trusted, 'coder', [files, search, inside, stream]);
  const shown = { ...files, env: [{ name: 'KEY', value: '[redacted]' }], value: [...SECRET].reverse().join('') };
  expect(text).toBe(JSON.stringify([shown, search]).repeat(2));
  expect(thoughts).toEqual([
    expect.stringMatching(/inside: .*private address; stream: the agent does not take servers of type sse\.$/),
  ]);
  await expectSecretNotKept();
});

test.each([
  ['is repaired', 'channel_context', { params: null }],
  ['has legacy keys', 'metadata', { channel_id: 'web' }],
])('keep their secrets out of the record of an envelope that %s', async (_, name, members) => {
  const json = { request_id: `with-${name}`, ...members, [name]: { mcp_servers: [files] } };
  const answered = await call(system.url, { method: 'POST', path: '/e2a/agents/worker', key: trusted, json });
  expect(answered.status).toBe(200);
  await expectSecretNotKept();
});

/** What they need to work is not kept. */
async function expectSecretNotKept(): Promise<void> {
  const kept = await system.kept();
  expect(kept.size).toBeGreaterThan(0);
  for (const [place, bytes] of kept) expect([place, bytes.includes(SECRET)]).toEqual([place, false]);
  expect(system.log).not.toContain(SECRET);
}

test('are refused, once, for a caller whose operations do not name mcp.spawn: "*" is not enough', async () => {
  const { text, thoughts } = await opened(plain, 'coder', [files]);
  expect(text).toBe('[][]');
  expect(thoughts).toEqual([expect.stringContaining('files: the caller needs "mcp.spawn" in permissions.operations')]);
});

test('are refused, once, for any other agent', async () => {
  const { text, thoughts } = await opened(trusted, 'worker', [files]);
  expect(text).toContain('Hello world');
  expect(thoughts).toEqual([expect.stringContaining('(files) are not available to worker')]);
});

test('are replaced when the client opens the session again', async () => {
  const editor = new Editor();
  const child = startAcp(system.command, ['--url', system.url, '--agent', 'worker'], { DRAGOMAN_KEY: trusted });
  onTestFinished(() => void child.kill('SIGKILL'));
  await editor.run(stdioStream(child), async (context) => {
    const opened = await context.request('session/new', { cwd: '/work', mcpServers: [files] });
    const { sessionId } = opened as acp.NewSessionResponse;
    await context.request('session/resume', { sessionId, cwd: '/work', mcpServers: [search] });
    await prompt(context, sessionId);
    await context.request('session/list', {});
    expect(JSON.stringify(editor.updates)).toContain('(search) are not available to worker');
  });
});
