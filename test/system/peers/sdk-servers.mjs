// Foreign A2A agents on the official JavaScript SDKs: 1.3.0 and 0.3.14. The first word of a message selects the behaviour.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { AGENT_CARD_PATH, Role, TaskState } from '@a2a-js/sdk';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import { DefaultRequestHandler as OldRequestHandler, InMemoryTaskStore as OldTaskStore } from '@a2a-js/sdk-0.3/server';
import {
  agentCardHandler as oldCardHandler,
  jsonRpcHandler as oldJsonRpcHandler,
  restHandler as oldRestHandler,
} from '@a2a-js/sdk-0.3/server/express';
import express from 'express';

/** What an agent does, in the words of both versions: `say` is what it publishes. */
async function* behave(text, { isFollowUp, stopped, authorized, parts }) {
  const [what, count = '0'] = text.split(' ');
  yield { state: 'WORKING' };
  if (isFollowUp) {
    yield { text: `You said ${text}` };
    return yield { state: 'COMPLETED' };
  }
  if (what === 'fail') return yield { state: 'FAILED', text: 'it failed' };
  if (what === 'ask') return yield { state: 'INPUT_REQUIRED', text: 'Which city?' };
  if (what === 'sign-in') {
    yield { state: 'AUTH_REQUIRED', text: 'Sign in first.' };
    await authorized;
    yield { state: 'WORKING' };
  }
  if (what === 'hold') {
    yield { text: 'begun' };
    await stopped;
    return;
  }
  if (what === 'parts') yield { data: { parts } };
  if (what === 'slow') {
    for (let index = 0; index < Number(count); index++) {
      yield { text: `${index} ` };
      await delay(20);
    }
    return yield { state: 'COMPLETED' };
  }
  yield { text: 'Hello' };
  yield { text: ' world' };
  yield { state: 'COMPLETED' };
}

/**
 * `cutAfter`: bytes after which a stream is cut, once. `GET /cancelled` returns how many tasks were cancelled, `GET /authorize` signs in
 * for all of them.
 */
