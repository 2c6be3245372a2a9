import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { checkAnswer, type Fate } from './answer-check.ts';
import { allFrames, call } from './call.ts';
import { Load, type Moment, type Owner, type Sent } from './load.ts';
import { agentModule, type Exit, System } from './system.ts';
import { checkExecution, type SentWorkflow } from './workflow-load.ts';

/** Every crash point once. `npm run soak` kills 300 times. */
const CYCLES = Number(process.env['DRAGOMAN_CYCLES'] ?? 20);
const SEED = Number(process.env['DRAGOMAN_SEED'] ?? Date.now() % 1_000_000);

const system = System.create({
  crashPoints: true,
  config: {
    default_agent: 'wide',
    agents: {
      wide: { driver: 'module', module: agentModule('load'), max_parallel: 64 },
      // Some wait for their turn here, so that a crash finds what was accepted and not started.
      narrow: { driver: 'module', module: agentModule('load'), max_parallel: 1 },
      pure: { driver: 'module', module: agentModule('load'), max_parallel: 64, idempotent: true },
      held: { driver: 'module', module: agentModule('held'), max_parallel: 1 },
    },
    tools: [agentModule('counting-tool')],
  },
});
afterAll(() => system[Symbol.asyncDispose]());

describe(`kill -9 under load, ${CYCLES} times (DRAGOMAN_SEED=${SEED})`, () => {
  test('loses nothing that was acknowledged, repeats nothing, and shows no caller the data of another', {
    timeout: Math.max(60_000, CYCLES * 10_000),
  }, async () => {
    const random = randomFrom(SEED);
    await system.start();
    const owners = await Promise.all(['ada', 'bob'].map(makeOwner));
    await system.kill();

    const fates = { requests: noFates(), 'tool calls': noFates(), workflows: noFates() };
    const check = async ({ sent, workflows }: LifeSent) => {
      const kindOf = ({ counted }: Sent) => (counted === undefined ? 'requests' : 'tool calls');
      await eachOf(sent, async (one) => {
        fates[kindOf(one)][await checkAnswer(system, one, owners, random)] += 1;
      });
      await eachOf(workflows, async (one) => {
        fates.workflows[await checkExecution(system, one, owners)] += 1;
      });
    };
    const all: LifeSent = { sent: [], workflows: [] };
    let last: LifeSent = { sent: [], workflows: [] };
    for (let cycle = 0; cycle < CYCLES; cycle += 1) {
      const life = `life-${cycle}`;
      const point = POINTS[cycle % POINTS.length] ?? POINTS[0];
      try {
        if (!(await system.begin(point.environment?.(life)))) continue;
        // One that dies of the first commit would die of the check; the next life does it.
        if (point.inRecovery !== true) {
          await check(last);
          last = { sent: [], workflows: [] };
        }
        const { sent, workflows } = await point.run({ owners, life, random });
        for (const list of [last, all]) {
          list.sent.push(...sent);
          list.workflows.push(...workflows);
        }
        expect(await system.exited, system.log.slice(-3000)).toEqual(point.exit ?? { code: null, signal: 'SIGKILL' });
      } catch (error) {
        throw new Error(`cycle ${cycle}, ${point.name}, DRAGOMAN_SEED=${SEED}: ${error}`, { cause: error });
      } finally {
        await system.kill();
      }
    }

    // Once more with everything there ever was: no later crash has changed an earlier answer.
    await system.start();
    await check(last);
    const sample = <One>(list: readonly One[]) => list.filter(() => random() < 150 / list.length);
    const summary = JSON.stringify(fates);
    await check({ sent: sample(all.sent), workflows: sample(all.workflows) });
    await system.kill();
    console.info(`${CYCLES} kills, nothing lost, doubled or out of order: ${summary}`);
    // The crashes met requests in every state, or the test has shown nothing.
    const { unknown, complete, interrupted } = fates.requests;
    expect(Math.min(unknown, complete, interrupted), summary).toBeGreaterThan(0);
    expect(Math.min(fates['tool calls'].complete, fates.workflows.complete), summary).toBeGreaterThan(0);
  });
});

