import { randomUUID } from 'node:crypto';
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { TaskNotCancelableError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import type { Part } from '@a2a-js/sdk-0.3';
import {
  A2AClient,
  DefaultAgentCardResolver as OldCardResolver,
  ClientFactory as OldClientFactory,
  JsonRpcTransportFactory as OldJsonRpcTransportFactory,
  RestTransportFactory as OldRestTransportFactory,
  TaskNotFoundError as OldTaskNotFoundError,
} from '@a2a-js/sdk-0.3/client';
import { afterAll, describe, expect, test } from 'vitest';
import { call } from './call.ts';
import { moduleAgent, System } from './system.ts';

const system = await System.start({
  config: {
    default_agent: 'worker',
    agents: { worker: { ...moduleAgent('worker'), skills: ['work'] }, hidden: moduleAgent('echo') },
  },
});
afterAll(() => system[Symbol.asyncDispose]());
const { api_key: key } = await system.caller('ada-agent', { permissions: { agents: ['*'] } });
const { api_key: otherKey } = await system.caller('bob-agent', { permissions: { agents: ['worker'] } });

/** As an SDK wants it: with the key on every request. */
const fetchImpl: typeof fetch = (input, options = {}) => {
  const headers = new Headers(options.headers);
  headers.set('authorization', `Bearer ${key}`);
  return fetch(input, { ...options, headers });
};

/** The same, over connections that are cut when a stream has sent this. */
function cutAfter(words: string): typeof fetch {
  return async (input, options) => {
    const response = await fetchImpl(input, options);
    if (response.body === null || !response.headers.get('content-type')?.startsWith('text/event-stream'))
      return response;
    async function* beginning(body: ReadableStream<Uint8Array>) {
      for await (const chunk of body) {
        yield chunk;
        if (Buffer.from(chunk).includes(words)) throw new Error('the connection was cut');
      }
    }
    return new Response(ReadableStream.from(beginning(response.body)), response);
  };
}

/** Reads until the connection is cut. */
async function untilCut<Event>(stream: AsyncIterable<Event>): Promise<Event[]> {
  const events: Event[] = [];
  const reading = (async () => {
    for await (const event of stream) events.push(event);
  })();
  await expect(reading).rejects.toThrow();
  return events;
}

describe('the official JavaScript SDK 1.3.0', () => {
  const transports = { JSONRPC: JsonRpcTransportFactory, 'HTTP+JSON': RestTransportFactory };

  describe.each(Object.entries(transports))('over %s', (_, Transport) => {
    const client = (fetchFrom = fetchImpl) => {
      const cardResolver = new DefaultAgentCardResolver({ fetchImpl });
      const transports = [new Transport({ fetchImpl: fetchFrom })];
      return new ClientFactory({ transports, cardResolver }).createFromUrl(system.url);
    };
    const message = (text: string) => ({
      tenant: '',
      configuration: undefined,
      metadata: undefined,
      message: {
        messageId: randomUUID(),
        contextId: '',
        taskId: '',
        role: 1,
        parts: [{ content: { $case: 'text' as const, value: text }, filename: '', mediaType: '', metadata: undefined }],
        metadata: undefined,
        extensions: [],
        referenceTaskIds: [],
      },
    });

    test('sends a message and gets the task with its answer', async () => {
      const task = await (await client()).sendMessage(message('work'));
      expect(JSON.stringify(task)).toContain('Hello world');
    });

    test('streams a task: first the task, then its text, then that it is complete', async () => {
      const kinds: string[] = [];
      for await (const event of (await client()).sendMessageStream(message('work')))
        kinds.push(event.payload?.$case ?? '');
      expect(kinds[0]).toBe('task');
      expect(kinds.at(-1)).toBe('statusUpdate');
      expect(kinds).toContain('artifactUpdate');
    });

    test('lists its tasks, the newest first', async () => {
      const a2a = await client();
      const contextId = randomUUID();
      const sent: string[] = [];
      for (const text of ['work', 'fail']) {
        const request = message(text);
        const task = await a2a.sendMessage({ ...request, message: { ...request.message, contextId } });
        sent.push('id' in task ? task.id : '');
      }
      const page = await a2a.listTasks({
        tenant: '',
        contextId,
        status: 0,
        pageToken: '',
        statusTimestampAfter: undefined,
      });
      expect(page.tasks.map(({ id }) => id)).toEqual(sent.reverse());
      expect([page.totalSize, page.nextPageToken, page.tasks[1]?.artifacts]).toEqual([2, '', []]);
    });

    test('reads a task again, and cancels one that runs', async () => {
      const a2a = await client();
      let taskId = '';
      for await (const event of a2a.sendMessageStream(message('hold'))) {
        if (event.payload?.$case === 'task') taskId = event.payload.value.id;
        if (event.payload?.$case !== 'artifactUpdate') continue;
        const cancelled = await a2a.cancelTask({ tenant: '', id: taskId, metadata: undefined });
        // 5 is TASK_STATE_CANCELED.
        expect(cancelled.status?.state).toBe(5);
      }
      const task = await a2a.getTask({ tenant: '', id: taskId, historyLength: undefined });
      expect(task.status?.state).toBe(5);
    });

    test('follows a task after its stream was cut, and gets every word once', async () => {
      const events = await untilCut((await client(cutAfter('Hello'))).sendMessageStream(message('wait')));
      const [first] = events.flatMap(({ payload }) => (payload?.$case === 'task' ? [payload.value] : []));
      const a2a = await client();
      const texts: string[] = [];
      const addText = (parts: readonly { readonly content?: { readonly value: unknown } | undefined }[] = []) =>
        texts.push(...parts.map(({ content }) => String(content?.value)));
      for await (const { payload } of a2a.resubscribeTask({ tenant: '', id: first?.id ?? '' })) {
        if (payload?.$case === 'artifactUpdate') addText(payload.value.artifact?.parts);
        if (payload?.$case !== 'task') continue;
        for (const { parts } of payload.value.artifacts) addText(parts);
        await a2a.sendMessage(message('go'));
      }
      expect(texts.join('')).toBe('Hello world');
    });

    test('gets the extended card', async () => {
      const requests: string[] = [];
      const a2a = await client((input, options) => {
        requests.push(`${String(input)} ${String(options?.body)}`);
        return fetchImpl(input, options);
      });
      const { skills } = await a2a.getAgentCard();
      expect(requests).toEqual([expect.stringMatching(/extendedAgentCard|GetExtendedAgentCard/)]);
      expect(skills.map(({ id }) => id)).toEqual(['work']);
    });

    test('gets the errors of an unknown task and of one that has ended as their classes', async () => {
      const a2a = await client();
      const unknown = a2a.getTask({ tenant: '', id: 'task-unknown', historyLength: undefined });
      await expect(unknown).rejects.toThrow(TaskNotFoundError);
      const task = await a2a.sendMessage(message('work'));
      const ended = a2a.cancelTask({ tenant: '', id: 'id' in task ? task.id : '', metadata: undefined });
      await expect(ended).rejects.toThrow(TaskNotCancelableError);
    });
  });
});

describe.each([
  ['JSONRPC', OldJsonRpcTransportFactory],
  ['HTTP+JSON', OldRestTransportFactory],
])('the official JavaScript SDK 0.3.14 over %s', (_, Transport) => {
  const client = (fetchFrom = fetchImpl) => {
    const transports = [new Transport({ fetchImpl: fetchFrom })];
    const cardResolver = new OldCardResolver({ fetchImpl });
    return new OldClientFactory({ transports, cardResolver }).createFromUrl(system.url);
  };
  const message = (parts: Part[]) => ({
    message: { kind: 'message' as const, messageId: randomUUID(), role: 'user' as const, parts },
  });
  const work: Part[] = [{ kind: 'text', text: 'work' }];

  test('sends a message and gets the task with its answer', async () => {
    const task = await (await client()).sendMessage(message(work));
    expect(task).toMatchObject({ kind: 'task', status: { state: 'completed' } });
    expect(JSON.stringify(task)).toContain('Hello world');
  });

  test('streams a task to its final status', async () => {
    const events = [];
    for await (const event of (await client()).sendMessageStream(message(work))) events.push(event);
    expect(events[0]).toMatchObject({ kind: 'task', status: { state: 'submitted' } });
    expect(events.at(-1)).toMatchObject({ kind: 'status-update', final: true, status: { state: 'completed' } });
    expect(events.map((event) => event.kind)).toContain('artifact-update');
  });

  test('reads, follows and cancels a task, and sends files and data', async () => {
    const a2a = await client();
    const parts: Part[] = [
      { kind: 'text', text: 'hold' },
      { kind: 'file', file: { bytes: 'aGk=', mimeType: 'text/plain' } },
      { kind: 'file', file: { uri: 'https://files.example.com/a' } },
      { kind: 'data', data: { rows: 3 } },
    ];
    const stream = a2a.sendMessageStream(message(parts));
    const { id } = (await stream.next()).value as { id: string };
    const followed: unknown[] = [];
    for await (const event of a2a.resubscribeTask({ id })) {
      followed.push(event.kind === 'task' ? event.history?.[0]?.parts : event.kind);
      if (followed.length === 1) await a2a.cancelTask({ id });
    }
    expect(followed[0]).toMatchObject(parts);
    expect(followed.at(-1)).toBe('status-update');
    expect(await a2a.getTask({ id })).toMatchObject({ status: { state: 'canceled' } });
  });

  test('follows a task after its stream was cut, and gets every word once', async () => {
    const wait: Part[] = [{ kind: 'text', text: 'wait' }];
    const events = await untilCut((await client(cutAfter('Hello'))).sendMessageStream(message(wait)));
    const [first] = events.filter((event) => event.kind === 'task');
    const a2a = await client();
    const texts: string[] = [];
    const addText = (parts: readonly Part[]) => texts.push(...parts.map((part) => ('text' in part ? part.text : '')));
    for await (const event of a2a.resubscribeTask({ id: first?.id ?? '' })) {
      if (event.kind === 'artifact-update') addText(event.artifact.parts);
      if (event.kind !== 'task') continue;
      for (const { parts } of event.artifacts ?? []) addText(parts);
      await a2a.sendMessage(message([{ kind: 'text', text: 'go' }]));
    }
    expect(texts.join('')).toBe('Hello world');
  });

  test('gets the extended card', async () => {
    const requests: string[] = [];
    const a2a = await client((input, options) => {
      requests.push(`${String(input)} ${String(options?.body)}`);
      return fetchImpl(input, options);
    });
    const { skills } = await a2a.getAgentCard();
    expect(requests).toEqual([expect.stringMatching(/v1\/card|agent\/getAuthenticatedExtendedCard/)]);
    expect(skills.map(({ id }) => id)).toEqual(['work']);
  });

  test('gets the error of a task that is not there as its class', async () => {
    await expect((await client()).getTask({ id: 'task-unknown' })).rejects.toThrow(OldTaskNotFoundError);
  });
});

describe('the official JavaScript SDK 0.3.14', () => {
  const client = () => A2AClient.fromCardUrl(`${system.url}/.well-known/agent-card.json`, { fetchImpl });
  const message = (text: string) => ({
    message: {
      kind: 'message' as const,
      messageId: randomUUID(),
      role: 'user' as const,
      parts: [{ kind: 'text' as const, text }],
    },
  });

  test('sends a message and gets the task with its answer', async () => {
    const answer = await (await client()).sendMessage(message('work'));
    expect(answer).toMatchObject({ result: { kind: 'task', status: { state: 'completed' } } });
    expect(JSON.stringify(answer)).toContain('Hello world');
  });

  test('streams a task to its final status', async () => {
    const events = [];
    for await (const event of (await client()).sendMessageStream(message('work'))) events.push(event);
    expect(events[0]).toMatchObject({ kind: 'task', status: { state: 'submitted' } });
    expect(events.at(-1)).toMatchObject({ kind: 'status-update', final: true, status: { state: 'completed' } });
  });
});

const AGENT = '/lf-a2a/agents/worker';
const send = (path: string, text: string, messageId: string = randomUUID(), by = key) =>
  call(system.url, {
    method: 'POST',
    path,
    key: by,
    json: { message: { messageId, role: 'ROLE_USER', parts: [{ text }] } },
  });
const rpc = async (body: object, headers: Record<string, string> = {}) => {
  const answer = await call(system.url, {
    method: 'POST',
    path: AGENT,
    key,
    json: { jsonrpc: '2.0', id: 7, ...body },
    headers,
  });
  return { status: answer.status, json: (await answer.json()) as { error?: { code: number; data?: unknown[] } } };
};

describe('tasks', () => {
  test('the same message again is the same task; another one under its id is refused', async () => {
    const id = randomUUID();
    const first = await (await send(`${AGENT}/message:send`, 'work', id)).json();
    expect(await (await send(`${AGENT}/message:send`, 'work', id)).json()).toEqual(first);
    const other = await send(`${AGENT}/message:send`, 'fail', id);
    expect([other.status, await other.json()]).toMatchObject([400, { error: { status: 'INVALID_ARGUMENT' } }]);
  });

  test('another caller sees no task, exactly as if there were none', async () => {
    const { task } = (await (await send(`${AGENT}/message:send`, 'work')).json()) as { task: { id: string } };
    const answerTo = async (id: string) => {
      const answer = await call(system.url, { path: `${AGENT}/tasks/${id}`, key: otherKey });
      return [answer.status, (await answer.text()).replaceAll(id, 'ID')];
    };
    expect(await answerTo(task.id)).toEqual(await answerTo('task-unknown'));
  });

  test('a message to a task that has ended is refused', async () => {
    const { task } = (await (await send(`${AGENT}/message:send`, 'work')).json()) as { task: { id: string } };
    const message = { messageId: randomUUID(), taskId: task.id, role: 'ROLE_USER', parts: [{ text: 'more' }] };
    expect((await rpc({ method: 'SendMessage', params: { message } })).json.error?.code).toBe(-32004);
    expect((await rpc({ method: 'CancelTask', params: { id: task.id } })).json.error?.code).toBe(-32002);
    expect((await rpc({ method: 'SubscribeToTask', params: { id: task.id } })).json.error?.code).toBe(-32004);
  });

  test.each([
    [{ method: 'SendMessage', params: {} }, {}, -32602],
    [{ method: 'Unknown' }, {}, -32601],
    [{ method: 5 }, {}, -32600],
    [{ method: 'GetTask', params: { id: 'task-unknown' } }, {}, -32001],
    [{ method: 'GetTask', params: { id: 'x' } }, { 'a2a-version': '9.9' }, -32009],
    [{ method: 'CreateTaskPushNotificationConfig', params: {} }, {}, -32602],
  ])('%j with %j is error %i, with a reason', async (body, headers, code) => {
    const { json } = await rpc(body, headers);
    expect(json.error?.code).toBe(code);
    expect(json.error?.data).toContainEqual(expect.objectContaining({ domain: 'a2a-protocol.org' }));
  });

  test('the card of an agent needs a key unless the operator shows it', async () => {
    const card = (id: string, by?: string) =>
      call(system.url, {
        path: `/lf-a2a/agents/${id}/.well-known/agent-card.json`,
        ...(by !== undefined && { key: by }),
      });
    expect((await card('worker')).status).toBe(200);
    expect((await card('hidden')).status).toBe(401);
    expect((await card('hidden', key)).status).toBe(200);
    expect((await card('hidden', otherKey)).status).toBe(404);
  });

  test('kill -9 in the middle of a stream: a client resumes with its last event and gets exactly the rest', async () => {
    const answer = await send(`${AGENT}/message:stream`, 'hold');
    const seen: { id: string; data: string }[] = [];
    let taskId = '';
    try {
      for await (const event of answer.events()) {
        seen.push(event);
        const json = JSON.parse(event.data);
        taskId ||= json.task?.id ?? '';
        if (json.artifactUpdate !== undefined) await system.kill();
      }
    } catch {
      // The connection broke with the server.
    }
    await system.start();
    const follow = async (lastEventId: string) => {
      const headers = { 'last-event-id': lastEventId };
      const resumed = await call(system.url, { path: `${AGENT}/tasks/${taskId}:subscribe`, key, headers });
      const events = [];
      for await (const event of resumed.events()) events.push(event);
      return events;
    };
    const rest = await follow(seen.at(-1)?.id ?? '');
    expect(rest.map(({ data }) => JSON.parse(data).statusUpdate?.status.state)).toEqual(['TASK_STATE_FAILED']);
    expect([...seen.slice(1), ...rest]).toEqual(await follow('task'));
  });
});
