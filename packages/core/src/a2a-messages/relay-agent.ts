import { createHash } from 'node:crypto';
import { accept, failure, isObject, type Json } from '@dragoman/protocols';
import {
  type A2AMessage,
  type AgentCard,
  a2aMessagesDialect,
  checkFreshness,
  type FreshnessWindow,
  MAX_MESSAGE_BYTES,
  messageIdFrom,
  type RequestMessage,
  signedContent,
} from '@dragoman/protocols/a2a-messages';
import type { Agent, AgentPart } from '../agents/agent.ts';
import { agentFailed } from '../agents/agent.ts';
import type { Principal } from '../call/principal.ts';
import { connectFault } from '../gate/connect-fault.ts';
import type { Gate } from '../gate/gate.ts';
import { wholeBody } from '../gate/whole-body.ts';
import type { Clock, Ids } from '../ports/ports.ts';
import { failureOf } from '../refusals/refused.ts';
import { type PublicKey, publicKeysIn } from '../signing/public-keys.ts';
import type { Signatures } from '../signing/signatures.ts';
import type { JsonReader } from '../worker-threads/json-reader.ts';
import type { MessageSigner } from './message-signer.ts';
import { type MessageRead, readMessage } from './read-message.ts';

export interface RelayAgentOptions {
  readonly card: AgentCard;
  /** Where it listens, as the agent itself declared it: private and plain-http hosts must be in `gate.callbacks`. */
  readonly endpoint: string;
  /** The name this server goes by: what its signature proves. */
  readonly serverId: string;
  readonly signer: MessageSigner;
  readonly signatures: Signatures;
  readonly reader: JsonReader;
  readonly gate: Gate;
  readonly clock: Clock;
  readonly ids: Ids;
  /** How far the times of its answers may be from ours; as the spec has it unless told. */
  readonly window?: FreshnessWindow;
}

/**
 * An agent elsewhere that speaks A2A messages itself. It is asked in the name of this server, because that is what our
 * signature proves; what it answers must be about that, and signed by the key of its card where the card has one.
 */
export function relayAgent(options: RelayAgentOptions): Agent {
  const { card, endpoint, serverId, signer, signatures, reader, gate, clock, ids, window } = options;
  const keys = keysIn(card);
  return {
    id: card.agent_id,
    isForeign: true,
    async *answer(envelope, call) {
      // Nobody answers for a sender without a key, so nothing is sent abroad for one in the name of this server.
      if (call.principal.role === 'anonymous') return yield { part: 'failure', failure: failure('forbidden') };
      if (!/^https?:/.test(endpoint)) {
        return yield agentFailed(
          `The agent listens at ${endpoint}, and requests are relayed over http and https only.`,
        );
      }
      const stamp = { id: ids.hex(), now: clock.now() };
      const told = a2aMessagesDialect.fromEnvelope(envelope, stamp);
      if (!told.ok) return yield agentFailed(told.issues[0]?.message ?? 'This cannot be said in an A2A message.');
      if (told.value.message_type !== 'request')
        throw new Error('an envelope was told as something else than a request');
      // Two callers may use the same id. There they are one, so it is made from both names.
      const id = createHash('sha256')
        .update(`${call.principal.id}\n${envelope.request_id ?? stamp.id}`)
        .digest('hex');
      const request = await signer.sign({
        ...told.value,
        payload: onBehalfOf(told.value.payload, call.principal),
        message_id: messageIdFrom(id),
        sender_id: serverId,
        recipient_id: card.agent_id,
      });
      try {
        const answer = await gate.request({
          caller: call.principal.id,
          purpose: `request ${envelope.request_id ?? ''}`,
          method: 'POST',
          url: endpoint,
          allowList: 'callbacks',
          headers: HEADERS,
          body: { bytes: Buffer.from(JSON.stringify(a2aMessagesDialect.encode(request))) },
          timeoutMs: TEN_MINUTES,
          maxBytes: MAX_MESSAGE_BYTES,
          signal: call.signal,
        });
        const { status } = answer;
        const asked = { status, request, keys, signatures, reader, now: clock.now(), window };
        yield await partOf(await wholeBody(answer), asked);
      } catch (error) {
        call.signal.throwIfAborted();
        const refused = failureOf(error);
        if (refused?.code === 'forbidden' || refused?.code === 'timeout') yield { part: 'failure', failure: refused };
        else yield agentFailed(`The agent could not be asked: ${connectFault(error)}.`);
      }
    },
    async [Symbol.asyncDispose]() {},
  };
}

/**
 * A relayed request is signed by this server, so it says for whom: by a key or a signature that this server has checked. It stands among the
 * parameters, because the schema of a request has no other place; what the caller wrote there itself is replaced.
 */
function onBehalfOf(
  { parameters, ...payload }: RequestMessage['payload'],
  { id, role }: Principal,
): RequestMessage['payload'] {
  return { ...payload, parameters: { ...parameters, on_behalf_of: { agent_id: id, proven: role !== 'anonymous' } } };
}

interface Asked {
  readonly status: number;
  readonly request: A2AMessage;
  readonly keys: readonly PublicKey[];
  readonly signatures: Signatures;
  readonly reader: JsonReader;
  readonly now: Date;
  readonly window: FreshnessWindow | undefined;
}

async function partOf(bytes: Uint8Array, asked: Asked): Promise<AgentPart> {
  const { status, request, keys, reader, now } = asked;
  const read = await readMessage(bytes, { reader, now, caller: `relay ${request.recipient_id}`, waits: true });
  if (!read.ok || !read.value.head.ok) {
    return agentFailed(`The agent answered with HTTP status ${status} and something that is no A2A message.`, {
      status,
    });
  }
  const head = read.value.head.value;
  if (head.correlation_id !== request.message_id)
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

const HEADERS = { 'content-type': 'application/json', accept: 'application/json', 'accept-encoding': 'identity' };
const TEN_MINUTES = 600_000;
