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
  /** Where the agent listens, as it declared itself: private and plain-http hosts must be in `gate.callbacks`. */
  readonly endpoint: string;
  readonly gate: Gate;
  readonly reader: JsonReader;
  readonly clock: Clock;
}

/** An agent that listens at a URL: each message is a POST, and what it says is the answer to that. */
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
      return { read, said: `HTTP status ${status} and something`, status };
    },
  };
}

/** An agent whose owner has opened a connection to this server: what it says comes back over that. */
export function connectionReach(connections: AgentConnections, owner: string): Reach {
  return {
    whenReachable: () => connections.whenConnected(owner),
    async exchange(message, { about, call }) {
      const { read } = await connections.ask(owner, message, { about, signal: call.signal });
      return { read: accept(read), said: 'something' };
    },
  };
}

/** A refusal that its caller can act on stays what it is; of any other fault, the reason is told. */
function unreachable(error: unknown, signal: AbortSignal): never {
  signal.throwIfAborted();
  const refused = failureOf(error);
  if (refused?.code === 'forbidden' || refused?.code === 'timeout') throw error;
  refuse('agent_failed', {}, `The agent could not be asked: ${connectFault(error)}.`);
}

const HEADERS = { 'content-type': 'application/json', accept: 'application/json', 'accept-encoding': 'identity' };
const TEN_MINUTES = 600_000;
