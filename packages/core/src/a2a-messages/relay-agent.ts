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
  /** The name this server goes by: what its signature proves. */
  readonly serverId: string;
  readonly signer: MessageSigner;
  readonly signatures: Signatures;
  readonly clock: Clock;
  readonly ids: Ids;
  /** How far the times of its answers may be from ours. Default: as the spec has it. */
  readonly window?: FreshnessWindow;
}

/** How an agent elsewhere is reached. */
export interface Reach {
  /** Resolves when an agent that is away can be asked; `undefined` when it can be now. Absent where it always can. */
  whenReachable?(): Promise<void> | undefined;
  /** Sends it a message, and returns what it says then to the request `about`. Rejects with `Refused` where it cannot be asked. */
  exchange(message: A2AMessage, asking: Asking): Promise<Exchanged>;
}

export interface Asking {
  /** The id of the request that is being answered: the message itself, or one before it. */
  readonly about: string;
  readonly requestId: string | null;
  readonly call: Call;
}

/** What an agent said, as far as it was read, and how to name it where that is not an A2A message. */
export interface Exchanged {
  readonly read: Outcome<MessageRead>;
  readonly said: string;
  /** The HTTP status, where there is one. */
  readonly status?: number;
}

/**
 * An agent elsewhere that speaks A2A messages itself. It is asked in the name of this server, because that is what our
 * signature proves; what it answers must be about that, and signed by the key of its card where the card has one. It may ask a person in
 * between: by a request about ours, which our response answers.
 */
export function relayAgent(options: RelayAgentOptions): Agent {
  const { card, reach, serverId, signer, signatures, clock, ids, window } = options;
  const keys = keysIn(card);
  return {
    id: card.agent_id,
    isForeign: true,
    ...(reach.whenReachable !== undefined && { whenReachable: () => reach.whenReachable?.() }),
    async *answer(envelope, call) {
      // Nobody answers for a sender without a key, so nothing is sent abroad for one in the name of this server.
      if (call.principal.kind === 'anonymous') return yield { part: 'failure', failure: failure('forbidden') };
      const stamp = { id: ids.hex(), now: clock.now() };
      const told = a2aMessagesDialect.fromEnvelope(envelope, stamp);
      if (!told.ok) return yield agentFailed(told.issues[0]?.message ?? 'This cannot be said in an A2A message.');
      if (told.value.message_type !== 'request')
        throw new Error('an envelope was told as something else than a request');
      // Two callers may use the same id. There they are one, so it is made from both names.
      const id = createHash('sha256')
        .update(`${call.principal.id}\n${envelope.request_id ?? stamp.id}`)
        .digest('hex');
      const request: RequestMessage = {
        ...told.value,
        payload: onBehalfOf(told.value.payload, call.principal),
        message_id: messageIdFrom(id),
        sender_id: serverId,
        recipient_id: card.agent_id,
      };
      const asking = { about: request.message_id, requestId: envelope.request_id, call };
      try {
        for (let message: A2AMessage = request; ; ) {
          const exchanged = await reach.exchange(await signer.sign(message), asking);
          const told = await partOf(exchanged, { request, keys, signatures, now: clock.now(), window });
          if ('part' in told) return yield told;
          if (call.ask === undefined)
            return yield agentFailed('The agent asks a question, and the caller cannot answer questions.');
          const answer = await call.ask(told.question);
          message = {
            ...request,
            message_id: messageIdFrom(ids.hex()),
            message_type: 'response',
            payload: answerPayload(answer),
            correlation_id: told.messageId,
          };
        }
      } catch (error) {
        call.signal.throwIfAborted();
        const refused = failureOf(error);
        if (refused === undefined) yield agentFailed(`The agent could not be asked: ${connectFault(error)}.`);
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
 * A relayed request is signed by this server, so it says for whom: by a key or a signature that this server has checked. It stands among the
 * parameters, because the schema of a request has no other place; what the caller wrote there itself is replaced.
 */
function onBehalfOf(
  { parameters, ...payload }: RequestMessage['payload'],
  { id, kind }: Principal,
): RequestMessage['payload'] {
  return { ...payload, parameters: { ...parameters, on_behalf_of: { agent_id: id, proven: kind !== 'anonymous' } } };
}

interface Asked {
  readonly request: RequestMessage;
  readonly keys: readonly PublicKey[];
  readonly signatures: Signatures;
  readonly now: Date;
  readonly window: FreshnessWindow | undefined;
}

async function partOf({ read, said, status }: Exchanged, asked: Asked): Promise<AgentPart | PeerQuestion> {
  const { request, keys, now } = asked;
  if (!read.ok || !read.value.head.ok) {
    return agentFailed(
      `The agent answered with ${said} that is no A2A message.`,
      status === undefined ? {} : { status },
    );
  }
  const head = read.value.head.value;
  if (head.message_type !== 'request' && head.correlation_id !== request.message_id)
    return agentFailed('The agent answered something else than was asked.');
  if (keys.length > 0 && !(await isProven(head, read.value, asked))) {
    return agentFailed('The answer is not signed by the key of the card the agent has registered.');
  }
  const message = await read.value.whole();
  if (message.message_type === 'response') {
    const { payload } = message;
    if (message.sender_id !== request.recipient_id) return agentFailed('Another agent answered than the one asked.');
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
  /** Of an `error` message the schema has checked both; of a `response` with an error they may be anything. */
  readonly retry_after?: unknown;
  readonly documentation_url?: unknown;
}

async function isProven(
  message: A2AMessage,
  { signed }: MessageRead,
  { keys, signatures, now, window }: Asked,
): Promise<boolean> {
  if (message.auth === undefined || checkFreshness(message, now, window).length > 0) return false;
  const content = signed === undefined ? signedContent(message) : accept({ text: signed.bytes });
  if (!content.ok) return false;
  const { signature } = message.auth;
  for (const key of keys) if (await signatures.verify(key, content.value.text, signature)) return true;
  return false;
}

/** The keys a card publishes; a text that is no key is none. */
function keysIn({ metadata }: AgentCard): readonly PublicKey[] {
  const pem = isObject(metadata) ? metadata['public_key'] : undefined;
  if (typeof pem !== 'string') return [];
  try {
    return publicKeysIn(pem);
  } catch {
    return [];
  }
}
