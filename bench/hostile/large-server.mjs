// The built server with an agent of each kind, for messages near the limits. Reports how long its event loop was held.
import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { startServer, systemClock, systemIds } from '@dragoman/server';
import { NO_LIMITS, SILENT } from '../support/settings.mjs';

const [folder, config, publicKey] = process.argv.slice(2);
const server = await startServer({
  config: { port: 0, wire: { port: 0 }, ...JSON.parse(config), limits: NO_LIMITS },
  folder,
  clock: systemClock,
  ids: systemIds,
  log: SILENT,
});
const permissions = { agents: ['*'], tools: ['*'] };
await server.engine.callers.put({ agent_id: 'large-caller', permissions, public_key: publicKey });
const { secret: key } = await server.engine.keys.create({ agentId: 'large-caller', role: 'agent' });
// By the clock and by the processor time of the main thread: how long others on the machine kept it waiting is in the first only.
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
let before = mainThreadMs();
let most = 0;
setInterval(() => {
  const now = mainThreadMs();
  most = Math.max(most, now - before);
  before = now;
}, 1);
process.on('message', (command) => {
  if (command === 'reset') {
    delay.reset();
    most = 0;
  }
  process.send({ elapsedMs: delay.max / 1e6, heldMs: most });
});
process.send({ url: server.url, wireUrl: server.wire.url, key });
process.on('disconnect', () => server.stop({ drainMs: 100 }).finally(() => process.exit(0)));

function mainThreadMs() {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return performance.eventLoopUtilization().active;
  }
}
