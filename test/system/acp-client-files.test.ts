import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type * as acp from '@agentclientprotocol/sdk';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { Editor, faults, prompt, startAcp, stdioStream } from './acp-editor.ts';
import { call } from './call.ts';
import { Caller, fresh, read } from './caller.ts';
import { System } from './system.ts';

// `client_fs: caller` and `client_terminal: caller`: an ACP program uses the files and terminals of the editor that prompts.

const FAKE = fileURLToPath(new URL('../../packages/core/src/agents/fixtures/acp-program.mjs', import.meta.url));
const project = realpathSync(mkdtempSync(join(tmpdir(), 'dragoman-editor-')));
const fake = { driver: 'acp' as const, command: process.execPath, args: [FAKE] };
const caller = { client_fs: 'caller' as const, client_terminal: 'caller' as const };
const system = await System.start({
  config: {
    agents: {
      coder: { ...fake, ...caller },
      careful: { ...fake, ...caller, tool_permissions: { edit: 'ask', execute: 'deny' } },
      alone: fake,
    },
  },
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  rmSync(project, { recursive: true, force: true });
});
const { api_key: key } = await system.caller('editor-agent');

const ALL = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };
const asking = (method: string, params: JsonObject = {}) => `call ${JSON.stringify({ method, params })}`;

/** An editor that opens the folder of the project at an agent. */
function edit<T>(
  agent: string,
  work: (editor: Editor, sendPrompt: (text: string) => Promise<string>, context: acp.ClientContext) => Promise<T>,
  editor = new Editor(),
): Promise<T> {
  const child = startAcp(system.command, ['--url', system.url, '--agent', agent], { DRAGOMAN_KEY: key });
  onTestFinished(() => void child.kill('SIGKILL'));
  return editor.run(stdioStream(child), async (context) => {
    const { sessionId } = await context.request('session/new', { cwd: project, mcpServers: [] });
    const sendPrompt = async (text: string) => {
      const before = editor.text.length;
      await prompt(context, sessionId, text);
      // The SDK resolves a prompt before it has handed over the last updates.
      await context.request('session/list', {});
      return editor.text.slice(before);
    };
    return work(editor, sendPrompt, context);
  });
}
function offering(capabilities: acp.ClientCapabilities = ALL): Editor {
  const editor = new Editor();
  editor.capabilities = capabilities;
  return editor;
}

describe('an editor that offers files and terminals', () => {
  test('reads and writes for the program: the folder is its own, whatever the program calls it', async () => {
    await edit(
      'coder',
      async (editor, sendPrompt) => {
        editor.serve = (method) => (method === 'fs/read_text_file' ? { content: 'unsaved text' } : {});
        const own = /^\S+ "(\S+)"/.exec(await sendPrompt('where'))?.[1] ?? '';
        expect(own).toContain(system.data);
        expect(
          JSON.parse(await sendPrompt(asking('fs/read_text_file', { path: `${own}/src/a.txt`, line: 2 }))),
        ).toEqual({
          result: { content: 'unsaved text' },
        });
        const path = join(project, 'b.txt');
        expect(JSON.parse(await sendPrompt(asking('fs/write_text_file', { path, content: 'new' })))).toEqual({
          result: {},
        });
        expect(editor.served).toMatchObject([
          { method: 'fs/read_text_file', params: { path: join(project, 'src/a.txt'), line: 2 } },
          { method: 'fs/write_text_file', params: { path, content: 'new' } },
        ]);
      },
      offering(),
    );
    expect(faults.splice(0)).toEqual([]);
  });

  test.each([
    ['outside its folder', '/etc/passwd'],
    ['that leads out of it', `${project}/../secret`],
    ['that is not absolute', 'a.txt'],
  ])('gets no request for a path %s', async (_, path) => {
    await edit(
      'coder',
      async (editor, sendPrompt) => {
        const { error } = JSON.parse(await sendPrompt(asking('fs/read_text_file', { path })));
        expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('folder of the session') });
        expect(editor.served).toEqual([]);
      },
      offering(),
    );
  });

  test('its own errors reach the program', async () => {
    await edit(
      'coder',
      async (editor, sendPrompt) => {
        editor.serve = () => {
          throw new Error('the buffer is read-only');
        };
        const { error } = JSON.parse(
          await sendPrompt(asking('fs/write_text_file', { path: `${project}/a`, content: '' })),
        );
        expect(error).toMatchObject({ code: expect.any(Number), message: expect.any(String) });
      },
      offering(),
    );
  });

  test('runs commands; what the program leaves is released with the turn, and another turn cannot use it', async () => {
    await edit(
      'coder',
      async (editor, sendPrompt) => {
        editor.serve = (method) =>
          method === 'terminal/create'
            ? { terminalId: 'T1' }
            : method === 'terminal/wait_for_exit'
              ? { exitCode: 3, signal: null }
              : {};
        const created = JSON.parse(await sendPrompt(asking('terminal/create', { command: 'make', args: ['all'] })));
        expect(created).toEqual({ result: { terminalId: 'T1' } });
        await expect.poll(() => editor.served.length).toBe(2);
        expect(editor.served).toMatchObject([
          { method: 'terminal/create', params: { command: 'make', args: ['all'] } },
          { method: 'terminal/release', params: { terminalId: 'T1' } },
        ]);
        const { error } = JSON.parse(await sendPrompt(asking('terminal/output', { terminalId: 'T1' })));
        expect(error).toMatchObject({ code: -32002 });
        expect(editor.served).toHaveLength(2);
      },
      offering(),
    );
    expect(faults.splice(0)).toEqual([]);
  });

  test('a cancelled turn withdraws its requests, and the next turn works', async () => {
    await edit(
      'coder',
      async (editor, sendPrompt, context) => {
        let withdrawn: AbortSignal | undefined;
        editor.serve = (_method, _params, signal) => {
          withdrawn = signal;
          return new Promise(() => {});
        };
        const { sessionId } = await context.request('session/new', { cwd: project, mcpServers: [] });
        const turn = prompt(context, sessionId, asking('fs/read_text_file', { path: `${project}/a` }));
        await expect.poll(() => editor.served.length, { timeout: 20_000 }).toBe(1);
        await context.notify('session/cancel', { sessionId });
        expect(await turn).toEqual({ stopReason: 'cancelled' });
        await expect.poll(() => withdrawn?.aborted, { timeout: 20_000 }).toBe(true);
        expect(await sendPrompt('echo again')).toBe('echo again ');
      },
      offering(),
    );
  });

  test('one that leaves is not waited for', async () => {
    const editor = offering();
    editor.serve = () => new Promise(() => {});
    const child = startAcp(system.command, ['--url', system.url, '--agent', 'coder'], { DRAGOMAN_KEY: key });
    const left = editor.run(stdioStream(child), async (context) => {
      const { sessionId } = await context.request('session/new', { cwd: project, mcpServers: [] });
      await prompt(context, sessionId, asking('fs/read_text_file', { path: `${project}/a` }));
    });
    left.catch(() => {});
    await expect.poll(() => editor.served.length, { timeout: 20_000 }).toBe(1);
    child.stdin?.end();
    const newest = async () => {
      const listed = await call(system.url, { path: '/e2a/requests?agent=coder', key });
      return ((await listed.json()) as { requests: { request_id: string }[] }).requests[0]?.request_id ?? '';
    };
    const frames = await new Caller(system, key).resume(await newest());
    expect(JSON.stringify(frames)).toContain('The client has left.');
  });
});

