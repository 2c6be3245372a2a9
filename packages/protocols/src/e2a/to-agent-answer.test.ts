import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../json.ts';
import { decodeResponse } from './read-response.ts';
import { type E2AResponse, newResponse } from './response.ts';
import { agentChunkFrom, agentResponseFrom } from './to-agent-answer.ts';

const address = { request_id: 'r1', channel_id: 'web', agent_ref: { mode: 'code', id: 'w1' }, metadata: { k: 1 } };

function read(legacy: JsonObject): E2AResponse {
  const outcome = decodeResponse(legacy);
  if (!outcome.ok) expect.unreachable(JSON.stringify(outcome.issues));
  return outcome.value;
}

describe('an old answer survives the way through E2A', () => {
  test.each([
    ['a success', { ok: true, payload: { content: 'done' } }],
    ['a success without a word', { ok: true, payload: {} }],
    ['a failure', { ok: false, payload: { error: 'no such file', path: '/a' } }],
  ])('%s', (_, answer) => {
    const legacy = { ...address, ...answer };
    expect(agentResponseFrom(read(legacy))).toEqual({ ok: true, value: legacy, warnings: [] });
  });

  test.each<[string, JsonObject, boolean]>([
    ['a delta', { event_type: 'chat.delta', content: 'hi' }, false],
    ['a thought', { event_type: 'chat.delta', content: 'hm', source_chunk_type: 'llm_reasoning' }, false],
    ['a delta of a team member', { event_type: 'chat.delta', content: 'hi', role: 'dev', member_name: 'Ada' }, false],
    ['any other event', { event_type: 'todo.updated', todos: [1] }, false],
    ['an event without a type', { content: 'x' }, false],
    ['a bare end', { is_complete: true }, true],
    ['an end with a result', { event_type: 'chat.final', content: 'all' }, true],
    ['an error', { event_type: 'chat.error', error: 'timeout', code: 5 }, true],
  ])('%s', (_, payload, is_complete) => {
    const legacy = { ...address, payload, is_complete };
    expect(agentChunkFrom(read(legacy))).toEqual({ ok: true, value: legacy, warnings: [] });
  });
});

describe('sent to a peer of before E2A', () => {
  test('members that only servers set are not forwarded', () => {
    const response = newResponse({
      response_kind: 'e2a.complete',
      status: 'succeeded',
      body: { result: null },
      metadata: { _jiuwenswarm_server_push: true, k: 1 },
    });
    expect(agentResponseFrom(response)).toMatchObject({ value: { metadata: { k: 1 }, payload: {} } });
  });

  test.each<[string, Json, JsonObject]>([
    ['text', 'done', { content: 'done' }],
    ['a list', [1, 2], { content: [1, 2] }],
    ['nothing', null, {}],
  ])('a result that is %s becomes a payload', (_, result, payload) => {
    const response = newResponse({ response_kind: 'e2a.complete', status: 'succeeded', body: { result } });
    expect(agentResponseFrom(response)).toMatchObject({ value: { payload } });
  });

  test('a complete frame that is not final has no form there', () => {
    const response = newResponse({ response_kind: 'e2a.complete', is_final: false, body: { result: 1 } });
    expect(agentChunkFrom(response)).toMatchObject({ ok: false, issues: [{ pointer: '/is_final' }] });
  });

  test('a kind the old peers never knew is refused with the ones they did', () => {
    const outcome = agentChunkFrom(newResponse({ response_kind: 'a2a.task', is_final: true }));
    if (outcome.ok) expect.unreachable();
    expect(outcome.issues[0]?.message).toContain('plan.approval_required; got "a2a.task"');
  });
});
