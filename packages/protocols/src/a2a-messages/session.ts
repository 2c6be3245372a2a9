import type { Stamp } from '../dialect.ts';
import { failure } from '../failure.ts';
import type { Issue } from '../outcome.ts';
import { show } from '../validation.ts';
import { type AgentCard, schemaVersionsOf } from './agent-card.ts';
import type { StandardErrorCode } from './errors.ts';
import { errorFrom } from './hub.ts';
import type { A2AMessage, ErrorMessage, GoodbyeMessage, HandshakeAckMessage, HandshakeMessage } from './message.ts';
import { messageIdFrom } from './message-id.ts';
import { negotiate } from './negotiation.ts';
import type { ErrorMessagePayload, HandshakeAckPayload } from './payloads.ts';

// One connection between two agents. Either side may start; by convention the client does.
//
//          we send handshake                 handshake_ack, accepted
//    new ────────────────────▶ handshaking ─────────────────────────▶ ready ◀─┐
//     │                             │                                 ▲   │   │ handshake → handshake_ack
//     └─────────────────────────────┴── handshake → handshake_ack ────┘   └───┘
//
//    new, handshaking or ready  ── goodbye ──────────────────────────────────────────▶ closed
//                               ── handshake, no common version → error ─────────────▶ closed
//    handshaking                ── handshake_ack, refused or of a version we do not speak ─▶ closed
//                               ── error about our handshake ────────────────────────▶ closed
//
// A closed session accepts and sends nothing.

export type SessionState = 'new' | 'handshaking' | 'ready' | 'closed';

/** The state of a connection, immutable: `receive` returns the next state. */
export interface MessagesSession {
  readonly state: SessionState;
  /** The other side's card, after its handshake. */
  readonly peer?: AgentCard;
  /** The agreed versions. */
  readonly protocol?: string;
  readonly schemaVersion?: string;
  /** The agent that opened this connection; it may use no other name. */
  readonly opener?: string;
  /** The `message_id` of our handshake, while it is unanswered. */
  readonly handshakeId?: string;
}

/** The inputs of a session: own card, ids and times for sent messages, and the rule for requests. */
export interface SessionContext {
  readonly card: AgentCard;
  readonly stamp: Stamp;
  /** Refuse requests and queries from a peer that has not shaken hands. */
  readonly requireHandshake?: boolean;
}

export interface SessionStep {
  readonly session: MessagesSession;
  /** Messages to send back, in order. */
  readonly send: readonly A2AMessage[];
  /** `deliver`: pass it on · `answered`: handled by the session · `refused`: drop it, see `issue`. */
  readonly verdict: 'deliver' | 'answered' | 'refused';
  readonly issue?: Issue;
}

export const NEW_SESSION: MessagesSession = { state: 'new' };

/** The effect of a decoded message on a session. */
export function receive(session: MessagesSession, message: A2AMessage, context: SessionContext): SessionStep {
  if (session.state === 'closed') return refused(session, { code: 'closed', message: 'the connection is closed' });
  switch (message.message_type) {
    case 'handshake':
      return shakeHands(session, message, context);
    case 'handshake_ack':
      return handshakeAnswered(session, message, context);
    case 'goodbye':
      return isImpostor(session, message) ? impostor(session, message, context) : closed(session);
    case 'error':
      return receiveError(session, message);
    case 'request':
    case 'discover_agents':
      return answerRequest(session, message, context);
    case 'response':
    case 'agent_announcement':
      // An answer names its request; the sender of that request checks it.
      return { session, send: [], verdict: 'deliver' };
  }
}

/** Opens a connection with our own handshake. */
export function startHandshake(
  session: MessagesSession,
  recipientId: string,
  { card, stamp }: SessionContext,
): { readonly session: MessagesSession; readonly send: readonly [HandshakeMessage] } {
  if (session.state !== 'new') throw new Error(`a handshake opens a connection; this one is ${session.state}`);
  const handshake: HandshakeMessage = {
    ...heading(card, recipientId, stamp),
    message_type: 'handshake',
    payload: { agent_card: card },
    correlation_id: null,
  };
  return { session: { ...session, state: 'handshaking', handshakeId: handshake.message_id }, send: [handshake] };
}

/** Closes a connection with our own goodbye; sends nothing if it is closed already. */
export function sayGoodbye(
  session: MessagesSession,
  recipientId: string,
  { card, stamp }: SessionContext,
  reason?: string,
): { readonly session: MessagesSession; readonly send: readonly GoodbyeMessage[] } {
  if (session.state === 'closed') return { session, send: [] };
  const goodbye: GoodbyeMessage = {
    ...heading(card, recipientId, stamp),
    message_type: 'goodbye',
    payload: reason === undefined ? {} : { reason },
    correlation_id: null,
  };
  return { session: { ...session, state: 'closed' }, send: [goodbye] };
}

function shakeHands(session: MessagesSession, handshake: HandshakeMessage, context: SessionContext): SessionStep {
  if (isImpostor(session, handshake)) return impostor(session, handshake, context);
  const peer = handshake.payload.agent_card;
  const agreed = negotiate(context.card, peer);
  if (!agreed.ok) {
    const send = [errorTo(handshake, errorFrom(agreed.failure), context)];
    const issue = { pointer: '/payload/agent_card', code: agreed.failure.code, message: agreed.failure.message };
    return { session: { ...session, state: 'closed', peer }, send, verdict: 'refused', issue };
  }
  const { protocol, schemaVersion } = agreed;
  const ack: HandshakeAckMessage = {
    ...heading(context.card, handshake.sender_id, context.stamp),
    message_type: 'handshake_ack',
    payload: {
      agent_card: context.card,
      negotiated_protocol: protocol,
      negotiated_schema_version: schemaVersion,
      accepted: true,
    },
    correlation_id: handshake.message_id,
  };
  // If our own handshake crossed this one, its id is kept: it is still unanswered.
  const ready: MessagesSession = {
    ...session,
    state: 'ready',
    peer,
    protocol,
    schemaVersion,
    opener: handshake.sender_id,
  };
  return { session: ready, send: [ack], verdict: 'answered' };
}

