import { createSocket, type Socket } from 'node:dgram';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TestClock } from '../../test-support/test-clock.ts';
import { Names } from './names.ts';
import { isPassingLookup } from './resolver.ts';

let clock: TestClock;
let server: NameServer;
/** The names that the system's resolver received. */
let systemLookups: string[];

beforeEach(async () => {
  clock = new TestClock();
  server = await NameServer.open();
  systemLookups = [];
});
afterEach(() => {
  // Pending lookups are given up.
  clock.pass(60_000);
  server.close();
});

function names(found: Promise<readonly string[]> = Promise.resolve(['198.51.100.1'])): Names {
  return new Names({
    ...{ clock, withinMs: 10_000, forMs: 2000 },
    servers: [server.address],
    system: (name) => {
      systemLookups.push(name);
      return found;
    },
  });
}

const found = (looking: Names, name: string, isChosen = false) => looking.lookUp(name, { isChosen }).answers;
const faultOf = (looking: Names, name: string) => found(looking, name).catch((error: unknown) => error);

describe('a name that anybody could give', () => {
  test('has all its addresses from the name server, IPv4 first, without a lookup by the system', async () => {
    server.records = { 'a.example': { A: ['192.0.2.1', '192.0.2.2'], AAAA: ['2001:db8::1'] } };
    const [lookups, answers] = [names(), ['192.0.2.1', '192.0.2.2', '2001:db8::1']];
    expect(await found(lookups, 'a.example')).toEqual(answers);
    expect(await found(lookups, 'a.example')).toEqual(answers);
    expect([server.queries.length, systemLookups]).toEqual([2, []]);
    clock.pass(2000);
    await found(lookups, 'a.example');
    expect(server.queries).toHaveLength(4);
  });

  describe('whose IPv6 lookup gets no answer', () => {
    beforeEach(() => server.keepsBack.add('AAAA'));

    test('has the others a moment later', async () => {
      server.records = { 'a.example': { A: ['192.0.2.1'], AAAA: ['2001:db8::1'] } };
      const answers = found(names(), 'a.example');
      await expect.poll(() => clock.waiting).toBe(2);
      clock.pass(250);
      expect(await answers).toEqual(['192.0.2.1']);
      expect(clock.waiting).toBe(0);
    });

    test('has them too where they come in that moment', async () => {
      server.records = { 'a.example': { A: ['192.0.2.1'], AAAA: ['2001:db8::1'] } };
      const answers = found(names(), 'a.example');
      await expect.poll(() => clock.waiting).toBe(2);
      clock.pass(249);
      server.release();
      expect(await answers).toEqual(['192.0.2.1', '2001:db8::1']);
    });

    test('is waited for where it has no others', async () => {
      server.records = { 'a.example': { A: [], AAAA: ['2001:db8::1'] } };
      const answers = found(names(), 'a.example');
      await expect.poll(() => server.keptBack).toBeGreaterThan(0);
      for (let turn = 0; turn < 10; turn += 1) await clock.advance(100);
      server.release();
      expect(await answers).toEqual(['2001:db8::1']);
    });
  });

  test('whose IPv4 addresses come late is waited for, as they may be all that this machine reaches', async () => {
    server.keepsBack.add('A');
    server.records = { 'a.example': { A: ['192.0.2.1'], AAAA: ['2001:db8::1'] } };
    const answers = found(names(), 'a.example');
    await expect.poll(() => server.queries.length).toBeGreaterThan(1);
    for (let turn = 0; turn < 10; turn += 1) await clock.advance(100);
    server.release();
    expect(await answers).toEqual(['192.0.2.1', '2001:db8::1']);
  });

  test('does not wait for an unanswered lookup', async () => {
    server.records = { 'a.example': { A: ['192.0.2.1'], AAAA: [] } };
    const lookups = names();
    const dead = Array.from({ length: 100 }, (_, index) =>
      lookups.lookUp(`${index}.dead.example`, { isChosen: false }),
    );
    const faults = Promise.all(dead.map(({ answers }) => answers.catch((error: unknown) => error)));
    expect(await found(lookups, 'a.example')).toEqual(['192.0.2.1']);
    await expect.poll(() => new Set(server.queries).size).toBe(101);
    // They are given up at their timeout, not after the last name server has failed.
    clock.pass(10_000);
    for (const fault of await faults) expect(isPassingLookup(fault)).toBe(true);
    expect(dead.every(({ hasStarted }) => hasStarted)).toBe(true);
  });

  test('is looked up once until an answer arrives', async () => {
    const lookups = names();
    const first = lookups.lookUp('dead.example', { isChosen: false });
    clock.pass(5000);
    expect(lookups.lookUp('dead.example', { isChosen: false })).toBe(first);
    const fault = first.answers.catch((error: unknown) => error);
    await expect.poll(() => server.queries.length).toBeGreaterThan(0);
    clock.pass(10_000);
    expect(isPassingLookup(await fault)).toBe(true);
    expect(lookups.lookUp('dead.example', { isChosen: false })).not.toBe(first);
  });

  test('that does not exist, or has no address, is distinguished from one whose name server fails', async () => {
    server.records = { 'none.example': 'NXDOMAIN', 'empty.example': { A: [], AAAA: [] }, 'broken.example': 'SERVFAIL' };
    const seen: [string, boolean][] = [];
    for (const name of ['none.example', 'empty.example', 'broken.example']) {
      seen.push([name, isPassingLookup(await faultOf(names(), name))]);
    }
    expect(seen).toEqual([
      ['none.example', false],
      ['empty.example', false],
      ['broken.example', true],
    ]);
    expect(systemLookups).toEqual([]);
  });

  test('is looked up by the system where there is no name server', async () => {
    const lookups = names();
    server.close();
    expect(await found(lookups, 'a.example')).toEqual(['198.51.100.1']);
  });

  test('has one place there, and leaves the others to those that the operator chose', async () => {
    const lookups = names(new Promise(() => {}));
    server.close();
    for (const name of ['a.example', 'b.example']) void faultOf(lookups, name);
    // Of the one that has its place its end; of the one that waits for it that of its waiting, too.
    await expect.poll(() => clock.waiting).toBe(3);
    expect(systemLookups).toHaveLength(1);
    found(lookups, 'chosen.example', true).catch(() => {});
    expect(systemLookups).toContain('chosen.example');
  });

  test('is not started while very many are under way', async () => {
    const lookups = names();
    const many = Array.from({ length: 501 }, (_, index) =>
      lookups.lookUp(`${index}.dead.example`, { isChosen: false }),
    );
    const faults = Promise.all(many.map(({ answers }) => answers.catch((error: unknown) => error)));
    expect(many.map(({ hasStarted }) => hasStarted).indexOf(false)).toBe(500);
    await expect.poll(() => clock.waiting).toBe(500);
    clock.pass(10_000);
    expect((await faults).every(isPassingLookup)).toBe(true);
  });
});

