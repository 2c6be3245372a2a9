// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a reference is written like this
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, inject, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { call } from './call.ts';
import { Served } from './served.ts';

// What `agents.*.env`, `agents.*.headers` and `mcp_servers.*.env` refer to reaches programs and hosts, and nothing else.

const SECRETS = {
  variable: 'sk-from-the-environment',
  file: 'tok-from-a-file-1',
  newFile: 'tok-from-a-file-2',
  vault: 'key-from-the-vault',
};
const PROGRAM = `import { createInterface } from 'node:readline';
console.error('my key is ' + process.env.MODEL_KEY);
for await (const line of createInterface({ input: process.stdin })) {
  const { request_id, params } = JSON.parse(line);
  if (params.content === 'crash') { console.error('Error: no luck with ' + process.env.MODEL_KEY); process.exit(3); }
  const seen = ['MODEL_KEY', 'TOKEN', 'VAULTED'].map((name) => Buffer.from(process.env[name] ?? '').toString('base64url').split('').reverse().join(''));
  process.stdout.write(JSON.stringify({ request_id, response_kind: 'e2a.complete', is_final: true, body: { result: { seen } } }) + '\\n');
}`;
const MCP_SERVER = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);

const received: IncomingHttpHeaders[] = [];
const desk = createServer((request, response) => {
  received.push(request.headers);
  // As a debug page of a careless service does.
  response.writeHead(500).end(`refused: ${request.headers.authorization} ${request.headers['x-key']}`);
}).listen(0, '127.0.0.1');
await once(desk, 'listening');
const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' });
await once(sockets, 'listening');
sockets.on('connection', (_, { headers }) => received.push(headers));
const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;
const deskHost = `127.0.0.1:${portOf(desk)}`;

const served = await Served.start(
  (folder) => {
    writeFileSync(join(folder, 'coder.mjs'), PROGRAM);
    writeFileSync(join(folder, 'token'), `${SECRETS.file}\n`);
    return {
      port: 0,
      agents: {
        coder: {
          driver: 'stdio',
          command: process.execPath,
          args: [join(folder, 'coder.mjs')],
          env: { MODEL_KEY: '${MODEL_KEY}', TOKEN: 'file:token', VAULTED: 'vault:model' },
        },
        desk: {
          driver: 'http',
          url: `http://${deskHost}/e2a`,
          headers: { Authorization: 'Bearer ${MODEL_KEY}', 'X-Key': 'vault:desk', 'X-Team': 'blue' },
        },
        line: { driver: 'e2a-ws', url: `ws://127.0.0.1:${portOf(sockets)}`, headers: { 'X-Token': 'file:token' } },
      },
      mcp_servers: {
        every: { command: process.execPath, args: [MCP_SERVER, 'stdio'], env: { SHOWN: '${MODEL_KEY}' } },
      },
    };
  },
  { MODEL_KEY: SECRETS.variable },
);
afterAll(async () => {
  await served[Symbol.asyncDispose]();
  sockets.close();
  desk.close();
});
for (const [id, places, hosts] of [
  ['model', ['env'], []],
  ['desk', ['header'], [deskHost]],
] as const) {
  const json = { type: 'api-key', value: SECRETS.vault, places, hosts };
  const { status } = await served.admin({ method: 'PUT', path: `/admin/v1/credentials/${id}`, json });
  if (status >= 300) throw new Error(`the credential was refused with ${status}`);
}
const key = await served.caller('ada');

test('a program is given the variable, the file and the credential that its environment refers to', async () => {
  expect(await seenByProgram()).toEqual([SECRETS.variable, SECRETS.file, SECRETS.vault]);
});

test('an agent behind a URL is sent the headers of the configuration, and an answer that repeats them is redacted', async () => {
  const { body } = await answerOf('desk', 'hello');
  expect(received.at(-1)).toMatchObject({
    authorization: `Bearer ${SECRETS.variable}`,
    'x-key': SECRETS.vault,
    'x-team': 'blue',
  });
  expect(JSON.stringify(body)).toContain('refused: Bearer [redacted] [redacted]');
});

