import type { Conversation, MessageAnswer, Messages, Principal } from '@dragoman/core';
import { FAILURES, type Failure, SCHEMA_BASE } from '@dragoman/protocols';
import {
  type A2AMessage,
  a2aMessagesDialect,
  ERROR_CODES,
  type ErrorRow,
  MAX_MESSAGE_BYTES,
} from '@dragoman/protocols/a2a-messages';
import { addressGroup } from '../edges/address.ts';
import {
  answerText,
  type MessageEndpointOptions,
  MOST_ANSWERS,
  MOST_UNANSWERED_BYTES,
} from '../edges/message-lines.ts';
import type { Answer, BodyProof, InboundRequest, Route, SocketRoute } from '../http/route.ts';
import { idempotencyKeyOf } from './inbound-fields.ts';
import { IDEMPOTENCY_KEY } from './route-parameters.ts';

/** A2A messages over HTTP: each request is a message, its response is the answer, and no session outlives it. */
export function messageRoutes(messages: Messages, proof: BodyProof): Route[] {
  return [
    {
      method: 'POST',
      path: '/a2a/messages',
      // Without a key, a signature identifies the caller. A message without either is refused by `messages`.
      access: 'open',
      isSigned: true,
      counts: true,
      summary: 'Send an A2A message of any type; the answer is a signed message.',
      body: {
        contentTypes: ['application/json'],
        maxBytes: MAX_MESSAGE_BYTES,
        proof,
        schema: A_MESSAGE,
      },
      parameters: [IDEMPOTENCY_KEY],
      answers: { 'application/json': A_MESSAGE },
      handle: async (request: InboundRequest) => {
        const idempotencyKey = idempotencyKeyOf(request);
        if (typeof idempotencyKey === 'object') return idempotencyKey;
        return answerOf(await converse(messages, request, idempotencyKey).take(request.body));
      },
      overLimit: async (failure, request) => answerOf(await converse(messages, request).refuse(request.body, failure)),
    },
  ];
}

function converse(messages: Messages, request: InboundRequest, idempotencyKey?: string): Conversation {
  const { principal } = request;
  return messages.converse({
    principal,
    counted: principal !== undefined,
    idempotencyKey,
    address: addressGroup(request.address),
    seat: () => {
      request.welcome();
      return true;
    },
    get signal() {
      return request.signal;
    },
  });
}

/** A2A messages over a WebSocket: a handshake opens a session, and a goodbye ends it. */
export function messageSocketRoute({ messages, clock, identifyMs }: MessageEndpointOptions): SocketRoute {
  return {
    path: '/a2a/messages/ws',
    access: 'open',
    summary: 'A2A messages, one per WebSocket message.',
    maxMessageBytes: MAX_MESSAGE_BYTES,
    open: async (socket) => {
      const { principal, address, signal } = socket;
      let onProven = () => {};
      const proven = new Promise<void>((resolve) => {
        onProven = resolve;
      });
      const seat = (speaker: Principal) => {
        socket.welcome(speaker);
        onProven();
        return true;
      };
      const send = async (answer: MessageAnswer) => {
        const text = answerText(answer);
        // Nothing is reported if the peer is gone.
        if (text !== undefined) await socket.send(text).catch(() => {});
      };
      const conversation = messages.converse({ principal, address: addressGroup(address), seat, send, signal });
      const cancel = clock.after(identifyMs, () => {
        if (!conversation.isProven) socket.close(1008, 'unauthenticated');
      });
      const answering = new Set<Promise<void>>();
      let unanswered = 0;
      for await (const text of socket.messages) {
        unanswered += text.length;
        const sent = conversation.take(text).then(async (answer) => {
          await send(answer);
          answering.delete(sent);
          unanswered -= text.length;
          if (!conversation.isClosed) return;
          await Promise.all(answering);
          socket.close(1000);
        });
        answering.add(sent);
        // If this message proves its sender, the next one may be longer.
        if (!conversation.isProven) await Promise.race([sent, proven]);
        while (answering.size >= MOST_ANSWERS || unanswered > MOST_UNANSWERED_BYTES) await Promise.race(answering);
      }
      cancel();
      await Promise.all(answering);
    },
  };
}

function answerOf({ message, failure }: MessageAnswer): Answer | Failure {
  if (message === undefined) return failure ?? { status: 204 };
  return {
    status: statusOf(message, failure),
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...fieldsOf(failure) },
    text: JSON.stringify(a2aMessagesDialect.encode(message)),
  };
}

function statusOf(message: A2AMessage, failure: Failure | undefined): number {
  if (failure !== undefined) return FAILURES[failure.code].http;
  if (message.message_type !== 'error') return 200;
  const { code } = message.payload.error;
  const row: ErrorRow | undefined = Object.hasOwn(ERROR_CODES, code)
    ? ERROR_CODES[code as keyof typeof ERROR_CODES]
    : undefined;
  return row?.http ?? 400;
}

/** The `Retry-After` of a failure in a message. The edge adds the header only to failures that are HTTP errors. */
function fieldsOf(failure: Failure | undefined): Record<string, string> {
  if (failure === undefined) return {};
  const { http } = FAILURES[failure.code];
  const { retry_after: wait = 1 } = failure.details;
  return http === 429 || http === 503 ? { 'Retry-After': String(Math.ceil(wait)) } : {};
}

const A_MESSAGE = { $ref: `${SCHEMA_BASE}/a2a-messages/base-message.json` };
