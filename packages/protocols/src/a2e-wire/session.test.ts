import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadFixtures } from '../../../../scripts/conformance.ts';
import { failure } from '../failure.ts';
import type { Json, JsonObject } from '../json.ts';
import { a2eWireDialect } from './dialect.ts';
import type { HostPolicy } from './host-policy.ts';
import { HostSession, type Reaction } from './session.ts';

describe('the handshake', () => {
  test('a good token makes the connection ready and lists the grants', () => {
    const session = newSession();
    const { send } = session.receive(
      message('handshake/req', { id: 'h', auth_token: 'key', agent_caps: ['tools'] }),
      NOW,
    );
    expect(send).toMatchObject([
      {
        type: 'handshake/resp',
        req_id: 'h',
        ok: true,
        reason: '',
        session_id: expect.stringMatching(/^id-/),
        max_parallel: 2,
        accepted_caps: [{ capability: 'tools', enabled: true, metadata: {} }],
      },
    ]);
    expect(session.state).toBe('ready');
    expect(session.principal).toBe('ada');
    expect(session.deadline).toBeUndefined();
  });

  test.each([
    ['auth_failed', { auth_token: 'wrong' }],
    ['server_error', { auth_token: 'broken' }],
    ['no_caps', { auth_token: 'key', agent_caps: ['proc'] }],
    ['version_mismatch', { auth_token: 'key', a2e: '2.0' }],
  ])('is rejected with %s, and the connection is closed', (reason, fields) => {
    const session = newSession();
    const { send } = session.receive(message('handshake/req', { id: 'h', ...fields }), NOW);
    expect(send).toMatchObject([{ type: 'handshake/resp', req_id: 'h', ok: false, reason, accepted_caps: [] }]);
    expect(session.state).toBe('closed');
    expect(session.principal).toBeUndefined();
  });

  test('of a caller with as many connections as it may have is busy, to be tried again, and the connection closed', () => {
    const session = newSession();
    const { send } = session.receive(message('handshake/req', { id: 'h', auth_token: 'crowded' }), NOW);
    expect(send).toMatchObject([{ type: 'error', req_id: 'h', code: 'busy', retryable: true }]);
    expect(session.state).toBe('closed');
    expect(session.principal).toBeUndefined();
  });

  test.each(['ping', 'shutdown', 'tool/list/req', 'weather/forecast/req', 'pong'])(
    '%s before it is unauthorized',
    (type) => {
      const session = newSession();
      expect(session.receive(message(type, { id: 'x' }), NOW).send).toMatchObject([
        { type: 'error', req_id: 'x', code: 'unauthorized', retryable: false },
      ]);
      expect(session.state).toBe('handshake');
    },
  );

  test('a peer before the handshake does not learn the problem of its message', () => {
    const { send } = newSession().receive(message('tool/call/req', { id: 'x' }), NOW);
    expect(send).toMatchObject([{ code: 'unauthorized', detail: {} }]);
  });

  test('a malformed handshake is explained and may be tried again', () => {
    const session = newSession();
    const { send } = session.receive(message('handshake/req', { id: 'h', agent_caps: 'tools' }), NOW);
    expect(send).toMatchObject([{ code: 'schema_violation', detail: { issues: [{ pointer: '/agent_caps' }] } }]);
    expect(session.state).toBe('handshake');
  });

  test('has to come in time', () => {
    const session = newSession();
    expect(session.deadline).toEqual(later(10));
    expect(session.tick(later(9))).toEqual(NOTHING);
    expect(session.state).toBe('handshake');
    expect(session.tick(later(10))).toEqual(NOTHING);
    expect(session.state).toBe('closed');
  });

  test('a second one is refused and changes nothing', () => {
    const session = ready();
    const { send } = session.receive(message('handshake/req', { id: 'h2', auth_token: 'wrong' }), NOW);
    expect(send).toMatchObject([{ type: 'error', req_id: 'h2', code: 'invalid_message' }]);
    expect(session.state).toBe('ready');
  });
});

