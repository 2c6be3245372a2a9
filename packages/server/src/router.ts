import createFindMyWay, { type HTTPMethod } from 'find-my-way';

/** Finds which entry of a table answers a request target. */
export interface Router<Entry> {
  find(method: string, target: string): Match<Entry> | undefined;
  /** The methods this target would be answered for; empty: there is nothing here. */
  allowed(target: string): readonly string[];
}

export interface Match<Entry> {
  readonly entry: Entry;
  readonly params: Readonly<Record<string, string>>;
  /** Raw, without the question mark. */
  readonly query: string;
}

/** A router over a table. Two entries for one method and path are a mistake of ours and throw. */
export function createRouter<Entry extends Routed>(entries: readonly Entry[]): Router<Entry> {
  const tree = createFindMyWay({
    caseSensitive: true,
    ignoreTrailingSlash: false,
    ignoreDuplicateSlashes: false,
    maxParamLength: MAX_PARAM_LENGTH,
    // The query stays text: most routes never look at it.
    querystringParser: (text) => text,
  });
  for (const entry of entries) tree.on(entry.method, entry.path, unused, entry);
  const methods = [...new Set(entries.map((entry) => entry.method))];

  const find = (method: string, target: string): Match<Entry> | undefined => {
    // RFC 9110 §9.3.2: HEAD is GET without the body.
    const found = tree.find((method === 'HEAD' ? 'GET' : method) as HTTPMethod, target);
    if (found === null) return undefined;
    const { store, params, searchParams } = found as unknown as Found<Entry>;
    return hasEmptyParam(params) ? undefined : { entry: store, params, query: searchParams };
  };
  return {
    find,
    allowed(target) {
      const allowed = methods.filter((method) => find(method, target) !== undefined);
      return allowed.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    },
  };
}

interface Routed {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
}

/** What find-my-way gives for our settings; its own types know neither the store nor the parser. */
interface Found<Entry> {
  readonly store: Entry;
  readonly params: Readonly<Record<string, string>>;
  readonly searchParams: string;
}

/** `/things/` is not the thing with an empty id. A wildcard may be empty. */
function hasEmptyParam(params: Readonly<Record<string, string>>): boolean {
  for (const name in params) if (params[name] === '' && name !== '*') return true;
  return false;
}

/** find-my-way wants a handler in every leaf; we only ask it for the entry stored there. */
function unused(): void {}

/** The longest ids are the mailbox's: 500 characters, each of which may be two code units. A longer segment finds nothing. */
const MAX_PARAM_LENGTH = 1000;
