import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer, systemClock, systemIds } from '@dragoman/server';
import type { Context } from '../context.ts';
import { readSettings } from '../serve/settings.ts';
import { terminalLog } from '../serve/terminal-log.ts';
import type { WorkflowServer } from './server-call.ts';

/**
 * A server of our own for one command, with a store of its own that is gone afterwards: what runs here is checked, contained
 * and let out exactly as on any other.
 */
export async function localServer(
  { config: path, allow = [] }: { config?: string | undefined; allow?: readonly string[] | undefined },
  context: Context,
): Promise<WorkflowServer & AsyncDisposable> {
  const { config } = readSettings({ ...(path !== undefined && { config: path }) }, context);
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-workflow-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const { agents: _, default_agent: __, ...rest } = config;
  const { warn, error } = terminalLog(context.terminal);
  try {
    const server = await startServer({
      config: {
        ...rest,
        host: '127.0.0.1',
        port: 0,
        store: 'memory',
        gate: { ...config.gate, allow: [...(config.gate?.allow ?? []), ...allow] },
      },
      folder,
      clock: systemClock,
      ids: systemIds,
      log: { debug() {}, info() {}, warn, error },
      onAdminKey: () => {},
    });
    const agentId = 'local-operator';
    const permissions = { operations: ['*'], apis: ['*'], credentials: ['*'] };
    await server.engine.callers.put({ agent_id: agentId, permissions });
    const { secret } = await server.engine.keys.create({ agentId, role: 'agent' });
    return {
      url: server.url,
      key: secret,
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
