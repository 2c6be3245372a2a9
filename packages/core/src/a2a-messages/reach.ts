import { accept } from '@dragoman/protocols';
import { a2aMessagesDialect, MAX_MESSAGE_BYTES } from '@dragoman/protocols/a2a-messages';
import { connectFault } from '../gate/connect-fault.ts';
import type { Gate } from '../gate/gate.ts';
import { wholeBody } from '../gate/whole-body.ts';
import type { Clock } from '../ports/ports.ts';
import { failureOf, refuse } from '../refusals/refused.ts';
import type { JsonReader } from '../worker-threads/json-reader.ts';
import type { AgentConnections } from './agent-connections.ts';
import { readMessage } from './read-message.ts';
import type { Reach } from './relay-agent.ts';

export interface HttpReachOptions {
  /** The URL that the agent declared: private and plain-http hosts must be in `gate.callbacks`. */
  readonly endpoint: string;
  readonly gate: Gate;
  readonly reader: JsonReader;
  readonly clock: Clock;
}

/** An agent that listens at a URL: each message is a POST, and its response is the answer. */
export function httpReach({ endpoint, gate, reader, clock }: HttpReachOptions): Reach {
  return {
    async exchange(message, { requestId, call }) {
      if (!/^https?:/.test(endpoint)) {
        refuse(
          'agent_failed',
          {},
          `The agent listens at ${endpoint}, and requests are relayed over http and https only.`,
        );
      }
      const answer = await gate
        .request({
          caller: call.principal.id,
          purpose: `request ${requestId ?? ''}`,
          method: 'POST',
          url: endpoint,
          allowList: 'callbacks',
          headers: HEADERS,
          body: { bytes: Buffer.from(JSON.stringify(a2aMessagesDialect.encode(message))) },
          timeoutMs: TEN_MINUTES,
          maxBytes: MAX_MESSAGE_BYTES,
          signal: call.signal,
        })
        .catch((error: unknown) => unreachable(error, call.signal));
      const { status } = answer;
      const bytes = await wholeBody(answer).catch((error: unknown) => unreachable(error, call.signal));
      const caller = `relay ${message.recipient_id}`;
      const read = await readMessage(bytes, { reader, now: clock.now(), caller, waits: true });
      return { read, what: `HTTP status ${status} and a body`, status };
    },
  };
}

/** An agent whose owner has opened a connection to this server: messages and answers use that connection. */
export function connectionReach(connections: AgentConnections, owner: string): Reach {
  return {
    whenReachable: () => connections.whenConnected(owner),
    async exchange(message, { about, call }) {
      const { read } = await connections.ask(owner, message, { about, signal: call.signal });
      return { read: accept(read), what: 'a message' };
    },
  };
}

/** Passes on a refusal that the caller can act on; any other error is reported with its reason. */
function unreachable(error: unknown, signal: AbortSignal): never {
  signal.throwIfAborted();
  const refused = failureOf(error);
  if (refused?.code === 'forbidden' || refused?.code === 'timeout') throw error;
  refuse('agent_failed', {}, `The agent could not be reached: ${connectFault(error)}.`);
}

const HEADERS = { 'content-type': 'application/json', accept: 'application/json', 'accept-encoding': 'identity' };
const TEN_MINUTES = 600_000;
