import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeJsonRpc } from '../../jsonrpc/message.ts';
import { anyEnvelope, anyResponse } from '../any-record.contract.ts';
import { newEnvelope } from '../envelope.ts';
import { newProvenance } from '../provenance.ts';
import { newResponse } from '../response.ts';
import { a2aStreamPayloadFor } from './a2a-projection.ts';
import { acpMessagesFor } from './acp-projection.ts';
import { projectionsFor } from './projections.ts';

const fromAcp = newProvenance({ source_protocol: 'acp' });
const fromA2a = newProvenance({ source_protocol: 'a2a' });

describe('an ACP client', () => {
  test('is answered exactly once, by the final frame, whatever its kind', () => {
    fc.assert(
      fc.property(anyResponse, anyEnvelope, (response, request) => {
        const messages = acpMessagesFor(
          { ...response, projections: {}, jsonrpc_id: 5 },
          { ...request, provenance: fromAcp },
        );
        const answers = messages.filter((message) => 'result' in message || 'error' in message);
        const isAnswered = response.is_final && response.response_kind !== 'acp.output_request';
        expect(answers).toHaveLength(isAnswered ? 1 : 0);
        for (const answer of answers) expect(answer['id']).toBe(5);
      }),
      { numRuns: 100 },
    );
  });

  test('gets only messages that are JSON-RPC', () => {
    fc.assert(
      fc.property(anyResponse, (response) => {
        const messages = acpMessagesFor({ ...response, projections: {} }, newEnvelope({ jsonrpc_id: 1 }));
        for (const message of messages) expect(decodeJsonRpc(message)).toMatchObject({ ok: true });
      }),
      { numRuns: 100 },
    );
  });

  test('sees nothing of a custom event, for which ACP has no word', () => {
    const response = newResponse({
      response_kind: 'e2a.chunk',
      body: { delta_kind: 'custom', delta: { event_type: 'todo.updated' } },
    });
    expect(acpMessagesFor(response, newEnvelope({ provenance: fromAcp }))).toEqual([]);
  });

  test('keeps the stop reason and the usage an agent gave', () => {
    const response = newResponse({
      is_final: true,
      sequence: 2,
      response_kind: 'e2a.complete',
      body: { result: { stop_reason: 'max_tokens', usage: { total_tokens: 3 }, content: 'cut' } },
    });
    const request = newEnvelope({ jsonrpc_id: 1, method: 'chat.send', provenance: fromAcp });
    expect(projectionsFor(response, request)).toEqual({
      acp: { jsonrpc: '2.0', id: 1, result: { stopReason: 'max_tokens', usage: { totalTokens: 3 } } },
    });
  });

  test('does not get a text twice: after the first frame the chunks have sent it', () => {
    const response = newResponse({
      is_final: true,
      response_kind: 'e2a.complete',
      body: { result: { content: 'hi' } },
    });
    const request = newEnvelope({ jsonrpc_id: 1, method: 'session/prompt', provenance: fromAcp });
    expect(acpMessagesFor({ ...response, sequence: 0 }, request)).toHaveLength(2);
    expect(acpMessagesFor({ ...response, sequence: 1 }, request)).toHaveLength(1);
  });

  test('gets the number of the first failure that has the code', () => {
    const body = { code: 'E2A.INVALID_MESSAGE', message: 'no' };
    const response = newResponse({ is_final: true, status: 'failed', response_kind: 'e2a.error', body });
    expect(acpMessagesFor(response, newEnvelope({ jsonrpc_id: 1 }))).toMatchObject([{ error: { code: -32602 } }]);
  });

  test('gets a tool named only by text as a call', () => {
    const response = newResponse({
      response_id: 'x1',
      response_kind: 'e2a.chunk',
      body: { delta_kind: 'tool', delta: 'grep' },
    });
    expect(acpMessagesFor(response, newEnvelope({ session_id: 's1' }))).toMatchObject([
      {
        params: {
          sessionId: 's1',
          update: { sessionUpdate: 'tool_call', toolCallId: 'x1', title: 'grep', kind: 'search' },
        },
      },
    ]);
  });
});

test.each([[{ toString: 1 }], [[{ valueOf: 1 }]]])('a tool call of the id %j has the id of its frame', (id) => {
  const body = { delta_kind: 'tool', delta: { name: 'grep', id } };
  const response = newResponse({ response_id: 'x1', response_kind: 'e2a.chunk', body });
  expect(acpMessagesFor(response, newEnvelope({ session_id: 's1' }))).toMatchObject([
    { params: { update: { toolCallId: 'x1' } } },
  ]);
});

describe('an A2A client', () => {
  test('learns the end of its task from every final frame that is not its own event', () => {
    fc.assert(
      fc.property(anyResponse, anyEnvelope, (response, request) => {
        const isOwn = response.response_kind.startsWith('a2a.') || response.response_kind === 'e2a.chunk';
        if (isOwn) return;
        const payload = a2aStreamPayloadFor({ ...response, is_final: true }, { ...request, provenance: fromA2a });
        expect(payload).toMatchObject({
          task: { status: { state: expect.stringMatching(/COMPLETED|FAILED|CANCELED/) } },
        });
      }),
      { numRuns: 100 },
    );
  });

  test('gets exactly one branch at a time', () => {
    fc.assert(
      fc.property(anyResponse, anyEnvelope, (response, request) => {
        const payload = a2aStreamPayloadFor(response, request);
        if (payload !== undefined) expect(Object.keys(payload)).toHaveLength(1);
      }),
    );
  });

  test('of a cancelled request sees a canceled task', () => {
    const response = newResponse({
      request_id: 'r1',
      is_final: true,
      status: 'failed',
      response_kind: 'e2a.error',
      body: { code: 'E2A.CANCELLED', message: 'The request was cancelled.' },
    });
    expect(projectionsFor(response, newEnvelope({ request_id: 'r1', provenance: fromA2a }))).toMatchObject({
      a2a: { task: { id: 'r1', contextId: 'r1', status: { state: 'TASK_STATE_CANCELED' } } },
    });
  });
});
