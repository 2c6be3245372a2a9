// The built server with one agent that may do everything, for the benchmark to load.
import { startServer, systemClock, systemIds } from '@dragoman/server';
import { NO_LIMITS, SILENT } from '../support/settings.mjs';

const [folder, apiPort] = process.argv.slice(2);
const server = await startServer({
  config: {
    port: 0,
    gate: { allow: [`127.0.0.1:${apiPort}`] },
    apis: { bench: { base_url: `http://127.0.0.1:${apiPort}` } },
    workflows: { cache_seconds: 0 },
    limits: NO_LIMITS,
  },
  folder,
  clock: systemClock,
  ids: systemIds,
  log: SILENT,
});
await server.engine.callers.put({ agent_id: 'bench-client', permissions: { operations: ['*'], apis: ['*'] } });
const { secret } = await server.engine.keys.create({ agentId: 'bench-client', role: 'agent' });
process.send({ port: Number(new URL(server.url).port), key: secret });
process.on('disconnect', () => server.stop({ drainMs: 100 }).finally(() => process.exit(0)));
