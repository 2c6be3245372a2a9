import { RECORD_BYTES } from '../anonymous.ts';
import { DISABLED, MAX_FAILURES } from '../outbox.ts';
import { requireStorable } from '../storable.ts';
import type { DeliveryFailure, DeliveryRow, NewDelivery, OutboxStore, RequestKey } from '../store.ts';
import type { RemovableRecord } from './anonymous.ts';
import type { Forgets, ForgetsRequest } from './forgetting.ts';
import { nameOf } from './name-of.ts';
import type { Perform } from './perform.ts';

/** The outbox in memory; `put` is `add` for who performs something already. */
export function memoryOutbox(perform: Perform): OutboxStore &
  Forgets<'callbacks' | 'underWay'> &
  ForgetsRequest & {
    readonly put: (delivery: NewDelivery) => void;
    readonly records: () => RemovableRecord[];
    readonly disabledRecords: () => RemovableRecord[];
  } {
  const rows = new Map<string, DeliveryRow>();
  /** When each was told. */
  const disabled = new Map<string, number>();
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
  const answering = ({ owner, requestId }: RequestKey): DeliveryRow[] =>
    [...rows.values()].filter((row) => row.owner === owner && row.requestId === requestId);
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
  const bury = (row: DeliveryRow, failure: DeliveryFailure): void => {
    const failures = [...row.failures, failure].slice(-MAX_FAILURES);
    rows.set(row.id, { ...row, state: 'dead', failures, endedAt: failure.at });
  };

  return {
    put,
    records: () =>
      [...rows.values()].map(({ id, owner, url, body, failures, createdAt: at, state }) => ({
        owner,
        at,
        bytes: bytesOf(owner, url, body, JSON.stringify(failures)),
        isOpen: state === 'due',
        remove: () => void rows.delete(id),
      })),
    disabledRecords: () =>
      [...disabled].map(([name, at]) => {
        const [owner, url] = JSON.parse(name) as [string, string];
        return { owner, at, bytes: bytesOf(owner, url), isOpen: false, remove: () => void disabled.delete(name) };
      }),
    forget: (owner) => {
      const own = [...rows.values()].filter((row) => row.owner === owner);
      const ended = own.filter(({ endedAt }) => endedAt !== null);
      for (const { id } of ended) rows.delete(id);
      for (const name of [...disabled.keys()]) if (JSON.parse(name)[0] === owner) disabled.delete(name);
      return { callbacks: ended.length, underWay: own.length - ended.length };
    },
    owes: (key) => answering(key).some(({ state }) => state === 'due'),
    forgetRequest: (key) => answering(key).filter(({ id }) => rows.delete(id)).length > 0,
    add: (delivery) => perform(() => put(delivery)),
    find: (id) => perform(() => rows.get(id)),
    dueBody: (id) =>
      perform(() => {
        const row = rows.get(id);
        return row?.state === 'due' ? row.body : undefined;
      }),
    answering: (key) => perform(() => answering(key)),
    due: () =>
      perform(() =>
        [...rows.values()]
          .filter(({ state }) => state === 'due')
          .map(({ body, createdAt, state, failures, endedAt, ...row }) => row),
      ),
    delivered: (ids, at) =>
      perform(() => {
        for (const id of ids) {
          const row = rows.get(id);
          if (row?.state !== 'due') continue;
          rows.set(id, { ...row, state: 'delivered', attempts: row.attempts + 1, endedAt: at });
        }
      }),
    failed: (id, failure, nextAt) => perform(() => fail(id, failure, nextAt)),
    givenUp: (id, failure) =>
      perform(() => {
        const row = due(id);
        if (row !== undefined) bury(row, failure);
      }),
    gone: (id, failure) =>
      perform(() => {
        fail(id, failure, null);
        const { owner, url } = rows.get(id) as DeliveryRow;
        const name = nameOf(owner, url);
        disabled.set(name, disabled.get(name) ?? failure.at);
        const others = [...rows.values()].filter(
          (row) => row.state === 'due' && row.owner === owner && row.url === url && row.id !== id,
        );
        for (const row of others) bury(row, { at: failure.at, reason: DISABLED });
        return [id, ...others.map((row) => row.id)];
      }),
    isDisabled: (owner, url) => perform(() => disabled.has(nameOf(owner, url))),
    enable: (owner, url) => perform(() => disabled.delete(nameOf(owner, url))),
    revive: (id, at) =>
      perform(() => {
        const row = rows.get(id);
        if (row?.state !== 'dead') return false;
        rows.set(id, { ...row, state: 'due', attempts: 0, nextAt: at, endedAt: null });
        disabled.delete(nameOf(row.owner, row.url));
        return true;
      }),
    list: ({ state, offset, limit }) =>
      perform(() => {
        const all = [...rows.values()].filter((row) => state === undefined || row.state === state).reverse();
        const shown = all.slice(offset, offset + limit).map(({ body, ...row }) => row);
        return { rows: shown, total: all.length };
      }),
    purge: ({ ended, gone }) =>
      perform(() => {
        const old = [...rows.values()].filter(({ endedAt }) => endedAt !== null && endedAt < ended);
        for (const { id } of old) rows.delete(id);
        const enabled = [...disabled].filter(([, at]) => at < gone);
        for (const [name] of enabled) disabled.delete(name);
        return old.length + enabled.length;
      }),
    salt: (agentId, fresh) =>
      perform(() => {
        const kept = salts.get(agentId) ?? fresh;
        salts.set(agentId, kept);
        return kept;
      }),
    forgetSalt: (agentId) => perform(() => void salts.delete(agentId)),
  };
}

function bytesOf(...texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), RECORD_BYTES);
}
