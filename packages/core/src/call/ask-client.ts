import type { JsonObject } from '@dragoman/protocols';

/**
 * Asks the caller's client program, such as an editor for one of its files. Resolves with its JSON-RPC response, which
 * has `result` or `error`. Rejects when the request ends first, or the time is up.
 */
export type AskClient = (request: {
  readonly method: string;
  readonly params: JsonObject;
  readonly timeoutMs?: number | undefined;
}) => Promise<JsonObject>;
