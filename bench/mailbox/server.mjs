// The built server with one agent that answers at once, for the benchmark to write to.
import { startServer, systemClock, systemIds } from '@dragoman/server';
import { MANY, NO_LIMITS, SILENT } from '../support/settings.mjs';

const [folder, module] = process.argv.slice(2);
const server = await startServer({
  config: {
    port: 0,
    default_agent: 'bench',
    agents: { bench: { driver: 'module', module, max_parallel: 100_000, idempotent: true } },
    limits: NO_LIMITS,
    mailbox: { requests_per_minute: MANY, max_concurrent: MANY },
  },
  folder,
  clock: systemClock,
  ids: systemIds,
  log: SILENT,
});
await server.engine.callers.put({ agent_id: 'bench-client', permissions: { agents: ['*'] } });
const { secret } = await server.engine.keys.create({ agentId: 'bench-client', role: 'agent' });
process.send({ port: Number(new URL(server.url).port), key: secret });
process.on('disconnect', () => server.stop({ drainMs: 100 }).finally(() => process.exit(0)));
