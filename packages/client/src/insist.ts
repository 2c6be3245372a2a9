import { DragomanError } from './dragoman-error.ts';
import type { Http, JsonRequest } from './http.ts';
import { type RetryOptions, RetryPauses } from './retry.ts';

/** The answer to an idempotent request: retried until it arrives, or until a retry cannot help. */
export async function insist<T>(http: Http, retry: Required<RetryOptions>, request: JsonRequest<T>): Promise<T> {
  const backoff = new RetryPauses(retry);
  for (;;) {
    try {
      return await http.json<T>(request);
    } catch (error) {
      if (!(error instanceof DragomanError)) throw error;
      await backoff.wait(backoff.next(error), request.signal);
    }
  }
}
