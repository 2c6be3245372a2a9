// The built server with one agent and a caller, for the benchmark to attack. Reports its port and a key.
import { startServer, systemClock, systemIds } from '@dragoman/server';
import { NO_LIMITS, SILENT } from '../support/settings.mjs';

const [folder, agent] = process.argv.slice(2);
const server = await startServer({
  config: {
    port: 0,
    default_agent: 'bench',
    agents: { bench: { driver: 'module', module: agent, max_parallel: 100_000 } },
  },
  folder,
  clock: systemClock,
  ids: systemIds,
  log: SILENT,
});
// The limits are the defaults: they are part of the defence. Only the honest client may send as much as it does.
const { messages_per_minute: _, message_bytes_per_minute: __, ...limits } = NO_LIMITS;
await server.engine.callers.put({ agent_id: 'honest-agent', permissions: { agents: ['*'] }, limits });
await server.engine.callers.put({ agent_id: 'hostile-agent', permissions: {} });
const { secret: key } = await server.engine.keys.create({ agentId: 'honest-agent', role: 'agent' });
const { secret: hostileKey } = await server.engine.keys.create({ agentId: 'hostile-agent', role: 'agent' });
process.send({ port: Number(new URL(server.url).port), key, hostileKey });
process.on('disconnect', () => server.stop({ drainMs: 100 }).finally(() => process.exit(0)));