describe('after kill -9', () => {
  test('what was accepted and had not started runs; what had started ends as interrupted', async () => {
    await system.start();
    const { key } = await makeOwner('cay');
    const first = await send(key, { request_id: 'started', agent_ref: { id: 'held' }, is_stream: true, params: {} });
    const firstFrame = await first.frames().next();
    // The second waits for the only place: it has no frame yet, but it is there.
    const second = { request_id: 'waiting', agent_ref: { id: 'held' }, params: { content: 'later' } };
    const waiting = send(key, second).catch((error: Error) => error);
    while ((await resume(key, 'waiting')).status === 404) await delay(5);
    await system.kill();
    expect(await waiting).toBeInstanceOf(Error);

    await system.start();
    const [kept, final, ...more] = await allFrames(await resume(key, 'started'));
    expect(kept).toBe(firstFrame.value);
    expect(JSON.parse(final ?? '')).toMatchObject({ sequence: 1, is_final: true, body: { code: 'E2A.INTERRUPTED' } });
    expect(more).toEqual([]);
    const [ran, ...rest] = await allFrames(await resume(key, 'waiting'));
    expect(JSON.parse(ran ?? '')).toMatchObject({ sequence: 0, is_final: true, body: { result: { echoed: 'later' } } });
    expect(rest).toEqual([]);
    expect(await allFrames(await send(key, second))).toEqual([ran]);
    await system.kill();
  });

  test('in the middle of recovery, at every commit of it, the next start ends what is left', async () => {
    await system.start();
    const { key } = await makeOwner('dan');
    const ids = Array.from({ length: 5 }, (_, index) => `open-${index}`);
    for (const id of ids) {
      const content = 'one two three';
      const envelope = {
        request_id: id,
        agent_ref: { id: 'wide' },
        is_stream: true,
        params: { content, pause_ms: 60_000 },
      };
      await (await send(key, envelope)).frames().next();
    }
    await system.kill();
    for (const point of ['before-commit:1', 'after-commit:1', 'before-commit:2', 'after-commit:2', 'before-commit:1']) {
      expect(await system.begin({ DRAGOMAN_CRASH: point }), point).toBe(false);
    }
    await system.start();
    for (const id of ids) {
      const frames = (await allFrames(await resume(key, id))).map((text) => JSON.parse(text));
      expect(frames.map(({ sequence, is_final }) => [sequence, is_final])).toEqual([
        [0, false],
        [1, true],
      ]);
      expect(frames[1].body.code).toBe('E2A.INTERRUPTED');
    }
    await system.kill();
  });

  test('keys, callers and revocations are as they were acknowledged', async () => {
    await system.start();
    const admin = (path: string, method: string, json?: JsonObject) =>
      call(system.url, { method, path, key: system.adminKey, ...(json && { json }) });
    const kept = await system.caller('kept-agent');
    const second = (await (await admin('/admin/v1/keys', 'POST', { agent_id: 'kept-agent' })).json()) as typeof kept;
    const removed = await system.caller('removed-agent');
    expect((await admin(`/admin/v1/keys/${second.key_id}`, 'DELETE')).status).toBe(200);
    expect((await admin('/admin/v1/agents/removed-agent', 'DELETE')).status).toBe(200);
    await system.kill();

    await system.start();
    const statusOf = async (key: string) => (await resume(key, 'none')).status;
    expect(await statusOf(kept.api_key)).toBe(404);
    expect(await statusOf(second.api_key)).toBe(401);
    expect(await statusOf(removed.api_key)).toBe(401);
    await system.kill();
  });
});

/** What clients sent in one life of the server. */
interface LifeSent {
  readonly sent: Sent[];
  readonly workflows: SentWorkflow[];
}

interface Life {
  readonly owners: readonly Owner[];
  readonly life: string;
  readonly random: () => number;
}

/** A way for the server to die. `run` puts load on it, has it killed, and returns the sent requests. */
interface CrashPoint {
  readonly name: string;
  readonly environment?: (life: string) => Record<string, string>;
  /** How it ends. Default: by SIGKILL. */
  readonly exit?: Exit;
  /** It is to die of the first commit there is. */
  readonly inRecovery?: boolean;
  run(life: Life): Promise<LifeSent>;
}

/** The agent ends the process at a moment of its answer. */
const inAgent = (at: string): CrashPoint => ({
  name: `agent, ${at}`,
  environment: (life) => ({ DRAGOMAN_TEST_LIFE: life }),
  run: (life) => underLoad(life, { crash: { crash: { at, life: life.life } } }),
});

