import { type E2AEnvelope, isObject, type Json } from '@dragoman/protocols';
import type { EarlierTurn } from '../call/call.ts';
import type { Layer } from '../call/handler.ts';
import { deferred } from '../runs/deferred.ts';

/**
 * Adds the earlier turns of a thread to each message, in `channel_context.history`, so that agents behind any driver get
 * them. The sender's callback URL is not passed to agents.
 */
export const threadHistory: Layer = (next) => (envelope, call) => {
  const envelopeForAgent = withoutCallback(envelope);
  if (envelope.session_id === null || call.principal.kind === 'anonymous') return next(envelopeForAgent, call);
  return deferred(async () => {
    const turns = (await call.history?.({ limit: COMES_ALONG, maxBytes: COMES_ALONG_BYTES })) ?? [];
    const history = within(turns, COMES_ALONG_CHARACTERS) as unknown as Json;
    return next({ ...envelopeForAgent, channel_context: { ...envelopeForAgent.channel_context, history } }, call);
  });
};

function withoutCallback(envelope: E2AEnvelope): E2AEnvelope {
  const { from } = envelope.channel_context;
  if (!isObject(from) || from['callbackUrl'] === undefined) return envelope;
  const { callbackUrl: _, ...rest } = from;
  return { ...envelope, channel_context: { ...envelope.channel_context, from: rest } };
}

/** The newest turns that fit into this number of characters. */
function within(turns: readonly EarlierTurn[], characters: number): readonly EarlierTurn[] {
  let left = characters;
  const from = turns.findLastIndex((one) => {
    left -= JSON.stringify(one.content).length;
    return left < 0;
  });
  return turns.slice(from + 1);
}

const COMES_ALONG = 20;
const COMES_ALONG_CHARACTERS = 64 * 1024;
/** The bytes that this many characters may take, with the JSON around them. */
const COMES_ALONG_BYTES = 4 * COMES_ALONG_CHARACTERS;
