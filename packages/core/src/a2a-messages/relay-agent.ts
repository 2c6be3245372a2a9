import { createHash } from 'node:crypto';
import { accept, failure, isObject, type Json, type NewQuestion, type Outcome } from '@dragoman/protocols';
import {
  type A2AMessage,
  type AgentCard,
  a2aMessagesDialect,
  answerPayload,
  checkFreshness,
  type FreshnessWindow,
  messageIdFrom,
  questionFromPeer,
  type RequestMessage,
  signedContent,
} from '@dragoman/protocols/a2a-messages';
import type { Agent, AgentPart } from '../agents/agent.ts';
import { agentFailed } from '../agents/agent.ts';
import type { Call } from '../call/call.ts';
import type { Principal } from '../call/principal.ts';
import { connectFault } from '../gate/connect-fault.ts';
import type { Clock, Ids } from '../ports/ports.ts';
import { failureOf } from '../refusals/refused.ts';
import { type PublicKey, publicKeysIn } from '../signing/public-keys.ts';
import type { Signatures } from '../signing/signatures.ts';
import type { MessageSigner } from './message-signer.ts';
import type { MessageRead } from './read-message.ts';

export interface RelayAgentOptions {
  readonly card: AgentCard;
  readonly reach: Reach;
  /** The id of this server, which its signature proves. */
  readonly serverId: string;
  readonly signer: MessageSigner;
  readonly signatures: Signatures;
  readonly clock: Clock;
  readonly ids: Ids;
  /** How far the times of its answers may differ from the local clock. Default: the window of the specification. */
  readonly window?: FreshnessWindow;
}

/** Sends messages to a remote agent. */
export interface Reach {
  /** Resolves when the agent is reachable; `undefined` when it is reachable now. Absent if it always is. */
  whenReachable?(): Promise<void> | undefined;
  /** Sends a message, and returns the agent's answer to the request `about`. Rejects with `Refused` where the agent cannot be reached. */
  exchange(message: A2AMessage, asking: Asking): Promise<Exchanged>;
}

export interface Asking {
  /** The id of the request that is being answered: the message itself, or an earlier one. */
  readonly about: string;
  readonly requestId: string | null;
  readonly call: Call;
}

/** The answer of an agent, and a description of it for the error if it is not an A2A message. */
export interface Exchanged {
  readonly read: Outcome<MessageRead>;
  readonly what: string;
  /** The HTTP status, where there is one. */
  readonly status?: number;
}

/**
 * A remote agent that speaks A2A messages. Requests are sent in the name of this server, because its signature proves that name. The
 * answer must be about the request, and signed by the key of the agent's card if the card has one. The agent may ask a person in between,
 * by a request about the relayed one; a response answers it.
 */
export function relayAgent(options: RelayAgentOptions): Agent {
  const { card, reach, serverId, signer, signatures, clock, ids, window } = options;
  const keys = keysIn(card);
  return {
    id: card.agent_id,
    isForeign: true,
    ...(reach.whenReachable !== undefined && { whenReachable: () => reach.whenReachable?.() }),
    async *answer(envelope, call) {
      // Nothing is relayed for anonymous callers, because this server signs for them.
      if (call.principal.kind === 'anonymous') return yield { part: 'failure', failure: failure('forbidden') };
      const stamp = { id: ids.hex(), now: clock.now() };
      const converted = a2aMessagesDialect.fromEnvelope(envelope, stamp);
      if (!converted.ok)
        return yield agentFailed(converted.issues[0]?.message ?? 'The request cannot be converted to an A2A message.');
      if (converted.value.message_type !== 'request')
        throw new Error('an envelope was converted to a message that is not a request');
      // Two callers may use the same id, and the agent sees both as this server, so the id is made from caller and id.
      const id = createHash('sha256')
        .update(`${call.principal.id}\n${envelope.request_id ?? stamp.id}`)
        .digest('hex');
      const request: RequestMessage = {
        ...converted.value,
        payload: onBehalfOf(converted.value.payload, call.principal),
        message_id: messageIdFrom(id),
        sender_id: serverId,
        recipient_id: card.agent_id,
      };
      const asking = { about: request.message_id, requestId: envelope.request_id, call };
      try {
        for (let message: A2AMessage = request; ; ) {
          const exchanged = await reach.exchange(await signer.sign(message), asking);
          const outcome = await partOf(exchanged, { request, keys, signatures, now: clock.now(), window });
          if ('part' in outcome) return yield outcome;
          if (call.ask === undefined)
            return yield agentFailed('The agent asks a question, and the caller cannot answer questions.');
          const answer = await call.ask(outcome.question);
          message = {
            ...request,
            message_id: messageIdFrom(ids.hex()),
            message_type: 'response',
            payload: answerPayload(answer),
            correlation_id: outcome.messageId,
          };
        }
      } catch (error) {
        call.signal.throwIfAborted();
        const refused = failureOf(error);
        if (refused === undefined) yield agentFailed(`The agent could not be reached: ${connectFault(error)}.`);
        else yield { part: 'failure', failure: refused };
      }
    },
    async [Symbol.asyncDispose]() {},
  };
}