/** The store's thread ends it around the commit of one thing. */
const atCommit = (at: 'accept' | 'frame' | 'final', moment: string): CrashPoint => ({
  name: `${at}, ${moment}`,
  environment: (life) => ({ DRAGOMAN_CRASH: life }),
  run: (life) => {
    const marker = at === 'accept' ? `crash:${moment}:${life.life}` : { at, moment, life: life.life };
    return underLoad(life, { crash: { crash: marker } });
  },
});

/** A client has just received something, for the so-many-th time. */
const atClient = (wanted: Moment): CrashPoint => ({
  name: `client, ${wanted}`,
  run: (life) => {
    let left = 1 + Math.floor(life.random() * 20);
    const onMoment = (moment: Moment) => {
      if (moment === wanted && --left === 0) system.signal('SIGKILL');
    };
    return underLoad(life, { onMoment });
  },
});

/** The process dies before it listens, so it gets no load. */
const inRecovery = (point: string): CrashPoint => ({
  name: `recovery, ${point}`,
  inRecovery: true,
  environment: () => ({ DRAGOMAN_CRASH: point }),
  // There was nothing to recover: the point is reached by new requests.
  run: (life) => underLoad(life, {}),
});

/** An operator stops it, and does not wait for the end of that, or does. */
const inShutdown = (name: string, { drainMs, crash, impatient = false }: Shutdown): CrashPoint => ({
  name: `shutdown, ${name}`,
  environment: () => ({ DRAGOMAN_TEST_DRAIN_MS: String(drainMs), ...(crash && { DRAGOMAN_CRASH: crash }) }),
  ...(crash === undefined && !impatient && { exit: { code: 0, signal: null } }),
  run: (life) => {
    let left = 5 + Math.floor(life.random() * 10);
    const onMoment = (moment: Moment) => {
      left -= 1;
      if (left === 0) system.signal('SIGTERM');
      if (left < -3 && impatient && moment !== 'headers') system.signal('SIGKILL');
    };
    return underLoad(life, { onMoment });
  },
});

interface Shutdown {
  readonly drainMs: number;
  readonly crash?: string;
  readonly impatient?: boolean;
}

const atRandom: CrashPoint = {
  name: 'random',
  run: (life) => {
    setTimeout(() => system.signal('SIGKILL'), life.random() * 120);
    return underLoad(life, {});
  },
};

const POINTS: readonly [CrashPoint, ...CrashPoint[]] = [
  atRandom,
  inRecovery('before-commit:1'),
  atCommit('accept', 'before-commit'),
  atCommit('accept', 'after-commit'),
  atCommit('frame', 'before-commit'),
  inRecovery('after-commit:1'),
  atCommit('frame', 'after-commit'),
  atCommit('final', 'before-commit'),
  atCommit('final', 'after-commit'),
  atRandom,
  inAgent('first frame'),
  inAgent('middle'),
  inAgent('return'),
  atClient('headers'),
  atClient('frame'),
  atClient('final'),
  inShutdown('killed while it drains', { drainMs: 5_000, impatient: true }),
  inShutdown('drained', { drainMs: 5_000 }),
  inShutdown('out of patience', { drainMs: 1 }),
  inShutdown('killed at its last checkpoint', { drainMs: 50, crash: 'before-checkpoint:1' }),
];

async function underLoad(
  life: Life,
  how: { crash?: JsonObject; onMoment?: (moment: Moment) => void },
): Promise<LifeSent> {
  const load = new Load({ system, ...life, ...how, counted: join(system.folder, 'counted') });
  await load.run();
  return load;
}

/** A few at a time. */
async function eachOf<One>(list: readonly One[], check: (one: One) => Promise<void>): Promise<void> {
  const queue = [...list];
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await check(next);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

function noFates(): Record<Fate, number> {
  return { unknown: 0, complete: 0, interrupted: 0 };
}

async function makeOwner(name: string): Promise<Owner> {
  const { api_key } = await system.caller(`${name}-agent`, { permissions: EVERYTHING });
  return { canary: `canary-${name}`, key: api_key };
}

function send(key: string, envelope: JsonObject) {
  const accept = envelope['is_stream'] === true ? 'application/x-ndjson' : 'application/json';
  return call(system.url, { method: 'POST', path: '/e2a', key, accept, json: { method: 'chat.send', ...envelope } });
}

function resume(key: string, requestId: string) {
  const accept = 'application/x-ndjson';
  return call(system.url, { path: `/e2a/requests/${requestId}/responses`, key, accept });
}

const EVERYTHING = { agents: ['*'], tools: ['*'], operations: ['*'] };

/** The same numbers for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
