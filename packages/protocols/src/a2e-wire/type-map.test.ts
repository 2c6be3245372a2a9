import { describe, expect, test } from 'vitest';
import { CAPABILITIES, TYPE_PATTERN } from './message.ts';
import { aliasOf, isMessage, KNOWN_TYPES, lookup, maySend, type WireMessage } from './type-map.ts';

describe('the type map', () => {
  test('has every message type of the protocol, and ours', () => {
    const types = new Set(KNOWN_TYPES.map(({ type }) => type));
    expect([...types].sort()).toEqual([...EXPECTED].sort());
  });

  test.each(KNOWN_TYPES.filter(({ role }) => role === 'request'))(
    '$type is answered by a type the other side sends',
    (row) => {
      const answer = lookup(row.answer ?? '');
      expect(answer?.role).toBe('answer');
      if (row.from !== 'both') expect(answer?.from).toBe(row.from === 'agent' ? 'host' : 'agent');
      if (row.events !== undefined) expect(lookup(row.events)).toMatchObject({ role: 'event', from: 'host' });
    },
  );

  test('every answer is the answer to one request, but for error, which may answer any', () => {
    const answers = KNOWN_TYPES.filter(({ role }) => role === 'answer').map(({ type }) => type);
    const answerTypes = KNOWN_TYPES.flatMap(({ answer }) => answer ?? []);
    expect([...answerTypes, 'error'].sort()).toEqual(answers.sort());
  });

  test('every answer and event can name its request', () => {
    for (const { type, role, schema } of KNOWN_TYPES) {
      if (role !== 'answer' && role !== 'event') continue;
      expect([type, Object.keys(schema['properties'] as object)]).toEqual([type, expect.arrayContaining(['req_id'])]);
    }
  });

  test('every type follows the naming convention and has a capability a handshake can grant', () => {
    for (const { type, capability } of KNOWN_TYPES) {
      expect(type).toMatch(new RegExp(TYPE_PATTERN));
      if (capability !== undefined) expect(CAPABILITIES).toContain(capability);
    }
  });

  test('other spellings lead to types we know, and are none themselves', () => {
    for (const other of [
      'env/spaces/req',
      'env/spaces/resp',
      'env/state_push',
      'mcp/sampling/req',
      'mcp/sampling/resp',
    ]) {
      expect(lookup(other)).toBeUndefined();
      expect(lookup(aliasOf(other) ?? '')).toBeDefined();
    }
  });

  test('names every object has are no types', () => {
    for (const name of ['constructor', '__proto__', 'toString']) {
      expect(lookup(name)).toBeUndefined();
      expect(aliasOf(name)).toBeUndefined();
    }
  });
});

test('the suffix does not decide the direction: the host requests sampling', () => {
  const [sample, call, ping] = ['mcp/sample/req', 'tool/call/req', 'ping'].map((type) => lookup(type));
  if (sample === undefined || call === undefined || ping === undefined) expect.unreachable();
  expect([maySend('agent', sample), maySend('host', sample)]).toEqual([false, true]);
  expect([maySend('agent', call), maySend('host', call)]).toEqual([true, false]);
  expect([maySend('agent', ping), maySend('host', ping)]).toEqual([true, true]);
});

test('a type string identifies a message, including for TypeScript', () => {
  const message: WireMessage = { a2e: '1.0', version: '1.0', type: 'tool/call/req', id: 'x', ts: 1, tool_name: 'echo' };
  if (!isMessage(message, 'tool/call/req')) expect.unreachable();
  const name: string = message.tool_name;
  expect(name).toBe('echo');
  expect(isMessage(message, 'ping')).toBe(false);
});

const both = (...names: string[]) => names.flatMap((name) => [`${name}/req`, `${name}/resp`]);
const bare = (...names: string[]) => names.flatMap((name) => [name, `${name}/resp`]);

const EXPECTED = [
  ...both('handshake'),
  ...['invoke/event', 'ping', 'pong', 'shutdown', 'error'],
  ...both('tool/list', 'tool/call', 'tool/cancel'),
  'tool/event',
  ...both('chain'),
  'chain/event',
  ...both('env/reset', 'env/step', 'env/observe', 'env/close', 'env/space', 'env/render', 'env/plan', 'env/batch_step'),
  ...both('env/exp/list'),
  'env/state/push',
  ...both('proc/spawn', 'proc/write', 'proc/kill', 'proc/status'),
  'proc/read/event',
  ...both('memory/init', 'memory/store', 'memory/retrieve', 'memory/forget'),
  ...both('skill/discover', 'skill/call'),
  'skill/event',
  ...both('toolkit/list', 'toolkit/configure'),
  ...both('learn/feedback', 'learn/experience', 'learn/adapt', 'learn/stats'),
  ...both(...['plan', 'apply', 'rollback', 'review', 'history'].map((name) => `learn/refinement/${name}`)),
  ...bare(
    ...['plan/create', 'plan/list', 'plan/board', 'task/add', 'task/update', 'task/list'].map(
      (name) => `planning/${name}`,
    ),
  ),
  ...both(...['list', 'register', 'unregister'].map((name) => `mcp/server/${name}`)),
  'mcp/server/push',
  ...both('mcp/resource/list', 'mcp/resource/read', 'mcp/resource/subscribe', 'mcp/prompt/list', 'mcp/prompt/get'),
  ...both('mcp/sample', 'mcp/root/list'),
  ...bare(...['spawn', 'delegate', 'await', 'list', 'terminate'].map((name) => `multi_agent/${name}`)),
];
