import * as validators from '../generated/a2a-messages.js';
import type { JsonObject } from '../json.ts';
import type { JsonSchema } from '../schema.ts';
import type { Validator } from '../validation.ts';
import {
  AgentAnnouncementPart,
  DiscoverAgentsPart,
  ErrorPart,
  GoodbyePart,
  HandshakeAckPart,
  HandshakePart,
  type MessageType,
  RequestPart,
  ResponsePart,
} from './message.ts';

/** One message type: its validator, and its rules beyond the base message. */
export interface MessageKind {
  readonly validate: Validator;
  readonly part: JsonSchema;
}

/** The kind of a message by its `message_type`; `undefined` for any other value. */
export function kindOf(json: JsonObject): MessageKind | undefined {
  const type = json['message_type'];
  return typeof type === 'string' ? BY_TYPE.get(type) : undefined;
}

const KINDS: Readonly<Record<MessageType, MessageKind>> = {
  request: { validate: validators.RequestMessage, part: RequestPart },
  response: { validate: validators.ResponseMessage, part: ResponsePart },
  handshake: { validate: validators.HandshakeMessage, part: HandshakePart },
  handshake_ack: { validate: validators.HandshakeAckMessage, part: HandshakeAckPart },
  error: { validate: validators.ErrorMessage, part: ErrorPart },
  discover_agents: { validate: validators.DiscoverAgentsMessage, part: DiscoverAgentsPart },
  agent_announcement: { validate: validators.AgentAnnouncementMessage, part: AgentAnnouncementPart },
  goodbye: { validate: validators.GoodbyeMessage, part: GoodbyePart },
};

/** A map, because the sender chooses the type: `constructor` is not a type. */
const BY_TYPE: ReadonlyMap<string, MessageKind> = new Map(Object.entries(KINDS));
