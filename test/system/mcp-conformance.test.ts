import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { agentModule, moduleAgent, System } from './system.ts';

// The official suite, for what each revision requires of a server. It needs a newer Node, which npm fetches and keeps.

const system = await System.start({
  config: {
    agents: { echo: moduleAgent('echo') },
    tools: [agentModule('conformance-tools')],
    mcp_servers: {
      suite: {
        command: process.execPath,
        args: [fileURLToPath(new URL('./peers/conformance-server.mjs', import.meta.url))],
      },
    },
  },
});
const { api_key: key } = await system.caller('ada-agent', { permissions: { agents: ['*'], tools: ['*'] } });

/** The suite cannot send a key, so it speaks to one who adds it. */
const proxy = createServer((incoming, outgoing) => {
  const headers = { ...incoming.headers, authorization: `Bearer ${key}` };
  // Names of us become those of the server behind us; anything else stays, so that it is refused there.
  if (headers.host === `127.0.0.1:${port}`) headers.host = system.host;
  if (headers.origin === `http://127.0.0.1:${port}`) headers.origin = system.url;
  const onward = request(new URL(incoming.url ?? '/', system.url), { method: incoming.method, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  onward.on('error', () => outgoing.destroy());
  outgoing.on('close', () => onward.destroy());
  incoming.pipe(onward);
});
proxy.listen(0, '127.0.0.1');
await once(proxy, 'listening');
const { port } = proxy.address() as AddressInfo;
const folder = mkdtempSync(join(tmpdir(), 'dragoman-conformance-'));
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  rmSync(folder, { recursive: true, force: true });
  await system[Symbol.asyncDispose]();
});

const PACKAGES = [
  `node-${process.platform}-${process.arch}@22.23.3`,
  '@modelcontextprotocol/conformance@0.2.0-alpha.12',
];
// The suite needs the Node that is installed with it, not the one that runs npm.
const EXEC = [
  'exec',
  '--yes',
  '--engine-strict=false',
  ...PACKAGES.map((name) => `--package=${name}`),
  '--',
  'conformance',
];

const NO_SAMPLING =
  'It needs a tool that asks the client for sampling. No tool here can: 2026-07-28 deprecates sampling.';
const NO_ROOTS = 'It needs a tool that asks the client for its roots. No tool here can: 2026-07-28 deprecates roots.';
const NO_LOGGING =
  'Not declared as a capability: 2026-07-28 deprecates logging. Lines of a tool are in the journal and the events of the request.';
const NO_SUBSCRIPTIONS = 'Not declared as a capability: a client is not notified of changes to one resource.';

/** What a revision requires and this server does not do, each with the reason. A scenario that passes must not be listed. */
const EXCEPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '2026-07-28': {
    'server-stateless': `26 of 28 checks pass. For two: ${NO_SAMPLING}`,
    'input-required-result-basic-elicitation':
      'It demands the key "user_name" in inputRequests. Keys are the server’s choice; here they are the ids of questions.',
    'input-required-result-basic-sampling': NO_SAMPLING,
    'input-required-result-basic-list-roots': NO_ROOTS,
    'input-required-result-multiple-input-requests': NO_SAMPLING,
    'input-required-result-non-tool-request':
      'It needs a prompt that asks a question. A question belongs to a running request, and filling in a prompt is not one.',
    'input-required-result-capability-check': NO_SAMPLING,
  },
  '2025-11-25': {
    'logging-set-level': NO_LOGGING,
    'tools-call-with-logging': NO_LOGGING,
    'tools-call-sampling': NO_SAMPLING,
    'resources-subscribe': NO_SUBSCRIPTIONS,
    'resources-unsubscribe': NO_SUBSCRIPTIONS,
  },
};

const CASES = { timeout: 280_000 };
test.each(Object.entries(EXCEPTIONS))(
  'what %s requires is there, but for what is listed',
  CASES,
  async (revision, known) => {
    const words = ['server', '--url', `http://127.0.0.1:${port}/mcp`, '--requirements', revision];
    const child = spawn('npm', [...EXEC, ...words], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    await once(child, 'close');
    // npm without a registry: everything else is a result of ours.
    if (/npm error (?:code|network) (?:E?NOT|ENET|ECONN|ETIMEDOUT|EAI|E404)/.test(output)) {
      console.warn(`MCP conformance was not tested: ${output.slice(0, 500)}`);
      return;
    }
    const [, summary = '', unscored = ''] = output.split(/=== SUMMARY ===|Not scored for/);
    const failed = [...summary.matchAll(/^✗ (\S+):/gm)].map(([, name = '']) => name);
    const scored = failed.filter((name) => !unscored.includes(`✗ ${name} (`));
    expect(scored.sort(), output.slice(-4000)).toEqual(Object.keys(known).sort());
    expect(summary.match(/^✓ /gm)?.length).toBeGreaterThan(10);
  },
);
