import { type JsonSchema, SCHEMA_BASE, type SchemaSet } from '../schema.ts';
import { AgentCard } from './agent-card.ts';
import {
  AgentAnnouncementPart,
  AuthenticatedPart,
  BaseMessage,
  DiscoverAgentsPart,
  ErrorPart,
  GoodbyePart,
  HandshakeAckPart,
  HandshakePart,
  RequestPart,
  ResponsePart,
} from './message.ts';
import { SCHEMA_VERSION } from './versions.ts';

const base: JsonSchema = { ...BaseMessage };

const schemas: SchemaSet = {
  dialect: 'a2a-messages',
  schemas: {
    BaseMessage: published('base-message', 'A2A message', 'The fields of every A2A message.', base),
    RequestMessage: special('request', 'Asks another agent for an action or an answer.', RequestPart),
    ResponseMessage: special('response', 'Answers a request, with data or with an error.', ResponsePart),
    HandshakeMessage: special('handshake', 'Opens a connection and introduces the sender.', HandshakePart),
    HandshakeAckMessage: special(
      'handshake-ack',
      'Answers a handshake with the card of its receiver.',
      HandshakeAckPart,
    ),
    ErrorMessage: special('error', 'Reports that a message could not be processed, and why.', ErrorPart),
    DiscoverAgentsMessage: special('discover-agents', 'Asks the registry for agents.', DiscoverAgentsPart),
    AgentAnnouncementMessage: special('agent-announcement', "The registry's answer to a query.", AgentAnnouncementPart),
    GoodbyeMessage: special('goodbye', 'Closes a connection. It gets no answer.', GoodbyePart),
    AuthenticatedMessage: special('authenticated', 'Any message with a signature.', AuthenticatedPart),
    AgentCard: published('agent-card', 'A2A agent card', 'How an agent introduces itself.', AgentCard),
  },
};

export default schemas;

/** A base message combined with `part`, as in the spec's files. */
function special(name: string, description: string, part: JsonSchema): JsonSchema {
  return published(`${name}-message`, `A2A ${name.replaceAll('-', ' ')} message`, description, {
    allOf: [{ $ref: 'base-message.json' }, part],
  });
}

function published(file: string, title: string, description: string, schema: JsonSchema): JsonSchema {
  // The version is in a comment: draft-07 has no keyword for it, and strict validators refuse unknown ones.
  const $comment = `A2A message schemas ${SCHEMA_VERSION}`;
  return { $id: `${SCHEMA_BASE}/a2a-messages/${file}.json`, $comment, title, description, ...schema };
}
