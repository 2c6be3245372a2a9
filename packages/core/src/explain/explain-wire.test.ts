import { expect, test } from 'vitest';
import { ALL_PERMISSIONS, NO_PERMISSIONS } from '../call/principal.ts';
import type { AuditEntry } from '../tools/wire/audit.ts';
import { explainWire } from './explain-wire.ts';

const entry: AuditEntry = {
  ts: 1_774_699_200,
  session_id: 's1',
  req_id: 'line-1',
  correlation_id: 'c',
  agent_id: 'ada-agent',
  key_id: 'key-1',
  type: 'tool/call/req',
  name: 'echo',
  success: true,
  duration_ms: 1500,
  error_code: '',
  input_bytes: 120,
  output_bytes: 80,
};
const holding = (tools: string[], agents: string[] = []) => ({
  principalNamed: (id: string) => ({ id, kind: 'agent' as const, permissions: { ...NO_PERMISSIONS, tools, agents } }),
});

test('a call of a tool shows the key, the rule that allows it now, and how it ended', () => {
  const explained = explainWire(entry, holding(['echo']));
  expect(explained).toMatchObject({
    accepted_at: '2026-03-28T11:59:58.500Z',
    state: 'succeeded',
    received: { bytes: 120 },
  });
  expect(explained.allowed).toMatchObject([
    { known_by: 'key key-1, session s1', what: 'to open the session' },
    { known_by: 'the permissions it has now', what: 'to call the tool echo', rule: 'permissions.tools has "echo"' },
  ]);
  expect(explained.outcome).toMatchObject({ duration_ms: 1500, output_bytes: 80, correlation_id: 'c' });
});

test.each([
  [holding(['*']), 'permissions.tools has "*"'],
  [holding([]), 'permissions.tools does not have "echo" any more'],
])('the rule is that of now', (context, rule) => {
  expect(explainWire(entry, context).allowed[1]).toMatchObject({ rule });
});

test('a skill is allowed by the agents its caller may reach', () => {
  const explained = explainWire({ ...entry, type: 'skill/call/req', name: 'translate' }, holding([], ['desk', 'echo']));
  expect(explained.allowed[1]).toMatchObject({
    what: 'to call the skill translate',
    rule: 'permissions.agents has "desk", "echo"',
  });
});

test('a refused call has no permission and shows the reason; a line of an earlier version names no key', () => {
  const { key_id: _, ...earlier } = entry;
  const all = { principalNamed: () => ({ id: 'ada-agent', kind: 'agent' as const, permissions: ALL_PERMISSIONS }) };
  const explained = explainWire({ ...earlier, success: false, error_code: 'rate_limited' }, all);
  expect(explained.allowed).toMatchObject([{ known_by: 'session s1' }]);
  expect(explained.outcome).toMatchObject({ error_code: 'rate_limited', meaning: 'Rate limit exceeded.' });
  expect(explainWire({ ...entry, success: false, error_code: 'NO_CITY' }, all).outcome).not.toHaveProperty('meaning');
});
