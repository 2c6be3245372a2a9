import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { questionBody } from '../e2a/adapters/acp-question.ts';
import type { Question } from '../e2a/question.ts';
import { questionEndBody } from '../e2a/read-question.ts';
import { type E2AResponse, newResponse } from '../e2a/response.ts';
import type { JsonObject } from '../json.ts';
import type { StreamEvent, Task } from './shapes.ts';
import { TaskFold } from './task-fold.ts';

const options = { taskId: 't', contextId: 'c', acceptedAt: '2026-01-01T00:00:00.000Z' };

function frames(...bodies: readonly Partial<E2AResponse>[]): E2AResponse[] {
  return bodies.map((body, sequence) => newResponse({ request_id: 't', sequence, ...body }));
}

const chunk = (delta: string | JsonObject, delta_kind = 'text'): Partial<E2AResponse> => ({
  response_kind: 'e2a.chunk',
  body: { delta_kind, delta },
});
const complete = (result: JsonObject | string): Partial<E2AResponse> => ({
  response_kind: 'e2a.complete',
  is_final: true,
  status: 'succeeded',
  body: { result },
});

function folded(list: readonly E2AResponse[]): { fold: TaskFold; events: StreamEvent[] } {
  const fold = new TaskFold(options);
  return { fold, events: list.flatMap((frame) => fold.apply(frame)) };
}

describe('questions', () => {
  const times = { asked_at: '2026-01-01T00:00:00.000Z', expires_at: '2026-01-01T00:10:00.000Z' };
  const options = [{ id: 'yes', name: 'Yes', kind: 'choice' } as const];
  const asks = (question_id: string, kind: Question['kind'] = 'choice'): Partial<E2AResponse> => ({
    response_kind: 'acp.output_request',
    body: questionBody({ question_id, kind, title: `${question_id}?`, options, ...times }, null),
  });
  const ends = (question_id: string, by: string | null = 'ada'): Partial<E2AResponse> => ({
    response_kind: 'e2a.chunk',
    body: questionEndBody({
      question_id,
      state: by === null ? 'expired' : 'answered',
      answer: { action: 'selected', option_id: 'yes', by, channel: 'a2a', at: '' },
    }),
  });
  const states = (events: readonly StreamEvent[]) =>
    events.flatMap((event) => ('statusUpdate' in event ? [event.statusUpdate.status.state.slice(11)] : []));
  const shown = (fold: TaskFold) => fold.task().status.message?.parts[0]?.text?.split('\n')[0];

  test('a task waits while one is open, and works again afterwards', () => {
    const { events } = folded(frames(asks('q1'), ends('q1'), complete({ text: 'done' })));
    expect(states(events)).toEqual(['WORKING', 'INPUT_REQUIRED', 'WORKING', 'COMPLETED']);
  });

  test('the oldest one is shown, then the next', () => {
    const { fold, events } = folded(frames(asks('q1'), asks('q2', 'url'), ends('q1')));
    expect([states(events), shown(fold)]).toEqual([['WORKING', 'INPUT_REQUIRED', 'AUTH_REQUIRED'], 'q2?']);
    const other = folded(frames(asks('q1'), asks('q2'), ends('q2')));
    expect([states(other.events), shown(other.fold)]).toEqual([['WORKING', 'INPUT_REQUIRED'], 'q1?']);
  });

  test('text and tools while one is open leave its status as it is', () => {
    const { fold, events } = folded(frames(asks('q1'), chunk('more'), chunk({ tool: 'search' }, 'tool')));
    expect(states(events)).toEqual(['WORKING', 'INPUT_REQUIRED']);
    expect([shown(fold), fold.task().artifacts]).toMatchObject(['q1?', [{ parts: [{ text: 'more' }] }]]);
  });

  test('the history has the question and the answer of a person, and nothing from the server', () => {
    const roles = ({ fold }: { fold: TaskFold }) => fold.task().history?.map(({ role }) => role);
    expect(roles(folded(frames(asks('q1'), ends('q1'))))).toEqual(['ROLE_AGENT', 'ROLE_USER']);
    expect(roles(folded(frames(asks('q1'), ends('q1', null))))).toEqual(['ROLE_AGENT']);
  });
});

