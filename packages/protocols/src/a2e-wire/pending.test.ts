import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { newMessage, withFields } from './new-message.ts';
import { PendingCalls } from './pending.ts';

describe('an arriving message', () => {
  test('goes to the call it answers, which is then no longer pending', () => {
    const calls = expecting('c');
    expect(calls.route(message('tool/list/resp', { req_id: 'c' }))).toEqual({ to: 'call', reqId: 'c' });
    expect(calls.size).toBe(0);
    expect(calls.route(message('tool/list/resp', { req_id: 'c' }))).toEqual({ to: 'nobody', why: 'unknown_request' });
  });

  test('that is an error ends the call it names', () => {
    const error = newMessage('error', { req_id: 'c', code: 'timeout' }, stamp());
    expect(expecting('c').route(error)).toEqual({ to: 'call', reqId: 'c' });
  });

  test('of an unknown type ends the call it names: an answer may be newer than we are', () => {
    expect(expecting('c').route(message('lab/run/resp', { req_id: 'c' }))).toEqual({ to: 'call', reqId: 'c' });
  });

  test('that is an event goes to the listeners and leaves the call pending', () => {
    const calls = expecting('c');
    expect(calls.route(message('tool/event', { req_id: 'c' }))).toEqual({ to: 'events', reqId: 'c' });
    expect(calls.size).toBe(1);
  });

  test('that names no call is a push', () => {
    const calls = expecting('c');
    for (const type of ['mcp/server/push', 'env/state/push', 'proc/read/event', 'mcp/sample/req', 'lab/news']) {
      expect(calls.route(message(type, {}))).toEqual({ to: 'push', type });
    }
  });
});

describe('events', () => {
  test('that come a second time are dropped', () => {
    const calls = expecting('c');
    const event = message('tool/event', { req_id: 'c', seq: 0 });
    expect(calls.route(event)).toMatchObject({ to: 'events' });
    expect(calls.route(event)).toEqual({ to: 'nobody', why: 'duplicate' });
  });

  test('with gaps, or all numbered 0 as some hosts do, are all delivered', () => {
    const calls = expecting('c');
    for (const seq of [0, 7, 0, 0])
      expect(calls.route(message('chain/event', { req_id: 'c', seq }))).toMatchObject({ to: 'events' });
  });

  test('are remembered only so many at a time', () => {
    const calls = expecting('c');
    const first = message('tool/event', { req_id: 'c' });
    calls.route(first);
    for (let count = 0; count < 1024; count++) calls.route(message('tool/event', { req_id: 'c' }));
    expect(calls.route(first)).toMatchObject({ to: 'events' });
  });
});

test('a call whose time is up is given up once', () => {
  const calls = new PendingCalls();
  calls.expect('soon', new Date(1000));
  calls.expect('later', new Date(2000));
  calls.expect('never');
  expect(calls.expire(new Date(999))).toEqual([]);
  expect(calls.expire(new Date(1000))).toEqual(['soon']);
  expect(calls.expire(new Date(9000))).toEqual(['later']);
  expect(calls.abandon()).toEqual(['never']);
  expect(calls.size).toBe(0);
});

test('the waiter of a call is kept with it, and returned with its answer', () => {
  const calls = new PendingCalls<string>();
  calls.expect('c', new Date(1000), 'waiter of c');
  calls.expect('d', undefined, 'waiter of d');
  expect(calls.entries()).toEqual([
    ['c', 'waiter of c'],
    ['d', 'waiter of d'],
  ]);
  expect(calls.route(message('tool/event', { req_id: 'd' }))).toMatchObject({ to: 'events', waiter: 'waiter of d' });
  expect(calls.route(message('tool/list/resp', { req_id: 'd' }))).toMatchObject({ to: 'call', waiter: 'waiter of d' });
  expect([calls.due(new Date(1000)), calls.waiter('c')]).toEqual([['c'], 'waiter of c']);
  expect([calls.forget('c'), calls.waiter('c')]).toEqual(['waiter of c', undefined]);
});

function expecting(...ids: string[]): PendingCalls {
  const calls = new PendingCalls();
  for (const id of ids) calls.expect(id);
  return calls;
}

function message(type: string, fields: JsonObject) {
  return withFields(type, fields, stamp());
}

let made = 0;
function stamp() {
  return { id: `m${++made}`, now: new Date(0) };
}