function handshakeAnswered(session: MessagesSession, ack: HandshakeAckMessage, { card }: SessionContext): SessionStep {
  if (session.handshakeId === undefined || ack.correlation_id !== session.handshakeId) {
    const message = `correlation_id must be the id of our handshake; got ${show(ack.correlation_id)}`;
    return refused(session, { pointer: '/correlation_id', code: 'not_asked', message });
  }
  const { agent_card: peer, negotiated_protocol, negotiated_schema_version, accepted, reason } = ack.payload;
  const { handshakeId: _, ...rest } = session;
  if (accepted === false) {
    const message = `the other side refused the handshake${reason === undefined ? '' : `: ${show(reason)}`}`;
    return refused({ ...rest, state: 'closed', peer }, { pointer: '/payload/accepted', code: 'refused', message });
  }
  const alien = notOffered(ack.payload, card);
  if (alien !== undefined) return refused({ ...rest, state: 'closed', peer }, alien);
  const ready: MessagesSession = {
    ...rest,
    state: 'ready',
    peer,
    ...(negotiated_protocol !== undefined && { protocol: negotiated_protocol }),
    ...(negotiated_schema_version !== undefined && { schemaVersion: negotiated_schema_version }),
  };
  return { session: ready, send: [], verdict: 'answered' };
}

/** The issue with agreed versions that are not in our card; `undefined` if they are. */
function notOffered(agreed: HandshakeAckPayload, card: AgentCard): Issue | undefined {
  const { negotiated_protocol: protocol, negotiated_schema_version: version } = agreed;
  if (protocol !== undefined && !card.supported_protocols.includes(protocol)) {
    const message = `negotiated_protocol must be one of ${card.supported_protocols.join(', ')}; got ${show(protocol)}`;
    return { pointer: '/payload/negotiated_protocol', code: 'version_mismatch', message };
  }
  const versions = schemaVersionsOf(card);
  if (version === undefined || versions.includes(version)) return undefined;
  const message = `negotiated_schema_version must be one of ${versions.join(', ')}; got ${show(version)}`;
  return { pointer: '/payload/negotiated_schema_version', code: 'version_mismatch', message };
}

function receiveError(session: MessagesSession, error: ErrorMessage): SessionStep {
  if (session.handshakeId === undefined || error.correlation_id !== session.handshakeId) {
    return { session, send: [], verdict: 'deliver' };
  }
  const { code, message } = error.payload.error;
  const issue = {
    pointer: '/payload/error',
    code: 'refused',
    message: `our handshake failed: ${code}, ${show(message)}`,
  };
  return refused({ ...session, state: 'closed' }, issue);
}

function answerRequest(session: MessagesSession, message: A2AMessage, context: SessionContext): SessionStep {
  if (isImpostor(session, message)) return impostor(session, message, context);
  if (session.state === 'ready' || context.requireHandshake !== true) return { session, send: [], verdict: 'deliver' };
  const text = 'A handshake must come first on this connection.';
  const send = [errorTo(message, { code: 'SESSION_INVALID' satisfies StandardErrorCode, message: text }, context)];
  const issue = {
    pointer: '/message_type',
    code: 'handshake_first',
    message: `${message.message_type} arrived before a handshake`,
  };
  return { session, send, verdict: 'refused', issue };
}

/** A connection carries only messages of the agent that opened it. */
function isImpostor(session: MessagesSession, message: A2AMessage): boolean {
  return session.opener !== undefined && message.sender_id !== session.opener;
}

function impostor(session: MessagesSession, message: A2AMessage, context: SessionContext): SessionStep {
  const text = `sender_id must be ${show(session.opener)}, who opened this connection; got ${show(message.sender_id)}`;
  const issue = { pointer: '/sender_id', code: 'sender_mismatch', message: text };
  const error = errorFrom(failure('forbidden'));
  // A goodbye is never answered.
  const send = message.message_type === 'goodbye' ? [] : [errorTo(message, error, context)];
  return { session, send, verdict: 'refused', issue };
}

function closed(session: MessagesSession): SessionStep {
  return { session: { ...session, state: 'closed' }, send: [], verdict: 'answered' };
}

function refused(
  session: MessagesSession,
  { pointer = '', code, message }: Partial<Issue> & Pick<Issue, 'code' | 'message'>,
): SessionStep {
  return { session, send: [], verdict: 'refused', issue: { pointer, code, message } };
}

function errorTo(
  cause: A2AMessage,
  error: ErrorMessagePayload['error'],
  { card, stamp }: SessionContext,
): ErrorMessage {
  return {
    ...heading(card, cause.sender_id, stamp),
    message_type: 'error',
    payload: { error },
    correlation_id: cause.message_id,
  };
}

function heading(card: AgentCard, recipientId: string, { id, now }: Stamp) {
  return {
    message_id: messageIdFrom(id),
    sender_id: card.agent_id,
    recipient_id: recipientId,
    timestamp: now.toISOString(),
  };
}