test('an agent that is dialled over WebSocket is sent the headers of the configuration', async () => {
  await expect.poll(() => received.some((headers) => headers['x-token'] === SECRETS.file)).toBe(true);
});

test('an MCP server is given the variable that its environment refers to', async () => {
  const json = { arguments: {} };
  await expect
    .poll(
      async () => {
        const answer = await call(served.url, {
          method: 'POST',
          path: '/e2a/agents/tools',
          key,
          json: { method: 'every__get-env', params: json.arguments, is_stream: false },
        });
        return answer.text();
      },
      { timeout: 20_000 },
    )
    .toContain(SECRETS.variable);
});

test('a reload reads a changed file, and keeps the running configuration where a variable is not set', async () => {
  writeFileSync(served.file('token'), `${SECRETS.newFile}\n`);
  served.signal('SIGHUP');
  expect(await served.event<{ changed: string[] }>('reloaded')).toMatchObject({ changed: ['agents'] });
  expect(await seenByProgram()).toEqual([SECRETS.variable, SECRETS.newFile, SECRETS.vault]);
  const before = readFileSync(served.file('dragoman.yaml'), 'utf8');
  served.write(before.replace('Bearer ${MODEL_KEY}', 'Bearer ${MODEL_KEI}'));
  served.signal('SIGHUP');
  await expect
    .poll(() => served.log)
    .toContain('agents.desk.headers.Authorization: the environment variable MODEL_KEI is not set');
  served.write(before);
  expect(await seenByProgram()).toHaveLength(3);
});

test('a crashed program is reported with its exit code and its last words, without the secrets in them', async () => {
  const { body } = await answerOf('coder', 'crash');
  expect(JSON.stringify(body)).toContain(
    'ended with exit code 3 (it wrote: Error: no luck with [redacted]) before it had answered',
  );
  expect(served.log).toContain('my key is [redacted]');
});

test('no secret is in the log, in the data folder or in the output of explain', async () => {
  const { request_id } = (await answerOf('desk', 'once more')) as { request_id: string };
  const explained = await served.admin({ path: `/admin/v1/requests/${request_id}` });
  const agents = await served.admin({ path: '/admin/v1/agents' });
  const texts = [served.log, await explained.text(), await agents.text()];
  for (const bytes of (await served.kept()).values()) texts.push(bytes.toString('latin1'));
  // The tool of the MCP server shows its whole environment to who calls it, which is recorded: that is what it is for.
  const own = texts.map((text) => text.replaceAll(/\\"SHOWN\\": \\"[^"]*"/g, ''));
  for (const secret of [SECRETS.file, SECRETS.newFile, SECRETS.vault]) expect(own.join()).not.toContain(secret);
  expect(texts.slice(0, 3).join()).not.toContain(SECRETS.variable);
});

test('a variable that is not set is an error at the start that names the key', () => {
  const path = served.file('unset.yaml');
  const agents = { coder: { driver: 'stdio', command: 'node', env: { API_KEY: '${NOT_SET_ANYWHERE}' } } };
  writeFileSync(path, JSON.stringify({ port: 0, agents }));
  const command = join(inject('servers').usual, 'dragoman.js');
  const args = [command, 'serve', '--config', path, '--data', served.file('unset')];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env: {}, timeout: 30_000 });
  expect(status).toBe(1);
  expect(stderr).toContain('agents.coder.env.API_KEY: the environment variable NOT_SET_ANYWHERE is not set');
  expect(stderr).toContain('export NOT_SET_ANYWHERE=VALUE');
});

async function answerOf(agent: string, content: string): Promise<Record<string, unknown>> {
  const json = { method: 'chat.send', params: { content }, is_stream: false };
  const answer = await call(served.url, { method: 'POST', path: `/e2a/agents/${agent}`, key, json });
  return (await answer.json()) as Record<string, unknown>;
}

/** It spells them backwards, so that nothing on the way can redact them and nothing keeps them. */
async function seenByProgram(): Promise<string[]> {
  const { body } = (await answerOf('coder', 'what do you see?')) as { body: { result: { seen: string[] } } };
  return body.result.seen.map((text) => Buffer.from(text.split('').reverse().join(''), 'base64url').toString());
}
