import { DISABLED, MAX_FAILURES } from '../outbox.ts';
import { requireStorable } from '../storable.ts';
import type { DeliveryFailure, DeliveryRow, Forgotten, NewDelivery, OutboxStore } from '../store.ts';

/** Runs an operation as the store does everything: later, and not when it is closed. */
export type Run = <Result>(operation: () => Result) => Promise<Result>;

/** A part of the store that can take out what is an owner's. */
export interface Forgets<Count extends keyof Forgotten> {
  forget(owner: string): Pick<Forgotten, Count>;
}

/** The outbox in memory; `put` is `add` for who is inside of an operation already. */
export function memoryOutbox(
  run: Run,
): OutboxStore & Forgets<'callbacks' | 'underWay'> & { readonly put: (delivery: NewDelivery) => void } {
  const rows = new Map<string, DeliveryRow>();
  const disabled = new Set<string>();
  const salts = new Map<string, string>();

  const put = (delivery: NewDelivery): void => {
    const { id, owner, requestId, messageId, url, body, createdAt } = delivery;
    requireStorable(id, owner, requestId, messageId, url, body);
    if (rows.has(id)) return;
    const isDisabled = disabled.has(nameOf(owner, url));
    rows.set(id, {
      ...delivery,
      state: isDisabled ? 'dead' : 'due',
      attempts: 0,
      nextAt: createdAt,
      failures: isDisabled ? [{ at: createdAt, reason: DISABLED }] : [],
      endedAt: isDisabled ? createdAt : null,
    });
  };
  const due = (id: string): DeliveryRow | undefined => {
    const row = rows.get(id);
    if (row === undefined) throw new Error(`delivery ${id} was never put into the outbox`);
    return row.state === 'due' ? row : undefined;
  };
  const fail = (id: string, failure: DeliveryFailure, nextAt: number | null): void => {
    const row = due(id);
    if (row === undefined) return;
    rows.set(id, {
      ...row,
      state: nextAt === null ? 'dead' : 'due',
      attempts: row.attempts + 1,
      nextAt: nextAt ?? row.nextAt,
      failures: [...row.failures, failure].slice(-MAX_FAILURES),
      endedAt: nextAt === null ? failure.at : null,
    });
  };
  const bury = (row: DeliveryRow, at: number): void => {
    rows.set(row.id, { ...row, state: 'dead', failures: [...row.failures, { at, reason: DISABLED }], endedAt: at });
  };

  return {
    put,
    forget: (owner) => {
      const own = [...rows.values()].filter((row) => row.owner === owner);
      const ended = own.filter(({ endedAt }) => endedAt !== null);
      for (const { id } of ended) rows.delete(id);
      for (const name of [...disabled]) if (JSON.parse(name)[0] === owner) disabled.delete(name);
      return { callbacks: ended.length, underWay: own.length - ended.length };
    },
    add: (delivery) => run(() => put(delivery)),
    find: (id) => run(() => rows.get(id)),
    answering: ({ owner, requestId }) =>
      run(() => [...rows.values()].filter((row) => row.owner === owner && row.requestId === requestId)),
    due: () =>
      run(() =>
        [...rows.values()]
          .filter(({ state }) => state === 'due')
          .map(({ id, owner, url, priority, expiresAt, attempts, nextAt }) => ({
            ...{ id, owner, url, priority, expiresAt, attempts, nextAt },
          })),
      ),
    delivered: (id, at) =>
      run(() => {
        const row = due(id);
        if (row !== undefined) rows.set(id, { ...row, state: 'delivered', attempts: row.attempts + 1, endedAt: at });
      }),
    failed: (id, failure, nextAt) => run(() => fail(id, failure, nextAt)),
    gone: (id, failure) =>
      run(() => {
        fail(id, failure, null);
        const { owner, url } = rows.get(id) as DeliveryRow;
        disabled.add(nameOf(owner, url));
        const others = [...rows.values()].filter(
          (row) => row.state === 'due' && row.owner === owner && row.url === url && row.id !== id,
        );
        for (const row of others) bury(row, failure.at);
        return [id, ...others.map((row) => row.id)];
      }),
    isDisabled: (owner, url) => run(() => disabled.has(nameOf(owner, url))),
    revive: (id, at) =>
      run(() => {
        const row = rows.get(id);
        if (row?.state !== 'dead') return false;
        rows.set(id, { ...row, state: 'due', attempts: 0, nextAt: at, endedAt: null });
        disabled.delete(nameOf(row.owner, row.url));
        return true;
      }),
    list: ({ state, offset, limit }) =>
      run(() => {
        const all = [...rows.values()].filter((row) => state === undefined || row.state === state).reverse();
        return { rows: all.slice(offset, offset + limit), total: all.length };
      }),
    purge: (before) =>
      run(() => {
        const old = [...rows.values()].filter(({ endedAt }) => endedAt !== null && endedAt < before);
        for (const { id } of old) rows.delete(id);
        return old.length;
      }),
    salt: (agentId, fresh) =>
      run(() => {
        const kept = salts.get(agentId) ?? fresh;
        salts.set(agentId, kept);
        return kept;
      }),
    forgetSalt: (agentId) => run(() => void salts.delete(agentId)),
  };
}

/** One string for two, such that no two pairs give the same. */
function nameOf(owner: string, url: string): string {
  return JSON.stringify([owner, url]);
}
