import type { ExecutionKey, Held, RequestKey, Store } from '../src/store/store.ts';

/** Remembers the holds that a store gives out, so that a test can name an open run by its key. */
export function rememberingHolds<Kind extends Store>(store: Kind): Kind {
  const known = new Map<string, Held>();
  holds.set(store, known);
  const { requests, executions } = store;
  const [acceptRequest, acceptExecution] = [requests.accept, executions.accept];
  requests.accept = async (row, beside) => {
    const accepted = await acceptRequest(row, beside);
    if ('held' in accepted && accepted.held !== null) known.set(nameOf(row), accepted.held);
    return accepted;
  };
  executions.accept = async (row) => {
    const accepted = await acceptExecution(row);
    if (!accepted.repeat && accepted.held !== null) known.set(nameOf(row), accepted.held);
    return accepted;
  };
  return store;
}

/** The hold of an accepted run, open or not; an unused one for any other. */
export function heldOf(store: Store, key: RequestKey | ExecutionKey): Held {
  return holds.get(store)?.get(nameOf(key)) ?? { id: 0, epoch: 0 };
}

function nameOf(key: RequestKey | ExecutionKey): string {
  return 'requestId' in key ? `request ${key.owner} ${key.requestId}` : `execution ${key.owner} ${key.executionId}`;
}

const holds = new WeakMap<Store, Map<string, Held>>();
