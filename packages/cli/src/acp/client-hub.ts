import { type Client, DragomanError } from '@dragoman/client';
import { type AcpHub, Refused } from '@dragoman/core';
import { FAILURES, type FailureCode, failure } from '@dragoman/protocols';

/**
 * The hub of a server in another process. After a lost connection or a restart of the server, an answer continues where
 * it stopped.
 */
export function clientHub(client: Client): AcpHub {
  return {
    request: (method, params, agent) => knowing(client.request(method, params, agent === undefined ? {} : { agent })),
    send(envelope, { cancelled }) {
      const answer = client.send(envelope);
      const cancel = () => void answer.cancel().catch(() => {});
      if (cancelled.aborted) cancel();
      else cancelled.addEventListener('abort', cancel, { once: true });
      return reading(answer);
    },
    read: (requestId) => reading(client.resume(requestId)),
    cancel: (requestId) => knowing(client.cancel(requestId)),
  };
}

async function knowing<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw refused(error);
  }
}

async function* reading<T>(frames: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* frames;
  } catch (error) {
    throw refused(error);
  }
}

/** An error with the text of the failure table, for the client of an ACP connection. */
function refused(error: unknown): unknown {
  if (!(error instanceof DragomanError)) return error;
  const { message, issues, suggestions, retryAfter } = error;
  const known = (Object.keys(FAILURES) as FailureCode[]).find((code) => error.is(code));
  const more = {
    ...(issues.length > 0 && { issues }),
    ...(suggestions.length > 0 && { suggestions }),
    ...(retryAfter !== undefined && { retry_after: retryAfter }),
  };
  return new Refused(failure(known ?? 'agent_failed', more, message));
}
