// The same agent on the official SDK with Express, which keeps its tasks in memory.
import { DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';

const executor = {
  async execute(context, bus) {
    const { taskId, contextId, userMessage } = context;
    const [part] = userMessage.parts;
    const frames = Number(/^frames (\d+)$/.exec(part?.content?.value ?? '')?.[1] ?? 0);
    const timestamp = new Date().toISOString();
    const task = { id: taskId, contextId, status: { state: 1, timestamp }, artifacts: [], history: [userMessage] };
    bus.publish(wrap('task', task));
    const chunk = (text, append, lastChunk) =>
      bus.publish(
        wrap('artifactUpdate', {
          taskId,
          contextId,
          artifact: { artifactId: 'answer', parts: [textPart(text)], extensions: [] },
          append,
          lastChunk,
        }),
      );
    for (let count = 0; count < frames; count++) chunk('word ', count > 0, false);
    chunk('hello my world', frames > 0, true);
    bus.publish(wrap('statusUpdate', { taskId, contextId, status: { state: 3, timestamp } }));
    bus.finished();
  },
  async cancelTask() {},
};
const wrap = (kind, data) => ({ kind, data });
const textPart = (value) => ({ content: { $case: 'text', value }, filename: '', mediaType: '', metadata: undefined });

const card = {
  name: 'bench',
  description: 'bench',
  version: '1',
  supportedInterfaces: [{ url: 'http://127.0.0.1', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
  capabilities: { streaming: true, pushNotifications: false, extensions: [] },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
  securitySchemes: {},
  securityRequirements: [],
  signatures: [],
};
const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
const app = express();
app.use('/', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
const server = app.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit(0));
