import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@dragoman/protocols';
import { afterAll, describe, expect, test } from 'vitest';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import { systemClock, systemIds } from '../parts/system-ports.ts';
import { startServer } from '../server.ts';
import { TRANSPORTS, type WirePeer } from './wire-peer.contract.ts';

const folder = mkdtempSync(join(tmpdir(), 'wire-permissions-'));
const server = await startServer({
  config: {
    port: 0,
    store: 'memory',
    wire: { port: 0, socket: join(folder, 'wire.sock') },
    tools: [fileURLToPath(new URL('./fixtures/tools.mjs', import.meta.url))],
  },
  folder,
  clock: systemClock,
  ids: systemIds,
  log: new SilentLog(),
});
afterAll(async () => {
  await server.stop({ drainMs: 100 });
  rmSync(folder, { recursive: true, force: true });
});

const { callers, keys } = server.engine;
const REFUSED = { type: 'error', code: 'unauthorized' };
const ANSWERED = { type: 'tool/call/resp' };

let number = 0;
async function ask(peer: WirePeer, type: string, fields: JsonObject): Promise<JsonObject | undefined> {
  number += 1;
  const id = `m${number}`;
  peer.send({ a2e: '1.0', type, id, ts: 1, ...fields });
  for (;;) {
    const next = await peer.next();
    if (next === undefined || (next['req_id'] === id && !String(next['type']).endsWith('event'))) return next;
  }
}
const call = (peer: WirePeer, tool_name: string) => ask(peer, 'tool/call/req', { tool_name, arguments: {} });

describe.each(Object.entries(TRANSPORTS))('permissions are checked for each request over %s', (name, open) => {
  const agent_id = `changing-${name}`;
  const allow = (tools: string[]) => callers.put({ agent_id, permissions: { tools } });

  async function ready(): Promise<WirePeer> {
    const { secret } = await keys.create({ agentId: agent_id, role: 'agent' });
    const peer = await open(server, secret);
    expect(await ask(peer, 'handshake/req', { auth_token: secret })).toMatchObject({ ok: true });
    return peer;
  }

  test('a permission that was taken away, or given, counts from the next request on', async () => {
    await allow(['echo']);
    await using peer = await ready();
    expect(await call(peer, 'echo')).toMatchObject(ANSWERED);
    await allow(['wait']);
    expect(await call(peer, 'echo')).toMatchObject(REFUSED);
    expect(await call(peer, 'wait')).toMatchObject(ANSWERED);
    expect(await ask(peer, 'tool/list/req', {})).toMatchObject({ tools: [{ name: 'wait' }] });
  });

  test('a chain that runs is held to it from its next step on', async () => {
    await allow(['echo', 'wait']);
    await using peer = await ready();
    const nodes = [
      { node_id: 'first', kind: 'tool', name: 'wait', input: { ms: 100 }, next_node: 'second' },
      { node_id: 'second', kind: 'tool', name: 'echo' },
    ];
    const answer = ask(peer, 'chain/req', { nodes, streaming: false });
    await new Promise((resolve) => setTimeout(resolve, 40));
    await allow(['wait']);
    expect(await answer).toMatchObject({ success: false, nodes_run: 2, outputs: { first: { waited: 100 } } });
  });
});
