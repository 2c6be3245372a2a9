import { type E2AEnvelope, isObject, type Json } from '@dragoman/protocols';
import type { EarlierTurn } from '../call/call.ts';
import type { Layer } from '../call/handler.ts';
import { deferred } from '../runs/deferred.ts';

/**
 * What was said before in a thread comes along with each message, in `channel_context.history`, so that agents behind any driver have
 * it. The sender's callback URL stays here: it is no agent's business.
 */
export const threadHistory: Layer = (next) => (envelope, call) => {
  const told = withoutCallback(envelope);
  if (envelope.session_id === null || call.principal.kind === 'anonymous') return next(told, call);
  return deferred(async () => {
    const said = (await call.history?.({ limit: COMES_ALONG, maxBytes: COMES_ALONG_BYTES })) ?? [];
    const history = within(said, COMES_ALONG_CHARACTERS) as unknown as Json;
    return next({ ...told, channel_context: { ...told.channel_context, history } }, call);
  });
};

function withoutCallback(envelope: E2AEnvelope): E2AEnvelope {
  const { from } = envelope.channel_context;
  if (!isObject(from) || from['callbackUrl'] === undefined) return envelope;
  const { callbackUrl: _, ...rest } = from;
  return { ...envelope, channel_context: { ...envelope.channel_context, from: rest } };
}

/** The newest of them that have no more characters together than this. */
function within(said: readonly EarlierTurn[], characters: number): readonly EarlierTurn[] {
  let left = characters;
  const from = said.findLastIndex((one) => {
    left -= JSON.stringify(one.content).length;
    return left < 0;
  });
  return said.slice(from + 1);
}

const COMES_ALONG = 20;
const COMES_ALONG_CHARACTERS = 64 * 1024;
/** What so many characters, and all that is around them, may be in bytes. */
const COMES_ALONG_BYTES = 4 * COMES_ALONG_CHARACTERS;
