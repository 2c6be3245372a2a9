// The built engine, and the same steps written without it, in one process. Measures what its messages name.
import { ALL_PERMISSIONS, Limiter, openGate, openSqliteStore, openWorkflows, RunTable } from '@dragoman/core';
import { systemClock as clock, systemIds as ids } from '@dragoman/server';
import { Pool } from 'undici';
import { SILENT } from '../support/settings.mjs';
import { smallSteps, threeSteps } from './workflows.mjs';

const [folder, apiPort] = process.argv.slice(2);
const origin = `http://127.0.0.1:${apiPort}`;
const AT_ONCE = 32;
const SLICE_MS = 2000;
const CALLER = { id: 'bench-client', kind: 'agent', permissions: ALL_PERMISSIONS };

const store = await openSqliteStore({ folder, onFatal: (error) => console.error(error) });
const gate = openGate({ clock, log: SILENT, allow: [{ host: '127.0.0.1', port: Number(apiPort) }] });
const api = { id: 'bench', base_url: origin, description: null, endpoints: [] };
const engine = openWorkflows({
  store,
  runs: new RunTable({ clock }),
  folder,
  gate,
  apis: { version: 1, list: () => [api], find: () => api },
  credentials: { list: () => [], find: () => undefined, noteRefusal: () => {}, redactorFor: () => undefined },
  limiter: new Limiter({ clock, limits: { api_calls_per_minute: 1e9, api_calls_per_hour: 1e9 } }),
  principalNamed: () => CALLER,
  clock,
  ids,
  log: SILENT,
  limits: { cache_seconds: 0 },
});
const pool = new Pool(origin, { connections: AT_ONCE });

/** What somebody would write without us. */
async function plainSteps() {
  const { body } = await pool.request({ method: 'GET', path: '/users' });
  const users = await body.json();
  const active = users.filter(({ status }) => status === 'active');
  const sorted = active.toSorted((a, b) => b.points - a.points);
  if (sorted.length !== 50) throw new Error('the plain steps went wrong');
}

async function execute(workflow) {
  const read = engine.reader.read({ workflow });
  if (!read.ok) throw new Error('the workflow cannot be read');
  const started = await engine.executions.execute(read.request, { principal: CALLER, waits: true });
  const result = await started.result();
  if (!result.includes('"status":"success"')) throw new Error(result.slice(0, 500));
}

async function perSecond(work) {
  const started = performance.now();
  const until = started + SLICE_MS;
  let done = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (performance.now() < until) {
        await work();
        done++;
      }
    }),
  );
  return (done * 1000) / (performance.now() - started);
}

/** Milliseconds: the median of executions with eleven small operations, less that of one, by ten. */
async function operationOverhead() {
  const median = async (operations) => {
    const times = [];
    const nextWorkflow = smallSteps(operations);
    for (let round = 0; round < 300; round++) {
      const started = performance.now();
      await execute(nextWorkflow());
      times.push(performance.now() - started);
    }
    return times.sort((a, b) => a - b)[150];
  };
  await median(11);
  return Math.max(0, ((await median(11)) - (await median(1))) / 10);
}

const nextThree = threeSteps(origin);
const measures = {
  plain: () => perSecond(plainSteps),
  engine: () => perSecond(() => execute(nextThree())),
  overhead: operationOverhead,
  stats: () => store.stats(),
};

process.on('message', async (name) => process.send(await measures[name]()));
process.on('disconnect', async () => {
  await engine.stop();
  await Promise.all([pool.close(), gate[Symbol.asyncDispose](), store[Symbol.asyncDispose]()]);
  process.exit(0);
});
process.send('ready');