describe('it is refused', () => {
  test.each([
    ['the editor does not offer it', 'coder', offering({})],
    ['the editor offers only to read', 'coder', offering({ fs: { readTextFile: true } })],
    ['the agent may not use it', 'alone', offering()],
  ])('where %s', async (_, agent, editor) => {
    await edit(
      agent,
      async (_, sendPrompt) => {
        const { error } = JSON.parse(
          await sendPrompt(asking('fs/write_text_file', { path: `${project}/a`, content: '' })),
        );
        expect(error).toMatchObject({ code: -32601 });
        expect(editor.served).toEqual([]);
      },
      editor,
    );
  });

  test('where tool_permissions denies it, or the person does', async () => {
    await edit(
      'careful',
      async (editor, sendPrompt) => {
        const command = JSON.parse(await sendPrompt(asking('terminal/create', { command: 'make' })));
        expect(command.error).toMatchObject({ code: -32000, message: expect.stringContaining('tool_permissions') });
        const write = asking('fs/write_text_file', { path: `${project}/a`, content: 'x' });
        editor.permit = async () => 'reject';
        expect(JSON.parse(await sendPrompt(write)).error).toMatchObject({ code: -32000 });
        expect(editor.served).toEqual([]);
        editor.permit = async () => 'allow';
        expect(JSON.parse(await sendPrompt(write))).toEqual({ result: {} });
        expect(editor.permissions[1]).toMatchObject({ toolCall: { title: `Write ${project}/a`, kind: 'edit' } });
      },
      offering(),
    );
    expect(faults.splice(0)).toEqual([]);
  });

  test('where the caller of the request has no files, and another caller cannot answer for it', async () => {
    const ada = new Caller(system, key);
    const { api_key: other } = await system.caller('other-agent');
    const text = asking('fs/read_text_file', { path: '/project/a' });
    const send = (context: JsonObject) => {
      const id = fresh();
      const envelope = { request_id: id, method: 'chat.send', params: { content: text }, agent_ref: { id: 'coder' } };
      return ada.post({ ...envelope, is_stream: true, channel_context: context }, { accept: 'application/x-ndjson' });
    };
    expect(await (await send({})).text()).toContain('-32601');
    const offer = { cwd: '/project', client_capabilities: { fs: { read_text_file: true } } };
    let output = '';
    for await (const frame of (await send(offer)).frames()) {
      output += frame;
      const { response_kind: kind, body } = read(frame);
      if (kind !== 'acp.output_request') continue;
      expect(body).toMatchObject({ method: 'fs/read_text_file', params: { path: '/project/a' } });
      const respond = async (by: string) => {
        const params = { jsonrpc_id: body['id'] ?? '', response: { result: { content: 'mine' } } };
        const envelope = { request_id: fresh(), method: 'acp.tool_response', params };
        return (await (await new Caller(system, by).post(envelope)).json()) as JsonObject;
      };
      expect(await respond(other)).toMatchObject({ body: { code: 'E2A.NOT_FOUND' } });
      expect(await respond(key)).toMatchObject({ response_kind: 'e2a.complete' });
    }
    expect(output).toContain('mine');
  });
});
