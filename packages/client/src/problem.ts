import { isObject, isPassingStatus, type JsonObject, parseJson, retryAfterMs } from '@dragoman/protocols';
import { DragomanError, isRetryable, issuesIn, textsIn } from './dragoman-error.ts';
import { mailboxErrorOf } from './mailbox-error.ts';
import { workflowErrorOf } from './workflow-error.ts';

/**
 * The error of an HTTP answer other than 2xx. Its body may be RFC 9457, in the format of the mailbox or of workflows,
 * or anything else.
 */
export async function errorOfResponse(response: Response, url: string): Promise<DragomanError> {
  const { status, headers } = response;
  const wait = retryAfterMs(headers.get('retry-after'), new Date());
  const retryAfter = wait && Math.ceil(wait / 1000);
  const json = await jsonIn(response);
  const refusal = json && (mailboxErrorOf(json, status, retryAfter) ?? workflowErrorOf(json, status, retryAfter));
  if (refusal !== undefined) return refusal;
  const problem = typeof json?.['code'] === 'string' ? json : undefined;
  if (problem === undefined) {
    if (!response.bodyUsed) await response.body?.cancel();
    return unexpected(response, url, retryAfter);
  }
  const code = String(problem['code']);
  return new DragomanError({
    code,
    message: String(problem['detail'] ?? problem['title'] ?? `The server answered ${status}.`),
    status,
    retryable: isRetryable(code) ?? isPassingStatus(status),
    issues: issuesIn(problem['issues']),
    suggestions: textsIn(problem['suggestions']),
    // The body has the time, too: a page of another origin may not see the header.
    retryAfter: retryAfter ?? (typeof problem['retry_after'] === 'number' ? problem['retry_after'] : undefined),
  });
}

/** Rejects if the connection is lost before the whole body arrived. */
async function jsonIn(response: Response): Promise<JsonObject | undefined> {
  if (!/^application\/(?:problem\+)?json\b/i.test(response.headers.get('content-type') ?? '')) return undefined;
  const json = parseJson(await response.text());
  return json.ok && isObject(json.value) ? json.value : undefined;
}

/** The error for an answer that is not from a Dragoman server, but from a proxy or another program behind the URL. */
function unexpected(response: Response, url: string, retryAfter: number | undefined): DragomanError {
  const { status, type } = response;
  const redirects = type === 'opaqueredirect' || (status >= 300 && status < 400);
  return new DragomanError({
    code: 'unexpected_answer',
    message: redirects
      ? `${url} redirects elsewhere, and a key is not sent after a redirect.`
      : `${url} answered ${status}, which a Dragoman server does not send.`,
    status,
    retryable: isPassingStatus(status),
    suggestions: [
      redirects ? 'give createClient the url it redirects to' : 'check that the url is that of a Dragoman server',
    ],
    retryAfter,
  });
}
