import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { mcpServer } from '../../../test-support/configured.ts';
import { memoryStore } from '../../../test-support/memory-store.ts';
import { freePort } from '../../../test-support/ports.ts';
import { SilentLog } from '../../../test-support/silent-log.ts';
import { TestClock } from '../../../test-support/test-clock.ts';
import { eventually } from '../../agents/call.contract.ts';
import { ALL_PERMISSIONS } from '../../call/principal.ts';
import { Ending } from '../../ending/ending.ts';
import type { OutboundRequest } from '../../gate/gate.ts';
import { CredentialUse } from '../../secrets/credential-use.ts';
import { directGate } from '../direct-gate.contract.ts';
import { ToolRegistry } from '../tool-registry.ts';
import { McpServers } from './mcp-servers.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-mcp-http-'));
const port = await freePort();
const module = fileURLToPath(
  new URL('../../../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);
const peer = spawn(process.execPath, [module, 'streamableHttp'], {
  env: { ...process.env, PORT: String(port) },
  stdio: 'ignore',
});
afterAll(async () => {
  peer.kill('SIGKILL');
  await once(peer, 'exit');
  rmSync(folder, { recursive: true, force: true });
});

test('a server over streamable HTTP is reached through the gate alone, with the headers of the operator', async () => {
  await eventually(() =>
    fetch(`http://127.0.0.1:${port}/mcp`).then(
      () => true,
      () => false,
    ),
  ).toBe(true);
  const seen: OutboundRequest[] = [];
  const clock = new TestClock();
  const servers = new McpServers({
    configs: {
      every: mcpServer({
        url: `http://127.0.0.1:${port}/mcp`,
        headers: { 'X-Team': 'blue', Authorization: { credential: 'crm' } } as unknown as Record<string, string>,
      }),
    },
    clock,
    log: new SilentLog(),
    folder,
    pins: memoryStore().pins,
    gate: directGate(seen),
    version: '0',
  });
  await using _ = servers;
  const tools = new ToolRegistry({ clock });
  tools.add(servers);
  const principal = { id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS } as const;
  const { data } = await tools.call({ name: 'every__echo', args: { message: 'hi' }, principal, ending: new Ending() });
  expect(data).toBe('Echo: hi');
  expect(seen.length).toBeGreaterThan(2);
  expect(new Set(seen.map(({ caller }) => caller))).toEqual(new Set(['mcp:every']));
  for (const { headers } of seen) {
    expect(headers?.['x-team']).toBe('blue');
    expect(headers?.['authorization']).toEqual(new CredentialUse('crm'));
  }
});