describe('the frames of a request as a task', () => {
  test('streamed text is one artifact, and its text is not repeated by the result', () => {
    const { fold, events } = folded(frames(chunk('Hello'), chunk(' world'), complete({ text: 'Hello world' })));
    expect(events.map((event) => Object.keys(event)[0])).toEqual([
      'statusUpdate',
      'artifactUpdate',
      'artifactUpdate',
      'artifactUpdate',
      'statusUpdate',
    ]);
    expect(fold.task()).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ artifactId: 't-answer', parts: [{ text: 'Hello world' }] }],
    });
  });

  test('a result that is longer than what was streamed adds the rest', () => {
    const { fold } = folded(frames(chunk('Hello'), complete({ text: 'Hello world' })));
    expect(fold.task().artifacts).toEqual([{ artifactId: 't-answer', parts: [{ text: 'Hello world' }] }]);
  });

  test('a result with another text is kept beside what was streamed', () => {
    const { fold } = folded(frames(chunk('Thinking about it.'), complete({ text: 'Forty-two.' })));
    expect(fold.task().artifacts?.map(({ parts }) => parts)).toEqual([
      [{ text: 'Thinking about it.' }],
      [{ text: 'Forty-two.' }],
    ]);
  });

  test('members of a result beyond its text are a data part', () => {
    const { fold } = folded(frames(complete({ content: 'Yes.', sources: ['a'] })));
    expect(fold.task().artifacts).toEqual([
      { artifactId: 't-answer', parts: [{ text: 'Yes.' }, { data: { sources: ['a'] } }] },
    ]);
  });

  test('files of a result are separate artifacts, with a URL or bytes', () => {
    const files = [
      { uri: 'https://files.example.com/a.pdf', name: 'a.pdf', mime_type: 'application/pdf' },
      { uri: 'data:text/plain;base64,aGk=', name: 'hi.txt' },
    ];
    const { fold } = folded(frames(complete({ text: 'Two files.', files })));
    expect(fold.task().artifacts).toEqual([
      { artifactId: 't-answer', parts: [{ text: 'Two files.' }] },
      {
        artifactId: 't-file-0',
        parts: [{ url: 'https://files.example.com/a.pdf', filename: 'a.pdf', mediaType: 'application/pdf' }],
      },
      { artifactId: 't-file-1', parts: [{ raw: 'aGk=', filename: 'hi.txt', mediaType: 'text/plain' }] },
    ]);
  });

  test('files of which one cannot be read stay data', () => {
    const files = [{ uri: 'https://files.example.com/a.pdf' }, { id: 'elsewhere' }];
    const { fold } = folded(frames(complete({ files })));
    expect(fold.task().artifacts).toEqual([{ artifactId: 't-answer', parts: [{ data: { files } }] }]);
  });

  test('text that an agent sends in the words of ACP is the answer', () => {
    const update = (sessionUpdate: string, more: JsonObject): Partial<E2AResponse> => ({
      response_kind: 'acp.session_update',
      body: { update: { sessionUpdate, ...more } },
    });
    const text = (words: string) => ({ content: { type: 'text', text: words } });
    const { fold, events } = folded(
      frames(
        update('agent_message_chunk', text('Hello ')),
        update('agent_thought_chunk', text('hm')),
        update('tool_call', { toolCallId: 'c1', title: 'Search' }),
        update('agent_message_chunk', text('world')),
        { response_kind: 'acp.prompt_result', is_final: true, status: 'succeeded', body: { stopReason: 'max_tokens' } },
      ),
    );
    expect(fold.task()).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ artifactId: 't-answer', parts: [{ text: 'Hello world' }] }],
      metadata: { stop_reason: 'max_tokens' },
    });
    expect(JSON.stringify(events)).not.toContain('hm');
    expect(JSON.stringify(events)).toContain('Search');
    const refused = { response_kind: 'acp.prompt_result', is_final: true, status: 'succeeded' } as const;
    expect(folded(frames({ ...refused, body: { stopReason: 'refusal' } })).fold.state).toBe('TASK_STATE_REJECTED');
  });

  test('A2A objects of an agent are merged, under the ids of this task', () => {
    const event = (branch: string, payload: JsonObject): Partial<E2AResponse> => ({
      response_kind: 'a2a.stream_event',
      body: { branch, payload },
    });
    const piece = (parts: JsonObject[], append: boolean) =>
      event('artifact_update', { task_id: 'theirs', artifact: { artifact_id: 'x', parts }, append });
    const { fold, events } = folded(
      frames(
        event('status_update', {
          task_id: 'theirs',
          status: { state: 'working', update: { parts: [{ text: 'busy' }] } },
        }),
        piece([{ text: 'Hel' }], false),
        piece([{ text: 'lo' }, { data: { rows: 1 } }], true),
        { response_kind: 'a2a.message', body: { role: 'agent', parts: [{ text: 'Also this.' }] } },
        {
          response_kind: 'a2a.task',
          is_final: true,
          status: 'succeeded',
          body: {
            id: 'theirs',
            status: { state: 'completed', message: { parts: [{ text: 'done' }] } },
            artifacts: [{ artifactId: 'x', parts: [{ text: 'Hello' }, { data: { rows: 1 } }] }],
          },
        },
      ),
    );
    expect(fold.task()).toMatchObject({
      id: 't',
      status: { state: 'TASK_STATE_COMPLETED', message: { parts: [{ text: 'done' }] } },
      artifacts: [
        { artifactId: 't-artifact-x', parts: [{ text: 'Hello' }, { data: { rows: 1 } }] },
        { artifactId: 't-answer', parts: [{ text: 'Also this.' }] },
      ],
    });
    expect(JSON.stringify(events)).not.toContain('theirs');
    expect(applied(events)).toEqual(texts(fold.task()));
  });

  test('a last frame that is a chunk gives its text', () => {
    const { fold } = folded(frames(chunk('Hello'), { ...chunk(' world'), is_final: true, status: 'succeeded' }));
    expect(fold.task()).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ artifactId: 't-answer', parts: [{ text: 'Hello world' }] }],
    });
  });

  test('an error is a failed task with the reason, and a cancelled request a canceled one', () => {
    const error = (code: string): Partial<E2AResponse> => ({
      response_kind: 'e2a.error',
      is_final: true,
      status: 'failed',
      body: { code, message: 'It broke.', details: { retryable: true } },
    });
    const { fold, events } = folded(frames(chunk('a'), error('AGENT.BROKEN')));
    expect(events.at(-1)).toMatchObject({
      statusUpdate: {
        status: {
          state: 'TASK_STATE_FAILED',
          message: { role: 'ROLE_AGENT', parts: [{ text: 'It broke.' }, { data: { retryable: true } }] },
        },
        metadata: { e2a_code: 'AGENT.BROKEN', retryable: true },
      },
    });
    expect(fold.state).toBe('TASK_STATE_FAILED');
    expect(folded(frames(error('E2A.CANCELLED'))).fold.state).toBe('TASK_STATE_CANCELED');
  });

  test('an agent that refuses has rejected the task', () => {
    expect(folded(frames(complete({ text: 'No.', stop_reason: 'refusal' }))).fold.state).toBe('TASK_STATE_REJECTED');
  });

  test('history is cut to the requested number of newest messages', () => {
    const message = { messageId: 'm', role: 'ROLE_USER' as const, parts: [{ text: 'hi' }] };
    const fold = new TaskFold({ ...options, message });
    expect(fold.task().history).toHaveLength(1);
    expect(fold.task({ historyLength: 0 }).history).toBeUndefined();
  });

  test('a client that applies the events has the same artifacts as the task that is stored', () => {
    const anyChunk = fc.oneof(
      fc.string().map((text) => chunk(text)),
      fc.string().map((text) => chunk(text, 'reasoning')),
      fc.constant(chunk({ tool: 'x', status: 'completed' }, 'tool')),
      fc.constant(chunk({ event: 'y' }, 'custom')),
    );
    const anyResult = fc.oneof(fc.string(), fc.record({ text: fc.string(), n: fc.integer() }));
    fc.assert(
      fc.property(fc.array(anyChunk), anyResult, (chunks, result) => {
        const { fold, events } = folded(frames(...chunks, complete(result)));
        expect(applied(events)).toEqual(texts(fold.task()));
      }),
    );
  });
});

/** What a client of A2A makes of the artifact events: the text and data of each artifact. */
function applied(events: readonly StreamEvent[]): Record<string, unknown> {
  const artifacts: Record<string, unknown[]> = {};
  for (const event of events) {
    if (!('artifactUpdate' in event)) continue;
    const { artifact, append } = event.artifactUpdate;
    const earlier = append ? (artifacts[artifact.artifactId] ?? expect.unreachable('appended to nothing')) : [];
    artifacts[artifact.artifactId] = [...earlier, ...artifact.parts];
  }
  return Object.fromEntries(Object.entries(artifacts).map(([id, parts]) => [id, inOne(parts as JsonObject[])]));
}

function texts({ artifacts = [] }: Task): Record<string, unknown> {
  return Object.fromEntries(artifacts.map(({ artifactId, parts }) => [artifactId, inOne(parts as JsonObject[])]));
}

function inOne(parts: readonly JsonObject[]) {
  return {
    text: parts.map(({ text = '' }) => text).join(''),
    data: parts.flatMap(({ data }) => (data === undefined ? [] : [data])),
  };
}
