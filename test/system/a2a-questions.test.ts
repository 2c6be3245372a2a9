import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { CARD, heading, request, type SigningCaller, serverKeyOf, signed, signingCaller } from './a2a-peer.ts';
import { call } from './call.ts';
import { agentModule, System } from './system.ts';

const agents = {
  asker: { driver: 'module' as const, module: agentModule('asker') },
  echo: { driver: 'module' as const, module: agentModule('echo') },
};
const far = await System.start({
  config: { agents: { ...agents, 'far-asker': agents.asker }, messages: { require_signatures: true } },
});
afterAll(() => far[Symbol.asyncDispose]());
const near = await System.start({
  config: {
    agents: { echo: agents.echo, asker: agents.asker },
    messages: { port: 0, agent_id: 'near-server' },
    gate: { callbacks: [far.host] },
  },
});
afterAll(() => near[Symbol.asyncDispose]());
const ada = await near.caller('ada-agent');
const eve = await near.caller('eve-agent');
const _signer = await signingCaller(near, 'signing-agent');

interface Message extends JsonObject {
  message_id: string;
  message_type: string;
  correlation_id: string;
  payload: JsonObject & { parameters: JsonObject & { question: JsonObject }; data: JsonObject; error: JsonObject };
}

const toAsker = (parameters: JsonObject = {}) =>
  ({ ...request(parameters), recipient_id: 'asker' }) as unknown as Message;
const respond = (to: Message, data: JsonObject, fields: JsonObject = {}) => ({
  ...heading('response'),
  recipient_id: String(to['sender_id']),
  correlation_id: to.message_id,
  payload: { status: 'success', data },
  ...fields,
});

async function post(json: JsonObject, key = ada.api_key) {
  const answer = await call(near.url, { method: 'POST', path: '/a2a/messages', json, key });
  const text = await answer.text();
  return (text === '' ? {} : JSON.parse(text)) as Message;
}

describe('a question over HTTP', () => {
  test('is the answer to the request, and the response to it is answered by the next message', async () => {
    const posted = toAsker();
    const question = await post(posted);
    expect(question).toMatchObject({
      message_type: 'request',
      sender_id: 'asker',
      recipient_id: 'ada-agent',
      correlation_id: null,
      auth: { agent_id: 'asker' },
      payload: {
        method: 'answer_question',
        parameters: {
          request_id: posted.message_id,
          question: { title: 'May I?' },
          text: expect.stringContaining('May I?'),
        },
      },
    });
    // The same request again while it is open gets the same question.
    expect((await post(posted)).message_id).toBe(question.message_id);
    const wrong = await post(respond(question, { text: 'maybe' }));
    expect(wrong).toMatchObject({ message_type: 'error', payload: { error: { code: 'VALIDATION_FAILED' } } });
    expect(wrong.payload.error['message']).toContain('Answer with one of: allow, reject.');
    const response = respond(question, { option_id: 'allow' });
    const end = await post(response);
    expect(end).toMatchObject({
      message_type: 'response',
      correlation_id: posted.message_id,
      payload: {
        status: 'success',
        data: { answer: { option_id: 'allow', by: 'ada-agent', channel: 'a2a-messages' } },
      },
    });
    expect(await post(response)).toMatchObject({ correlation_id: posted.message_id, payload: end.payload });
    expect(await post(respond(question, { option_id: 'reject' }))).toMatchObject({ code: 'not_found' });
  });

  test('is declined by an error, and can be answered by no other caller', async () => {
    const question = await post(toAsker());
    const foreign = respond(question, { option_id: 'allow' }, { sender_id: 'eve-agent' });
    expect(await post(foreign, eve.api_key)).toMatchObject({ code: 'not_found' });
    const error = { code: 'AGENT_ERROR', message: 'Nobody is here.' };
    const declined = await post({ ...respond(question, {}), message_type: 'error', payload: { error } });
    expect(declined.payload.data).toMatchObject({ answer: { action: 'decline' } });
  });

  test('of an agent behind another server reaches the caller here, and its answer goes there', async () => {
    await far.caller('near-server', {
      permissions: { agents: ['far-asker'] },
      public_key: await serverKeyOf(near, ada.api_key),
    });
    await register({ agent_id: 'far-asker', endpoint: `${far.url}/a2a/messages`, key: ada.api_key });
    const posted = { ...toAsker(), recipient_id: 'far-asker' };
    const question = await post(posted);
    expect(question).toMatchObject({ message_type: 'request', sender_id: 'far-asker', recipient_id: 'ada-agent' });
    const end = await post(respond(question, { option_id: 'reject' }));
    expect(end).toMatchObject({
      correlation_id: posted.message_id,
      payload: { data: { answer: { option_id: 'reject', by: 'near-server' } } },
    });
  });
});