describe('a ready connection', () => {
  test('answers a ping with how long the host is up', () => {
    expect(ready().receive(message('ping', { id: 'p' }), later(90)).send).toMatchObject([
      { type: 'pong', req_id: 'p', uptime_seconds: 150 },
    ]);
    // A clock that was set back: A2E wire has no uptime below 0.
    expect(ready().receive(message('ping', { id: 'p' }), later(-90)).send).toMatchObject([{ uptime_seconds: 0 }]);
  });

  test('starts requests in order of arrival, up to max_parallel, and the next as one finishes', () => {
    const session = ready();
    const started = ['a', 'b', 'c', 'd'].flatMap((id) => ids(session.receive(call(id), NOW).deliver));
    expect(started).toEqual(['a', 'b']);
    expect(ids(session.finished('b').deliver)).toEqual(['c']);
    expect(session.finished('b')).toEqual(NOTHING);
    expect(ids(session.finished('a').deliver)).toEqual(['d']);
    expect(session.finished('c').deliver).toEqual([]);
    expect(session.isRunning('d')).toBe(true);
  });

  test('is busy when as much is waiting as may wait', () => {
    const session = ready();
    for (const id of ['a', 'b', 'c', 'd', 'e']) session.receive(call(id), NOW);
    expect(session.receive(call('f'), NOW).send).toMatchObject([
      { type: 'error', req_id: 'f', code: 'busy', retryable: true, capability_name: 'tools' },
    ]);
    session.finished('a');
    expect(session.receive(call('f'), NOW)).toEqual(NOTHING);
  });

  test('refuses an id that is in flight without ending the request that has it', () => {
    const session = ready();
    session.receive(call('a'), NOW);
    expect(session.receive(call('a'), NOW).send).toMatchObject([
      { code: 'invalid_message', req_id: '', detail: { id: 'a' } },
    ]);
    session.finished('a');
    expect(ids(session.receive(call('a'), NOW).deliver)).toEqual(['a']);
  });

  test.each([
    ['ping', {}],
    ['tool/cancel/req', { target_id: 'b' }],
  ])('a %s that uses an id in flight is not answered in place of the request that has it', (type, fields) => {
    const session = ready();
    for (const id of ['a', 'b']) session.receive(call(id), NOW);
    expect(session.receive(message(type, { id: 'a', ...fields }), NOW)).toMatchObject({
      send: [{ type: 'error', code: 'invalid_message', req_id: '', detail: { id: 'a' } }],
      cancel: [],
    });
  });

  test('an invalid message that uses an id in flight does not end that request either', () => {
    const session = ready();
    session.receive(call('a'), NOW);
    expect(session.receive(message('tool/call/req', { id: 'a' }), NOW).send).toMatchObject([
      { code: 'schema_violation', req_id: '' },
    ]);
  });

  test('refuses what only a host may send', () => {
    const types = ['handshake/resp', 'tool/list/resp', 'tool/event', 'env/state/push', 'mcp/sample/req'];
    for (const type of types) {
      const fields = type === 'env/state/push' ? { episode_id: 'e', step_id: 0, event_type: 'x' } : {};
      expect(ready().receive(message(type, { id: 'x', ...fields }), NOW).send).toMatchObject([
        { type: 'error', req_id: 'x', code: 'invalid_message', message: expect.stringContaining(type) },
      ]);
    }
  });

  test('passes on what answers the host, and never answers an error', () => {
    const session = ready();
    for (const type of ['mcp/sample/resp', 'mcp/root/list/resp', 'pong']) {
      const reaction = session.receive(message(type, { req_id: 'mine' }), NOW);
      expect(reaction).toMatchObject({ send: [], deliver: [], answers: [{ type, req_id: 'mine' }] });
    }
    expect(session.receive(message('error', { code: 'oops', req_id: 'mine' }), NOW).answers).toHaveLength(1);
    expect(session.receive(message('error', { req_id: 'mine' }), NOW)).toEqual(NOTHING);
    expect(newSession().receive(message('error', { code: 'oops' }), NOW)).toEqual(NOTHING);
  });

  test('refuses a capability the handshake did not grant', () => {
    const session = newSession();
    session.receive(message('handshake/req', { auth_token: 'key', agent_caps: ['tools'] }), NOW);
    expect(session.receive(message('chain/req', { id: 'x' }), NOW).send).toMatchObject([
      { req_id: 'x', code: 'capability_missing', capability_name: 'chains' },
    ]);
  });

  test('refuses it before it checks the fields, and lists the known ones', () => {
    const session = newSession();
    session.receive(message('handshake/req', { auth_token: 'key', agent_caps: ['tools'] }), NOW);
    expect(session.receive(message('env/reset/req', { id: 'x' }), NOW).send).toMatchObject([
      { req_id: 'x', code: 'capability_missing', capability_name: 'env', detail: { granted: ['tools'] } },
    ]);
    expect(session.receive(message('tool/call/req', { id: 'y' }), NOW).send).toMatchObject([
      { req_id: 'y', code: 'schema_violation' },
    ]);
    expect(session.receive({ a2e: '2.0', type: 'env/reset/req', id: 'z' }, NOW).send).toMatchObject([
      { req_id: 'z', code: 'version_mismatch' },
    ]);
  });

  test('an unknown type is refused, or delivered where there is a catch-all', () => {
    const unknown = message('weather/forecast/req', { id: 'w', city: 'Bern' });
    expect(ready().receive(unknown, NOW).send).toMatchObject([{ type: 'error', req_id: 'w', code: 'unknown_type' }]);
    expect(ready({ catchAll: true }).receive(unknown, NOW).deliver).toMatchObject([{ id: 'w', city: 'Bern' }]);
  });

  test.each([
    ['tool/cal/req', 'tool/call/req'],
    ['mcp/server/list', 'mcp/server/list/req'],
    ['planning/plan/create/req', 'planning/plan/create'],
  ])('of an unknown type %s the nearest one is suggested', (type, meant) => {
    const [error] = ready().receive(message(type, { id: 'w' }), NOW).send;
    expect(error).toMatchObject({ code: 'unknown_type', detail: { suggestions: [`did you mean ${meant}?`] } });
  });

  test('an old subagent message has no id to answer, so even a catch-all does not get it', () => {
    const subagent = { version: '1.0', type: 'SUBAGENT_EVENT' };
    expect(ready({ catchAll: true }).receive(subagent, NOW).send).toMatchObject([{ code: 'unknown_type', req_id: '' }]);
  });

  test.each([
    ['parse_error', '', [1, 2]],
    ['parse_error', '', 'ping'],
    ['schema_violation', 'x', message('tool/call/req', { id: 'x' })],
    ['version_mismatch', 'x', message('ping', { id: 'x', a2e: '7.0' })],
    ['invalid_message', 'x', message('Not A Type', { id: 'x' })],
    ['invalid_message', '', { a2e: '1.0', type: 'weather/forecast/req', id: 9 }],
  ])('sends %s for an unreadable message, naming %j', (code, reqId, json) => {
    const { send } = ready().receive(json as Json, NOW);
    expect(send).toMatchObject([
      { type: 'error', code, req_id: reqId, detail: { issues: [{ pointer: expect.any(String) }] } },
    ]);
  });

  test('an answer is not larger than what it answers', () => {
    const { send } = ready().receive(message('tool/list/req', { filter_tags: Array(5000).fill(1) }), NOW);
    expect(send).toMatchObject([{ message: 'filter_tags[0] must be a string; got 1 (and 100 more)' }]);
    expect(JSON.stringify(send).length).toBeLessThan(5000);
  });

  test('a line that is not even JSON is a parse_error', () => {
    const cause = failure('not_json', {
      issues: [{ pointer: '', code: 'not_json', message: 'expected a value', offset: 3 }],
    });
    expect(ready().unreadable(cause, NOW).send).toMatchObject([
      { code: 'parse_error', req_id: '', detail: { issues: [{ code: 'not_json' }] } },
    ]);
    expect(ready().unreadable(failure('line_too_long'), NOW).send).toMatchObject([{ code: 'invalid_message' }]);
  });

  test('a line that cannot be read ends the request it would have been, and no other', () => {
    const session = ready();
    session.receive(call('a'), NOW);
    const answered = (start: string) => session.unreadable(failure('line_too_long'), NOW, start).send;
    expect(answered('{"a2e":"1.0","type":"tool/call/req","id":"b",')).toMatchObject([{ req_id: 'b' }]);
    expect(answered('{"a2e":"1.0","type":"tool/call/req","id":"a",')).toMatchObject([{ req_id: '' }]);
  });
});

