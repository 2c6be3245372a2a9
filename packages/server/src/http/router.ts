/** Finds which entry of a table answers a request target. */
export interface RouteTable<Entry> {
  find(method: string, target: string): Match<Entry> | undefined;
  /** The methods that a request target has a route for; empty if it has none. */
  allowed(target: string): readonly string[];
}

export interface Match<Entry> {
  readonly entry: Entry;
  readonly params: Readonly<Record<string, string>>;
  /** As it was sent, without the question mark. */
  readonly query: string;
}

/**
 * A router over a table. In a path, `:name` matches one segment, and a `*` at the end matches the rest; a literal
 * segment takes precedence over both. Throws for two entries with the same method and path.
 */
export function createRouter<Entry extends Routed>(entries: readonly Entry[]): RouteTable<Entry> {
  const trees = new Map<string, Branch<Entry>>();
  for (const entry of entries) {
    const tree = trees.get(entry.method) ?? newBranch<Entry>();
    trees.set(entry.method, tree);
    add(tree, entry);
  }

  const find = (method: string, target: string): Match<Entry> | undefined => {
    // RFC 9110 §9.3.2: HEAD is GET without the body.
    const tree = trees.get(method === 'HEAD' ? 'GET' : method);
    const mark = target.indexOf('?');
    const segments = segmentsOf(mark === -1 ? target : target.slice(0, mark));
    if (tree === undefined || segments === undefined) return undefined;
    const values: string[] = [];
    const entry = follow(tree, segments, 0, values);
    if (entry === undefined) return undefined;
    return { entry, params: paramsOf(entry.path, values), query: mark === -1 ? '' : target.slice(mark + 1) };
  };
  return {
    find,
    allowed(target) {
      const allowed = [...trees.keys()].filter((method) => find(method, target) !== undefined);
      return allowed.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    },
  };
}

interface Routed {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
}

/** All paths with the same beginning, by their next segment. */
interface Branch<Entry> {
  readonly named: Map<string, Branch<Entry>>;
  any: Branch<Entry> | undefined;
  rest: Entry | undefined;
  entry: Entry | undefined;
}

function newBranch<Entry>(): Branch<Entry> {
  return { named: new Map(), any: undefined, rest: undefined, entry: undefined };
}

function add<Entry extends Routed>(tree: Branch<Entry>, entry: Entry): void {
  let branch = tree;
  for (const segment of entry.path.slice(1).split('/')) {
    if (segment === '*') {
      if (branch.rest !== undefined) throw new Error(`there are two routes ${entry.method} ${entry.path}`);
      branch.rest = entry;
      return;
    }
    const known = segment.startsWith(':') ? branch.any : branch.named.get(segment);
    const next = known ?? newBranch<Entry>();
    if (segment.startsWith(':')) branch.any = next;
    else branch.named.set(segment, next);
    branch = next;
  }
  if (branch.entry !== undefined) throw new Error(`there are two routes ${entry.method} ${entry.path}`);
  branch.entry = entry;
}

/** Finds the entry for the segments from `at` on. `values` collects the segments that match a `:name` or `*`. */
function follow<Entry>(
  branch: Branch<Entry>,
  segments: readonly string[],
  at: number,
  values: string[],
): Entry | undefined {
  const segment = segments[at];
  if (segment === undefined) return branch.entry;
  const next = branch.named.get(segment);
  const found = next && follow(next, segments, at + 1, values);
  if (found !== undefined) return found;
  // An empty segment never matches a name: `/things/` is not a thing with an empty id.
  if (branch.any !== undefined && segment !== '' && segment.length <= MAX_PARAM_LENGTH) {
    values.push(segment);
    const other = follow(branch.any, segments, at + 1, values);
    if (other !== undefined) return other;
    values.pop();
  }
  if (branch.rest !== undefined) values.push(segments.slice(at).join('/'));
  return branch.rest;
}

/**
 * The decoded segments of a path. Each is decoded alone, so that an escaped slash stays part of its segment.
 * `undefined` if the path cannot be decoded.
 */
function segmentsOf(path: string): readonly string[] | undefined {
  if (!path.startsWith('/')) return undefined;
  const segments = path.slice(1).split('/');
  if (!path.includes('%')) return segments;
  try {
    return segments.map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

function paramsOf(path: string, values: readonly string[]): Readonly<Record<string, string>> {
  const params: Record<string, string> = Object.create(null);
  let at = 0;
  for (const segment of path.split('/')) {
    if (segment.startsWith(':')) params[segment.slice(1)] = values[at++] ?? '';
    else if (segment === '*') params['*'] = values[at++] ?? '';
  }
  return params;
}

/**
 * The longest ids are the mailbox's: 500 characters, each of which may be two code units. A longer segment finds
 * nothing.
 */
const MAX_PARAM_LENGTH = 1000;
