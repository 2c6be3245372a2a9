import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { memoryStore, nextProcess } from '../../test-support/memory-store.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { systemClock } from '../../test-support/system-clock.ts';
import { TestIds } from '../../test-support/test-ids.ts';
import { openGate } from '../gate/network-gate.ts';
import { Signatures } from '../signing/signatures.ts';
import { Outbox } from './outbox.ts';
import { SigningKeys } from './signing-keys.ts';

const signatures = new Signatures();
afterAll(() => signatures[Symbol.asyncDispose]());

const HOSTS = 50;
const DEAD = 10;
const CALLBACKS = 10_000;

const servers: Server[] = [];
let received = 0;
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

test(`${CALLBACKS} callbacks due at once to 50 hosts: the dead ones delay no other, and no host gets more than four at a time`, {
  timeout: 300_000,
}, async () => {
  const open = new Map<number, number>();
  let most = 0;
  const living = await Promise.all(
    Array.from({ length: HOSTS - DEAD }, (_, host) =>
      listen(host, (_, response) => {
        received += 1;
        open.set(host, (open.get(host) ?? 0) + 1);
        most = Math.max(most, open.get(host) ?? 0);
        setImmediate(() => {
          open.set(host, (open.get(host) ?? 1) - 1);
          response.end();
        });
      }),
    ),
  );
  // Half of the dead ones accept the connection and never answer; the others refuse it.
  const hanging = await Promise.all(
    Array.from({ length: DEAD / 2 }, (_, index) => listen(HOSTS - DEAD + index, () => {})),
  );
  const closed = Array.from({ length: DEAD / 2 }, (_, index) => ({ host: address(HOSTS - 5 + index), port: 9 }));

  expect(await deliveredBeside({ callbacks: CALLBACKS, living, dead: [...hanging, ...closed] })).toBe(
    CALLBACKS * (1 - DEAD / HOSTS),
  );
  expect(most).toBeLessThanOrEqual(4);
});

interface Place {
  readonly host: string;
  readonly port: number;
}

/**
 * How many callbacks the living hosts have received when all of theirs were delivered. Tries at dead hosts do not time out
 * in the meantime, so a callback that waited for one would never be delivered.
 */
async function deliveredBeside({
  callbacks,
  living,
  dead,
}: {
  callbacks: number;
  living: readonly Place[];
  dead: readonly Place[];
}): Promise<number> {
  const store = memoryStore();
  const log = new SilentLog();
  const gate = openGate({ clock: systemClock, log, callbacks: [...living, ...dead] });
  const keys = new SigningKeys({ store: store.outbox, signatures });
  // The dead ones first in line, where they could do harm.
  const places = [...dead, ...living];
  for (let number = 0; number < callbacks; number += 1) {
    const { host, port } = places[number % places.length] as Place;
    await store.outbox.add({
      id: `cb-${number}`,
      owner: 'ann',
      requestId: `msg_${number}`,
      messageId: `msg_a${number}`,
      url: `http://${host}:${port}/`,
      body: '{}',
      priority: 1,
      expiresAt: null,
      createdAt: 0,
    });
  }
  const wanted = Array.from({ length: callbacks }).filter((_, n) => n % places.length >= dead.length).length;
  const outbox = new Outbox({
    store: nextProcess(store).outbox,
    gate,
    keys,
    clock: systemClock,
    ids: new TestIds(),
    log,
    isRegistered: () => false,
    settings: { timeoutMs: 3_600_000 },
  });
  received = 0;
  await outbox.start();
  while (received < wanted) await systemClock.wait(5);
  await outbox.stop({ drainMs: 0 });
  await gate[Symbol.asyncDispose]();
  return received;
}

async function listen(index: number, listener: Parameters<typeof createServer>[1]): Promise<Place> {
  const server = createServer(listener);
  servers.push(server);
  const host = address(index);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return { host, port: (server.address() as AddressInfo).port };
}

/** Every address with this prefix is this machine, and each is a separate host. */
function address(index: number): string {
  return `127.0.1.${index + 1}`;
}