describe('events', () => {
  test('count from 0 for each request and have the type its events have', () => {
    const session = ready();
    session.receive(call('a'), NOW);
    session.receive(message('chain/req', { id: 'b' }), NOW);
    const log = { kind: 'log', data: { message: 'x' } } as const;
    expect(session.event('a', log, NOW)).toMatchObject({ type: 'tool/event', req_id: 'a', seq: 0, kind: 'log' });
    expect(session.event('b', { ...log, node_id: 'n', phase: 'done' }, NOW)).toMatchObject({
      type: 'chain/event',
      seq: 0,
      node_id: 'n',
    });
    expect(session.event('a', log, NOW)).toMatchObject({ seq: 1 });
  });

  test('are sent for running requests only', () => {
    const session = ready();
    const status = { kind: 'status', data: {} } as const;
    session.receive(call('a'), NOW);
    session.finished('a');
    expect(session.event('a', status, NOW)).toBeUndefined();
    session.receive(call('a'), NOW);
    expect(session.event('a', status, NOW)).toMatchObject({ seq: 0 });
  });

  test('count from 0 again for the next request of the same id', () => {
    const session = ready();
    const status = { kind: 'status', data: {} } as const;
    for (let time = 0; time < 2; time++) {
      session.receive(call('a'), NOW);
      expect([0, 1].map(() => session.event('a', status, NOW)?.['seq'])).toEqual([0, 1]);
      session.finished('a');
    }
  });

  test('of a type without its own are invoke/event', () => {
    const session = ready();
    session.receive(message('tool/list/req', { id: 'l' }), NOW);
    expect(session.event('l', { kind: 'status', data: {} }, NOW)).toMatchObject({ type: 'invoke/event' });
  });
});

