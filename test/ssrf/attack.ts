import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isIPv6 } from 'node:net';
import { type GateOptions, openGate } from '../../packages/core/src/gate/network-gate.ts';
import { failureOf } from '../../packages/core/src/refusals/refused.ts';
import { SilentLog } from '../../packages/core/test-support/silent-log.ts';
import { systemClock } from '../../packages/core/test-support/system-clock.ts';
import { CANARY_ADDRESSES, CANARY_PORTS, Canaries } from './canaries.ts';
import { connectedTo } from './namespace.ts';
import { LOCAL_NAMES, spellingsOfIPv4, spellingsOfIPv6 } from './spellings.ts';

/**
 * Tries to reach, through the gate, what must not be reached: by every spelling of a host, by names, by answers of a
 * resolver that change, and by redirects. Prints what it tried and what got through. It runs only in its own network.
 */
async function main(): Promise<void> {
  const connected = connectedTo();
  if (connected !== undefined) {
    process.stderr.write(`This must run in a network namespace of its own: ${connected}.\n`);
    process.exit(3);
  }
  const canaries = new Canaries();
  await canaries.listen();
  const report = { canaries: await canaries.prove() };
  const tried = {
    spellings: await trySpellings(),
    names: await tryNames(),
    answers: await tryAnswers(),
    rebinding: await tryRebinding(),
    redirects: await tryRedirects(),
  };
  await new Promise((resolve) => setTimeout(resolve, 100));
  process.stdout.write(`${JSON.stringify({ ...report, ...tried, hits: canaries.hits })}\n`);
  process.exit(0);
}

interface Tally {
  tried: number;
  refused: number;
  /** Reached a host, or failed in a way that reveals more than it should. */
  wrong: string[];
}

async function trySpellings(): Promise<Tally> {
  const tally: Tally = { tried: 0, refused: 0, wrong: [] };
  const hosts = CANARY_ADDRESSES.flatMap((address) =>
    isIPv6(address) ? spellingsOfIPv6(address) : spellingsOfIPv4(address),
  );
  for (const host of new Set([...hosts, '0', '0.0.0.0', '[::]', '0x0', '①②⑦.1'])) await tryHost(host, tally);
  return tally;
}

async function tryNames(): Promise<Tally> {
  const tally: Tally = { tried: 0, refused: 0, wrong: [] };
  for (const host of LOCAL_NAMES) {
    const resolve = async () => {
      tally.wrong.push(`${host} was looked up`);
      return ['169.254.169.254'];
    };
    await tryHost(host, tally, { resolve });
  }
  return tally;
}

/** Answers of a resolver: each includes an address that must not be reached. */
async function tryAnswers(): Promise<Tally> {
  const tally: Tally = { tried: 0, refused: 0, wrong: [] };
  for (const address of CANARY_ADDRESSES) {
    const answers = [
      [address],
      [PUBLIC, address],
      [address, PUBLIC],
      [PUBLIC, PUBLIC_V6, address],
      ...(isIPv6(address) ? [] : [[`::ffff:${address}`], [PUBLIC, `::ffff:${address}`], [`64:ff9b::${address}`]]),
    ];
    for (const answer of answers) await tryHost('rebound.example.com', tally, { resolve: async () => answer });
  }
  return tally;
}

/** A name whose address changes between one look and the next, and while requests are on their way. */
async function tryRebinding(): Promise<Tally> {
  const tally: Tally = { tried: 0, refused: 0, wrong: [] };
  for (const address of CANARY_ADDRESSES) {
    let looks = 0;
    let now = 0;
    const clock = { ...systemClock, elapsed: () => now };
    const resolve = async () => (looks++ % 2 === 0 ? [PUBLIC] : [address]);
    const gate = openGate({ clock, log: SILENT, resolve });
    for (let round = 0; round < 10; round += 1) {
      now += 10_000;
      await gate.check('https://rebound.example.com/', 'callbacks');
      now += 10_000;
      await count(tally, 'https://rebound.example.com/', (url) => gate.request(asking(url)));
    }
    await gate[Symbol.asyncDispose]();
  }
  return tally;
}

/** A host that may be reached sends its visitors to each that may not. */
async function tryRedirects(): Promise<Tally> {
  const targets = CANARY_ADDRESSES.flatMap((address) => {
    const host = isIPv6(address) ? `[${address}]` : address;
    return CANARY_PORTS.map((port) => `${port === 80 ? 'http' : 'https'}://${host}:${port}/`);
  });
  const server = createServer((request, response) => {
    const [, status, target] = /^\/(\d+)\/(\d+)$/.exec(request.url ?? '') ?? [];
    response.writeHead(Number(status), { location: targets[Number(target)] ?? '' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const gate = openGate({ clock: systemClock, log: SILENT, allow: [{ host: '127.0.0.1', port }] });
  const tally: Tally = { tried: 0, refused: 0, wrong: [] };
  for (const status of [300, 301, 302, 303, 307, 308]) {
    for (const target of targets.keys()) {
      tally.tried += 1;
      const answer = await gate.request(asking(`http://127.0.0.1:${port}/${status}/${target}`));
      if (answer.status === status) tally.refused += 1;
      else tally.wrong.push(`${status} to ${targets[target]} became ${answer.status}`);
    }
  }
  await gate[Symbol.asyncDispose]();
  server.close();
  return tally;
}

async function tryHost(host: string, tally: Tally, options: Partial<GateOptions> = {}): Promise<void> {
  const gate = openGate({ clock: systemClock, log: SILENT, resolve: notThere, ...options });
  for (const origin of [`http://${host}`, `https://${host}`, `https://${host}:8443`]) {
    await count(tally, `${origin}/`, (url) => gate.request(asking(url)));
  }
  await count(tally, `wss://${host}:8443/`, (url) => gate.dial({ url, allowList: 'callbacks', caller: 'ada' }));
  await count(tally, `https://${host}/`, async (url) => {
    const failure = await gate.check(url, 'callbacks');
    if (failure !== undefined) throw Object.assign(new Error('refused'), { failure });
  });
  await gate[Symbol.asyncDispose]();
}

async function count(tally: Tally, url: string, attempt: (url: string) => Promise<unknown>): Promise<void> {
  tally.tried += 1;
  try {
    await attempt(url);
    tally.wrong.push(`${url} was let through`);
  } catch (error) {
    const failure = failureOf(error);
    if (failure !== undefined && EXPECTED.has(failure.code) && failure.details['reason'] === undefined)
      tally.refused += 1;
    else tally.wrong.push(`${url}: ${failure?.code ?? String(error)}`);
  }
}

function asking(url: string) {
  return { caller: 'ada', method: 'GET', url, allowList: 'allow', timeoutMs: 5000, maxBytes: 1000 } as const;
}

async function notThere(): Promise<never> {
  throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' });
}

const EXPECTED: ReadonlySet<string> = new Set(['forbidden', 'unreachable', 'invalid_message']);
const PUBLIC = '93.184.215.14';
const PUBLIC_V6 = '2606:2800:21f:cb07:6820:80da:af6b:8b2c';
const SILENT = new SilentLog();

await main();