async function start({ version, binding = 'JSONRPC', cutAfter }) {
  const app = express();
  const server = createServer(app);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}`;
  const stops = new Map();
  let isCut = cutAfter === undefined;
  const cutOnce = (response) => {
    if (isCut) return false;
    isCut = true;
    response.destroy();
    return true;
  };
  app.use((_request, response, next) => {
    if (!isCut) cutting(response, cutAfter, cutOnce);
    next();
  });
  const count = () => [...stops.values()].filter((stop) => stop.isOver).length;
  app.get('/cancelled', (_, response) => response.json(count()));
  const authorized = new Promise((resolve) => {
    app.get('/authorize', (_, response) => {
      resolve();
      response.json(true);
    });
  });
  const open = version === '1.0' ? openModern : openOld;
  open(app, { url, binding, stops, authorized });
  return url;
}

function cutting(response, bytes, cutOnce) {
  const write = response.write.bind(response);
  let sent = 0;
  response.write = (chunk, ...rest) => {
    sent += chunk.length;
    const isStream = String(response.getHeader('content-type')).includes('event-stream');
    return isStream && sent > bytes && cutOnce(response) ? false : write(chunk, ...rest);
  };
}

function openModern(app, { url, binding, stops, authorized }) {
  const card = {
    name: 'Modern',
    description: 'The SDK 1.3.0.',
    version: '1',
    supportedInterfaces: [
      { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' },
      { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', tenant: '' },
    ].filter((one) => one.protocolBinding === binding),
    capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [
      {
        id: 'greet',
        name: 'Greet',
        description: 'Says hello.',
        tags: ['hello'],
        examples: [],
        inputModes: [],
        outputModes: [],
        securityRequirements: [],
      },
    ],
    securitySchemes: {},
    securityRequirements: [],
    signatures: [],
  };
  const executor = {
    async execute({ userMessage, taskId, contextId, task }, bus) {
      const stop = stopOf(stops, taskId);
      const partsOf = (answer) => [
        {
          content:
            answer.text === undefined ? { $case: 'data', value: answer.data } : { $case: 'text', value: answer.text },
          filename: '',
          mediaType: '',
          metadata: undefined,
        },
      ];
      const statusOf = ({ state, text }) => ({
        state: TaskState[`TASK_STATE_${state}`],
        timestamp: new Date().toISOString(),
        message:
          text === undefined
            ? undefined
            : {
                messageId: `m-${Math.random()}`,
                contextId,
                taskId,
                role: Role.ROLE_AGENT,
                parts: partsOf({ text }),
                metadata: undefined,
                extensions: [],
                referenceTaskIds: [],
              },
      });
      bus.publish(
        AgentEvent.task(
          task ?? {
            id: taskId,
            contextId,
            status: statusOf({ state: 'SUBMITTED' }),
            artifacts: [],
            history: [userMessage],
            metadata: undefined,
          },
        ),
      );
      let append = false;
      const text = userMessage.parts.map((part) => (part.content?.$case === 'text' ? part.content.value : '')).join('');
      for await (const answer of behave(text, {
        isFollowUp: task !== undefined,
        stopped: stop,
        authorized,
        parts: userMessage.parts,
      })) {
        if (answer.state !== undefined)
          bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: statusOf(answer), metadata: undefined }));
        else {
          const artifact = {
            artifactId: 'answer',
            name: '',
            description: '',
            parts: partsOf(answer),
            metadata: undefined,
            extensions: [],
          };
          bus.publish(
            AgentEvent.artifactUpdate({ taskId, contextId, artifact, append, lastChunk: false, metadata: undefined }),
          );
          append = true;
        }
      }
      bus.finished();
    },
    async cancelTask(taskId, bus) {
      stops.get(taskId)?.resolve();
      bus.publish(
        AgentEvent.statusUpdate({
          taskId,
          contextId: 'c',
          status: { state: TaskState.TASK_STATE_CANCELED, timestamp: new Date().toISOString(), message: undefined },
          metadata: undefined,
        }),
      );
      bus.finished();
    },
  };
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
  const { noAuthentication: userBuilder } = UserBuilder;
  app.use(`/${AGENT_CARD_PATH}`, agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder }));
  app.use('/rest', restHandler({ requestHandler, userBuilder }));
}

function openOld(app, { url, binding, stops, authorized }) {
  const card = {
    name: 'Old',
    description: 'The SDK 0.3.14.',
    version: '1',
    protocolVersion: '0.3.0',
    url: binding === 'JSONRPC' ? `${url}/rpc` : `${url}/rest`,
    preferredTransport: binding,
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'greet', name: 'Greet', description: 'Says hello.', tags: ['hello'] }],
  };
  const executor = {
    async execute({ userMessage, taskId, contextId, task }, bus) {
      const stop = stopOf(stops, taskId);
      const partsOf = (answer) => [
        answer.text === undefined ? { kind: 'data', data: answer.data } : { kind: 'text', text: answer.text },
      ];
      const statusOf = ({ state, text }) => ({
        state: state.toLowerCase().replace('_', '-'),
        timestamp: new Date().toISOString(),
        ...(text !== undefined && {
          message: {
            kind: 'message',
            messageId: `m-${Math.random()}`,
            contextId,
            taskId,
            role: 'agent',
            parts: partsOf({ text }),
          },
        }),
      });
      if (task === undefined)
        bus.publish({
          kind: 'task',
          id: taskId,
          contextId,
          status: statusOf({ state: 'SUBMITTED' }),
          history: [userMessage],
        });
      let append = false;
      const text = userMessage.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
      for await (const answer of behave(text, {
        isFollowUp: task !== undefined,
        stopped: stop,
        authorized,
        parts: userMessage.parts,
      })) {
        if (answer.state !== undefined) {
          const final = !['WORKING', 'SUBMITTED', 'AUTH_REQUIRED'].includes(answer.state);
          bus.publish({ kind: 'status-update', taskId, contextId, status: statusOf(answer), final });
        } else {
          bus.publish({
            kind: 'artifact-update',
            taskId,
            contextId,
            artifact: { artifactId: 'answer', parts: partsOf(answer) },
            append,
            lastChunk: false,
          });
          append = true;
        }
      }
      bus.finished();
    },
    async cancelTask(taskId, bus) {
      stops.get(taskId)?.resolve();
      bus.publish({
        kind: 'status-update',
        taskId,
        contextId: 'c',
        status: { state: 'canceled', timestamp: new Date().toISOString() },
        final: true,
      });
      bus.finished();
    },
  };
  const requestHandler = new OldRequestHandler(card, new OldTaskStore(), executor);
  const { noAuthentication: userBuilder } = UserBuilder;
  app.use('/.well-known/agent-card.json', oldCardHandler({ agentCardProvider: requestHandler }));
  app.use('/rpc', oldJsonRpcHandler({ requestHandler, userBuilder }));
  app.use('/rest', oldRestHandler({ requestHandler, userBuilder }));
}

/** Settles when the task is cancelled. */
function stopOf(stops, taskId) {
  const stop = { isOver: false, resolve: () => {} };
  const promise = new Promise((resolve) => {
    stop.resolve = () => {
      stop.isOver = true;
      resolve();
    };
  });
  stops.set(taskId, stop);
  return promise;
}

const urls = await Promise.all(JSON.parse(process.argv[2] ?? '[]').map(start));
process.stdout.write(`${JSON.stringify(urls)}\n`);
// The process that started it is gone.
process.stdin.on('end', () => process.exit(0)).resume();