describe('cancelling', () => {
  test('a running call is for the host to stop', () => {
    const session = ready();
    session.receive(call('a'), NOW);
    const reaction = session.receive(message('tool/cancel/req', { id: 'x', target_id: 'a' }), NOW);
    expect(reaction).toMatchObject({
      cancel: ['a'],
      send: [{ type: 'tool/cancel/resp', req_id: 'x', cancelled: true }],
    });
    expect(session.isRunning('a')).toBe(true);
  });

  test('a waiting call never starts and is answered', () => {
    const session = ready();
    for (const id of ['a', 'b', 'c']) session.receive(call(id), NOW);
    const { send, cancel } = session.receive(message('tool/cancel/req', { id: 'x', target_id: 'c' }), NOW);
    expect(cancel).toEqual([]);
    expect(send).toMatchObject([
      { type: 'error', req_id: 'c', detail: { failure: 'cancelled' } },
      { type: 'tool/cancel/resp', cancelled: true },
    ]);
    expect(session.finished('a').deliver).toEqual([]);
  });

  test('nothing is cancelled when there is nothing', () => {
    const { send } = ready().receive(message('tool/cancel/req', { target_id: 'nobody' }), NOW);
    expect(send).toMatchObject([{ type: 'tool/cancel/resp', cancelled: false }]);
  });
});