/** A question of an agent, and the message that asks it. */
interface PeerQuestion {
  readonly question: NewQuestion;
  readonly messageId: string;
}

/**
 * A relayed request is signed by this server, so it names the caller on whose behalf it is sent, and whether the caller was proven. The
 * name is a parameter, because the schema of a request has no other place; a value from the caller is replaced.
 */
function onBehalfOf(
  { parameters, ...payload }: RequestMessage['payload'],
  { id, kind }: Principal,
): RequestMessage['payload'] {
  return { ...payload, parameters: { ...parameters, on_behalf_of: { agent_id: id, proven: kind !== 'anonymous' } } };
}

interface SentRequest {
  readonly request: RequestMessage;
  readonly keys: readonly PublicKey[];
  readonly signatures: Signatures;
  readonly now: Date;
  readonly window: FreshnessWindow | undefined;
}

async function partOf({ read, what, status }: Exchanged, sent: SentRequest): Promise<AgentPart | PeerQuestion> {
  const { request, keys, now } = sent;
  if (!read.ok || !read.value.head.ok) {
    return agentFailed(
      `The agent answered with ${what} that is not an A2A message.`,
      status === undefined ? {} : { status },
    );
  }
  const head = read.value.head.value;
  if (head.message_type !== 'request' && head.correlation_id !== request.message_id)
    return agentFailed('The agent answered a different request.');
  if (keys.length > 0 && !(await isProven(head, read.value, sent))) {
    return agentFailed('The answer is not signed by the key of the card the agent has registered.');
  }
  const message = await read.value.whole();
  if (message.message_type === 'response') {
    const { payload } = message;
    if (message.sender_id !== request.recipient_id) return agentFailed('The answer is from another agent.');
    return payload.status === 'success'
      ? { part: 'complete', result: payload.data }
      : { part: 'error', ...errorIn(payload.error) };
  }
  if (message.message_type === 'error') return { part: 'error', ...errorIn(message.payload.error) };
  const question = questionFromPeer(message, request.message_id, now);
  if (question !== undefined) return { question, messageId: message.message_id };
  return agentFailed(`The agent answered a request with a message of type ${message.message_type}.`);
}

function errorIn({
  code,
  message,
  details,
  ...rest
}: RelayedError): Omit<Extract<AgentPart, { part: 'error' }>, 'part'> {
  const { retry_after, documentation_url } = rest;
  return {
    code,
    message,
    ...(details !== undefined && { details }),
    ...(typeof retry_after === 'number' && { retry_after }),
    ...(typeof documentation_url === 'string' && { documentation_url }),
  };
}

interface RelayedError {
  readonly code: string;
  readonly message: string;
  readonly details?: Json;
  /** The schema checks both in an `error` message; in a `response` with an error they may be anything. */
  readonly retry_after?: unknown;
  readonly documentation_url?: unknown;
}

async function isProven(
  message: A2AMessage,
  { signed }: MessageRead,
  { keys, signatures, now, window }: SentRequest,
): Promise<boolean> {
  if (message.auth === undefined || checkFreshness(message, now, window).length > 0) return false;
  const content = signed === undefined ? signedContent(message) : accept({ text: signed.bytes });
  if (!content.ok) return false;
  const { signature } = message.auth;
  for (const key of keys) if (await signatures.verify(key, content.value.text, signature)) return true;
  return false;
}

/** The public keys of a card; a text that is not a key is ignored. */
function keysIn({ metadata }: AgentCard): readonly PublicKey[] {
  const pem = isObject(metadata) ? metadata['public_key'] : undefined;
  if (typeof pem !== 'string') return [];
  try {
    return publicKeysIn(pem);
  } catch {
    return [];
  }
}
