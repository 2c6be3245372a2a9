// The built server as one node, for the benchmark to load. Tells its port and a key, and its CPU time when asked.
//   server.mjs FOLDER STORE API_HOST
import { fileURLToPath } from 'node:url';
import { startServer, systemClock, systemIds } from '@dragoman/server';
import { NO_LIMITS, SILENT } from '../support/settings.mjs';

const [folder, store, api] = process.argv.slice(2);
const module = fileURLToPath(new URL('./agent.mjs', import.meta.url));
const server = await startServer({
  config: {
    port: 0,
    store,
    default_agent: 'bench',
    agents: {
      // It has no effects, and says so; the careful one does not, and is started only when its request is recorded.
      bench: { driver: 'module', module, max_parallel: 100_000, idempotent: true },
      careful: { driver: 'module', module, max_parallel: 100_000 },
    },
    apis: { bench: { base_url: `http://${api}` } },
    gate: { allow: [api] },
    limits: NO_LIMITS,
  },
  folder,
  vaultKey: 'b'.repeat(43),
  clock: systemClock,
  ids: systemIds,
  log: SILENT,
});
await server.engine.callers.put({
  agent_id: 'bench-client',
  permissions: { agents: ['*'], operations: ['*'], apis: ['*'] },
});
const { secret } = await server.engine.keys.create({ agentId: 'bench-client', role: 'agent' });
process.send({ port: Number(new URL(server.url).port), key: secret });
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  // Microseconds of all threads together.
  process.send(user + system);
});
process.on('disconnect', () => server.stop({ drainMs: 100 }).finally(() => process.exit(0)));
