import type { Dialect } from '../dialect.ts';
import { isObject } from '../json.ts';
import { decodeMessage } from './decode.ts';
import { encodeMessage } from './encode.ts';
import { fromEnvelope } from './from-envelope.ts';
import { fromFailure, fromResponse, toEnvelope } from './hub.ts';
import type { A2AMessage } from './message.ts';

/** A2A messages: agents that shake hands, discover each other and exchange requests and responses. */
export const a2aMessagesDialect: Dialect<A2AMessage> = {
  name: 'a2a-messages',
  recognizes: (json) => isObject(json) && typeof json['message_type'] === 'string',
  decode: (json, _now, options) => decodeMessage(json, options),
  encode: encodeMessage,
  toEnvelope,
  fromEnvelope,
  fromResponse,
  fromFailure,
};
