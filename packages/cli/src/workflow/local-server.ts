import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@dragoman/client';
import { decodeHostPort } from '@dragoman/core';
import { type Config, startServer, systemClock, systemIds } from '@dragoman/server';
import type { ServerConnection } from '../connection.ts';
import type { Context } from '../context.ts';
import { readSettings } from '../serve/settings.ts';
import { startTrouble } from '../serve/start-trouble.ts';
import { terminalLog } from '../serve/terminal-log.ts';
import { fail } from '../trouble.ts';

/**
 * A separate server for one command, with its own store that is removed afterwards: workflows are checked, contained
 * and restricted exactly as on any other server.
 */
export async function localServer(
  { config: path, allow = [] }: { config?: string | undefined; allow?: readonly string[] | undefined },
  context: Context,
): Promise<ServerConnection & AsyncDisposable> {
  const settings = readSettings({ ...(path !== undefined && { config: path }) }, context);
  const { config } = settings;
  const allowed = [...(config.gate?.allow ?? []), ...allow];
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-workflow-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const needed: Config = Object.fromEntries(Object.entries(config).filter(([name]) => NEEDED.has(name)));
  try {
    const server = await startServer({
      config: {
        ...needed,
        host: '127.0.0.1',
        port: 0,
        store: 'memory',
        apis: { ...apisAt(allowed), ...config.apis },
        gate: { ...config.gate, allow: allowed },
      },
      folder,
      clock: systemClock,
      ids: systemIds,
      // Only errors are logged: the result reports what failed.
      log: terminalLog(context.terminal, { level: 'error' }),
      onAdminKey: () => {},
    }).catch(async (error: unknown) => fail(await startTrouble(error, { settings, command: 'workflow run' })));
    const agentId = 'local-operator';
    const permissions = { operations: ['*'], apis: ['*'], credentials: ['*'] };
    await server.engine.callers.put({ agent_id: agentId, permissions });
    const { secret } = await server.engine.keys.create({ agentId, role: 'agent' });
    const { url } = server;
    return {
      client: createClient({ url, key: secret }),
      url,
      key: secret,
      keySource: 'the server of this command',
      async [Symbol.asyncDispose]() {
        await server.stop({ drainMs: 0 });
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/**
 * An API for each of these hosts. The caller is the operator, so a host that it allows need not be in the
 * configuration.
 */
function apisAt(hosts: readonly string[]): NonNullable<Config['apis']> {
  const urls = hosts.flatMap((text) => {
    const decoded = decodeHostPort(text, '/gate/allow');
    if (!decoded.ok) return [];
    const { host, port } = decoded.value;
    return port === 443 ? [`https://${host}`] : [`http://${host}:${port}`, `https://${host}:${port}`];
  });
  return Object.fromEntries(urls.map((base_url, index) => [`allowed-${index}`, { base_url }]));
}

/** The parts of a configuration that a workflow needs: no ports, agents or programs. */
const NEEDED: ReadonlySet<string> = new Set([
  'apis',
  'gate',
  'limits',
  'workflows',
  'knowledge',
] satisfies (keyof Config)[]);