test('a name that the operator chose is looked up by the system alone', async () => {
  server.records = { 'a.example': { A: ['192.0.2.1'], AAAA: [] } };
  expect(await found(names(), 'a.example', true)).toEqual(['198.51.100.1']);
  expect([systemLookups, server.queries]).toEqual([['a.example'], []]);
});

/** A name server on loopback, which does not answer for names without a record. */
class NameServer {
  records: Record<string, { readonly A: string[]; readonly AAAA: string[] } | 'NXDOMAIN' | 'SERVFAIL'> = {};
  readonly queries: string[] = [];
  /** The kinds of address whose answers it delays until `release`. */
  readonly keepsBack = new Set<'A' | 'AAAA'>();
  readonly #socket: Socket;
  #late: (() => void)[] = [];
  #isOpen = true;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (query, { port, address }) => {
      const { kind, answer } = this.#answer(query);
      if (answer === undefined) return;
      const send = () => socket.send(answer, port, address);
      if (this.keepsBack.has(kind)) this.#late.push(send);
      else send();
    });
  }

  /** How many answers wait. */
  get keptBack(): number {
    return this.#late.length;
  }

  release(): void {
    for (const send of this.#late.splice(0)) send();
  }

  static async open(): Promise<NameServer> {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    return new NameServer(socket);
  }

  get address(): string {
    return `127.0.0.1:${(this.#socket.address() as AddressInfo).port}`;
  }

  close(): void {
    if (this.#isOpen) this.#socket.close();
    this.#isOpen = false;
  }

  /** RFC 1035: a head of twelve bytes, then the question: labels, type and class. */
  #answer(query: Buffer): { kind: 'A' | 'AAAA'; answer: Buffer | undefined } {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const name = labels.join('.').toLowerCase();
    this.queries.push(name);
    const record = this.records[name];
    const isSix = query.readUInt16BE(at + 1) === 28;
    const kind = isSix ? 'AAAA' : 'A';
    if (record === undefined) return { kind, answer: undefined };
    const addresses = typeof record === 'string' ? [] : record[kind];
    const code = record === 'NXDOMAIN' ? 3 : record === 'SERVFAIL' ? 2 : 0;
    const head = Buffer.from([query[0] ?? 0, query[1] ?? 0, 0x81, 0x80 | code, 0, 1, 0, addresses.length, 0, 0, 0, 0]);
    const parts = addresses.map((address) => {
      const data = isSix
        ? Buffer.from('20010db8000000000000000000000001', 'hex')
        : Buffer.from(address.split('.').map(Number));
      return Buffer.from([0xc0, 12, 0, isSix ? 28 : 1, 0, 1, 0, 0, 0, 60, 0, data.length, ...data]);
    });
    return { kind, answer: Buffer.concat([head, query.subarray(12, at + 5), ...parts]) };
  }
}