describe('closing', () => {
  const shutdown = message('shutdown', { id: 's', timeout: 5 });

  test('a shutdown with nothing running closes at once', () => {
    const session = ready();
    expect(session.receive(shutdown, NOW)).toEqual(NOTHING);
    expect(session.state).toBe('closed');
  });

  test('running and waiting requests may finish, and no new ones start', () => {
    const session = ready();
    for (const id of ['a', 'b', 'c']) session.receive(call(id), NOW);
    session.receive(shutdown, NOW);
    expect(session.state).toBe('draining');
    expect(session.deadline).toEqual(later(5));
    expect(session.receive(call('d'), NOW).send).toMatchObject([{ req_id: 'd', code: 'busy' }]);
    expect(session.receive(message('ping'), NOW).send).toMatchObject([{ type: 'pong' }]);
    expect(ids(session.finished('a').deliver)).toEqual(['c']);
    session.finished('b');
    expect(session.state).toBe('draining');
    session.finished('c');
    expect(session.state).toBe('closed');
  });

  test('unfinished requests are answered with timeout and stopped', () => {
    const session = ready();
    for (const id of ['a', 'b', 'c']) session.receive(call(id), NOW);
    session.receive(shutdown, NOW);
    expect(session.tick(later(4))).toEqual(NOTHING);
    const { send, cancel } = session.tick(later(5));
    expect(send.map(({ req_id, code }) => [req_id, code])).toEqual([
      ['a', 'timeout'],
      ['b', 'timeout'],
      ['c', 'timeout'],
    ]);
    expect(cancel).toEqual(['a', 'b']);
    expect(session.state).toBe('closed');
  });

  test('an agent cannot make it take forever, nor longer with a second shutdown', () => {
    const session = ready({ maxDrainSeconds: 20 });
    session.receive(call('a'), NOW);
    session.receive(message('shutdown', { timeout: 1e9 }), NOW);
    expect(session.deadline).toEqual(later(20));
    session.receive(message('shutdown', { timeout: 3 }), NOW);
    expect(session.deadline).toEqual(later(3));
    session.receive(message('shutdown', { timeout: 9 }), NOW);
    expect(session.deadline).toEqual(later(3));
  });

  test('a lost transport stops everything and sends nothing', () => {
    const session = ready();
    for (const id of ['a', 'b', 'c']) session.receive(call(id), NOW);
    const dropped = [expect.objectContaining({ id: 'c' })];
    expect(session.disconnected()).toEqual({ ...NOTHING, cancel: ['a', 'b'], dropped });
    expect(session.disconnected()).toEqual(NOTHING);
    expect(session.event('a', { kind: 'status', data: {} }, NOW)).toBeUndefined();
  });
});

describe('whatever happens', () => {
  const inputs = [...loadFixtures('a2e-wire', 'accept'), ...loadFixtures('a2e-wire', 'reject')].map(
    ({ input }) => input,
  );
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('call' as const),
        type: fc.constantFrom('tool/call/req', 'chain/req', 'tool/list/req', 'lab/run'),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('finish' as const), which: fc.nat(5) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('receive' as const), json: fc.constantFrom(...inputs) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), which: fc.nat(20) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('tick' as const), seconds: fc.nat(8) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('shutdown' as const), seconds: fc.nat(5) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('disconnect' as const) }) },
  );

  /** Plays the steps and keeps account of what became of each request. */
  function play(
    steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[],
    begin: 'unproven' | 'ready',
    parallel: number,
  ) {
    const session = newSession({ maxParallel: parallel, maxQueued: 3, catchAll: true });
    const sent: string[] = [];
    const running: string[] = [];
    const verdicts = new Map<string, number>();
    const judged = (id: unknown) => verdicts.set(String(id), (verdicts.get(String(id)) ?? 0) + 1);
    let clock = 0;
    let mostAtOnce = 0;
    let lost = false;
    const account = (closedBefore: boolean, reaction: Reaction) => {
      if (closedBefore) expect(reaction).toEqual(NOTHING);
      for (const { id } of reaction.deliver) {
        running.push(String(id));
        judged(id);
      }
      mostAtOnce = Math.max(mostAtOnce, running.length);
      for (const { type, req_id } of reaction.send)
        if (type === 'error' && !running.includes(String(req_id))) judged(req_id);
      for (const written of reaction.send)
        expect(a2eWireDialect.decode(written as Json, NOW)).toMatchObject({ ok: true, warnings: [] });
    };
    if (begin === 'ready')
      account(false, session.receive(message('handshake/req', { id: 'h', auth_token: 'key' }), NOW));
    for (const next of steps) {
      const closed = session.state === 'closed';
      const now = later(clock);
      if (next.do === 'call') {
        const id = `r${sent.length}`;
        if (!closed) sent.push(id);
        account(closed, session.receive(message(next.type, { id, arguments: {} }), now));
      } else if (next.do === 'receive') account(closed, session.receive(next.json, now));
      else if (next.do === 'cancel')
        account(
          closed,
          session.receive(message('tool/cancel/req', { id: `x${clock}`, target_id: `r${next.which}` }), now),
        );
      else if (next.do === 'shutdown')
        account(closed, session.receive(message('shutdown', { id: 's', timeout: next.seconds }), now));
      else if (next.do === 'tick') {
        clock += next.seconds;
        account(closed, session.tick(later(clock)));
      } else if (next.do === 'finish') {
        const [id] = running.splice(next.which % Math.max(running.length, 1), 1);
        if (id !== undefined) account(closed, session.finished(id));
      } else {
        lost ||= !closed;
        account(closed, session.disconnected());
      }
    }
    // Let everything that is still owed end.
    for (let id = running.shift(); id !== undefined; id = running.shift())
      account(session.state === 'closed', session.finished(id));
    return { sent, verdicts, mostAtOnce, lost, session };
  }

  test('at most max_parallel run at once, and a closed connection is never answered', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 60 }),
        fc.constantFrom('unproven', 'ready'),
        fc.integer({ min: 1, max: 3 }),
        (steps, begin, parallel) => {
          expect(play(steps, begin, parallel).mostAtOnce).toBeLessThanOrEqual(parallel);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('every request gets exactly one verdict: it is delivered, or refused once', () => {
    const withoutLoss = step.filter((next) => next.do !== 'disconnect');
    fc.assert(
      fc.property(fc.array(withoutLoss, { maxLength: 60 }), fc.constantFrom('unproven', 'ready'), (steps, begin) => {
        const { sent, verdicts } = play(steps, begin, 2);
        for (const id of sent) expect([id, verdicts.get(id)]).toEqual([id, 1]);
      }),
      { numRuns: 300 },
    );
  });

  test('the events of each request are numbered 0, 1, 2 …', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 40 }), (order) => {
        const session = ready({ maxParallel: 3 });
        for (const id of ['a', 'b', 'c']) session.receive(call(id), NOW);
        const answered = new Map<string, unknown[]>();
        for (const id of order) {
          const event = session.event(id, { kind: 'status', data: {} }, NOW);
          answered.set(id, [...(answered.get(id) ?? []), event?.['seq']]);
        }
        for (const numbers of answered.values()) expect(numbers).toEqual(numbers.map((_, index) => index));
      }),
    );
  });

  test('any JSON gets a reaction', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.boolean(), (json, isReady) => {
        const session = isReady ? ready() : newSession();
        expect(session.receive(json as Json, NOW)).toHaveProperty('send');
      }),
    );
  });
});

