import { isObject, type Json, type JsonObject, parseJson } from '@dragoman/protocols';
import { fail } from '../trouble.ts';

/** Where workflows are sent, and as whom. */
export interface WorkflowServer {
  readonly url: string;
  readonly key: string;
}

/** Asks a workflow route. What refuses it ends the command, in the server's words. */
export async function askServer(
  { url, key }: WorkflowServer,
  path: string,
  { json, accept = 'application/json', signal }: { json?: JsonObject; accept?: string; signal?: AbortSignal } = {},
): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(new URL(path, url), {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, Accept: accept, 'Content-Type': 'application/json' },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      ...(signal !== undefined && { signal }),
    });
  } catch {
    fail({ code: 'unreachable', message: `nothing answers at ${url} any more`, fixes: ['start the server again'] });
  }
  if (answer.ok) return answer;
  const read = parseJson(await answer.text());
  fail(refusal(read.ok ? read.value : null, answer.status));
}

/** A2E, Error Response Format, as what a person has to know. */
function refusal(body: Json, status: number) {
  const error = isObject(body) && isObject(body['error']) ? body['error'] : undefined;
  if (error === undefined) {
    const message = isObject(body) && typeof body['message'] === 'string' ? body['message'] : `it answered ${status}`;
    return { code: 'refused', message };
  }
  const details = isObject(error['details']) ? error['details'] : {};
  const issues = Array.isArray(details['issues']) ? details['issues'].filter(isObject) : [];
  const told = issues.map(({ pointer, code, message, suggestion }) => ({
    pointer: String(pointer ?? ''),
    code: String(code ?? ''),
    message: String(message ?? ''),
    ...(typeof suggestion === 'string' && { suggestion }),
  }));
  const message = `${String(error['type'])}: ${String(error['message'])}`;
  const suggestions = Array.isArray(error['suggestions']) ? error['suggestions'].map(String) : [];
  return {
    code: String(details['code'] ?? 'refused'),
    message,
    issues: told,
    fixes: told.length > 0 ? [] : suggestions,
  };
}
