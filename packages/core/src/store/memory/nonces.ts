import type { NonceRow, NonceStore, NonceUse } from '../nonces.ts';
import type { Perform } from './perform.ts';

/** Nonces in memory; `record` is `use` for who performs something already. */
export function memoryNonces(perform: Perform): NonceStore & { record(row: NonceRow): NonceUse } {
  const rows = new Map<string, NonceRow>();
  let forgottenAt = 0;
  const record = (row: NonceRow): NonceUse => {
    const name = `${row.agentId}\n${row.nonce}`;
    const earlier = rows.get(name);
    if (earlier !== undefined) return earlier.digest === row.digest ? 'same' : 'reused';
    rows.set(name, row);
    return 'fresh';
  };
  return {
    record,
    use: (row) => perform(() => record(row)),
    latest: () =>
      perform(() => [...rows.values()].reduce((latest, { usedAt }) => Math.max(latest, usedAt), forgottenAt)),
    count: () => perform(() => rows.size),
    purge: (before, at) =>
      perform(() => {
        const old = [...rows].filter(([, { usedAt }]) => usedAt < before);
        for (const [name] of old) rows.delete(name);
        if (old.length > 0) forgottenAt = at;
        return old.length;
      }),
  };
}