function newSession(policy: Partial<HostPolicy<string>> = {}): HostSession<string> {
  let count = 0;
  return new HostSession({
    policy: {
      accept: (token) => {
        if (token === 'key') return { ok: true, principal: 'ada' };
        if (token === 'crowded') return { ok: false, reason: 'busy' };
        return { ok: false, reason: token === 'broken' ? 'server_error' : 'auth_failed' };
      },
      capabilities: ['tools', 'chains', 'mcp', 'env'].map((capability) => ({
        capability,
        enabled: true,
        metadata: {},
      })),
      maxParallel: 2,
      maxQueued: 3,
      startedAt: later(-60),
      ...policy,
    },
    newId: () => `id-${++count}`,
    now: NOW,
  });
}

test('a type under its other name is still a known one', () => {
  const { send } = ready().receive(message('env/spaces/req', { id: 'x' }), NOW);
  expect(send).toMatchObject([{ code: 'schema_violation', req_id: 'x', capability_name: 'env' }]);
});

function ready(policy: Partial<HostPolicy<string>> = {}): HostSession<string> {
  const session = newSession(policy);
  session.receive(message('handshake/req', { auth_token: 'key' }), NOW);
  return session;
}

function message(type: string, fields: JsonObject = {}): JsonObject {
  return { a2e: '1.0', type, id: 'm', ts: 1774699200, ...fields };
}

function call(id: string): JsonObject {
  return message('tool/call/req', { id, tool_name: 'echo', arguments: {} });
}

function ids(messages: Reaction['deliver']): unknown[] {
  return messages.map(({ id }) => id);
}

function later(seconds: number): Date {
  return new Date(NOW.getTime() + seconds * 1000);
}

const NOW = new Date('2026-03-28T12:00:30.000Z');
const NOTHING: Reaction = { send: [], deliver: [], answers: [], cancel: [], dropped: [] };