async function register({ agent_id, endpoint, key }: { agent_id: string; endpoint: string; key: string }) {
  const json = { agent_card: { ...CARD, agent_id }, endpoint };
  const answer = await call(near.url, { method: 'POST', path: '/agents/register', key, json });
  expect(answer.status).toBe(201);
  return answer;
}

/** A connection of some agent, over whichever transport. */
class Peer {
  readonly received: Message[] = [];
  readonly #send: (text: string) => void;
  readonly close: () => void;

  private constructor(send: (text: string) => void, close: () => void) {
    this.#send = send;
    this.close = close;
  }

  static async socket(key: string): Promise<Peer> {
    const socket = new WebSocket(`${near.url.replace('http', 'ws')}/a2a/messages/ws`, {
      headers: { authorization: `Bearer ${key}` },
    });
    await once(socket, 'open');
    const peer = new Peer(
      (text) => socket.send(text),
      () => socket.terminate(),
    );
    socket.on('message', (data) => peer.received.push(JSON.parse(data.toString())));
    return peer;
  }

  static async lines(): Promise<Peer> {
    const { hostname, port } = new URL(near.messagesUrl);
    const socket: Socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    const peer = new Peer(
      (text) => socket.write(`${text}\n`),
      () => socket.destroy(),
    );
    createInterface({ input: socket }).on('line', (line) => peer.received.push(JSON.parse(line)));
    return peer;
  }

  send(message: JsonObject): void {
    this.#send(JSON.stringify(message));
  }

  async next(number: number): Promise<Message> {
    await expect.poll(() => this.received.length).toBeGreaterThanOrEqual(number);
    return this.received[number - 1] as Message;
  }
}

describe('a question over a connection', () => {
  test('is sent in between; its response is only acknowledged, and the answer follows', async () => {
    const peer = await Peer.socket(ada.api_key);
    const posted = toAsker();
    peer.send(posted);
    const question = await peer.next(1);
    expect(question).toMatchObject({ message_type: 'request', payload: { method: 'answer_question' } });
    peer.send(respond(question, { text: 'Allow' }));
    expect(await peer.next(2)).toMatchObject({ correlation_id: posted.message_id, payload: { status: 'success' } });
    peer.close();
  });
});

