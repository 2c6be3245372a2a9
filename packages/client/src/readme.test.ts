import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { realServer, temporaryFolder } from '../test-support/real-server.ts';

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
const [first = '', errors = '', sockets = '', tools = ''] = [...readme.matchAll(/^```js\n([\s\S]*?)^```/gm)].map(
  ([, code]) => code,
);

/** Runs the code in a process of its own, against a real server. */
async function run(code: string, { url, key }: { url: string; key: string }) {
  const file = join(await temporaryFolder(), 'example.mjs');
  await build({
    stdin: { contents: code.replaceAll('http://127.0.0.1:7420', url), resolveDir: import.meta.dirname },
    alias: {
      '@dragoman/client': fileURLToPath(new URL('index.ts', import.meta.url)),
      '@dragoman/client/wire': fileURLToPath(new URL('wire/index.ts', import.meta.url)),
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    conditions: ['dragoman:source'],
    outfile: file,
    logLevel: 'silent',
  });
  return promisify(execFile)(process.execPath, [file], { env: { DRAGOMAN_KEY: key } });
}

test('the first example streams an answer', async () => {
  expect((await run(first, await realServer())).stdout).toBe('Hello, agent!');
});

test('the second tells the agent that is not there', async () => {
  expect((await run(first + errors, await realServer())).stderr).toContain('No such agent.');
});

test('the third asks three things at once', async () => {
  const real = await realServer();
  const given = `import { createClient } from '@dragoman/client'; const url = ${JSON.stringify(real.url)}, key = ${JSON.stringify(real.key)};`;
  expect((await run(given + sockets, real)).stdout).toContain("[ 'one', 'two', 'three' ]");
});

test('the fourth lists the tools, calls one and hears how it goes', async () => {
  const adder = fileURLToPath(new URL('../test-support/adder.mjs', import.meta.url));
  const { url, admin } = await realServer({ config: { tools: [adder] } });
  const { api_key: key = '' } = await admin.admin.agents.put({ agent_id: 'adding', permissions: { tools: ['add'] } });
  const given = `import WebSocket from 'ws'; const url = ${JSON.stringify(url)}, key = ${JSON.stringify(key)};`;
  const { stdout, stderr } = await run(given + tools, { url, key });
  expect(stdout).toBe("[ 'add' ]\n{ sum: 3 }\n");
  expect(stderr).toContain("progress { pct: 50, message: 'half' }");
});
