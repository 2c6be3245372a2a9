import type { Clock } from '@dragoman/core';
import type { Failure, Json } from '@dragoman/protocols';
import { type A2aError, type A2aVersion, a2aError, a2aErrorOf, requestedVersion } from '@dragoman/protocols/lf-a2a';
import { sseStream } from '../edges/sse.ts';
import type { Answer, InboundRequest, RouteParameter } from '../http/route.ts';
import type { WordedEvent } from './lf-a2a-operations.ts';

/**
 * The version that a client requests with `A2A-Version`, in a header or the query; `undefined` if that version is not
 * supported.
 */
export function versionOf(request: InboundRequest): A2aVersion | undefined {
  return requestedVersion(versionText(request));
}

/** The error for an unsupported version. Without `A2A-Version`, the method or the path determines the version. */
export function versionError(request: InboundRequest): A2aError | undefined {
  if (versionOf(request) !== undefined) return undefined;
  const given = JSON.stringify(versionText(request)?.slice(0, 32));
  return a2aError('VersionNotSupported', `A2A-Version ${given} is not supported; use 1.0 or 0.3.`);
}

function versionText({ headers, query }: InboundRequest): string | undefined {
  const text = headers['a2a-version'] ?? query.get('A2A-Version') ?? undefined;
  return typeof text === 'string' ? text : undefined;
}

/** Events as SSE, each with the id by which a client resumes. */
export function eventStream(
  events: AsyncIterable<readonly WordedEvent[]>,
  clock: Clock,
  wrap: (event: Json) => Json,
): Answer {
  async function* texts() {
    for await (const batch of events) {
      yield batch.map(({ id, json }) => `id: ${id}\ndata: ${JSON.stringify(wrap(json))}\n\n`).join('');
    }
  }
  return sseStream(texts(), { clock });
}

/** A repeated message id with different content is an invalid parameter, not a conflict. */
export function taskErrorOf(known: Failure): A2aError {
  const error = a2aErrorOf(known);
  return known.code === 'conflict' ? { ...error, code: -32602, http: 400, status: 'INVALID_ARGUMENT' } : error;
}

export const A2A_VERSION: RouteParameter = {
  in: 'header',
  name: 'A2A-Version',
  description: 'The version of A2A the client speaks: 1.0 or 0.3.',
  schema: { type: 'string' },
};
