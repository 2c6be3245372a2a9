import {
  AcpConnection,
  type Clock,
  type Engine,
  engineHub,
  failureOf,
  type Ids,
  type JsonReader,
  type Log,
} from '@dragoman/core';
import type { Json, Outcome } from '@dragoman/protocols';
import { type EndpointLimits, jsonLimits } from '../config/endpoint-limits.ts';
import type { Connection, SocketRoute } from '../http/route.ts';
import { VERSION } from '../version.ts';

export interface AcpContext {
  readonly engine: Engine;
  readonly reader: JsonReader;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly limits: EndpointLimits;
}

/** ACP over a WebSocket: one JSON-RPC message per frame. */
export function acpSocketRoutes(context: AcpContext): SocketRoute[] {
  return [
    {
      path: '/acp',
      access: 'agent',
      subprotocols: ['dragoman'],
      summary: 'The Agent Client Protocol: the client chooses an agent for each session.',
      open: (connection) => serve(connection, context),
    },
    {
      path: '/acp/agents/:agent_id',
      access: 'agent',
      subprotocols: ['dragoman'],
      summary: 'The Agent Client Protocol, with this agent.',
      open: (connection) => serve(connection, context),
    },
  ];
}

async function serve(connection: Connection, { engine, reader, clock, ids, log, limits }: AcpContext): Promise<void> {
  const { principal: proven, signal } = connection;
  if (proven === undefined) throw new Error('an agent socket was opened without a caller');
  const principal = () => engine.callers.renewed(proven);
  const acp = new AcpConnection({
    hub: engineHub({ engine, ids, log, principal, signal }),
    // Waits while too much is unsent: a slow client delays only its own answers.
    send: async (message) => {
      const sent = connection.send(JSON.stringify(message));
      if (connection.bufferedBytes > MAX_UNSENT) await sent;
      else sent.catch(() => {});
    },
    clock,
    ids,
    log,
    version: VERSION,
    transport: 'websocket',
    agent: connection.params['agent_id'],
  });
  const read = async (text: string): Promise<Outcome<Json> | undefined> => {
    try {
      return await reader.read(text, { limits: jsonLimits(limits), caller: proven.id });
    } catch (error) {
      await acp.unreadable(failureOf(error)?.message ?? 'the message could not be read');
      return undefined;
    }
  };
  // Closes at once, because running answers may wait for the client.
  signal.addEventListener('abort', () => void acp.close(), { once: true });
  const answers = new Set<Promise<void>>();
  for await (const text of connection.messages) {
    const json = await read(text);
    if (json === undefined) continue;
    const answer = (json.ok ? acp.receive(json.value) : acp.unreadable(json.issues[0]?.message ?? 'not JSON')).catch(
      (error: unknown) => {
        // Once the client has left, its requests continue without a reader.
        if (!signal.aborted) log.error({ error: String(error) }, 'an ACP message could not be answered');
      },
    );
    answers.add(answer);
    void answer.finally(() => answers.delete(answer));
  }
  await Promise.all(answers);
}

const MAX_UNSENT = 256 * 1024;
