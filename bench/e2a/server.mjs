// The built server with one agent, for the benchmark to load. Reports its port and a key, and its memory and CPU time on request.
import { startServer, systemClock, systemIds } from '@dragoman/server';
import { NO_LIMITS, SILENT } from '../support/settings.mjs';

const [folder, store, agent] = process.argv.slice(2);
const server = await startServer({
  config: {
    port: 0,
    store,
    default_agent: 'bench',
    agents: {
      // It declares that it has no effects; the careful one does not, and is started only when its request is on the disk.
      bench: { driver: 'module', module: agent, max_parallel: 100_000, idempotent: true },
      careful: { driver: 'module', module: agent, max_parallel: 100_000 },
    },
    limits: NO_LIMITS,
  },
  folder,
  clock: systemClock,
  ids: systemIds,
  log: SILENT,
});
await server.engine.callers.put({ agent_id: 'bench-client', permissions: { agents: ['*'] } });
const { secret } = await server.engine.keys.create({ agentId: 'bench-client', role: 'agent' });
process.send({
  port: Number(new URL(server.url).port),
  key: secret,
  sinceLaunchMs: performance.now(),
});
const answers = {
  memory: () => process.memoryUsage.rss(),
  // Microseconds of all threads together.
  cpu() {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
};
process.on('message', (what) => process.send(answers[what]()));
process.on('disconnect', () => server.stop({ drainMs: 100 }).finally(() => process.exit(0)));