describe('an agent that is registered with the endpoint "connection:"', () => {
  const answering = (key: SigningCaller | undefined, posted: Message, data: JsonObject) => {
    const message = { ...respond(posted, data), recipient_id: 'near-server' };
    return key === undefined
      ? { ...message, sender_id: 'dial-socket' }
      : signed(key, { ...message, sender_id: key.agentId });
  };

  test.each(['WebSocket', 'TCP'])('arrives over the %s connection that it opened', async (transport) => {
    const agentId = transport === 'TCP' ? 'dial-lines' : 'dial-socket';
    const keys = await signingCaller(near, agentId);
    await register({ agent_id: agentId, endpoint: 'connection:', key: keys.api_key });
    const peer = transport === 'TCP' ? await Peer.lines() : await Peer.socket(keys.api_key);
    if (transport === 'TCP') {
      peer.send(signed(keys, { ...heading('discover_agents'), recipient_id: 'registry', payload: {} }));
      await peer.next(1);
    }
    const before = peer.received.length;
    const answer = post({ ...request({ content: 'over there' }), recipient_id: agentId });
    const posted = await peer.next(before + 1);
    expect(posted).toMatchObject({
      message_type: 'request',
      sender_id: 'near-server',
      recipient_id: agentId,
      auth: { agent_id: 'near-server' },
      payload: { parameters: { content: 'over there', on_behalf_of: { agent_id: 'ada-agent', proven: true } } },
    });
    peer.send(answering(transport === 'TCP' ? keys : undefined, posted, { echo: 'back' }));
    expect((await answer).payload.data).toEqual({ echo: 'back' });
    // Through E2A as well, and it may ask a person in between.
    const envelope = {
      request_id: `r-${agentId}`,
      agent_ref: { id: agentId },
      method: 'chat.send',
      params: { content: 'x' },
    };
    const run = call(near.url, { method: 'POST', path: '/e2a', key: ada.api_key, json: envelope });
    const second = await peer.next(before + 2);
    const question = { question_id: 'mine', kind: 'permission', title: 'Sure?', asked_at: '', expires_at: '' };
    const parameters = { request_id: second.message_id, question };
    const asking = {
      ...heading('request'),
      recipient_id: 'near-server',
      payload: { method: 'answer_question', parameters },
    };
    peer.send(transport === 'TCP' ? signed(keys, asking) : { ...asking, sender_id: agentId });
    await expect.poll(openQuestion).toBeDefined();
    const path = `/e2a/requests/r-${agentId}/questions/${(await openQuestion())?.['question_id']}`;
    await call(near.url, { method: 'POST', path, key: ada.api_key, json: { option_id: 'allow' } });
    const reply = await peer.next(before + 3);
    expect(reply).toMatchObject({
      message_type: 'response',
      correlation_id: (asking as JsonObject)['message_id'],
      payload: { data: { option_id: 'allow' } },
    });
    peer.send(answering(transport === 'TCP' ? keys : undefined, second, { done: true }));
    expect(await (await run).json()).toMatchObject({ body: { result: { done: true } } });
    peer.close();
  });

  test('is not called without permission, fails clearly when it is away, and its mail waits', async () => {
    const { api_key } = await near.caller('dial-later');
    await register({ agent_id: 'dial-later', endpoint: 'connection:', key: api_key });
    const away = await post({ ...request({}), recipient_id: 'dial-later' });
    expect(JSON.stringify(away.payload)).toContain('The agent is not connected.');
    const shy = await near.caller('shy-agent', { permissions: { agents: [] } });
    const refused = await post({ ...request({}), sender_id: 'shy-agent', recipient_id: 'dial-later' }, shy.api_key);
    expect(refused.payload.error).toMatchObject({ code: 'FORBIDDEN' });
    const mail = {
      from: 'ada',
      to: 'dial-later',
      message: 'wait for me',
      metadata: { messageId: 'held-1', threadId: 'held' },
    };
    const sent = call(near.url, { method: 'POST', path: '/a2a', key: ada.api_key, json: mail });
    const peer = await Peer.socket(api_key);
    const posted = await peer.next(1);
    expect(posted.payload.parameters).toMatchObject({ content: 'wait for me' });
    peer.send({ ...respond(posted, { here: 'now' }), sender_id: 'dial-later', recipient_id: 'near-server' });
    expect(await (await sent).json()).toMatchObject({ message: { content: { here: 'now' } } });
    // Lost in the middle.
    const lost = post({ ...request({}), recipient_id: 'dial-later' });
    await peer.next(2);
    peer.close();
    expect(JSON.stringify((await lost).payload)).toContain(
      'The connection to the agent was lost before it had answered.',
    );
  });
});

async function openQuestion(): Promise<JsonObject | undefined> {
  const listed = await call(near.url, { path: '/e2a/questions', key: ada.api_key });
  return ((await listed.json()) as { questions: JsonObject[] }).questions.find(({ title }) => title === 'Sure?');
}
