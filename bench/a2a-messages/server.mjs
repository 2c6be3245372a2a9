// The built server with one agent and a caller that signs, for the benchmark to load. Reports its port and a key.
import { MessageSigner } from '@dragoman/core';
import { startServer, systemClock, systemIds } from '@dragoman/server';
import { NO_LIMITS, SILENT } from '../support/settings.mjs';

const [folder, agent, publicKey, signs] = process.argv.slice(2);
// Measures the cost of signatures: a server without them cannot be configured.
if (signs === 'unsigned') MessageSigner.prototype.sign = async (message) => message;
const server = await startServer({
  config: {
    port: 0,
    agents: { bench: { driver: 'module', module: agent, max_parallel: 100_000 } },
    limits: NO_LIMITS,
  },
  folder,
  clock: systemClock,
  ids: systemIds,
  log: SILENT,
});
const permissions = { agents: ['*'] };
await server.engine.callers.put({ agent_id: 'bench-client', permissions, public_key: publicKey });
const { secret } = await server.engine.keys.create({ agentId: 'bench-client', role: 'agent' });
process.send({ port: Number(new URL(server.url).port), key: secret });
process.on('disconnect', () => server.stop({ drainMs: 100 }).finally(() => process.exit(0)));
