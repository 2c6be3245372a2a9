// Makes the requested deliveries and reports how long that took: the outbox, durable and signed, or a bare loop over keep-alive
// connections that posts the same bytes and writes nothing down.
import { mkdirSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { Outbox, openGate, openSqliteStore, Signatures, SigningKeys } from '@dragoman/core';
import { systemClock, systemIds } from '@dragoman/server';
import { SILENT as log } from '../support/settings.mjs';

const BODY = JSON.stringify({ version: '0.3.0', messageId: 'msg_1', message: { content: 'x'.repeat(300) } });
const PER_HOST = 4;

process.on('disconnect', () => process.exit(0));
process.on('message', async ({ kind, ...task }) => {
  process.send({ milliseconds: kind === 'bare' ? await bare(task) : await outbox(task) });
});

async function outbox({ answering, hanging, count, folder, ca }) {
  mkdirSync(folder, { recursive: true });
  const open = () => openSqliteStore({ folder, onFatal: () => process.exit(70), ballastBytes: 0 });
  const earlier = await open();
  const places = [...hanging, ...answering];
  await Promise.all(
    Array.from({ length: count }, (_, number) => {
      const { host, port } = places[number % places.length];
      const names = { id: `cb-${number}`, owner: 'ann', requestId: `msg_${number}`, messageId: `msg_a${number}` };
      const rest = { body: BODY, priority: 1, expiresAt: null, createdAt: 0 };
      return earlier.outbox.add({ ...names, url: `https://${host}:${port}/in`, ...rest });
    }),
  );
  await earlier[Symbol.asyncDispose]();
  // The outbox takes over what an earlier process left.
  const store = await open();
  const gate = openGate({ clock: systemClock, log, callbacks: places, ca: [ca] });
  const signatures = new Signatures();
  const keys = new SigningKeys({ store: store.outbox, signatures, log, folder });
  const options = { store: store.outbox, gate, keys, clock: systemClock, ids: systemIds, log };
  const sending = new Outbox({ ...options, isRegistered: () => true });
  const wanted = Array.from({ length: count }).filter((_, number) => number % places.length >= hanging.length).length;
  const started = performance.now();
  await sending.start();
  for (;;) {
    const { total } = await store.outbox.list({ state: 'delivered', limit: 1 });
    if (total === wanted) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const took = performance.now() - started;
  await sending.stop({ drainMs: 0 });
  await gate[Symbol.asyncDispose]();
  await signatures[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
  return took;
}

async function bare({ answering, count, ca }) {
  const agent = new Agent({ keepAlive: true, maxSockets: PER_HOST, ca });
  const lanes = answering.flatMap((place) => Array(PER_HOST).fill(place));
  let left = count;
  const started = performance.now();
  await Promise.all(
    lanes.map(async ({ host, port }) => {
      while (left-- > 0) await post({ host, port, agent });
    }),
  );
  agent.destroy();
  return performance.now() - started;
}

function post({ host, port, agent }) {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(BODY) };
  return new Promise((resolve, reject) => {
    request({ host, port, agent, path: '/in', method: 'POST', headers }, (response) => {
      response.resume().on('end', resolve);
    })
      .on('error', reject)
      .end(BODY);
  });
}
